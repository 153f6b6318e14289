"""Seeing a result, in a real browser: lines, tables, pictures of pages, the ways on, what the owner may open."""

from __future__ import annotations

import re
from urllib.parse import quote

from test_sign_in import FORM, ask, entered
from visiting import HOSTILE, TURNED, visit

NAMES = ".result h2 a"


def seen(site, name, pointer="", q=""):
    return f"{site.address}/see?path={quote(str(site.home / 'handbook' / name))}&pointer={quote(pointer)}&q={quote(q)}"


def test_a_result_opens_at_its_place_and_escape_goes_back(window, site):
    window.goto(f"{site.address}/?q=laptop&kind=.md")
    window.keyboard.press("/")
    window.keyboard.press("ArrowDown")
    window.keyboard.press("Enter")
    window.wait_for_selector("#text mark")
    assert "laptop" in window.inner_text("#text mark >> nth=0").lower()
    window.keyboard.press("Escape")
    window.wait_for_selector(NAMES)
    assert "kind=.md" in window.url


def test_lines_keep_their_numbers(window, site):
    lines = (site.home / "handbook/policies/security.md").read_text(encoding="utf-8").split("\n")
    window.goto(seen(site, "policies/security.md"))
    shown = window.eval_on_selector_all(".lines li", "all => all.map(one => [one.value, one.textContent])")
    assert len(shown) > 5
    assert [text for _, text in shown if "redacted" not in text] == [
        lines[number - 1] for number, text in shown if "redacted" not in text
    ]


def test_where_there_is_no_other_match_to_go_to_nothing_takes_its_place(window, site):
    window.goto(seen(site, "odd/" + "long-" * 40 + "name.txt", "", "walrus"))
    window.wait_for_selector("[data-copy]")
    heading, first = (window.locator(one).bounding_box()["x"] for one in ("h1", "[data-copy]"))
    assert heading == first


def test_a_sheet_is_a_table(window, site):
    window.goto(seen(site, "finance/budget-2026.xlsx", "sheet 'Q2'", "laptops"))
    assert window.inner_text("tr:nth-child(1) td:nth-child(3)") == "EUR"
    assert window.inner_text("mark") == "Laptops"


def test_the_page_of_a_pdf_is_a_picture_beside_its_text(window, site):
    window.goto(seen(site, "policies/travel-policy.pdf", "page 1", "travel"))
    window.wait_for_function("() => document.querySelector('.paper img')?.naturalWidth > 500")
    assert window.inner_text("#text mark >> nth=0").lower() == "travel"
    window.keyboard.press("n")
    window.wait_for_selector("text=page 2")
    window.keyboard.press("p")
    window.wait_for_selector("text=page 1")


def test_a_slide_is_a_card_with_its_title(window, site):
    window.goto(seen(site, "projects/roadmap-2026.pptx", "slide 2", "pilot"))
    assert window.inner_text(".deck h2") == "Second quarter"
    assert window.inner_text(".deck .prose").startswith("Archive migration finished")
    assert "eleven seats" not in window.inner_text(".deck")
    assert "eleven seats" in window.inner_text(".spoken .prose")
    window.goto(seen(site, "projects/roadmap-2026.pptx"))
    assert window.inner_text(".deck h2") == "Roadmap 2026"
    assert "Second quarter" not in window.inner_text("#text")


def test_a_mail_has_a_head_a_body_and_its_attachments(window, site):
    mail = site.home / "handbook/mail/plan.eml"
    mail.write_text(
        f"From: Mira\nTo: Team {HOSTILE}\nSubject: The plan\nDate: Tue, 03 Feb 2026 09:12:00 +0100\nMIME-Version: 1.0\n"
        'Content-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/plain\n\nFrom: nobody\nHello all.\n'
        '--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename="steps.txt"\n\nStep one.\n'
        '--b\nContent-Type: image/png\nContent-Disposition: attachment; filename="map.png"\n\nx\n--b--\n',
        "utf-8",
    )
    window.goto(seen(site, "mail/plan.eml", q="plan"))
    head = dict(
        zip(window.locator(".mail dt").all_inner_texts(), window.locator(".mail dd").all_inner_texts(), strict=True)
    )
    assert head["Subject"] == "The plan"
    assert HOSTILE in head["To"]
    assert head["Attachments"].split("\n") == ["steps.txt", "map.png"]
    assert window.inner_text(".mail .prose") == "From: nobody\nHello all."
    window.click("text=steps.txt")
    window.wait_for_selector("text=Step one.")
    mail.unlink()


