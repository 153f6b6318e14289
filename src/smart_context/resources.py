"""Resources of an application, opened when they are first needed.

In: the settings.  Out: the roots, the index, the queue of runs, the redactor, the reading process.
Always: each is opened once, whichever thread asks first; closing ends every process that was started.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context import engine
from smart_context.access.roots import Place, Roots, is_within, parsed, shown
from smart_context.closes import Closes
from smart_context.data import replace
from smart_context.errors import BadRequest, Forbidden, NotFound
from smart_context.find.contents import Contents
from smart_context.meaning.extra import Extra
from smart_context.model import Caller, OnProgress, Stop
from smart_context.sources import ignore
from smart_context.turns import Turns

if TYPE_CHECKING:
    from smart_context.engine.port import Index
    from smart_context.find.picture import Pictures
    from smart_context.find.snippet import Words
    from smart_context.index.background import FirstRuns
    from smart_context.index.indexer import Options
    from smart_context.index.jobs import JobQueue
    from smart_context.index.model import IndexReport
    from smart_context.index.watch import Watcher
    from smart_context.redact import Redactor
    from smart_context.settings.config import Settings


# Concurrent searches. More only contend for the GIL.
_TURNS = 2
_MOST_SAID = 3  # roots that a search names because it could not search them


class Resources(Closes):
    """Everything that the verbs share, over one configuration. Close it, or use it in a `with`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.roots = Roots(settings.roots)
        self.data_dir = Path(settings.data_dir)
        self.engine = engine.at(settings.data_dir, settings.engine, settings.engine_places)
        self._opening = threading.RLock()
        self._index: Index | None = None
        self._jobs: JobQueue | None = None
        self._redactor: Redactor | None = None
        self._pictures: Pictures | None = None
        self._turns = Turns(_TURNS)
        self._hides = ignore.hider(settings.index.never_show)
        self._contents = Contents(
            self.engine, self.roots, settings.limits, self._reading, lambda: self.redactor, settings.index.jail
        )
        self.extra = Extra(settings.semantic, self.engine)
        self.follows = False
        """Whether the index keeps up by itself with a record that other machines write: set for a server, before anything is opened."""
        self.first_runs: FirstRuns | None = None
        """Runs over roots that nobody has indexed yet; a search waits for something to find."""
        self.watcher: Watcher | None = None
        self.wait_elsewhere: Callable[[], bool] = lambda: False
        """Whether calls wait for a thread of a server, or in other processes of it."""

    @property
    def index(self) -> Index:
        """The index, open for reading.

        Raises: NotFound where there is none yet.
        """
        with self._opening:
            if self._index is None:
                self._index = self.engine.open(follow=self.follows)
            return self._index

    def unindexed(self) -> list[str]:
        """The existing roots that no run has ever completed."""
        there = [root for root in self.roots.names if self.roots.state(root) == "available"]
        try:
            record = self.index.record
        except NotFound:
            return there
        return [root for root in there if record.last_run(root) is None]

    def _said_of_roots(self, roots: Roots, folders: Sequence[str]) -> list[str]:
        """Notes for a search of some folders about their roots: which were never indexed, and which are missing now."""
        from smart_context.find.model import NOT_INDEXED, NOT_REACHED, NOT_THERE

        said: list[str] = []
        for root in roots.names:
            if not any(is_within(folder, root) or is_within(root, folder) for folder in folders):
                continue
            is_there, is_away = os.path.isdir(root), self.index.following().is_away
            if is_there and is_away:
                continue  # nobody can be asked
            record = self.index.record
            if is_away or record.last_run(root) is not None or record.has_any(root):
                said += [] if is_there else [NOT_REACHED + shown(root)]
            else:
                said.append((NOT_INDEXED if is_there else NOT_THERE) + shown(root))
        more = [f"{len(said) - _MOST_SAID} more roots were never indexed, or cannot be reached now"]
        return said if len(said) <= _MOST_SAID else said[:_MOST_SAID] + more

    def is_begun(self, root: str) -> bool:
        """Whether something of a root is indexed, even if no run over it was completed."""
        return any(tally.files for tally in self.index.record.tallies(root))

    def has_index(self) -> bool:
        """Say whether anything was ever indexed."""
        try:
            return self.index is not None
        except NotFound:
            return False

    @property
    def jobs(self) -> JobQueue:
        """The queue of indexing runs, which a child process carries out."""
        from smart_context.index import writer
        from smart_context.index.jobs import JobQueue

        with self._opening:
            if self._jobs is None:
                options = self.options()
                # Half of the processors are left to searches, where nothing else is configured.
                options = replace(options, workers=options.workers or max(1, (os.cpu_count() or 1) // 2))

                def run(folder: str, full: bool, on_progress: OnProgress, stop: Stop) -> IndexReport:
                    return writer.index(
                        self.engine,
                        self.roots,
                        folder,
                        options,
                        full=full,
                        on_progress=on_progress,
                        stop=stop,
                        is_busy=self._is_busy,
                    )

                def scan(folder: str, on_progress: OnProgress, stop: Stop) -> IndexReport:
                    return writer.scan(
                        self.engine,
                        self.roots,
                        folder,
                        options,
                        self.ocr_data(),
                        on_progress=on_progress,
                        stop=stop,
                        is_busy=self._is_busy,
                    )

                self._jobs = JobQueue(self.engine, self.roots, run, scan)
            return self._jobs

    def _is_busy(self) -> bool:
        """Whether a run should pause, because searches wait."""
        return self._turns.is_wanted or self.wait_elsewhere()

    def ocr_data(self) -> dict[str, str]:
        """The data that OCR needs, for the languages that it is to read.

        Raises: ConfigError where the extra or some of it is missing.
        """
        from smart_context.sources import engines

        ocr = self.settings.ocr
        return engines.data(ocr.engine, ocr.languages, ocr.data_dir)

    def read_scans_here(self, folder: str, *, on_progress: OnProgress, stop: Stop) -> IndexReport:
        """Run OCR on what waits in a folder, in this process, as the only writer.

        Raises: ConfigError where the extra or the data of a language is missing.
        """
        from smart_context.index import scans

        data = self.ocr_data()
        with self.engine.open(writable=True, on_progress=on_progress) as index:
            options = self.options()
            return scans.read(index, self.roots, folder, options, data, on_progress=on_progress, stop=stop)

    @property
    def redactor(self) -> Redactor:
        """The redactor of all text that is shown."""
        if self._redactor is not None:
            return self._redactor
        from smart_context.redact import Redactor

        with self._opening:
            if self._redactor is None:
                self._redactor = Redactor(self.settings.redaction.patterns)
            return self._redactor

    def close(self) -> None:
        """Stop indexing between two files, and close the index."""
        if self._jobs is not None:
            self._jobs.close()
        self._contents.close()
        if self._pictures is not None:
            self._pictures.close()
        if self._index is not None:
            self._index.close()

    def _roots_of(self, caller: Caller) -> Roots:
        return self.roots if caller.roots is None else self.roots.within(caller.roots)

    def _folders(self, asked: tuple[str, ...], roots: Roots) -> tuple[str, ...]:
        """The folders to search: those asked for, each inside a root, or all roots."""
        roots.check_any()
        folders = tuple(roots.inside(parsed(folder)).path for folder in asked)
        for folder in folders:
            if os.path.isfile(folder):
                raise BadRequest(
                    f"{shown(folder)} is a file, not a folder", hint="search the folder that it is in, or `openFile` it"
                )
        return folders or roots.names

    def _shown(self, path: str, caller: Caller) -> Place:
        """Place a path from a caller, if the file there may be shown."""
        place = self._roots_of(caller).inside(parsed(path))
        if self._hides(place.path, place.root):
            raise Forbidden("this file is not to be shown", hint="the setting `index.never_show` leaves it out")
        return place

    def _sought(self, query: str, caller: Caller) -> Words | None:
        """The words of a query to mark in text; None where there are none."""
        from smart_context.find import search

        if not query.strip():
            return None
        try:
            self.index.refresh()
        except NotFound:
            return None
        _, view = self.index.both(caller.key)
        return search.sought(view if caller.roots is None else view.within(self._roots_of(caller).names), query)

    def _reading(self) -> list[str]:
        from smart_context.index import reading

        how = reading.Preparing(self.settings.index.max_segment_chars, self.settings.redaction.patterns, searched=False)
        return reading.started_with(how)

    def options(self) -> Options:
        """How to index, by the settings."""
        from smart_context.index.indexer import Options
        from smart_context.sources.walk import WalkOptions

        index = self.settings.index
        walk = WalkOptions(
            honour_ignore_files=index.gitignore,
            include_hidden=index.hidden,
            include_junk=index.junk,
            exclude=(*index.exclude, *index.never_show),
        )
        return Options(
            walk,
            self.settings.limits,
            index.workers or None,
            index.max_segment_chars,
            index.jail,
            self.settings.redaction.patterns,
        )
