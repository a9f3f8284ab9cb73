"""Tests JupyterLab in a browser, from the README's command to a restarted kernel: lab.py BROWSER NOTEBOOK..."""

import os
import re
import sys
import tempfile
import time
from pathlib import Path

from notebook import Notebook, menu
from playwright.sync_api import expect, sync_playwright
from server import Lab

# These flags turn off requests that the browser makes for itself.
FLAGS = "--disable-gpu --disable-quic --disable-background-networking --disable-component-update --disable-sync".split()
SCREENSHOTS = os.environ.get("HYPERMODELS_SCREENSHOTS")


class Session:
    """A browser window with a server's page, and the report of the test's steps."""

    def __init__(self, page, lab):
        self.page, self.lab, self.began, self.shots = page, lab, time.time(), 0
        self.strangers = set()
        local = f"{lab.url}/", f"{lab.url.replace('http', 'ws', 1)}/", "data:", "blob:"
        for event in "request", "websocket":
            page.on(event, lambda r: None if r.url.startswith(local) else self.strangers.add(r.url))

    def did(self, what):
        """Report a step, and take a screenshot if HYPERMODELS_SCREENSHOTS is set."""
        print(f"{time.time() - self.began:6.1f} s  {what}", flush=True)
        self.shot(what)

    def shot(self, what):
        if SCREENSHOTS:
            self.shots += 1
            Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
            name = ("hub-" if self.lab.base else "") + "".join(c if c.isalnum() else "-" for c in what)[:60]
            self.page.screenshot(path=Path(SCREENSHOTS, f"{self.shots:02}-{name}.png"))


def opened(s):
    """The token opens Lab, and no dialog appears."""
    s.page.goto(f"{s.lab.url}/lab")
    s.page.locator("#password_input").wait_for()
    s.did("without the token: a log-in page")
    s.page.goto(f"{s.lab.url}/lab?token={s.lab.token}")
    s.page.locator('.jp-LauncherCard[data-category="Notebook"]').first.wait_for()
    s.page.wait_for_timeout(2000)  # For dialogs and notifications that come late.
    s.did("Lab is open")
    quiet(s)


def starts(s):
    """The launcher's first card opens the first notebook."""
    s.page.locator(".jp-LauncherCard", has_text="Start here").click()
    s.page.locator("#jp-main-dock-panel .lm-TabBar-tab.jp-mod-current", has_text="00-start-here.ipynb").wait_for()
    s.page.locator(".jp-StatusBar-Item", has_text="Go (hypermodels) | Idle").first.wait_for(timeout=60000)
    s.did("the launcher's first card opens the first notebook")


def quiet(s):
    """Check that Lab shows no dialog and no notification."""
    told = s.page.locator(".jp-Dialog, .Toastify__toast, .jp-toast").all_inner_texts()
    assert not told, f"Lab shows {told}, want no dialog and no notification"


def notebook_runs(s, name):
    """Pictures are painted in the notebook as committed, which is not trusted, and after Run All. Sliders work."""
    book = Notebook.open(s.page, s.lab.notebooks, name)
    s.page.locator(".jp-StatusBar-Item", has_text="Go (hypermodels) | Idle").first.wait_for()
    s.did(f"{name} is open")
    quiet(s)
    expect(s.page.locator('[title*="code cells trusted"]')).not_to_have_attribute("title", re.compile("^Notebook trusted"))
    s.did(f"{name} as committed, not trusted: {book.pictures()} pictures are painted")
    book.run_all(600)
    s.did(f"{name}: Run All, {len(book.code())} cells")
    s.did(f"{name}: {book.pictures()} pictures are painted")
    for controls in book.panel.locator(".hypermodels-explore").all():
        slides(s, controls)
    s.lab.check_alone()
    shut_down(s, name)


SLOW = 5  # seconds; on a machine with nothing else to do, a slider's picture takes a tenth of a second


