"""The smallest pieces of work: each is done once, whatever else a study holds.

An item says everything its result depends on, and nothing else; its key is a hash of that, of
the data and of the code. Two experiments that need the same item share it, and a study that
changes does again only what changed.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from setwise._support.parallel import one_blas_thread
from setwise.studies.spec import Strict

__all__ = ["Item", "key_of", "perform", "seed_for"]


class Item(Strict):
    """One piece of work of some kind."""

    kind: str

    @abstractmethod
    def perform(self, folder: Path | None = None) -> dict[str, Any]:
        """Do it; what comes out is what JSON knows, and always the same but for times.

        Parameters
        ----------
        folder : Path, optional
            Where datasets are; ``$SETWISE_DATA`` by default, then the cache of this user.
        """


def perform(item: Item, folder: Path | None = None) -> dict[str, Any]:
    """Do an item with BLAS kept to one thread.

    Items side by side are not in each other's way, and times do not depend on how many cores
    there are.

    Examples
    --------
    >>> from setwise.studies.items import perform
    >>> from setwise.studies.kinds.gaussians import GaussiansItem
    >>> clouds = GaussiansItem(distance=7, size=50, variance=2, draw=1, seed=0)
    >>> perform(clouds)["error"] < 0.05
    True
    """
    with one_blas_thread():
        return item.perform(folder)


def key_of(item: Item, fingerprints: str) -> str:
    """What the item is filed under: a hash of it, and of the data and code it rests on."""
    content = f"{fingerprints}\n{item.model_dump_json()}"
    return hashlib.sha256(content.encode()).hexdigest()[:24]


def seed_for(seed: int, *what: str | int) -> int:
    """A seed of its own for each purpose, whatever else is in the study.

    The words and numbers that name the purpose (dataset, fold, method) become the spawn key of
    a :class:`numpy.random.SeedSequence`.

    Parameters
    ----------
    seed : int
        Of the study.
    *what : str or int
        What the random numbers are for.

    Examples
    --------
    >>> from setwise.studies.items import seed_for
    >>> seed_for(0, "eth80", 3, "DCC") == seed_for(0, "eth80", 3, "DCC")
    True
    >>> seed_for(0, "eth80", 3, "DCC") == seed_for(0, "eth80", 4, "DCC")
    False
    """
    key = tuple(_number(word) for word in what)
    state = np.random.SeedSequence(seed, spawn_key=key).generate_state(1)
    return int(state[0]) & 0x7FFFFFFF


def _number(word: str | int) -> int:
    digest = hashlib.sha256(repr(word).encode()).digest()
    return int.from_bytes(digest[:4], "little")
