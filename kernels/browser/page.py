"""Tests the page of `hyper serve` in a browser: page.py BROWSER URL TOKEN."""

import os
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

browser, url, token = sys.argv[1:]
shots = os.environ.get("HYPERMODELS_SCREENSHOTS")


def shot(page, name):
    if shots:
        Path(shots).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(shots, f"page-{name}.png"))


expect.set_options(timeout=30000)
with sync_playwright() as p:
    chrome = p.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
    page = chrome.new_page(viewport={"width": 1100, "height": 1000}, device_scale_factor=2)
    strangers, errors = set(), []
    page.on("request", lambda r: None if r.url.startswith(url) else strangers.add(r.url))
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.goto(url)
    expect(page.get_by_role("alert")).to_contain_text("the token is missing or wrong")
    page.wait_for_timeout(2500)  # The typed text stays while the page updates.
    page.get_by_label("Token").click()
    page.keyboard.type(token[:3])
    page.wait_for_timeout(2500)
    page.keyboard.type(token[3:])
    shot(page, "1-locked")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("learns")
    expect(page.locator("#data")).to_have_text("40")
    expect(page.locator("#decisions")).to_have_text("40")
    expect(page.get_by_role("alert")).to_have_text("")
    expect(page.get_by_label("Token")).to_be_hidden()
    expect(page.locator("#what")).to_have_text(
        "The learner bayesian-linear chooses among 2 arms. The context has 2 features and 16 buckets for other features."
    )
    rows = page.locator("#arms tbody tr")
    expect(rows).to_have_count(2)
    decisions = 0
    for i, name in enumerate(("old", "new")):
        cells = rows.nth(i).locator("td").all_inner_texts()
        assert cells[0] == name and cells[2] == cells[3], cells
        assert "[" in cells[4] or cells[2] == "0", cells
        decisions += int(cells[2])
    assert decisions == 40, decisions
    expect(page.locator("#exploring")).to_contain_text("of the last 40 decisions the agent did not take the action")
    page.wait_for_timeout(7500)  # Until the step with the rewards is complete.
    for chart in "rate", "reward", "latency":
        texts = page.locator(f"#{chart} svg text").all_text_contents()
        assert texts[3:] == ["10 min ago", "5 min", "now"] and float(texts[2]) > 0, f"axes of {chart}: {texts}"
        drawn = "L" in page.locator(f"#{chart} path.a").get_attribute("d") or page.locator(f"#{chart} circle").count()
        assert drawn, f"no curve in {chart}"
    for scheme in "light", "dark":
        page.emulate_media(color_scheme=scheme)
        shot(page, f"2-{scheme}")
        colours = page.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
        text, ground = (sum(map(int, c[4:-1].split(","))) for c in colours)
        assert (text > ground) == (scheme == "dark"), f"{scheme}: {colours}"
    page.set_viewport_size({"width": 390, "height": 800})
    shot(page, "3-phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "the page is wider than a phone"
    assert not strangers, f"the page contacts other hosts: {strangers}"
    assert not errors, errors
    print("the page shows the agent")
