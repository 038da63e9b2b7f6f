"""Counters and times of a server, in the text format of Prometheus."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TypeAlias

Labels: TypeAlias = tuple[tuple[str, str], ...]

BUCKETS = (0.005, 0.02, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0)  # seconds
METRICS = {  # name: (type, meaning)
    "setwise_info": ("gauge", "1; the label is the version."),
    "setwise_requests_total": ("counter", "Requests by method, route and status."),
    "setwise_request_seconds": ("histogram", "Time to answer a request, by route."),
    "setwise_refused_total": ("counter", "Requests refused before their route, by status."),
    "setwise_questions_total": ("counter", "Questions (jobs) that ended, by state."),
    "setwise_question_seconds": ("histogram", "Work on one question, waiting excluded."),
    "setwise_questions_waiting": ("gauge", "Questions in the queue."),
    "setwise_questions_working": ("gauge", "Questions being worked on."),
    "setwise_uploads_arriving": ("gauge", "Uploads that arrive now."),
    "setwise_event_streams": ("gauge", "Windows that follow events."),
    "setwise_changes_total": ("counter", "Changes of the gallery by command."),
    "setwise_gallery_classes": ("gauge", "Classes of the gallery."),
    "setwise_gallery_sets": ("gauge", "Sets of the gallery."),
    "setwise_gallery_bytes": ("gauge", "Size of the gallery file."),
    "setwise_history_bytes": ("gauge", "Size of the kept states and the history."),
    "setwise_ready": ("gauge", "1 if /readyz answers 200."),
    "setwise_disk_free_bytes": ("gauge", "Free bytes by folder: gallery, uploads."),
    "process_resident_memory_bytes": ("gauge", "Memory of the server."),
    "process_cpu_seconds_total": ("counter", "Processor time of the server."),
    "process_open_fds": ("gauge", "Open files and connections."),
    "process_start_time_seconds": ("gauge", "Start of the server since 1970."),
}


class Metrics:
    """Values by name and labels; threads may write at any time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[str, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
        self._times: dict[str, dict[Labels, list[float]]] = defaultdict(dict)
        self.began = time.time()

    def add(self, name: str, **labels: str) -> None:
        """Count one event."""
        with self._lock:
            self._counts[name][tuple(labels.items())] += 1.0

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Record how long something took."""
        with self._lock:
            empty = [0.0] * (len(BUCKETS) + 2)
            values = self._times[name].setdefault(tuple(labels.items()), empty)
            values[bisect_left(BUCKETS, seconds)] += 1.0  # the last but one: longer than all
            values[-1] += seconds

    def text(self, gauges: Mapping[str, Mapping[Labels, float]]) -> str:
        """All metrics, with values of this moment."""
        with self._lock:
            counts = {name: dict(one) for name, one in self._counts.items()}
            times = {name: dict(one) for name, one in self._times.items()}
        lines = []
        for name, (kind, words) in METRICS.items():
            lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
            for labels, values in times.get(name, {}).items():
                lines += _histogram(name, labels, values)
            plain = {**counts.get(name, {}), **gauges.get(name, {})}
            lines += [_line(name, labels, value) for labels, value in plain.items()]
        return "\n".join(lines) + "\n"


def _histogram(name: str, labels: Labels, values: list[float]) -> list[str]:
    lines, n = [], 0.0
    for bound, count in zip((*map(str, BUCKETS), "+Inf"), values[:-1], strict=True):
        n += count
        lines.append(_line(f"{name}_bucket", (*labels, ("le", bound)), n))
    return [*lines, _line(f"{name}_sum", labels, values[-1]), _line(f"{name}_count", labels, n)]


def _line(name: str, labels: Labels, value: float) -> str:
    told = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    return f"{name}{{{told}}} {value!r}" if told else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def process_gauges(began: float) -> dict[str, dict[Labels, float]]:
    """Memory, time and files of this process, as far as the system tells."""
    used = os.times()
    found = {"process_cpu_seconds_total": used.user + used.system}
    found["process_start_time_seconds"] = began
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        found["process_resident_memory_bytes"] = float(pages * os.sysconf("SC_PAGE_SIZE"))
        found["process_open_fds"] = float(len(list(Path("/proc/self/fd").iterdir())))
    except OSError:  # no Linux
        pass
    return {name: {(): value} for name, value in found.items()}