def slides(s, controls):
    """Each slider moves by a key; then the picture changes, and stays where it is."""
    controls.locator("img").scroll_into_view_if_needed()
    for slider in controls.locator(".widget-slider").all():
        name, handle = slider.locator(".widget-label").text_content(), slider.locator(".noUi-handle")
        last = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
        handle.focus()
        before, place = controls.locator("img").get_attribute("src"), controls.locator("img").bounding_box()["y"]
        began = time.time()
        s.page.keyboard.press("ArrowLeft" if last else "ArrowRight")
        s.page.wait_for_function("([e, before]) => ![before, undefined].includes(e.querySelector('img')?.src)",
                                 arg=[controls.element_handle(), before], timeout=1000 * SLOW)  # fmt: skip
        took = time.time() - began
        expect(controls.locator(".widget-html-content", has_text="computed in")).to_be_visible()
        assert abs(controls.locator("img").bounding_box()["y"] - place) < 1, "the picture has moved"
        s.did(f"slider {name} moves; after {1000 * took:.0f} ms the picture has changed")


SLIDERS = """import gonum "gonum.org/v1/plot"

%%
notebook.Sliders(func(at []float64) []*gonum.Plot {
	line := plot.Series{X: []float64{0, 1}, Y: at}
	return []*gonum.Plot{must.M1(plot.Lines(plot.Axes{Title: fmt.Sprint(at)}, line))}
}, notebook.Slider{Name: "left", Values: []float64{1, 2, 3}}, notebook.Slider{Name: "right", Values: []float64{1, 2, 3}, At: 2})"""


def first_cell(s, book):
    out = book.run("%%\nfmt.Println(hyper.Version)", 120)
    assert out and "rror" not in out, out
    s.did(f"a first cell prints {out.strip()}")
    times = []
    for i in range(2):
        out = book.run(f'%%\nfmt.Println(must.M1(backend.Open("xla:cpu")).Name(), hyper.Version, {i})')
        assert out.startswith("xla"), out
        times.append(f"{book.took:.2f}")
    s.did(f"cells with XLA take {', '.join(times)} s")


def completes(s, book):
    book.type("%%\nfmt.Println(hyper.")
    began = time.time()
    s.page.keyboard.press("Tab")
    names = s.page.locator(".jp-Completer-item")
    names.first.wait_for(timeout=30000)
    text = s.page.locator(".jp-Completer:visible").text_content()
    s.did(f"completion of hyper., after {time.time() - began:.2f} s")
    for name in "Ensemble", "Linear", "Model", "Version":
        assert name in text, f"no {name} in {text!r}"
    s.page.keyboard.type("NumT")
    panel = s.page.locator(".jp-Completer-docpanel")
    expect(panel).to_contain_text("func hyper.NumTheta(b hyper.BaseModel) int")
    s.did("completion with a signature")
    for _ in "NumT":
        s.page.keyboard.press("Backspace")
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


def underlines(s, book):
    """A mistake is underlined before the cell runs; what the kernel corrects by itself is not."""
    book.type('%%\nvar n int = "a"\nfmt.Println(n)')
    wrong = book.cells.last.locator(".cm-lintRange-error")
    expect(wrong).to_have_text(['"a"'], timeout=60000)
    s.did("a mistake is underlined while the user types")
    book.type('%%\nvar m int = "b"\nfmt.Println(m)')
    expect(book.cells.last.locator(".cm-lintRange-error")).to_have_text(['"b"'], timeout=60000)
    s.did("also in a cell that is added later")


def reloads(s):
    """After a reload of the page sliders move, cells run, and mistakes are underlined."""
    book = Notebook.new(s.page, s.lab.notebooks)
    assert book.run('x := 3\nx + 4').strip() == "7"
    s.did("a cell of statements alone shows its last expression")
    book.run(SLIDERS)
    slides(s, book.panel.locator(".hypermodels-explore"))
    s.page.keyboard.press("Control+s")
    accept(s)  # Keep the notebook's name.
    s.page.reload()
    expect(book.cells.first.locator(".jp-OutputArea-output")).to_have_text("7")
    book.idle(60)
    slides(s, book.panel.locator(".hypermodels-explore"))
    s.did("after a reload the sliders move")
    book.type('%%\nvar n int = "a"\nfmt.Println(n)')
    expect(book.cells.last.locator(".cm-lintRange-error")).to_have_text(['"a"'], timeout=60000)
    assert book.run("x := 4\nx + 4").strip() == "8"
    s.did("after a reload a mistake is underlined, and a cell runs")


