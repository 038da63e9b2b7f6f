"""The page of one probe that got a wrong label: what went astray, ready to be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.classify.explanation import Explanation
from setwise.experiments.sections import WrongProbe
from setwise.report.numbers import number
from setwise.report.pictures import Album, Pictures
from setwise.report.tree_figure import tree_figure
from setwise.types import FloatArray

__all__ = ["Cell", "ProbePage", "Tile", "probe_pages"]

_MOST_CLUSTERS, _MOST_ROWS, _MOST_NEIGHBOURS, _MOST_LABELS = 12, 16, 6, 6


@dataclass(frozen=True)
class Tile:
    """One image of the probe: whom it speaks for (``"answer"``, ``"other"``, ``""``)."""

    image: int
    speaks_for: str
    words: str


@dataclass(frozen=True)
class Cell:
    """One vote; its kind is ``"truth"``, ``"answer"``, ``"other"`` or ``"none"``."""

    label: str
    kind: str
    words: str


@dataclass(frozen=True)
class Neighbour:
    """An image of the probe beside the gallery image nearest to it."""

    probe_image: str
    gallery_image: str
    place: int
    set_name: str
    label: str
    distance: float | None


@dataclass(frozen=True)
class Tally:
    """A label, its kind as in :class:`Cell`, votes, and the probability it was given."""

    label: str
    kind: str
    n_votes: int
    probability: float


@dataclass(frozen=True)
class ClusterTable:
    """Shares of classes and probe (last) in the clusters that hold the probe, and the rest."""

    numbers: tuple[int, ...]
    rows: tuple[tuple[str, str, tuple[float, ...], float, str], ...]


@dataclass(frozen=True)
class ProbePage:
    """Everything the page of one wrong probe shows.

    Attributes
    ----------
    id, previous, next, card : str
        Anchors: of this page, of its neighbours (or empty), and of its card in the list.
    place, n_pages : int
        Which of how many, from 1.
    wrong : WrongProbe
        What was judged how.
    thumbnail : str
        One image of it, or empty.
    tally : tuple of Tally
        Classes that got a vote, and the true one.
    n_votes : int
        Votes altogether.
    grid_columns, grid : tuple
        Dimensionalities; and for each look its name and a cell (or None) for each of them.
    clusters : ClusterTable
        Of the member that is shown.
    shown, snr : str
        That member, and its SNR.
    tree, tree_note : str
        The tree of cuts as SVG, and how to read it; the tree is empty where there is none.
    album, tiles : Album or None, tuple of Tile
        The images, and what each says.
    strip : str
        The vectors, where they are no images.
    nearest, nearest_of_truth : tuple of Neighbour
        Images of the probe and of the gallery that are closest.
    is_degenerate : bool
        Whether the label was a guess.
    """

    id: str
    card: str
    previous: str
    next: str
    place: int
    n_pages: int
    wrong: WrongProbe
    thumbnail: str
    tally: tuple[Tally, ...]
    n_votes: int
    grid_columns: tuple[int, ...]
    grid: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    clusters: ClusterTable
    shown: str
    snr: str
    tree: str
    tree_note: str
    album: Album | None
    tiles: tuple[Tile, ...]
    strip: str
    nearest: tuple[Neighbour, ...]
    nearest_of_truth: tuple[Neighbour, ...]
    is_degenerate: bool

    @property
    def votes_for_answer(self) -> int:
        """How many members voted for the answer."""
        return sum(one.n_votes for one in self.tally if one.kind == "answer")

    @property
    def n_doubtful(self) -> int:
        """How many of the images shown speak for another class."""
        return sum(tile.speaks_for == "other" for tile in self.tiles)

    @property
    def votes_for_truth(self) -> int:
        """How many members voted for the true class."""
        return sum(one.n_votes for one in self.tally if one.kind == "truth")


def probe_pages(
    section: str, wrong: Sequence[WrongProbe], pictures: Pictures
) -> tuple[ProbePage, ...]:
    """One page for each wrong probe that is explained, in order, linked to each other.

    Parameters
    ----------
    section : str
        Name of the experiment, for the anchors.
    wrong : sequence of WrongProbe
        What went wrong.
    pictures : Pictures
        Of the data.
    """
    explained = [one for one in wrong if one.explanation.get("why")]
    ids = [f"probe-{section}-{place}" for place in range(1, len(explained) + 1)]
    around = ["", *ids, ""]
    return tuple(
        _page(one, place, around[place : place + 3], len(ids), pictures)
        for place, one in enumerate(explained)
    )


def _page(
    wrong: WrongProbe, place: int, around: list[str], n_pages: int, pictures: Pictures
) -> ProbePage:
    why = Explanation.from_dict(wrong.explanation["why"])
    previous, own, following = around
    columns, grid = _grid(why, wrong)
    tree, note = tree_figure(why, f"Tree of cuts of {wrong.probe}")
    album = pictures.album(wrong.index)
    return ProbePage(
        id=own,
        card=f"card-{own}",
        previous=previous,
        next=following,
        place=place + 1,
        n_pages=n_pages,
        wrong=wrong,
        thumbnail=pictures.one(wrong.index, pictures.size(wrong.index) // 2),
        tally=_tally(why, wrong),
        n_votes=len(why.votes),
        grid_columns=columns,
        grid=grid,
        clusters=_clusters(why, wrong),
        shown=str(why.shown),
        snr=number(float(why.snr)),
        tree=tree,
        tree_note=note,
        album=album,
        tiles=() if album is None else tuple(_tile(why, int(i)) for i in album.images),
        strip=pictures.strip(wrong.index),
        nearest=_neighbours(wrong, "nearest", pictures),
        nearest_of_truth=_neighbours(wrong, "nearest_of_truth", pictures),
        is_degenerate=bool(why.is_degenerate),
    )


def _kind(label: Any, wrong: WrongProbe) -> str:
    if label is None:
        return "none"
    kinds = {wrong.truth: "truth", wrong.answer: "answer"}
    return kinds.get(str(label), "other")


def _tally(why: Explanation, wrong: WrongProbe) -> tuple[Tally, ...]:
    """Classes with a vote, the true one, and those with the largest probability."""
    votes = Counter(str(vote.label) for vote in why.votes if vote.label is not None)
    chances = {
        str(label): float(chance)
        for label, chance in zip(why.classes, why.probabilities, strict=True)
    }
    ranked = sorted(chances, key=lambda label: (-votes[label], -chances[label]))
    kept = [one for one in ranked[:_MOST_LABELS] if votes[one] or chances[one] >= 0.01]
    if wrong.truth in chances and wrong.truth not in kept:
        kept.append(wrong.truth)
    return tuple(
        Tally(label, _kind(label, wrong), votes[label], chances[label]) for label in kept
    )


def _grid(
    why: Explanation, wrong: WrongProbe
) -> tuple[tuple[int, ...], tuple[tuple[str, tuple[Cell | None, ...]], ...]]:
    """Votes by look (rows) and dimensionality (columns)."""
    columns = sorted({vote.member.n_columns for vote in why.votes})
    rows: dict[str, dict[int, Cell]] = {}
    for vote in why.votes:
        label = "" if vote.label is None else str(vote.label)
        words = f"{vote.member}: {label or 'shares no cluster with any class'}"
        if label:
            words += f", SNR {number(float(vote.snr))}"
        cell = Cell(label, _kind(vote.label, wrong), words)
        rows.setdefault(str(vote.member.look), {})[vote.member.n_columns] = cell
    grid = tuple((look, tuple(row.get(d) for d in columns)) for look, row in rows.items())
    return tuple(columns), grid


def _clusters(why: Explanation, wrong: WrongProbe) -> ClusterTable:
    """The clusters that hold the probe, numbered as the leaves of the tree."""
    probe = why.class_cluster[-1]
    with_probe = np.flatnonzero(probe > 0)
    largest = np.argsort(-probe[with_probe], kind="stable")[:_MOST_CLUSTERS]
    numbers = np.sort(largest)
    shown = why.class_cluster[:, with_probe[numbers]]
    rest = why.class_cluster.sum(axis=1) - shown.sum(axis=1)
    distances = _distances(why)
    names = [str(label) for label in why.classes]
    ranked = np.argsort(distances, kind="stable")
    codes = [int(c) for c in ranked if shown[c].any() or names[c] == wrong.truth][:_MOST_ROWS]
    rows = [
        (names[c], _kind(names[c], wrong), _shares(shown[c]), float(rest[c]), distances[c])
        for c in codes
    ]
    own = ("probe", "probe", _shares(shown[-1]), float(rest[-1]), np.nan)
    return ClusterTable(
        numbers=tuple(int(one) + 1 for one in numbers),
        rows=tuple((*row[:4], number(float(row[4]))) for row in [*rows, own]),
    )


def _shares(row: FloatArray) -> tuple[float, ...]:
    return tuple(float(share) for share in row)


def _distances(why: Explanation) -> FloatArray:
    """Of the shown member, to each class."""
    for vote in why.votes:
        if vote.member == why.shown:
            return vote.distances
    return np.full(len(why.classes), np.nan)


def _tile(why: Explanation, image: int) -> Tile:
    """What one image says, by its support and by how often it changed sides."""
    support = float(why.support[image]) if image < len(why.support) else np.nan
    switches = float(why.sign_switches[image]) if image < len(why.sign_switches) else 0.0
    changed = f"{switches:.1f} sign switches"
    if np.isnan(support):
        return Tile(image, "", f"image {image + 1}: says nothing; {changed}")
    words = f"image {image + 1}: support of the answer {support:.2f}; {changed}"
    return Tile(image, "answer" if support >= 0.5 else "other", words)


def _neighbours(wrong: WrongProbe, which: str, pictures: Pictures) -> tuple[Neighbour, ...]:
    found: Sequence[Mapping[str, Any]] = wrong.explanation.get(which) or ()
    return tuple(
        Neighbour(
            probe_image=pictures.one(wrong.index, int(one["image"])),
            gallery_image=pictures.one(int(one["set"]), int(one["gallery_image"])),
            place=int(one["image"]) + 1,
            set_name=str(one["set_name"]),
            label=str(one["label"]),
            distance=one["distance"],
        )
        for one in found[:_MOST_NEIGHBOURS]
    )
