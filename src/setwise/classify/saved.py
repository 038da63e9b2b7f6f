"""Classifiers in files: read one, or change one while others wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from setwise._support.files import held
from setwise._support.parameters import Seed
from setwise.classify.cvc import CVC
from setwise.gallery.file import load_gallery, write_gallery
from setwise.index import Index
from setwise.io.untrusted import regular_file


def load(path: str | Path, *, index: str | Index | None = None) -> CVC:
    """The classifier that :meth:`CVC.save` wrote; its answers are the same.

    Nothing in the file is run or imported, and it names no other file or address. A file that
    is damaged, something else, or of a later version is refused with one clear error.

    Parameters
    ----------
    path : str or Path
        The file.
    index : str or Index, optional
        Replaces the index that the file names, such as one with an address.

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
    other = None if index is None else Index.of(index, "load")
    gallery, own = load_gallery(path, index=other, caller="load")
    how = gallery.description
    shared = {field.name: getattr(how, field.name) for field in fields(how)}
    seed, pairs = shared.pop("seed"), [(r.view, r.basis) for r in how.representations]
    made = CVC(
        **shared | {"representations": pairs},
        unknown_label=own.get("unknown_label", "unknown"),
        stop_early=own.get("stop_early", True),
        random_state=Seed(seed),
    )
    made.gallery_ = gallery
    reading = own.get("reading")
    made.reading_ = reading if isinstance(reading, dict) else {}
    return made


@contextmanager
def edit(path: str | Path, *, index: str | Index | None = None) -> Iterator[CVC]:
    """The classifier of a file; changes are written back when the block ends well.

    Other processes that change the file wait meanwhile, so that no change is lost; readers see
    the old file. Where the block ends in an error, nothing is written.

    Parameters
    ----------
    path : str or Path
        What :meth:`CVC.save` wrote; a link stays, and the file behind it changes.
    index : str or Index, optional
        As for :func:`load`.

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
        classifier = load(given, index=index)
        before = classifier.gallery_
        yield classifier
        if classifier.gallery_ is not before:
            beside = classifier._beside_gallery()
            write_gallery(classifier.gallery_, given, classifier=beside, caller="edit")
