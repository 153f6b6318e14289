"""Searching on the page, in a real browser: by mouse, by keyboard, on a narrow screen, without scripts."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from visiting import HOSTILE, visit

NAMES = ".result h2 a"


def asked(page):
    return parse_qs(urlsplit(page.url).query)


def settled(page):
    """Wait until the whole view is there: with its filters, and nothing on its way."""
    page.wait_for_selector("#view:not([aria-busy]) .filters, #view:not([aria-busy]) .empty")


def test_results_come_while_one_types_and_the_address_follows(window):
    window.keyboard.type("lost laptop")
    window.wait_for_selector(f"{NAMES}:has-text('security.md')")
    settled(window)
    assert asked(window) == {"q": ["lost laptop"]}
    assert "laptop" in window.inner_text("mark >> nth=0").lower() + window.inner_text("mark >> nth=1").lower()
    window.reload()
    assert window.input_value("#q") == "lost laptop"
    assert "security.md" in window.inner_text(f"{NAMES} >> nth=0")


def test_an_answer_that_is_late_never_overwrites_a_newer_one(window):
    held = []

    def hold(route):
        (held.append if "q=vendor&" in route.request.url else lambda one: one.continue_())(route)

    window.route("**/*part=*", hold)
    window.fill("#q", "vendor")
    window.wait_for_function("() => document.querySelector('#view').getAttribute('aria-busy')")
    window.fill("#q", "laptop")
    settled(window)
    window.wait_for_selector("#view:not([aria-busy]) .sort")  # the whole answer, which comes after that of the letters
    before = window.inner_html("#view")
    for route in held:
        route.continue_()
    window.evaluate("() => fetch('/static/page.css').then(r => r.text())")  # a round trip later
    assert window.inner_html("#view") == before


def test_back_brings_back_the_search_before(window, site):
    window.goto(f"{site.address}/?q=vendor")
    first = window.inner_text(".results")
    window.fill("#q", "laptop")
    settled(window)
    assert window.inner_text(".results") != first
    window.go_back()
    window.wait_for_function("() => document.querySelector('#q').value === 'vendor'")
    settled(window)
    assert window.inner_text(".results") == first


def test_the_keyboard_is_enough(window):
    window.keyboard.type("vendor contract")
    settled(window)
    window.keyboard.press("ArrowDown")
    window.keyboard.press("ArrowDown")
    window.keyboard.press("ArrowUp")
    assert window.evaluate("() => document.activeElement === document.querySelector('.result h2 a')")
    window.keyboard.press("?")
    assert window.is_visible("#keys dl")
    window.keyboard.press("/")
    assert window.evaluate("() => document.activeElement.id") == "q"
    window.keyboard.press("Escape")
    window.wait_for_selector(".welcome")
    assert window.input_value("#q") == ""


def test_whoever_moves_on_to_the_results_before_the_filters_come_stays_there(window):
    window.keyboard.type("vendor contract")
    window.wait_for_selector(".result")
    window.keyboard.press("ArrowDown")
    settled(window)
    assert window.evaluate("() => document.activeElement === document.querySelector('.result h2 a')")


def test_filters_narrow_and_can_be_taken_away(window, site):
    window.goto(f"{site.address}/?q=vendor")
    everything = window.locator(".result").count()
    choice = window.locator(".filters a", has_text="docx")
    count = int(choice.locator(".count").inner_text())
    choice.click()
    window.wait_for_url("**kind=.docx**")
    assert window.locator(".result").count() == count < everything
    window.click(".filters a.on")
    window.wait_for_function("() => !location.search.includes('kind')")
    assert window.locator(".result").count() == everything


def test_without_scripts_forms_and_links_do_the_same(browser, site):
    with visit(browser, site, java_script_enabled=False) as page:
        page.fill("#q", "vendor")
        page.press("#q", "Enter")
        page.wait_for_url("**/?q=vendor")
        assert page.locator(".result").count() > 1
        page.click("text=date")
        page.wait_for_url("**sort=date**")
        assert asked(page) == {"q": ["vendor"], "sort": ["date"]}
        page.click(".filters a:has-text('docx')")
        page.wait_for_url("**kind=.docx**")
        assert asked(page) == {"q": ["vendor"], "sort": ["date"], "kind": [".docx"]}


def test_at_320_pixels_nothing_is_cut_off(browser, site):
    with visit(browser, site, viewport={"width": 320, "height": 640}) as page:
        for address in ("/", "/?q=walrus", "/?q=walrus&kind=.pdf", "/?q=a&year=x"):
            page.goto(site.address + address)
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 320


def test_names_and_texts_are_text_and_never_markup(window, site):
    window.goto(f"{site.address}/?q=walrus")
    assert window.locator(".result").count() >= 5
    assert window.locator("main img, main script").count() == 0
    assert HOSTILE in window.inner_text(".results")
    assert "<script>alert(3)</script>" in window.inner_text(".results")
    window.goto(f"{site.address}/?q={'%3Cscript%3Ealert(5)%3C/script%3E'}")
    assert window.input_value("#q") == "<script>alert(5)</script>"


def test_names_inside_of_files_are_text_and_lead_to_their_places(window, site):
    window.goto(f"{site.address}/?q=narwhal")
    assert window.locator(".result").count() == 4
    assert window.locator("main img, main script").count() == 0
    pointers = window.locator(".result .pointer").all_inner_texts()
    assert (
        sum(HOSTILE in pointer for pointer in pointers) == 2
    )  # of the entry and of the sheet; the others are numbered
    for address in [link.get_attribute("href") for link in window.locator(".result h2 a").all()]:
        window.goto(site.address + address)
        assert window.locator("main script, main img").count() == 0
        assert "narwhal" in window.inner_text("#text").lower()


def test_two_tabs_go_their_own_ways_and_end_together(window, site):
    window.goto(f"{site.address}/?q=vendor")
    other = window.context.new_page()
    other.goto(f"{site.address}/?q=laptop")
    first, second = window.inner_text(".results"), other.inner_text(".results")
    window.reload()
    assert (window.inner_text(".results"), other.inner_text(".results")) == (first, second)
    assert first != second
    other.click("text=Sign out")
    other.wait_for_selector("#token")
    window.fill("#q", "budget")  # the tab that knows nothing of it is shown the door
    window.wait_for_selector("#token")


def test_a_link_brings_back_the_same_view_for_somebody_else(browser, window, site):
    window.goto(f"{site.address}/?q=vendor&sort=date")
    window.click(".filters a:has-text('docx')")
    window.wait_for_url("**kind=.docx**")
    shown = window.inner_text("#view")
    with visit(browser, site) as page:
        page.goto(window.url)
        assert page.inner_text("#view") == shown
        assert page.input_value("#q") == "vendor"


def test_languages_that_run_from_right_to_left_do(window, site):
    window.goto(f"{site.address}/?q=שלום")
    ways = "all => all.map(one => getComputedStyle(one).direction)"
    assert window.eval_on_selector_all("#q, .result h2, .snippet", ways) == ["rtl"] * 3
    assert window.eval_on_selector_all(".place .kind", ways) == ["ltr"]
    window.click(NAMES)
    window.wait_for_selector("#text mark")
    assert window.eval_on_selector_all(".seen h1, .lines li", ways) == ["rtl"] * 2


def test_each_line_of_a_text_runs_in_its_own_direction(window, site):
    window.goto(f"{site.address}/see?path={site.home}/handbook/odd/page.html")
    places = """all => {
        all[0].textContent = "שלום עולם\\n-o name";
        return [0, 3, 10, 11].map(at => {
            const one = document.createRange();
            one.setStart(all[0].firstChild, at);
            one.setEnd(all[0].firstChild, at + 1);
            return one.getBoundingClientRect().left;
        });
    }"""
    first, fourth, dash, letter = window.eval_on_selector_all(".prose", places)
    assert (first > fourth, dash < letter) == (True, True)


def test_on_a_narrow_screen_one_gets_from_a_search_to_a_page_and_back(browser, site):
    with visit(browser, site, viewport={"width": 320, "height": 640}, has_touch=True) as page:
        page.fill("#q", "travel")
        settled(page)
        page.tap(f"{NAMES}:has-text('travel-policy.pdf')")
        page.wait_for_function("() => document.querySelector('.paper img')?.naturalWidth > 0")
        assert page.evaluate("() => document.querySelector('.paper img').getBoundingClientRect().right <= innerWidth")
        page.tap("[data-back]")
        page.wait_for_selector(NAMES)
        page.reload()
        assert page.input_value("#q") == "travel"
