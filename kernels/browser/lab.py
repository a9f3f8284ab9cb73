"""JupyterLab in a browser, from the README's command to a restarted kernel: lab.py BROWSER NOTEBOOK..."""

import os
import re
import sys
import tempfile
import time
from pathlib import Path

from notebook import Notebook, menu
from playwright.sync_api import expect, sync_playwright
from server import Lab

# The browser's own errands on the network are turned off.
FLAGS = "--disable-gpu --disable-quic --disable-background-networking --disable-component-update --disable-sync".split()
SCREENSHOTS = os.environ.get("HYPERMODELS_SCREENSHOTS")


class Session:
    """The browser's window on a server, and how the test goes."""

    def __init__(self, page, lab):
        self.page, self.lab, self.began, self.shots = page, lab, time.time(), 0
        self.strangers = set()
        local = f"http://127.0.0.1:{lab.port}/", f"ws://127.0.0.1:{lab.port}/", "data:", "blob:"
        for event in "request", "websocket":
            page.on(event, lambda r: None if r.url.startswith(local) else self.strangers.add(r.url))

    def did(self, what):
        """Report a step, with a screenshot."""
        print(f"{time.time() - self.began:6.1f} s  {what}", flush=True)
        self.shot(what)

    def shot(self, what):
        if SCREENSHOTS:
            self.shots += 1
            Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
            name = "".join(c if c.isalnum() else "-" for c in what)[:60]
            self.page.screenshot(path=Path(SCREENSHOTS, f"{self.shots:02}-{name}.png"))


def opened(s):
    """The token opens Lab, with no dialog."""
    s.page.goto(f"http://127.0.0.1:{s.lab.port}/lab")
    s.page.locator("#password_input").wait_for()
    s.did("without the token: a log-in page")
    s.page.goto(f"http://127.0.0.1:{s.lab.port}/lab?token={s.lab.token}")
    s.page.locator('.jp-LauncherCard[data-category="Notebook"]').first.wait_for()
    s.page.wait_for_timeout(2000)  # For dialogs and notifications that come late.
    s.did("Lab is open")
    quiet(s)


def quiet(s):
    """No dialog and no notification."""
    told = s.page.locator(".jp-Dialog, .Toastify__toast, .jp-toast").all_inner_texts()
    assert not told, f"Lab says {told}"


def notebook_runs(s, name):
    """Run All, with pictures that are painted before, when the notebook is not trusted, and after."""
    book = Notebook.open(s.page, s.lab.notebooks, name)
    s.page.locator(".jp-StatusBar-Item", has_text="Go (hypermodels) | Idle").first.wait_for()
    s.did(f"{name} is open")
    quiet(s)
    expect(s.page.locator('[title*="code cells trusted"]')).not_to_have_attribute("title", re.compile("^Notebook trusted"))
    s.did(f"{name} as committed, not trusted: {book.pictures()} pictures are painted")
    book.run_all(600)
    s.did(f"{name}: Run All, {len(book.code())} cells")
    s.did(f"{name}: {book.pictures()} pictures are painted")
    s.lab.check_alone()
    menu(s.page, "File", "Close and Shut Down Notebook")
    s.page.locator(".jp-Dialog .jp-mod-accept").click()


def first_cell(s, book):
    out = book.run("%%\nfmt.Println(hyper.Version)", 120)
    assert out and "rror" not in out, out
    s.did(f"a first cell prints {out.strip()}")
    times = []
    for i in range(4):
        out = book.run(f'%%\nfmt.Println(must.M1(backend.Open("xla:cpu")).Name(), hyper.Version, {i})')
        assert out.startswith("xla"), out
        times.append(f"{book.took:.2f}")
    s.did(f"cells with XLA take {', '.join(times)} s")


def completes(s, book):
    book.type("%%\nfmt.Println(hyper.")
    s.page.keyboard.press("Tab")
    names = s.page.locator(".jp-Completer-item")
    names.first.wait_for(timeout=30000)
    text = s.page.locator(".jp-Completer").text_content()
    s.did("completion of hyper.")
    for name in "Ensemble", "Linear", "Model", "Version":
        assert name in text, f"no {name} in {text!r}"
    s.page.keyboard.type("Vers")
    s.page.keyboard.press("Enter")
    s.page.keyboard.type(")")
    line = book.cells.last.locator(".cm-line").last.inner_text()
    assert line == "fmt.Println(hyper.Version)", line


