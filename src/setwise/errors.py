"""Every exception and warning that setwise raises on purpose."""

from __future__ import annotations

from typing import NoReturn

__all__ = [
    "CalibrationWarning",
    "ConvergenceWarning",
    "DataError",
    "DegenerateHullWarning",
    "DegenerateSplitWarning",
    "DeviceError",
    "GuessingWarning",
    "LeakageError",
    "LengthsWarning",
    "MissingExtraError",
    "NoInformationWarning",
    "ParameterError",
    "SetwiseError",
    "SetwiseWarning",
    "SkippedFilesWarning",
    "TooLargeError",
    "TornLineWarning",
    "reject",
]


class SetwiseError(Exception):
    """Anything setwise refuses to do.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.errors import SetwiseError
    >>> try:
    ...     CVC().fit([[[1.0, 2.0]]], ["anna"])
    ... except SetwiseError as error:
    ...     print(type(error).__name__)
    DataError
    """


class DataError(SetwiseError, ValueError):
    """The sets or labels given cannot be used; the message names the culprit.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.errors import DataError
    >>> from setwise.sets import check_sets
    >>> try:
    ...     check_sets([np.array([[1.0, np.nan]])])
    ... except DataError as error:
    ...     print(str(error).partition(" (")[0])
    check_sets: set 0 contains NaN
    """


class LeakageError(DataError):
    """The same image is in the gallery and in a probe, so that an accuracy means little.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.errors import LeakageError
    >>> from setwise.evaluation.leakage import check_leakage
    >>> from setwise.sets import check_sets
    >>> sets = check_sets([np.eye(3), np.eye(3)[:1]])
    >>> try:
    ...     check_leakage(sets, [0], [1])
    ... except LeakageError as error:
    ...     print("is the same as" in str(error))
    True
    """


class ParameterError(SetwiseError, ValueError):
    """A parameter has a value outside what its owner accepts.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.errors import ParameterError
    >>> from setwise.evaluation.testing import separable_sets
    >>> try:
    ...     CVC(unknown=2.0).fit(*separable_sets())
    ... except ParameterError as error:
    ...     print("unknown" in str(error))
    True
    """


class MissingExtraError(SetwiseError, ImportError):
    """An optional dependency is missing; the message says which ``pip install`` helps.

    Examples
    --------
    >>> from setwise._support.extras import require
    >>> from setwise.errors import MissingExtraError
    >>> try:
    ...     require("a_module_that_is_not_there", "faces")
    ... except MissingExtraError as error:
    ...     print('pip install "setwise[faces]"' in str(error))
    True
    """


class DeviceError(SetwiseError, RuntimeError):
    """There is no such device as was asked for.

    Examples
    --------
    >>> from setwise.errors import DeviceError, SetwiseError
    >>> issubclass(DeviceError, SetwiseError)
    True
    """


class TooLargeError(SetwiseError, MemoryError):
    """The work would need more memory than there is; the message says how much.

    Examples
    --------
    >>> from setwise.errors import TooLargeError
    >>> issubclass(TooLargeError, MemoryError)
    True
    """


class SetwiseWarning(UserWarning):
    """The answer stands, but is weaker than usual.

    Examples
    --------
    >>> import warnings
    >>> from setwise.errors import CalibrationWarning, SetwiseWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", SetwiseWarning)
    ...     try:
    ...         warnings.warn("three classes are few", CalibrationWarning)
    ...     except SetwiseWarning as warning:
    ...         print(warning)
    three classes are few
    """


class CalibrationWarning(SetwiseWarning):
    """The gallery is too small to find the threshold that was asked for.

    Examples
    --------
    >>> import warnings
    >>> from setwise import CVC
    >>> from setwise.errors import CalibrationWarning
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets(n_classes=4)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     clf = CVC(unknown=0.05).fit(sets, labels.astype(str))
    >>> any(issubclass(warning.category, CalibrationWarning) for warning in caught)
    True
    """


