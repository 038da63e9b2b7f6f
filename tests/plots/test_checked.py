import numpy as np
import pytest

from setwise.errors import DataError
from setwise.plots.checked import finite, some


def test_what_is_fine_passes():
    some("f", a=[1])
    np.testing.assert_array_equal(finite("f", "a", (1, 2)), [1.0, 2.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: some("f", a=[1], b=[]), "f: b is empty"),
        (lambda: finite("f", "a", [1, np.nan]), "f: a holds nan at 1. Expected finite"),
        (lambda: finite("f", "a", [[1], [np.inf]]), r"f: a holds inf at \(1, 0\)"),
        (lambda: finite("f", "a", [None, "x"]), "f: a holds something that is no number"),
    ],
)
def test_what_is_not_is_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()