def shows_progress(s, book):
    """A running cell changes its output in place."""
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


def fails(s, book):
    """An error names the cell and the line, and links to the line, also if the failing function is in another cell."""
    out = book.run("func half(x int) int {\n\treturn x / (x - x)\n}\n\n%%\nfmt.Println(half(1))")
    at, number = book.cells.count() - 1, book.number()
    cell = book.cells.nth(at)
    s.did("an error names the cell and the line")
    assert f"cell [{number}], line 2" in out and "divide by zero" in out, out
    book.run("%%\nfmt.Println(half(2))")
    link = book.cells.nth(at + 1).get_by_role("link", name=f"Cell In[{number}], line 2")
    link.click()
    expect(cell).to_have_class(re.compile("jp-mod-active"))
    expect(cell.locator(".cm-editor.cm-focused")).to_have_count(1)
    assert s.page.evaluate("getSelection().toString()").strip() == "return x / (x - x)"
    s.did("an error links to the line")
    book.run("%%\nlog.SetFlags(log.Lshortfile)\nfor i := range 5 {\n\tlog.Print(i)\n\ttime.Sleep(time.Second / 10)\n}")
    links = book.cells.last.get_by_role("link", name=f"cell [{book.number()}], line 4", exact=True)
    expect(links).to_have_count(5)
    # The cell gets another number when it runs again: the link has no target, and a notification says so.
    cell.locator(".cm-content").press("Shift+Enter")
    expect(cell.locator(".jp-InputPrompt")).not_to_have_text(f"[{number}]:")
    link.click()
    s.page.get_by_text(f"There is no cell [{number}]").wait_for()


HYPER = "%hyper run gaussian --agent linear --runs 50 --periods 100000 --workers 1 --out interrupted"


def commands(s, book):
    """%hyper shows progress and a figure in place. An interrupt saves the results."""
    cell = book.begin(HYPER)
    output, seen = cell.locator(".jp-OutputArea-output"), set()
    expect(output.first).to_contain_text("run-periods, ", timeout=120000)
    while len(seen) < 3:
        seen |= {t for t in output.all_inner_texts() if "run-periods" in t}
        s.page.wait_for_timeout(100)
    expect(cell.locator(".jp-OutputArea-output img")).to_have_count(1)
    s.did("%hyper run shows progress and a figure")
    book.panel.locator('[data-jp-item-name="interrupt"]').click()
    out = book.end(cell, 60)
    s.did("%hyper run is interrupted")
    assert "hyper resume" in out, out
    out = book.run('%%\nh, rows := notebook.Results("interrupted")\nfmt.Println(h.Spec.Runs, len(rows) > 0)')
    assert out.strip() == "50 true", out
    s.did("the next cell reads its results")


EXPLORE = """%%
spec := must.M1(paper.Gaussian.Spec([]string{"exact", "linear"}, nil, lab.Size{Periods: 100, Runs: 10}, 1))
notebook.Explore(spec, "index-dim", "period")"""


def explores(s, book):
    """Sliders for settings work after their cell has ended."""
    cell = book.begin(EXPLORE)
    book.end(cell)
    image = cell.locator(".widget-html-content img")
    image.wait_for()
    assert cell.locator(".widget-slider").count() == 2
    s.page.wait_for_timeout(500)
    s.did("Explore shows sliders and a belief")
    for number in 0, 1:
        before = image.get_attribute("src")
        cell.locator(".noUi-handle").nth(number).focus()
        s.page.keyboard.press("ArrowLeft")
        expect(image).not_to_have_attribute("src", before)
        expect(cell.locator(".widget-html-content", has_text="computed in")).to_be_visible()
        s.did(f"slider {number + 1} moves, and the belief is drawn anew")
    place, seen = top(s, image), set()
    handle = cell.locator(".noUi-handle").nth(1).bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    s.page.mouse.move(x, y)
    s.page.mouse.down()
    for i in range(40):
        s.page.mouse.move(x - 2 * i, y)
        s.page.wait_for_timeout(75)
        seen.add(image.get_attribute("src"))
    s.page.mouse.up()
    assert len(seen) > 3, f"{len(seen)} pictures while a slider is dragged"
    assert abs(top(s, image) - place) < 1, "the picture has moved"
    s.did("the belief follows a slider that is dragged, in one place")
    out = book.run('%%\nfmt.Println("beside")')
    assert out.strip() == "beside", out
    restart(s, book)
    says = book.panel.locator(".hypermodels-explore").last.evaluate("e => getComputedStyle(e, '::before').content")
    assert "run the cell" in says, says
    s.did("after a restart the controls say that they are dead")


