"""Draw `docs/terminal.svg`: a real terminal session on the sample folder. `python -m tools.picture`."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
COLUMNS = 104
SESSION = (
    ["context", "index", "--root", "examples/handbook"],
    ["context", "search", "--root", "examples/handbook", "how fast must a lost laptop be reported", "-k", "2"],
    ["context", "search", "--root", "examples/handbook", "回滚"],
    ["context", "open", "1", "--root", "examples/handbook"],
)
_COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff"}
_LINK = re.compile(r"\x1b\]8;;.*?\x1b\\")
_SGR = re.compile(r"\x1b\[([0-9;]*)m")


def main() -> None:
    """Run the session and draw it."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as home:
        for command in SESSION:
            lines += ["\x1b[1m$ " + " ".join(_quoted(word) for word in command) + "\x1b[0m"]
            lines += [part for line in _run(command, home).splitlines() for part in _wrapped(line)] + [""]
    (ROOT / "docs/terminal.svg").write_text(_svg(lines[:-1]), encoding="utf-8")


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


def _run(command: list[str], home: str) -> str:
    """Run a command on a terminal of its own, so that it shows what a person sees."""
    master, slave = pty.openpty()
    env = {
        "HOME": home,
        "TERM": "xterm-256color",
        "COLUMNS": str(COLUMNS),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
    }
    child = subprocess.Popen(
        [sys.executable, "-m", "smart_context", *command[1:]],
        cwd=ROOT,
        env=env,
        stdout=slave,
        stderr=slave,
        stdin=slave,
    )
    os.close(slave)
    out = b""
    while True:
        try:
            out += os.read(master, 65536)
        except OSError:  # the terminal is gone with its last user
            break
    child.wait()
    os.close(master)
    # What a progress bar drew over itself is not there any more.
    text = re.sub(r"\r\x1b\[K[^\r\n]*(?=\r)", "", out.decode().replace("\r\n", "\n")).replace("\r\x1b[K", "")
    return _LINK.sub("", text)


def _wrapped(line: str) -> list[str]:
    """Cut a line at the terminal's edge, keeping its colours."""
    out, room, current = [""], COLUMNS, ""
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        if piece.startswith("\x1b["):
            current = piece
            out[-1] += piece
            continue
        for character in piece:
            wide = 2 if ord(character) > 0x2E7F else 1
            if room < wide:
                out.append(current)
                room = COLUMNS
            out[-1] += character
            room -= wide
    return out


def _svg(lines: list[str]) -> str:
    height = 19 * len(lines) + 60
    rows = [
        f'<text x="20" y="{55 + 19 * n}" xml:space="preserve">{_spans(line)}</text>' for n, line in enumerate(lines)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{height}" font-family="ui-monospace, Menlo, Consolas, '
        f'monospace" font-size="13.5" fill="#e6edf3">\n<rect width="900" height="{height}" rx="8" fill="#0d1117"/>\n'
        '<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/>'
        '<circle cx="62" cy="20" r="6" fill="#28c840"/>\n' + "\n".join(rows) + "\n</svg>\n"
    )


def _spans(line: str) -> str:
    out, style = "", {}
    for number, piece in enumerate(_SGR.split(line)):
        if number % 2:
            for code in piece.split(";") or ["0"]:
                if code in {"", "0"}:
                    style = {}
                elif code == "1":
                    style["font-weight"] = "bold"
                elif code == "2":
                    style["fill-opacity"] = "0.6"
                elif code in _COLOURS:
                    style["fill"] = _COLOURS[code]
        elif piece:
            marks = "".join(f' {name}="{value}"' for name, value in style.items())
            out += f"<tspan{marks}>{escape(piece)}</tspan>"
    return out


if __name__ == "__main__":
    main()
