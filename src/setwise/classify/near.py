"""The part of a large gallery that is around a probe, as a gallery of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from setwise._support.types import IntArray
from setwise.classify.description import Layer
from setwise.classify.gallery import Gallery, SetBases, SolvedLayer
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
        Whether those layers too will be asked that are of no weight, or silent for a set so
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
    layers = gallery.description.layers(gallery.dims)
    return replace(
        gallery,
        sets=gallery.sets[sets],
        classes=gallery.classes[classes],
        codes=np.searchsorted(classes, gallery.codes[sets]),
        layers=tuple(
            _layer(gallery, layer, bases) if asked or asks_all else _silent(gallery, layer)
            for layer, asked in zip(layers, is_asked, strict=True)
        ),
        directory=None,
    )


def _layer(gallery: Gallery, layer: Layer, bases: list[SetBases]) -> SolvedLayer:
    parts = [one[layer] for one in bases]
    sizes = [part.shape[1] for part in parts]
    column_sets: IntArray = np.repeat(np.arange(len(parts)), sizes)
    graph = gallery.description.graph.for_one_probe(np.hstack(parts))
    return SolvedLayer(layer, graph, column_sets)


def _silent(gallery: Gallery, layer: Layer) -> SolvedLayer:
    """A layer without columns: nobody asks it."""
    how, nothing = gallery.description.graph, np.empty((0, 0))
    graph = GalleryGraph(how, nothing, sp.csr_array(nothing))
    return SolvedLayer(layer, graph, np.zeros(0, dtype=np.int64))