def top(s, image):
    """Where a picture is, once none comes any more: one that is being replaced has no place."""
    s.page.wait_for_timeout(2000)
    return image.bounding_box()["y"]


def reopens(s, book):
    """A notebook that is opened again has the picture of controls whose program is gone."""
    s.page.keyboard.press("Control+s")
    s.page.locator(".jp-Dialog .jp-mod-accept").click()  # Its name stays.
    s.page.locator("#jp-main-dock-panel .lm-TabBar-tab.jp-mod-current:not(.jp-mod-dirty)").wait_for()
    shut_down(s, book.path.name)
    again = Notebook.open(s.page, s.lab.notebooks, book.path.name)
    again.panel.get_by_text("This is a picture. Run the cell to use its controls.").last.wait_for()
    s.did("opened again, Explore has its picture")


TICKS = '%%\nfor i := range {n} {{\n\tfmt.Println("tick", i)\n\ttime.Sleep(time.Second / 5)\n}}'


def comes_back(s):
    """A notebook is closed while a cell runs: opened again, it is busy and shows the output, also of cells that have ended."""
    book = Notebook.new(s.page, s.lab.notebooks)
    cell = book.begin(TICKS.format(n=50))
    expect(cell.locator(".jp-OutputArea-output")).to_contain_text("tick 3")
    book = reopen(s, book)
    s.page.locator(".jp-StatusBar-Item", has_text="Go (hypermodels) | Busy").first.wait_for()
    cell = book.cells.last
    expect(cell.locator(".jp-InputPrompt")).to_have_text("[*]:")
    expect(cell.locator(".jp-OutputArea-output")).to_contain_text("tick 3")
    s.did("opened again, a cell that runs goes on")
    lines = book.end(cell).split()
    assert lines == [w for i in range(50) for w in ("tick", str(i))], lines
    cell = book.begin(TICKS.format(n=9999))
    expect(cell.locator(".jp-OutputArea-output")).to_contain_text("tick 3")
    book = reopen(s, book)
    expect(book.cells.last.locator(".jp-OutputArea-output")).to_contain_text("tick 8")
    book.panel.locator('[data-jp-item-name="interrupt"]').click()
    assert "nterrupt" in book.end(book.cells.last, 20)
    s.did("opened again, a cell that runs can be interrupted")
    first, number = book.begin(TICKS.format(n=15)), book.cells.count() - 1
    expect(first.locator(".jp-OutputArea-output")).to_contain_text("tick 3")
    book.begin('%%\nfmt.Println("after", 1)\nfmt.Fprintln(os.Stderr, "and this")')
    book = reopen(s, book, idle=True)
    book.idle(20)
    assert book.end(book.cells.nth(number)).split()[-1] == "14"
    both = book.end(book.cells.last)  # The order of the two streams is not fixed.
    assert sorted(both.split()) == ["1", "after", "and", "this"], both
    assert book.number() > 0
    s.did("opened again, cells that have ended have their output")
    assert book.run(TICKS.format(n=2)).split() == ["tick", "0", "tick", "1"]


