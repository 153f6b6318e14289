"""Hold caches in memory for a server, so that the cost of a query depends on its matches, not on the size of the cache.

In: a cache directory, a query, a budget.  Out: the bytes that `resolve.to_json` gives.
Always: an answer comes from a cache that is on disk as it was verified; after any change the cache is read anew, and the answer
or the error is that of a cold run.
"""

from __future__ import annotations

import os
import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from smart_context import heap
from smart_context.cache import change, folder, inverted, names, resolve, select, selection_json, verify
from smart_context.cache.folder import DOCUMENTS, Folder, stamp
from smart_context.cache.select import Chosen, Selection
from smart_context.errors import CacheInvalid, CacheMissing, ContextError, IoError

if TYPE_CHECKING:
    from smart_context.cache.change import Identity, Watch
    from smart_context.cache.manifest import Manifest
    from smart_context.cache.pack.held import Held
    from smart_context.cache.pack.model import Packed
    from smart_context.model import Stop

_MOST_CACHES = 64
_ENTRY_BYTES = 450  # an entry of the manifest, and its stamp
_LARGEST_DOCUMENT = (
    8 * 1024 * 1024
)  # bytes that are counted at once, for which words of one letter need forty times as much
_WIDTH = 4  # numbers in a stamp
_FEW = 100  # members that are looked at on every call, which costs half a millisecond: events miss some changes
_SWEEP_EVERY = 2.0  # seconds
_SWEEP_STATS = 1000  # members looked at in one sweep
_SWEEP_READS = 100  # members read again in one sweep, because their stamps were young


Answer = TypeVar("Answer")
_Ask = Callable[["_Resident", Folder], Answer]


