"""The verbs of Smart File Search: what both faces call.

In: arguments, already of the right type.  Out: the object of a response, its keys in the order of the specification.
Always: a path from a caller goes through the roots before anything else; text goes through redaction on its way out.
Each verb names its stages in order. `resources.py` has what they share, opened when it is first needed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from smart_context import defaults
from smart_context.access.roots import parsed, shown
from smart_context.data import replace
from smart_context.errors import Conflict, ContextError, Forbidden, NotFound, SearchFailed
from smart_context.find.model import SearchRequest, naming_filters
from smart_context.model import OWNER, Caller, OnProgress, Stop, silent
from smart_context.resources import Resources

if TYPE_CHECKING:
    from smart_context.cache.build import Built
    from smart_context.find.file_view import FileView
    from smart_context.find.known_items import Probe
    from smart_context.find.model import SearchPage
    from smart_context.find.picture import Picture
    from smart_context.frozen.collect import Picked
    from smart_context.frozen.provenance import Provenance, Question
    from smart_context.frozen.replay import Change
    from smart_context.frozen.verbs import CallerAccess, FreezeOptions
    from smart_context.index.jobs import Priority
    from smart_context.index.model import IndexReport, Status
    from smart_context.llm.model import Sample

Answer = dict[str, Any]


def _never() -> None:
    pass


class App(Resources):
    """The verbs, over one configuration. Close it, or use it in a `with`."""

    # The tools

    def list_roots(self, *, caller: Caller = OWNER) -> Answer:
        """Name the folders that the caller may read."""
        if not self.roots.names:
            raise SearchFailed(
                "no roots are configured", hint="name one with --root DIR, or for good: context roots add DIR"
            )
        roots = self._roots_of(caller)
        roots.check_any()
        return {"roots": [shown(name) for name in roots.names]}

    def index_folder(
        self,
        root: str,
        full: bool = False,
        priority: Priority = "normal",
        *,
        on_progress: OnProgress,
        stop: Stop = _never,
        caller: Caller = OWNER,
    ) -> Answer:
        """Index a folder, wait for the run, and return its counts."""
        self._may_index(root, caller)
        job = self.jobs.submit(parsed(root), full=full, priority=priority)
        return job.wait(on_progress, stop).answer()

    def start_index(self, root: str, *, caller: Caller = OWNER) -> None:
        """Queue a folder to be indexed, and wait for nothing. Raises: as `index_folder`."""
        self._may_index(root, caller)
        self.jobs.submit(parsed(root))

    def stop_index(self, root: str, *, caller: Caller = OWNER) -> bool:
        """Stop the run over a folder, and return whether there was one; what it has read stays.

        Raises: as `index_folder`.
        """
        self._may_index(root, caller)
        return self.jobs.cancel(self.roots.inside(parsed(root)).path)

    def add_root(self, folder: str, *, caller: Caller = OWNER) -> tuple[str, bool]:
        """Add a root while the server runs, and queue it; return its name, and whether the configuration file has it too.

        Raises: Forbidden for anybody but the owner, and for a caller that sees some roots only; BadRequest, saying what to do.
        """
        from smart_context.access import new_root

        if not caller.is_owner or caller.roots is not None:  # else what is refused would tell of others' roots
            raise Forbidden("this token may not add roots", hint="ask who runs the server")
        name = new_root.checked(folder, self.roots, str(self.data_dir))
        is_kept = new_root.keep(name, self.roots, self.settings)
        self.roots.add(name)
        if self.watcher:
            self.watcher.become(self.roots.names)
        with suppress(Conflict):  # somebody else writes: it is a root all the same, and can be indexed later
            self.jobs.submit(name)
        return name, is_kept

    def _may_index(self, root: str, caller: Caller) -> None:
        self._roots_of(caller).inside(parsed(root))
        if not caller.is_owner:
            raise Forbidden("this token may not index", hint="ask who runs the server, or search what is indexed")

    def search_files(
        self,
        query: str,
        k: int = defaults.K,
        offset: int = 0,
        exts: tuple[str, ...] = (),
        years: tuple[str, ...] = (),
        roots: tuple[str, ...] = (),
        since: str | None = None,
        until: str | None = None,
        sort: str = defaults.SORT,
        all_copies: bool = False,
        *,
        stop: Stop = _never,
        caller: Caller = OWNER,
    ) -> Answer:
        """Search; return one page of results."""
        request = SearchRequest(
            query, k, offset, exts, years, roots, all_copies=all_copies, since=since or "", until=until or "", sort=sort
        )
        return naming_filters(self.find(request, stop=stop, caller=caller), request).answer()

    def find(
        self, request: SearchRequest, *, unredacted: bool = False, stop: Stop = _never, caller: Caller = OWNER
    ) -> SearchPage:
        """Search; return results with the interpretation of the query, for faces that show more than the tool.

        Raises: as `open_file` where they are to be unredacted.
        """
        from smart_context.find import search

        if unredacted:
            self._log_unredacted("search", request.query, caller)
        allowed = self._roots_of(caller)
        folders = self._folders(request.folders, allowed)
        today = request.today or time.strftime("%Y-%m-%d", time.gmtime())
        asked = replace(request, folders=folders, never_show=self.settings.index.never_show, today=today)
        if self.first_runs:
            self.first_runs.wait_for_some(stop)
        try:
            index = self.index
        except NotFound:
            return search.nothing(asked)
        index.refresh()  # it may wait for what another machine has committed, and holds up no other search meanwhile
        with self._turns.one(stop):
            page = search.find(
                index,
                asked,
                redactor=None if unredacted else self.redactor,
                stop=stop,
                meaning=self.extra.meaning(),
                roots=self.roots,
                within=None if caller.roots is None else allowed.names,
                key=caller.key,
            )
            return replace(page, notes=(*page.notes, *self._said_of_roots(allowed, folders)))

    def open_file(
        self,
        path: str,
        pointer: str | None = None,
        before: int = 0,
        after: int = 0,
        *,
        unredacted: bool = False,
        stop: Stop = _never,
        caller: Caller = OWNER,
    ) -> Answer:
        """Show a part of a file: as the index has it, or as it is on disk when that has changed.

        Unredacted is for the owner at a terminal, never for a tool, and is logged first. Raises: Forbidden, NotFound; IoError when it cannot be logged.
        """
        from smart_context.find import preview

        place = self._shown(path, caller)
        caps = preview.Caps(self.settings.preview.max_bytes, self.settings.preview.around_chars)
        segments = self._contents.of(place, stop, caller.key)
        if unredacted:
            self._log_unredacted("open", place.path, caller)
            segments = [replace(segment, hidden=()) for segment in segments]
        shown_part = preview.cut(segments, pointer, before, after, caps)
        answer = {
            "path": shown(place.path),
            "pointer": shown_part.pointer,
            "preview": shown_part.text,
            "truncated": shown_part.truncated,
        }
        return {**answer, "next": shown_part.next} if shown_part.next else answer

    def view_file(
        self, path: str, pointer: str | None = None, query: str = "", *, stop: Stop = _never, caller: Caller = OWNER
    ) -> FileView:
        """Show a part of a file to a person, with the words of a query marked."""
        from smart_context.find import file_view, preview

        place = self._shown(path, caller)
        caps = preview.Caps(self.settings.preview.max_bytes, self.settings.preview.around_chars)
        segments = self._contents.of(place, stop, caller.key)
        return file_view.at(shown(place.path), segments, pointer, caps, self._sought(query, caller))

    def locate(self, path: str, *, caller: Caller = OWNER) -> str:
        """The path of a file that may be shown, as the system has it.

        Raises: Forbidden, NotFound.
        """
        place = self._shown(path, caller)
        os.close(self.roots.open_file(place.path))
        return place.path

    def picture_of(
        self, path: str, page: int, query: str = "", *, stop: Stop = _never, caller: Caller = OWNER
    ) -> Picture:
        """Draw a page of a PDF, without what redaction hides; where that is not certain there is none.

        Raises: NotFound, saying why.
        """
        from smart_context.find import snippet
        from smart_context.find.picture import Pictures, page_of

        place = self._shown(path, caller)
        with self._opening:
            pictures = self._pictures = self._pictures or Pictures(
                self.roots, self.settings.limits, self.settings.index.jail
            )
        stamp = pictures.stamp(place.path)
        segments = self._contents.of(place, stop, caller.key)
        words = self._sought(query, caller)
        own = "\n".join(segment.text for segment in segments if page_of(segment.pointer) == page)
        marked = [own[start:end] for start, end in snippet.marks(own, words)] if words else []
        return pictures.of(place.path, stamp, segments, page, marked, stop)

    def read_file(self, path: str, pointer: str | None = None, *, unredacted: bool = False) -> tuple[str, str]:
        """A file's path and its whole text, or all that a pointer names: for the owner at a terminal, never for a tool.

        What is shown unredacted is logged first.

        Raises: as `open_file`; IoError when it cannot be logged.
        """
        from smart_context.find import preview

        place = self._shown(path, OWNER)
        segments = self._contents.of(place, _never)
        if unredacted:
            self._log_unredacted("cat", place.path, OWNER)
        return shown(place.path), preview.text_of(segments, pointer, redacted=not unredacted)

    def _log_unredacted(self, command: str, what: str, caller: Caller) -> None:
        """Log that the owner sees unredacted text; refuse any other caller."""
        if not caller.is_owner:
            raise Forbidden("only the owner may see what is hidden")
        from smart_context.access import audit
        from smart_context.access.audit import LoggedCall

        if log := audit.configured(self.settings, self.redactor.clean):
            log.write(LoggedCall(f"{command} --unredacted", OWNER.name, 0.0, query=what))

    # From a search to a cache, and back

    def freeze(
        self,
        question: Question,
        target: str,
        how: FreezeOptions,
        *,
        on_progress: OnProgress = silent,
        stop: Stop = _never,
        caller: Caller = OWNER,
    ) -> Built:
        """Freeze the results of a question, or chosen places, into a cache; its folders are absolute here.

        Raises: InvalidQuery when there is nothing; Forbidden, NotFound, BadRequest, SameId, IoError.
        """
        from smart_context.frozen import verbs

        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return verbs.freeze(self._allowed(stop, caller), question, target, how, created_at=now, on_progress=on_progress)

    def freeze_search(
        self,
        query: str,
        cache: str,
        k: int = defaults.FREEZE_K,
        exts: tuple[str, ...] = (),
        years: tuple[str, ...] = (),
        roots: tuple[str, ...] = (),
        whole_files: bool = False,
        since: str | None = None,
        until: str | None = None,
        *,
        picked: tuple[Picked, ...] = (),
        stop: Stop = _never,
        caller: Caller = OWNER,
    ) -> Answer:
        """Freeze a search, or some of its results, into a new cache below the cache root, redacted; for the owner, if configured."""
        from smart_context.frozen import verbs
        from smart_context.frozen.provenance import Question

        allowed = self._allowed(stop, caller)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        question = Question(query, k, exts, years, roots, since=since or "", until=until or "")
        return verbs.freeze_search(allowed, question, cache, whole_files=whole_files, created_at=now, picked=picked)

    def replay(self, cache: str, *, stop: Stop = _never, caller: Caller = OWNER) -> tuple[Provenance, list[Change]]:
        """Run the query of a frozen cache again; return how each document has changed.

        Raises: CacheMissing, CacheInvalid where the cache was not frozen from a search, IoError, NotFound without an index.
        """
        from smart_context.frozen import verbs

        return verbs.replay(self._allowed(stop, caller), cache)

    def _allowed(self, stop: Stop, caller: Caller) -> CallerAccess:
        from smart_context.frozen.verbs import CallerAccess

        return CallerAccess(
            index=lambda: self.index,
            roots=self._roots_of(caller),
            may_show=lambda path: self._shown(path, caller),
            turn=lambda: self._turns.one(stop),
            redactor=self.redactor,
            meaning=self.extra.meaning,
            settings=self.settings,
            caller=caller,
            stop=stop,
        )

    def summarize_results(
        self,
        query: str,
        results: Sequence[dict[str, str]],
        style: str = defaults.STYLE,
        max_tokens: int | None = None,
        *,
        stop: Stop = _never,
        sample: Sample | None = None,
        caller: Caller = OWNER,
    ) -> Answer:
        """Summarize snippets with their sources; a path outside the roots refuses the whole call."""
        for result in results:
            self._shown(result["path"], caller)
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

    def probes(self, folders: tuple[str, ...], count: int) -> list[Probe]:
        """Make queries from sentences and names of `count` indexed files, without anything that must not be shown.

        Raises: NotFound where there is no index.
        """
        from smart_context.find import known_items

        def may_show(path: str) -> bool:
            try:
                self._shown(path, OWNER)
            except ContextError:
                return False
            return True

        return known_items.probes(self.index.record, self._folders(folders, self.roots), self.redactor, count, may_show)

    def pointers(self, path: str) -> list[str]:
        """The pointers of an indexed file, in reading order, for completion.

        Raises: Forbidden; NotFound where there is no index.
        """
        place = self._shown(path, OWNER)
        record = self.index.record
        file = record.file(place.path)
        rows = record.segments_of(file.file_id) if file else []
        return list(dict.fromkeys(row.pointer for row in rows if row.pointer))

    def status(self, *, compare: bool = True) -> Status:
        """Report how stale the index is; `compare` walks the roots."""
        from smart_context.index import status

        found = status.of_index(self.engine, self.roots, self.options().walk, compare=compare)
        # A shared record holds what other machines read, too.
        elsewhere = status.elsewhere(self.engine, self.roots.names) if compare and not self.settings.engine else None
        return replace(found, meaning=self.extra.coverage(), elsewhere=elsewhere)

    def index_here(self, folder: str, *, full: bool, on_progress: OnProgress, stop: Stop = _never) -> IndexReport:
        """Index a folder in this process, as the only writer."""
        from smart_context.index import indexer

        with self.engine.open(writable=True, on_progress=on_progress) as index:
            options = self.options()
            return indexer.run(index, self.roots, folder, options, full=full, on_progress=on_progress, stop=stop)

    def embed(self, *, workers: int = 1, on_progress: OnProgress = silent, stop: Stop = _never) -> int:
        """Make the missing vectors in this thread, and return their number; 0 without a model.

        Raises: Conflict when another process does; ConfigError when the model cannot be used.
        """
        return self.extra.embed(workers, on_progress, stop)

    def forget(self, path: str, *, keep: Sequence[str] = (), on_progress: OnProgress = silent) -> int:
        """Remove what is indexed at or below a path, except at or below those in `keep`; return the number of files.

        Raises: Conflict when another process writes or embeds.
        """
        return self.engine.forget(path, keep, on_progress) if self.engine.is_there() else 0

    def maintain(self, *, on_progress: OnProgress = silent) -> str:
        """Maintain the index: compact it, finish merges, check for damage, drop unused vectors; return why the ranking was rebuilt, or ""."""
        renewed = self.engine.maintain(on_progress)
        self.extra.tidy()
        return renewed

    def maintain_apart(self, stop: Stop) -> None:
        """Maintain the index in another process."""
        from smart_context.index import writer

        writer.maintain(self.engine, stop=stop)
        self.extra.tidy()
