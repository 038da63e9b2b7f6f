"""Honda/UCSD, a user's own copy."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from setwise.errors import reject
from setwise.io.datasets.protocols import Dataset, random_folds
from setwise.io.mat import load_mat

__all__ = ["load_honda"]

# How many of the 59 sets, in their order, each of the 20 subjects has, by the settings of the
# code that goes with the file. Subject 19 has one only, and is never a probe.
SETS_OF_SUBJECT = (3, 3, 3, 2, 5, 2, 2, 3, 4, 3, 4, 3, 3, 5, 3, 3, 2, 3, 1, 2)


def load_honda(
    path: str | os.PathLike[str],
    *,
    labels: npt.ArrayLike | None = None,
    n_folds: int = 10,
    seed: int = 0,
) -> Dataset:
    """Read Honda/UCSD from ``honda_heq.mat``, with the paper's folds.

    The paper: 59 sets of 20 subjects, grey faces of 20 x 20 pixels with equalised histograms;
    one random set per subject is the gallery and the other 39 are probes, ten times.

    **The real file was never read here.** This is written to its known layout, a cell array
    ``ImgData`` of 59 matrices of 400 x n, and was tested on made files. The file names no
    subjects; who is who is taken from the settings of the code published with it.

    Parameters
    ----------
    path : path
        The file, as `setwise.io.datasets.fetch` gets it.
    labels : array of shape (n_sets,), optional
        Subject of each set, where your copy has another order.
    n_folds : int, default=10
        How many random folds.
    seed : int, default=0
        Of the folds. The paper does not publish its own.

    Examples
    --------
    >>> from setwise.errors import SetwiseError
    >>> from setwise.io.datasets import load_honda
    >>> try:
    ...     load_honda("nowhere.mat")
    ... except SetwiseError as error:
    ...     print(type(error).__name__)
    DataError
    """
    sets = load_mat(path, "ImgData", image_shape=(20, 20))
    known = np.repeat([f"subject{i}" for i in range(1, 21)], SETS_OF_SUBJECT)
    if labels is not None:
        known = np.asarray(labels)
    if known.shape != (len(sets),):
        expected = f"labels of {known.shape}" if labels is not None else "the known order of 59"
        reject(
            f"{os.fspath(path)}: ImgData holds {len(sets)} sets, which does not fit "
            f"{expected}. Expected one subject per set: give them as labels."
        )
    return Dataset(
        "honda",
        sets.replaced(labels=known),
        known,
        random_folds(known, 1, n_folds, seed=seed),
        tuple(dict.fromkeys(known.tolist())),
        f"{os.fspath(path)}; {n_folds} random folds (seed {seed}), one gallery set per "
        "subject.",
    )
