"""The part of a large gallery that is around a probe, as a gallery of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from setwise._support.types import IntArray
from setwise.classify.description import Member
from setwise.classify.gallery import Gallery, SetBases, SolvedMember
from setwise.graph import GalleryGraph

__all__ = ["near"]


def near(
    gallery: Gallery,
    probe: SetBases,
    instead: Mapping[int, SetBases | None] | None = None,
    *,
    asks_all: bool = False,
) -> Gallery:
    """The classes around a probe, and nobody else; a small gallery is near as a whole.

    What it answers is what :func:`setwise.classify.solve` would, given these classes alone
    and everything that was learnt from the whole gallery: views, weights, thresholds.

    Parameters
    ----------
    gallery : Gallery
        What the probe is judged by.
    probe : SetBases
        The probe.
    instead : dict of int to SetBases or None, optional
        Sets of the gallery that are something else for once, or not there.
    asks_all : bool
        Whether those members too will be asked that are of no weight, or silent for a set so
        small; they are left without columns otherwise.
    """
    directory = gallery.directory
    if directory is None:
        return gallery
    instead = instead or {}
    hidden = {i for i, other in instead.items() if other is None}
    classes = directory.nearest_classes(probe, hidden)
    sets = np.array([i for i in directory.sets_of(classes) if i not in hidden])
    bases = [instead.get(int(i)) or directory.bases(i) for i in sets]
    is_asked = gallery.asked_weights(int(probe.is_kept.sum())) > 0
    members = gallery.description.members(gallery.dims)
    return replace(
        gallery,
        sets=gallery.sets[sets],
        classes=gallery.classes[classes],
        codes=np.searchsorted(classes, gallery.codes[sets]),
        members=tuple(
            _member(gallery, member, bases) if asked or asks_all else _silent(gallery, member)
            for member, asked in zip(members, is_asked, strict=True)
        ),
        directory=None,
    )


def _member(gallery: Gallery, member: Member, bases: list[SetBases]) -> SolvedMember:
    parts = [one[member] for one in bases]
    sizes = [part.shape[1] for part in parts]
    column_sets: IntArray = np.repeat(np.arange(len(parts)), sizes)
    graph = gallery.description.graph.for_one_probe(np.hstack(parts))
    return SolvedMember(member, graph, column_sets)


def _silent(gallery: Gallery, member: Member) -> SolvedMember:
    """A member without columns: nobody asks it."""
    how, nothing = gallery.description.graph, np.empty((0, 0))
    graph = GalleryGraph(how, nothing, sp.csr_array(nothing))
    return SolvedMember(member, graph, np.zeros(0, dtype=np.int64))
