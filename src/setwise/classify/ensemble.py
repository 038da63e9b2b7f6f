"""The ensemble: every look at every dimensionality, solved once for a gallery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from setwise.classify.fusion import Ballot, fuse, is_decided, votes
from setwise.classify.members import Look, Member, bases_of_set
from setwise.classify.sketch import GallerySketch
from setwise.classify.verdict import MemberGallery, Verdict, finite
from setwise.errors import DataError
from setwise.features import unit_rows
from setwise.graph import Graph
from setwise.parallel import in_threads
from setwise.sets import SetBatch
from setwise.types import FloatArray, IntArray

__all__ = ["Ensemble", "ProbeBases", "Settings"]


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
    """

    def __init__(
        self, settings: Settings, gallery: SetBatch, codes: IntArray, n_classes: int
    ) -> None:
        self.codes = codes
        self.n_classes = n_classes
        self.row_classes = codes if settings.compare == "sets" else np.arange(n_classes)
        self.sketch = GallerySketch.of(gallery, codes)
        self.views = {
            name: None if transformer is None else clone(transformer).fit(gallery.vectors)
            for name, transformer in settings.views.items()
        }
        self.settings = settings = replace(settings, dims=self._usable(settings.dims, gallery))
        by_look = dict(
            zip(
                settings.looks,
                in_threads(
                    lambda look: self._solve(gallery, look), settings.looks, settings.n_jobs
                ),
                strict=True,
            )
        )
        self.galleries = [
            by_look[member.look][settings.dims.index(member.n_columns)]
            for member in settings.members
        ]

    def _usable(self, dims: tuple[int, ...], gallery: SetBatch) -> tuple[int, ...]:
        """The dimensionalities that can tell sets apart; the largest such if all are larger.

        No set has more columns than vectors. And two subspaces of more than half of the
        features always intersect, whosever they are.
        """
        widths = [self.vectors_in_view(gallery[0], view).shape[1] for view in self.views]
        most = max(1, min(int(gallery.sizes.max()), max(widths) // 2))
        return tuple(d for d in dims if d <= most) or (most,)

    def _solve(self, gallery: SetBatch, look: Look) -> list[MemberGallery]:
        """The gallery's bases and graphs in one look, one for each dimensionality."""
        bases = [self.bases(vectors, look) for vectors in gallery]
        return [self._solve_member(list(of_sets)) for of_sets in zip(*bases, strict=True)]

    def _solve_member(self, bases: list[FloatArray]) -> MemberGallery:
        settings = self.settings
        column_sets = np.repeat(np.arange(len(bases)), [basis.shape[1] for basis in bases])
        classes = self.codes[column_sets]
        return MemberGallery(
            solution=settings.graph.solve(np.hstack(bases)),
            column_sets=column_sets,
            column_rows=column_sets if settings.compare == "sets" else classes,
            column_classes=classes,
            n_sets=len(bases),
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
        seen = np.asarray(transformer.transform(vectors), dtype=np.float64)
        if seen.ndim != 2 or len(seen) != len(vectors) or not np.isfinite(seen).all():
            msg = (
                f"view {view!r} made an array of shape {seen.shape} of {len(vectors)} vectors, "
                f"{'with' if not np.isfinite(seen).all() else 'without'} NaN or inf. Expected "
                "one finite row for each vector: correct its transformer."
            )
            raise DataError(msg)
        return unit_rows(seen)

    def bases(self, vectors: FloatArray, look: Look) -> list[FloatArray]:
        """Bases of one set in one look, one for each dimensionality."""
        seen = self.vectors_in_view(vectors, look.view)
        return bases_of_set(seen, self.settings.dims, look, self.settings.entropy)

    def judge(
        self, vectors: FloatArray, weights: FloatArray, *, stop_when_decided: bool = False
    ) -> dict[int, Verdict]:
        """Verdicts of the members with any weight, by their index.

        With ``stop_when_decided``, ends as soon as the majority of votes is certain.
        """
        bases = ProbeBases(self, vectors)
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

        Returns
        -------
        array of shape (n_looks, n_sets)
            1 where the look's members, fused, give the set its own class, else 0.
        """
        members, looks = self.settings.members, self.settings.looks
        verdicts = list(
            in_threads(MemberGallery.judge_own_sets, self.galleries, self.settings.n_jobs)
        )
        even = np.ones(len(members))
        is_right = np.zeros((len(looks), len(self.codes)))
        for row, look in enumerate(looks):
            mine = [i for i, member in enumerate(members) if member.look == look]
            for column, code in enumerate(self.codes):
                ballot = self.ballot({i: verdicts[i][column] for i in mine}, even)
                answer = fuse(ballot, fusion)
                is_right[row, column] = answer.code == code and not answer.is_degenerate
        return is_right


class ProbeBases:
    """Columns of one probe for any member, computed when first asked for."""

    def __init__(self, ensemble: Ensemble, vectors: FloatArray) -> None:
        self._ensemble = ensemble
        self._vectors = vectors
        self._by_look: dict[Look, list[FloatArray]] = {}

    def __getitem__(self, member: Member) -> FloatArray:
        if member.look not in self._by_look:
            self._by_look[member.look] = self._ensemble.bases(self._vectors, member.look)
        dims = self._ensemble.settings.dims
        return self._by_look[member.look][dims.index(member.n_columns)]
