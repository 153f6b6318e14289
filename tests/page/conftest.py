"""A server on a sample folder, and a real browser in front of it. Skipped where there is no Chromium; `make browser` installs it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from test_http import called
from visiting import HOSTILE, TURNED, Site, visit

from office_files import docx, paragraph, pptx, shape, xlsx, zipped
from smart_context.cache.api import build_cache
from smart_context.frozen import keys
from smart_context.frozen.api import sign_cache

CHROMIUM = "/usr/bin/chromium"
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
ROOT = Path(__file__).parents[2]


def _write_hostile_places(folder: Path) -> None:
    """Files whose inner names, which become pointers, are markup: entries, sheets, slides, headings."""
    folder.mkdir()
    named = escape(HOSTILE)
    row = '<row r="1"><c r="A1" t="inlineStr"><is><t>A narwhal in a sheet.</t></is></c></row>'
    files = {
        "entries.zip": zipped({f"{HOSTILE}/{HOSTILE}.txt": "A narwhal in an entry.\n"}),
        "sheets.xlsx": xlsx({named: row}),
        "slides.pptx": pptx([shape(named, place="title") + shape(f"A narwhal on a slide {named}.")]),
        TURNED: b"A manatee in a file whose name turns around.\n",
        "headings.docx": docx(paragraph(named, "Heading1") + paragraph(f"A narwhal in a section {named}.")),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("page")
    root = home / "handbook"
    shutil.copytree(ROOT / "examples/handbook", root)
    odd = root / "odd"
    odd.mkdir()
    (odd / f"{HOSTILE.replace('/', '')}.md").write_text(f"# {HOSTILE}\nA walrus writes {HOSTILE} here.\n", "utf-8")
    (odd / "table.csv").write_text(f"animal,{HOSTILE}\nwalrus,<script>alert(2)</script>\n", "utf-8")
    (odd / "letter.eml").write_text(
        f"From: a@b.example\nSubject: {HOSTILE}\nContent-Type: text/plain\n\nThe walrus <script>alert(3)</script>\n",
        "utf-8",
    )
    (odd / "page.html").write_text("<h1>&lt;script&gt;alert(4)&lt;/script&gt;</h1><p>A walrus.</p>", "utf-8")
    (odd / ("long-" * 40 + "name.txt")).write_text("A walrus with a long name.\n", "utf-8")
    (odd / "שלום.txt").write_text("שלום עולם, walrus\n", "utf-8")
    _write_hostile_places(root / "inside")
    caches = home / "caches"
    caches.mkdir()
    build_cache(root, caches / "handbook")
    (root / "notes/new.md").write_text("A new note about the walrus.\n", "utf-8")
    build_cache(root, caches / "handbook-new")
    (home / "keys").mkdir()
    for name in ("mine", "theirs"):
        keys.make(home / f"{name}.key", home / f"keys/{name}.pub")
    shutil.copytree(caches / "handbook", caches / "unproved")
    shutil.copytree(caches / "handbook", caches / "broken")
    for name, key in (("handbook", "mine"), ("unproved", "theirs"), ("broken", "mine")):
        sign_cache(caches / name, keys.secret(home / f"{key}.key", ""))
    (home / "keys/theirs.pub").unlink()
    (caches / "broken/SHA256SUMS").write_text("", "utf-8")
    limits = f"[cache]\nfreeze = true\nkeys = '{home}/keys'\n[rate_limits]\nsearchFiles = 0\nopenFile = 0\nsearchAsTyped = 0\n"
    server = Site(home, "--root", str(root), "--cache-root", str(caches), config=limits)
    called(server, "indexFolder", {"root": str(root)})
    yield server
    assert server.end() == 0


@pytest.fixture(scope="module")  # while it lasts, nothing else in this thread can run a loop
def browser():
    if not os.access(CHROMIUM, os.X_OK):
        pytest.skip(f"there is no {CHROMIUM}: make browser installs it")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser, and is not installed")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield started
        started.close()


@pytest.fixture
def window(browser, site):
    with visit(browser, site, viewport={"width": 1000, "height": 700}) as page:
        yield page
