"""The screen of an interactive search: an input line, results, a preview, a status line.

In: a `Session`.  Out: what the terminal shows, and what its keys do.
Always: meaning never rests on colour; an answer that is not the newest is dropped; leaving restores the terminal.
This is the only module that knows prompt_toolkit.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition, Filter
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    ScrollOffsets,
    VSplit,
    Window,
)
from prompt_toolkit.styles import Style

from smart_context import plain
from smart_context.cli import results
from smart_context.cli.interactive import Newest, Session
from smart_context.cli.layout import shortened, shortened_path, width_of
from smart_context.cli.show import home
from smart_context.errors import ContextError
from smart_context.find.model import SearchItem

_BESIDE = 100  # columns from which the preview stands beside the results
_WITH_DATE = 80  # columns of a line of results from which there is room for the date
_PAUSE = 0.08  # seconds without a key before a search begins
_INDENT = "   "
_HINT = "F1 keys  Enter open  Ctrl-Y copy  Ctrl-F freeze  Esc leave"
_HELP = (
    "Type to search. Quoted phrases, -word, AND, OR, NOT, NEAR/5 and word* work.",
    "",
    "Up, Down, Ctrl-P, Ctrl-N   choose a result",
    "Page Up, Page Down         scroll the preview",
    "Enter                      open the file in its application",
    "Ctrl-Y                     copy the passage with its source (works over ssh)",
    "Tab                        mark a result",
    "Ctrl-F                     freeze what is marked, or chosen, into a cache",
    "F1, or ? in an empty line  show these keys",
    "Esc, Ctrl-C                leave",
)
_STYLE = Style.from_dict(
    {
        "name": "fg:ansicyan bold",
        "place": "fg:ansigreen",
        "faint": "fg:ansibrightblack",
        "match": "fg:ansiyellow bold",
        "chosen": "reverse",
        "bar": "reverse",
    }
)
T = TypeVar("T")


class Screen:
    """One interactive search on the terminal."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._asked, self._seen = Newest(), Newest()
        self._is_new: Callable[[], bool] = self._seen.ask()
        self._threads = ThreadPoolExecutor(2, "search")
        self._helps = self._freezes = False
        self._query = Buffer(multiline=False, on_text_changed=lambda _buffer: self._search())
        self._target = Buffer(multiline=False)
        self._typed = Window(BufferControl(self._query), height=1)
        self._asks_for = Window(BufferControl(self._target), height=1)
        found = Window(
            FormattedTextControl(self._results, get_cursor_position=self._cursor, show_cursor=False),
            width=lambda: Dimension.exact(self._room()),
            height=lambda: Dimension() if self._is_wide() else Dimension.exact(self._height() // 2),
            scroll_offsets=ScrollOffsets(top=1),
        )
        seen = Window(FormattedTextControl(self._preview), wrap_lines=True)
        self._beside = VSplit([found, Window(width=1, char="│", style="class:faint"), seen])
        self._below = HSplit([found, Window(height=1, char="─", style="class:faint"), seen])
        self._keys_told = Window(FormattedTextControl("\n".join(_HELP)), wrap_lines=True)
        self._app: Application[None] = Application(
            Layout(self._parts(), focused_element=self._typed),
            key_bindings=self._keys(),
            style=_STYLE,
            full_screen=True,
        )
        # Escape is also how other keys begin: long enough for a slow line, short enough to feel at once.
        self._app.ttimeoutlen = 0.1

    def run(self) -> None:
        """Show it until the person leaves."""
        try:
            self._app.run(pre_run=lambda: self._query.insert_text(self._session.request.query))
        finally:
            self._asked.ask()
            self._seen.ask()
            self._threads.shutdown(wait=True, cancel_futures=True)

    # What it does

    def _search(self) -> None:
        self._helps = False
        self._app.create_background_task(self._searched(self._query.text.strip(), self._asked.ask()))

    async def _searched(self, query: str, is_newest: Callable[[], bool]) -> None:
        await asyncio.sleep(_PAUSE)
        if not is_newest():
            return
        if not query:
            self._session.items, self._session.message = (), ""
            self._session.clear_preview()
            self._app.invalidate()
            return
        answer = await self._in_thread(lambda: self._session.find(query, is_newest), is_newest)
        if answer and is_newest():
            self._session.take(*answer)
            self._look()

    def _look(self) -> None:
        """Bring the preview of what is chosen now."""
        self._session.clear_preview()
        self._app.invalidate()
        if item := self._session.item:
            self._app.create_background_task(self._looked(item, self._seen.ask()))

    async def _looked(self, item: SearchItem, is_newest: Callable[[], bool]) -> None:
        await asyncio.sleep(_PAUSE / 2)
        if not is_newest():
            return
        lines = await self._in_thread(lambda: self._session.look(item, is_newest), is_newest)
        if lines and is_newest():
            self._session.preview = lines
            self._app.invalidate()

    async def _in_thread(self, work: Callable[[], T], is_wanted: Callable[[], bool]) -> T | None:
        """Do slow work in a thread, so that keys are never blocked; a failure is shown if it still matters."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except ContextError as error:
            if is_wanted():
                self._say(f"{error}; {error.hint}" if error.hint else str(error))
            return None

    def _say(self, message: str) -> None:
        self._session.message = plain.line(message)
        self._app.invalidate()

    def _move(self, by: int) -> None:
        if self._session.move(by):
            self._look()

    def _copy(self) -> None:
        if text := self._session.copied():
            # OSC 52: the terminal that the person sits at takes it, through ssh and tmux.
            self._app.output.write_raw(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
            self._app.output.flush()
            self._say("copied with its source")

    async def _open(self) -> None:
        if (item := self._session.item) and (
            told := await self._in_thread(lambda: self._session.launch(item), lambda: True)
        ):
            self._say(told)

    def _ask_target(self) -> None:
        if self._session.to_freeze():
            self._freezes = True
            self._target.reset()
            self._app.layout.focus(self._asks_for)

    def _stop_asking(self) -> None:
        self._freezes = False
        self._app.layout.focus(self._typed)

    async def _freeze(self) -> None:
        target, items = self._target.text.strip(), self._session.to_freeze()
        self._stop_asking()
        if target and (told := await self._in_thread(lambda: self._session.freeze(items, target), lambda: True)):
            self._session.marked.clear()
            self._say(told)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        asking = Condition(lambda: self._freezes)
        is_empty = Condition(lambda: not self._query.text and not self._freezes)

        def on(*names: str, when: Filter = ~asking) -> Callable[[Callable[[], object]], None]:
            def bind(act: Callable[[], object]) -> None:
                async def pressed(_event: KeyPressEvent) -> None:
                    done = act()
                    if asyncio.iscoroutine(done):
                        await done
                    self._app.invalidate()

                for name in names:
                    keys.add(name, filter=when, eager=name == "escape")(pressed)

            return bind

        on("down", "c-n")(lambda: self._move(1))
        on("up", "c-p")(lambda: self._move(-1))
        on("pagedown")(lambda: self._session.scroll(self._height() // 2))
        on("pageup")(lambda: self._session.scroll(-(self._height() // 2)))
        on("enter")(self._open)
        on("c-y")(self._copy)
        on("tab")(self._session.toggle)
        on("c-f")(self._ask_target)
        on("f1")(self._toggle_help)
        on("?", when=is_empty)(self._toggle_help)
        on("escape")(self._leave)
        on("c-c", "c-d")(self._app_exit)
        on("enter", when=asking)(self._freeze)
        on("escape", "c-c", when=asking)(self._stop_asking)
        return keys

    def _toggle_help(self) -> None:
        self._helps = not self._helps

    def _leave(self) -> None:
        if self._helps:
            self._helps = False
        else:
            self._app_exit()

    def _app_exit(self) -> None:
        self._app.exit()

    # What it shows

    def _parts(self) -> HSplit:
        asking = Condition(lambda: self._freezes)
        typing = VSplit([Window(FormattedTextControl("search: "), width=8, height=1), self._typed])
        target = VSplit([Window(FormattedTextControl("cache to make: "), width=15, height=1), self._asks_for])
        return HSplit(
            [
                ConditionalContainer(typing, ~asking),
                ConditionalContainer(target, asking),
                DynamicContainer(self._middle),
                Window(FormattedTextControl(self._bar), height=self._bar_height, wrap_lines=True, style="class:bar"),
            ]
        )

    def _middle(self) -> Window | HSplit | VSplit:
        return self._keys_told if self._helps else self._beside if self._is_wide() else self._below

    def _is_wide(self) -> bool:
        return self._columns() >= _BESIDE

    def _columns(self) -> int:
        return get_app().output.get_size().columns

    def _height(self) -> int:
        return max(2, get_app().output.get_size().rows - 3)

    def _room(self) -> int:
        """Columns of a line of results."""
        return self._columns() // 2 if self._is_wide() else self._columns()

    def _cursor(self) -> Point:
        return Point(0, 2 * self._session.chosen + 1 if self._session.items else 0)

    def _results(self) -> StyleAndTextTuples:
        out: StyleAndTextTuples = []
        for number, item in enumerate(self._session.items):
            is_chosen = number == self._session.chosen
            is_marked = (item.path, item.pointer) in self._session.marked
            out.append(("", f"{'>' if is_chosen else ' '}{'*' if is_marked else ' '} "))
            out += self._facts(item, is_chosen)
            out += [("", "\n"), ("", _INDENT), *self._passage(item), ("", "\n")]
        return out[:-1]

    def _facts(self, item: SearchItem, is_chosen: bool) -> StyleAndTextTuples:
        after = f"  {item.modified[:10]}  {item.score:.2f}" if self._room() >= _WITH_DATE else f"  {item.score:.2f}"
        room = self._room() - len(_INDENT) - len(after) - 1
        pointer = shortened(plain.line(item.pointer), max(8, room // 2))
        path = shortened_path(home(results.place(item.path)), max(12, room - width_of(pointer) - 2))
        name = "class:name class:chosen" if is_chosen else "class:name"
        return [(name, path), ("", "  "), ("class:place", pointer), ("class:faint", after)]

    def _passage(self, item: SearchItem) -> StyleAndTextTuples:
        text, marks = plain.masked(item.snippet.replace("\n", " ")), item.highlights
        start, end = results.stretch(text, marks, self._room() - len(_INDENT) - 1)
        out: StyleAndTextTuples = [("", "…" if start else "")]
        at = start
        for first, last in marks:
            begin, stop = max(first, at), min(last, end)
            if begin < stop:
                out += [("", text[at:begin]), ("class:match", text[begin:stop])]
                at = stop
        return [*out, ("", text[at:end] + ("…" if end < len(text) else ""))]

    def _preview(self) -> StyleAndTextTuples:
        session = self._session
        if not (item := session.item):
            return []
        source = f"{home(results.place(item.path))}  {plain.line(item.pointer)}"
        room = self._columns() - self._room() - 1 if self._is_wide() else self._columns()
        lines = [piece for line in session.preview[session.above :] for piece in wrapped(line, room)]
        return [("bold", shortened(source, room)), ("", "\n\n"), ("", "\n".join(lines))]

    def _bar_height(self) -> Dimension:
        """More than a line only for what does not fit into one, such as an error with its hint."""
        return Dimension.exact(min(3, 1 + (width_of(self._session.message) + 12) // max(1, self._columns())))

    def _bar(self) -> str:
        marked = f"{len(self._session.marked)} marked  " if self._session.marked else ""
        said = self._session.message or "type to search"
        told = f" {marked}{said}"
        room = self._columns() - width_of(told) - 3
        return told + (f"   {_HINT}" if room >= len(_HINT) else "   F1 keys" if room >= 7 else "")


def wrapped(line: str, room: int) -> Iterator[str]:
    """A line wrapped to so many columns, between words if possible."""
    start = width = 0
    for at, char in enumerate(line):
        width += width_of(char)
        if width > room:
            space = line.rfind(" ", start + 1, at + 1)
            end = space if space > 0 else at
            yield line[start:end]
            start = end + (space > 0)
            width = width_of(line[start : at + 1])
    yield line[start:]
