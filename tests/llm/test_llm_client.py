"""The client against a real server: every fault has its error, nothing waits for ever, and the key shows nowhere."""

from __future__ import annotations

import email.utils
import json
import logging
import threading
import time

import pytest

import chat_server as chat
from smart_context.errors import CallTimeout, ConfigError, LlmUpstream, RateLimited
from smart_context.llm import client, http
from smart_context.llm.endpoint import Endpoint
from smart_context.llm.model import Message, Reply

KEY = "test-key-Zx81-never-shown"
ASK = (Message("system", "rules"), Message("user", "question"))


def endpoint(server: chat.ChatServer, *, timeout: float = 20, retries: int = 0, proxy: str = "") -> Endpoint:
    return Endpoint(server.url, "small-model", timeout, retries, proxy, KEY)


def ask(server: chat.ChatServer, *, waits: list[float] | None = None, **more: object) -> Reply:
    note = waits.append if waits is not None else None
    return client.ask(endpoint(server, **more), ASK, 100, stop=lambda: None, wait=note)  # type: ignore[arg-type]


def test_a_question_is_asked_and_its_answer_counted():
    with chat.serving(chat.answer("Yes.", {"prompt_tokens": 12, "completion_tokens": 3})) as server:
        assert ask(server) == Reply("Yes.", 12, 3)
        ((path, headers, _),) = server.requests
        assert path == "/v1/chat/completions"
        assert headers["authorization"] == f"Bearer {KEY}"
        assert server.bodies() == [
            {
                "model": "small-model",
                "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": "question"}],
                "max_tokens": 100,
                "temperature": 0,
            }
        ]


def test_nothing_of_the_environment_is_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-somebody")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with chat.serving(chat.answer("Yes.")) as server:
        ask(server)
        assert "somebody" not in json.dumps(server.requests[0][1])


def test_an_answer_without_usage_has_no_counts():
    with chat.serving(chat.answer("Yes.")) as server:
        assert ask(server) == Reply("Yes.", None, None)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>secretly\nplanning</think>Yes.", "Yes."),
        ([{"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}], "Yes."),
        ("x" * 100_000, "x" * 1200),  # one that does not keep to max_tokens
    ],
)
def test_answers_of_several_servers_are_understood(content, text):
    with chat.serving(chat.answer(content)) as server:
        assert ask(server).text == text


@pytest.mark.parametrize("in_headers", [True, False])
def test_an_answer_that_drips_ends_with_the_time(in_headers):
    with chat.serving(chat.drip(lambda: server.over, in_headers=in_headers)) as server:
        with pytest.raises(LlmUpstream):
            ask(server, timeout=0.5, retries=2)
        assert len(server.requests) <= 1  # on a busy machine the time may be over before the first


def test_a_server_that_says_nothing_ends_with_the_time():
    with chat.serving(chat.silence(lambda: server.over)) as server, pytest.raises(LlmUpstream):
        ask(server, timeout=0.3)


def test_a_call_that_should_stop_stops_while_the_server_is_silent():
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise CallTimeout("out of time")

    with chat.serving(chat.silence(lambda: server.over)) as server, pytest.raises(CallTimeout):
        client.ask(endpoint(server, timeout=60), ASK, 10, stop=stop)


def test_another_thread_works_while_a_call_waits():
    is_over = threading.Event()
    with chat.serving(chat.silence(lambda: is_over)) as server:
        failed: list[Exception] = []

        def call() -> None:
            try:
                ask(server, timeout=300)
            except LlmUpstream as error:
                failed.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        with chat.serving(chat.answer("Meanwhile.")) as other:
            assert ask(other).text == "Meanwhile."
        assert not failed
        is_over.set()  # the server hangs up
        thread.join()
        assert len(failed) == 1


def test_429_is_tried_again_when_the_server_says():
    busy = chat.raw(429, b"{}", "Retry-After: 3")
    waits: list[float] = []
    with chat.serving(busy, chat.answer("Yes.")) as server:
        assert ask(server, retries=2, waits=waits).text == "Yes."
    assert waits == [3.0]


def test_429_with_a_date_is_tried_again_then():
    date = email.utils.formatdate(time.time() + 5, usegmt=True)
    waits: list[float] = []
    with chat.serving(chat.raw(429, b"{}", f"Retry-After: {date}"), chat.answer("Yes.")) as server:
        ask(server, retries=1, waits=waits)
    assert 0 <= waits[0] <= 5


def test_429_beyond_the_time_is_rate_limited_at_once_with_the_servers_hint():
    waits: list[float] = []
    with chat.serving(chat.raw(429, b"{}", "Retry-After: 120")) as server:
        with pytest.raises(RateLimited) as caught:
            ask(server, retries=5, waits=waits)
        assert len(server.requests) == 1
    assert caught.value.retry_after == 120
    assert waits == []


def test_429_without_a_hint_is_rate_limited_after_growing_pauses():
    waits: list[float] = []
    with chat.serving(chat.raw(429, b"{}")) as server:
        with pytest.raises(RateLimited) as caught:
            ask(server, retries=3, waits=waits)
        assert len(server.requests) == 4
    assert waits == [0.5, 1.0, 2.0]
    assert caught.value.retry_after > 0


def test_an_account_without_quota_is_not_asked_again():
    with chat.serving(chat.raw(429, b'{"error": {"code": "insufficient_quota"}}')) as server:
        with pytest.raises(RateLimited):
            ask(server, retries=3, waits=[])
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408])
def test_a_failure_that_may_pass_is_tried_again(status):
    with chat.serving(chat.raw(status, b"oops"), chat.answer("Yes.")) as server:
        assert ask(server, retries=1, waits=[]).text == "Yes."


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_not_tried_again(status):
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    with chat.serving(chat.raw(status, body)) as server:
        with pytest.raises(LlmUpstream) as caught:
            ask(server, retries=3, waits=[])
        assert len(server.requests) == 1
    assert KEY not in f"{caught.value} {caught.value.hint} {caught.value.reason}"


