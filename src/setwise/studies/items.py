"""The smallest pieces of work: each is done once, whatever else a study holds.

An item says everything its result depends on, and nothing else; its key is a hash of that, of
the data and of the code. Two experiments that need the same item share it, and a study that
changes does again only what changed.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal, TypeAlias, Union

import numpy as np
from pydantic import Field, TypeAdapter

from setwise.studies.spec import Data, Outliers, Recipe, Strict

__all__ = [
    "ClassifyItem",
    "DistributionsItem",
    "ExplainItem",
    "GaussiansItem",
    "Item",
    "key_of",
    "read_item",
    "seed_for",
]


class ClassifyItem(Strict):
    """One classifier on one fold.

    Attributes
    ----------
    data, recipe, n_probes
        As in the spec.
    fold, seed : int
        Which fold, and the seed of everything random.
    outliers : Outliers, optional
        What is mixed into which side.
    """

    kind: Literal["classify"] = "classify"
    data: Data
    recipe: Recipe
    fold: int
    seed: int
    n_probes: int | None = None
    outliers: Outliers | None = None


class ExplainItem(Strict):
    """Why some probes of a fold got their labels.

    Attributes
    ----------
    of : ClassifyItem
        The item that judged them.
    probes : tuple of int
        Their places among its probes.
    """

    kind: Literal["explain"] = "explain"
    of: ClassifyItem
    probes: tuple[int, ...]


class DistributionsItem(Strict):
    """One clusterer on one draw of a few sets, image by image."""

    kind: Literal["distributions"] = "distributions"
    data: Data
    clusterer: str
    n_classes: int
    draw: int
    seed: int


class GaussiansItem(Strict):
    """One cut of one draw of two clouds."""

    kind: Literal["gaussians"] = "gaussians"
    distance: float
    size: int
    variance: float
    draw: int
    seed: int


Item: TypeAlias = ClassifyItem | ExplainItem | DistributionsItem | GaussiansItem
_READ: TypeAdapter[Item] = TypeAdapter(
    Annotated[
        Union[ClassifyItem, ExplainItem, DistributionsItem, GaussiansItem],  # noqa: UP007
        Field(discriminator="kind"),
    ]
)


def read_item(content: object) -> Item:
    """An item from the plain dict it was dumped to."""
    return _READ.validate_python(content)


def key_of(item: Item, fingerprints: str) -> str:
    """What the item is filed under: a hash of it, and of the data and code it rests on.

    Parameters
    ----------
    item : Item
        The work.
    fingerprints : str
        Of the data and the code.
    """
    said = f"{fingerprints}\n{item.model_dump_json()}"
    return hashlib.sha256(said.encode()).hexdigest()[:24]


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
    key = tuple(_number(one) for one in what)
    state = np.random.SeedSequence(seed, spawn_key=key).generate_state(1)
    return int(state[0]) & 0x7FFFFFFF


def _number(word: str | int) -> int:
    digest = hashlib.sha256(repr(word).encode()).digest()
    return int.from_bytes(digest[:4], "little")
