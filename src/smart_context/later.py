"""Regular expressions that are compiled when they are first used.

In: what `re.compile` takes.  Out: a proxy with the methods of a compiled pattern.
Always: a pattern that a command does not use costs it nothing.
"""

from __future__ import annotations

import re
from typing import Any, cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern whose methods can be called; it cannot be handed to the functions of `re`."""
    return cast("re.Pattern[str]", _Later(text, flags))


class _Later:
    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self._compiled is None:
            self._compiled = re.compile(self._text, self._flags)
        found = getattr(self._compiled, name)
        setattr(self, name, found)  # the next time it is found without us
        return found
