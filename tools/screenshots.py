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

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
CHROMIUM = "/usr/bin/chromium"
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WIDE, NARROW = {"width": 1100, "height": 760}, {"width": 320, "height": 640}
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
        _quiet([*run, "index", *common], env)
        server = subprocess.Popen(
            [*run, "ui", "--no-browser", "--port", "0", *common], env=env, stderr=subprocess.PIPE, text=True
        )
        try:
            assert server.stderr is not None
            link = next(found[0] for line in server.stderr if (found := re.search(r"http\S+ticket=\S+", line)))
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            _take(browser, link, out)
            browser.close()
        finally:
            server.terminate()
            server.wait()
            shutil.rmtree(home)


def _quiet(command: list[str], env: dict[str, str]) -> None:
    subprocess.run(command, env=env, check=True, capture_output=True)


def _take(browser: Browser, link: str, out: Path) -> None:
    at = link.partition("/enter")[0]
    views = {
        "start": "/",
        "search": "/?q=" + quote("vendor contracts"),
    }
    for scheme in ("light", "dark"):
        context = browser.new_context(viewport=WIDE, color_scheme=scheme)
        page = context.new_page()
        if scheme == "light":
            page.goto(link)
            cookies = context.cookies()
        context.add_cookies(cookies)
        for name, address in views.items():
            page.set_viewport_size(WIDE)
            page.goto(at + address)
            _shot(page, out / f"{name}{'' if scheme == 'light' else '-dark'}.png")
            if scheme == "light":
                page.set_viewport_size(NARROW)
                _shot(page, out / f"{name}-narrow.png")
        context.close()


def _shot(page, path: Path) -> None:  # type: ignore[no-untyped-def]
    page.screenshot(path=path, full_page=False, animations="disabled")
    size = path.stat().st_size
    assert size < MOST_BYTES, f"{path} is too large"


if __name__ == "__main__":
    main()
