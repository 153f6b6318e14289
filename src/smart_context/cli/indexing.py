"""`context index`: read folders into the index. `index.py` and `quick.py` parse its command line."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from smart_context import heap, plain
from smart_context.cli import Exit, GivenOptions, echo, in_our_words, quoted, results, say
from smart_context.cli.layout import columns, is_terminal, table
from smart_context.cli.show import ProgressBar, ask, can_ask, exactly, json_of, plural, size, waiting
from smart_context.data import asdict, replace
from smart_context.errors import ContextError, UsageError

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.index.model import IndexReport, KindCount
    from smart_context.model import Progress, Stop
    from smart_context.settings.config import Settings

_LONG = 10.0  # seconds: after a longer run people are told what they can do now


def run(
    *,
    settings: Settings,
    folders: tuple[str, ...] = (),
    full: bool = False,
    no_embed: bool = False,
    ocr: bool | None = None,
    rebuild: bool = False,
    enqueue: bool = False,
    to: str | None = None,
    from_: str | None = None,
    as_json: bool = False,
) -> None:
    """Read new and changed files into the index, and say what was done."""
    with waiting("starting"):
        from smart_context.access.roots import shown
        from smart_context.api import App

    named = tuple(os.path.abspath(folder) for folder in folders)
    if to or from_:
        _copy(settings, to, from_)
        return
    if not named and not settings.roots:
        raise UsageError("there is no folder to index", hint="name one, or configure one with: context roots add DIR")
    new = _outside(settings, named)
    _confirm_everything(new, may_ask=not as_json and can_ask())
    if new and not as_json and can_ask():
        settings, new = _offer_roots(settings, new)
    reads_scans = settings.ocr.enabled if ocr is None else ocr
    heap.share()
    with App(replace(settings, roots=(*settings.roots, *new))) as app:
        if enqueue:
            _enqueue(app, named or app.roots.names, full=full, scans=reads_scans)
            return
        if rebuild:
            _mend(app)
        reports, failures = _run(app, named or app.roots.names, new, full=full)
        if reads_scans:
            failures += _read_scans(app, reports)
        embedded = 0 if no_embed else _embed(app)
    if as_json:
        echo(json_of([{"root": shown(f), **asdict(r)} for f, r in reports.items()]))
    else:
        _summarize(reports, "".join(f" --root {quoted(shown(folder))}" for folder in new))
    if embedded:
        say(f"{plural(embedded, 'segment')} embedded")
    for folder in (folder for folder in new if folder in reports):
        say(f"note: to search it, add it to the roots: context roots add {quoted(shown(folder))}{GivenOptions.place}")
    for failure in failures[1:]:
        say(f"error: {in_our_words(failure.message)}")
    if failures:
        raise failures[0]


def read(settings: Settings, folders: Sequence[str]) -> None:
    """Index some roots for another command, and say how that went."""
    from smart_context.api import App

    with App(settings) as app:
        reports, failures = _run(app, folders, (), full=False)
    _summarize(reports, "")
    if failures:
        raise failures[0]


def _outside(settings: Settings, folders: Sequence[str]) -> tuple[str, ...]:
    """Which of the folders lie in no configured root."""
    from smart_context.access.roots import Roots
    from smart_context.errors import Forbidden

    roots = Roots(settings.roots)
    found = []
    for folder in folders:
        try:
            roots.inside(folder)
        except Forbidden:
            found.append(folder)
    return tuple(found)


def _confirm_everything(folders: Sequence[str], *, may_ask: bool) -> None:
    """Ask before a run over the whole file system: people who type `/` often mean another folder.

    Raises: UsageError where there is nobody to ask, Exit where the answer is no.
    """
    if not any(os.path.realpath(folder) == os.path.realpath(os.sep) for folder in folders):
        return
    if not may_ask:
        raise UsageError(
            "/ is the whole file system, and is not a root",
            hint="name the folders that matter; if you mean all of it: context index --root /",
        )
    if not ask("/ is the whole file system. Read every file that you may read?"):
        say("nothing was read; name the folders that matter: context index FOLDER")
        raise Exit(1)


def _copy(settings: Settings, to: str | None, from_: str | None) -> None:
    from smart_context import team
    from smart_context.settings import config

    if to and from_:
        raise UsageError("--to and --from do not go together")
    address = config.checked("engine", to or from_ or "", "--to" if to else "--from")
    try:
        with ProgressBar("copying", at_once=True) as bar, _until_told_to_end() as stop:
            count = team.copy(settings, address, back=bool(from_), on_progress=bar, stop=stop)
    except _Ended as ended:
        say("ended before everything was copied")
        raise Exit(128 + ended.number) from None
    say(f"{plural(count, 'file')} copied")


def _enqueue(app: App, folders: Sequence[str], *, full: bool, scans: bool) -> None:
    from smart_context import team
    from smart_context.access.roots import shown

    for folder in folders:
        count = team.enqueue(app, folder, full=full)
        waiting = team.enqueue_scans(app, folder) if scans else 0
        more = f", {plural(waiting, 'file')} for OCR" if waiting else ""
        say(f"{shown(folder)}: {count:,} {'batch' if count == 1 else 'batches'}{more} put into the queue")


def _offer_roots(settings: Settings, folders: tuple[str, ...]) -> tuple[Settings, tuple[str, ...]]:
    """Offer to make roots of folders that searches would not find otherwise. Returns the new settings, and the folders that are still outside."""
    from smart_context.access.new_root import too_wide
    from smart_context.cli import roots
    from smart_context.settings import write

    left = []
    for folder in folders:
        wide = too_wide(folder)
        question = f"{results.place(folder)} {f'{wide}, and ' if wide else ''}is not a root, so searches will not find it. Make it one?"
        if os.path.isdir(folder) and ask(question):
            write.add_root(roots.file_of(settings), folder)
            settings = replace(settings, roots=(*settings.roots, folder))
        else:
            left.append(folder)
    return settings, tuple(left)


def _mend(app: App) -> None:
    with ProgressBar("rebuilding", at_once=True) as bar:
        aside = app.engine.repair(bar)
    if aside:
        say(f"the damaged index is now in {aside}")


def _run(
    app: App, folders: Sequence[str], new: Sequence[str], *, full: bool
) -> tuple[dict[str, IndexReport], list[ContextError]]:
    """Index each folder; one that is not there does not stop the others."""
    from smart_context.access.roots import shown
    from smart_context.errors import NotFound

    reports: dict[str, IndexReport] = {}
    failures: list[ContextError] = []
    for folder in folders:
        if folder in new and not os.path.isdir(folder):  # misspelt, not an unmounted share
            failures.append(NotFound(f"there is no folder {shown(folder)}", hint="check the spelling"))
            continue
        bar = ProgressBar("indexing", at_once=True)

        def show(step: Progress, bar: ProgressBar = bar) -> None:
            if step.done:
                gc.enable()  # a run that reads nothing ends before there is much garbage
            bar(step)

        try:
            with bar, _until_told_to_end() as stop:
                reports[folder] = app.index_here(folder, full=full, on_progress=show, stop=stop)
        except _Ended as ended:
            _say_kept(bar, folder if folder in new or len(folders) == 1 else "", full=full)
            raise Exit(128 + ended.number) from None
        except NotFound as error:
            failures.append(error)
        except KeyboardInterrupt:
            _say_kept(None, folder, full=full)
            raise
    return reports, failures


def _say_kept(bar: ProgressBar | None, folder: str, *, full: bool) -> None:
    """Say what an interrupted run has kept, and how to continue."""
    again = "context index" + " --full" * full + (f" {quoted(results.place(folder))}" if folder else "")
    if GivenOptions.options:
        again = "the same command"
    step = bar.last if bar else None
    if step and not step.done:
        say(f"ended before a file was read; begin again with: {again}")
        return
    if step and step.total:
        say(f"ended: {step.done:,} of {plural(step.total, 'file')} were read")
    # What is unchanged is not read by a plain run: only another full one reads the rest anew.
    how = "read everything again with" if full else "go on with"
    say(f"what was read is kept and can be searched; {how}: {again}")


def _read_scans(app: App, reports: dict[str, IndexReport]) -> list[ContextError]:
    """Read the waiting pages of each folder by OCR, and count them in its report; if OCR cannot run, the index stays."""
    from smart_context.errors import ConfigError

    for folder, report in reports.items():
        try:
            with ProgressBar("reading scans", at_once=True) as bar, _until_told_to_end() as stop:
                seen = app.read_scans_here(folder, on_progress=bar, stop=stop)
        except _Ended as ended:
            say(f"what was read is kept and can be searched; go on with: context index --ocr{GivenOptions.options}")
            raise Exit(128 + ended.number) from None
        except ConfigError as error:
            return [error]
        reports[folder] = replace(report, read_pages=seen.read_pages, unread_pages=seen.unread_pages)
    return []


class _Ended(BaseException):
    """Somebody asked this process to end, by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _until_told_to_end() -> Iterator[Stop]:
    """Let SIGTERM and Ctrl-C end the work between two steps, with a commit, instead of in the middle of one; a second Ctrl-C ends it at once."""
    asked = 0

    def ask(number: int, _frame: object) -> None:
        nonlocal asked
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        asked = number

    def stop() -> None:
        if asked:
            raise _Ended(asked)

    # What is ignored stays so: a shell has it ignored for what runs in the background.
    numbers = [n for n in (signal.SIGTERM, signal.SIGINT) if signal.getsignal(n) is not signal.SIG_IGN]
    before = [(number, signal.signal(number, ask)) for number in numbers]
    try:
        yield stop
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _embed(app: App) -> int:
    """Embed segments that have no vector yet; if the model cannot be used, the index stays."""
    from smart_context.errors import ConfigError, Conflict
    from smart_context.meaning import place

    try:
        has_model = place.model(app.settings.semantic) is not None
        with ProgressBar("embedding", at_once=has_model) as bar:
            return app.embed(workers=app.settings.index.workers or os.cpu_count() or 1, on_progress=bar)
    except (ConfigError, Conflict) as error:
        say(f"warning: not embedded: {error.in_one_line}")
        return 0
    except KeyboardInterrupt:
        say(
            f"everything is indexed, and the vectors made so far are kept; go on with: context index{GivenOptions.options}"
        )
        raise


