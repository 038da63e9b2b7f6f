"""What a worker says of an item: warnings are counted, in whichever process it is done."""

from __future__ import annotations

import warnings

import pytest

from setwise.errors import ConvergenceWarning
from setwise_paper.kinds.gaussians import GaussiansItem
from setwise_paper.runner import run_items
from setwise_paper.store import Store

WORK = {
    f"key {draw}": GaussiansItem(distance=2, size=3, variance=1.0, draw=draw, seed=0)
    for draw in range(3)
}


def warn_twice(item: GaussiansItem) -> dict[str, int]:
    for _ in range(2):
        warnings.warn("not there yet", ConvergenceWarning, stacklevel=1)
    return {"draw": item.draw}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_warning_of_every_item_is_counted(tmp_path, n_jobs):
    with Store(tmp_path) as store:
        run_items(WORK, store, warn_twice, n_jobs=n_jobs)
        heard = [store.finished[key].warnings for key in WORK]
    assert heard == [{"ConvergenceWarning": 2}] * 3
    with Store(tmp_path) as again:
        assert [again.finished[key].warnings for key in WORK] == heard
