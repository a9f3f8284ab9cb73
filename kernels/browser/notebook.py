"""Drives a notebook in JupyterLab as a user does, with the mouse and the keyboard."""

import base64
import json
import re
import time
from pathlib import Path

from playwright.sync_api import expect

# Returns the number of colours of a picture, and the share of its most common colour.
COLOURS = """async data => {
  const image = new Image(); image.src = data; await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer), count = new Map();
  for (const p of pixels) count.set(p, (count.get(p) ?? 0) + 1);
  return [count.size, Math.max(...count.values()) / pixels.length];
}"""


class Notebook:
    """The notebook in the front tab."""

    def __init__(self, page, folder):
        self.page, self.folder, self.began = page, folder, time.time()
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.panel.locator(".jp-Notebook").wait_for()
        self.path = Path(folder, page.locator("#jp-main-dock-panel .lm-TabBar-tab.jp-mod-current .lm-TabBar-tabLabel").inner_text())
        self.cells = self.panel.locator(".jp-Notebook .jp-Cell")

    @classmethod
    def open(cls, page, folder, name):
        page.locator(f'.jp-DirListing-item[title^="Name: {name}"]').dblclick()
        page.locator("#jp-main-dock-panel .lm-TabBar-tab.jp-mod-current", has_text=name).wait_for()
        return cls(page, folder)

    @classmethod
    def new(cls, page, folder):
        """Make a new notebook with the launcher."""
        menu(page, "File", "New Launcher")
        page.locator('.jp-LauncherCard[data-category="Notebook"]:visible', has_text="Go (hypermodels)").first.click()
        page.locator("#jp-main-dock-panel .lm-TabBar-tab.jp-mod-current", has_text="Untitled").wait_for()
        page.locator(".jp-StatusBar-Item", has_text="Go (hypermodels) | Idle").first.wait_for(timeout=60000)
        return cls(page, folder)

    def idle(self, seconds):
        """Wait until the kernel is idle."""
        self.panel.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(timeout=1000 * seconds)

    def code(self):
        """Return the code cells in the file that are not empty."""
        return [c for c in json.loads(self.path.read_text())["cells"] if c["cell_type"] == "code" and "".join(c["source"]).strip()]

    def save(self):
        before = self.path.stat().st_mtime_ns
        self.page.keyboard.press("Control+s")
        deadline = time.time() + 20
        while self.path.stat().st_mtime_ns == before or not self.whole():
            assert time.time() < deadline, f"{self.path.name} is not saved"
            self.page.wait_for_timeout(50)

    def whole(self):
        """Return whether the file is complete. The server writes the file in place."""
        try:
            return bool(json.loads(self.path.read_text()))
        except json.JSONDecodeError:
            return False

    def run_all(self, seconds):
        """Choose Run All, save, and check that no cell has an error or text on standard error."""
        menu(self.page, "Run", "Run All Cells")
        last = self.panel.locator(".jp-CodeCell .jp-InputArea-prompt").last
        expect(last).to_have_text(re.compile(r"\[\*\]"))
        expect(last).not_to_have_text(re.compile(r"\[\*\]"), timeout=1000 * seconds)
        self.idle(seconds)
        self.save()
        for cell in self.code():
            faults = [o for o in cell["outputs"] if o["output_type"] == "error" or o.get("name") == "stderr"]
            assert cell["execution_count"] and not faults, f"Run All: {''.join(cell['source'])}\n{faults}"

    def pictures(self):
        """Check by pixels on the screen that every picture of the file's outputs is painted; return their number."""
        wanted = sum(pictures_in(o.get("data", {})) for c in self.code() for o in c["outputs"])
        images = self.panel.locator(".jp-OutputArea-output img")
        expect(images).to_have_count(wanted, timeout=30000)
        for i in range(images.count()):
            images.nth(i).scroll_into_view_if_needed()
            png = base64.b64encode(images.nth(i).screenshot()).decode()
            colours, commonest = self.page.evaluate(COLOURS, f"data:image/png;base64,{png}")
            assert colours > 20 and commonest < 0.98, f"picture {i + 1}: {colours} colours, {commonest:.1%} of one"
        return wanted

    def type(self, text):
        """Type a text into a new cell at the end, and return the cell."""
        if self.cells.last.locator(".cm-content").inner_text().strip():
            self.cells.last.locator(".jp-InputPrompt").click()
            self.page.keyboard.press("b")
        last = self.cells.last
        last.locator(".cm-content").click()
        lines = text.split("\n")
        for i, line in enumerate(lines):
            if i:
                self.page.keyboard.press("Enter")
                self.page.keyboard.press("Shift+Home")  # Replace the editor's indentation.
            self.page.keyboard.insert_text(line)
        return last

    def run(self, text, seconds=60):
        """Run a new cell to its end, and return the text of its outputs."""
        cell = self.begin(text)
        return self.end(cell, seconds)

    def number(self):
        """Return the execution number of the last cell."""
        return int(self.cells.last.locator(".jp-InputPrompt").inner_text().strip("[]: "))

    def begin(self, text):
        """Start a new cell. JupyterLab may lose a key while it prepares a new notebook, so several tries are made."""
        cell = self.type(text)
        expect(cell.locator(".cm-content")).to_contain_text(text.split("\n")[-1].strip())
        for attempt in range(4):
            self.began = time.time()
            self.page.keyboard.press("Control+Enter")
            try:
                expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[(\*|\d+)\]"), timeout=10000)
                return cell
            except AssertionError:
                if attempt == 3:
                    raise
                cell.locator(".cm-content").click()

    def end(self, cell, seconds=60):
        expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]"), timeout=1000 * seconds)
        self.took = time.time() - self.began
        self.idle(seconds)
        return "\n".join(cell.locator(".jp-OutputArea-output").all_inner_texts())


def pictures_in(data):
    """Return the number of pictures of an output. A page shows the HTML of an output if the output has HTML."""
    return "".join(data["text/html"]).count("<img ") if "text/html" in data else int("image/png" in data)


def menu(page, name, entry):
    """Choose an entry of a menu in the menu bar."""
    page.locator(".lm-MenuBar-itemLabel").get_by_text(name, exact=True).click()
    page.locator(".lm-Menu-itemLabel", has_text=entry).first.click()
