"""Who gets in: links that work once, tokens, cookies, forms of other sites. Spoken to as a browser speaks, without one."""

from __future__ import annotations

import http.client
import time
from urllib.parse import urlencode

import pytest

from conftest import PATIENCE
from smart_context.page import sessions

FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}


def ask(site, method, path, body=None, headers=None):
    """Ask without a token; gives status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)
    data = urlencode(body).encode() if body is not None else None
    connection.request(method, path, data, headers or {})
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    connection.close()
    return found


def own_token(site):
    return (site.home / "index/http-token").read_text().strip()


def entered(site):
    """A cookie of the owner's session."""
    status, headers, _ = ask(site, "GET", "/enter?ticket=" + sessions.ticket(own_token(site), time.time()))
    assert status == 303
    return headers["set-cookie"].partition(";")[0]


def test_a_link_works_once_and_leaves_a_cookie_that_holds_no_token(site):
    ticket = sessions.ticket(own_token(site), time.time())
    status, headers, _ = ask(site, "GET", f"/enter?ticket={ticket}")
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}
    assert own_token(site) not in cookie
    assert ask(site, "GET", f"/enter?ticket={ticket}")[0] == 403


@pytest.mark.parametrize("made", ["old", "forged", "another's", "", "x.y.z", "1.nan.é"])
def test_a_link_that_is_old_or_not_ours_opens_nothing(site, made):
    now = time.time()
    tickets = {
        "old": sessions.ticket(own_token(site), now - 2 * sessions.TICKET_SECONDS),
        "forged": sessions.ticket(own_token(site), now).replace(".", ".9", 1),
        "another's": sessions.ticket("sct_" + "0" * 43, now),
    }
    status, headers, _ = ask(site, "GET", "/enter?" + urlencode({"ticket": tickets.get(made, made)}))
    assert status == 403
    assert "set-cookie" not in headers


def test_without_a_session_every_view_is_the_door(site):
    status, _, body = ask(site, "GET", "/?q=vendor")
    assert status == 401
    assert "vendor-x" not in body
    assert ask(site, "GET", "/", headers={"Cookie": "smart_context=guessed"})[0] == 401


def test_a_token_opens_a_session_and_a_wrong_one_none(site):
    assert ask(site, "POST", "/enter", {"token": own_token(site)}, FORM)[0] == 303
    status, headers, _ = ask(site, "POST", "/enter", {"token": "sct_wrong"}, FORM)
    assert status == 403
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Origin": "https://evil.example"},
        {},
    ],
)
def test_a_form_of_another_site_does_nothing(site, headers):
    headers = {"Content-Type": FORM["Content-Type"], **headers}
    assert ask(site, "POST", "/enter", {"token": own_token(site)}, headers)[0] == 403


def test_a_form_without_the_token_of_its_session_does_nothing(site):
    cookie, other = entered(site), entered(site)
    page = ask(site, "GET", "/", headers={"Cookie": other})[2]
    of_other = page.partition('name="form" value="')[2].partition('"')[0]
    for given in ({}, {"form": ""}, {"form": of_other}):
        assert ask(site, "POST", "/leave", given, {**FORM, "Cookie": cookie})[0] == 403
    assert ask(site, "GET", "/", headers={"Cookie": cookie})[0] == 200
    assert ask(site, "POST", "/leave", {"form": of_other}, {**FORM, "Cookie": other})[0] == 303
    assert ask(site, "GET", "/", headers={"Cookie": other})[0] == 401


def test_a_session_opens_no_tool(site):
    headers = {"Cookie": entered(site), "Content-Type": "application/json", "Accept": "application/json"}
    assert ask(site, "POST", "/mcp", {}, headers)[0] == 401


def test_every_answer_forbids_framing_and_anything_from_elsewhere(site):
    cookie = {"Cookie": entered(site)}
    for path in ("/", "/?q=vendor", "/?q=vendor&part=typed", "/enter", "/static/page.js", "/?q=a&year=x"):
        _, headers, body = ask(site, "GET", path, headers=cookie)
        policy = dict(rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"
        assert not any(word in body for word in (" style=", " onclick=", "javascript:")), path


def test_a_host_that_is_not_ours_is_refused(site):
    assert ask(site, "GET", "/", headers={"Host": "evil.example"})[0] == 421


def test_the_server_proves_who_it_is_without_its_token(site):
    assert ask(site, "GET", "/hello?nonce=n")[2] == sessions.proof(own_token(site), "n")


def test_a_page_of_results_is_small(site):
    cookie = {"Cookie": entered(site)}
    paths = ("/?q=walrus", "/static/page.js", "/static/page.css", "/static/icon.svg")
    assert sum(len(ask(site, "GET", path, headers=cookie)[2].encode()) for path in paths) < 60_000


def test_an_unknown_address_is_told_to_those_who_are_signed_in_and_to_nobody_else(site):
    unknown = ("/nothing", "/see/more", "/static/none.js", "/index2?x=1")
    door = ask(site, "GET", "/index")
    for path in unknown:
        status, headers, body = ask(site, "GET", path)
        assert (status, headers["location"], body) == (door[0], door[1]["location"], door[2]) == (303, "/", "")
        assert ask(site, "GET", path, headers={"Cookie": "smart_context=guessed"})[0] == 303
    cookie = {"Cookie": entered(site)}
    for path in unknown:
        status, _, body = ask(site, "GET", path, headers=cookie)
        assert status == 404
        assert "here is no such page" in body
        assert ask(site, "GET", path, headers={"Authorization": f"Bearer {own_token(site)}"})[0] == 404
        assert ask(site, "GET", path, headers={"Authorization": "Bearer wrong"})[0] == 401
    for path in ("/mcp", "/metrics", "/.well-known/oauth-protected-resource"):  # of programs, which need a token
        assert ask(site, "GET", path, headers=cookie)[0] == 401
