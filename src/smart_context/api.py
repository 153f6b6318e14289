"""The verbs of Smart File Search: what both faces call.

In: arguments, already of the right type.  Out: the object of a response, its keys in the order of the specification.
Always: a path from a caller goes through the roots before anything else; text goes through redaction on its way out.
Each verb names its stages in order. `App` holds what they share, opened when it is first needed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smart_context.errors import ContextError, Forbidden, NotFound, SearchFailed
from smart_context.model import Extracted, OnProgress, Skipped, Stop
from smart_context.roots import Roots, parsed, shown

if TYPE_CHECKING:
    from types import TracebackType

    from smart_context.config import Settings
    from smart_context.llm.model import Sample
    from smart_context.redact import Redactor
    from smart_context.search.find import SearchPage
    from smart_context.search.index import Index
    from smart_context.search.indexer import Options
    from smart_context.search.jobs import JobQueue, Priority
    from smart_context.search.model import Coverage, IndexReport, Segment, Status
    from smart_context.search.record import Record
    from smart_context.search.semantic.meaning import Meaning
    from smart_context.sources.worker import Pool

Answer = dict[str, Any]

_LOOK_EVERY = 0.1  # seconds between two looks at whether a waiting caller has gone


def _never() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Request:
    """What a search asks for: as the tool's arguments, before anything is read from the text."""

    query: str
    k: int = 10
    offset: int = 0
    exts: tuple[str, ...] = ()
    years: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()


