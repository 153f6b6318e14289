"""The one channel to people: standard error.

In: lines.  Out: the same on standard error; lost if that is closed.
Always: writing never fails. An entry point configures it once; everything else only writes.
"""

from __future__ import annotations

import sys
import threading
import time

_QUIET_SECONDS = 60.0
_MOST_LINES = 256


class Repeats:
    """The last lines that were written, to write each of them once a minute."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[float, int]] = {}  # when it was written, how often it came since

    def admit(self, text: str, now: float) -> str:
        """The text to write, with how often it was repeated meanwhile; "" for a repetition."""
        with self._lock:
            written, count = self._seen.pop(text, (-_QUIET_SECONDS, 0))
            if now - written < _QUIET_SECONDS:
                self._seen[text] = (written, count + 1)
                return ""
            self._seen[text] = (now, 0)
            if len(self._seen) > _MOST_LINES:
                del self._seen[next(iter(self._seen))]
            return text + (f"the line above came {count} more times\n" if count else "")


class _Manner:
    shows_tracebacks = False
    repeats: Repeats | None = None
    stamps = False


def configure(*, debug: bool) -> None:
    """Say whether an unforeseen error is shown with its traceback."""
    _Manner.shows_tracebacks = debug


def count_repeats() -> None:
    """From now on, count repetitions of a line within a minute instead of writing them: for servers, whose callers cause lines."""
    _Manner.repeats = _Manner.repeats or Repeats()


def stamp_lines() -> None:
    """From now on, begin each line with the time: for logs."""
    _Manner.stamps = True


def stamps_lines() -> bool:
    """Whether lines begin with the time."""
    return _Manner.stamps


def shows_tracebacks() -> bool:
    """Whether an unforeseen error is shown with its traceback."""
    return _Manner.shows_tracebacks


def say(text: str) -> None:
    """Write to standard error; a closed one is no error."""
    if _Manner.repeats is not None:
        text = _Manner.repeats.admit(text, time.monotonic())
    if sys.stderr is None or not text:
        return
    if _Manner.stamps:
        text = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}"
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        return


def warn(text: str) -> None:
    """Write a warning."""
    say(f"warning: {text}\n")
