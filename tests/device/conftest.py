"""What the tests of the device share."""

from __future__ import annotations

import os

import pytest

from setwise.device import lasso as device_lasso

# Before anything imports Triton: its kernels are interpreted here, GPU or not.
os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture(autouse=True, scope="module")
def small_pools():
    """Small ones will do for few columns, and a descent in plain Python takes its time."""
    patch = pytest.MonkeyPatch()
    for name, value in (("_FIRST_POOL", 32), ("_SMALLEST_POOL", 16), ("_STEPS_PER_ATOM", 4)):
        patch.setattr(device_lasso, name, value)
    yield
    patch.undo()
