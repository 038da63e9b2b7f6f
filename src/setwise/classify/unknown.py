"""Is it anybody we know? An absolute nearness beside the relative votes.

Votes say who of the gallery a set is most like; somebody always is. *Nearness* says how like:
the cosine of the means, and how far the whitened spaces of the two sets coincide. On galleries
of which half the classes are unknown it tells known from unknown better than the cosine alone,
on embeddings and on pixels (docs/evidence.md).

The threshold is found on the gallery: some classes are taken out, views are fitted without
them, and their sets are the strangers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from setwise._support.types import FloatArray
from setwise.basis import SVD, Mean
from setwise.classify.description import Layer
from setwise.classify.evidence import Seen, set_angles
from setwise.classify.gallery import Gallery, SetBases
from setwise.classify.kept_sets import KeptSets
from setwise.errors import CalibrationWarning

__all__ = ["calibrated", "is_near", "nearness", "stranger_nearness", "with_threshold"]

# Groups into which the classes are divided; each is unknown to the others in turn.
N_FOLDS = 4
# Sets that are tried as strangers.
MOST_STRANGERS = 1000


def nearness(gallery: Gallery, seen: Mapping[int, Seen]) -> float:
    """How near a probe is to the class that is nearest by this measure.

    The cosine of the means, where a layer has them, plus the mean squared cosine of the
    canonical angles, over the layers with singular vectors. Of ensembles without either, the
    mean squared cosine over all layers.

    Parameters
    ----------
    gallery : Gallery
        What the probe is judged by.
    seen : dict of int to Seen
        What its layers see of the probe.
    """
    found = {gallery.layers[i].layer: one.angles for i, one in seen.items()}
    return float(_combined(found).max(initial=0.0))


def is_near(gallery: Gallery, near: float) -> bool | None:
    """Whether that is near enough to be known; None where nobody asked."""
    return None if gallery.threshold is None else near >= gallery.threshold


def _combined(angles: Mapping[Layer, tuple[FloatArray, FloatArray]]) -> FloatArray:
    """One nearness for each row of the largest and mean cosines that layers found."""
    kinds: dict[type, list[FloatArray]] = {Mean: [], SVD: []}
    for layer, (largest, mean) in angles.items():
        kind = type(layer.representation.basis)
        if kind in kinds:
            kinds[kind].append(largest if kind is Mean else mean)
    used = [values for values in kinds.values() if values]
    used = used or [[mean for _, mean in angles.values()]]
    return np.sum([np.mean(values, axis=0) for values in used if values], axis=0)


def calibrated(gallery: Gallery, kept: KeptSets) -> Gallery:
    """The gallery with a threshold that lets the wanted rate of strangers in."""
    if gallery.description.unknown is None:
        return gallery
    return with_threshold(gallery, np.concatenate(list(stranger_nearness(gallery, kept))))


def with_threshold(gallery: Gallery, strangers: FloatArray) -> Gallery:
    """The gallery with the threshold that the nearness of some strangers speaks for.

    Of ``n`` strangers' nearness the threshold is the ``ceil((n + 1) (1 - rate))``-th smallest:
    another stranger like these exceeds it with a probability of at most the rate. With fewer
    classes than the rate is a fraction of one, nobody can know, and a warning says so.
    """
    rate = gallery.description.unknown
    assert rate is not None  # noqa: S101
    strangers = np.sort(strangers)
    place = int(np.ceil((len(strangers) + 1) * (1.0 - rate)))
    # Sets of one class are strangers of one kind: it is classes that have to be many.
    if gallery.n_classes < 1.0 / rate:
        msg = (
            f"unknown={rate:g}: {gallery.n_classes} classes are too few to find out how near "
            f"the nearest {100 * rate:g} % of strangers are, and far more of them may be let "
            f"in. Give at least {int(np.ceil(1.0 / rate))} classes, or a larger rate, or look "
            "at the nearness of answers yourself."
        )
        warnings.warn(msg, CalibrationWarning, stacklevel=6)  # whoever called fit
    # The next larger number: who is as near as that stranger is not let in.
    threshold = np.nextafter(strangers[min(place, len(strangers)) - 1], np.inf)
    return replace(gallery, threshold=float(threshold))


def stranger_nearness(gallery: Gallery, kept: KeptSets | None = None) -> Iterator[FloatArray]:
    """Nearness of gallery sets to the classes of others, group of classes by group."""
    kept = kept or KeptSets.of(gallery.description, gallery.sets)
    n_groups = min(N_FOLDS, gallery.n_classes)
    group = np.arange(gallery.n_classes) % n_groups
    step = -(-len(gallery.codes) // MOST_STRANGERS)
    for chosen in range(n_groups):
        is_out = group[gallery.codes] == chosen
        known = kept.take(np.flatnonzero(~is_out))
        strangers = kept.take(np.flatnonzero(is_out)[::step])
        yield _nearness_of_others(gallery, strangers, known)


def _nearness_of_others(gallery: Gallery, strangers: KeptSets, known: KeptSets) -> FloatArray:
    """Nearness of some sets to a gallery of others, with views that never saw them."""
    how = gallery.description
    views = known.fitted_views(how)
    known_bases = [SetBases(images, views, how, gallery.dims) for images in known]
    probes = [SetBases(images, views, how, gallery.dims) for images in strangers]
    found: list[dict[Layer, tuple[FloatArray, FloatArray]]] = [{} for _ in probes]
    for i in np.flatnonzero(gallery.layer_weights):
        solved = gallery.layers[i]
        layer, basis = solved.layer, solved.layer.representation.basis
        parts = [one[layer] for one in known_bases]
        column_sets = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        columns = np.hstack(parts)
        for probe, angles in zip(probes, found, strict=True):
            angles[layer] = set_angles(probe[layer].T @ columns, column_sets, basis)
    return np.array([float(_combined(angles).max(initial=0.0)) for angles in found])
