"""Classifiers in files: read one, or change one while others wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setwise._support.locks import held
from setwise._support.seeds import Seed
from setwise.classify.cvc import CVC
from setwise.classify.gallery_file import load_gallery, write_gallery
from setwise.io.untrusted import regular_file

__all__ = ["edit", "load"]


def load(path: str | Path) -> CVC:
    """The classifier that :meth:`CVC.save` wrote; its answers are the same.

    Nothing in the file is run or imported. One that is damaged, of something else, or of a
    later version is refused with one clear error.

    Parameters
    ----------
    path : str or Path
        The file.

    Examples
    --------
    >>> import numpy as np, tempfile, setwise
    >>> rng = np.random.default_rng(0)
    >>> sets = [rng.normal(size=(8, 12)) + 3 * np.eye(12)[i % 2] for i in range(4)]
    >>> clf = setwise.CVC(dims=(1, 2)).fit(sets, ["anna", "bert", "anna", "bert"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     setwise.load(clf.save(f"{folder}/people.setwise")).predict(sets[:2])
    array(['anna', 'bert'], dtype='<U4')
    """
    gallery, own = load_gallery(path, caller="load")
    how = gallery.description
    made = CVC(
        how.dims,
        representations=[(r.view, r.basis) for r in how.representations],
        graph=how.graph,
        cut=how.cut,
        clusterer=how.clusterer,
        distance=how.distance,
        evidence=how.evidence,
        fusion=how.fusion,
        weights=how.weights,
        outliers=how.outliers,
        unknown=how.unknown,
        unknown_label=own.get("unknown_label", "unknown"),
        distributions=how.distributions,
        stop_early=own.get("stop_early", True),
        shortlist=how.shortlist,
        index=how.index,
        random_state=Seed(how.seed),
    )
    made.gallery_ = gallery
    return made


@contextmanager
def edit(path: str | Path) -> Iterator[CVC]:
    """The classifier of a file, to be changed: written back when the block ends well.

    Meanwhile other processes that want to change the file wait, so that no change is lost;
    those that read it see the old one. Where the block ends in an error nothing is written.

    Parameters
    ----------
    path : str or Path
        What :meth:`CVC.save` wrote.

    Examples
    --------
    >>> import numpy as np, tempfile, setwise
    >>> rng = np.random.default_rng(0)
    >>> sets = [rng.normal(size=(8, 12)) + 3 * np.eye(12)[i % 2] for i in range(5)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = CVC((1, 2)).fit(sets[:4], ["anna", "bert"] * 2).save(f"{folder}/a.setwise")
    ...     with setwise.edit(file) as clf:
    ...         _ = clf.enroll(sets[4:], ["anna"])
    ...     len(setwise.load(file).gallery_.sets)
    5
    """
    given = regular_file("edit", path)
    with held(given):
        classifier = load(given)
        before = classifier.gallery_
        yield classifier
        if classifier.gallery_ is not before:
            beside = classifier._beside_gallery()
            write_gallery(classifier.gallery_, given, classifier=beside, caller="edit")
