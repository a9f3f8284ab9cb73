"""Executes one notebook in its own folder: execute.py KERNEL NOTEBOOK SECONDS.

Standard output ends with one line of JSON for `kernels run`: {"notebook": the text of the executed notebook, "failure":
null or {"cell", "source", "error", "output"}}.
"""

import json
import os
import re
import sys
from pathlib import Path

# jsonschema checks IRIs by this package, which compiles a grammar for 2 s when it is imported. Notebooks have no IRIs.
# With None the import fails, as if the package were not installed.
sys.modules["rfc3987_syntax"] = None

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets.config import Config

RUNTIME = os.environ["JUPYTER_RUNTIME_DIR"]  # Only this run uses the folder. `kernels run` removes it.
KEPT_OF_A_NOTEBOOK = {"kernelspec", "language_info", "title", "authors"}  # nbclient adds the kernel's description.
VOLATILE_IN_A_CELL = {"execution", "ExecuteTime", "collapsed", "scrolled"}


# An exercise's answer is a block of Go in a folded part of a Markdown cell. RIGHT is what notebook.Check shows for it.
ANSWER = re.compile(r"<details>\s*<summary>Answer</summary>.*?^```go\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RIGHT = "**Right.**"
WIDGET = "application/vnd.jupyter.widget-view+json"


def static(output):
    """Return the output without a widget if it also has another form. The widget's program has ended."""
    if output.output_type == "display_data" and len(output.data) > 1:
        output.data.pop(WIDGET, None)
    return output


def shows(output):
    """Return whether an output shows anything. A display that its cell emptied at the end shows nothing."""
    return output.output_type != "display_data" or any(output.data.values())


def normalise(notebook, kernel):
    """Remove what differs between machines and runs, so that a new run makes a small diff."""
    metadata = {k: v for k, v in notebook.metadata.items() if k in KEPT_OF_A_NOTEBOOK}
    metadata["kernelspec"] = {"display_name": "Go (hypermodels)", "language": "go", "name": kernel}
    notebook.metadata = nbformat.from_dict(metadata)
    count = 0
    for cell in notebook.cells:
        for key in VOLATILE_IN_A_CELL & set(cell.metadata):
            del cell.metadata[key]
        if cell.cell_type == "code":
            cell.outputs = [static(o) for o in cell.outputs if shows(o)]
        if cell.cell_type == "code" and cell.get("execution_count") is not None:
            count += 1
            cell.execution_count = count


def failure(index, cell, error):
    """Describe the cell that failed: its number, source, error, and all it printed to standard error.

    The number of an answer is the number of the Markdown cell that has it.
    """
    printed = [o for o in cell.get("outputs", []) if o.output_type == "stream" and o.name == "stderr"]
    index = cell.metadata.get("answer", index)
    return {"cell": index + 1, "source": cell.source, "error": error, "output": "".join(o.text for o in printed)}


def answers(notebook):
    """Return a code cell for each answer of an exercise, with the number of the Markdown cell that has the answer."""
    return [
        nbformat.v4.new_code_cell(code, metadata={"answer": index})
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "markdown"
        for code in ANSWER.findall(cell.source)
    ]


def wrong(notebook):
    """Return the failure of the first answer that does not pass its check, or None."""
    for cell in notebook.cells:
        shown = "".join(o.get("data", {}).get("text/markdown", "") for o in cell.get("outputs", []))
        if "answer" in cell.metadata and RIGHT not in shown:
            return failure(0, cell, f"the answer does not pass its check: {shown or 'it shows nothing'}")
    return None


def execute(kernel, path, seconds):
    """Return the notebook with its outputs, and the failure or None. A cell may take the given seconds.

    The answers of exercises run after the last cell. The returned notebook does not have their cells.
    """
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.cells += answers(notebook)
    client = NotebookClient(
        notebook,
        config=Config({"KernelManager": {"transport": "ipc", "connection_file": os.path.join(RUNTIME, "kernel.json")}}),
        kernel_name=kernel,
        timeout=seconds,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    started = []
    client.on_cell_execute = lambda cell, cell_index: started.append((cell_index, cell))
    try:
        client.execute()
        return notebook, wrong(notebook)
    except CellExecutionError as err:
        told = [o for o in started[-1][1].get("outputs", []) if o.output_type == "error"]
        return notebook, failure(*started[-1], "\n".join(told[-1].traceback) if told else err.evalue.strip())
    except CellTimeoutError:
        return notebook, failure(*started[-1], f"the cell took longer than {seconds} s")
    except (DeadKernelError, RuntimeError) as err:
        at = started[-1] if started else (0, nbformat.v4.new_code_cell())
        return notebook, failure(*at, f"the kernel died: {err}")
    finally:
        notebook.cells = [cell for cell in notebook.cells if "answer" not in cell.metadata]


def main(kernel, path, seconds):
    notebook, failed = execute(kernel, Path(path).resolve(), int(seconds))
    normalise(notebook, kernel)
    print(json.dumps({"notebook": nbformat.writes(notebook) + "\n", "failure": failed}))


main(*sys.argv[1:])
