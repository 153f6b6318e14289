"""Parse a query into a tree.

In: any text.  Out: a `Query`, or None if there is nothing to look for.
Always: no text is an error; what cannot be read as an operator is read as words. Work and depth are bounded.

    budget plan            some of the words, the more the better
    "annual report"        the words one after the other
    -draft   NOT draft     without; --force and ls -la are options of a program, and words; so is what follows an article or "with"
    a AND b   a OR b       both, either; AND binds tighter, words side by side bind tightest
    a NEAR/5 b             at most five words between them, either way round (NEAR alone: ten)
    contract*              any word that begins so
    ( … )                  grouping
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from smart_context import later
from smart_context.data import dataclass
from smart_context.text.words import has_no_spaces, units

MAX_WORDS = 300  # more are left out: nobody means them, and they must not cost time
MAX_DEPTH = 12
PROSE = 6  # words side by side that make a sentence
_CAPITALS = 7  # words and operators, all in capitals, that make one
_NEAR = 10
_MAX_NEAR = 100


@dataclass(frozen=True, slots=True)
class Word:
    """A word as typed; it may be several after analysis (`ISO-27001`)."""

    text: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of a word."""

    text: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in this order, nothing between them."""

    text: str


@dataclass(frozen=True, slots=True)
class Near:
    """Two things with at most `distance` words between them."""

    left: Query
    right: Query
    distance: int


@dataclass(frozen=True, slots=True)
class And:
    """All of these."""

    items: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of these."""

    items: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Anything but this."""

    item: Query


@dataclass(frozen=True, slots=True)
class Some:
    """Items side by side: words are optional, the more the better; groups and exclusions are required, and so are phrases,
    except in prose, where quotation marks are only punctuation."""

    items: tuple[Query, ...]

    @property
    def is_prose(self) -> bool:
        """Whether this is a sentence rather than a few words. A single word in quotation marks is one of its words: `relation "foo" does not exist`."""
        words = [item.text for item in self.items if isinstance(item, Word)]
        quoted = [item.text for item in self.items if isinstance(item, Phrase) and len(item.text.split()) == 1]
        return bool(words) and sum(map(_words, (*words, *quoted))) >= PROSE


def _words(text: str) -> int:
    """How many words a token is: in a script without spaces, as many as its pairs of characters."""
    return 1 if text.isascii() or not has_no_spaces(text) else max(1, len(units(text)))


Query = Word | Prefix | Phrase | Near | And | Or | Not | Some

_TOKEN = re.compile(
    r"""
    (?P<quote>-?["“”„«»][^"“”„«»]*["“”„«»])
  | (?P<open>-?\()
  | (?P<close>\))
  | (?P<word>[^\s()"“”„«»]+)
    """,
    re.VERBOSE,
)
_CLOSING = frozenset(')"“”«»')
_NEAR_TOKEN = re.compile(r"NEAR(?:/([0-9]{1,6}))?")
_LETTER = re.compile(r"\w")
_JOINS = frozenset(["und", "oder", "bzw", "sowie", "en", "och", "og", "eller"])  # before half a compound, as in German
_OPTION = re.compile(r"--\w.*|-\w[\w-]*=.+")  # options of programs (`-march=native`): words, not exclusions
_SHORT_OPTION = later.pattern(r"-[\w+].*")  # so is this, after a program's name


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Programs whose name is no word of a language: after them, a token that begins with a dash is an option.
_PROGRAMS = _set("""
    7z adb ansible apk apt apt-get awk bash bzip2 cd chgrp chmod chown clang cmake cp crontab curl df dig dmesg docker docker-compose dpkg du
    dnf egrep ffmpeg ffprobe fgrep gcc gdb gh git gpg grep gunzip gzip htop hg ifconfig iptables journalctl jq kubectl ldd ln ls lsblk lsof
    ltrace mkdir mkfs mv mvn mysql mysqldump nc netstat nginx nmap npm npx objdump openssl pgrep php pip pip3 pipx pkill pnpm podman ps psql
    pytest python3 rg rm rmdir rsync rustc scp sed sftp sqlite3 ssh ssh-keygen strace sudo svn systemctl tar tcpdump telnet terraform tmux
    traceroute umount uname uniq unzip useradd usermod uv uvx vim wc wget xargs xz yum zsh zstd
""")
# Programs whose name is a word as well: after them, an option is one letter, or one of `_THEIR_OPTIONS`.
_PROGRAMS_AND_WORDS = _set("""
    brew cargo cat conda cut date dd diff echo env find free go head helm history id install ip java javac kill last less make man more mount
    nano ninja node patch perl ping python ruby screen seq sh sort split stat su tail tee time top touch tr tree vi watch which who yarn zip
""")
_THEIR_OPTIONS = later.pattern(
    r"-(?:\w[0-9]*|cp|classpath|exec|iname|jar|maxdepth|mtime|name|newer|print0?|size|type|version)"
)
_FAR = 12  # tokens before an option among which its program is looked for
_BEHIND = 2  # words that may be between a program and its options, not counting other options
# Words that need another one after them: what follows is no exclusion, whatever it begins with (`built with -msse`).
_LEADS = _set("""
    an the with without using via than option options flag flags switch argument arguments
    der die das den dem des ein eine einen einem einer mit ohne option optionen schalter
    le les un une avec sans el los con sin
""")
# Before a number, these too: `returns -1`.
_VALUED = _LEADS | _set("""
    a is are was were be to of from by at below above under over about around between equals minus
    return returns returned returning value values code codes error errno status offset temperature
    ist sind war von auf bei unter über wert fehler gibt temperatur
""")
_NUMBER = later.pattern(r"-[0-9]+(?:[.,:][0-9]+)*%?[.,:;!?]?")
# Errors of the system, as code and manuals have them: `return -EAGAIN`
_ERRORS = _set("""
    E2BIG EACCES EADDRINUSE EAGAIN EALREADY EBADF EBUSY ECANCELED ECHILD ECONNREFUSED ECONNRESET EDEADLK EDOM EEXIST EFAULT EFBIG EINPROGRESS EINTR
    EINVAL EIO EISDIR ELOOP EMFILE EMLINK ENAMETOOLONG ENFILE ENOBUFS ENODATA ENODEV ENOENT ENOEXEC ENOMEM ENOSPC ENOSYS ENOTDIR ENOTEMPTY ENOTSUPP
    ENOTTY ENXIO EOPNOTSUPP EOVERFLOW EPERM EPIPE EPROBE_DEFER EPROTO ERANGE EROFS ESPIPE ESRCH ETIMEDOUT EWOULDBLOCK EXDEV
""")
_MARKS = frozenset(",;:=<>|")  # behind these, a number is negative: `0 on success, -1 on error`
_NAMED_BEFORE = _set("option flag switch argument")  # `the program's -rgba option`
_YEAR = later.pattern(r"-(?:19|20)[0-9]{2}[.,:;!?]?")
_SURELY_NUMBER = later.pattern(r"-(?:0[0-9]*|[0-9]+[.,][0-9]+%?)[.,:;!?]?")  # an offset (`-0700`), or with a fraction
_OPERATORS = frozenset({"AND", "OR", "NOT"})
# After these, NOT is only emphasised ("clients MUST NOT retry"); before the others, it is one of SQL.
_AUXILIARY = _set(
    "am are be been being can could did do does had has have is may might must shall should was were will would"
)
_OF_SQL = _set("BETWEEN EXISTS GLOB ILIKE IN LIKE MATCHED NULL REGEXP RLIKE SIMILAR VALID")


def parse(text: str, *, is_text: bool = False) -> Query | None:
    """Read a query; None where it holds no word. is_text: nothing in it is an operator."""
    tokens = [_Token("word", each) for each in text.split()[: 4 * MAX_WORDS]] if is_text else _tokens(text)
    items: list[Query] = []
    reader = _Reader(tokens, is_text=is_text)
    while reader.place < len(tokens):
        found = reader.either(0)
        if found is not None:
            items.append(found)
        if reader.place < len(tokens):
            reader.place += 1  # a closing bracket that nothing opened
    return _joined(items, Some)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def excluded(tree: Query | None) -> tuple[str, ...]:
    """What a query excludes, as it was typed."""
    match tree:
        case Not(item):
            return tuple(_leaves(item))
        case And(items) | Or(items) | Some(items):
            return tuple(text for item in items for text in excluded(item))
    return ()


def _leaves(tree: Query) -> Iterator[str]:
    match tree:
        case Word(text) | Prefix(text) | Phrase(text):
            yield text
        case Near(left, right):
            yield from (*_leaves(left), *_leaves(right))
        case And(items) | Or(items) | Some(items):
            for item in items:
                yield from _leaves(item)


def without_phrases(tree: Query, nowhere: Set[str]) -> Query:
    """The same, with the words of those phrases that stand nowhere, if there are other words to look for or a phrase is as long as a sentence.

    nowhere: phrases, in quotation marks."""
    items = tree.items if isinstance(tree, Some) else (tree,)
    is_among = any(isinstance(item, Word | Prefix) for item in items)
    found: list[Query] = []
    for item in items:
        words = item.text.split() if isinstance(item, Phrase) and f'"{item.text}"' in nowhere else []
        found += map(Word, words) if words and (is_among or len(words) >= PROSE) else [item]
    return tree if found == list(items) else Some(tuple(found))


def is_plain(tree: Query) -> bool:
    """Whether a query is words and nothing else."""
    return isinstance(tree, Some) and all(isinstance(item, Word) for item in tree.items)


def _tokens(text: str) -> list[_Token]:
    out: list[_Token] = []
    for found in _TOKEN.finditer(text):
        if len(out) >= 4 * MAX_WORDS:
            break
        # A dash after a closing mark joins, as in »Hallo Welt«-Programm.
        is_joined = found[0].startswith("-") and text[max(0, found.start() - 1)] in _CLOSING
        if token := found[0].lstrip("-") if is_joined else found[0]:
            out.append(_Token(str(found.lastgroup), token))
    return out


class _Reader:
    """Reads tokens from left to right; each method reads one level of the grammar."""

    def __init__(self, tokens: list[_Token], *, is_text: bool) -> None:
        self._tokens = tokens
        self._is_text = is_text
        self._has_operators = not (is_text or _is_in_capitals(tokens))
        self.place = 0
        self._words = 0

    def either(self, depth: int) -> Query | None:
        items = [self._both(depth)]
        while self._operator("OR"):
            self.place += 1
            items.append(self._both(depth))
        return _joined(items, Or)

    def _both(self, depth: int) -> Query | None:
        items = [self._side_by_side(depth)]
        while self._operator("AND"):
            self.place += 1
            items.append(self._side_by_side(depth))
        return _joined(items, And)

    def _side_by_side(self, depth: int) -> Query | None:
        items: list[Query | None] = []
        while self.place < len(self._tokens) and self._tokens[self.place].kind != "close":
            if items and (self._operator("AND") or self._operator("OR")):
                break
            items.append(self._near(depth))
        return _joined(items, Some)

    def _near(self, depth: int) -> Query | None:
        left = self._one(depth)
        links = 0
        while links < MAX_DEPTH and (distance := self._near_distance()) is not None:
            self.place += 1
            links += 1
            right = self._one(depth)
            left = Near(left, right, distance) if left and right else left or right
        return left

    def _one(self, depth: int) -> Query | None:
        token = self._tokens[self.place]
        self.place += 1
        if token.kind == "open":
            inner = self._bracket(depth)
            return Not(inner) if inner and token.text.startswith("-") else inner
        if token.kind == "close":
            return None
        if token.kind == "word" and token.text == "NOT" and self._follows() and self._excludes():
            item = self._one(depth + 1) if depth < MAX_DEPTH else None
            return Not(item) if item else None
        return self._leaf(token)

    def _bracket(self, depth: int) -> Query | None:
        if depth >= MAX_DEPTH:
            return None  # too deep: the words inside are read without the bracket
        inner = self.either(depth + 1)
        if self.place < len(self._tokens):
            self.place += 1  # the closing bracket
        return inner

    def _leaf(self, token: _Token) -> Query | None:
        has_dash = token.text.startswith("-") and not (
            self._is_text or _OPTION.fullmatch(token.text) or self._is_option(token) or self._is_led(token)
        )
        text = token.text.lstrip("-") if has_dash else token.text
        excluded = has_dash and not (self.place > 1 and self._tokens[self.place - 2].text in _JOINS)
        if not _LETTER.search(text) or self._words >= MAX_WORDS:
            return None
        self._words += 1
        leaf: Query
        if token.kind == "quote":
            leaf = Phrase(text[1:-1].strip())
        elif text.endswith("*") and _LETTER.search(text[-2]) and not self._is_text:
            leaf = Prefix(text.rstrip("*"))
        else:
            leaf = Word(text)
        return Not(leaf) if excluded else leaf

    def _is_option(self, token: _Token) -> bool:
        """Whether this token, the last one read, is the option of a program before it: `ls -la`, `git commit -m`."""
        if token.kind != "word" or not _SHORT_OPTION.fullmatch(token.text):
            return False
        between = 0
        for before in self._tokens[max(0, self.place - 1 - _FAR) : self.place - 1][::-1]:
            if before.kind != "word" or between > _BEHIND:
                return False
            if before.text in _PROGRAMS:
                return True
            if before.text in _PROGRAMS_AND_WORDS:
                return _THEIR_OPTIONS.fullmatch(token.text) is not None
            between += not before.text.startswith("-")
        return False

    def _is_led(self, token: _Token) -> bool:
        """Whether a word or number with a dash, the last token read, goes on with a sentence: `with -O2 -msse`, `is -40`, `14:03 -0700`."""
        if token.kind != "word":
            return False
        before = self._tokens[max(0, self.place - 1 - _FAR) : self.place - 1][::-1]
        # Of several options in a row, what stands before the first leads to all of them.
        leading = next((each for each in before if each.kind != "word" or not each.text.startswith("-")), None)
        said = leading.text.lower() if leading and leading.kind == "word" else ""
        if said in _LEADS or self._next() in _NAMED_BEFORE:
            return True
        if token.text.strip("-.,:;!?") in _ERRORS or _SURELY_NUMBER.fullmatch(token.text):
            return True
        if not _NUMBER.fullmatch(token.text):
            return False
        is_number = self.place == 1 or said in _VALUED or said[-1:] in _MARKS
        return is_number and not _YEAR.fullmatch(token.text)

    def _next(self) -> str:
        return self._tokens[self.place].text.lower() if self.place < len(self._tokens) else ""

    def _excludes(self) -> bool:
        """Whether a NOT, the last token read, is an operator rather than a word of a text that was copied: `MUST NOT`, `IS NOT NULL`."""
        before = self._tokens[self.place - 2].text.lower() if self.place > 1 else ""
        return self._has_operators and before not in _AUXILIARY and self._tokens[self.place].text not in _OF_SQL

    def _operator(self, name: str) -> bool:
        """Whether this operator is the next token and has a right operand; the caller has read the left one."""
        here = self.place < len(self._tokens) and self._tokens[self.place] == _Token("word", name)
        return here and self._follows(1) and self._has_operators

    def _near_distance(self) -> int | None:
        if not self._follows(1) or not self._has_operators:
            return None
        found = _NEAR_TOKEN.fullmatch(self._tokens[self.place].text)
        return min(int(found[1] or _NEAR), _MAX_NEAR) if found else None

    def _follows(self, ahead: int = 0) -> bool:
        place = self.place + ahead
        return place < len(self._tokens) and self._tokens[place].kind != "close"


def _is_in_capitals(tokens: list[_Token]) -> bool:
    """Whether a text is all in capitals, as in a licence: these do not tell operators from words then."""
    if not any(token.text in _OPERATORS for token in tokens):
        return False
    text = " ".join(token.text for token in tokens)
    return text == text.upper() and sum(bool(_LETTER.search(token.text)) for token in tokens) >= _CAPITALS


def _joined(items: list[Query | None] | list[Query], kind: type[And] | type[Or] | type[Some]) -> Query | None:
    found = tuple(item for item in items if item is not None)
    if not found:
        return None
    if kind is Some:
        # Brackets around plain words, as in prose (such as these), change nothing.
        found = tuple(part for item in found for part in (item.items if isinstance(item, Some) else (item,)))
    if len(found) == 1 and not (kind is Some and isinstance(found[0], Not)):
        return found[0]
    return kind(found)
