"""Take the pictures of the page in `docs/pictures/`, with a real browser on the sample folder.

    python -m tools.screenshots [FOLDER] [--all]

`--all` takes every view in every colour and size, from top to bottom, for whoever wants to look the page over.
Needs Chromium (`make browser`). Times of the sample files are set, so that the pictures do not change with the checkout.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

from smart_context.page import in_client

ROOT = Path(__file__).parent.parent
CHROMIUM = "/usr/bin/chromium"
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDE, NARROW = {"width": 1100, "height": 760}, {"width": 320, "height": 640}
VARIANTS = {  # ending of the name → colours, size, and which views (none: every one)
    "": ("light", WIDE, ("start", "search", "page", "sheet", "index", "caches", "resolve", "lines", "mail", "slide")),
    "-dark": ("dark", WIDE, ("search", "page", "index")),
    "-narrow": ("light", NARROW, ("search", "lines", "resolve")),
}
MOST_BYTES = 150_000
_WHEN = 1_760_000_000


def main() -> None:
    """Start a server on a copy of the sample folder, and take every picture."""
    arguments = [each for each in sys.argv[1:] if each != "--all"]
    out = Path(arguments[0]) if arguments else ROOT / "docs/pictures"
    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        home = Path(tempfile.gettempdir()) / "smart-context-pictures"  # a name that does not change: it shows
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(mode=0o700)
        folder = home / "handbook"
        shutil.copytree(ROOT / "examples/handbook", folder)
        for path in folder.rglob("*"):
            os.utime(path, (_WHEN, _WHEN))
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        run = [sys.executable, "-m", "smart_context"]
        common = ["--root", str(folder), "--cache-root", str(home / "caches"), "--data-dir", str(home / "data")]
        (home / "caches").mkdir()
        _quiet([*run, "build", "--sources", str(folder), "--cache", str(home / "caches/handbook")], env)
        shutil.copytree(home / "caches/handbook", home / "caches/handbook-2025")
        (folder / "broken.pdf").write_bytes(b"%PDF-1.7 cut off")
        _quiet([*run, "index", *common], env)
        server = subprocess.Popen(
            [*run, "ui", "--no-browser", "--port", "0", *common], env=env, stderr=subprocess.PIPE, text=True
        )
        try:
            assert server.stderr is not None
            link = next(found[0] for line in server.stderr if (found := re.search(r"http\S+ticket=\S+", line)))
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            _take(browser, link, folder, out, takes_all="--all" in sys.argv)
            found = subprocess.run(
                [*run, "search", "vendor contracts", "--limit", "3", "--json", *common],
                env=env,
                check=True,
                capture_output=True,
            )
            _in_client(browser, json.loads(found.stdout), out / "in-client.png")
            browser.close()
        finally:
            server.terminate()
            server.wait()
            shutil.rmtree(home)


def _quiet(command: list[str], env: dict[str, str]) -> None:
    subprocess.run(command, env=env, check=True, capture_output=True)


def _in_client(browser: Browser, found: dict[str, object], path: Path) -> None:
    """The view of results as a client with MCP Apps shows it."""
    page = browser.new_page(viewport={"width": 720, "height": 640})
    page.set_content((ROOT / "tests/page/client.html").read_text(encoding="utf-8"))
    page.evaluate("given => begin(given)", {"html": in_client.html(), "mayCall": True, "theme": "light"})
    page.evaluate("found => answer({query: 'vendor contracts'}, {structuredContent: found})", found)
    page.frame_locator("iframe").locator(".result").first.wait_for()
    _shot(page, path)
    page.close()


def _take(browser: Browser, link: str, folder: Path, out: Path, *, takes_all: bool) -> None:
    at = link.partition("/enter")[0]
    at_home = quote(str(folder))
    views = {
        "start": "/",
        "search": "/?q=" + quote("vendor contracts"),
        "page": f"/see?q=travel&pointer=page+1&path={at_home}/policies/travel-policy.pdf",
        "sheet": f"/see?q=laptops&pointer=sheet+'Q2'&path={at_home}/finance/budget-2026.xlsx",
        "index": "/index",
        "caches": "/caches",
        "resolve": "/cache?cache=handbook&budget=300&query=" + quote("how do we report a lost laptop"),
        "lines": f"/see?q=laptop&path={at_home}/policies/security.md",
        "mail": f"/see?q=migration&path={at_home}/mail/kickoff.eml",
        "slide": f"/see?q=pilot&pointer=slide+2&path={at_home}/projects/roadmap-2026.pptx",
        "nothing": "/?q=" + quote("xylophone") + "&kind=.pdf",
        "error": "/?q=a&year=x",
        "check": "/index?check=1",
        "added": "/index?told=added-here",
        "diff": "/diff?old=handbook&new=handbook-2025",
        "pack": "/cache?cache=handbook&as=pack&budget=300&query=" + quote("how do we report a lost laptop"),
        "door": "/enter",
    }
    cookies = None
    for ending, (scheme, size, names) in VARIANTS.items():
        context = browser.new_context(viewport=size, color_scheme=scheme)
        page = context.new_page()
        if cookies is None:
            page.goto(link)
            cookies = context.cookies()
        context.add_cookies(cookies)
        for name in views if takes_all else names:
            page.goto(at + views[name])
            page.wait_for_load_state("networkidle")
            _shot(page, out / f"{name}{ending}.png", whole=takes_all)
        context.close()


def _shot(page: Page, path: Path, *, whole: bool = False) -> None:
    page.screenshot(path=path, full_page=whole, animations="disabled")
    size = path.stat().st_size
    assert whole or size < MOST_BYTES, f"{path} is too large"


if __name__ == "__main__":
    main()
