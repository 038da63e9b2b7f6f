"""Judging with a device: bases and insertions of many probes at once, the rest in threads.

While the device inserts one block of probes, the threads cluster and compare the one before.
Each answer is what :mod:`setwise.classify.judge` gives without a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, TypeVar

import scipy.sparse as sp

from setwise._support.parallel import in_threads
from setwise._support.types import FloatArray, IntArray
from setwise.classify.description import Representation
from setwise.classify.evidence import Seen
from setwise.classify.gallery import Gallery, SetBases
from setwise.device import Device, on_device, principal_directions_of_all
from setwise.graph.device_lasso import recoded_on
from setwise.graph.lasso_gallery import LassoGallery
from setwise.lasso import Codes

__all__ = ["looked_at_on", "make_bases_on"]

# Probes that are inserted at once.
BLOCK = 256
# The bases that are singular vectors, and whether of the set less its mean.
_DIRECTIONS = {"svd": False, "centred": True}

Item = TypeVar("Item")
Result = TypeVar("Result")


class InsertedSeen(Seen):
    """What a member sees of a probe that the device has inserted into its graph."""

    def __init__(self, seen: Seen, recoded: tuple[IntArray, Codes]) -> None:
        super().__init__(seen.graph, seen.columns, seen.probe, seen.basis, seen.how)
        self.recoded = recoded

    @cached_property
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
    with device.alone(f"bases of {len(bases)} sets"):
        found = principal_directions_of_all(device, seen, max(offered), centred=centred)
    for one, columns in zip(bases, found, strict=True):
        if columns is not None:
            one.give(representation, [columns[:, :d] for d in offered])


def looked_at_on(
    device: Device,
    gallery: Gallery,
    probes: Iterable[FloatArray],
    look_at: Callable[[Gallery, SetBases], dict[int, Seen]],
    n_jobs: int | None,
) -> Iterator[tuple[SetBases, dict[int, Seen]]]:
    """Bases of each probe and what the members see of it, inserted by the device."""

    def prepare(block: list[FloatArray]) -> list[tuple[SetBases, dict[int, Seen]]]:
        with on_device(device):
            bases = list(in_threads(gallery.bases, block, n_jobs))
            for representation in gallery.description.representations:
                make_bases_on(device, bases, representation, gallery.dims)
            looks = [look_at(gallery, one) for one in bases]
            _insert(device, gallery, looks)
        return list(zip(bases, looks, strict=True))

    for block in _one_ahead(prepare, _blocks(probes)):
        yield from block


def _insert(device: Device, gallery: Gallery, looks: list[dict[int, Seen]]) -> None:
    """Insert all probes that a member is asked about into its graph, in place."""
    for i, solved in enumerate(gallery.members):
        asked = [look for look in looks if i in look]
        if not asked or not isinstance(solved.graph, LassoGallery):
            continue
        recoded = recoded_on(device, solved.graph, [look[i].probe for look in asked])
        for look, one in zip(asked, recoded, strict=True):
            look[i] = InsertedSeen(look[i], one)


def _blocks(probes: Iterable[FloatArray]) -> Iterator[list[FloatArray]]:
    block: list[FloatArray] = []
    for probe in probes:
        block.append(probe)
        if len(block) == BLOCK:
            yield block
            block = []
    if block:
        yield block


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
