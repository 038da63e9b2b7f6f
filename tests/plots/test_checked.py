import numpy as np
import pytest

from setwise.errors import DataError
from setwise.plots.checked import finite, matrix, same_length, some


def test_what_is_fine_passes():
    some("f", a=[1])
    same_length("f", a=[1, 2], b=(3, 4), c=np.zeros((2, 5)))
    np.testing.assert_array_equal(finite("f", "a", (1, 2)), [1.0, 2.0])
    np.testing.assert_array_equal(matrix("f", "a", ((1, 2),)), [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: some("f", a=[1], b=[]), "f: b is empty"),
        (lambda: same_length("f", a=[1], b=[1, 2]), "f: 1 in a, 2 in b. Expected as many"),
        (lambda: finite("f", "a", [1, np.nan]), "f: a holds nan at 1. Expected finite"),
        (lambda: finite("f", "a", [[1], [np.inf]]), r"f: a holds inf at \(1, 0\)"),
        (lambda: finite("f", "a", [None, "x"]), "f: a holds something that is no number"),
        (lambda: matrix("f", "a", [[1, 2], [3]]), "rows of different lengths"),
        (lambda: matrix("f", "a", [1, 2]), r"f: a has the shape \(2,\)"),
        (lambda: matrix("f", "a", [[]]), r"f: a has the shape \(1, 0\)"),
    ],
)
def test_what_is_not_is_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()
