"""The index, caches and freezing on the page: in a real browser, and as a browser speaks."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from test_sign_in import FORM, ask, entered
from visiting import visit

from machine import rest
from smart_context.access import tokens


def of_a_guest(site, root):
    """A cookie of somebody who may see one folder and owns nothing."""
    token = tokens.add(
        site.home / "index", f"guest{len(root)}", (root,), is_admin=False, made="2026-01-01T00:00:00Z", ends=""
    )
    return ask(site, "POST", "/enter", {"token": token}, FORM)[1]["set-cookie"].partition(";")[0]


def form_of(page):
    return page.partition('name="form" value="')[2].partition('"')[0]


def test_the_index_says_what_is_in_it_and_starts_a_run(window, site):
    window.goto(f"{site.address}/index")
    assert window.inner_text(".root h2 >> nth=0") == str(site.home / "handbook")
    window.click("text=Index now")
    window.wait_for_selector("text=Index now")  # over, or not begun: it can be asked for again
    window.goto(f"{site.address}/index?check=1")
    assert window.locator(".findings .ok").count() > 3


def test_a_folder_is_added_by_typing_its_path_and_a_wrong_one_says_what_to_do(window, site):
    more = site.home / "more"
    more.mkdir()
    (more / "beluga.md").write_text("A beluga.\n", "utf-8")
    window.goto(f"{site.address}/index")
    window.fill("#root", str(more / "nothing"))
    window.press("#root", "Enter")
    window.wait_for_selector(".error:has-text('Check the spelling')")
    window.go_back()
    window.fill("#root", str(more))
    window.press("#root", "Enter")
    window.wait_for_selector("text=The folder is a root now")
    while "beluga.md" not in ask(site, "GET", "/?q=beluga", headers={"Cookie": entered(site)})[2]:
        rest()
    window.goto(f"{site.address}/index")
    assert window.inner_text(".root h2 >> nth=1") == str(more)


def test_a_run_that_waits_or_works_can_be_stopped(site):
    cookie = {"Cookie": entered(site)}
    page = ask(site, "GET", "/index", headers=cookie)[2]
    sent = {"root": str(site.home / "handbook"), "form": form_of(page), "what": "stop"}
    status, headers, _ = ask(site, "POST", "/index", sent, {**FORM, **cookie})
    assert (status, headers["location"]) == (303, "/index?told=stopped")


def test_from_elsewhere_nobody_adds_a_root(site):
    cookie = {"Cookie": entered(site), "X-Forwarded-For": "10.0.0.1"}
    page = ask(site, "GET", "/index", headers=cookie)[2]
    assert "Add a folder" not in page
    sent = {"root": "/etc", "form": form_of(page), "what": "add"}
    assert ask(site, "POST", "/index", sent, {**FORM, **cookie})[0] == 403


def test_who_sees_some_folders_sees_their_results_and_no_index(site):
    folder = str(site.home / "handbook/finance")
    cookie = {"Cookie": of_a_guest(site, folder)}
    assert ask(site, "GET", "/index", headers=cookie)[0] == 403
    found = ask(site, "GET", "/?q=vendor", headers=cookie)[2]
    assert "budget-2026.xlsx" in found
    assert "vendor-x-contract" not in found
    other = quote(str(site.home / "handbook/projects/vendor-x-contract.docx"))
    assert ask(site, "GET", f"/see?path={other}", headers=cookie)[0] == 403
    assert ask(site, "GET", "/cache?cache=handbook", headers=cookie)[0] != 200
    page = ask(site, "GET", "/", headers=cookie)[2]
    for path, sent in (
        ("/index", {"root": folder}),
        ("/index", {"root": folder, "what": "stop"}),
        ("/index", {"root": "/etc", "what": "add"}),
        ("/freeze", {"name": "mine", "view": "q=vendor"}),
    ):
        assert ask(site, "POST", path, {**sent, "form": form_of(page)}, {**FORM, **cookie})[0] == 403


def test_a_run_is_started_by_a_form_of_the_page_alone(site):
    cookie = {"Cookie": entered(site)}
    sent = {"root": str(site.home / "handbook")}
    cross = {"Content-Type": FORM["Content-Type"], "Sec-Fetch-Site": "cross-site"}
    assert ask(site, "POST", "/index", sent, {**cross, **cookie})[0] == 403
    assert ask(site, "POST", "/index", sent, {**FORM, **cookie})[0] == 403


def test_the_slider_shows_what_gets_in_and_what_just_misses(window, site):
    window.goto(f"{site.address}/caches")
    window.click("text=handbook >> nth=0")
    window.fill("#cq", "lost laptop")
    window.fill("#budget", "220")
    window.wait_for_selector("text=1 of 6 documents selected")
    assert "policies/security.md" in window.inner_text(".chosen >> nth=0")
    assert "were left" in window.inner_text(".chosen >> nth=1")
    window.fill("#slider", "4000")
    window.wait_for_selector("text=6 of 6 documents selected")
    window.reload()
    assert window.input_value("#budget") == "4000"


def test_a_cache_says_who_signed_it_and_what_proves_it(site):
    cookie = {"Cookie": entered(site)}
    said = {
        "handbook": ("✓ Signed", "checked with mine.pub"),
        "unproved": ("Signed, not proved", "not among the trusted ones"),
        "broken": ("The signature does not fit", "SHA256SUMS.minisig"),
        "handbook-new": ("Not signed",),
    }
    for name, words in said.items():
        page = ask(site, "GET", f"/cache?cache={name}", headers=cookie)[2]
        assert all(word in page for word in words), name
        assert ("✓ Signed" in page) == (name == "handbook")


def test_two_caches_are_compared(window, site):
    window.goto(f"{site.address}/diff?old=handbook&new=handbook-new")
    assert "notes/new.md" in window.inner_text(".chosen")


def test_chosen_results_are_frozen_without_scripts_too(browser, site):
    with visit(browser, site, java_script_enabled=False) as page:
        page.goto(f"{site.address}/?q=vendor")
        page.check(".pick >> nth=0")
        page.check(".pick >> nth=1")
        page.fill("#name", "chosen")
        page.click("button:has-text('Freeze')")
        page.wait_for_url("**/cache?cache=chosen**")
        assert "of 2 documents" in page.inner_text("#told")
    manifest = json.loads((site.home / "caches/chosen/manifest.json").read_text("utf-8"))
    assert manifest["document_count"] == 2


@pytest.mark.parametrize("name", ["../x", "", "a/b", "handbook"])
def test_a_name_that_is_taken_or_leads_elsewhere_freezes_nothing(site, name):
    cookie = {"Cookie": entered(site)}
    page = ask(site, "GET", "/?q=vendor", headers=cookie)[2]
    sent = {"name": name, "view": "q=vendor", "form": form_of(page)}
    assert ask(site, "POST", "/freeze", sent, {**FORM, **cookie})[0] in {400, 409}
    assert ask(site, "GET", "/cache?cache=" + quote(name), headers=cookie)[0] in {
        404,
        500,
        200 if name == "handbook" else 404,
    }


def test_at_320_pixels_nothing_is_cut_off(browser, site):
    with visit(browser, site, viewport={"width": 320, "height": 640}) as page:
        for address in (
            "/index?check=1",
            "/caches",
            "/cache?cache=handbook&query=laptop&budget=200",
            "/cache?cache=handbook&query=laptop&as=pack",
        ):
            page.goto(site.address + address)
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
