"""Threads of a server: brief work by one of them, in its order; what takes long holds nobody up."""

from __future__ import annotations

import queue
import threading

import pytest

from smart_context.server.leader_followers import LeaderFollowers

NEVER = 3600.0  # seconds: far longer than any test


class Crew:
    """Threads whose work is to call what is put; with the results in the order in which they were made."""

    def __init__(self, most, brief, is_brief=lambda _work: True):
        self._work = queue.SimpleQueue()
        self.done = queue.SimpleQueue()
        LeaderFollowers(self._work.get, self._do, most, is_brief, brief).start()

    def _do(self, work):
        self.done.put(work())

    def put(self, work):
        self._work.put(work)


class Slow:
    """Work that ends when it is told to."""

    def __init__(self):
        self.began, self.may_end = threading.Event(), threading.Event()

    def __call__(self):
        self.began.set()
        self.may_end.wait()
        return self


def test_brief_work_is_done_by_one_thread_in_its_order():
    crew = Crew(most=16, brief=NEVER)
    for number in range(100):
        crew.put(lambda number=number: (number, threading.get_ident()))
    found = [crew.done.get() for _ in range(100)]
    assert [number for number, _ in found] == list(range(100))
    assert len({thread for _, thread in found}) == 1


def test_what_takes_long_holds_up_nothing_that_comes_after_it():
    crew = Crew(most=4, brief=0.001)
    slow = [Slow() for _ in range(3)]
    for work in slow:
        crew.put(work)
    for number in range(50):
        crew.put(lambda number=number: number)
    assert sorted(crew.done.get() for _ in range(50)) == list(range(50))
    for work in slow:
        work.may_end.set()
        assert crew.done.get() is work
    crew.put(lambda: "again")
    assert crew.done.get() == "again"


def test_there_are_no_more_threads_than_allowed():
    crew = Crew(most=2, brief=0.001)
    first, second, third = Slow(), Slow(), Slow()
    for work in (first, second, third):
        crew.put(work)
    assert first.began.wait()
    assert second.began.wait()
    assert not third.began.is_set()
    second.may_end.set()
    assert crew.done.get() is second
    assert third.began.wait()
    first.may_end.set()
    third.may_end.set()
    assert {crew.done.get(), crew.done.get()} == {first, third}


def test_work_that_is_known_to_wait_is_not_waited_for():
    crew = Crew(most=4, brief=NEVER, is_brief=lambda work: not isinstance(work, Slow))
    slow = [Slow() for _ in range(3)]
    for work in slow:
        crew.put(work)
    crew.put(lambda: "after")
    assert crew.done.get() == "after"
    for work in slow:
        work.may_end.set()
        assert crew.done.get() is work


@pytest.mark.parametrize("brief", [0.0, 0.0005, NEVER])
def test_whatever_comes_from_whichever_thread_is_done_once(brief):
    crew = Crew(most=5, brief=brief)

    def put(first):
        for number in range(first, first + 300):
            crew.put(lambda number=number: number)

    callers = [threading.Thread(target=put, args=(first,)) for first in (0, 300, 600)]
    for caller in callers:
        caller.start()
    assert sorted(crew.done.get() for _ in range(900)) == list(range(900))
    for caller in callers:
        caller.join()