class Residents:
    """The caches held in memory, together at most `max_bytes` large. Use it from any thread; close it."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held: OrderedDict[str, _Resident] = OrderedDict()
        self._too_large: dict[str, Identity] = {}
        # By hash, not by name: names come from clients, and are without number.
        self._loading = [threading.Lock() for _ in range(16)]
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._sweeper: threading.Thread | None = None

    def resolve(self, cache: str | os.PathLike[str], query: str, budget: int, *, stop: Stop | None = None) -> bytes:
        """Return what `resolve.to_json` returns. Raises: what that raises."""
        return selection_json.render(self.selection(cache, query, budget, stop=stop))

    def selection(
        self, cache: str | os.PathLike[str], query: str, budget: int, *, stop: Stop | None = None
    ) -> Selection:
        """Return what `resolve.selection` returns. Raises: what that raises."""
        resolve.check(query, budget)
        return self._answer(
            cache,
            lambda resident, opened: resident.selection(opened, query, budget, stop),
            lambda: resolve.selection(cache, query, budget, stop=stop),
            stop,
        )

    def packed(
        self, cache: str | os.PathLike[str], query: str, budget: int, *, counting: str, stop: Stop | None = None
    ) -> Packed:
        """Return what `pack.packed` returns. Raises: what that raises."""
        from smart_context.cache.pack import pack, tokens

        resolve.check(query, budget)
        tokens.counting(counting)

        def cold() -> Packed:
            return pack.packed(cache, query, budget, counting=counting, stop=stop)

        def held(resident: _Resident, opened: Folder) -> Packed:
            return resident.packed(opened, (query, budget, counting), self._max_bytes, stop) or cold()

        return self._answer(cache, held, cold, stop)

    def close(self) -> None:
        """Let go of all caches."""
        self._closing.set()
        with self._lock:
            for resident in self._held.values():
                resident.close()
            self._held.clear()
        if self._sweeper:
            self._sweeper.join()

    def _answer(
        self, cache: str | os.PathLike[str], held: _Ask[Answer], cold: Callable[[], Answer], stop: Stop | None
    ) -> Answer:
        """Query the cache in memory, which is loaded first; `cold` queries one that is not to be cached."""
        answer = self._from_memory(cache, held)
        if answer is None:
            with self._only_one_loads(os.fspath(cache), stop):
                answer = self._from_memory(cache, held)
                if answer is None:
                    answer = folder.read(cache, lambda opened: self._load(cache, opened, held, cold, stop))
        return answer

    def _from_memory(self, cache: str | os.PathLike[str], held: _Ask[Answer]) -> Answer | None:
        key = os.fspath(cache)
        with self._lock:
            resident = self._held.get(key)
            if resident is None:
                return None
            self._held.move_to_end(key)
        # A cache or a document that cannot be read now: the cold run that follows says what is wrong.
        with suppress(CacheMissing, CacheInvalid, IoError), folder.open_cache(cache) as opened:
            if resident.is_current(opened):
                return held(resident, opened)
        self._drop(key, resident)
        return None

    def _load(
        self,
        cache: str | os.PathLike[str],
        opened: Folder,
        held: _Ask[Answer],
        cold: Callable[[], Answer],
        stop: Stop | None,
    ) -> Answer:
        key = os.fspath(cache)
        with suppress(OSError):
            if self._too_large.get(key) == change.identity(opened):
                return cold()
        resident = _load(cache, opened, self._max_bytes, stop)
        if resident is None:
            with suppress(OSError):
                self._too_large = {**dict(list(self._too_large.items())[-_MOST_CACHES:]), key: change.identity(opened)}
            return cold()
        try:
            answer = held(resident, opened)
            if resident.is_current(opened):
                self._keep(key, resident)
            else:
                resident.close()
        except BaseException:
            resident.close()
            raise
        return answer

    def _keep(self, key: str, resident: _Resident) -> None:
        with self._lock:
            if old := self._held.pop(key, None):
                old.close()
            if self._closing.is_set():
                resident.close()
                return
            self._held[key] = resident
            while len(self._held) > _MOST_CACHES or sum(r.nbytes for r in self._held.values()) > self._max_bytes:
                _, least_recent = self._held.popitem(last=False)
                least_recent.close()
            if self._sweeper is None:
                self._sweeper = threading.Thread(target=self._sweep, name="cache sweep", daemon=True)
                self._sweeper.start()

    def _drop(self, key: str, resident: _Resident) -> None:
        with self._lock:
            if self._held.get(key) is resident:
                del self._held[key]
        resident.close()

    @contextmanager
    def _only_one_loads(self, key: str, stop: Stop | None) -> Iterator[None]:
        lock = self._loading[hash(key) % len(self._loading)]
        while not lock.acquire(timeout=0.1):
            if stop:
                stop()
        try:
            yield
        finally:
            lock.release()

    def _sweep(self) -> None:
        while not self._closing.wait(_SWEEP_EVERY):
            with self._lock:
                residents = list(self._held.values())
            for resident in residents:
                resident.sweep(_SWEEP_STATS // len(residents) + 1)


class _Resident:
    """One cache: what its documents' words are, and how to tell that it is still what was verified."""

    def __init__(
        self,
        cache: str | os.PathLike[str],
        listed: Manifest,
        words: inverted.Inverted,
        identity: Identity,
        watch: Watch | None,
        stamps: array[int],
        *,
        stat_all: bool,
        verified_ns: int,
    ) -> None:
        self._cache = cache
        self._listed = listed
        self._words = words
        self._identity = identity
        self._watch = watch
        self._stamps = stamps
        self._stat_all = stat_all or watch is None
        self._lock = threading.Lock()
        self._next = 0  # where the sweep goes on
        young = [n for n in range(len(listed.documents)) if change.is_young(self._stamp(n), verified_ns)]
        self._young = [] if self._stat_all else young
        # Where stamps are all there is, one that cannot be trusted makes the whole cache read again.
        self._is_stale = self._stat_all and (bool(young) or identity.is_young(verified_ns))
        self.nbytes = words.nbytes + _ENTRY_BYTES * len(listed.documents)
        self._packing: Held | None = None
        self._packs_cold = False  # because there is no room for what packing needs
        self._packs = threading.Lock()

    def is_current(self, opened: Folder) -> bool:
        """Whether the opened cache is the one that was verified, unchanged."""
        with self._lock:
            if not self._is_stale:
                try:
                    self._is_stale = self._differs(opened)
                except OSError:
                    self._is_stale = True
            return not self._is_stale

    def selection(self, opened: Folder, query: str, budget: int, stop: Stop | None) -> Selection:
        """Answer a query, reading from disk what is selected and nothing else. Raises: CacheInvalid, IoError."""
        asked = select.query_of(query)
        hits = self._words.matches(set(asked.terms))
        scores = self._words.scores(hits)
        taken, used = inverted.fill(scores, self._words.tokens, budget)
        chosen = []
        for number in taken:
            if stop:
                stop()
            entry = self._listed.documents[number]
            text, size = verify.content(opened, entry)
            chosen.append(
                Chosen(
                    entry.id,
                    entry.version,
                    text,
                    float(scores[number]),
                    select.tokens_of(size),
                    int(hits[number]),
                    int(self._words.totals[number]),
                )
            )
        return Selection(chosen, asked, budget, used, len(self._listed.documents))

    def packed(self, opened: Folder, request: tuple[str, int, str], max_bytes: int, stop: Stop | None) -> Packed | None:
        """Answer a question with passages; None if its words take more memory than there is. Raises: CacheInvalid, IoError."""
        with self._packs:
            if self._packing is None and not self._packs_cold:
                self._packing = _count_for_packing(opened, self._listed, max_bytes - self.nbytes, stop)
                self._packs_cold = self._packing is None
                self.nbytes += self._packing.nbytes if self._packing else 0
            if self._packing is None:
                return None
        return self._packing.packed(opened, self._listed, request, stop)

    def sweep(self, count: int) -> None:
        """Look at the next few members for changes of which no event tells, such as a write through a second name."""
        with self._lock:
            if self._is_stale or self._stat_all:
                return
            numbers = range(self._next, min(self._next + count, len(self._listed.documents)))
            self._next = numbers.stop if numbers.stop < len(self._listed.documents) else 0
            try:
                with folder.open_cache(self._cache) as opened:
                    self._is_stale = change.identity(opened) != self._identity or not self._stamps_hold(opened, numbers)
                    self._read_young(opened)
            except (OSError, ContextError):
                self._is_stale = True

    def close(self) -> None:
        """Answer no more."""
        with self._lock:
            self._is_stale = True
            if self._watch:
                self._watch.close()
                self._watch = None

    def _differs(self, opened: Folder) -> bool:
        if change.identity(opened) != self._identity or (self._watch and self._watch.has_changed()):
            return True
        count = len(self._listed.documents)
        return (self._stat_all or count <= _FEW) and not self._stamps_hold(opened, range(count))

    def _stamps_hold(self, opened: Folder, numbers: range) -> bool:
        found = array("q")
        holder = opened.documents()
        start = len(DOCUMENTS) + 1
        for number in numbers:
            name = names.for_system(self._listed.documents[number].file[start:])
            found.extend(stamp(os.stat(name, dir_fd=holder, follow_symlinks=False)))
        return found == self._stamps[numbers.start * _WIDTH : numbers.stop * _WIDTH]

    def _read_young(self, opened: Folder) -> None:
        # Stamps as recent as these may hide a second change; read again once they are old, they can be trusted.
        now = time.time_ns()
        ready = [n for n in self._young if not change.is_young(self._stamp(n), now)][:_SWEEP_READS]
        for number in ready:
            opened.stamps = array("q")
            verify.content(opened, self._listed.documents[number])
            if opened.stamps != self._stamps[number * _WIDTH : (number + 1) * _WIDTH]:
                self._is_stale = True
        done = set(ready)
        self._young = [n for n in self._young if n not in done]

    def _stamp(self, number: int) -> array[int]:
        return self._stamps[number * _WIDTH : (number + 1) * _WIDTH]


