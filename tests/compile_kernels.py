"""Compile what the tests run, once: two processes of tests would each compile all of it.

``make test`` runs this first. What is compiled is kept on disk and done once.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from setwise import CVC
from setwise.basis import Dictionary
from setwise.cluster import CutTree, is_indivisible
from setwise.cut import bisect, components, exact_fiedler
from setwise.graph import lasso
from setwise.lasso import gram_lasso


def use(clf: CVC) -> None:
    """Call every kernel that a classifier comes by."""
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(4, 16))
    labels = np.arange(12) % 4
    sets = [centres[label] + rng.normal(size=(6, 16)) for label in labels]
    clf.fit(sets, labels).explain(sets[0])
    clf.enroll(sets[:2], labels[:2]).forget([0]).predict(sets[2:4])


def use_alone() -> None:
    """Call the kernels that a classifier has no need of."""
    ends = np.ones(3200)
    path = sp.diags_array([ends, ends], offsets=[-1, 1]).tocsr()  # large: in single precision
    exact_fiedler(path)
    part = path[:60, :60]
    components(part)
    for rule in ("sweep", "exact"):
        bisect(part, rule)
    CutTree(part).split(0)
    is_indivisible(np.array([0, 1]))
    gram_lasso(np.eye(2), np.array([3.0, 0.5]), np.ones(2))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    use_alone()
    use(CVC(random_state=0))
    use(CVC.as_in_paper(random_state=0))
    use(CVC(dims=(2,), representations=[("plain", Dictionary(2))], random_state=0))
    lasso.GRAM_LIMIT = 0  # pools, in place of the Gram matrix
    use(CVC(random_state=0))
