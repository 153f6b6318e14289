"""One line, one message or one refusal; one message, one line."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from smart_context.server import frames, stdio
from smart_context.server.frames import LineError

PARSE, INVALID = -32700, -32600


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"{", (PARSE, None)),
        (b"nonsense", (PARSE, None)),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', (PARSE, None)),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', (PARSE, None)),
        (b'{"jsonrpc":"2.0","id":1,"method":"a\tb"}', (PARSE, None)),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', (PARSE, None)),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', (PARSE, None)),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}', (PARSE, None)),
        (rb'{"jsonrpc":"2.0","id":1,"method":"\ud800"}', (PARSE, None)),
        (rb'{"jsonrpc":"2.0","id":1,"method":"m","params":{"\uDFFF":1}}', (PARSE, None)),
        (
            rb'{"jsonrpc":"2.0","id":1,"method":"\ud800","method":"m"}',
            (PARSE, None),
        ),  # the last one wins, yet it stands there
        (rb'{"jsonrpc":"2.0","id":1,"method":"\udc00\ud800"}', (PARSE, None)),
        (b"[" * 100_000, (PARSE, None)),
        (b"[]", (INVALID, None)),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', (INVALID, None)),
        (b'"ping"', (INVALID, None)),
        (b"null", (INVALID, None)),
        (b"{}", (INVALID, None)),
        (b'{"id":1,"method":"ping"}', (INVALID, 1)),
        (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', (INVALID, "a")),
        (b'{"jsonrpc":2.0,"id":1,"method":"ping"}', (INVALID, 1)),
        (b'{"jsonrpc":"2.0","id":1}', (INVALID, 1)),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', (INVALID, 1)),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', (INVALID, None)),
        (b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}', (INVALID, None)),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', (INVALID, None)),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', (INVALID, None)),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', (INVALID, 1)),
        (b'{"jsonrpc":"2.0","id":1,"result":5}', (INVALID, None)),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}', (INVALID, None)),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_faulty_line_is_refused_with_its_code_and_with_its_id_where_that_can_be_known(
    line: bytes, expected: tuple[int, object]
) -> None:
    refusal = frames.decode(line)
    assert isinstance(refusal, LineError)
    assert (refusal.code, refusal.request_id) == expected


def test_messages_of_each_kind_are_read() -> None:
    kinds = [
        type(frames.decode(line))
        for line in (
            b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":"a","method":"ping","params":null}',
            b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
            b'{"jsonrpc":"2.0","id":1,"result":{}}',
            b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}',
        )
    ]
    assert kinds == [JSONRPCRequest, JSONRPCRequest, JSONRPCNotification, JSONRPCResponse, JSONRPCError]


def test_numbers_stay_as_they_were_written_and_escapes_are_read() -> None:
    line = rb'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"b":1.0,"c":1e2,"d":18446744073709551616,"e":"\ud83d\ude00\\ud800"}}'
    request = frames.decode(line)
    assert isinstance(request, JSONRPCRequest)
    assert repr(request.params) == repr({"a": 1, "b": 1.0, "c": 100.0, "d": 2**64, "e": "😀\\ud800"})


@given(
    st.one_of(
        st.binary(),
        st.text().map(str.encode),
        st.recursive(st.none() | st.text(), st.lists).map(json.dumps).map(str.encode),
    )
)
@pytest.mark.unmeasured
def test_every_line_gives_a_message_or_a_refusal(line: bytes) -> None:
    assert isinstance(
        frames.decode(line), LineError | JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError
    )


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_written_message_is_one_line_that_reads_back(text: str) -> None:
    line = frames.encode(JSONRPCResponse(jsonrpc="2.0", id=text, result={"text": text}))
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"jsonrpc": "2.0", "id": text, "result": {"text": text}}


def test_half_a_surrogate_pair_does_not_break_the_frame_it_would_leave_in() -> None:
    line = frames.encode(JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "a\ud800b"}))
    assert json.loads(line)["result"] == {"text": "a?b"}


@given(st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_do_not_depend_on_how_the_bytes_arrive(expected: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in expected)
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=len(stream), max_size=len(stream)))
    over = [None if len(line) > 8 else line for line in expected]
    assert list(stdio.lines(pieces(stream, iter(sizes)), limit=8)) == over


@pytest.mark.parametrize(
    ("stream", "expected"), [(b"", []), (b"a", [b"a"]), (b"a\nb", [b"a", b"b"]), (b"a" * 9, [None])]
)
def test_a_last_line_needs_no_newline(stream: bytes, expected: list[bytes | None]) -> None:
    assert list(stdio.lines(pieces(stream, iter([4] * 9)), limit=8)) == expected


def pieces(stream: bytes, sizes: Iterator[int]):  # type: ignore[no-untyped-def]
    rest = bytearray(stream)

    def read() -> bytes:
        piece = bytes(rest[: next(sizes)]) if rest else b""
        del rest[: len(piece)]
        return piece

    return read
