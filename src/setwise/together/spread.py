"""Labels spread over the graph of sets: each unlabelled set asks the sets nearest to it.

A walker on an unlabelled set steps to one of its nearest sets, the more alike the more often,
until it comes to a labelled set, or gives up. The probability of a class is the share of the
walkers that end at its sets: absorbing random walks, or label propagation with clamped labels
(Zhu, Ghahramani and Lafferty 2003) on a directed graph. It is directed because a labelled set
whose class has no other set is near to something all the same, and must not claim it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import bicgstab, splu

from setwise._support.types import BoolArray, FloatArray, IntArray

# Probability that a walker goes on; the others come from everywhere.
GOING_ON = 0.99
# Unlabelled sets up to which the system is factored, and precision of larger ones.
MOST_FACTORED, _PRECISION = 3000, 1e-8
# Share of each class that a set has at least, for corrections of sizes to act on.
_LEAST = 1e-6


def walked(
    steps: sp.csr_array, codes: IntArray, n_classes: int, *, going_on: float = GOING_ON
) -> FloatArray:
    """Share of the walkers from each set that end at each class, shape (n_sets, n_classes).

    Rows of unlabelled sets sum to at most 1; what is missing has given up. A labelled set has
    its own class.

    Parameters
    ----------
    steps : csr_array of shape (n_sets, n_sets)
        Probability of each step, see :meth:`setwise.together.SetGraph.steps`.
    codes : array of shape (n_sets,)
        Class of each set, -1 where it is unlabelled.
    n_classes : int
        Number of classes.
    going_on : float
        Probability that a walker goes on at an unlabelled set.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from setwise.together import walked
    >>> chain = sp.csr_array([[0, 1, 0.0], [0.5, 0, 0.5], [0, 1, 0]])
    >>> walked(chain, np.array([0, -1, 1]), 2, going_on=1.0)[1]
    array([0.5, 0.5])
    """
    known, asked = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    shares = np.zeros((len(codes), n_classes))
    shares[known, codes[known]] = 1.0
    if len(known) and len(asked):
        rows = going_on * steps[asked]
        system = sp.eye_array(len(asked), format="csr") - rows[:, asked]
        shares[asked] = _solved(system, rows[:, known] @ shares[known])
    return np.clip(shares, 0.0, 1.0)


def _solved(system: sp.csr_array, ends: FloatArray) -> FloatArray:
    """Solution for each column; of large systems by iteration, whose factors would be full."""
    if len(ends) <= MOST_FACTORED:
        found: FloatArray = splu(sp.csc_array(system)).solve(ends)
        return found
    columns = [bicgstab(system, end, rtol=_PRECISION)[0] for end in ends.T]
    return np.stack(columns, axis=1)


def class_probabilities(shares: FloatArray, counted: BoolArray | None = None) -> FloatArray:
    """Probabilities of unlabelled sets, with class sizes drawn towards even ones.

    Some classes attract more walkers than others, so that the sizes that follow from the
    shares vary even where classes are equally large. They are replaced by sizes of which the
    deviation from even ones is shrunk (empirical Bayes): by the variance that the
    probabilities themselves leave open, over the variance of the sizes.

    Parameters
    ----------
    shares : array of shape (n_sets, n_classes)
        Of unlabelled sets, see :func:`walked`.
    counted : array of bool of shape (n_sets,), optional
        Sets that count for the sizes; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.together.spread import class_probabilities
    >>> class_probabilities(np.array([[0.6, 0.2], [0.5, 0.4]])).round(2)
    array([[0.69, 0.31],
           [0.48, 0.52]])
    """
    probabilities = _rows_to_one(shares + _LEAST)
    of = probabilities if counted is None else probabilities[counted]
    if not len(of):
        return probabilities
    sizes = of.sum(axis=0)
    wanted = shrunk_sizes(sizes, float((of * (1.0 - of)).sum(axis=0).mean()))
    return _rows_to_one(probabilities * (wanted + 1.0) / (sizes + 1.0))


def shrunk_sizes(sizes: FloatArray, variance: float) -> FloatArray:
    """Sizes drawn towards their mean by the share of their variance that is noise.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.together.spread import shrunk_sizes
    >>> shrunk_sizes(np.array([4.0, 6.0]), variance=0.5)
    array([4.5, 5.5])
    """
    mean = sizes.mean()
    spread = float(((sizes - mean) ** 2).mean())
    noise = min(1.0, variance / spread) if spread > 0 else 1.0
    shrunk: FloatArray = mean + (1.0 - noise) * (sizes - mean)
    return shrunk


def _rows_to_one(values: FloatArray) -> FloatArray:
    scaled: FloatArray = values / values.sum(axis=1, keepdims=True)
    return scaled


def carriers(
    steps: sp.csr_array, shares: FloatArray, i: int, code: int
) -> list[tuple[int, float]]:
    """The sets that a set has a class from, and the share of each; the largest first.

    Of the walkers that start at set ``i`` and end at the class, by their first step.
    """
    row = slice(steps.indptr[i], steps.indptr[i + 1])
    flow = steps.data[row] * shares[steps.indices[row], code]
    if not flow.sum() > 0:
        return []
    order = np.argsort(-flow, kind="stable")
    parts = (flow / flow.sum())[order].tolist()
    return list(zip(steps.indices[row][order].tolist(), parts, strict=True))
