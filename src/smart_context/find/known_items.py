"""Known-item search: make queries from sentences and names of indexed files, and see whether each finds its file.

In: the record, folders, how many files.  Out: `Probe`s, and the `Outcome` of each.
Always: the same files give the same probes, in whatever folder they are; no probe has redacted text; every probe names the file that it was taken from.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from smart_context.access.roots import parsed, shown
from smart_context.engine.model import FileRow
from smart_context.engine.port import Record
from smart_context.find import safe
from smart_context.model import OnProgress, Progress, Segment
from smart_context.redact import Redactor
from smart_context.text import languages, words

WAYS = ("sentence", "rare words", "phrase", "name", "name, no ending")
FIRST = 5  # results that a person looks at
_SEED = "known items 1"
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=\s)|[。！？]|$)", re.MULTILINE)
_WORDS = range(6, 31)
_CHARACTERS = range(10, 61)  # of a sentence in a script without spaces
_SYNTAX = re.compile(r'["“”„()*:^~]|(?<!\w)-|\b(?:AND|OR|NOT|NEAR)\b')  # what the query language does not read as words
_PHRASE, _PHRASE_CHARACTERS = 5, 8

Ask = Callable[[str], Sequence[str]]
"""Runs a query; the first files found, best first, none twice."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A query made from a sentence or the name of a file (`held`), in one of `WAYS`; `path` is written as in answers."""

    way: str
    query: str
    path: str
    held: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The first files that a probe found; `twin`: whether the first of them is another file with the same sentence or name."""

    probe: Probe
    found: tuple[str, ...]
    twin: bool = False

    @property
    def rank(self) -> int:
        """The rank of the file that the probe was made from; 0 if it is not among the first."""
        return self.found.index(self.probe.path) + 1 if self.probe.path in self.found else 0


def probes(
    record: Record, folders: Sequence[str], redactor: Redactor, count: int, may_show: Callable[[str], bool]
) -> list[Probe]:
    """Make queries from a sentence and the name of each of `count` files."""
    below = {path: os.path.relpath(path, folder) for folder in folders for path in record.stamps(folder)}
    out: list[Probe] = []
    taken = 0
    for path in sorted(below, key=lambda path: (_drawn(below[path]), path)):
        file = record.file(path)
        if taken == count:
            break
        if file is None or file.state != "ok" or not may_show(shown(path)):
            continue
        made = list(_of_file(record, file, below[path], redactor))
        out += made
        taken += bool(made)
    return out


def run(asked: Sequence[Probe], ask: Ask, record: Record, redactor: Redactor, on_progress: OnProgress) -> list[Outcome]:
    """Run every probe."""
    out: list[Outcome] = []
    for number, probe in enumerate(asked):
        on_progress(Progress(number, len(asked), probe.query[:60]))
        found = tuple(ask(probe.query))[:FIRST]
        is_other = bool(found) and found[0] != probe.path
        out.append(Outcome(probe, found, is_other and _answers(record, redactor, found[0], probe)))
    return out


def _drawn(*parts: str) -> bytes:
    """A sort key that is as good as random, and the same on every run."""
    return hashlib.sha256("\0".join((_SEED, *parts)).encode("utf-8", "surrogateescape")).digest()


def _of_file(record: Record, file: FileRow, lot: str, redactor: Redactor) -> Iterator[Probe]:
    path = shown(file.path)
    sentence = _sentence(safe.segments(record, file, redactor), lot, redactor)
    if sentence:
        yield Probe("sentence", sentence, path, sentence)
        if (rare := _rare(sentence)) and rare != sentence:
            yield Probe("rare words", rare, path, sentence)
        yield Probe("phrase", f'"{_phrase(sentence)}"', path, sentence)
    name = os.path.basename(path)
    if redactor.clean(name) == name and not _SYNTAX.search(name):
        yield Probe("name", name, path, name)
        stem = os.path.splitext(name)[0]
        if stem != name and words.split(stem):
            yield Probe("name, no ending", stem, path, name)


def _sentence(segments: Sequence[Segment], lot: str, redactor: Redactor) -> str:
    """One sentence of a file without redacted text and query syntax; "" if there is none."""
    for segment in sorted(segments, key=lambda segment: _drawn(lot, str(segment.seq))):
        found = [" ".join(text.split()) for text in _open_sentences(segment)]
        for text in sorted(set(found), key=lambda text: _drawn(lot, text)):
            # Redaction may find something in the sentence alone that it does not find in the whole file.
            if _is_askable(text) and redactor.clean(text) == text:
                return text
    return ""


def _open_sentences(segment: Segment) -> Iterator[str]:
    for match in _SENTENCE.finditer(segment.text):
        if not any(start < match.end() and match.start() < end for start, end, _ in segment.hidden):
            yield match[0]


def _is_askable(text: str) -> bool:
    if _SYNTAX.search(text):
        return False
    return len(text) in _CHARACTERS if words.has_no_spaces(text) else len(words.split(text)) in _WORDS


def _rare(sentence: str) -> str:
    """A sentence without its stop words; "" in a script without spaces."""
    if words.has_no_spaces(sentence):
        return ""
    common = languages.stop_words(words.split(sentence))
    return " ".join(word for word in sentence.split() if not common.issuperset(words.split(word)))


def _phrase(sentence: str) -> str:
    """A few consecutive words from the middle of a sentence."""
    if words.has_no_spaces(sentence):
        start = max(0, (len(sentence) - _PHRASE_CHARACTERS) // 2)
        return sentence[start : start + _PHRASE_CHARACTERS]
    parts = sentence.split()
    start = max(0, (len(parts) - _PHRASE) // 2)
    return " ".join(parts[start : start + _PHRASE])


def _answers(record: Record, redactor: Redactor, path: str, probe: Probe) -> bool:
    """Whether another file has the same sentence, or the same name."""
    if probe.way.startswith("name"):
        return os.path.basename(path) == probe.held
    file = record.file(parsed(path))
    segments = safe.segments(record, file, redactor) if file else []
    return any(probe.held in " ".join(segment.text.split()) for segment in segments)
