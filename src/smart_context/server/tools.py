"""What a tool is, and how one call of it becomes a reply. Knows no protocol and no transport.

In: a `Tool` of the table and a `Call`.  Out: a `Reply`, whatever happens.
Always: an exception nobody foresaw shows nothing of itself to the client; standard error has it, under a reference number.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from smart_context import defaults, plain
from smart_context.data import dataclass, field
from smart_context.errors import CallCancelled, ContextError, InternalError
from smart_context.model import OWNER, Caller, OnProgress, Stop
from smart_context.talk import say, shows_tracebacks
from smart_context.tool_schemas import Schema
from smart_context.tool_table import Row

if TYPE_CHECKING:
    from smart_context.llm.model import Sample

Arguments = Mapping[str, Any]
ToolNames = Literal["dotted", "underscore"]


@dataclass(frozen=True, slots=True)
class Reply:
    """A tool's answer: the text, which is the contract, and the same as an object if that is worth its size.

    code: of the error, or "". is_compact: the text is that object in JSON without spaces, other letters than ASCII as they are.
    """

    text: str
    structured: dict[str, Any] | None = None
    code: str = ""
    is_compact: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """The context of a running call: its stop check, progress callback, caller, and the client's model.

    sample: None where the client offers no model.
    """

    stop: Stop
    on_progress: OnProgress
    caller: Caller = OWNER
    sample: Sample | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of the table of tools, and who does its work here.

    run: does the work, in a thread; raises `ContextError`.  refuse: formats an error for this tool.
    knows_arguments: the tool itself answers for arguments it does not know; else they are a fault of protocol.
    seconds: how long a call may take; None for as long as it likes.  is_brief: calls are not known to wait for others.
    view: the page that shows its answer, in clients that show such; "" for none.
    """

    name: str
    title: str
    description: str
    input_schema: Schema
    run: Callable[[Arguments, Work], Reply] = field(repr=False)
    refuse: Callable[[ContextError], Reply] = field(repr=False)
    output_schema: Schema | None = None
    is_read_only: bool = True
    is_closed_world: bool = True
    knows_arguments: bool = False
    seconds: float | None = defaults.CALL_SECONDS
    is_brief: bool = True
    view: str = ""

    @classmethod
    def of(
        cls,
        row: Row,
        run: Callable[[Arguments, Work], Reply],
        refuse: Callable[[ContextError], Reply],
        seconds: float | None,
        *,
        knows_arguments: bool = False,
    ) -> Self:
        """The tool of a row."""
        return cls(
            row.name,
            row.title,
            row.description,
            row.takes,
            run,
            refuse,
            row.gives,
            is_read_only=not row.writes,
            is_closed_world=row.is_closed_world,
            knows_arguments=knows_arguments,
            seconds=seconds,
            is_brief=row.is_brief,
            view=row.view,
        )

    @property
    def alias(self) -> str:
        """The name for clients that refuse dots; the same where there are none."""
        return self.name.replace(".", "_")

    def unknown(self, arguments: Arguments) -> list[str]:
        """Arguments that the schema does not name, sorted."""
        return sorted(arguments.keys() - self.input_schema["properties"].keys())


@dataclass(frozen=True, slots=True)
class Program:
    """A server's name, title and instructions."""

    name: str
    title: str
    instructions: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call: its caller and tool. client: the client's name for itself, for the log alone. address: of the peer, over HTTP. came: when, by the monotonic clock."""

    tool: Tool
    arguments: Arguments
    caller: Caller = OWNER
    client: str = ""
    address: str = ""
    came: float = field(default_factory=time.monotonic)


Guard = Callable[[Call, Callable[[], Reply]], Reply]
"""Stands between a call and its work, in the call's thread: may raise instead of calling (`RateLimited`), and sees the reply,
errors included, on its way out (an audit line). It never meets an exception from the work."""


def unguarded(_call: Call, answer: Callable[[], Reply]) -> Reply:
    """The guard of a server that has none."""
    return answer()


def perform(call: Call, work: Work, guard: Guard) -> Reply:
    """Run a call and format its outcome. A call that was abandoned before it began is counted and logged, and not run."""

    def run() -> Reply:
        work.stop()
        return call.tool.run(call.arguments, work)

    def answer() -> Reply:
        return _worded(call.tool, run)

    return _worded(call.tool, lambda: guard(call, answer))


def _worded(tool: Tool, act: Callable[[], Reply]) -> Reply:
    try:
        return act()
    except CallCancelled as error:
        return Reply("", code=error.code)  # for the log: nobody reads it
    except ContextError as error:
        return tool.refuse(error)
    except Exception as error:  # noqa: BLE001  # the outer edge: a client never meets our exception
        return tool.refuse(unforeseen(tool.name, error))


def unforeseen(where: str, error: BaseException) -> InternalError:
    """Write an exception to standard error under a number, and word it as an error that shows only the number."""
    import secrets
    import traceback

    number = secrets.token_hex(4)
    if shows_tracebacks():
        what = "".join(traceback.format_exception(error)).rstrip()
    else:
        at = traceback.extract_tb(error.__traceback__)[-1:]
        told = [f"{type(error).__name__}: {error}", *(f"({frame.filename}:{frame.lineno})" for frame in at)]
        what = plain.line(" ".join(told))
    say(f"internal error {number} in {where}: {what}\n")
    return InternalError(f"internal error {number}", hint=f"the server's log has the reason under the number {number}")
