"""Warnings of other libraries about what is normal here."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from setwise._support.shared import SharedContext

__all__ = ["quiet"]

# The filters belong to all threads.
_FILTERS = SharedContext(warnings.catch_warnings)


@contextmanager
def quiet(message: str, category: type[Warning]) -> Iterator[None]:
    """Ignore one warning for a while; threads may overlap.

    Parameters
    ----------
    message : str
        Regular expression that the warning begins with.
    category : type
        Its class.
    """
    with _FILTERS:
        warnings.filterwarnings("ignore", message, category)
        yield
