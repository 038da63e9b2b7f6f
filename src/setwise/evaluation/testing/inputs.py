"""Checks with sets in other forms, odd sets, and wrong input."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from setwise._support.types import FloatArray
from setwise.evaluation.testing.data import (
    answers,
    easy_problem,
    fit,
    fresh,
    methods_of,
    raised,
    refusal,
    require,
    require_same,
    require_valid,
)
from setwise.sets import SetBatch

FORMS: dict[str, Callable[[FloatArray], Any]] = {
    "float32": lambda vectors: vectors.astype(np.float32),
    "long doubles": lambda vectors: vectors.astype(np.longdouble),
    "of the other byte order": lambda vectors: vectors.astype(vectors.dtype.newbyteorder()),
    "in Fortran order": np.asfortranarray,
    "every second row of another": lambda vectors: np.repeat(vectors, 2, axis=0)[::2],
    "read-only": lambda vectors: np.frombuffer(vectors.tobytes()).reshape(vectors.shape),
    "memory-mapped": lambda vectors: vectors.view(np.memmap),
    "nested lists": lambda vectors: vectors.tolist(),
}
# Values change, but are numbers still.
NUMBERS: dict[str, Callable[[FloatArray], Any]] = {
    "integers": lambda vectors: (10 * vectors).astype(np.int64),
    "huge integers": lambda vectors: (1e17 * vectors).astype(np.int64),
    "bytes": lambda vectors: np.clip(10 * vectors + 128, 0, 255).astype(np.uint8),
    "booleans": lambda vectors: vectors > 0,
    "float16": lambda vectors: vectors.astype(np.float16),
}


def kinds_of_arrays_do_not_matter(classifier: Any) -> None:
    """The same numbers in another kind of array or collection give the same answers."""
    # Equal sizes, for a 3-D array, and values that single precision holds too.
    problem = easy_problem(n_classes=2, n_sets=2, n_vectors=(8, 8))
    problem = problem.changed(lambda v: v.astype(np.float32).astype(np.float64))
    expected = answers(fit(classifier, problem), problem.probes)
    for kind, convert in FORMS.items():
        form = problem.changed(convert)
        require_same(answers(fit(classifier, form), form.probes), expected, f"of sets {kind}")
    collections: Any = (tuple, SetBatch.from_list, np.stack)
    for collect in collections:
        fitted = fit(classifier, replace(problem, gallery=collect(problem.gallery)))
        found = answers(fitted, collect(problem.probes))
        require_same(found, expected, f"of sets in {type(collect(problem.probes)).__name__}")


def whole_numbers_and_booleans_get_an_answer(classifier: Any) -> None:
    """Pixels are bytes and features may be flags: integers, bytes and booleans are numbers."""
    for kind, convert in NUMBERS.items():
        problem = easy_problem(n_classes=2, n_sets=2).changed(convert)
        fitted = fit(classifier, problem)
        require_valid(fitted, problem.probes, f"sets of {kind}")
        floats = problem.changed(lambda v: v.astype(np.float64)).probes
        found, expected = answers(fitted, problem.probes), answers(fitted, floats)
        require_same(found, expected, f"of probes of {kind}")


def _odd_sets() -> dict[str, FloatArray]:
    """Sets that hold little information, yet are valid."""
    good = easy_problem().probes[0]
    n_features = good.shape[1]
    return {
        "one vector": good[:1],
        "copies of one vector": np.repeat(good[:1], 6, axis=0),
        "every vector twice": np.repeat(good, 2, axis=0),
        "constant vectors": np.ones((5, n_features)),
        "one feature alone": np.eye(1, n_features).repeat(4, axis=0),
        "a zero vector among others": np.vstack([good, np.zeros(n_features)]),
        "vectors on a line": np.outer(np.arange(1.0, 6.0), good[0]),
        "opposite vectors": np.vstack([good, -good]),
        "far from the gallery": 1e6 * good,
        "tiny": 1e-6 * good,
        "vectors of very different norm": good * 10.0 ** -np.arange(len(good))[:, None],
    }


def odd_sets_get_an_answer(classifier: Any) -> None:
    """Duplicates, constants, zero vectors and lines: as probes, and in a gallery."""
    problem, small = easy_problem(), easy_problem(n_sets=2)
    fitted = fit(classifier, problem)
    for kind, vectors in _odd_sets().items():
        require_valid(fitted, [vectors], f"a probe of {kind}")
        odd = replace(small, gallery=[vectors, *small.gallery[1:]])
        probes = [small.probes[0], vectors]
        require_valid(fit(classifier, odd), probes, f"probes of a gallery with {kind}")


def small_sets_get_an_answer(classifier: Any) -> None:
    """A gallery of single vectors, and vectors of three features or one, get an answer."""
    problem = easy_problem()
    short = problem.changed(lambda vectors: vectors[:1])
    require_valid(fit(classifier, short), short.probes + problem.probes, "single vectors")
    for n_features in (3, 1):
        problem = easy_problem(n_features=n_features, n_dims=1)
        what = f"sets of {n_features} features"
        require_valid(fit(classifier, problem), problem.probes, what)


def extreme_values_are_answered_or_refused(classifier: Any) -> None:
    """Numbers whose squares overflow or vanish, and zeros alone: an answer or a ValueError."""
    problem = easy_problem()
    fitted = fit(classifier, problem)
    for scale in (0.0, 1e-300, 1e-160, 1e-100, 1e100, 1e160, 1e300):
        probes = [scale * problem.probes[0]]
        error = raised(partial(fitted.predict, probes))
        if isinstance(error, ValueError):
            require("set 0" in str(error), f"times {scale:g}: {error} names no set.")
        else:
            require_valid(fitted, probes, f"a probe times {scale:g}")


# --------------------------------------------------------------------------------- refusals

WANTED = r"[Ee]xpected|\bmust\b|\brequires\b|\bbut (set|the gallery)\b"


def _require_clear(message: str, method: str, what: str, *hints: str) -> None:
    """Fail unless a message is one line with its owner, the expectation and hints."""
    text = f"{what} is refused with {message!r}"
    require(re.search(rf"\w\.{method}: ", message), f"{text}, not beginning with X.{method}: .")
    require(re.search(WANTED, message), f"{text}, without what was expected.")
    require("\n" not in message, f"{text}, in more than one line.")
    for hint in hints:
        require(hint in message, f"{text}: no {hint!r} in it.")


def _require_refused(classifier: Any, cases: dict[str, tuple[Any, ...]]) -> None:
    """Fail unless ``fit`` and all predictions refuse the sets of each case."""
    fitted = fit(classifier, easy_problem())
    for what, (X, y, *hints) in cases.items():
        calls = {method: partial(getattr(fitted, method), X) for method in methods_of(fitted)}
        calls["fit"] = partial(fresh(classifier).fit, X, y)
        for method, call in calls.items():
            message = refusal(call, f"{method}: {what}")
            _require_clear(message, method, what, *hints)


def bad_sets_are_refused(classifier: Any) -> None:
    """A bad set among good ones is refused by its place, never silently repaired."""
    problem = easy_problem()
    good = problem.probes[0]
    bad: dict[str, tuple[Any, ...]] = {
        "a set of 7 features": (good[:, :7], "7", "20"),
        "a transposed set": (good.T, ".T"),
        "a set without vectors": (np.empty((0, 20)),),
        "a set without features": (np.empty((4, 0)),),
        "a flat vector": (good[0],),
        "a stack of images": (good.reshape(len(good), 4, 5),),
        "a number": (3.0,),
        "None": (None,),
        "a ragged set": ([[1.0, 2.0], [3.0]],),
        "a sparse set": (sp.csr_array(good),),
    }
    for value in (np.nan, np.inf, -np.inf):
        vectors = good.copy()
        vectors[2, 3] = value
        bad[f"a set with {value}"] = (vectors,)
    for dtype in ("str", "complex128", "datetime64[s]", "object"):
        bad[f"a set of {dtype}"] = (good.astype(dtype),)
    cases: dict[str, tuple[Any, ...]] = {}
    for what, (vectors, *hints) in bad.items():
        X = [problem.gallery[0], vectors, *problem.gallery[2:]]
        cases[what] = (X, problem.labels, "set 1", *hints)
    _require_refused(classifier, cases)


def bad_collections_are_refused(classifier: Any) -> None:
    """An empty list, a 2-D array, a sparse matrix, a string or a dict is no list of sets."""
    good = easy_problem().probes[0]
    bad: Any = ([], good, sp.csr_array(good), "albums/", 5, {"anna": good}, good[0], None)
    named = {f"a {type(X).__name__} of shape {np.shape(X)}": (X, [0, 1]) for X in bad}
    _require_refused(classifier, named)


def bad_labels_are_refused(classifier: Any) -> None:
    """One class alone, too few labels or too many, missing ones and fractions are refused."""
    wrong_number: Any = ([0, 1], [0, 1] * 5, np.zeros((9, 2)))
    missing: Any = (None, [None, *range(8)], [np.nan, *range(8)])
    for y in ([1] * 9, *wrong_number, *missing, np.linspace(0, 1, 9)):
        what = f"labels of shape {np.shape(y)}"
        call = partial(fresh(classifier).fit, easy_problem().gallery, y)
        _require_clear(refusal(call, what), "fit", what)
