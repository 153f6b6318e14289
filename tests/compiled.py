"""What is compiled, and the same in Python: a fast path is compared with the slow one by running both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


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
