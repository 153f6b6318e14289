"""The one channel to people: standard error.

In: lines.  Out: the same on standard error, or nowhere where nobody takes them.
Always: saying something never fails. An entry point configures it once; what is below only speaks.
"""

from __future__ import annotations

import sys


class _Manner:
    shows_tracebacks = False


def configure(*, debug: bool) -> None:
    """Say whether an unforeseen error is shown with its traceback."""
    _Manner.shows_tracebacks = debug


def shows_tracebacks() -> bool:
    """Whether an unforeseen error is shown with its traceback."""
    return _Manner.shows_tracebacks


def say(text: str) -> None:
    """Write to standard error; where nobody takes it, it is lost rather than a failure."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        return


def warn(text: str) -> None:
    """Say what a person should know although the work goes on."""
    say(f"warning: {text}\n")
