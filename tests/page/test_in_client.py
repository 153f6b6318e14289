"""The page inside an MCP client: a real browser shows it in a frame as clients do, and a real server behind a pipe answers it."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from test_page_accessibility import AXE
from visiting import HOSTILE, TURNED

from server_client import SERVE, Peer
from smart_context.server import apps

PAGE = "ui://smart-context/results.html"
# What the specification of MCP Apps has a client allow when a page names no origins.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "media-src 'self' data:; connect-src 'none'"
)
HOST = (Path(__file__).parent / "client.html").read_text(encoding="utf-8")
TEXTS = {
    "walrus.md": "# Sea\n𝒜 mathematical 𝒜 before the walrus, and after it.\n" + "Then more of it.\n" * 40,
    f"{HOSTILE.replace('/', '')}.md": f"A walrus writes {HOSTILE} and <script>alert(1)</script> here.\n",
    "שלום.txt": "שלום עולם, walrus\n",
    TURNED: "A manatee in a file whose name turns around.\n",
    **{f"many/{n:02}.txt": f"Walrus number {n}.\n" for n in range(30)},
}


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    """The server over a pipe, greeted by a client that shows pages."""
    home = tmp_path_factory.mktemp("client")
    root = home / "sea"
    for name, text in TEXTS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    shows = {"extensions": {apps.EXTENSION: {"mimeTypes": [apps.MIME_TYPE]}}}
    who = {"name": "client", "version": "1"}
    with Peer([*SERVE, "--root", str(root), "--data-dir", str(home / "index")], home) as server:
        server.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": shows, "clientInfo": who})
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        server.call("indexFolder", {"root": str(root)})
        yield server


class Client:
    """A client's window with the page of a tool in it."""

    def __init__(self, browser, peer, *, may_call=True, theme="light", width=720) -> None:
        self._peer = peer
        self.context = browser.new_context(viewport={"width": width, "height": 600})
        self.window = self.context.new_page()
        self.window.set_default_timeout(300_000)
        self.asked, self.faults, self.calls = [], [], []
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.window.on("pageerror", lambda error: self.faults.append(str(error)))
        self.window.on("dialog", lambda dialog: self.faults.append(dialog.message))
        self.window.on(
            "console", lambda said: self.faults.append(said.text) if "Security Policy" in said.text else None
        )
        self.window.expose_function("callTool", self._call)
        html = peer.ask("resources/read", {"uri": PAGE})["result"]["contents"][0]["text"]
        # A client puts its policy before whatever the page says.
        html = html.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">', 1)
        self.window.set_content(HOST)
        self.window.evaluate("given => begin(given)", {"html": html, "mayCall": may_call, "theme": theme})
        self.frame = self.window.frame_locator("iframe")
        self.frame.locator("#told").wait_for()

    def _call(self, name, given):
        self.calls.append((name, given))
        return self._peer.call(name, given)

    def search(self, **given):
        self.window.evaluate(
            "([given, result]) => answer(given, result)", [given, self._peer.call("searchFiles", given)]
        )
        self.frame.locator("#told:not(:text('Searching'))").wait_for()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()
        assert [url for url in self.asked if not url.startswith(("about:", "data:"))] == []
        assert self.faults == []


@pytest.fixture
def client(browser, peer):
    with Client(browser, peer) as opened:
        yield opened


def test_what_the_tool_found_is_shown_with_the_match_marked(client, peer):
    client.search(query="mathematical walrus", k=5)
    shown = client.frame.locator(".result")
    assert shown.count() == 5
    assert client.frame.locator("#told").inner_text() == "The best 5 of about 33 results"
    first = shown.filter(has_text="walrus.md").first
    assert [mark.lower() for mark in first.locator("mark").all_inner_texts()] == ["mathematical", "walrus"]
    assert first.locator(".pointer").inner_text() != ""


def test_markup_in_names_and_texts_stays_text(client):
    client.search(query="walrus writes")
    assert client.frame.locator("main img, main script").count() == 0
    assert HOSTILE in client.frame.locator(".results").inner_text()
    assert "<script>alert(1)</script>" in client.frame.locator(".results").inner_text()
    client.window.evaluate(
        "result => answer({query: result.notes[0]}, {structuredContent: result})",
        {"items": [], "pagination": {"offset": 0, "returned": 0, "total_estimate": 0}, "notes": [HOSTILE]},
    )
    client.frame.locator(".notes li").wait_for()
    assert client.frame.locator(".notes").inner_text() == HOSTILE


