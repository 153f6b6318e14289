"""What another site can do to somebody who is signed in: nothing. In a real browser, from the same machine and from another name."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from test_sign_in import FORM, ask, entered
from visiting import visit


@pytest.fixture(scope="module")
def evil(site):
    """Another site: a page that frames ours, and forms that are sent to it."""
    pages = {
        "/frame": f'<iframe src="{site.address}/?q=vendor"></iframe>',
        "/leave": f'<form method="post" action="{site.address}/leave"><button>go</button></form>',
        "/index": (
            f'<form method="post" action="{site.address}/index"><input name="root" value="/etc"><input name="what" value="add">'
            "<button>go</button></form>"
        ),
        "/script": f'<script src="{site.address}/?q=vendor&part=all"></script>',
    }

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = f"<!doctype html><title>evil</title>{pages.get(self.path, '')}".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(params=["127.0.0.1", "localhost"])
def strange(browser, site, evil, request):
    """A signed-in window, and the address of the other site: on the same name, to which the browser sends our cookie, and on another."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.goto(site.link())
    yield page, f"http://{request.param}:{evil}"
    context.close()


def test_our_page_is_shown_in_no_frame(strange):
    page, evil = strange
    page.goto(f"{evil}/frame")
    frame = page.frames[1]
    assert "vendor" not in frame.evaluate("() => document.body?.innerText ?? ''")
    assert not frame.url or frame.url.startswith("chrome-error://")  # older versions of Playwright name no address


@pytest.mark.parametrize("form", ["leave", "index"])
def test_a_form_of_another_site_changes_nothing(strange, site, form):
    page, evil = strange
    page.goto(f"{evil}/{form}")
    with page.expect_response(f"{site.address}/{form}") as answer:
        page.click("text=go")
    assert answer.value.status in {303, 403}  # to the door where the browser sends no cookie, refused where it does
    page.goto(f"{site.address}/?q=vendor")
    assert page.locator(".result").count() > 1  # still signed in
    page.goto(f"{site.address}/index")
    assert "/etc" not in page.locator(".root h2").all_inner_texts()


def test_our_answers_load_as_no_script_of_another_site(strange, site):
    page, evil = strange
    failed = []
    page.on("requestfailed", lambda request: failed.append((request.resource_type, request.failure)))
    page.goto(f"{evil}/script")
    assert [why for what, why in failed if what == "script"] == ["net::ERR_BLOCKED_BY_RESPONSE.NotSameOrigin"]


def test_a_session_of_one_user_shows_nothing_of_anothers(browser, site):
    mine, other = entered(site), entered(site)
    page = ask(site, "GET", "/index", headers={"Cookie": mine})[2]
    of_mine = page.partition('name="form" value="')[2].partition('"')[0]
    sent = {"root": str(site.home / "handbook"), "what": "start", "form": of_mine}
    assert ask(site, "POST", "/index", sent, {**FORM, "Cookie": other})[0] == 403
    with visit(browser, site, signed_in=False) as page:
        page.goto(f"{site.address}/see?path={site.home}/handbook/policies/security.md")
        page.wait_for_selector("#token")
        assert "laptop" not in page.content()
