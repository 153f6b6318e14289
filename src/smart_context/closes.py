"""A base class for what is closed at the end of a `with` block.

Always: `with thing` gives the thing itself and closes it, whatever happens in between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType


class Closes(ABC):
    """A base for what owns files, processes or connections until `close`."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Release what is owned."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