def test_a_name_neither_turns_around_nor_begins_a_line(client):
    client.search(query="manatee turns")
    shown = client.frame.locator(".results").inner_text()
    assert "turned \\u202etxt.exe\\u000aby\\u2028night.txt" in shown
    assert not {"\u202e", "\u2028"} & set(shown)


def test_more_results_and_the_text_around_one_come_through_the_client(client):
    client.search(query="walrus", k=10)
    client.frame.locator("text=More results").click()
    client.frame.locator(".result >> nth=19").wait_for()
    assert client.calls[-1] == ("searchFiles", {"query": "walrus", "k": 10, "offset": 10})
    names = client.frame.locator(".result h2").all_inner_texts()
    assert len(set(names)) == len(names) == 20
    name = client.frame.locator(".name", has_text="walrus.md")
    name.click()
    client.frame.locator(".passage .prose").wait_for()
    assert "before the walrus" in client.frame.locator(".passage").inner_text()
    name.click()
    assert client.frame.locator(".passage").count() == 0


def test_another_search_is_asked_in_the_page(client):
    client.search(query="walrus")
    client.frame.locator("#q").fill("שלום")
    client.frame.locator("#q").press("Enter")
    client.frame.locator("#told:text('One result')").wait_for()
    assert client.frame.locator(".result h2").all_inner_texts() == ["שלום.txt"]


def test_an_error_says_what_to_do(client):
    client.search(query="walrus", roots=["/etc"])
    told = client.frame.locator("#told").inner_text()
    assert "listRoots" in told
    assert client.frame.locator(".result").count() == 0


def test_a_client_that_passes_no_calls_on_gets_results_without_buttons(browser, peer):
    with Client(browser, peer, may_call=False) as client:
        client.search(query="walrus", k=5)
        assert client.frame.locator(".result").count() == 5
        assert client.frame.locator("button:visible, input:visible").count() == 0


def test_the_frame_is_as_high_as_its_results_and_as_dark_as_its_client(browser, peer):
    with Client(browser, peer, theme="dark", width=320) as client:
        client.search(query="walrus", k=8)
        client.window.wait_for_function("() => document.querySelector('iframe').offsetHeight > 600")
        wide, dark = client.frame.locator("html").evaluate(
            "html => [html.scrollWidth, getComputedStyle(html).backgroundColor]"
        )
        assert wide <= 320
        assert sum(int(part) for part in dark.strip("rgb()").split(",")) < 150


def test_messages_from_another_window_than_the_clients_are_not_heard(client):
    client.search(query="walrus", k=3)
    fake = {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": {"structuredContent": {"items": []}}}
    client.frame.locator("html").evaluate("(_html, fake) => postMessage(JSON.parse(fake), '*')", json.dumps(fake))
    client.frame.locator("html").evaluate("() => new Promise(done => setTimeout(done))")
    assert client.frame.locator(".result").count() == 3


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not there: make browser fetches it")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser, peer, theme):
    with Client(browser, peer, theme=theme) as client:
        client.search(query="mathematical walrus")
        client.frame.locator(".name", has_text="walrus.md").click()
        client.frame.locator(".passage .prose").wait_for()
        frame = client.window.frames[1]
        frame.evaluate(AXE.read_text(encoding="utf-8"))
        found = frame.evaluate(
            "() => axe.run({rules: {'target-size': {enabled: true}}}).then(found => found.violations)"
        )
        assert {each["id"]: [node["html"] for node in each["nodes"]] for each in found} == {}


def test_the_pages_own_policy_allows_nothing_but_its_own_script(client):
    attack = f"data:text/html,{quote('<p>')}"
    stopped = client.frame.locator("html").evaluate(
        """async (_html, attack) => {
            const stopped = [];
            document.addEventListener("securitypolicyviolation", (event) => stopped.push(event.effectiveDirective));
            const script = document.createElement("script");
            script.textContent = "window.reached = true";
            document.body.append(script);
            await fetch(attack).catch(() => stopped.push("fetch"));
            await new Promise((done) => setTimeout(done));
            return [window.reached ?? false, stopped.includes("script-src-elem"), stopped.includes("fetch")];
        }""",
        attack,
    )
    client.faults.clear()  # the browser says in its log what it stopped
    client.asked.clear()
    assert stopped == [False, True, True]
