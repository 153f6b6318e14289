"""The messages between the server and a process that answers calls, over a pair of sockets.

In: calls, orders to stop, changes of the roots one way; answers the other.  Out: the same, at the other end.
Always: each message is whole, a length and as many bytes; a deadline is a time of the system's monotonic clock, which both share.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

from smart_context.data import dataclass
from smart_context.model import Caller
from smart_context.server.encoded import Encoded
from smart_context.server.tools import Call

READY = 0  # the number of a process's first answer, to the order to set itself up

_LENGTH = struct.Struct("!I")
_ANSWER = struct.Struct("!IIHB")  # length of what follows, number, audit lines lost, length of the code


@dataclass(frozen=True, slots=True)
class CallMessage:
    """A call to be answered: by its number, as the tool's name and what `Call` has besides, until the deadline. ascii_only: how to encode that."""

    number: int
    tool: str
    arguments: Mapping[str, Any]
    caller: Caller
    client: str
    address: str
    deadline: float
    ascii_only: bool


@dataclass(frozen=True, slots=True)
class AnswerMessage:
    """An answer to a call. lost: audit lines that could not be written since the last answer."""

    number: int
    answer: Encoded
    lost: int = 0


def message(what: Mapping[str, Any]) -> bytes:
    """A message to a process."""
    data = json.dumps(what, separators=(",", ":")).encode()
    return _LENGTH.pack(len(data)) + data


def call(number: int, asked: Call, deadline: float, *, ascii_only: bool) -> bytes:
    """A call for a process to answer."""
    who = asked.caller
    told = [number, asked.tool.name, dict(asked.arguments), [who.name, who.roots, who.is_owner, who.key]]
    return message({"call": [*told, asked.client, asked.address, deadline, ascii_only]})


def asked(told: list[Any]) -> CallMessage:
    """A call as it came."""
    number, tool, arguments, (name, roots, is_owner, key), client, address, deadline, ascii_only = told
    caller = Caller(name, None if roots is None else tuple(roots), is_owner, key)
    return CallMessage(number, tool, arguments, caller, client, address, deadline, ascii_only)


def messages(received: bytearray) -> list[dict[str, Any]]:
    """Take the whole messages to a process from what was received; the rest stays."""
    found: list[dict[str, Any]] = []
    at = 0
    while len(received) - at >= _LENGTH.size:
        (length,) = _LENGTH.unpack_from(received, at)
        end = at + _LENGTH.size + length
        if len(received) < end:
            break
        found.append(json.loads(received[at + _LENGTH.size : end]))
        at = end
    del received[:at]
    return found


def answer(number: int, made: Encoded, lost: int) -> bytes:
    """An answer to the server."""
    code = made.code.encode()
    length = _ANSWER.size - _LENGTH.size + len(code) + len(made.result)
    return b"".join((_ANSWER.pack(length, number, min(lost, 0xFFFF), len(code)), code, made.result))


def answers(received: bytearray) -> list[AnswerMessage]:
    """Take the whole answers from what was received; the rest stays."""
    found: list[AnswerMessage] = []
    at = 0
    while len(received) - at >= _ANSWER.size:
        length, number, lost, code = _ANSWER.unpack_from(received, at)
        end = at + _LENGTH.size + length
        if len(received) < end:
            break
        begin = at + _ANSWER.size
        made = Encoded(bytes(received[begin + code : end]), received[begin : begin + code].decode())
        found.append(AnswerMessage(number, made, lost))
        at = end
    del received[:at]
    return found
