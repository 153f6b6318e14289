"""What a server and a process that answers calls say to each other arrives whole, however it is cut."""

from __future__ import annotations

import itertools
import socket

from hypothesis import given
from hypothesis import strategies as st

from smart_context.server import call_wire
from smart_context.server.call_child import Incoming
from smart_context.server.encoded import Encoded

MESSAGES = st.lists(st.dictionaries(st.text(max_size=5), st.text() | st.integers(), max_size=3), max_size=6)
ANSWERS = st.lists(st.tuples(st.integers(1, 2**32 - 1), st.binary(), st.sampled_from(["", "NOT_FOUND"])), max_size=6)


def pieces(data, cuts):
    ends = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(ends)]


@given(MESSAGES, st.lists(st.integers(0), max_size=8))
def test_messages_come_whole(messages, cuts):
    received, found = bytearray(), []
    for piece in pieces(b"".join(map(call_wire.message, messages)), cuts):
        received += piece
        found += call_wire.messages(received)
    assert (found, received) == (messages, b"")


@given(ANSWERS, st.lists(st.integers(0), max_size=8))
def test_answers_come_whole(answers, cuts):
    told = [call_wire.answer(number, Encoded(result, code), 0) for number, result, code in answers]
    received, found = bytearray(), []
    for piece in pieces(b"".join(told), cuts):
        received += piece
        found += [(one.number, one.answer.result, one.answer.code) for one in call_wire.answers(received)]
    assert (found, received) == (answers, b"")


def test_what_has_come_is_heard_without_waiting_and_the_end_is_told():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        incoming = Incoming(theirs)
        assert incoming.arrived() == []
        ours.sendall(call_wire.message({"a": 1}) + call_wire.message({"b": 2}) + call_wire.message({"c": 3})[:5])
        assert incoming.next() == {"a": 1}
        assert incoming.arrived() == [{"b": 2}]
        assert incoming.arrived() == []
        ours.sendall(call_wire.message({"c": 3})[5:])
        assert incoming.arrived() == [{"c": 3}]
        ours.shutdown(socket.SHUT_WR)
        assert incoming.arrived() == []
        assert incoming.next() is None
