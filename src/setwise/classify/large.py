"""A gallery of many classes, solved: looked up around each probe, never as a whole.

No graph of all columns is made. What is learnt from the gallery (views, weights, thresholds)
is learnt from a sample of its sets, each judged by what is around it: the whole method on some
dozens of classes, which costs the same whether there are a thousand or a hundred thousand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.memory import require_memory
from setwise._support.parallel import in_parts, in_threads
from setwise._support.progress import reported
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.description import Description
from setwise.classify.directory import Directory
from setwise.classify.fusion import ScoreMatrix
from setwise.classify.gallery import Gallery, SetBases, usable_dims
from setwise.classify.gallery_weights import (
    FEWEST_TO_HALVE,
    INVERSE_TEMPERATURE,
    Trials,
    even_weights,
    halves,
    log_odds,
    survivors,
    tried_sets,
    with_weights,
)
from setwise.classify.judge import Answer, answer_of, look_at, score_matrix_of, seen_by_all
from setwise.classify.memory import (
    MOST_LEARNT_FROM,
    GalleryShape,
    bytes_of_large,
    known_widths,
)
from setwise.classify.near import near
from setwise.classify.outliers import MOST_COMPARED, NOTHING, strange_cosines
from setwise.classify.trust import trust_in
from setwise.classify.unknown import nearness, with_threshold
from setwise.features.views import FittedView, Images, shown_widths
from setwise.sets import SetBatch

__all__ = ["MOST_TRIED", "left_out_answers", "solve_large", "stranger_nearness", "update_large"]

# Sets that members are tried on. The share of right answers of a member, and with it its weight,
# has a standard error of at most half of 1 / sqrt(200): 3.5 points.
MOST_TRIED = 200
# Sets that are tried as strangers.
MOST_STRANGERS = 400


def solve_large(
    description: Description,
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    n_jobs: int | None,
) -> Gallery:
    """Solve a gallery of many classes.

    Parameters
    ----------
    description : Description
        What the classifier is made of, with a shortlist.
    sets : SetBatch
        Checked sets.
    classes, codes : arrays
        Sorted labels, and the class of each set.
    n_jobs : int, optional
        Threads.
    """
    shape, plain = GalleryShape.of(sets, codes), known_widths(description, sets.n_features)
    _require_memory(description, shape, plain)  # before any work, by what is known then
    is_kept = _kept(description, sets, n_jobs)
    views = _fitted(description, sets, is_kept)
    widths = shown_widths(views, sets.n_features, sets.image_shape)
    dims = usable_dims(description.dims, sets.sizes, max(widths.values()))
    _require_memory(replace(description, dims=dims), shape, widths)
    directory = Directory.made(description, sets, codes, is_kept, views, dims, n_jobs)
    members = description.members(dims)
    sizes = np.add.reduceat(is_kept, sets.offsets[:-1])
    gallery = Gallery(
        description, sets, classes, codes, dims, views,
        layers=(),
        weights=even_weights(members, sizes.tolist()),
        inverse_temperatures=np.full(len(members), INVERSE_TEMPERATURE),
        strange=_strange(description, sets, codes, is_kept),
        directory=directory,
    )  # fmt: skip
    return _calibrated(_weighed(gallery, n_jobs), n_jobs)


def update_large(changed: Gallery, stays: BoolArray, n_jobs: int | None) -> Gallery:
    """A large gallery of other sets that keeps what it has learnt.

    Equal to :func:`solve_large` with the views, weights and thresholds of the old one.

    Parameters
    ----------
    changed : Gallery
        With the old sets that stay, then the new ones, and the directory of the old.
    stays : array of bool
        Which of the old sets stay.
    n_jobs : int, optional
        Threads.
    """
    sets, codes = changed.sets, changed.codes
    new = sets[np.arange(int(stays.sum()), len(sets))]
    is_kept = _kept(changed.description, new, n_jobs)
    directory = _directory(changed).changed(sets, codes, stays, is_kept, n_jobs)
    return replace(changed, directory=directory)


def _kept(description: Description, sets: SetBatch, n_jobs: int | None) -> BoolArray:
    """Which vectors belong to their sets."""
    is_kept = np.empty(len(sets.vectors), dtype=np.bool_)

    def look(part: range) -> None:
        for i in part:
            of_set = slice(*sets.offsets[i : i + 2])
            is_kept[of_set] = description.is_kept(np.asarray(sets[i], dtype=np.float64))

    in_parts(look, len(sets), n_jobs, "find vectors that do not belong")
    return is_kept


def _fitted(
    description: Description, sets: SetBatch, is_kept: BoolArray
) -> dict[str, FittedView]:
    """The views, fitted to the vectors of a sample of the sets, evenly chosen."""
    most = max(1, int(MOST_LEARNT_FROM / float(np.mean(sets.sizes))))
    chosen = tried_sets(len(sets), most)
    rows = np.concatenate([np.arange(*sets.offsets[i : i + 2]) for i in chosen])
    rows = rows[is_kept[rows]]
    images = Images(np.asarray(sets.vectors[rows], dtype=np.float64), sets.image_shape)
    return {r.view.name: r.view.fit(images) for r in description.representations}


def _strange(
    description: Description, sets: SetBatch, codes: IntArray, is_kept: BoolArray
) -> tuple[float, float]:
    if description.outliers is None:
        return NOTHING
    chosen = tried_sets(len(sets), MOST_COMPARED)
    spans = [slice(*sets.offsets[i : i + 2]) for i in chosen]
    kept = [np.asarray(sets.vectors[s], dtype=np.float64)[is_kept[s]] for s in spans]
    return strange_cosines(kept, codes[chosen])


# --------------------------------------------------------------------- weights and threshold


@dataclass(frozen=True)
class _Trial:
    """A probe of known class, and what of the gallery is something else meanwhile."""

    code: int
    probe: SetBases
    instead: dict[int, SetBases | None]


def _weighed(gallery: Gallery, n_jobs: int | None) -> Gallery:
    """The gallery with the weights that a sample of its own sets speaks for."""
    if gallery.description.weights is None:
        return gallery
    counts = np.bincount(gallery.codes)
    has_others = np.flatnonzero(counts[gallery.codes] > 1)
    by_sets = 2 * len(has_others) >= len(gallery.codes)
    chosen = has_others if by_sets else np.arange(len(gallery.codes))
    chosen = chosen[tried_sets(len(chosen), MOST_TRIED if by_sets else MOST_TRIED // 2)]
    make = _left_out if by_sets else _halved
    tried = [trial for i in chosen for trial in make(gallery, int(i))]
    found = list(
        reported(
            in_threads(lambda trial: _score_matrix(gallery, trial), tried, n_jobs),
            len(tried),
            "try the gallery's own sets",
        )
    )
    around = [(score_matrix, code) for score_matrix, code in found if code >= 0]
    if not around:
        return gallery
    trials = Trials(
        [score_matrix for score_matrix, _ in around], np.array([code for _, code in around])
    )
    # Who is not around itself is recognised by no member.
    missed = np.zeros((len(gallery.members), len(found) - len(around)))
    is_right = np.hstack([trials.is_right(), missed])
    n_rivals = trials.score_matrices[0].n_classes
    weights = log_odds(is_right, n_rivals) if by_sets else survivors(is_right)
    weighed, trials = with_weights(gallery, trials, weights, can_choose=by_sets)
    if not by_sets:
        return weighed
    together = np.zeros(len(found), dtype=np.bool_)
    together[: len(around)] = trials.fused_right(gallery.description.fusion)
    return trust_in(weighed, together, gallery.codes[chosen])


def _directory(gallery: Gallery) -> Directory:
    """Which every large gallery has."""
    assert gallery.directory is not None  # noqa: S101
    return gallery.directory


def _left_out(gallery: Gallery, i: int) -> list[_Trial]:
    return [_Trial(int(gallery.codes[i]), _directory(gallery).bases(i), {i: None})]


def _halved(gallery: Gallery, i: int) -> list[_Trial]:
    """Either half of a set, the other one being in the gallery in its stead."""
    directory = _directory(gallery)
    vectors = directory.kept_vectors(i)
    if len(vectors) < FEWEST_TO_HALVE:
        return []
    one, other = (directory.bases_of_part(i, half) for half in halves(vectors))
    code = int(gallery.codes[i])
    return [_Trial(code, one, {i: other}), _Trial(code, other, {i: one})]


def _score_matrix(gallery: Gallery, trial: _Trial) -> tuple[ScoreMatrix, int]:
    """What all members say of a trial, and where its class is among those around; or -1."""
    around = near(gallery, trial.probe, trial.instead, asks_all=True)
    around = replace(around, weights=np.ones(len(around.weights)))  # all are asked
    score_matrix = score_matrix_of(around, seen_by_all(around, trial.probe))
    place = np.flatnonzero(around.classes == gallery.classes[trial.code])
    return score_matrix, int(place[0]) if len(place) else -1


def _calibrated(gallery: Gallery, n_jobs: int | None) -> Gallery:
    """The gallery with a threshold for strangers: its own sets, without their classes."""
    if gallery.description.unknown is None:
        return gallery
    return with_threshold(gallery, stranger_nearness(gallery, n_jobs))


def stranger_nearness(gallery: Gallery, n_jobs: int | None = None) -> FloatArray:
    """Nearness of some gallery sets to the classes of others."""
    directory = _directory(gallery)

    def stranger(i: int) -> float:
        own = dict.fromkeys(map(int, directory.sets_of(gallery.codes[[i]])))
        probe = directory.bases(i)
        around = near(gallery, probe, own)
        return nearness(around, look_at(around, probe))

    chosen = tried_sets(len(gallery.codes), MOST_STRANGERS)
    found = in_threads(stranger, [int(i) for i in chosen], n_jobs)
    return np.array(list(reported(found, len(chosen), "find out how near strangers come")))


def left_out_answers(gallery: Gallery, chosen: IntArray) -> Iterator[Answer]:
    """What a large gallery says of some of its own sets, each left out."""
    for i in map(int, chosen):
        probe = _directory(gallery).bases(i)
        around = near(gallery, probe, {i: None})
        yield answer_of(around, gallery.sets.names[i], look_at(around, probe), probe.is_kept)


def _require_memory(how: Description, shape: GalleryShape, widths: Mapping[str, int]) -> None:
    require_memory(
        bytes_of_large(how, shape, widths),
        f"a gallery of {shape.n_sets} sets of {shape.n_vectors} vectors",
        "Give fewer representations, or a smaller gallery.",
    )
