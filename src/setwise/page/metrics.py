"""Counters and times of a server, by the client library of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

Values: TypeAlias = Mapping[tuple[str, ...], float]  # by the values of the labels

CONTENT_TYPE = CONTENT_TYPE_LATEST
BUCKETS = (0.005, 0.02, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0)  # seconds
# Name: meaning, names of the labels.
COUNTERS = {
    "setwise_requests_total": (
        "Requests by method, route and status.",
        ("method", "route", "status"),
    ),
    "setwise_refused_total": ("Requests refused before their route.", ("status",)),
    "setwise_questions_total": ("Questions (jobs) that ended.", ("state",)),
    "setwise_changes_total": ("Changes of the gallery.", ("command",)),
}
TIMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "setwise_request_seconds": ("Time to answer a request.", ("route",)),
    "setwise_question_seconds": ("Work on one question, waiting excluded.", ()),
}
GAUGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "setwise_info": ("1; the label is the version.", ("version",)),
    "setwise_questions_waiting": ("Questions in the queue.", ()),
    "setwise_questions_working": ("Questions being worked on.", ()),
    "setwise_uploads_arriving": ("Uploads that arrive now.", ()),
    "setwise_event_streams": ("Windows that follow events.", ()),
    "setwise_gallery_classes": ("Classes of the gallery.", ()),
    "setwise_gallery_sets": ("Sets of the gallery.", ()),
    "setwise_gallery_bytes": ("Size of the gallery file.", ()),
    "setwise_history_bytes": ("Size of the kept states and the history.", ()),
    "setwise_ready": ("1 if /readyz answers 200.", ()),
    "setwise_disk_free_bytes": ("Free bytes: gallery, uploads.", ("folder",)),
}


class Metrics:
    """Counters and times of one server; threads may write at any time."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._counters = {
            name: Counter(name, *about, registry=self._registry)
            for name, about in COUNTERS.items()
        }
        self._times = {
            name: Histogram(name, *about, registry=self._registry, buckets=BUCKETS)
            for name, about in TIMES.items()
        }

    def add(self, name: str, **labels: str) -> None:
        """Count one event."""
        self._counters[name].labels(**labels).inc()

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Record how long something took."""
        times = self._times[name]
        (times.labels(**labels) if labels else times).observe(seconds)

    def text(self, gauges: Mapping[str, Values]) -> bytes:
        """All metrics, with values of this moment."""
        shown = CollectorRegistry(auto_describe=False)
        shown.register(_Shown(self._registry, gauges))
        return generate_latest(shown)


class _Shown(Collector):
    """What one answer shows: counters and times, and gauges of this moment."""

    def __init__(self, registry: CollectorRegistry, gauges: Mapping[str, Values]) -> None:
        self.registry, self.gauges = registry, gauges

    def collect(self) -> Iterator[Metric]:
        for family in self.registry.collect():
            # A time of creation beside each counter would double their number.
            family.samples = [s for s in family.samples if not s.name.endswith("_created")]
            yield family
        for name, values in self.gauges.items():
            words, labels = GAUGES[name]
            gauge = GaugeMetricFamily(name, words, labels=labels)
            for label_values, value in values.items():
                gauge.add_metric(label_values, value)
            yield gauge
