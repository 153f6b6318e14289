"""Count tokens, by a named rule.

In: text.  Out: how many tokens it has.
Always: `bytes4`, the default, is that of `resolve`: a token for every four bytes begun.
"""

from __future__ import annotations

from collections.abc import Callable

from smart_context.errors import UsageError

DEFAULT = "bytes4"
Count = Callable[[str], int]


def counting(name: str) -> Count:
    """Return the rule of this name. Raises: UsageError."""
    if name == DEFAULT:
        return _bytes4
    try:
        import tiktoken  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise UsageError(
            f"cannot count tokens by {name!r}",
            reason="only bytes4 is built in; others need the package tiktoken",
            hint="pip install tiktoken",
        ) from None
    try:
        encoding = tiktoken.get_encoding(name)
    except (ValueError, OSError) as error:
        raise UsageError(f"cannot count tokens by {name!r}", reason=str(error).splitlines()[0]) from error
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def _bytes4(text: str) -> int:
    return (len(text.encode()) + 3) // 4
