"""Whatever is given for a parameter, a ParameterError names it, and nothing else is raised."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest

from setwise._support.parameters import (
    as_tuple,
    check_choice,
    check_count,
    check_jobs,
    check_known,
    check_not_negative,
    check_number,
    check_shape,
    refuse,
)
from setwise.baselines import CDL, GDA, ISCRC, MDA, MSM, SANP
from setwise.baselines.clusterers import SKMS, SSC
from setwise.errors import ParameterError, SetwiseError
from setwise.graph import GaussianGraph, LassoGraph, LeastSquaresGraph, OMPGraph


class Odd:
    """Does not want to be compared, shown or asked for its truth."""

    __hash__ = None

    def _refuse(self, *_):
        raise RuntimeError("odd")

    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __bool__ = __repr__ = __str__ = _refuse


HOSTILE = [
    None, -1, 0, 1.5, np.nan, np.inf, "", "x", "x" * 10**5, b"\x01", True, np.True_, [], (),
    {}, set(), np.array(3), np.array([1, 2]), np.array([]), np.full((16, 16), np.nan), 10**30,
    -(10**30), 10**5000, 1 + 0j, object(), Odd(), int, np.float32(np.nan), 1e-320, 1e308,
    np.datetime64("2020"), [[1], [1, 2]],
]  # fmt: skip
CHECKS = {
    "count": lambda value: check_count("A", "b", value),
    "number": lambda value: check_number("A", "b", value, at_most=1.0),
    "not negative": lambda value: check_not_negative("A", "b", value, at_most=1.0),
    "choice": lambda value: check_choice("A", "b", value, ("c", None)),
    "shape": lambda value: check_shape("A", "b", value, optional=True),
    "jobs": lambda value: check_jobs("A", value),
    "known": lambda value: check_known("A", "b", value, {"c": 1}),
    "tuple": lambda value: as_tuple("A", "b", value),
    "refuse": lambda value: refuse("A", "b", "c", value),
}


@pytest.mark.parametrize("check", CHECKS)
def test_checks_refuse_in_one_short_line_or_accept(check):
    n_refused = 0
    for value in HOSTILE:
        try:
            CHECKS[check](value)
        except ParameterError as error:
            n_refused += 1
            message = str(error)
            assert message.startswith("A: ")
            assert "\n" not in message
            assert len(message) < 250
    assert n_refused > len(HOSTILE) // 2


@pytest.mark.parametrize(
    ("check", "accepted"),
    [
        ("count", [1, 10**30 // 10**15, np.uint8(3)]),
        ("number", [1, 1e-320, np.float32(0.5), 1.0]),
        ("not negative", [0, 0.0, 1]),
        ("choice", ["c", None]),
        ("shape", [None, 3, (4, 5), [4, np.int64(5)]]),
        ("jobs", [None, 1, -1, -2, np.int64(4)]),
        ("known", ["c"]),
    ],
)
def test_checks_accept_what_they_say(check, accepted):
    for value in accepted:
        CHECKS[check](value)


def test_a_generator_is_read_once():
    assert as_tuple("CVC", "dims", (d for d in (1, 2))) == (1, 2)
    assert as_tuple("CVC", "dims", np.array([1, 2])) == (1, 2)
    assert as_tuple("CVC", "dims", range(1, 4)) == (1, 2, 3)


@pytest.mark.parametrize("value", ["svd", b"\x01", 3, np.array(3), (), None, itertools.count()])
def test_what_is_no_sequence_is_refused(value):
    with pytest.raises(
        ParameterError, match=r"^CVC: dims must be a sequence of ints, from 1 to"
    ):
        as_tuple("CVC", "dims", value, of="ints")


def sets():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(4, 6)) for _ in range(4)], [0, 0, 1, 1]


def columns():
    array = np.random.default_rng(0).normal(size=(8, 10))
    return array / np.linalg.norm(array, axis=0)


def use_graph(graph):
    graph.solve(columns()).insert(columns()[:, :2])


def use_rival(rival):
    rival.fit(*sets()).predict(sets()[0][:1])


def use_clusterer(clusterer):
    points = np.random.default_rng(0).normal(size=(8, 3))
    clusterer.fit(points, [0, 0, 1, 1, -1, -1, -1, -1])


OWNERS = [
    *((graph, use_graph) for graph in (LassoGraph, GaussianGraph, LeastSquaresGraph, OMPGraph)),
    *((rival, use_rival) for rival in (CDL, GDA, ISCRC, MDA, MSM, SANP)),
    *((clusterer, use_clusterer) for clusterer in (SSC, SKMS)),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "use", "name"),
    [(make, use, name) for make, use in OWNERS for name in inspect.signature(make).parameters],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_no_parameter_raises_anything_but_our_errors(make, use, name):
    refused = []
    for value in HOSTILE:
        if name.startswith("lambda_") and type(value) is float and value == 1.5:
            continue  # fine, and slow
        try:
            use(make(**{name: value}))
        except SetwiseError as error:
            refused.append(str(error))
    assert len(refused) > len(HOSTILE) // 2
    assert max(map(len, refused)) < 350