def _summarize(done_in: dict[str, IndexReport], options: str) -> None:
    """Say what the runs have done; options: those that other commands need for folders that are not roots."""
    from smart_context.index.model import KindCount

    reports = list(done_in.values())
    kinds: dict[str, KindCount] = {}
    for report in reports:
        for kind, count in report.kinds.items():
            was = kinds.get(kind, KindCount())
            kinds[kind] = KindCount(
                *(getattr(was, f) + getattr(count, f) for f in ("files", "failed", "no_text", "chars"))
            )
    if kinds:
        room = columns(sys.stderr)
        say(*table(("kind", "files", "text", "no text", "failed"), _kind_rows(kinds), room=room))
    for problem in [problem for report in reports for problem in report.problems]:
        say(f"not looked into: {plain.line(problem)}")
    for folder, report in done_in.items():
        if not (report.problems or any(getattr(report, name) for name in _RUN)):
            say(f"no file to read in {results.place(folder)}; left out are {_LEFT_OUT}")
    say(*(report.renewed for report in reports))
    if reports:
        done = {name: sum(getattr(report, name) for report in reports) for name in (*_RUN, *_SCANS)}
        seconds = sum(report.duration_ms for report in reports) / 1000
        told = ", ".join(f"{done[name]:,} {word}" for name, word in _RUN.items() if done[name] or name == "indexed")
        # The time is that of the run; OCR comes after it.
        scans = "".join(f"; {done[name]:,} {word}" for name, word in _SCANS.items() if done[name])
        say(f"{told} in {f'{seconds:,.1f} s' if seconds < 60 else exactly(seconds)}{scans}")
        if done["failed"]:
            say(f"see what failed, and why: context status{GivenOptions.options}{options}")
        if seconds >= _LONG and done["indexed"] and is_terminal(sys.stderr):
            say(f"search what was read with: context search WORDS{GivenOptions.options}{options}")


_LEFT_OUT = "hidden and ignored files, links, and what is no file: devices, pipes, sockets"
_RUN = {
    "indexed": "indexed",
    "skipped": "unchanged",
    "removed": "removed",
    "failed": "failed",
}
_SCANS = {
    "read_pages": "pages read by OCR",
    "unread_pages": "pages wait for OCR",
}


def _kind_rows(kinds: dict[str, KindCount]) -> list[tuple[str, ...]]:
    return [
        (
            kind or "?",
            f"{c.files:,}",
            size(c.chars),
            f"{c.no_text:,}" if c.no_text else "",
            f"{c.failed:,}" if c.failed else "",
        )
        for kind, c in sorted(kinds.items())
    ]