def _load(cache: str | os.PathLike[str], opened: Folder, max_bytes: int, stop: Stop | None) -> _Resident | None:
    """Read and verify a cache; None if it is not to be held. Raises: CacheInvalid, IoError, what `stop` raises."""
    began = time.time_ns()
    watch = change.watch(opened)
    try:
        try:
            identity = change.identity(opened)
        except OSError:
            identity = None  # what is missing, the verification reports
        listed = verify.manifest(opened)
        # Folders in `documents/` are legal, but no build makes them: such a cache is not worth watching them for.
        is_flat = all(entry.file.count("/") == 1 for entry in listed.documents)
        if identity is None or not is_flat:
            return None
        opened.stamps = array("q")
        words = _count(opened, listed, max_bytes - _ENTRY_BYTES * len(listed.documents), stop)
        if words is None:
            return None
        stamps, opened.stamps = opened.stamps, None
        held, watch = watch, None
        return _Resident(cache, listed, words, identity, held, stamps, stat_all=opened.has_shared, verified_ns=began)
    finally:
        if watch:
            watch.close()


def _count(opened: Folder, listed: Manifest, room: int, stop: Stop | None) -> inverted.Inverted | None:
    """Verify the documents and count their words; None if that takes more memory than there is room for."""
    words = inverted.Inverted()
    for number, content in enumerate(verify.contents(opened, listed, stop=stop)):
        if content.size > _LARGEST_DOCUMENT or (number % 256 == 0 and words.nbytes > room):
            return None
        words.add(content.text, content.size)
    words.finish()
    heap.give_back()  # counting leaves holes that are worth a third of it
    return words if words.nbytes <= room else None


def _count_for_packing(opened: Folder, listed: Manifest, room: int, stop: Stop | None) -> Held | None:
    """Read the documents once more and count their words as `pack` does; None if that takes more memory than there is room for."""
    from smart_context.cache.pack.held import Held

    counted = Held()
    for number, content in enumerate(verify.contents(opened, listed, stop=stop)):
        if content.size > _LARGEST_DOCUMENT or (number % 256 == 0 and counted.nbytes > room):
            return None
        counted.add(content.entry.id, content.text, content.size)
    counted.finish()
    heap.give_back()  # counting leaves holes that are worth a third of it
    return counted if counted.nbytes <= room else None
