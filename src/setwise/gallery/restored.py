"""A gallery from a document and arrays, which are not trusted.

Everything on which a compiled loop or an index relies is checked first, and memory before it is
taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from setwise._support.memory import require_memory
from setwise._support.parallel import lazy
from setwise._support.types import BoolArray, IntArray
from setwise.features import Whitener
from setwise.features.images import fingerprint_of
from setwise.features.views import (
    FeatureTable,
    FittedView,
    View,
    are_equal,
    shown_widths,
)
from setwise.gallery.bases import InlierSets, SetBases
from setwise.gallery.description import Description, Layer
from setwise.gallery.evidence import spans_of_sets
from setwise.gallery.gallery import Calibration, Gallery, Solution, SolvedLayer
from setwise.gallery.index_rows import costly_views, index_width
from setwise.gallery.layers import solved_layer
from setwise.gallery.outliers import OutlierScale
from setwise.gallery.shortlist import ShortlistSolution
from setwise.gallery.whole import WholeSolution
from setwise.graph import Graph
from setwise.graph.base import NoGraph
from setwise.index import Index
from setwise.sets import Origins, SetBatch

Arrays = dict[str, npt.NDArray[Any]]


def first_columns(large: SolvedLayer, n_columns: int) -> tuple[npt.NDArray[Any], IntArray]:
    """The first columns of each set, and the set of each column."""
    chosen = spans_of_sets(large.column_sets).place < n_columns
    return large.graph.columns[:, chosen], large.column_sets[chosen]


def steps_of(rest: Any) -> tuple[Any, ...]:
    """The steps of a view, of which some may be fitted."""
    return View("", rest).steps


def trained_features(views: Mapping[str, FittedView]) -> dict[str, Any]:
    """Weights and versions of the features that are trained networks."""
    features = {name: view.feature for name, view in views.items() if view.feature is not None}
    fingerprints = {name: fingerprint_of(feature) for name, feature in features.items()}
    return {name: one for name, one in fingerprints.items() if "weights" in one}


@dataclass(frozen=True)
class _Stored:
    """Arrays of a file, checked when they are taken out."""

    arrays: Arrays

    def get(
        self, name: str, kind: str, shape: tuple[int | None, ...], *, within: Any = None
    ) -> npt.NDArray[Any]:
        """The array of a name, of expected type, shape and values."""
        array = self.arrays[name]
        is_short = array.dtype == np.float16  # which no solver or SciPy takes
        if array.dtype.kind not in kind or is_short or array.ndim != len(shape):
            contradiction(f"{name!r} is of dtype {array.dtype} and shape {array.shape}")
        if any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
            contradiction(f"{name!r} has shape {array.shape}, expected {shape}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            contradiction(f"{name!r} is not finite")
        if within is not None and array.size:
            low, high = within
            if array.min() < low or array.max() > high:
                contradiction(f"{name!r} has values outside {low} to {high}")
        return array

    def of(self, prefix: str) -> Arrays:
        """The arrays, unchecked, whose names begin with a prefix, without that."""
        found = {name: array for name, array in self.arrays.items() if name.startswith(prefix)}
        return {name.removeprefix(prefix): array for name, array in found.items()}


def contradiction(what: str) -> NoReturn:
    """Refuse the file; the caller of ``restored`` names it."""
    raise ValueError(what)


def restored(document: Mapping[str, Any], arrays: Arrays, index: Index | None) -> Gallery:
    """The gallery that a document and its arrays describe, all of it checked."""
    stored = _Stored(arrays)
    description = Description.from_config(document["description"])
    if index is not None:
        description = replace(description, index=index)
    sets = _sets(document, stored)
    classes = _classes(document)
    codes = stored.get("codes", "i", (len(sets),), within=(0, len(classes) - 1))
    codes = codes.astype(np.int64)
    if len(np.unique(codes)) != len(classes):
        contradiction("a class has no set")
    dims = tuple(document["dims"])
    are_whole = bool(dims) and all(type(d) is int and d >= 1 for d in dims)
    if not are_whole or dims != tuple(sorted(set(dims))):
        contradiction(f"dims are {dims}")
    views = _views(description, stored, sets)
    has_vectors = bool(document["has_vectors"])
    solution: Solution
    if description.is_large(len(classes)):
        if not has_vectors:
            contradiction("a gallery of many classes is without its vectors")
        solution = _shortlist(description, sets, codes, views, dims, stored)
    else:
        inliers = _inliers(stored, views, sets) if has_vectors else None
        vectors = _VectorLayers(description, dims, sets, views, inliers)
        layers = _layers(description, dims, document["members"], stored, len(sets), vectors)
        _check_widths(layers, views, sets)
        solution = WholeSolution(layers, inliers)
    learnt = _calibration(document, stored, len(description.ensemble(dims).members))
    return Gallery(
        description, sets, classes, codes, dims, views, solution, learnt, has_vectors
    )


def _calibration(document: Mapping[str, Any], stored: _Stored, n_members: int) -> Calibration:
    weights = stored.get("weights", "f", (n_members,), within=(0.0, 1e9))
    if not weights.any():
        contradiction("no member has any weight")
    threshold = document["threshold"]
    return Calibration(
        weights=weights,
        inverse_temperatures=stored.get("steepness", "f", (n_members,), within=(0.0, 1e9)),
        pool_inverse_temperature=_number(document["power"], within=(0.0, 1e9)),
        shrinkage=_number(document["trust"], within=(0.0, 1.0)),
        threshold=None if threshold is None else _number(threshold),
        outliers=_outlier_scale(document["strange"], document.get("strangers")),
        accuracy=document["accuracy"],
        n_changed=int(_number(document.get("n_changed", 0), within=(0, 1e12))),
    )


def _outlier_scale(pair: Any, strangers: Any) -> OutlierScale:
    scale = OutlierScale()
    if pair is not None:
        scale = replace(scale, parts=(_number(pair[0]), _number(pair[1])))
    return scale if strangers is None else replace(scale, strangers=_number(strangers))


def shortlist_arrays(solution: ShortlistSolution) -> Arrays:
    """Arrays that a file keeps of a shortlist."""
    seen = {f"seen {name}": values for name, values in solution.seen.items()}
    index = {f"index {name}": values for name, values in solution.index.arrays().items()}
    own = {"is kept": solution.inliers, "index rows": solution.rows, "keys": solution.keys}
    return own | seen | index


def _shortlist(
    how: Description,
    sets: SetBatch,
    codes: IntArray,
    views: Mapping[str, FittedView],
    dims: tuple[int, ...],
    stored: _Stored,
) -> ShortlistSolution:
    """The solution of a large gallery; its index is the one that was built with it."""
    is_kept = _is_kept(stored, sets)
    widths = shown_widths(views, sets.n_features, sets.image_shape)
    seen = {
        name: stored.get(f"seen {name}", "f", (len(sets.vectors), widths[name]))
        for name in costly_views(views)
    }
    shape = (len(sets), index_width(sets, views))
    rows = stored.get("index rows", "f", shape).astype(np.float32, copy=False)
    keys = stored.get("keys", "i", (len(sets),), within=(0, 2**62)).astype(np.int64)
    if (np.diff(keys) < 1).any():
        contradiction("keys of the sets do not ascend")
    index = how.index.open(rows, keys, stored.of("index "))
    return ShortlistSolution(sets, codes, is_kept, views, seen, how, dims, rows, keys, index)


def image_features(views: Mapping[str, FittedView]) -> list[Any]:
    """The image features of views, each once, in their order."""
    features: list[Any] = []
    for view in views.values():
        if view.feature is not None and not any(are_equal(view.feature, f) for f in features):
            features.append(view.feature)
    return features


def _inliers(
    stored: _Stored, views: Mapping[str, FittedView], sets: SetBatch
) -> InlierSets | None:
    """Inliers of the sets and features of their images; None in the first files."""
    if "is kept" not in stored.arrays:
        return None
    is_kept, tables = _is_kept(stored, sets), []
    image_shape = sets.image_shape or ()
    for k, feature in enumerate(image_features(views)):
        if f"feature {k}" in stored.arrays:
            shape = int(is_kept.sum()), feature.n_values(image_shape)
            written = stored.get(f"feature {k}", "uf", shape)
            values = np.zeros((len(is_kept), shape[1]), written.dtype)
            values[is_kept] = written
            tables.append(FeatureTable(feature, is_kept.copy(), values))
    return InlierSets.known(sets, is_kept, tables)


def _is_kept(stored: _Stored, sets: SetBatch) -> BoolArray:
    """Which vectors are inliers, at least one of each set."""
    is_kept = stored.get("is kept", "b", (len(sets.vectors),))
    if (np.add.reduceat(is_kept, sets.offsets[:-1], dtype=np.int64) < 1).any():
        contradiction("nothing of a set is kept")
    return is_kept


def _number(value: Any, within: tuple[float, float] = (-np.inf, np.inf)) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        contradiction(f"expected a number, found {value!r}")
    if not within[0] <= value <= within[1]:
        contradiction(f"expected a number in {within}, found {value}")
    return float(value)


def _sets(document: Mapping[str, Any], stored: _Stored) -> SetBatch:
    names, n_features = document["names"], document["n_features"]
    if not all(type(name) is str for name in names):
        contradiction("names of sets are not all str")
    if type(n_features) is not int or n_features < 1:
        contradiction(f"n_features is {n_features!r}")
    offsets = stored.get("offsets", "i", (len(names) + 1,))
    if offsets[0] != 0 or (np.diff(offsets) < 1).any():
        contradiction("offsets of the sets do not ascend")
    n_vectors = int(offsets[-1])
    if document["has_vectors"]:
        # In their own type, which for images takes an eighth of a double.
        vectors = stored.get("vectors", "uif", (n_vectors, n_features))
        _check_vectors(vectors, offsets)
    else:
        vectors = np.broadcast_to(np.zeros(()), (n_vectors, n_features))
    shape = document["image_shape"]
    shape = None if shape is None else tuple(shape)
    origins = _origins(stored, n_vectors)
    return SetBatch(vectors, offsets, names, image_shape=shape, origins=origins)


def _check_vectors(vectors: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> None:
    """Refuse sets that :func:`setwise.sets.check_sets` would refuse."""
    if not np.logical_or.reduceat(vectors.any(axis=1), offsets[:-1]).all():
        contradiction("a set holds nothing but zeros")
    if vectors.dtype.kind == "f" and float(max(vectors.max(), -vectors.min())) >= 1e150:
        contradiction("a set has values whose squares overflow")


def _origins(stored: _Stored, n_vectors: int) -> Origins | None:
    if "files" not in stored.arrays:
        return None
    texts = _texts(stored, "file", n_vectors)
    files = [text.decode("utf-8", "surrogatepass") for text in texts]
    times = stored.get("times", "i", (n_vectors,)).astype(np.int64).view("datetime64[us]")
    has_thumbnails = "thumbnails" in stored.arrays
    thumbnails = _texts(stored, "thumbnail", n_vectors) if has_thumbnails else None
    return Origins.of_files(files, times, thumbnails)


def _texts(stored: _Stored, what: str, n_vectors: int) -> list[bytes]:
    """Texts that were written one after the other, with the length of each."""
    joined = stored.get(f"{what}s", "u", (None,)).tobytes()
    sizes = stored.get(f"{what} sizes", "i", (n_vectors,), within=(0, len(joined)))
    ends = np.cumsum(sizes)
    if int(ends[-1]) != len(joined):
        contradiction(f"{what} sizes do not add up")
    return [joined[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def _classes(document: Mapping[str, Any]) -> npt.NDArray[Any]:
    kinds = {"str": str, "int": int, "float": float, "bool": bool}
    kind, labels = kinds[document["labels"]], document["classes"]
    if not labels or not all(type(label) is kind for label in labels):
        contradiction(f"labels are not all of kind {document['labels']}")
    classes = np.array(labels)
    is_distinct = len(set(labels)) == len(labels)
    if not (is_distinct if kind is bool else not (classes[1:] <= classes[:-1]).any()):
        contradiction("labels are not sorted")
    return classes


@dataclass(frozen=True)
class _VectorLayers:
    """Layers of the vectors themselves, which are made again of the sets."""

    description: Description
    dims: tuple[int, ...]
    sets: SetBatch
    views: Mapping[str, FittedView]
    inliers: InlierSets | None

    @lazy
    def bases(self) -> list[SetBases]:
        inliers = self.inliers or InlierSets.of(self.description, self.sets)
        return [SetBases(one, self.views, self.description, self.dims) for one in inliers]

    def solved(self, layer: Layer) -> SolvedLayer:
        view, sets = self.views[layer.representation.view.name], self.sets
        width = shown_widths({view.name: view}, sets.n_features, sets.image_shape)[view.name]
        need = NoGraph().memory(width, len(sets.vectors))
        require_memory(need, f"{layer} of the gallery", "Read the file on a larger machine.")
        return solved_layer(self.description, layer, [one[layer] for one in self.bases])


def _layers(
    description: Description,
    dims: tuple[int, ...],
    written: Any,
    stored: _Stored,
    n_sets: int,
    vectors: _VectorLayers,
) -> tuple[SolvedLayer, ...]:
    described = description.ensemble(dims).layers
    if len(written) != len(described):
        contradiction(f"{len(written)} layers are written, {len(described)} described")
    solved: dict[int, SolvedLayer] = {}
    # Layers in which others are nested come first.
    is_nested = [one.get("nested_in") is not None for one in written]
    for i in sorted(range(len(described)), key=is_nested.__getitem__):
        if not described[i].representation.basis.holds_vectors:
            solved[i] = _layer(described[i], i, written[i], stored, solved, n_sets)
        else:
            solved[i] = vectors.solved(described[i])
    return tuple(solved[i] for i in range(len(described)))


def _layer(
    layer: Layer,
    i: int,
    written: Mapping[str, Any],
    stored: _Stored,
    solved: Mapping[int, SolvedLayer],
    n_sets: int,
) -> SolvedLayer:
    sets = stored.get(f"member {i} sets", "i", (None,), within=(0, n_sets - 1)).astype(np.int64)
    if (np.diff(sets) < 0).any():
        contradiction(f"columns of layer {i} are not in the order of the sets")
    if written["nested_in"] is None:
        columns = stored.get(f"member {i} columns", "f", (None, len(sets)))
    else:
        columns, own = first_columns(solved[written["nested_in"]], layer.n_columns)
        if not np.array_equal(own, sets):
            contradiction(f"member {i} is not nested in layer {written['nested_in']}")
    columns = (np.asfortranarray if written["is_fortran"] else np.ascontiguousarray)(columns)
    if not layer.representation.basis.has_graph:
        return SolvedLayer(layer, NoGraph().solve(columns), sets)
    graph = Graph.from_config(written["graph"])
    advice = "If the file is yours, read it on a larger machine."
    require_memory(graph.memory(*columns.shape), f"member {i} of the gallery", advice)
    solution = stored.of(f"member {i} ")
    for name in ("columns", "sets"):
        solution.pop(name, None)
    _check_solution(solution, *columns.shape)
    return SolvedLayer(layer, graph.restored(columns, solution), sets)


def _check_solution(
    solution: Mapping[str, npt.NDArray[Any]], n_features: int, n_columns: int
) -> None:
    """Refuse indices outside the arrays, before any loop follows them."""
    stored = _Stored(dict(solution))
    if "counts" in solution:
        counts = stored.get("counts", "i", (n_columns,), within=(0, n_columns))
        total = int(counts.sum(dtype=np.int64))
        atoms = stored.get("atoms", "i", (total,), within=(0, n_columns - 1))
        stored.get("values", "f", (total,))
        ends = np.cumsum(counts)[:-1]
        is_inside = np.ones(max(total - 1, 0), dtype=bool)
        is_inside[ends[(ends > 0) & (ends < total)] - 1] = False
        if (np.diff(atoms)[is_inside] <= 0).any():
            contradiction("atoms of a code do not ascend")
        if "pool_atoms" in solution:
            pool = stored.get("pool_atoms", "i", (n_columns, None), within=(0, n_columns - 1))
            stored.get("pool_counts", "i", (n_columns,), within=(0, pool.shape[1]))
            stored.get("pool_margins", "f", (n_columns,))
            stored.get("residuals", "f", (n_columns, n_features))
        return
    pointers = stored.get("indptr", "i", (n_columns + 1,))
    if pointers[0] != 0 or (np.diff(pointers) < 0).any():
        contradiction("rows of the graph do not follow each other")
    stored.get("indices", "i", (int(pointers[-1]),), within=(0, n_columns - 1))
    stored.get("data", "f", (int(pointers[-1]),), within=(0.0, np.inf))


def _views(description: Description, stored: _Stored, sets: SetBatch) -> dict[str, FittedView]:
    views, has_images = {}, sets.image_shape is not None
    for representation in description.representations:
        view = representation.view
        fitted = view.unfitted()
        if fitted.feature is not None and not has_images:
            contradiction(f"view {view.name!r} looks at images, and there are none")
        for k, step in enumerate(steps_of(fitted.rest)):
            if not isinstance(step, Whitener):
                continue
            width = None if view.steps[0] is not step else sets.n_features
            mean = stored.get(f"view {view.name} {k} mean_", "f", (width,))
            directions = stored.get(f"view {view.name} {k} directions_", "f", (None, len(mean)))
            gains = stored.get(f"view {view.name} {k} gains_", "f", (len(directions),))
            step.take_over(mean, directions, gains)
        views[view.name] = fitted
    return views


def _check_widths(
    layers: tuple[SolvedLayer, ...], views: Mapping[str, FittedView], sets: SetBatch
) -> None:
    """Refuse columns of another length than the vectors of a probe in their view."""
    widths = shown_widths(views, sets.n_features, sets.image_shape)
    for i, solved in enumerate(layers):
        width = widths[solved.layer.representation.view.name]
        if len(solved.graph.columns) != width:
            contradiction(f"columns of layer {i} are not of length {width}")
