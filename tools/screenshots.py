"""Take the pictures of the page in `docs/pictures/`, with a real browser on the sample folder. `python -m tools.screenshots [FOLDER]`.

Needs Chromium (`make browser`). Times of the sample files are set, so that the pictures do not change with the checkout.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
CHROMIUM = "/usr/bin/chromium"
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDE, NARROW = {"width": 1100, "height": 760}, {"width": 320, "height": 640}
VARIANTS = {  # ending of the name → colours, size, and which views (none: every one)
    "": ("light", WIDE, ()),
    "-dark": ("dark", WIDE, ("search", "page", "index")),
    "-narrow": ("light", NARROW, ("search", "lines", "resolve")),
}
MOST_BYTES = 150_000
_WHEN = 1_760_000_000


def main() -> None:
    """Start a server on a copy of the sample folder, and take every picture."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/pictures"
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
            _take(browser, link, folder, out)
            browser.close()
        finally:
            server.terminate()
            server.wait()
            shutil.rmtree(home)


def _quiet(command: list[str], env: dict[str, str]) -> None:
    subprocess.run(command, env=env, check=True, capture_output=True)


def _take(browser: Browser, link: str, folder: Path, out: Path) -> None:
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
    }
    cookies = None
    for ending, (scheme, size, names) in VARIANTS.items():
        context = browser.new_context(viewport=size, color_scheme=scheme)
        page = context.new_page()
        if cookies is None:
            page.goto(link)
            cookies = context.cookies()
        context.add_cookies(cookies)
        for name in names or views:
            page.goto(at + views[name])
            page.wait_for_load_state("networkidle")
            _shot(page, out / f"{name}{ending}.png")
        context.close()


def _shot(page: Page, path: Path) -> None:
    page.screenshot(path=path, full_page=False, animations="disabled")
    size = path.stat().st_size
    assert size < MOST_BYTES, f"{path} is too large"


if __name__ == "__main__":
    main()
