"""A terminal of one's own for a program: a pseudo-terminal, and what its screen shows.

Always: nothing waits for a time; whoever waits, waits for something to be on the screen.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE = 300  # seconds after which something hangs, whatever else the machine has to do
_ESCAPE = re.compile(r"\x1b(?:\[([?>]?)([\d;]*)([@-~])|\](.*?)(?:\x07|\x1b\\)|([()][A-Z0-9])|([=>78cDEHM]))", re.DOTALL)


class Terminal:
    """A program in a pseudo-terminal. Use it in a `with`."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.raw = b""
        self._cells: dict[tuple[int, int], str] = {}
        self._row = self._column = 0
        self._left = ""
        self._ours, self._theirs = os.openpty()
        self._set_size()
        self.before = termios.tcgetattr(self._theirs)
        self.process = subprocess.Popen(
            command,
            env={**env, "TERM": "xterm-256color"},
            cwd=cwd,
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            start_new_session=True,
            # Where the tests run in the background, a shell has this signal ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)

    @property
    def lines(self) -> list[str]:
        """What the screen shows now."""
        return [
            "".join(self._cells.get((row, column), " ") for column in range(self.columns)).rstrip()
            for row in range(self.rows)
        ]

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._ours, keys.encode())

    def until(self, shows: str | Callable[[list[str]], bool]) -> list[str]:
        """Read until the screen shows something."""
        wanted = shows if callable(shows) else lambda lines: any(shows in line for line in lines)
        while not wanted(self.lines):
            ready, _, _ = select.select([self._ours], [], [], PATIENCE)
            assert ready, "\n".join(["nothing comes any more; the screen shows:", *self.lines])
            self._read()
        return self.lines

    def until_it_ends(self) -> int:
        """Read until the program has left; its exit status."""
        status = self.process.wait(PATIENCE)
        while select.select([self._ours], [], [], 0)[0]:
            self._read()
        return status

    def after(self) -> list[object]:
        """How the terminal is set now."""
        return termios.tcgetattr(self._theirs)

    def resize(self, columns: int, rows: int) -> None:
        """Make the window another size."""
        self.columns, self.rows = columns, rows
        self._set_size()
        os.kill(self.process.pid, signal.SIGWINCH)

    def _set_size(self) -> None:
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))

    def _read(self) -> None:
        data = os.read(self._ours, 65536)
        self.raw += data
        text = self._left + data.decode("utf-8", "surrogateescape")
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._put(text[at])
                at += 1
            elif match := _ESCAPE.match(text, at):
                if match[3] and not match[1]:
                    self._steer(match[3], [int(number or 0) for number in match[2].split(";")])
                at = match.end()
            else:
                break
        self._left = text[at:]

    def _put(self, char: str) -> None:
        if char == "\r":
            self._column = 0
        elif char == "\n":
            self._row += 1
        elif char == "\b":
            self._column -= 1
        elif char >= " ":
            wide = unicodedata.east_asian_width(char) in "WF"
            self._cells[self._row, self._column] = char
            if wide:
                self._cells[self._row, self._column + 1] = ""
            self._column += 1 + wide

    def _steer(self, kind: str, numbers: list[int]) -> None:
        by = max(1, numbers[0])
        if kind in "ABCD":
            self._row += {"A": -by, "B": by}.get(kind, 0)
            self._column += {"C": by, "D": -by}.get(kind, 0)
        elif kind == "H":
            self._row = by - 1
            self._column = max(1, numbers[1] if len(numbers) > 1 else 1) - 1
        elif kind == "J":
            gone = (lambda _cell: True) if numbers[0] == 2 else (lambda cell: cell >= (self._row, self._column))
            self._cells = {cell: char for cell, char in self._cells.items() if not gone(cell)}
        elif kind == "K":
            self._cells = {
                cell: char for cell, char in self._cells.items() if cell[0] != self._row or cell[1] < self._column
            }