class App:
    """Everything that search needs, over one configuration. Close it, or use it in a `with`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.roots = Roots(settings.roots)
        self.data_dir = Path(settings.data_dir)
        self._opening = threading.RLock()
        self._index: Index | None = None
        self._jobs: JobQueue | None = None
        self._redactor: Redactor | None = None
        self._reading = threading.Lock()
        self._pool: Pool | None = None  # reads files anew for previews, one at a time; kept, as it takes long to start
        self._meaning: Meaning | None = None
        self._unusable: Path | None = None  # a model that has been warned of
        self._hides: Callable[[tuple[str, ...]], bool] | None = None
        self.before_search: Callable[[Stop], None] = lambda _stop: None
        """A server's way to have a first look at its roots before it answers that they hold nothing."""

    # The tools

    def list_roots(self) -> Answer:
        """Name the folders that may be read."""
        if not self.roots.names:
            raise SearchFailed(
                "no roots are configured", hint="set `roots` in the configuration, or start with --root DIR"
            )
        return {"roots": [shown(name) for name in self.roots.names]}

    def index_folder(
        self,
        root: str,
        full: bool = False,
        priority: Priority = "normal",
        *,
        on_progress: OnProgress,
        stop: Stop = _never,
    ) -> Answer:
        """Index a folder, wait for it, and count what was done."""
        job = self.jobs.submit(parsed(root), full=full, priority=priority)
        return report_answer(job.wait(on_progress, stop))

    def search_files(
        self,
        query: str,
        k: int = 10,
        offset: int = 0,
        exts: tuple[str, ...] = (),
        years: tuple[str, ...] = (),
        roots: tuple[str, ...] = (),
        *,
        stop: Stop = _never,
    ) -> Answer:
        """Search, and give one page of results."""
        page = self.find(Request(query, k, offset, exts, years, roots), stop=stop)
        return {
            "items": [
                {
                    "path": item.path,
                    "pointer": item.pointer,
                    "snippet": item.snippet,
                    "score": item.score,
                    "ext": item.ext,
                    "modified": item.modified,
                }
                for item in page.items
            ],
            "pagination": {"offset": offset, "returned": len(page.items), "total_estimate": page.total_estimate},
        }

    def find(self, request: Request, *, stop: Stop = _never) -> SearchPage:
        """Search, and give results with how the query was read, for a face that shows more than the tool does."""
        from smart_context.search import find

        asked = find.SearchRequest(
            request.query,
            request.k,
            request.offset,
            request.exts,
            request.years,
            self._folders(request.roots),
            self.settings.index.never_show,
        )
        self.before_search(stop)
        try:
            index = self.index
        except NotFound:
            return find.nothing(asked)
        index.refresh()
        return find.find(index, asked, spans=self.redactor.spans, stop=stop, meaning=self.meaning)

    def open_file(
        self, path: str, pointer: str | None = None, before: int = 0, after: int = 0, *, stop: Stop = _never
    ) -> Answer:
        """Show a part of a file: as the index has it, or as it is on disk when that has changed."""
        from smart_context.search import preview

        place = self.roots.inside(parsed(path))
        self._check_shown(place.path)
        shown_part = preview.cut(self._segments(place.path, stop), pointer, before, after, self._spans)
        return {
            "path": shown(place.path),
            "pointer": shown_part.pointer,
            "preview": shown_part.text,
            "truncated": shown_part.truncated,
        }

    def summarize_results(
        self,
        query: str,
        results: Sequence[dict[str, str]],
        style: str = "bullets",
        max_tokens: int | None = None,
        *,
        stop: Stop = _never,
        sample: Sample | None = None,
    ) -> Answer:
        """Summarize snippets with their sources; a path outside the roots refuses the whole call."""
        for result in results:
            self._check_shown(self.roots.inside(parsed(result["path"])).path)
        from smart_context.llm import summarize

        told = summarize.results(
            query,
            [summarize.Snippet(r["path"], r["snippet"], r.get("pointer", "")) for r in results],
            style,
            max_tokens,
            settings=self.settings.llm,
            redactor=self.redactor,
            data_dir=self.data_dir,
            stop=stop,
            sample=sample,
        )
        return {
            "summary": told.summary,
            "tokens_used": {"prompt": told.prompt_tokens, "completion": told.completion_tokens},
        }

    def rewrite_query(self, query: str, *, stop: Stop = _never, sample: Sample | None = None) -> Answer:
        """Turn a question into the query language, with the filters it names."""
        from smart_context.llm import rewrite

        told = rewrite.query(
            query, settings=self.settings.llm, redactor=self.redactor, data_dir=self.data_dir, stop=stop, sample=sample
        )
        return {"fts": told.fts, "filters": {"exts": list(told.exts), "years": list(told.years)}, "notes": told.notes}

    # What the command line shows besides

    def status(self, *, compare: bool = True) -> Status:
        """Say how the index stands to the roots; `compare` walks them."""
        from smart_context.search import status

        found = status.of_index(self.data_dir, self.roots, self._options().walk, compare=compare)
        return replace(found, meaning=self._coverage())

    def index_here(self, folder: str, *, full: bool, on_progress: OnProgress, stop: Stop = _never) -> IndexReport:
        """Index a folder in this process, as the only writer."""
        from smart_context.search import indexer
        from smart_context.search.index import Index

        with Index.open(self.data_dir, writable=True, on_progress=on_progress) as index:
            options = self._options()
            return indexer.run(index, self.roots, folder, options, full=full, on_progress=on_progress, stop=stop)

    def embed(self, *, workers: int = 1, on_progress: OnProgress = lambda _step: None, stop: Stop = _never) -> int:
        """Make the vectors that are missing, in this thread; how many that were. Nothing where there is no model.

        Raises: Conflict when another process does; ConfigError when the model cannot be used.
        """
        from smart_context.search.semantic import place

        folder = place.model(self.settings.semantic)
        found = self._coverage()
        if folder is None or not self.has_index() or (found and found.embedded == found.segments):
            return 0
        from smart_context.search.semantic import embedding
        from smart_context.search.semantic.encoder import Encoder

        encoder = self._meaning.encoder if self._meaning else Encoder(folder)
        return embedding.run(self.data_dir, encoder, workers=workers, on_progress=on_progress, stop=stop)

    def maintain(self, *, on_progress: OnProgress = lambda _step: None) -> None:
        """Tidy the index: give space back, finish merges, look for damage, drop vectors that nothing needs."""
        from smart_context.search import upkeep

        upkeep.maintain(self.data_dir, on_progress)
        self._tidy_vectors()

    def maintain_apart(self, stop: Stop) -> None:
        """Tidy the index from another process."""
        from smart_context.search import writer

        writer.maintain(self.data_dir, stop=stop)
        self._tidy_vectors()

    def has_index(self) -> bool:
        """Say whether anything was ever indexed."""
        try:
            return self.index is not None
        except NotFound:
            return False

    # What the verbs share

    @property
    def index(self) -> Index:
        """The index, open for reading.

        Raises: NotFound where there is none yet.
        """
        from smart_context.search.index import Index

        with self._opening:
            if self._index is None:
                self._index = Index.open(self.data_dir)
            return self._index

    @property
    def meaning(self) -> Meaning | None:
        """The model for ranking by meaning, loaded when something is embedded; None where it is not there or cannot be used."""
        from smart_context.search.semantic import place

        folder = place.model(self.settings.semantic)
        if folder is None or folder == self._unusable or not any(place.all_vectors(self.data_dir)):
            return None
        with self._opening:
            if self._meaning is None or self._meaning.folder != folder:
                try:
                    from smart_context.search.semantic.meaning import Meaning

                    self._meaning = Meaning(folder, self.data_dir)
                except (ContextError, ImportError) as error:
                    self._unusable = folder
                    sys.stderr.write(f"warning: searching by words alone: {_told(error)}\n")
                    return None
            return self._meaning

    @property
    def jobs(self) -> JobQueue:
        """The queue of indexing runs that this process has another one do."""
        from smart_context.search import writer
        from smart_context.search.jobs import JobQueue

        with self._opening:
            if self._jobs is None:

                def run(folder: str, full: bool, on_progress: OnProgress, stop: Stop) -> IndexReport:
                    options = self._options()
                    return writer.index(
                        self.data_dir, self.roots, folder, options, full=full, on_progress=on_progress, stop=stop
                    )

                self._jobs = JobQueue(self.data_dir, self.roots, run)
            return self._jobs

    @property
    def redactor(self) -> Redactor:
        """The gate that text passes on its way out."""
        from smart_context.redact import Redactor

        with self._opening:
            if self._redactor is None:
                self._redactor = Redactor(self.settings.redaction.patterns)
            return self._redactor

    def close(self) -> None:
        """Stop indexing between two files, and close the index."""
        if self._jobs is not None:
            self._jobs.close()
        # A preview under way has its process to itself: that one ends when the call does, or with this process.
        if self._reading.acquire(timeout=_LOOK_EVERY):
            if self._pool is not None:
                self._pool.close()
                self._pool = None
            self._reading.release()
        if self._index is not None:
            self._index.close()

    def __enter__(self) -> App:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _coverage(self) -> Coverage | None:
        from smart_context.search.semantic import place

        folder = place.model(self.settings.semantic)
        if folder is None:
            return None
        try:
            from smart_context.search.semantic import embedding

            return embedding.coverage(self.data_dir, folder)
        except (ContextError, OSError, ImportError):
            return None  # searches tell what is wrong with a model

    def _tidy_vectors(self) -> None:
        from smart_context.search.semantic import place

        folder = place.model(self.settings.semantic)
        if folder is None or not any(place.all_vectors(self.data_dir)):
            return
        try:
            used = place.fingerprint(folder)
            from smart_context.search.semantic import embedding
        except (OSError, ImportError):
            return  # a model that cannot be used is told of by searches; its vectors are kept for when it is mended
        embedding.tidy(self.data_dir, used)

    def _folders(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Give the folders to search: those asked for, each inside a root, or all roots."""
        if not self.roots.names:
            raise Forbidden("no folder is allowed", hint="configure `roots` or start with --root DIR")
        return tuple(self.roots.inside(parsed(folder)).path for folder in asked) or self.roots.names

    def _check_shown(self, path: str) -> None:
        from smart_context.sources import ignore

        if self._hides is None:
            rules = ignore.parse("\n".join(self.settings.index.never_show))
            self._hides = lambda parts: ignore.leaves_out(rules, parts)
        place = self.roots.inside(path)
        below = os.path.relpath(place.path, place.root)
        if self._hides(tuple(below.split(os.sep))):
            raise Forbidden("this file is not to be shown", hint="the setting `index.never_show` leaves it out")

    def _segments(self, path: str, stop: Stop) -> Sequence[Segment]:
        """Give a file's segments: from the index if that is up to date, or if the file's share is away; else read anew."""
        try:
            record = self.index.record
        except NotFound:
            return self._read_now(path, stop)
        row = record.file(path)
        if row is None:
            return self._read_now(path, stop)
        if self.roots.state(row.root) == "available":
            fd = self.roots.open_file(path)
            try:
                info = os.fstat(fd)
            finally:
                os.close(fd)
            if (info.st_size, info.st_mtime_ns) != (row.size, row.mtime_ns) or row.state != "ok":
                return self._read_now(path, stop)
        return _recorded(record, row.file_id)

    def _read_now(self, path: str, stop: Stop) -> Sequence[Segment]:
        from smart_context.search import segment
        from smart_context.sources.worker import Pool, Task

        os.close(self.roots.open_file(path))  # so that what is absent or not a file has its own error
        while not self._reading.acquire(timeout=_LOOK_EVERY):
            stop()
        try:
            self._pool = self._pool or Pool(self.settings.limits, workers=1)
            (done,) = self._pool.run([Task(path, path, lambda: self.roots.open_file(path))], stop)
        finally:
            self._reading.release()
        if isinstance(done.outcome, Skipped):
            why = f"{done.outcome.reason} ({done.outcome.detail})" if done.outcome.detail else done.outcome.reason
            raise NotFound(
                f"no text could be read from {shown(path)}: {why}",
                hint="`context status` lists what could not be read, and why",
            )
        assert isinstance(done.outcome, Extracted)
        return list(segment.cut(done.outcome, self._options().max_chars))

    def _options(self) -> Options:
        from smart_context.search.indexer import Options
        from smart_context.sources.walk import WalkOptions

        index = self.settings.index
        walk = WalkOptions(
            honour_ignore_files=index.gitignore,
            include_hidden=index.hidden,
            include_junk=index.junk,
            exclude=(*index.exclude, *index.never_show),
        )
        return Options(walk, self.settings.limits, index.workers or None, index.max_segment_chars)

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        return [(span.start, span.end, f"[redacted:{span.kind}]") for span in self.redactor.spans(text)]


def report_answer(report: IndexReport) -> Answer:
    """Give what an indexing run did as the tool's answer."""
    return {
        "indexed": report.indexed,
        "skipped": report.skipped,
        "removed": report.removed,
        "duration_ms": report.duration_ms,
        "failed": report.failed,
    }


def _told(error: ContextError | ImportError) -> str:
    if isinstance(error, ContextError):
        return "; ".join(filter(None, (error.message, error.reason, error.hint)))
    return "the extra is not installed; pip install 'smart-context[semantic]'"


def _recorded(record: Record, file_id: int) -> Sequence[Segment]:
    from smart_context.search.model import Segment

    rows = record.segments_of(file_id)
    texts = record.texts(row.segment_id for row in rows)
    return [Segment(row.seq, row.pointer, row.heading, texts[row.segment_id]) for row in rows]
