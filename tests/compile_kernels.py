"""Compile what the tests run, once: two processes of tests would each compile all of it.

``make test`` runs this first. What is compiled is kept on disk and done once.
"""

from __future__ import annotations

import warnings

import numpy as np

from setwise import CVC
from setwise.basis import Dictionary
from setwise.graph import lasso


def use(clf: CVC) -> None:
    """Call every kernel that a classifier comes by."""
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(4, 16))
    labels = np.arange(12) % 4
    sets = [centres[label] + rng.normal(size=(6, 16)) for label in labels]
    clf.fit(sets, labels).explain(sets[0])
    clf.enroll(sets[:2], labels[:2]).forget([0]).predict(sets[2:4])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    use(CVC(random_state=0))
    use(CVC.as_in_paper(random_state=0))
    use(CVC(dims=(2,), representations=[("plain", Dictionary(2))], random_state=0))
    lasso.GRAM_LIMIT = 0  # pools, in place of the Gram matrix
    use(CVC(random_state=0))
