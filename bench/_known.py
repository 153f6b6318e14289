"""Known items of a folder: queries whose answer is known because they were taken from its files.

In: a folder, a number, a seed.  Out: groups of `Item`, each a query with the file it came from and a way to tell whether another file answers as well.
Always: they depend on the files' bytes and the seed alone, never on an index, so that two versions of the program are asked the same. Texts are read here
by means of their own, crude ones: HTML without its tags, manual pages without fonts, packed files unpacked, everything else as it is. Of a PDF, an EPUB, a document of an office program or a
large file, from which nothing is taken, it is only seen whether it answers. Nothing is taken from an e-mail address, which is hidden.
"""

from __future__ import annotations

import gzip
import html
import operator
import random
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]  # no types

IDENTIFIERS = {
    "snake_case": r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+",
    "camelCase": r"[a-z]+(?:[A-Z][a-z0-9]+)+",
    "dotted.name": r"[a-z_]+(?:\.[a-z_]{2,})+",
    "dashed-name": r"[a-z]+(?:-[a-z]+)+",
    "--option": r"--[a-z]+(?:-[a-z]+)*",
    "UPPER": r"[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+",
    "version": r"\d{1,2}\.\d{1,2}\.\d{1,2}",
    "number": r"\d{1,3}(?:,\d{3})+(?:\.\d+)?",
    "hex": r"0x[0-9a-f]{4,16}|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}",
    "path::like": r"[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)+",
}
GROUPS = ("sentence", "14 words", "name", "identifier", "words", "heading", "Chinese", "Japanese")

_READ_FROM = frozenset({".html", ".htm", ".txt", ".rst", ".md", ".pod", ".py", ".c", ".h", ".cpp", ".hpp"})
_PROSE = frozenset({".html", ".htm", ".txt", ".rst", ".md"})
_PAGES = frozenset({".html", ".htm"})
_PACKED = frozenset({".docx", ".pptx", ".xlsx", ".odt", ".odp", ".ods"})
_COMPOUND = frozenset({".doc", ".ppt", ".xls", ".msg"})
_LARGEST = 3_000_000  # bytes of a text that something is taken from,
_ANSWERING = 100_000_000  # and of one that may answer
_HIDDEN = re.compile(r"(?is)<(script|style|head|nav)\b.*?</\1\s*>|<!--.*?-->")
_INLINE = re.compile(r"(?i)</?(?:a|abbr|b|cite|code|dfn|em|i|kbd|q|samp|small|span|strong|sub|sup|tt|u|var)\b[^>]*>")
_SECTION = re.compile(r"\.s[hs] +\"?([a-z ]+)")  # of a manual page, in small letters
_MARKS = re.compile(r"\\f(?:\[\w*\]|\(\w\w|\w)|\\[&,/]")  # fonts and the like in a manual page
_PLAIN_SENTENCE = re.compile(r"[A-Z][a-z]*(?:,? [A-Za-z][a-z]*(?:['-][a-z]+)?)+")
_HAN_SENTENCE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff、，]{12,40}")
_WORD = re.compile(r"(?<![\w@])[a-z]{5,}(?![\w@])")
_HEADING = re.compile(r"(?is)<h([1-4])\b[^>]*>(.*?)</h\1\s*>")
_NUMBERED = re.compile(r"^(?:(?:chapter|part|appendix) )?(?:[0-9]+|[a-z](?=\.))(?:\.[0-9]+)*[.:)]?\s+")
_PLAIN_HEADING = re.compile(r"[a-z]{2,}(?: [a-z]{2,}){1,3}")
_KANA = re.compile(r"[\u3040-\u30ff]")


@dataclass(frozen=True, slots=True)
class Item:
    """A query. `answers`: whether a file's path and text are an answer to it, be it the one it was taken from or another."""

    group: str
    shape: str
    query: str
    path: str
    answers: Callable[[Path], bool]


