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
    """Anything setwise refuses to do."""


class DataError(SetwiseError, ValueError):
    """The sets or labels given cannot be used; the message names the culprit."""


class LeakageError(DataError):
    """The same image is in the gallery and in a probe, so that an accuracy means little."""


class ParameterError(SetwiseError, ValueError):
    """A parameter has a value outside what its owner accepts."""


class MissingExtraError(SetwiseError, ImportError):
    """An optional dependency is missing; the message says which ``pip install`` helps."""


class DeviceError(SetwiseError, RuntimeError):
    """There is no such device as was asked for."""


class TooLargeError(SetwiseError, MemoryError):
    """The work would need more memory than there is; the message says how much."""


class SetwiseWarning(UserWarning):
    """The answer stands, but is weaker than usual."""


class CalibrationWarning(SetwiseWarning):
    """The gallery is too small to find the threshold that was asked for."""


class ConvergenceWarning(SetwiseWarning):
    """An iteration hit its limit before it converged."""


class DegenerateHullWarning(SetwiseWarning):
    """Hulls fill the whole space, so that they meet and their distance says nothing."""


class DegenerateSplitWarning(SetwiseWarning):
    """A cut put every vertex on one side, so a fallback split was used."""


class GuessingWarning(SetwiseWarning):
    """The gallery recognises its own sets, left out, no better than by guessing."""


class LengthsWarning(SetwiseWarning):
    """Vectors of very different lengths are scaled to one, which may lose what they say."""


class NoInformationWarning(SetwiseWarning):
    """A probe shares no cluster with any class, so its label is a guess."""


class SkippedFilesWarning(SetwiseWarning):
    """Some files could not be read and were left out, as asked; the report lists them."""


class TornLineWarning(SetwiseWarning):
    """The last result of a run that was killed was half written, and is dropped."""


def reject(message: str, cause: BaseException | None = None) -> NoReturn:
    """Raise a `DataError`: data cannot be used, and this is why."""
    raise DataError(message) from cause
