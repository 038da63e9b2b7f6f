"""The page of one probe that got a wrong label: what went astray, ready to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.classify.explanation import Explanation
from setwise.report.tables import ClusterTable, VoteCount, cluster_table, count_votes, number
from setwise.report.tree import tree_figure
from setwise.studies.report.pictures import Album, Pictures

__all__ = ["ProbePage", "Tile", "WrongProbe", "probe_pages"]

_MOST_NEIGHBOURS = 6


@dataclass(frozen=True)
class WrongProbe:
    """A probe that got a wrong label, and why.

    Attributes
    ----------
    method : str
        Row of the table.
    probe : str
        Name of the set.
    truth, answer : str
        Its class, and what it was taken for.
    index : int
        Of the set in the dataset, as ``data`` in the experiment describes it.
    explanation : dict
        What :class:`setwise.studies.kinds.explain.ExplainItem` found; see there.
    """

    method: str
    fold: int
    seed: int
    probe: str
    truth: str
    answer: str
    index: int
    explanation: Mapping[str, Any]


@dataclass(frozen=True)
class Tile:
    """One image of the probe: whom it speaks for (``"answer"``, ``"other"``, ``""``)."""

    image: int
    speaks_for: str
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
    votes : VoteCount
        Who voted for what.
    clusters : ClusterTable
        Of the layer that is shown.
    shown, snr : str
        That layer, and its SNR.
    tree, tree_note : str
        The tree of cuts as SVG, and how to read it; the tree is empty where there is none.
    album, tiles : Album or None, tuple of Tile
        The images, and what each says.
    strip : str
        The vectors, where they are no images.
    nearest, nearest_of_truth : tuple of Neighbour
        Images of the probe and of the gallery that are closest.
    is_informed : bool
        Whether anything is known; else the label is a guess.
    """

    id: str
    card: str
    previous: str
    next: str
    place: int
    n_pages: int
    wrong: WrongProbe
    thumbnail: str
    votes: VoteCount
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
    is_informed: bool

    @property
    def n_doubtful(self) -> int:
        """How many of the images shown speak for another class."""
        return sum(tile.speaks_for == "other" for tile in self.tiles)


def probe_pages(
    section: str, wrong: Sequence[WrongProbe], pictures: Pictures
) -> tuple[ProbePage, ...]:
    """One page for each wrong probe that is explained, in order, linked to each other."""
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
    kinds = {wrong.truth: "truth", wrong.answer: "answer"}
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
        votes=count_votes(why, kinds),
        clusters=cluster_table(why, kinds),
        shown=str(why.shown),
        snr=number(float(why.snr)),
        tree=tree,
        tree_note=note,
        album=album,
        tiles=() if album is None else tuple(_tile(why, int(i)) for i in album.images),
        strip=pictures.strip(wrong.index),
        nearest=_neighbours(wrong, "nearest", pictures),
        nearest_of_truth=_neighbours(wrong, "nearest_of_truth", pictures),
        is_informed=bool(why.is_informed),
    )


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
