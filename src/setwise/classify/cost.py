"""What a gallery of a given shape will cost: seconds of fit, seconds per probe, bytes.

Seconds are sums of counted work (columns, products, sets), each times a coefficient that was
fitted to measurements by ``benchmarks/cost_model.py``, which writes ``cost.json`` beside this
file. Another machine is slower or faster by one factor, which a short run measures.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from setwise._support.parallel import one_blas_thread
from setwise.gallery.bases import usable_dims
from setwise.gallery.description import Description
from setwise.gallery.memory import (
    MOST_LEARNT_FROM,
    MOST_OWN_SETS,
    GalleryShape,
    bytes_of_large,
    bytes_of_whole,
    n_tried,
)
from setwise.gallery.shortlist import MOST_TRIED

__all__ = [
    "Cost",
    "calibration_seconds",
    "cost_of",
    "fit_terms",
    "machine_slowness",
    "probe_terms",
]


@dataclass(frozen=True)
class Cost:
    """What a gallery will cost on this machine, on one thread.

    Attributes
    ----------
    fit_seconds, probe_seconds : float
        To solve the gallery, and to judge one set by it.
    peak_bytes : int
        Memory while it is solved: the sets as they are given, and as they are kept, and
        everything else.
    kept_bytes : int
        Of these, the vectors of the gallery.
    """

    fit_seconds: float
    probe_seconds: float
    peak_bytes: int
    kept_bytes: int


def cost_of(
    how: Description, shape: GalleryShape, *, itemsize: int = 4, slowness: float = 1.0
) -> Cost:
    """What solving and asking a gallery costs.

    Parameters
    ----------
    how : Description
        What the classifier is made of. Its views are taken to keep the length of vectors.
    shape : GalleryShape
        How many classes, sets, vectors and features.
    itemsize : int
        Bytes of a number: 1 for images, 4 for embeddings, 8 for doubles.
    slowness : float
        How many times as long as the one measured on this machine takes, see
        :func:`machine_slowness`.
    """
    kind = "large" if how.is_large(shape.n_classes) else "whole"
    weights = _measured()[kind]
    probe = _weighed(probe_terms(how, shape), weights["probe"])
    fit = _weighed(fit_terms(how, shape, probe), weights["fit"])
    used = replace(how, dims=_dims(how, shape))
    widths = {r.view.name: shape.n_features for r in how.representations}
    estimate = bytes_of_large if kind == "large" else bytes_of_whole
    vectors = itemsize * shape.n_vectors * shape.n_features
    return Cost(
        fit_seconds=slowness * fit,
        probe_seconds=slowness * probe,
        peak_bytes=2 * vectors + estimate(used, shape, widths),
        kept_bytes=vectors,
    )


def probe_terms(how: Description, shape: GalleryShape) -> dict[str, float]:
    """Work that one probe makes, by kind, in millions of something."""
    around, compared = shape, 0
    if how.shortlist is not None and how.is_large(shape.n_classes):
        around = _part(shape, how.shortlist.n_classes)
        compared = _part(shape, how.shortlist.n_compared).n_vectors
    columns = [around.n_columns(m.n_columns) for m in how.ensemble(_dims(how, shape)).layers]
    is_part = around is not shape
    return {
        "once": 1.0,
        "products": sum(columns) * shape.n_features / 1e6,
        "pairs": sum(n**2 for n in columns) / 1e6,
        "index": shape.n_sets * shape.n_features / 1e6 if is_part else 0.0,
        "compared": compared * shape.n_features / 1e6,
    }


def fit_terms(
    how: Description, shape: GalleryShape, probe: float, most_tried: int = MOST_TRIED
) -> dict[str, float]:
    """Work that solving a gallery makes, by kind, in millions of something.

    Parameters
    ----------
    how, shape
        As for :func:`cost_of`.
    probe : float
        Seconds of one probe.
    most_tried : int
        Sets that members of a large gallery are tried on.
    """
    n, width = shape.n_vectors, shape.n_features
    if how.is_large(shape.n_classes):
        return {
            "once": 1.0,
            "learnt": min(n, MOST_LEARNT_FROM) * width**2 / 1e9,
            "shown": n * width**2 / 1e9,
            "sets": shape.n_sets / 1e6,
            "trials": probe * min(shape.n_sets, most_tried) if how.weights else 0.0,
        }
    columns = [shape.n_columns(m.n_columns) for m in how.ensemble(_dims(how, shape)).layers]
    return {
        "once": 1.0,
        "learnt": n * width**2 / 1e9,
        "products": sum(columns) * width / 1e6,
        "pairs": sum(k**2 for k in columns) / 1e6,
        "trials": probe * n_tried(shape.n_sets, MOST_OWN_SETS) if how.weights else 0.0,
    }


def machine_slowness() -> float:
    """How many times as long this machine takes as the one that costs were measured on."""
    return calibration_seconds() / float(_measured()["calibration_seconds"])


def calibration_seconds() -> float:
    """Seconds of a little work of the kinds that a probe is made of; the best of five runs."""
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((512, 400))

    def work() -> None:
        gram = columns.T @ columns
        np.linalg.eigvalsh(gram)
        for i in range(2000):  # small arrays, as most are: Python's share of a probe
            np.flatnonzero(gram[i % 400] > 0.5).sum()

    runs = []
    with one_blas_thread():
        for _ in range(5):
            start = time.perf_counter()
            work()
            runs.append(time.perf_counter() - start)
    return min(runs)


@cache
def _measured() -> dict[str, Any]:
    """The coefficients, in seconds, and how long the calibration took beside them."""
    document: dict[str, Any] = json.loads(
        files("setwise.classify").joinpath("cost.json").read_text()
    )
    return document


def _weighed(terms: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weights[name] * amount for name, amount in terms.items())


def _dims(how: Description, shape: GalleryShape) -> tuple[int, ...]:
    return usable_dims(how.dims, shape.sizes, shape.n_features)


def _part(shape: GalleryShape, n_classes: int) -> GalleryShape:
    """The shape of so many classes, of average size."""
    n_sets = max(1, round(n_classes * shape.n_sets / shape.n_classes))
    return replace(shape, n_classes=n_classes, sizes=shape.sizes[:n_sets])
