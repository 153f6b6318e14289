"""Count tokens, by a named rule.

In: text.  Out: how many tokens it has.
Always: `bytes4`, the default, is that of `resolve`: a token for every four bytes begun. The others come with their tables in a package
of the extra `[tokens]`: nothing is ever fetched.
"""

from __future__ import annotations

from collections.abc import Callable

from smart_context.errors import UsageError

DEFAULT = "bytes4"
_ENCODINGS = {"o200k": "o200k_base", "cl100k": "cl100k_base"}
NAMES = (DEFAULT, *_ENCODINGS)
Count = Callable[[str], int]


def counting(name: str) -> Count:
    """Return the rule of this name. Raises: UsageError."""
    if name == DEFAULT:
        return _bytes4
    known = _ENCODINGS.get(name.removesuffix("_base"))
    if known is None:
        raise UsageError(f"cannot count tokens by {name!r}", hint=f"choose one of {', '.join(NAMES)}")
    try:
        from rs_bpe import bpe
    except ImportError:
        raise UsageError(
            f"cannot count tokens by {name!r}",
            reason="its tables are not installed",
            hint="install the extra [tokens], or count by bytes4",
        ) from None
    encoding = getattr(bpe.openai, known)()
    return lambda text: len(encoding.encode(text))


def _bytes4(text: str) -> int:
    return (len(text.encode()) + 3) // 4
