"""Gallery files of earlier versions, written anew in today's format."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.files import held, real_path
from setwise._support.parallel import quiet
from setwise.classify.cvc import CVC
from setwise.classify.saved import load
from setwise.errors import SetwiseWarning, reject
from setwise.gallery.file import FORMAT, write_gallery
from setwise.gallery.journal import file_digest, link
from setwise.io.tensors import read_tensors
from setwise.io.untrusted import regular_file

N_COMPARED, CLOSE = 20, 1e-9


@dataclass(frozen=True)
class Migrated:
    """Format and version of a file before and now, and where the old file is kept."""

    before: tuple[int, str]
    now: tuple[int, str]
    kept: Path | None

    @property
    def is_changed(self) -> bool:
        """Whether the file was written anew."""
        return self.kept is not None


def migrate(path: str | Path) -> Migrated:
    """Write a gallery file as this version writes it; the old one is kept beside it.

    Answers do not change: up to 20 sets of the gallery are judged by both files, and where a
    probability differs the old file stays.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from setwise import CVC
    >>> from setwise.classify.migrated import migrate
    >>> rng = np.random.default_rng(0)
    >>> sets = [rng.normal(size=(8, 12)) + 3 * np.eye(12)[i % 2] for i in range(4)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = CVC((1, 2)).fit(sets, ["anna", "bert"] * 2).save(f"{folder}/a.setwise")
    ...     migrate(file).is_changed
    False
    """
    given = real_path(regular_file("migrate", path))
    with held(given):
        before = _written_by(given)
        classifier = load(given)
        fresh = given.with_name(f".{given.name}.migrated.tmp")
        try:
            beside = classifier._beside_gallery()
            keeps = classifier.gallery_.has_vectors
            write_gallery(
                classifier.gallery_, fresh, classifier=beside, keep_vectors=keeps,
                caller="migrate",
            )  # fmt: skip
            now = _written_by(fresh)
            if now == before:
                return Migrated(before, now, None)
            _check_same(classifier, load(fresh), given)
            kept = given.with_name(f"{given.name}.{file_digest(given)[:8]}.old")
            link(given, kept)
            fresh.chmod(given.stat().st_mode & 0o777)
            fresh.replace(given)
        finally:
            fresh.unlink(missing_ok=True)
    return Migrated(before, now, kept)


def _written_by(path: Path) -> tuple[int, str]:
    """Format of a file, and the version of setwise that wrote it."""
    document, _ = read_tensors(path, "migrate", FORMAT)
    own = document.get("versions", {}).get("setwise", "unknown")
    return int(document["format"]), str(own or version("setwise"))


def _check_same(old: CVC, new: CVC, path: Path) -> None:
    """Refuse a new file that answers otherwise."""
    is_same = np.array_equal(old.classes_, new.classes_)
    if is_same and old.gallery_.has_vectors:
        is_same = np.allclose(_answers(old), _answers(new), rtol=0.0, atol=CLOSE)
    if not is_same:
        reject(
            f"migrate: {str(path)!r} would answer otherwise after it, so it stays as it is. "
            "Report that; until then, this version reads the file as it is."
        )


def _answers(classifier: CVC) -> npt.NDArray[Any]:
    sets = classifier.gallery_.sets
    some = np.unique(np.linspace(0, len(sets) - 1, N_COMPARED).astype(np.int64))
    with quiet("", SetwiseWarning):
        return np.asarray(classifier.predict_proba(sets.take(some)))
