"""The page of metrics: what was counted, in the text format of Prometheus."""

from __future__ import annotations

import threading

from smart_context.server.metrics import BUCKETS, Metrics, Sample


def values(page):
    return dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))


def test_calls_are_counted_by_tool_and_outcome():
    metrics = Metrics()
    for outcome in ("ok", "ok", "FORBIDDEN"):
        metrics.begin()
        metrics.end("openFile", outcome, 0.004)
    metrics.begin()
    found = values(metrics.page())
    assert found['smart_context_calls_total{tool="openFile",outcome="ok"}'] == "2"
    assert found['smart_context_calls_total{tool="openFile",outcome="FORBIDDEN"}'] == "1"
    assert found["smart_context_calls_running"] == "1"


def test_latency_buckets_accumulate_and_include_their_bound():
    metrics = Metrics()
    for seconds in (0.001, 0.0011, 1e9):
        metrics.begin()
        metrics.end("t", "ok", seconds)
    found = values(metrics.page())
    bucket = 'smart_context_call_seconds_bucket{{tool="t",le="{}"}}'
    assert [found[bucket.format(b)] for b in (0.001, 0.0025, BUCKETS[-1], "+Inf")] == ["1", "2", "2", "3"]
    assert found['smart_context_call_seconds_count{tool="t"}'] == "3"


def test_a_name_has_its_help_and_type_once_and_labels_are_escaped():
    page = Metrics().page([Sample("files", "Files.", n, {"root": f'a"{n}\n\\'}) for n in (1, 2)])
    assert page.count("# HELP files Files.\n# TYPE files gauge\n") == 1
    assert 'files{root="a\\"1\\n\\\\"} 1\n' in page
    assert page.endswith("\n")


def test_no_call_is_lost_between_threads():
    metrics = Metrics()

    def work():
        for _ in range(500):
            metrics.begin()
            metrics.end("t", "ok", 0.1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values(metrics.page())['smart_context_calls_total{tool="t",outcome="ok"}'] == "2000"
