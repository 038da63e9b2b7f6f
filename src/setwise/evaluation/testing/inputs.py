"""Checks of the forms sets come in, and of sets that are odd but no mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from setwise._support.types import FloatArray
from setwise.evaluation.testing.data import easy_problem
from setwise.evaluation.testing.expect import (
    answers,
    fresh,
    require,
    require_same_answers,
    require_valid_answers,
)
from setwise.evaluation.testing.registry import check
from setwise.sets import SetBatch


def _read_only(vectors: FloatArray) -> FloatArray:
    copy = vectors.copy()
    copy.flags.writeable = False
    return copy


# What may be done to the array of a set without changing its values.
ARRAYS: dict[str, Callable[[FloatArray], Any]] = {
    "float32": lambda vectors: vectors.astype(np.float32),
    "long doubles": lambda vectors: vectors.astype(np.longdouble),
    "of the other byte order": lambda vectors: vectors.astype(vectors.dtype.newbyteorder()),
    "in Fortran order": np.asfortranarray,
    "every second row of another": lambda vectors: np.repeat(vectors, 2, axis=0)[::2],
    "read-only": _read_only,
    "memory-mapped": lambda vectors: vectors.view(np.memmap),
    "nested lists": lambda vectors: vectors.tolist(),
}
# What sets may be collected in, where they are of equal size.
COLLECTIONS: dict[str, Callable[[list[FloatArray]], Any]] = {
    "tuple": tuple,
    "SetBatch": SetBatch.from_list,
    "3-D array": np.stack,
}
# Other kinds of numbers than floats of full length; values change, but are numbers still.
NUMBERS: dict[str, Callable[[FloatArray], Any]] = {
    "integers": lambda vectors: (10 * vectors).astype(np.int64),
    "huge integers": lambda vectors: (1e17 * vectors).astype(np.int64),
    "bytes": lambda vectors: np.clip(10 * vectors + 128, 0, 255).astype(np.uint8),
    "booleans": lambda vectors: vectors > 0,
    "float16": lambda vectors: vectors.astype(np.float16),
}


@check()
def kinds_of_arrays_do_not_matter(classifier: Any) -> None:
    """The same numbers in arrays of another kind give the same answers."""
    problem = easy_problem(n_classes=2, n_sets=2)
    # Values that single precision holds as well, so that all kinds can be equal.
    gallery, probes = (
        [vectors.astype(np.float32).astype(np.float64) for vectors in sets]
        for sets in (problem.gallery, problem.probes[::2])
    )
    expected = answers(fresh(classifier).fit(gallery, problem.labels), probes)
    for kind, convert in ARRAYS.items():
        fitted = fresh(classifier).fit([convert(v) for v in gallery], problem.labels)
        found = answers(fitted, [convert(v) for v in probes])
        require_same_answers(found, expected, f"of sets that are {kind}")


@check()
def kinds_of_collections_do_not_matter(classifier: Any) -> None:
    """Sets in a tuple, a SetBatch or a 3-D array are the sets in a list."""
    problem = easy_problem(n_classes=2, n_sets=2, n_vectors=(8, 8))
    fitted = fresh(classifier).fit(problem.gallery, problem.labels)
    expected = answers(fitted, problem.probes)
    for kind, collect in COLLECTIONS.items():
        fitted = fresh(classifier).fit(collect(problem.gallery), problem.labels)
        found = answers(fitted, collect(problem.probes))
        require_same_answers(found, expected, f"of sets in a {kind}")


@check()
def kinds_of_label_collections_do_not_matter(classifier: Any) -> None:
    """Labels in a list are the labels in an array."""
    problem = easy_problem()
    array, listed = (
        answers(fresh(classifier).fit(problem.gallery, labels), problem.probes)
        for labels in (problem.labels, problem.labels.tolist())
    )
    require_same_answers(listed, array, "with labels in a list")


def _odd_sets() -> dict[str, FloatArray]:
    """Sets that hold little or strange information, yet are sets."""
    good = easy_problem().probes[0]
    n_features = good.shape[1]
    return {
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


@check()
def odd_probes_get_an_answer(classifier: Any) -> None:
    """Duplicates, constants, zero vectors and lines get finite scores and a known label."""
    problem = easy_problem()
    fitted = fresh(classifier).fit(problem.gallery, problem.labels)
    for kind, vectors in _odd_sets().items():
        require_valid_answers(fitted, [vectors], f"a probe of {kind}")


@check()
def odd_gallery_sets_can_be_fitted(classifier: Any) -> None:
    """A gallery with such sets in it answers ordinary probes, and the odd set itself."""
    problem = easy_problem(n_sets=2)
    for kind, vectors in _odd_sets().items():
        gallery = [vectors, *problem.gallery[1:]]
        fitted = fresh(classifier).fit(gallery, problem.labels)
        probes = [problem.probes[0], vectors]
        require_valid_answers(fitted, probes, f"probes of a gallery with {kind}")


@check()
def whole_numbers_and_booleans_get_an_answer(classifier: Any) -> None:
    """Pixels are bytes and features may be flags: integers, bytes and booleans are numbers."""
    problem = easy_problem(n_classes=2, n_sets=2)
    for kind, convert in NUMBERS.items():
        gallery = [convert(vectors) for vectors in problem.gallery]
        probes = [convert(vectors) for vectors in problem.probes[::2]]
        fitted = fresh(classifier).fit(gallery, problem.labels)
        require_valid_answers(fitted, probes, f"sets of {kind}")
        as_floats = [np.asarray(vectors, dtype=np.float64) for vectors in probes]
        found, expected = answers(fitted, probes), answers(fitted, as_floats)
        require_same_answers(found, expected, f"of probes of {kind}")


@check()
def extreme_values_are_answered_or_refused(classifier: Any) -> None:
    """Numbers whose squares overflow or vanish, and zeros alone: an answer or a ValueError."""
    problem = easy_problem()
    fitted = fresh(classifier).fit(problem.gallery, problem.labels)
    for scale in (0.0, 1e-300, 1e-160, 1e-100, 1e100, 1e160, 1e300):
        probes = [scale * problem.probes[0]]
        try:
            fitted.predict(probes)
        except ValueError as error:
            require("set 0" in str(error), f"times {scale:g}: {error} names no set.")
            continue
        require_valid_answers(fitted, probes, f"a probe times {scale:g}")
