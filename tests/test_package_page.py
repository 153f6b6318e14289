"""The page that a package index shows: every link of it leads somewhere."""

from __future__ import annotations

from tools.package_page import page

TEXT = "See [a guide](docs/a.md), [below](#more) and [others](https://example.org).\n\n![Seen](docs/a.png)\n\n```\n[kept](as/it.is)\n```\nEnd.\n"


def test_without_an_address_a_link_is_its_text_and_a_picture_goes():
    assert page(TEXT, "") == (
        "See a guide, [below](#more) and [others](https://example.org).\n\n```\n[kept](as/it.is)\n```\nEnd.\n"
    )


def test_with_an_address_links_and_pictures_lead_there():
    assert page(TEXT, "https://example.org/files/") == TEXT.replace("](docs", "](https://example.org/files/docs")