_GOOD = json.dumps({"choices": [{"message": {"content": "Yes."}}]}).encode()


@pytest.mark.parametrize(
    "act",
    [
        chat.raw(200, b"not json"),
        chat.raw(200, _GOOD[:-5]),
        chat.raw(200, b""),
        chat.raw(200, b"[]"),
        chat.raw(200, b'{"choices": []}'),
        chat.raw(200, b'{"choices": [{"message": {"content": null}}]}'),
        chat.raw(200, b'{"choices": [{"message": {"content": "  "}}]}'),
        chat.raw(200, b'{"choices": [{"message": "Yes"}]}'),
        chat.raw(200, b"[" * 100_000),
        chat.raw(200, b"\xff\xfe\x00"),
        chat.cut_off(_GOOD[:20], len(_GOOD)),
        chat.hang_up(),
        chat._closing(lambda out: out.write(b"garbage\r\n\r\n") and None),
    ],
)
def test_an_answer_that_cannot_be_read_is_a_failure_upstream(act):
    with chat.serving(act) as server, pytest.raises(LlmUpstream):
        ask(server)


def test_a_connection_that_was_dropped_is_tried_again():
    with chat.serving(chat.hang_up(), chat.cut_off(b"{", 100), chat.answer("Yes.")) as server:
        assert ask(server, retries=2, waits=[]).text == "Yes."


def test_a_host_that_does_not_answer_is_a_failure_upstream():
    with chat.serving(chat.answer("")) as server:
        gone = endpoint(server)
    with pytest.raises(LlmUpstream):
        client.ask(gone, ASK, 10, stop=lambda: None)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_the_other_host_hears_nothing(status):
    with chat.serving(chat.answer("Caught you.")) as other:
        with chat.serving(chat.raw(status, b"", f"Location: {other.url}/chat/completions")) as server:
            with pytest.raises(LlmUpstream):
                ask(server, retries=2, waits=[])
            assert len(server.requests) == 1
        assert other.requests == []


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_of_100_mb_is_cut_off(status):
    taken = [0]
    act = chat.flood(100, taken, status)
    with chat.serving(act) as server, pytest.raises(LlmUpstream):
        ask(server)
    assert taken[0] < 2 * http.MAX_ANSWER_BYTES + 8 * 1024 * 1024  # what the sockets buffer is the rest


def test_the_configured_proxy_is_used():
    with chat.serving(chat.answer("By proxy.")) as proxy:
        through = Endpoint("http://model.example/v1", "m", 20, 0, proxy.url.removesuffix("/v1"), KEY)
        assert client.ask(through, ASK, 10, stop=lambda: None).text == "By proxy."
        assert proxy.requests[0][0] == "http://model.example/v1/chat/completions"


def test_the_key_shows_in_no_repr_and_no_log(caplog):
    caplog.set_level(logging.DEBUG)
    with chat.serving(chat.raw(401, f'{{"error": "{KEY}"}}'.encode())) as server:
        place = endpoint(server)
        with pytest.raises(LlmUpstream) as caught:
            client.ask(place, ASK, 10, stop=lambda: None)
    assert KEY not in repr(place)
    assert KEY not in repr(caught.value)
    assert KEY not in caplog.text


def test_a_proxy_that_is_no_address_is_a_configuration_error():
    with chat.serving(chat.answer("")) as server, pytest.raises(ConfigError):
        ask(server, proxy="nonsense://x")
