"""The ensemble: every look at every dimensionality, solved once for a gallery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from sklearn.base import clone

from setwise._support.memory import require_memory
from setwise._support.parallel import in_threads
from setwise._support.progress import reported
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.fusion import Ballot, fuse, is_decided, votes
from setwise.classify.members import Look, Member, bases_of_set
from setwise.classify.sketch import GallerySketch
from setwise.classify.verdict import MemberGallery, Verdict, finite
from setwise.errors import DataError
from setwise.features import unit_rows
from setwise.features.images import ImageFeature, looks_at_images
from setwise.graph import GalleryGraph, Graph
from setwise.sets import SetBatch

__all__ = ["Ensemble", "SetBases", "Settings"]

# Gallery sets that each look is tried on: enough to find one that misleads.
MOST_OWN_SETS = 500


@dataclass(frozen=True)
class Settings:
    """What an ensemble is made of; see the parameters of :class:`setwise.CVC`."""

    dims: tuple[int, ...]
    looks: tuple[Look, ...]
    views: Mapping[str, Any]
    graph: Graph
    cut: str
    clusterer: Any
    distance: str
    compare: str
    entropy: int
    n_jobs: int | None

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Small and cheap ones first, so that an early majority costs little."""
        return tuple(Member(look, d) for d in self.dims for look in self.looks)


