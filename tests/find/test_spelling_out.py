"""An attacker who may search: what is hidden cannot be spelled out, because no answer depends on it.

Two folders hold the same files but for the values that are hidden. Whatever is asked, both must answer alike.
"""

from __future__ import annotations

import json

import pytest

from smart_context.api import App
from smart_context.find.model import SearchRequest
from smart_context.settings.config import Settings

SECRETS = ("tr0ub4dorzebra99", "qx7mmlopfgiraf31")
STRONG = ("q7Rk2ZpX9vLm4TnB", "Wd5tY8hJ3sFg6KcN")  # told also where nothing names them
CARDS = ("4111 1111 1111 1111", "5500 0000 0000 0004")
ACCOUNTS = ("DE89 3704 0044 0532 0130 00", "GB82 WEST 1234 5698 7654 32")
MAILS = ("zebulon.quagga@example.com", "albrecht.ocelot@example.net")
PHONES = ("+49 30 901820 47", "+44 20 7946 0958")


def folder(tmp_path, which):
    root = tmp_path / f"of {which}" / "docs"
    root.mkdir(parents=True)
    secret, strong, card, account, mail, phone = (
        values[which] for values in (SECRETS, STRONG, CARDS, ACCOUNTS, MAILS, PHONES)
    )
    files = {
        "notes.txt": f"The notes of the router.\npassword: {secret}\nThe lease ends in May.\n",
        "german.txt": f"Das Passwort des Netzwerks steht hier und ist nicht geheim.\npasswort: {secret}\nDie Verwaltung der Häuser.\n",
        "head.md": f"# Access password: {secret}\n\nThe notes below a heading.\n",
        "page.html": f"<title>password: {secret}</title><h1>password={secret}</h1><p>Notes on a page.</p>",
        "again.md": f"password: {strong}\n\n# {strong}\n\nNotes below the secret itself.\n",
        "settings.xml": f"<settings><note>Notes on a server.</note><password>{secret}</password></settings>",
        "beans.xml": f'<beans><p name="password" value="{secret}"/><e key="password">{secret}</e><note>Notes on beans.</note></beans>',
        "below.html": f"<p>Password:</p><h2>{strong}</h2><p>Notes below a label and the secret.</p>",
        "cut.md": f"# {'long ' * 38}{strong}\npassword: {strong}\n\nNotes below a long heading.\n",
        "cut mail.md": f"# {'tall ' * 38}{mail}\n\nThe notice below a long heading.\n",
        "bank.txt": f"Notes: the card {card} and the account {account} pay the rent.\n",
        "people.txt": f"Notes: write to {mail} or call {phone} about the garden.\n",
    }
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Two apps, each over its own folder."""
    tmp_path = tmp_path_factory.mktemp("spelling")
    apps = []
    for which in (0, 1):
        root = folder(tmp_path, which)
        app = App(Settings(roots=(str(root),), data_dir=str(root.parent / "data")))
        app.index_here(str(root), full=False, on_progress=lambda _step: None)
        apps.append((app, str(root)))
    yield apps
    for app, _ in apps:
        app.close()


def answer(app, root, query, **more):
    page = app.find(SearchRequest(query, k=50, **more)).explained()
    for item in page["items"]:
        del item["modified"]
        if item["pointer"].startswith("section "):
            del item["pointer"]  # an identifier: it stands as it is
    return json.dumps(page).replace(root, "")


def beginnings(value):
    words = [value, *value.replace("@", " ").replace(".", " ").replace("+", " ").split()]
    return sorted({word[:length] for word in words for length in range(1, len(word) + 1)})


FORMS = (
    "{0}*", "notes -{0}*", "notes -{0}", "{0}", "notes AND {0}*", "notes NOT {0}*", '"password {0}"', "notes NEAR/5 {0}", "{0}x",
    "notes OR {0}*",
)  # fmt: skip


@pytest.mark.parametrize("values", [SECRETS, STRONG, CARDS, ACCOUNTS], ids=["secret", "strong", "card", "account"])
@pytest.mark.unmeasured
def test_no_search_depends_on_a_secret_a_card_or_an_account(both, values):
    for beginning in beginnings(values[0]):
        for form in FORMS:
            first, second = (answer(app, root, form.format(beginning)) for app, root in both)
            assert first == second, form.format(beginning)


@pytest.mark.parametrize("values", [MAILS, PHONES], ids=["mail", "phone"])
def test_no_search_depends_on_a_part_of_an_address_or_a_number(both, values):
    whole = {values[0], values[0].replace(" ", "").lstrip("+")}
    for beginning in beginnings(values[0]):
        if beginning in whole:
            continue
        for form in FORMS[:5]:
            first, second = (answer(app, root, form.format(beginning)) for app, root in both)
            assert first == second, form.format(beginning)


@pytest.mark.parametrize(
    ("values", "typed"), [(MAILS, "{}"), (PHONES, "{}"), (MAILS, "garden {}"), (MAILS, '"write to {}"')]
)
def test_a_whole_address_or_number_is_confirmed_to_who_knows_it(both, values, typed):
    for which, (app, root) in enumerate(both):
        found = app.search_files(typed.format(values[which]))["items"]
        assert found[0]["path"] == f"{root}/people.txt"
        assert values[which] not in found[0]["snippet"]
        people = [item for item in app.search_files(values[1 - which])["items"] if item["path"].endswith("people.txt")]
        assert people == []
        explained = app.find(SearchRequest(values[which])).explained()
        assert values[which] in json.dumps(explained["interpretation"])


def test_what_stands_for_a_hidden_value_cannot_be_asked_for(both):
    for app, _ in both:
        for query in ("\U00010600", "\U00010601*", "notes -\U00010601*", "notes \U00010610\U00010611*"):
            page = app.find(SearchRequest(query, k=50)).explained()
            plain = app.find(SearchRequest("notes" if "notes" in query else "…", k=50)).explained()
            assert [item["path"] for item in page["items"]] == [item["path"] for item in plain["items"]]


def test_no_preview_or_summary_depends_on_what_is_hidden(both):
    for name in ("notes.txt", "german.txt", "head.md", "bank.txt", "people.txt"):
        for arguments in ((None, 0, 0), ("lines 2-2", 0, 0), ("lines 2-2", 5, 5), ("lines 1-1", 0, 30)):
            told = []
            for app, root in both:
                try:
                    shown = app.open_file(f"{root}/{name}", *arguments)
                except Exception as error:
                    shown = {"error": str(error)}
                told.append(json.dumps(shown).replace(root, ""))
            assert told[0] == told[1]
    told = []
    for app, root in both:
        items = app.search_files("notes password router")["items"]
        results = [{"path": item["path"], "pointer": item["pointer"], "snippet": item["snippet"]} for item in items]
        summary = app.summarize_results("what is the password of the router", results)
        told.append(json.dumps([summary, app.rewrite_query("the password of the router")]).replace(root, ""))
    assert told[0] == told[1]
