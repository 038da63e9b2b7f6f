"""The Triton kernels, run by Triton's interpreter, do what plain NumPy does."""

from __future__ import annotations

import numpy as np
import pytest
from tests.device import reference
from tests.device.host import Host

from setwise.device import DeviceAtoms, code_all
from setwise.lasso import lasso_codes

pytest.importorskip("triton", reason="Triton is not installed")
pytest.importorskip("array_api_compat", reason='needs pip install "setwise[cuda]"')


@pytest.mark.parametrize(("n", "stride", "dtype"), [(70, 1, "float32"), (200, 4, "float64")])
def test_pools(n, stride, dtype):
    gradients = np.random.default_rng(0).normal(size=(3, n)).astype(dtype)
    owns = np.array([0, 5, n + 3])  # the last is no column of these
    made = []
    for run in (Host().run, reference.PlainHost().run):
        pools, counts = np.full((3, 32), -1), np.array([0, 4, 31])
        cutoffs = np.zeros(3, dtype)
        run(
            "choose", 3, gradients, owns, pools, counts, cutoffs, n, stride, 0.9,
            MOST=32, SAMPLE=128, TILE=64,
        )  # fmt: skip
        made.append((pools, counts, cutoffs))
    for one, other in zip(*made, strict=True):
        np.testing.assert_array_equal(one, other)


def test_descent():
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(2, 20, 16))
    columns /= np.linalg.norm(columns, axis=1, keepdims=True)
    gram = (columns.transpose(0, 2, 1) @ columns).astype(np.float32)
    start = np.zeros((2, 16), np.float32)
    start[:, 3] = 0.2
    target = columns[:, :, 0] + 0.5 * columns[:, :, 1] - 0.4 * columns[:, :, 2]
    products = (columns.transpose(0, 2, 1) @ target[:, :, None])[:, :, 0]
    gradients = (products - 0.2 * gram[:, 3]).astype(np.float32)
    made = []
    for run in (Host().run, reference.PlainHost().run):
        a = start.copy()
        run("descend", 2, gram, gradients, a, np.array([16, 12]), 0.1, 1e-5, 25, SIZE=16)
        made.append(a)
    assert made[0] == pytest.approx(made[1], abs=1e-6)
    assert not made[0][1, 12:].any()  # beyond the atoms that there are


@pytest.mark.parametrize("n", [10, 300])
def test_strongest(n):
    gradients = np.random.default_rng(2).normal(size=(2, n))
    made = []
    for run in (Host().run, reference.PlainHost().run):
        values, places = np.zeros((2, 4)), np.zeros((2, 4), np.int64)
        run("strongest", 2, gradients, values, places, n, STRIPS=4, TILE=16)
        made.append((values, places))
    for one, other in zip(*made, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (made[0][0].max(axis=1) == np.abs(gradients).max(axis=1)).all()


def test_codes():
    rows = np.random.default_rng(3).normal(size=(9, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = code_all(DeviceAtoms.of(Host(), rows), 0.2)
    assert found.is_solved.all()
    expected = lasso_codes(rows @ rows.T, 0.2, rank=6)
    assert abs(found.codes.to_csc(9) - expected).max() < 1e-12
