"""`context search -i`: state and actions of an interactive search; `cli/screen.py` shows it.

In: a configuration and a first request.  Out: what the person does with results.
Always: text from files is escaped before it is kept; `App` is called in other threads, and only the newest answer
is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import util
from typing import TYPE_CHECKING

from smart_context import plain
from smart_context.access.roots import parsed
from smart_context.cli import can_erase, results, searching
from smart_context.cli.layout import is_terminal
from smart_context.cli.show import plural, safe
from smart_context.errors import CallCancelled, ConfigError, UsageError, how_to_add

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.find.model import SearchItem, SearchPage, SearchRequest
    from smart_context.model import Stop
    from smart_context.settings.config import Settings

_AROUND = 1500  # characters of a file that a preview shows after the passage
_NO_INDEX = "nothing is indexed yet; begin with: context index FOLDER"


def search(settings: Settings, request: SearchRequest) -> None:
    """Search in the terminal until the person leaves.

    Raises: UsageError off a terminal; ConfigError without the extra.
    """
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise UsageError("an interactive search needs a terminal", hint="leave out --interactive")
    if not can_erase():
        raise UsageError("this terminal (TERM) cannot show an interactive search", hint="leave out --interactive")
    if util.find_spec("prompt_toolkit") is None:
        raise ConfigError("the extra for interactive search is not installed", hint=how_to_add("tui"))
    from smart_context.api import App
    from smart_context.cli.screen import Screen

    with App(settings) as app:
        Screen(Session(app, request)).run()


class Newest:
    """Numbers queries, so that an answer to an older one is recognised."""

    def __init__(self) -> None:
        self._number = 0

    def ask(self) -> Callable[[], bool]:
        """Begin a new query; the returned function tells whether it is still the newest."""
        self._number += 1
        number = self._number
        return lambda: number == self._number


@dataclass(slots=True)
class Session:
    """What is found, chosen and marked. Changed in the screen's own thread only."""

    app: App
    request: SearchRequest
    items: tuple[SearchItem, ...] = ()
    chosen: int = 0
    marked: dict[tuple[str, str], SearchItem] = field(default_factory=dict)
    message: str = ""
    preview: tuple[str, ...] = ()
    above: int = 0  # lines of the preview that are scrolled away

    @property
    def item(self) -> SearchItem | None:
        """The chosen result."""
        return self.items[self.chosen] if self.items else None

    def find(self, query: str, is_newest: Callable[[], bool]) -> tuple[SearchPage, str]:
        """In a thread: search, and what to say of it."""
        page = self.app.find(replace(self.request, query=query), stop=_until(is_newest))
        if not self.app.has_index():
            return page, _NO_INDEX
        shown = plural(len(page.items), "result") if page.items else "nothing found"
        if page.total_estimate > len(page.items):
            shown += f" of about {page.total_estimate:,}"
        return page, "; ".join([shown, *map(plain.line, page.notes)])

    def take(self, page: SearchPage, message: str) -> None:
        """Show a page from its first result on."""
        self.items, self.chosen, self.message = page.items, 0, message
        self.clear_preview()

    def clear_preview(self) -> None:
        """Forget the preview of another result."""
        self.preview, self.above = (), 0

    def move(self, by: int) -> bool:
        """Choose another result; whether there is one."""
        to = min(max(0, self.chosen + by), len(self.items) - 1)
        if not self.items or to == self.chosen:
            return False
        self.chosen = to
        return True

    def scroll(self, by: int) -> None:
        """Move the preview by lines."""
        self.above = min(max(0, self.above + by), max(0, len(self.preview) - 1))

    def look(self, item: SearchItem, is_newest: Callable[[], bool]) -> tuple[str, ...]:
        """In a thread: the lines around a result, redacted."""
        answer = self.app.open_file(item.path, item.pointer or None, 0, _AROUND, stop=_until(is_newest))
        return tuple(safe(answer["preview"]).expandtabs(4).rstrip("\n").split("\n"))

    def toggle(self) -> None:
        """Mark the chosen result, or take its mark away."""
        if item := self.item:
            key = (item.path, item.pointer)
            if self.marked.pop(key, None) is None:
                self.marked[key] = item

    def copied(self) -> str:
        """The chosen passage with its place, to be pasted elsewhere."""
        if not (item := self.item):
            return ""
        source = ", ".join(part for part in (results.place(item.path), safe(item.pointer)) if part)
        return f"{safe(item.snippet).strip()}\n\nSource: {source}\n"

    def to_freeze(self) -> tuple[SearchItem, ...]:
        """What freezing takes: the marked results, or the chosen one where none is marked."""
        return tuple(self.marked.values()) or ((self.item,) if self.item else ())

    def freeze(self, items: tuple[SearchItem, ...], target: str) -> str:
        """In a thread: freeze results into a cache as `context freeze --from` does; what to say of it."""
        from smart_context import defaults
        from smart_context.frozen.collect import Picked
        from smart_context.frozen.provenance import Question
        from smart_context.frozen.verbs import FreezeOptions

        picked = tuple(Picked(parsed(item.path), item.pointer or None, item.score) for item in items)
        built = self.app.freeze(Question("", defaults.FREEZE_K), target, FreezeOptions(picked))
        return f"{plural(built.document_count, 'document')} frozen into {results.place(target)}"

    def launch(self, item: SearchItem) -> str:
        """In a thread: open a result in its application; what to say of it."""
        searching.launch(item.path)
        return f"opened {results.place(item.path)}"


def _until(is_newest: Callable[[], bool]) -> Stop:
    def stop() -> None:
        if not is_newest():
            raise CallCancelled("another question was asked")

    return stop
