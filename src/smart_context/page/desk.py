"""The interface between the page and its server: who calls, and how to call a verb.

In: a request's scope.  Out: a caller, and the results of verbs.
Always: every verb runs under the caller's permissions, within its rate and its time, and is audited as a tool's call is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from smart_context.model import Caller, Stop

if TYPE_CHECKING:
    from smart_context.api import App

T = TypeVar("T")
Scope = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Visit:
    """One request: its caller and peer. session: "" where the caller is known without one (a bearer token, or no tokens at all).

    is_local: the owner, at the machine that the server runs on.
    """

    caller: Caller
    address: str = ""
    session: str = ""
    is_local: bool = False


class Finding(Protocol):
    """One thing that was looked at in the installation. grade: ok, note, warning or problem."""

    @property
    def area(self) -> str: ...  # noqa: D102
    @property
    def grade(self) -> str: ...  # noqa: D102
    @property
    def what(self) -> str: ...  # noqa: D102
    @property
    def fix(self) -> str: ...  # noqa: D102


class Desk(Protocol):
    """The server, as the page sees it."""

    app: App

    def caller(self, scope: Scope) -> Caller | None:
        """The caller, if the gate has identified it."""

    def known(self, token: bytes) -> Caller | str:
        """The caller with a token, or why it is refused."""

    def own_token(self) -> str:
        """The server's own token, which its owner can read from a file."""

    def address(self, scope: Scope) -> str:
        """The address of the peer."""

    def is_local(self, scope: Scope) -> bool:
        """Whether the browser runs on this machine; False in doubt."""

    def examine(self) -> Sequence[Finding]:
        """Look over the installation, as `context doctor` does."""

    def cache(self, caller: Caller, name: str) -> os.PathLike[str]:
        """Where a cache is, for a caller that may see it. Raises: CacheMissing."""

    async def call(
        self,
        visit: Visit,
        name: str,
        arguments: Mapping[str, Any],
        verb: Callable[[Stop], T],
        counts: Callable[[T], dict[str, Any]] = ...,
    ) -> T:
        """Run a verb under the name of a tool. Raises: ContextError, safe to show."""

    async def tool(self, visit: Visit, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool of the table; return the object of its answer. Raises: ContextError, safe to show."""
