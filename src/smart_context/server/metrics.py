"""Count what the server does, and write it in the text format that Prometheus reads.

In: calls as they end, and gauges asked for when somebody scrapes.  Out: one page of text.
Always: labels come from fixed sets (tools, outcomes, kinds), so that no caller can make the page grow.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from smart_context.data import dataclass, field

# Seconds. Searches take milliseconds, summaries by a model seconds, an indexing run minutes.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0, 600.0)


@dataclass(frozen=True, slots=True)
class Sample:
    """One number to show: `labels` tell it from others of its name."""

    name: str
    help: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    kind: str = "gauge"


@dataclass(slots=True)
class _Latency:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0


class Metrics:
    """Calls, by tool and outcome, with their latency. Safe to use from every thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[tuple[str, str], int] = {}
        self._latency: dict[str, _Latency] = {}
        self._running = 0
        self._lost_lines = 0

    def begin(self) -> None:
        """Count a call that starts."""
        with self._lock:
            self._running += 1

    def end(self, tool: str, outcome: str, seconds: float) -> None:
        """Count a call that ended: `outcome` is "ok", an error code, or "cancelled"."""
        with self._lock:
            self._running -= 1
            self._calls[tool, outcome] = self._calls.get((tool, outcome), 0) + 1
            latency = self._latency.setdefault(tool, _Latency())
            latency.counts[bisect_left(BUCKETS, seconds)] += 1
            latency.total += seconds

    def lose_line(self) -> None:
        """Count a call that the audit log has no line of."""
        with self._lock:
            self._lost_lines += 1

    def take_lost(self) -> int:
        """Calls that the audit log has no line of, since this was last asked."""
        with self._lock:
            lost, self._lost_lines = self._lost_lines, 0
            return lost

    def page(self, gauges: Iterable[Sample] = ()) -> str:
        """Write everything, each name with its help and type once."""
        with self._lock:
            samples = [*self._counters(), *gauges]
            histograms = list(self._histograms())
        lines: list[str] = []
        seen = set()
        for sample in sorted(samples, key=lambda s: (s.name, sorted(s.labels.items()))):
            if sample.name not in seen:
                seen.add(sample.name)
                lines += [f"# HELP {sample.name} {sample.help}", f"# TYPE {sample.name} {sample.kind}"]
            lines.append(_line(sample.name, sample.labels, sample.value))
        return "\n".join(lines + histograms) + "\n"

    def _counters(self) -> Iterable[Sample]:
        yield Sample("smart_context_calls_running", "Calls being served now.", self._running)
        text = "Calls that could not be written to the audit log."
        yield Sample("smart_context_audit_lost_total", text, self._lost_lines, kind="counter")
        for (tool, outcome), count in self._calls.items():
            labels = {"tool": tool, "outcome": outcome}
            yield Sample("smart_context_calls_total", "Calls served, by tool and outcome.", count, labels, "counter")

    def _histograms(self) -> Iterable[str]:
        name = "smart_context_call_seconds"
        yield f"# HELP {name} How long calls took, by tool."
        yield f"# TYPE {name} histogram"
        for tool, latency in sorted(self._latency.items()):
            running = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), latency.counts, strict=True):
                running += count
                yield _line(f"{name}_bucket", {"tool": tool, "le": bound}, running)
            yield _line(f"{name}_sum", {"tool": tool}, latency.total)
            yield _line(f"{name}_count", {"tool": tool}, running)


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    inner = ",".join(f'{key}="{_escape(text)}"' for key, text in labels.items())
    number = f"{value:.9g}" if value != int(value) else str(int(value))
    return f"{name}{{{inner}}} {number}" if inner else f"{name} {number}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
