"""``write_groups``: a contact sheet of groups of sets, as one HTML file."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setwise._support.files import write_whole
from setwise.errors import reject
from setwise.report.album_page import render_page
from setwise.report.photos import Photo, photo, time_span
from setwise.sets import SetBatch
from setwise.sets.origins import has_photos, noun_of
from setwise.together import Suggestions

# Sets of a group with photos, photos of a set, and photos of a set where there are many sets.
_MOST_TILES, _MOST_PHOTOS, _FEW_PHOTOS = 24, 4, 1
_MANY_SETS = 400
# Sets and files that are listed by name.
_MOST_NAMES = 200
# Least mean probability of groups that are called sure.
SURE = 0.8


@dataclass(frozen=True)
class Tile:
    """One set of a group."""

    name: str
    n_vectors: int
    when: str
    probability: float
    photos: tuple[Photo, ...]


@dataclass(frozen=True)
class Sheet:
    """One group; ``likely`` are other groups that may be the same."""

    name: str
    anchor: str
    n_sets: int
    n_vectors: int
    probability: float  # mean of its sets
    tiles: tuple[Tile, ...]
    more: tuple[str, ...]  # sets without a tile
    likely: tuple[tuple[str, str, float], ...] = ()  # name, anchor, probability

    @property
    def is_sure(self) -> bool:
        """Whether its sets belong together for sure."""
        return self.probability >= SURE


def write_groups(
    path: str | os.PathLike[str], sets: SetBatch, groups: Sequence[str],
    probabilities: Sequence[float], **options: Any,
) -> Path:  # fmt: skip
    """Write a contact sheet to a file, as of :func:`render_groups`: all of it, or nothing.

    Examples
    --------
    >>> import tempfile
    >>> from setwise import SetBatch
    >>> from setwise.report import write_groups
    >>> sets = SetBatch.from_list([np.eye(3), np.eye(3)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_groups(f"{folder}/groups.html", sets, ["a", ""], [0.9, 0.0]).name
    'groups.html'
    """
    return write_whole(Path(path), render_groups(sets, groups, probabilities, **options))


def render_groups(
    sets: SetBatch, groups: Sequence[str], probabilities: Sequence[float], *,
    suggestions: Suggestions | None = None, numbered: Sequence[str] = (),
    title: str = "What belongs together", command: str = "", left_out: Sequence[Any] = (),
) -> str:  # fmt: skip
    """A contact sheet: a part for each group, the surest first, and all other sets last.

    Parameters
    ----------
    sets : SetBatch
        The sets, with photos and file names as ``origins``, or with an ``image_shape``.
    groups : sequence of str, one per set
        Name of its group; empty for a set of none.
    probabilities : sequence of float, one per set
        That the set belongs to its group.
    suggestions : Suggestions, optional
        Of :func:`setwise.together.suggest`.
    numbered : sequence of str
        Names of the groups that the suggestions number.
    title, command : str
        Of the page, and the command that makes it again.
    left_out : sequence, optional
        Unreadable files: strings, or objects with a ``path`` and a ``reason``.

    Examples
    --------
    >>> from setwise import SetBatch, SetClusters
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.report import render_groups
    >>> sets = SetBatch.from_list(separable_sets()[0])
    >>> found = SetClusters().fit(sets)
    >>> groups = [f"group {number + 1}" for number in found.labels_]
    >>> "group 3" in render_groups(sets, groups, found.probabilities_)
    True
    """
    for what, given in (("groups", groups), ("probabilities", probabilities)):
        if len(given) != len(sets):
            reject(
                f"render_groups: {len(given)} {what} for {len(sets)} sets. Expected one per "
                "set, in their order."
            )
    members: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(groups):
        members[name].append(i)
    chances = np.asarray(probabilities, dtype=np.float64)
    unsure = members.pop("", [])
    order = sorted(members, key=lambda name: _urgency(members[name], chances))
    anchors = {name: f"group-{place}" for place, name in enumerate(order, start=1)}
    merges = _merges(suggestions, numbered, anchors)
    sheets = [
        _sheet(sets, name, anchors[name], members[name], chances, merges.get(name, ()))
        for name in order
    ]
    pile = _sheet(sets, "", "unsure", unsure, chances, ()) if unsure else None
    unread = (f"{x.path}: {x.reason}" if hasattr(x, "reason") else str(x) for x in left_out)
    return render_page(
        "groups.html.jinja",
        styles=("answers.css", "groups.css"),
        title=title,
        command=command,
        noun=noun_of(sets),
        sheets=sheets,
        pile=pile,
        n_sets=len(sets),
        n_vectors=int(sets.sizes.sum()),
        worth_a_look=_worth_a_look(sets, suggestions, numbered, groups, anchors),
        left_out=list(unread),
        most_names=_MOST_NAMES,
    )


def _urgency(members: Sequence[int], chances: np.ndarray) -> tuple[Any, ...]:
    """The key of the order of groups: the surest first, then the largest."""
    own = chances[members]
    return own.mean() < SURE, -len(own), -own.mean(), members[0]


def _sheet(
    sets: SetBatch, name: str, anchor: str, members: Sequence[int], chances: np.ndarray,
    likely: Sequence[tuple[str, str, float]],
) -> Sheet:  # fmt: skip
    ranked = sorted(members, key=lambda i: (-chances[i], i))
    n_photos = _FEW_PHOTOS if len(sets) > _MANY_SETS else _MOST_PHOTOS
    return Sheet(
        name=name,
        anchor=anchor,
        n_sets=len(members),
        n_vectors=int(sets.sizes[list(members)].sum()),
        probability=float(chances[list(members)].mean()),
        tiles=tuple(_tile(sets, i, float(chances[i]), n_photos) for i in ranked[:_MOST_TILES]),
        more=tuple(sets.names[i] for i in ranked[_MOST_TILES:]),
        likely=tuple(likely),
    )


def _tile(sets: SetBatch, i: int, probability: float, n_photos: int) -> Tile:
    size = int(sets.sizes[i])
    shown = np.unique(np.linspace(0, size - 1, min(size, n_photos)).round().astype(int))
    photos = tuple(photo(sets, i, int(j)) for j in shown) if has_photos(sets) else ()
    return Tile(sets.names[i], size, time_span(sets, i), probability, photos)


def _merges(
    suggestions: Suggestions | None, numbered: Sequence[str], anchors: dict[str, str]
) -> dict[str, list[tuple[str, str, float]]]:
    """The groups that each group may be one with."""
    found: dict[str, list[tuple[str, str, float]]] = defaultdict(list)
    for merge in suggestions.merges if suggestions else ():
        one, other = numbered[merge.first], numbered[merge.second]
        found[one].append((other, anchors[other], merge.probability))
        found[other].append((one, anchors[one], merge.probability))
    return found


def _worth_a_look(
    sets: SetBatch, suggestions: Suggestions | None, numbered: Sequence[str],
    groups: Sequence[str], anchors: dict[str, str],
) -> dict[str, list[tuple[Any, ...]]]:  # fmt: skip
    """Suggestions by name: kind, then sets or groups with their anchors, and probabilities."""
    if suggestions is None:
        return {"merges": [], "moves": [], "next": []}
    merges = [
        (numbered[m.first], anchors[numbered[m.first]], numbered[m.second],
         anchors[numbered[m.second]], m.probability)
        for m in suggestions.merges
    ]  # fmt: skip
    moves = [
        (sets.names[m.index], groups[m.index], numbered[m.to], anchors[numbered[m.to]],
         m.probability)
        for m in suggestions.moves
        if m.to >= 0
    ]  # fmt: skip
    next_labels = [
        (sets.names[step.index], anchors.get(groups[step.index], "unsure"), step.gain)
        for step in suggestions.next_labels
    ]
    return {"merges": merges, "moves": moves, "next": next_labels}
