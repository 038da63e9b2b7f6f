"""Judging with a device: bases and insertions of many probes at once, the rest as without.

While the device inserts one block of probes, threads (or processes) cluster and compare the one
before. Each answer is what :mod:`setwise.classify.judge` gives without a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import scipy.sparse as sp

from setwise._support.parallel import in_threads, lazy
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.basis import Basis
from setwise.classify.description import Representation
from setwise.classify.evidence import Seen
from setwise.classify.gallery import Gallery, SetBases
from setwise.classify.layer import Columns, Comparison
from setwise.device import Device, on_device, principal_directions_of_all
from setwise.graph import GalleryGraph
from setwise.graph.device_lasso import recoded_on
from setwise.graph.lasso_gallery import LassoGallery
from setwise.lasso import Codes

__all__ = ["Inserted", "given_to", "inserted_on", "make_bases_on"]

# Probes that are inserted at once.
BLOCK = 256
# The bases that are singular vectors, and whether of the set less its mean.
_DIRECTIONS = {"svd": False, "centred": True}

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Inserted:
    """A probe, and what a device has found of it; plain arrays, for it may travel.

    Attributes
    ----------
    name : str
        What it is called.
    vectors : array of shape (n_vectors, n_features)
        The probe.
    is_kept : array of bool, shape (n_vectors,)
        Which of them belong to it.
    columns : dict of int to array
        Its columns, by the layers that are asked.
    recoded : dict of int to (targets, codes)
        What it changes in the graphs of those whose graph the device knows.
    """

    name: str
    vectors: FloatArray
    is_kept: BoolArray
    columns: dict[int, FloatArray]
    recoded: dict[int, tuple[IntArray, Codes]]

    def seen(self, gallery: Gallery) -> dict[int, Seen]:
        """What the layers that are asked see of it."""
        return {i: self._seen(gallery, i) for i in self.columns}

    def _seen(self, gallery: Gallery, i: int) -> Seen:
        given = given_to(gallery, i, self.columns[i])
        return InsertedSeen(*given, self.recoded[i]) if i in self.recoded else Seen(*given)


def given_to(
    gallery: Gallery, i: int, probe: FloatArray
) -> tuple[GalleryGraph, Columns, FloatArray, Basis, Comparison]:
    """What :class:`setwise.classify.evidence.Seen` of a layer and a probe's columns needs."""
    solved = gallery.layers[i]
    basis = solved.layer.representation.basis
    return solved.graph, gallery.columns(solved), probe, basis, gallery.comparison


class InsertedSeen(Seen):
    """What a layer sees of a probe that the device has inserted into its graph."""

    def __init__(self, *given: Any) -> None:
        *of_any, self.recoded = given
        super().__init__(*of_any)

    @lazy
    def adjacency(self) -> sp.csr_array:
        """Graph of the gallery's columns followed by the probe's."""
        assert isinstance(self.graph, LassoGallery)  # noqa: S101
        return self.graph.with_codes(*self.recoded)


def make_bases_on(
    device: Device,
    bases: Sequence[SetBases],
    representation: Representation,
    dims: Sequence[int],
) -> None:
    """Make the bases of many sets at once, where they are singular vectors."""
    centred = _DIRECTIONS.get(representation.basis.name)
    if centred is None:
        return
    offered = representation.basis.offered(dims)
    seen = [one.seen(representation.view.name) for one in bases]
    with device.exclusive(f"bases of {len(bases)} sets"):
        found = principal_directions_of_all(device, seen, max(offered), centred=centred)
    for one, columns in zip(bases, found, strict=True):
        if columns is not None:
            one.give(representation, [columns[:, :d] for d in offered])


def inserted_on(
    device: Device,
    gallery: Gallery,
    probes: Iterable[tuple[str, FloatArray]],
    asked_of: Callable[[Gallery, SetBases], Iterable[int]],
    n_jobs: int | None,
) -> Iterator[Inserted]:
    """Insert probes, many at a time.

    Parameters
    ----------
    device : Device
        Where.
    gallery : Gallery
        Into whose graphs.
    probes : iterable of (name, vectors)
        The probes.
    asked_of : callable
        Says which layers are asked about a probe.
    n_jobs : int, optional
        Threads that look at the probes before.
    """
    work = partial(_inserted_block, device, gallery, asked_of, n_jobs)
    waiting = iter(probes)
    blocks = iter(lambda: list(islice(waiting, BLOCK)), [])
    for block in _one_ahead(work, blocks):
        yield from block


def _inserted_block(
    device: Device,
    gallery: Gallery,
    asked_of: Callable[[Gallery, SetBases], Iterable[int]],
    n_jobs: int | None,
    block: Sequence[tuple[str, FloatArray]],
) -> list[Inserted]:
    with on_device(device):
        bases = list(in_threads(lambda probe: gallery.bases(probe[1]), block, n_jobs))
        for representation in gallery.description.representations:
            make_bases_on(device, bases, representation, gallery.dims)
    probes = []
    for (name, vectors), of in zip(block, bases, strict=True):
        columns = {i: of[gallery.layers[i].layer] for i in asked_of(gallery, of)}
        probes.append(Inserted(name, vectors, of.is_kept, columns, {}))
    for i, solved in enumerate(gallery.layers):
        asked = [probe for probe in probes if i in probe.columns]
        if asked and isinstance(solved.graph, LassoGallery):
            recoded = recoded_on(device, solved.graph, [probe.columns[i] for probe in asked])
            for probe, found in zip(asked, recoded, strict=True):
                probe.recoded[i] = found
    return probes


def _one_ahead(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """``work(item)`` of each item; the next is begun before the last is given away."""
    with ThreadPoolExecutor(1) as ahead:
        waiting: Any = None
        for item in items:
            following = ahead.submit(work, item)
            if waiting is not None:
                yield waiting.result()
            waiting = following
        if waiting is not None:
            yield waiting.result()
