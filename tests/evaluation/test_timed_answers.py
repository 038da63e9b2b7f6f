"""What a classifier says, and how long it takes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.conftest import toy_sets

from setwise import SetBatch
from setwise.baselines import MSM
from setwise.errors import ParameterError
from setwise.evaluation import evaluate, timed_answers


@pytest.fixture(scope="module")
def problem():
    sets, labels = toy_sets(0, n_classes=3, n_sets=6, noise=0.5)
    gallery, probes = SetBatch.from_list(sets[::2]), SetBatch.from_list(sets[1::2])
    return gallery, labels[::2], probes, labels[1::2]


def test_answers_are_the_classifiers_own(problem):
    gallery, labels, probes, truth = problem
    found = timed_answers(MSM(), gallery, labels, probes)
    expected = MSM().fit(gallery, labels).predict(probes)
    np.testing.assert_array_equal(found.answers, expected)
    assert found.fit_seconds > 0 < found.seconds_per_probe
    judged = evaluate("mine", MSM(), gallery, labels, probes, truth)
    np.testing.assert_array_equal(judged.is_right, expected == truth)


def test_the_first_probe_is_asked_about_once_before_without_warnings(problem):
    gallery, labels, probes, _ = problem
    asked = []

    def ask(sets):
        asked.append(len(sets))
        if len(sets) == 1:
            warnings.warn("not to be heard", UserWarning, stacklevel=1)

    timed_answers(MSM(), gallery, labels, probes, ask=ask)
    assert asked == [1, len(probes)]


def test_failures_are_raised_here_and_reported_by_evaluate(problem):
    gallery, labels, probes, truth = problem
    with pytest.raises(ParameterError, match="n_angles"):
        timed_answers(MSM(n_angles=-1), gallery, labels, probes)
    failed = evaluate("mine", MSM(n_angles=-1), gallery, labels, probes, truth)
    assert failed.error.startswith("ParameterError: ")
