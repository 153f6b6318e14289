"""Changes that no test noticed, after which the program does the same: each with the reason, found by reading it."""

from __future__ import annotations

EQUIVALENT: dict[str, str] = {
    "find/order.py: break  →  continue": "the tiers after the one that holds the last match are empty",
    "find/snippet.py: if upto > at:  →  if upto >= at:": "a word too long to be shown is taken off the count before it is put on it",
    'redact/codes.py: if not has_layout and shape.find(b"\\n", first, last) < 0 and not _SAID.search(low, max(0, first - 60), first):  →  '
    'if not has_layout and shape.find(b"\\n", first, last) < 0 and not _SAID.search(low, max(0, first - 61), first):': (
        "a word for a card, and what may stand between, have fewer characters than that"
    ),
    'redact/codes.py: if not has_layout and shape.find(b"\\n", first, last) < 0 and not _SAID.search(low, max(0, first - 60), first):  →  '
    'if not has_layout and shape.find(b"\\n", first, last) < 1 and not _SAID.search(low, max(0, first - 60), first):': (
        "digits come first: no line ends at the beginning of the text"
    ),
    "redact/tokens.py: _MIN_BARE = 32  →  _MIN_BARE = 31": "the pattern of such a string has the same bound",
    "access/tokens.py: and time.monotonic() - self._looked > _FRESH  →  and time.monotonic() - self._looked >= _FRESH": (
        "the two differ at one moment of the clock"
    ),
    'access/rates.py: hint=f"try again in {max(1, round(wait + 0.5))} seconds",  →  '
    'hint=f"try again in {max( 0, round(wait + 0.5))} seconds",': "a wait is more than nothing, and is rounded up to a second",
    'access/audit_check.py: return 0, ""  →  return 1, ""': "without an anchor its number is not looked at",
    "redact/look.py: _MIN_DIGITS = 6  # of a telephone number, the shortest of all  →  "
    "_MIN_DIGITS = 5  # of a telephone number, the shortest of all": "what has fewer digits than a number is judged, and is none",
    "redact/phones.py: if not has_grouped and _DAY.fullmatch(text, first, last):  →  "
    "if not not has_grouped and _DAY.fullmatch(text, first, last):": "a day is no number either way, which takes longer to find out",
    "redact/mail.py: break  →  continue": "what comes later begins later still: each is passed over, which takes longer",
    "redact/view.py: if len(folded) > _FEW:  →  if len(folded) >= _FEW:": "both ways fold alike; the bound says which is quicker",
    "cache/resident.py: while not lock.acquire(timeout=0.1):  →  while not lock.acquire(timeout= 1.1):": (
        "a call that is stopped while it waits notices so a second later"
    ),
    "cache/resident.py: _LARGEST_DOCUMENT = (  →  _LARGEST_DOCUMENT = ( 7 * 1024 * 1024": (
        "a cache with a larger document is not held in memory, and answers the same"
    ),
    "cache/resident.py: self, cache: str | os.PathLike[str], query: str, budget: int, *, stop: Stop | None = None  →  "
    "self, cache: str | os.PathLike[str], query: str, budget: int, /, stop: Stop | None = None": (
        "the star stops an author; every caller names `stop` and no other"
    ),
    "cache/build.py: class BuildOptions(TypedDict, total=False):  →  class BuildOptions(TypedDict, total=True):": "only the type checker reads it",
    "cache/folder.py: _WHOLE = 8 * 1024 * 1024  # larger members are read piece by piece  →  "
    "_WHOLE = 8 * 1024 // 1024  # larger members are read piece by piece": "at once or piece by piece, the same bytes are read",
    'cache/inspect.py: version, count, complete, total = "", 0, False, None  →  version, count, complete, total = "", 0, True, None': (
        "without a total a cache is told as not valid, complete or not"
    ),
    "cache/folder.py: _PIECE = 1024 * 1024  →  _PIECE = 1024 * 1025": "bytes that are read at a time, until all are",
    "cache/change.py: _MASK = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x01000000  →  "
    "_MASK = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 ^ 0x01000000": "bits of which each stands once",
}
