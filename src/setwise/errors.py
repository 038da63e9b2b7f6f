"""Every exception and warning that setwise raises on purpose."""

from __future__ import annotations

from typing import NoReturn

__all__ = [
    "CalibrationWarning", "ConvergenceWarning", "DataError", "DegenerateHullWarning",
    "DegenerateSplitWarning", "GuessingWarning", "LeakageError",
    "LengthsWarning", "MissingExtraError", "NoInformationWarning", "ParameterError",
    "SetwiseError", "SetwiseWarning", "SkippedFilesWarning", "TooLargeError",
    "TornLineWarning", "reject",
]  # fmt: skip


class SetwiseError(Exception):
    """Base of all errors of setwise."""


class DataError(SetwiseError, ValueError):
    """Sets, labels or a file cannot be used; the message names the culprit."""


class LeakageError(DataError):
    """An image is in the gallery and in a probe, so that an accuracy means little."""


class ParameterError(SetwiseError, ValueError):
    """A parameter has a value that its owner does not accept."""


class MissingExtraError(SetwiseError, ImportError):
    """An optional dependency is missing; the message has the ``pip install`` that helps."""


class TooLargeError(SetwiseError, MemoryError):
    """The work needs more memory than there is; the message says how much."""


class SetwiseWarning(UserWarning):
    """Base of all warnings: the answer stands, but is weaker than usual."""


class CalibrationWarning(SetwiseWarning):
    """The gallery is too small for the requested false-acceptance rate."""


class ConvergenceWarning(SetwiseWarning):
    """An iteration reached its limit before it converged."""


class DegenerateHullWarning(SetwiseWarning):
    """Hulls fill the whole space, so that they meet and their distance says nothing."""


class DegenerateSplitWarning(SetwiseWarning):
    """A cut put every vertex on one side, so a fallback split was used."""


class GuessingWarning(SetwiseWarning):
    """The gallery recognises its own held-out sets no better than chance."""


class LengthsWarning(SetwiseWarning):
    """Vectors differ so much in length that scaling them to one may lose information."""


class NoInformationWarning(SetwiseWarning):
    """A probe shares no cluster with any class, so its label is a guess."""


class SkippedFilesWarning(SetwiseWarning):
    """Unreadable files were left out, as requested; the report lists them."""


class TornLineWarning(SetwiseWarning):
    """The last result of a run that was killed is incomplete, and is dropped."""


def reject(message: str, cause: BaseException | None = None) -> NoReturn:
    """Raise a `DataError` with a message and its cause.

    Examples
    --------
    >>> reject("mine: set 3 is empty. Expected one vector or more.")
    Traceback (most recent call last):
    setwise.errors.DataError: mine: set 3 is empty. Expected one vector or more.
    """
    raise DataError(message) from cause