class Ensemble:
    """A gallery as all members of an ensemble see it.

    Parameters
    ----------
    settings : Settings
        Which members, and how they work.
    gallery : SetBatch
        Checked sets.
    codes : array of int, shape (n_sets,)
        Class code of each set.
    n_classes : int
        Number of classes.
    before : Ensemble, optional
        The ensemble of another gallery, of which this one has the sets ``is_kept``, and more
        after them. What has not changed is taken from there.
    is_kept : array of bool, optional
        Which of its sets.
    """

    def __init__(
        self,
        settings: Settings,
        gallery: SetBatch,
        codes: IntArray,
        n_classes: int,
        *,
        before: Ensemble | None = None,
        is_kept: BoolArray | None = None,
    ) -> None:
        self.asked = settings
        self.gallery = gallery
        self.codes = codes
        self.n_classes = n_classes
        self.row_classes = codes if settings.compare == "sets" else np.arange(n_classes)
        self.views = {
            name: None if transformer is None else self._fitted(name, transformer)
            for name, transformer in settings.views.items()
        }
        widths = {view: self._width(view) for view in self.views}
        dims = _usable(settings.dims, gallery, max(widths.values()))
        self.settings = settings = replace(settings, dims=dims)
        self._require_memory(widths)
        sets = [SetBases(self, vectors) for vectors in gallery]
        jobs = settings.n_jobs if len(settings.looks) > 1 else None
        columns = in_threads(
            lambda look: self._solve(look, sets, before, is_kept),
            settings.looks,
            jobs,
        )
        by_look = dict(zip(settings.looks, columns, strict=True))
        self.galleries = [
            by_look[member.look][dims.index(member.n_columns)] for member in settings.members
        ]

    @cached_property
    def sketch(self) -> GallerySketch:
        """A small picture of the gallery."""
        return GallerySketch.of(self.gallery, self.codes)

    def _fitted(self, view: str, transformer: Any) -> Any:
        return clone(transformer).fit(self._as_wanted(self.gallery.vectors, view, transformer))

    def _as_wanted(self, vectors: FloatArray, view: str, transformer: Any) -> FloatArray:
        """The vectors as rows, or as images where a view looks at images."""
        if not looks_at_images(transformer):
            return vectors
        if self.gallery.image_shape is None:
            msg = (
                f"view {view!r} looks at images, and the gallery holds vectors. Expected sets "
                "from load_images, load_video or SetBatch.from_images."
            )
            raise DataError(msg)
        return vectors.reshape(-1, *self.gallery.image_shape)

    def _width(self, view: str) -> int:
        return self.vectors_in_view(self.gallery[0], view).shape[1]

    def _require_memory(self, widths: Mapping[str, int]) -> None:
        settings, sizes = self.settings, self.gallery.sizes
        needed = sum(
            settings.graph.memory(
                widths[member.look.view], int(np.minimum(sizes, member.n_columns).sum())
            )
            for member in settings.members
        )
        require_memory(
            needed,
            f"an ensemble of {len(settings.members)} members over {len(sizes)} gallery sets",
            "Give fewer dims or views, or a smaller gallery.",
        )

    def _solve(
        self,
        look: Look,
        sets: list[SetBases],
        before: Ensemble | None,
        is_kept: BoolArray | None,
    ) -> list[MemberGallery]:
        """The gallery's bases and graphs in one look, one for each dimensionality."""
        if before is None or is_kept is None or not self._sees_as(before, look, sets, is_kept):
            bases = reported((one.of(look) for one in sets), len(sets), str(look))
            return [self._solve_member(list(of_sets)) for of_sets in zip(*bases, strict=True)]
        return [
            self._update_member(look, i, old, sets, is_kept)
            for i, old in enumerate(before.galleries_of(look))
        ]

    def _sees_as(
        self, before: Ensemble, look: Look, sets: list[SetBases], is_kept: BoolArray
    ) -> bool:
        """Whether the kept sets look as they did, so that what was solved still holds.

        A view may learn from the gallery, and then shows the same vectors otherwise. Nobody
        but the view knows, so what it shows is compared; image features learn nothing.
        """
        if self.settings.dims != before.settings.dims:
            return False
        if self.views[look.view] is None or isinstance(self.views[look.view], ImageFeature):
            return True
        return all(
            np.array_equal(sets[i].seen(look.view), before.vectors_in_view(vectors, look.view))
            for i, vectors in enumerate(self.gallery[: int(is_kept.sum())])
        )

    def galleries_of(self, look: Look) -> list[MemberGallery]:
        """The members of one look, by dimensionality."""
        members = zip(self.settings.members, self.galleries, strict=True)
        return [gallery for member, gallery in members if member.look == look]

    def _solve_member(self, bases: list[FloatArray]) -> MemberGallery:
        column_sets = np.repeat(np.arange(len(bases)), [basis.shape[1] for basis in bases])
        jobs = self.settings.n_jobs if len(self.settings.looks) == 1 else None
        solution = self.settings.graph.solve(np.hstack(bases), n_jobs=jobs)
        return self._member(solution, column_sets)

    def _update_member(
        self,
        look: Look,
        i: int,
        old: MemberGallery,
        sets: list[SetBases],
        is_kept: BoolArray,
    ) -> MemberGallery:
        """The member of the ``i``-th dimensionality, from its old self and the new sets."""
        graph, solution = self.settings.graph, old.solution
        stays = is_kept[old.column_sets]
        bases = [one.of(look)[i] for one in sets[int(is_kept.sum()) :]]
        sizes = [basis.shape[1] for basis in bases]
        if not graph.can_update(solution, int(stays.sum()) + sum(sizes)):
            return self._solve_member([one.of(look)[i] for one in sets])
        if not stays.all():
            solution = graph.forget(solution, stays)
        if bases:
            solution = graph.enroll(solution, np.hstack(bases))
        number = np.cumsum(is_kept) - 1
        added = int(is_kept.sum()) + np.arange(len(bases))
        column_sets = [number[old.column_sets[stays]], np.repeat(added, sizes)]
        return self._member(solution, np.concatenate(column_sets))

    def _member(self, solution: GalleryGraph, column_sets: IntArray) -> MemberGallery:
        settings = self.settings
        classes = self.codes[column_sets]
        return MemberGallery(
            solution=solution,
            column_sets=column_sets,
            column_rows=column_sets if settings.compare == "sets" else classes,
            column_classes=classes,
            n_rows=len(self.row_classes),
            clusterer=settings.clusterer,
            cut=settings.cut,
            distance=settings.distance,
        )

    def vectors_in_view(self, vectors: FloatArray, view: str) -> FloatArray:
        """The vectors of one set as a view shows them, scaled to unit norm."""
        transformer = self.views[view]
        if transformer is None:
            return unit_rows(vectors)
        wanted = self._as_wanted(vectors, view, transformer)
        seen = np.asarray(transformer.transform(wanted), dtype=np.float64)
        if seen.ndim != 2 or len(seen) != len(vectors) or not np.isfinite(seen).all():
            msg = (
                f"view {view!r} made an array of shape {seen.shape} of {len(vectors)} vectors, "
                f"{'with' if not np.isfinite(seen).all() else 'without'} NaN or inf. Expected "
                "one finite row for each vector: correct its transformer."
            )
            raise DataError(msg)
        return unit_rows(seen)

    def judge(
        self, vectors: FloatArray, weights: FloatArray, *, stop_when_decided: bool = False
    ) -> dict[int, Verdict]:
        """Verdicts of the members with any weight, by their index.

        With ``stop_when_decided``, ends as soon as the majority of votes is certain.
        """
        bases = SetBases(self, vectors)
        verdicts: dict[int, Verdict] = {}
        totals = np.zeros(self.n_classes)
        remaining = float(weights.sum())
        for i in map(int, np.flatnonzero(weights)):
            verdicts[i] = self.galleries[i].judge(bases[self.settings.members[i]])
            if stop_when_decided:
                remaining -= float(weights[i])
                totals += votes(self.ballot({i: verdicts[i]}, weights))[0]
                if is_decided(totals, remaining):
                    break
        return verdicts

    def ask(
        self, vectors: FloatArray, weights: FloatArray, *, stop_when_decided: bool = False
    ) -> Ballot:
        """What the members with any weight say of one probe, see :meth:`judge`."""
        verdicts = self.judge(vectors, weights, stop_when_decided=stop_when_decided)
        return self.ballot(verdicts, weights)

    def ballot(self, verdicts: Mapping[int, Verdict], weights: FloatArray) -> Ballot:
        """The verdicts of some members as one ballot."""
        asked = np.fromiter(verdicts, dtype=np.int64)
        members = self.settings.members
        return Ballot(
            distances=np.array([finite(verdict) for verdict in verdicts.values()]),
            overlaps=np.array([verdict.overlaps for verdict in verdicts.values()]),
            weights=weights[asked],
            dims=np.array([members[i].n_columns for i in asked]),
            row_classes=self.row_classes,
            n_classes=self.n_classes,
        )

    def recognises_own_sets(self, fusion: str) -> FloatArray:
        """Whether each look knows each of the gallery's sets, left out in turn.

        Of more than :data:`MOST_OWN_SETS` sets, every second, third, ... is asked about.

        Returns
        -------
        array of shape (n_looks, n_sets asked about)
            1 where the look's members, fused, give the set its own class, else 0.
        """
        members, looks = self.settings.members, self.settings.looks
        every = -(-len(self.codes) // MOST_OWN_SETS)
        chosen = np.arange(0, len(self.codes), every)
        verdicts = list(
            in_threads(
                lambda member: member.judge_own_sets(chosen),
                self.galleries,
                self.settings.n_jobs,
            )
        )
        even = np.ones(len(members))
        is_right = np.zeros((len(looks), len(chosen)))
        for row, look in enumerate(looks):
            mine = [i for i, member in enumerate(members) if member.look == look]
            for column, code in enumerate(self.codes[chosen]):
                ballot = self.ballot({i: verdicts[i][column] for i in mine}, even)
                answer = fuse(ballot, fusion)
                is_right[row, column] = answer.code == code and not answer.is_degenerate
        return is_right


def _usable(dims: tuple[int, ...], gallery: SetBatch, width: int) -> tuple[int, ...]:
    """The dimensionalities that can tell sets apart; the largest such if all are larger.

    No set has more columns than vectors. And two subspaces of more than half of the
    features always intersect, whosever they are.
    """
    most = max(1, min(int(gallery.sizes.max()), width // 2))
    return tuple(d for d in dims if d <= most) or (most,)


class SetBases:
    """Columns of one set for any look or member, computed when first asked for."""

    def __init__(self, ensemble: Ensemble, vectors: FloatArray) -> None:
        self._ensemble = ensemble
        self._vectors = vectors
        self._by_view: dict[str, FloatArray] = {}
        self._by_look: dict[Look, list[FloatArray]] = {}
        self._lock = Lock()  # looks that share a view may ask at the same time

    def seen(self, view: str) -> FloatArray:
        """The vectors of the set as a view shows them."""
        if self._ensemble.views[view] is None:  # cheaper to compute than to keep
            return self._ensemble.vectors_in_view(self._vectors, view)
        with self._lock:
            if view not in self._by_view:
                self._by_view[view] = self._ensemble.vectors_in_view(self._vectors, view)
            return self._by_view[view]

    def of(self, look: Look) -> list[FloatArray]:
        """Bases of the set in one look, one for each dimensionality."""
        if look not in self._by_look:
            settings = self._ensemble.settings
            self._by_look[look] = bases_of_set(
                self.seen(look.view), settings.dims, look, settings.entropy
            )
        return self._by_look[look]

    def __getitem__(self, member: Member) -> FloatArray:
        return self.of(member.look)[self._ensemble.settings.dims.index(member.n_columns)]
