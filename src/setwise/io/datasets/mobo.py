"""CMU MoBo, a user's own copy."""

from __future__ import annotations

import os

import numpy as np

from setwise.errors import reject
from setwise.io.datasets.protocols import Dataset, random_folds
from setwise.io.mat import load_mat

__all__ = ["load_mobo"]


def load_mobo(
    path: str | os.PathLike[str],
    *,
    only_complete: bool = True,
    n_folds: int = 10,
    seed: int = 0,
) -> Dataset:
    """Read CMU MoBo from ``MOBO.mat``, with the paper's folds.

    The paper: 96 sets of 24 subjects, one random gallery set and three probes each, ten times;
    LBP features of 8 x 8 patches of faces of 40 x 40 pixels. The file has 25 subjects and 99
    sets, for one subject lacks a set. Its vectors are taken as they are, whatever features
    they are.

    **The real file was never read here.** This is written to its known layout, a cell array
    ``MOBO`` of 25 subjects x 4 sets, and was tested on made files.

    Parameters
    ----------
    path : path
        The file, as `setwise.io.datasets.fetch` gets it.
    only_complete : bool, default=True
        Keep the subjects that have all four sets, as the paper seems to: 24 of 25.
    n_folds : int, default=10
        How many random folds.
    seed : int, default=0
        Of the folds. The paper does not publish its own.

    Examples
    --------
    >>> from setwise.errors import SetwiseError
    >>> from setwise.io.datasets import load_mobo
    >>> try:
    ...     load_mobo("nowhere.mat")
    ... except SetwiseError as error:
    ...     print(type(error).__name__)
    DataError
    """
    sets = load_mat(path, "MOBO")
    if sets.labels is None:
        reject(
            f"{os.fspath(path)}: MOBO is a row of {len(sets)} sets. Expected a cell array with "
            "one row per subject, 25 x 4."
        )
    subjects, counts = np.unique(sets.labels, return_counts=True)
    complete = subjects[counts == counts.max()]
    kept = complete if only_complete else subjects
    batch = sets.take(np.flatnonzero(np.isin(sets.labels, kept)))
    labels = np.array([f"subject{subject}" for subject in np.asarray(batch.labels)])
    left_out = ", ".join(f"subject{s}" for s in np.setdiff1d(subjects, kept)) or "nobody"
    return Dataset(
        "mobo",
        batch.replaced(labels=labels),
        labels,
        random_folds(labels, 1, n_folds, seed=seed),
        tuple(f"subject{subject}" for subject in kept),
        f"{os.fspath(path)}; {n_folds} random folds (seed {seed}), one gallery set per "
        f"subject; left out: {left_out}.",
    )
