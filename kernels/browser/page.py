"""The page of `hyper serve` in a browser: page.py BROWSER URL TOKEN."""

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


with sync_playwright() as p:
    chrome = p.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
    page = chrome.new_page()
    strangers, errors = set(), []
    page.on("request", lambda r: None if r.url.startswith(url) else strangers.add(r.url))
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.goto(url)
    expect(page.get_by_role("alert")).to_contain_text("the token is missing or wrong")
    shot(page, "1-locked")
    page.get_by_label("Token").fill(token)
    page.get_by_label("Token").press("Enter")
    expect(page.locator("#status b")).to_have_text("ok")
    expect(page.locator("#data b")).to_have_text("40")
    expect(page.get_by_role("alert")).to_have_text("")
    for card in "regret", "exploring", "distinct", "spread", "drift":
        expect(page.locator(f"#{card} b")).not_to_have_text("-")
    page.wait_for_timeout(4500)
    points = page.locator("#spread polyline").get_attribute("points").split()
    assert len(points) >= 2, f"no curve: {points}"
    shot(page, "2-shown")
    assert not strangers, f"the page asks others: {strangers}"
    assert not errors, errors
    print("the page shows the agent")
