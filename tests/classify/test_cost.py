"""What a gallery will cost, by its shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from setwise import CVC
from setwise.classify import cost
from setwise.classify.cost import calibration_seconds, cost_of, machine_slowness
from setwise.gallery.memory import GalleryShape

HOW = CVC().describe()


def shape(n_classes, n_sets=2, n_vectors=5, n_features=512):
    return GalleryShape(n_classes, np.full(n_classes * n_sets, n_vectors), n_features, n_sets)


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [
        (shape(200), shape(50)),
        (shape(100_000), shape(1000)),
        (shape(1000, n_sets=6), shape(1000)),
        (shape(1000, n_vectors=20), shape(1000)),
        (shape(1000, n_features=2048), shape(1000, n_features=128)),
    ],
    ids=["classes", "many classes", "sets", "vectors", "features"],
)
def test_costs_move_with_the_shape(larger, smaller):
    large, small = cost_of(HOW, larger), cost_of(HOW, smaller)
    assert large.fit_seconds > small.fit_seconds
    assert large.probe_seconds >= small.probe_seconds
    assert large.peak_bytes > small.peak_bytes
    assert large.kept_bytes > small.kept_bytes


def test_a_probe_hardly_feels_the_gallery():
    few, many = (cost_of(HOW, shape(n)).probe_seconds for n in (1000, 100_000))
    assert many < 100**0.5 * few  # the method around the probe, and one product with all rows


def test_a_slow_machine_takes_longer_and_no_more_memory():
    here, slow = cost_of(HOW, shape(1000)), cost_of(HOW, shape(1000), slowness=3.0)
    assert slow.fit_seconds == pytest.approx(3 * here.fit_seconds)
    assert slow.probe_seconds == pytest.approx(3 * here.probe_seconds)
    assert slow.peak_bytes == here.peak_bytes


def test_bytes_take_less_room_than_doubles():
    small, large = (cost_of(HOW, shape(1000), itemsize=n) for n in (1, 8))
    assert large.kept_bytes == 8 * small.kept_bytes
    assert large.peak_bytes - small.peak_bytes == 2 * (large.kept_bytes - small.kept_bytes)


def test_weights_cost_trials():
    plain = cost_of(replace(HOW, weights=None), shape(1000))
    assert plain.fit_seconds < cost_of(HOW, shape(1000)).fit_seconds


def test_the_machine_is_compared_with_that_of_the_model(monkeypatch):
    assert 0 < calibration_seconds() < np.inf
    monkeypatch.setattr(cost, "calibration_seconds", lambda: 2.0)
    monkeypatch.setattr(cost, "_measured", lambda: {"calibration_seconds": 0.5})
    assert machine_slowness() == 4.0


def test_no_coefficient_is_negative_and_every_term_has_one():
    measured = cost._measured()
    for kind, n_classes in (("whole", 100), ("large", 1000)):
        probe = cost.probe_terms(HOW, shape(n_classes))
        fit = cost.fit_terms(HOW, shape(n_classes), 0.1)
        assert set(measured[kind]["probe"]) == set(probe)
        assert set(measured[kind]["fit"]) == set(fit)
        values = [*measured[kind]["probe"].values(), *measured[kind]["fit"].values()]
        assert min(values) >= 0.0