def items(folder: Path, number: int, seed: int, among: Callable[[str], bool] | None = None) -> list[Item]:
    """About `number` known items of each group; fewer where a folder has no more.

    `among`: whether they may be taken from a file, by its path below the folder. Names are those that one file of the whole folder has all the same.
    """
    every = shown_files(folder)
    files = [p for p in every if among(p.relative_to(folder).as_posix())] if among else every
    found = [*_sentences(files, number, seed), *_identifiers(files, number * 5 // 6 // len(IDENTIFIERS) or 1, seed)]
    found += [*_names(folder, files, every, number, seed), *_words(files, number, seed)]
    found += [*_headings(files, number, seed), *_without_spaces(files, number, seed)]
    found = [replace(item, path=Path(item.path).relative_to(folder).as_posix()) for item in found]
    return sorted(found, key=lambda item: GROUPS.index(item.group))


def shown_files(folder: Path) -> list[Path]:
    """A folder's files in order, without links and without hidden ones, which are not indexed unless one asks for it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


# Texts


@lru_cache(maxsize=512)
def text_of(path: Path, largest: int = _LARGEST) -> str:
    """A file's text, a line a block. Empty where it is too large or no text."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return ""
    if _kind(path) == ".pdf":
        return _of_pages(data)
    if path.suffix == ".epub" or (path.suffix in _PACKED and largest == _ANSWERING):
        return _of_book(path)
    if path.suffix in _COMPOUND and largest == _ANSWERING:
        # Letters of one byte, or of two that begin at an even place or at an odd one.
        return "\n".join((data.decode("latin-1"), *(data[at:].decode("utf-16-le", "replace") for at in (0, 1))))
    if len(data) > largest or b"\0" in data[:1000]:
        return ""
    text = data.decode("utf-8", "replace")
    if _kind(path) in {".html", ".htm"}:
        return _without_tags(text)
    if text.startswith((".", "'")) and re.search(r"(?m)^\.(?:TH|Dd) ", text):
        text = _MARKS.sub("", text).replace(r"\-", "-")  # a manual page
    blocks = re.split(r"\n\s*\n", text)
    return "\n".join(" ".join(block.split()) for block in blocks)


def _without_tags(text: str) -> str:
    plain = _INLINE.sub("", _HIDDEN.sub("\n", " ".join(text.split())))
    return html.unescape(re.sub(r"<[^>]*>", "\n", plain))


def _of_pages(data: bytes) -> str:
    try:
        pages = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        return ""
    return "\n".join(" ".join(page.get_textpage().get_text_bounded().split()) for page in pages)


def _of_book(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as book:
            pages = [book.read(name) for name in book.namelist() if name.endswith(("html", ".htm", ".xml"))]
    except (OSError, zipfile.BadZipFile):
        return ""
    return "\n".join(_without_tags(page.decode("utf-8", "replace")) for page in pages)


def _kind(path: Path) -> str:
    return (Path(path.stem) if path.suffix == ".gz" else path).suffix.lower()


def _has_sentence(sentence: str, path: Path) -> bool:
    """Whether a file has its words one after the other, wherever lines end and whatever marks stand between them: a page and its source differ in these."""
    return re.sub(r"[\W_]+", "", sentence) in re.sub(r"[\W_]+", "", text_of(path, _ANSWERING))


def _drawn(files: Iterable[Path], seed: int, kinds: frozenset[str]) -> Iterator[tuple[Path, random.Random]]:
    """Files in an order of chance, each with dice of its own."""
    order = [path for path in files if _kind(path) in kinds]
    random.Random(seed).shuffle(order)
    return ((path, random.Random(f"{seed} {number}")) for number, path in enumerate(order))


# Groups


def _sentences(files: list[Path], number: int, seed: int) -> Iterator[Item]:
    """Whole sentences of 8-14 words, and 14 words in a row of longer ones; one a file."""
    wanted = {"sentence": number, "14 words": number}
    for path, dice in _drawn(files, seed, _PROSE):
        group = max(wanted, key=lambda name: wanted[name])
        if not wanted[group]:
            return
        sentences = [s.rstrip(".") for line in text_of(path).splitlines() for s in re.split(r"(?<=\.)\s+", line)]
        plain = [s.split() for s in sentences if _PLAIN_SENTENCE.fullmatch(s)]
        right = [w for w in plain if (len(w) > 14 if group == "14 words" else 8 <= len(w) <= 14) and len(_long(w)) >= 4]
        if right:
            words = dice.choice(right)
            start = dice.randrange(len(words) - 13) if group == "14 words" else 0
            sentence = " ".join(words[start : start + 14])
            wanted[group] -= 1
            yield Item(group, group, sentence, str(path), partial(_has_sentence, sentence))


def _long(words: Iterable[str]) -> set[str]:
    return {word for word in words if len(word) >= 5}


def _words(files: list[Path], number: int, seed: int) -> Iterator[Item]:
    """Two or three words that stand near one another; a file that has all of them answers."""
    for path, dice in _drawn(files, seed + 1, _PROSE):
        if number <= 0:
            return
        text = text_of(path)
        start = dice.randrange(max(len(text) - 600, 1))
        end = text.find(" ", start + 600)
        near = sorted(set(_WORD.findall(text, start, end if end > 0 else len(text))))
        if len(near) >= 10:
            count = 2 + number % 2
            words = dice.sample(near, count)
            number -= 1
            yield Item("words", f"{count} words", " ".join(words), str(path), partial(_has_all, words))


def _has_all(words: list[str], path: Path) -> bool:
    """By the words' first letters, so that another form of a word will do."""
    text = text_of(path, _ANSWERING).lower()
    return all(word[: max(5, len(word) - 3)] in text for word in words)


def _headings(files: list[Path], number: int, seed: int) -> Iterator[Item]:
    """Headings of pages, of two to four words, in small letters; a file that has the same heading answers, a manual page's too, or a line that is no more."""
    for path, dice in _drawn(files, seed + 2, _PAGES):
        if number <= 0:
            return
        plain = sorted(heading for heading in _headings_of(path) if _PLAIN_HEADING.fullmatch(heading))
        if plain:
            heading = dice.choice(plain)
            number -= 1
            yield Item("heading", "heading", heading, str(path), partial(_has_heading, heading))


@lru_cache(maxsize=512)
def _headings_of(path: Path) -> frozenset[str]:
    text = path.read_bytes().decode("utf-8", "replace") if _kind(path) in _PAGES and path.suffix != ".gz" else ""
    found = (html.unescape(re.sub(r"<[^>]*>", "", inner)) for _, inner in _HEADING.findall(text))
    return frozenset(" ".join(_NUMBERED.sub("", one.replace("¶", " ").lower().strip()).split()) for one in found)


def _has_heading(heading: str, path: Path) -> bool:
    if heading in _headings_of(path):
        return True
    text = text_of(path, _ANSWERING).lower()
    lines = (re.findall(r"[a-z]+", line) for line in text.splitlines())
    return heading.split() in lines or heading in (found.strip() for found in _SECTION.findall(text))


def _identifiers(files: list[Path], each: int, seed: int) -> Iterator[Item]:
    """Identifiers of ten shapes; a file that has the whole one answers, or is called so."""
    for kind, (shape, pattern) in enumerate(IDENTIFIERS.items()):
        whole = re.compile(rf"(?<![\w.:/,@-])(?:{pattern})(?![\w:/@-]|[.,]\w)")
        left = each
        for path, dice in _drawn(files, seed + 100 + kind, _READ_FROM):
            if not left:
                break
            if found := sorted(set(whole.findall(text_of(path)))):
                name = dice.choice(found)
                left -= 1
                # Case counts where a capital was typed.
                exact = re.compile(rf"(?<![\w-]){re.escape(name)}(?!\w)", re.IGNORECASE if name.islower() else 0)
                yield Item("identifier", shape, name, str(path), partial(_has_match, exact))


def _has_match(exact: re.Pattern[str], path: Path) -> bool:
    return exact.search(f"{path.name}\n{text_of(path, _ANSWERING)}") is not None


def _names(folder: Path, files: list[Path], every: list[Path], number: int, seed: int) -> Iterator[Item]:
    """Names that one file of all has: as they are, without extension, and with the folder before them."""
    whole = Counter(p.name for p in every)
    bare = Counter(
        name for p in every for name in {_bare(p), p.stem}
    )  # `a.rst.gz` is called `a.rst` as well as `a.rst.txt` is
    shapes = ("name.ext", "name", "folder/name.ext")
    for path, _dice in _drawn(files, seed + 3, frozenset(_kind(p) for p in files)):
        if number <= 0:
            return
        shape = shapes[number % 3]
        telling = re.search(r"[a-z]{3}", path.name) and re.fullmatch(r"[\w.+-]+", path.name)
        if not telling or path.parent == folder or not text_of(path).strip():
            continue
        if shape == "name" and (bare[_bare(path)] > 1 or not re.search(r"[_\d-]", _bare(path))):
            continue
        if shape != "name" and whole[path.name] > 1:
            continue
        number -= 1
        query = {"name.ext": path.name, "name": _bare(path)}.get(shape, f"{path.parent.name}/{path.name}")
        yield Item("name", shape, query, str(path), partial(operator.eq, path))


def _bare(path: Path) -> str:
    return Path(path.stem).stem if path.suffix == ".gz" else path.stem


def _without_spaces(files: list[Path], number: int, seed: int) -> Iterator[Item]:
    """Chinese and Japanese sentences, told apart by whether the file has kana."""
    left = {"Chinese": number // 2, "Japanese": number // 2}
    for path, dice in _drawn(files, seed + 4, _PROSE):
        if not any(left.values()):
            return
        if not re.search(r"ja|zh", str(path)):
            continue
        text = text_of(path)
        group = "Japanese" if _KANA.search(text) else "Chinese"
        found = _HAN_SENTENCE.findall(text) if left[group] else []
        if found:
            sentence = dice.choice(found)
            left[group] -= 1
            yield Item(group, group, sentence, str(path), partial(_has_sentence, sentence))
