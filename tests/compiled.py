"""What is compiled, and the same in Python: a fast path is compared with the slow one by running both."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def _is_one_of_many(char: str) -> bool:
    """Whether thousands beside it are like it: what means nothing, and ideographs and syllables of large scripts that stand for themselves."""
    kind = unicodedata.category(char)
    is_large = "\u3400" <= char <= "\ud7a3" or char >= "\U00017000"
    return kind in {"Cn", "Co", "Cs"} or (kind == "Lo" and is_large and not unicodedata.decomposition(char))


@cache
def characters() -> list[str]:
    """Every character, but of those that are alike one in sixty."""
    return [char for char in map(chr, range(sys.maxunicode + 1)) if ord(char) % 61 == 0 or not _is_one_of_many(char)]


@contextmanager
def in_python(*modules: ModuleType) -> Iterator[None]:
    """Do without what is compiled of these modules, as where there was no compiler."""
    kept = [module.compiled for module in modules]
    for module in modules:
        module.compiled = None
    try:
        yield
    finally:
        for module, one in zip(modules, kept, strict=True):
            module.compiled = one


def both(work: Callable[[], T], *modules: ModuleType) -> tuple[T, T]:
    """What some work gives as it is compiled, and what it gives in Python."""
    quickly = work()
    with in_python(*modules):
        return quickly, work()
