"""Runs papermill with parameters for notebooks in Go: python papermill_go.py -p NAME VALUE IN.ipynb OUT.ipynb

papermill 2.7 has translators for other languages, but none for Go. This file adds one. The injected cell declares each
parameter again, and the kernel uses this declaration instead of the notebook's.
"""

import json
import re
import sys

sys.modules["rfc3987_syntax"] = None  # As in execute.py.

from papermill.cli import papermill
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

# A declaration on a line of its own: var name type = value // help
DECLARATION = re.compile(r"^(?:var|const)\s+(\w+)(?:\s+([^=\s][^=]*?))?\s*=\s*(.*?)\s*(?://\s*(.*))?$")


class Go(Translator):
    """Translates values to Go, and reads declarations of Go."""

    @classmethod
    def translate_none(cls, val):
        return "any(nil)"

    @classmethod
    def translate_str(cls, val):
        return json.dumps(val, ensure_ascii=False)  # Go has the same escapes as JSON.

    @classmethod
    def translate_float(cls, val):
        if val != val or abs(val) == float("inf"):
            raise ValueError(f"a parameter is {val}, for which Go has no literal: pass it as text and parse it in the notebook")
        return repr(float(val))

    @classmethod
    def translate_list(cls, val):
        kinds = {type(v) for v in val}
        if kinds <= {int, float} and float in kinds:
            val, kinds = [float(v) for v in val], {float}
        kind = {bool: "bool", int: "int", float: "float64", str: "string"}.get(*kinds) if len(kinds) == 1 else None
        return f"[]{kind or 'any'}{{{', '.join(cls.translate(v) for v in val)}}}"

    @classmethod
    def translate_dict(cls, val):
        entries = (f"{cls.translate_str(str(k))}: {cls.translate(v)}" for k, v in val.items())
        return f"map[string]any{{{', '.join(entries)}}}"

    @classmethod
    def comment(cls, cmt_str):
        return f"// {cmt_str}"

    @classmethod
    def assign(cls, name, str_val):
        return f"var {name} = {str_val}"

    @classmethod
    def inspect(cls, parameters_cell):
        found = (DECLARATION.match(line.strip()) for line in parameters_cell["source"].splitlines())
        return [Parameter(m[1], m[2] or "None", m[3], m[4] or "") for m in found if m]


papermill_translators.register("go", Go)

if __name__ == "__main__":
    papermill()
