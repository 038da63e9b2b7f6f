"""Long work says how far it has come."""

from __future__ import annotations

import logging

import numpy as np

from setwise import LassoGraph
from setwise._support import progress
from setwise.graph import lasso
from setwise.lasso import pools


def test_results_pass_and_the_estimate_falls(caplog, monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    caplog.set_level(logging.INFO, logger="setwise")
    assert list(progress.reported("abcd", 4, "letters")) == list("abcd")
    assert [record.getMessage() for record in caplog.records] == [
        "letters: 25 % done",
        "letters: 50 % done, about 20 s left",
        "letters: 75 % done, about 10 s left",
    ]


def test_short_work_says_nothing(caplog):
    caplog.set_level(logging.INFO, logger="setwise")
    assert list(progress.reported(range(5), 5, "numbers")) == [0, 1, 2, 3, 4]
    assert not caplog.records


def test_a_large_gallery_reports_how_far_it_is(caplog, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(lasso, "GRAM_LIMIT", 0)
    monkeypatch.setattr(pools, "_BLOCK", 10)
    caplog.set_level(logging.INFO, logger="setwise")
    columns = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 40)))[0]
    LassoGraph().solve(columns)
    assert "lasso graph of 40 columns: 25 % done" in caplog.text