def reopen(s, book, idle=False):
    """Close the notebook's tab without ending its kernel, and open the notebook again: after a second, or once its cells have ended."""
    s.page.keyboard.press("Control+s")
    accept(s)  # Keep the new notebook's name.
    menu(s.page, "File", "Close Tab")
    accept(s)  # Save the later output of the cell.
    s.page.locator("#jp-main-dock-panel .lm-TabBar-tab", has_text=book.path.name).wait_for(state="detached")
    s.page.wait_for_timeout(1000)
    calm = 2 * (not idle)
    while calm < 2:  # Between two cells the kernel is idle, too.
        s.page.wait_for_timeout(500)
        states = {k["execution_state"] for k in s.page.request.get(f"{s.lab.url}/api/kernels").json()}
        calm = calm + 1 if states == {"idle"} else 0
    return Notebook.open(s.page, s.lab.notebooks, book.path.name)


def shut_down(s, name):
    """Close a notebook and end its kernel."""
    menu(s.page, "File", "Close and Shut Down Notebook")
    s.page.locator(".jp-Dialog .jp-mod-accept").click()
    s.page.locator("#jp-main-dock-panel .lm-TabBar-tab", has_text=name).wait_for(state="detached")


def accept(s):
    """Accept the dialog, if one is open."""
    s.page.wait_for_timeout(500)
    if (button := s.page.locator(".jp-Dialog .jp-mod-accept:not(.jp-mod-warn)")).count():
        button.click()
        button.wait_for(state="detached")


def restart(s, book):
    menu(s.page, "Kernel", "Restart Kernel…")
    s.shot("restart?")
    s.page.locator(".jp-Dialog .jp-mod-accept").click()
    s.page.locator(".jp-Dialog").wait_for(state="detached")
    book.idle(60)


def restarts(s, book):
    book.run("func kept() string { return \"kept\" }\n\n%%\nfmt.Println(kept())")
    restart(s, book)
    out = book.run("%%\nfmt.Println(kept())")
    s.did("after a restart the declarations are gone")
    assert "kept" in out and "undefined" in out, out
    out = book.run('%%\nfmt.Println("new", "kernel")')
    assert out.strip() == "new kernel", out
    s.did("and the next cell runs")


def main(browser, *notebooks):
    expect.set_options(timeout=30000)
    with sync_playwright() as playwright:
        window = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        visit(window, {}, lambda s: go(s, notebooks))
        if certificate := os.environ.get("HYPERMODELS_CERTIFICATE", "").split():
            visit(window, {"base": "/user/someone", "certificate": certificate}, hub)
        window.close()


def visit(window, options, steps):
    """Start Lab, take the steps, and stop Lab."""
    with tempfile.TemporaryDirectory(prefix="hl-") as tmp:
        with Lab(Path(tmp), **options) as lab:
            page = window.new_page(viewport={"width": 1400, "height": 1000}, ignore_https_errors=True)
            session = Session(page, lab)
            print(f"the server answers after {lab.started:.1f} s at {lab.url}")
            try:
                steps(session)
            except BaseException:
                session.shot("failed")
                print(lab.log.read_text())
                raise
            page.close()
        lab.check_gone()
        print(f"{time.time() - session.began:6.1f} s  after Ctrl-C nothing is left")


def hub(s):
    """Test Lab as behind JupyterHub: below a path, over HTTPS."""
    opened(s)
    book = Notebook.new(s.page, s.lab.notebooks)
    book.idle(60)
    book.run(SLIDERS)
    slides(s, book.panel.locator(".hypermodels-explore"))
    assert not s.strangers, f"the page contacted other hosts: {s.strangers}"


def go(s, notebooks):
    s.lab.check_closed()
    opened(s)
    starts(s)
    for name in notebooks:
        notebook_runs(s, name)
    book = Notebook.new(s.page, s.lab.notebooks)
    book.idle(60)
    s.did("a new notebook")
    for step in (underlines, completes, first_cell, inspects, shows_progress, fails, interrupts, commands, explores,
                 restarts, reopens):  # fmt: skip
        step(s, book)
    comes_back(s)
    reloads(s)
    quiet(s)
    assert not s.strangers, f"the page contacted other hosts: {s.strangers}"


if __name__ == "__main__":
    main(*sys.argv[1:])
