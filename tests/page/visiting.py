"""What the tests of the page share: the server with a way in, and windows of a browser."""

from __future__ import annotations

import time
from contextlib import contextmanager

from test_http import Served

from smart_context.page import sessions

HOSTILE = "<img src=x onerror=alert(1)>"
TURNED = "turned \u202etxt.exe\nby\u2028night.txt"  # shown as it is, it would look like another name


class Site(Served):
    """The server, and how people come in."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def link(self) -> str:
        own = (self.home / "index/http-token").read_text().strip()
        return f"{self.address}/enter?ticket={sessions.ticket(own, time.time())}"


@contextmanager
def visit(browser, site, *, signed_in=True, **how):
    """A browser window of its own, whose every request goes to the server and nowhere else, and in which nothing fails."""
    context = browser.new_context(**how)
    page = context.new_page()
    page.set_default_timeout(300_000)
    asked, faults = [], []
    context.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    if signed_in:
        page.goto(site.link())
    yield page
    assert [url for url in asked if not url.startswith((site.address + "/", "data:"))] == []
    assert faults == []
    context.close()