def inspects(s, book):
    book.type("%%\nhyper.NumTheta")
    s.page.keyboard.press("Shift+Tab")
    tip = s.page.locator(".jp-Tooltip")
    tip.wait_for(timeout=30000)
    s.did("inspection of hyper.NumTheta")
    assert "func" in tip.inner_text() and "NumTheta" in tip.inner_text(), tip.inner_text()
    s.page.keyboard.press("Escape")


def shows_progress(s, book):
    """An output that a running cell changes in place."""
    cell = book.begin(
        '%%\nid := gonbui.UniqueID()\nfor i := range 8 {\n\tgonbui.UpdateHTML(id, fmt.Sprintf("step %d of 8", i+1))\n'
        "\ttime.Sleep(400 * time.Millisecond)\n}")  # fmt: skip
    output, seen = cell.locator(".jp-OutputArea-output"), set()
    while "step 8" not in "".join(seen):
        seen |= {t.strip() for t in output.all_inner_texts()}
        assert len(seen) < 20
        s.page.wait_for_timeout(50)
    last = book.end(cell)
    s.did(f"progress in place: {len(seen - {''})} states seen")
    assert len(seen - {""}) > 3 and last.strip() == "step 8 of 8", f"{seen}, then {last!r}"


def interrupts(s, book):
    for what, text in ("a loop", '%%\nfmt.Println("begun")\nfor {\n}'), ("a sleep", '%%\nfmt.Println("begun")\ntime.Sleep(time.Hour)'):
        cell = book.begin(text)
        cell.locator(".jp-OutputArea-output", has_text="begun").wait_for(timeout=60000)
        book.panel.locator('[data-jp-item-name="interrupt"]').click()
        out = book.end(cell, 20)
        s.did(f"{what} is interrupted")
        assert "nterrupt" in out, out
    out = book.run('%%\nfmt.Println("still", "here")')
    assert out.strip() == "still here", out
    s.did("and the next cell runs")


def restarts(s, book):
    book.run("func kept() string { return \"kept\" }\n\n%%\nfmt.Println(kept())")
    menu(s.page, "Kernel", "Restart Kernel…")
    s.shot("restart?")
    s.page.locator(".jp-Dialog .jp-mod-accept").click()
    s.page.locator(".jp-Dialog").wait_for(state="detached")
    book.idle(60)
    out = book.run("%%\nfmt.Println(kept())")
    s.did("restarted: what was declared is gone")
    assert "kept" in out and "undefined" in out, out
    out = book.run('%%\nfmt.Println("new", "kernel")')
    assert out.strip() == "new kernel", out
    s.did("and the next cell runs")


def main(browser, *notebooks):
    with tempfile.TemporaryDirectory(prefix="hl-") as tmp, sync_playwright() as playwright:
        with Lab(Path(tmp)) as lab:
            lab.check_closed()
            expect.set_options(timeout=30000)
            window = playwright.chromium.launch(executable_path=browser, args=FLAGS)
            session = Session(window.new_page(viewport={"width": 1400, "height": 1000}), lab)
            print(f"the server answers after {lab.started:.1f} s")
            try:
                go(session, notebooks)
            except BaseException:
                session.shot("failed")
                print(lab.log.read_text())
                raise
            window.close()
        lab.check_gone()
        print(f"{time.time() - session.began:6.1f} s  after Ctrl-C nothing is left")


def go(s, notebooks):
    opened(s)
    for name in notebooks:
        notebook_runs(s, name)
    book = Notebook.new(s.page, s.lab.notebooks)
    book.idle(60)
    s.did("a new notebook")
    for step in first_cell, completes, inspects, shows_progress, interrupts, restarts:
        step(s, book)
    quiet(s)
    assert not s.strangers, f"the page asked {s.strangers}"


if __name__ == "__main__":
    main(*sys.argv[1:])
