"""Checks that pages of other sites cannot use `hyper serve`: attack.py BROWSER URL PORT.

URL is the server's address. The other sites listen on PORT.
"""

import sys
from urllib.parse import urlsplit

from playwright.sync_api import expect, sync_playwright

browser, url, port = sys.argv[1:]
PATHS = ["/", "/v1/snapshot", "/v1/diagnostics", "/v1/spec", "/v1/health", "/metrics", "/openapi.json"]

# The script sends all requests that a page can send without asking the server first, requests that need a question
# first, and requests whose answers the page could read. It returns what the page learns from each answer: "opaque"
# where the browser hides the answer.
ATTACK = """async ([url, paths]) => {
  const decide = '{"context": {"country": "fr"}}', out = {};
  const tried = async (name, f) => {
    try {
      const r = await f();
      out[name] = r.type === "opaque" ? "opaque" : `${r.status} ${await r.text()}`;
    } catch (e) {
      out[name] = `failed: ${e.message}`;
    }
  };
  const post = (path, type, mode, body) =>
    fetch(url + path, {method: "POST", mode, body, headers: {"Content-Type": type}});
  await tried("text", () => post("/v1/decide", "text/plain", "no-cors", decide));
  await tried("text, to be read", () => post("/v1/decide", "text/plain", "cors", decide));
  await tried("JSON", () => post("/v1/decide", "application/json", "cors", decide));
  await tried("reward", () => post("/v1/reward", "text/plain", "no-cors", '{"id": "0-00000000", "reward": 1}'));
  await tried("save", () => fetch(url + "/v1/snapshot", {method: "POST", mode: "no-cors"}));
  for (const path of paths) {
    await tried(path, () => fetch(url + path));
    await tried(`${path} unread`, () => fetch(url + path, {mode: "no-cors"}));
  }
  navigator.sendBeacon(url + "/v1/decide", decide);
  const image = new Image();
  await new Promise(done => { image.onload = image.onerror = done; image.src = url + "/v1/snapshot"; });
  const frame = Object.assign(document.createElement("iframe"), {name: "frame"}), form = document.createElement("form");
  document.body.append(frame);
  Object.assign(form, {method: "post", enctype: "text/plain", action: url + "/v1/decide", target: "frame"});
  form.append(Object.assign(document.createElement("input"), {name: '{"context": {"country": "', value: '"}}'}));
  document.body.append(form);
  const sent = new Promise(done => { frame.onload = done; });
  form.submit(); // The text of the form is {"context": {"country": "="}}.
  await sent;
  return out;
}"""

expect.set_options(timeout=30000)
with sync_playwright() as p:
    chrome = p.chromium.launch(executable_path=browser, args=[
        "--no-sandbox", "--disable-gpu", "--no-proxy-server",
        "--host-resolver-rules=MAP *.example 127.0.0.1"])  # fmt: skip
    server = urlsplit(url)
    for site in f"http://evil.example:{port}", f"http://localhost:{port}":
        page = chrome.new_page()
        page.goto(site)
        for name, got in page.evaluate(ATTACK, [url, PATHS]).items():
            assert got == "opaque" or got.startswith("failed: "), f"{site}, {name}: {got}"
        page.get_by_role("link", name="the agent").click()  # A link to the server's page is no attack.
        expect(page.locator("#status")).to_have_text("learns")
        page.close()

    # DNS rebinding: after the page /trap is loaded, a name of the attacker leads to the server.
    rebound = f"http://evil.example:{server.port}"
    page = chrome.new_page()
    page.goto(f"{rebound}/trap")
    for name, got in page.evaluate(ATTACK, [rebound, PATHS]).items():
        assert got.startswith("421 ") and "--host evil.example" in got, f"{rebound}, {name}: {got}"
    page.close()

    for own in url, f"http://localhost:{server.port}":
        page = chrome.new_page()
        page.goto(own)
        expect(page.locator("#status")).to_have_text("learns")
        expect(page.locator("#exploring")).to_contain_text("of the last 1 decisions")
        expect(page.get_by_role("alert")).to_have_text("")
        page.close()
    print("pages of other sites are refused, and the server's own page works")