class ConvergenceWarning(SetwiseWarning):
    """An iteration hit its limit before it converged.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from setwise.cut import PaperCut, bisect
    >>> from setwise.errors import ConvergenceWarning
    >>> path = np.diag(np.ones(59), 1) + np.diag(np.ones(59), -1)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     cut = bisect(path, PaperCut(max_iter=1))
    >>> [warning.category.__name__ for warning in caught], cut.has_converged
    (['ConvergenceWarning'], False)
    """


class DegenerateHullWarning(SetwiseWarning):
    """Hulls fill the whole space, so that they meet and their distance says nothing.

    Examples
    --------
    >>> import warnings
    >>> from setwise.baselines import AHISD
    >>> from setwise.errors import DegenerateHullWarning
    >>> from setwise.evaluation.testing import separable_sets
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     clf = AHISD().fit(*separable_sets(n_features=4))
    >>> any(issubclass(warning.category, DegenerateHullWarning) for warning in caught)
    True
    """


class DegenerateSplitWarning(SetwiseWarning):
    """A cut put every vertex on one side, so a fallback split was used.

    Examples
    --------
    >>> from setwise.errors import DegenerateSplitWarning, SetwiseWarning
    >>> issubclass(DegenerateSplitWarning, SetwiseWarning)
    True
    """


class GuessingWarning(SetwiseWarning):
    """The gallery recognises its own sets, left out, no better than by guessing.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from setwise import CVC
    >>> from setwise.errors import GuessingWarning
    >>> noise = np.random.default_rng(0).normal(size=(12, 8, 20))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     clf = CVC().fit(noise, ["anna", "bert"] * 6)
    >>> any(issubclass(warning.category, GuessingWarning) for warning in caught)
    True
    """


class LengthsWarning(SetwiseWarning):
    """Vectors of very different lengths are scaled to one, which may lose what they say.

    Examples
    --------
    >>> import warnings
    >>> from setwise import CVC
    >>> from setwise.errors import LengthsWarning
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> for vectors in sets:
    ...     vectors[0] *= 1e6
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     clf = CVC().fit(sets, labels)
    >>> any(issubclass(warning.category, LengthsWarning) for warning in caught)
    True
    """


class NoInformationWarning(SetwiseWarning):
    """A probe shares no cluster with any class, so its label is a guess.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from setwise import CVC
    >>> from setwise.errors import NoInformationWarning
    >>> gallery = [np.eye(6)[:2], np.eye(6)[2:4]]
    >>> clf = CVC.as_in_paper(dims=(1, 2), random_state=0).fit(gallery, ["anna", "bert"])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     labels = clf.predict([np.eye(6)[4:]])
    >>> any(issubclass(warning.category, NoInformationWarning) for warning in caught)
    True
    """


class SkippedFilesWarning(SetwiseWarning):
    """Some files could not be read and were left out, as asked; the report lists them.

    Examples
    --------
    >>> import tempfile, warnings
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from setwise import SetBatch, load_images
    >>> from setwise.errors import SkippedFilesWarning
    >>> from setwise.io import save_images
    >>> photos = SetBatch.from_images([np.zeros((4, 16, 16), dtype=np.uint8)], ["album"])
    >>> with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as w:
    ...     warnings.simplefilter("always")
    ...     root = save_images(photos, f"{folder}/photos")
    ...     written = (root / "album" / "broken.png").write_bytes(b"no image")
    ...     sets = load_images(root, on_error="list")
    >>> [warning.category.__name__ for warning in w]
    ['SkippedFilesWarning']
    """


class TornLineWarning(SetwiseWarning):
    """The last result of a run that was killed was half written, and is dropped.

    Examples
    --------
    >>> from setwise.errors import SetwiseWarning, TornLineWarning
    >>> issubclass(TornLineWarning, SetwiseWarning)
    True
    """


def reject(message: str, cause: BaseException | None = None) -> NoReturn:
    """Raise a `DataError`: data cannot be used, and this is why.

    Examples
    --------
    >>> from setwise.errors import DataError, reject
    >>> try:
    ...     reject("mine: set 3 is empty. Expected one vector or more.")
    ... except DataError as error:
    ...     print(error)
    mine: set 3 is empty. Expected one vector or more.
    """
    raise DataError(message) from cause