def test_matches_are_gone_through_by_key_and_button_across_pages(window, site):
    window.goto(seen(site, "policies/travel-policy.pdf", "page 1", "travel"))
    marks = window.locator("#text mark").count()
    assert marks > 1
    for number in range(marks):
        window.keyboard.press("j")
        window.wait_for_function(
            "n => [...document.querySelectorAll('#text mark')].findIndex(m => m.classList.contains('here')) === n",
            arg=number,
        )
        assert window.locator("#text mark.here").count() == 1
    window.keyboard.press("k")
    window.wait_for_selector(f"#told:has-text('{marks - 1} of {marks}')")


def test_the_next_match_may_be_on_another_page_without_scripts_too(browser, site):
    lines = ["walrus" if number in {3, 900} else f"line {number}" for number in range(1000)]
    far = site.home / "handbook/odd/far.txt"
    far.write_text("\n".join(lines), "utf-8")
    with visit(browser, site, java_script_enabled=False) as page:
        page.goto(seen(site, "odd/far.txt", q="walrus"))
        assert page.is_hidden("[data-match='-1']")
        page.click("[data-match='1']")
        page.wait_for_selector("li[value='901'] mark")
        page.click("[data-match='-1']")
        page.wait_for_selector("li[value='4'] mark")
    with visit(browser, site) as page:
        page.goto(seen(site, "odd/far.txt", q="walrus"))
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.wait_for_selector("li[value='901'] mark.here")
        page.keyboard.press("k")
        page.wait_for_selector("li[value='4'] mark.here")
    far.unlink()


def test_what_is_copied_says_where_it_stands(browser, site):
    with visit(browser, site, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(seen(site, "policies/travel-policy.pdf", "page 1"))
        page.click("text=Copy with source")
        page.wait_for_selector("text=Copied.")
        copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("Travel policy")
    assert copied.endswith("travel-policy.pdf, page 1\n")


def test_markup_stays_text_in_every_format(window, site):
    odd = sorted(path.name for path in (site.home / "handbook/odd").iterdir())
    for name in odd:
        window.goto(seen(site, f"odd/{name}", q="walrus"))
        assert window.locator("main script, #text img").count() == 0
        assert "walrus" in window.inner_text("#text").lower()


def test_a_name_neither_turns_around_nor_begins_a_line(site):
    cookie = {"Cookie": entered(site)}
    for address in ("/?q=manatee+turns", seen(site, f"inside/{TURNED}").removeprefix(site.address)):
        status, _, body = ask(site, "GET", address, headers=cookie)
        assert status == 200
        assert "turned \\u202etxt.exe\\nby\\u2028night.txt" in body
        assert not {"\u202e", "\u2028"} & set(re.sub(r"<[^>]*>", "", body))


def test_at_320_pixels_nothing_is_cut_off(browser, site):
    with visit(browser, site, viewport={"width": 320, "height": 640}) as page:
        for name in (
            "policies/security.md",
            "finance/budget-2026.xlsx",
            "policies/travel-policy.pdf",
            "odd/" + "long-" * 40 + "name.txt",
        ):
            page.goto(seen(site, name))
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 320


def test_a_file_outside_the_roots_is_refused(site):
    cookie = {"Cookie": entered(site)}
    assert ask(site, "GET", "/see?path=/etc/passwd", headers=cookie)[0] == 403
    assert ask(site, "GET", "/picture?page=1&path=/etc/passwd", headers=cookie)[0] == 403


def test_only_a_form_of_the_page_opens_files_and_never_programs(site):
    cookie = entered(site)
    page = ask(
        site, "GET", f"/see?path={quote(str(site.home / 'handbook/policies/security.md'))}", headers={"Cookie": cookie}
    )[2]
    form = page.partition('name="form" value="')[2].partition('"')[0]
    program = site.home / "handbook/odd/run.sh"
    program.write_text("#!/bin/sh\n", "utf-8")
    wanted = {"path": str(program), "what": "file", "form": form}
    cross = {"Content-Type": FORM["Content-Type"], "Sec-Fetch-Site": "cross-site"}
    assert ask(site, "POST", "/open", wanted, {**cross, "Cookie": cookie})[0] == 403
    status, _, body = ask(site, "POST", "/open", wanted, {**FORM, "Cookie": cookie})
    assert (status, "may be a program" in body) == (403, True)
    outside = {**wanted, "path": "/etc/passwd"}
    assert ask(site, "POST", "/open", outside, {**FORM, "Cookie": cookie})[0] == 403
    proxied = {**FORM, "Cookie": cookie, "X-Forwarded-For": "10.0.0.1"}
    assert "Open in its application" not in ask(site, "GET", f"/see?path={quote(str(program))}", headers=proxied)[2]
    program.unlink()
