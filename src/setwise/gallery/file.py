"""A solved gallery as one file, and back.

A file has the description, labels, names of sets, files and times of their vectors, and arrays:
columns and codes of each layer, features of images, what views have learnt, weights. Graphs,
residuals and Gram matrices are computed again when it is read, see ``restored.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from glob import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.files import held, real_path
from setwise._support.parallel import one_blas_thread
from setwise._support.parameters import check_choice
from setwise.errors import DataError, MissingExtraError, SetwiseError, reject
from setwise.features import Whitener
from setwise.gallery.bases import InlierSets
from setwise.gallery.gallery import Gallery, Solution, SolvedLayer
from setwise.gallery.restored import (
    Arrays,
    first_columns,
    image_features,
    restored,
    shortlist_arrays,
    steps_of,
    trained_features,
)
from setwise.gallery.shortlist import ShortlistSolution
from setwise.gallery.whole import WholeSolution
from setwise.index import Index
from setwise.io.tensors import read_tensors, write_tensors
from setwise.io.untrusted import check_path
from setwise.sets import Origins

# Larger numbers are of later versions of setwise. With a shortlist, a file has no layers, which
# readers of format 1 do not know.
FORMAT, WITHOUT_SHORTLIST = 2, 1
_KINDS = {"U": "str", "i": "int", "u": "int", "f": "float", "b": "bool"}


def save_gallery(
    gallery: Gallery,
    path: str | Path,
    *,
    classifier: Mapping[str, Any] | None = None,
    keep_vectors: bool = True,
    caller: str = "save_gallery",
) -> Path:
    """Write a gallery to one file."""
    given = check_path(caller, path)
    target = real_path(given)
    if target.is_dir():
        reject(f"{caller}: {str(given)!r} is a folder. Expected the name of a file.")
    if not target.parent.is_dir():
        reject(f"{caller}: there is no folder {str(target.parent)!r}. Make it first.")
    check_choice(caller, "keep_vectors", keep_vectors, (True, False))
    with held(target):
        write_gallery(
            gallery, target, classifier=classifier, keep_vectors=keep_vectors, caller=caller
        )
    return given


def write_gallery(
    gallery: Gallery,
    target: Path,
    *,
    classifier: Mapping[str, Any] | None = None,
    keep_vectors: bool = True,
    caller: str,
) -> None:
    """As :func:`save_gallery`, where the caller holds the lock of the file."""
    target = real_path(target)
    for left in target.parent.glob(f".{escape(target.name)}.*.tmp"):
        left.unlink(missing_ok=True)  # of a process that was killed
    has_vectors, sets = keep_vectors and gallery.has_vectors, gallery.sets
    if not has_vectors:
        gallery = _without_vectors(gallery, caller)
    learnt, solution = gallery.calibration, gallery.solution
    arrays: Arrays = {
        "offsets": sets.offsets,
        "codes": gallery.codes,
        "weights": learnt.weights,
        "steepness": learnt.inverse_temperatures,
    }
    if has_vectors:
        arrays["vectors"] = _compact(sets.vectors)
    if sets.origins is not None:
        _origin_arrays(sets.origins, arrays, with_thumbnails=has_vectors)
    layers = _layer_arrays(gallery, arrays)
    if isinstance(solution, ShortlistSolution):
        if not has_vectors:
            reject(
                f"{caller}: a gallery of {gallery.n_classes} classes is judged by the vectors "
                "around each probe, and cannot be saved without them."
            )
        arrays |= shortlist_arrays(solution)
    elif isinstance(solution, WholeSolution) and has_vectors and solution.inliers is not None:
        arrays |= _inlier_arrays(gallery, solution.inliers)
    for name, view in gallery.views.items():
        for k, step in enumerate(steps_of(view.rest)):
            if isinstance(step, Whitener):
                for what in ("mean_", "directions_", "gains_"):
                    arrays[f"view {name} {k} {what}"] = getattr(step, what)
    labels, kind = _labels(gallery.classes, caller)
    write_tensors(
        target,
        {
            "format": FORMAT if solution.is_shortlist else WITHOUT_SHORTLIST,
            "versions": {name: version(name) for name in ("setwise", "numpy")},
            "description": gallery.description.to_config(),
            "features": trained_features(gallery.views),
            "classifier": dict(classifier or {}),
            "classes": labels,
            "labels": kind,
            "names": list(sets.names),
            "image_shape": sets.image_shape,
            "n_features": sets.n_features,
            "has_vectors": has_vectors,
            "dims": list(gallery.dims),
            "members": layers,
            "accuracy": None if learnt.accuracy is None else dict(learnt.accuracy),
            "power": learnt.pool_inverse_temperature,
            "trust": learnt.shrinkage,
            "threshold": learnt.threshold,
            "strange": _finite_pair(learnt.outliers.parts),
            "strangers": _finite(learnt.outliers.strangers),
            "n_changed": learnt.n_changed,
        },
        arrays,
        owner=caller,
        before_replacing=partial(_publish, solution),
    )


def _without_vectors(gallery: Gallery, caller: str) -> Gallery:
    """The gallery without the members that compare with its single vectors."""
    how, solution, learnt = gallery.description, gallery.solution, gallery.calibration
    representations = tuple(r for r in how.representations if not r.basis.holds_vectors)
    if representations == how.representations or not isinstance(solution, WholeSolution):
        return gallery
    stays = [not m.layer.representation.basis.holds_vectors for m in gallery.members]
    if not learnt.weights[stays].any():
        reject(
            f"{caller}: every member of the ensemble compares with single vectors of the "
            "gallery, which is not saved without them. Fit it with other representations too."
        )
    names = [str(m) for m, is_kept in zip(gallery.members, stays, strict=True) if is_kept]
    layers = [s for s in solution.layers if not s.layer.representation.basis.holds_vectors]
    smaller = replace(
        gallery,
        description=replace(how, representations=representations),
        solution=WholeSolution(tuple(layers)),
    )
    return smaller.calibrated(
        weights=learnt.weights[stays],
        inverse_temperatures=learnt.inverse_temperatures[stays],
        accuracy=learnt.accuracy and {name: learnt.accuracy[name] for name in names},
    )


def _publish(solution: Solution) -> None:
    """Bring an index that is kept elsewhere to the saved version."""
    if isinstance(solution, ShortlistSolution):
        solution.index.publish()


def _compact(vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The vectors in the smallest type that holds each of them exactly."""
    for dtype in (np.uint8, np.float32):
        with np.errstate(invalid="ignore", over="ignore"):
            smaller = vectors.astype(dtype)
        if np.array_equal(smaller, vectors):
            return smaller
    return vectors


def _inlier_arrays(gallery: Gallery, inliers: InlierSets) -> Arrays:
    """Which vectors are inliers, and their image features, to be read instead of computed."""
    arrays: Arrays = {"is kept": inliers.is_inlier}
    for k, feature in enumerate(image_features(gallery.views)):
        table = inliers.images.table(feature)
        if table.values is not None and table.is_made[inliers.is_inlier].all():
            arrays[f"feature {k}"] = _compact(table.values[inliers.is_inlier])
    return arrays


def _origin_arrays(origins: Origins, arrays: Arrays, *, with_thumbnails: bool) -> None:
    """Add files, times and small pictures of the vectors to the arrays."""
    names = [file.encode("utf-8", "surrogatepass") for file in origins.files]
    arrays["files"], arrays["file sizes"] = _joined(names)
    arrays["times"] = origins.times.astype("datetime64[us]").view(np.int64)
    if with_thumbnails:
        arrays["thumbnails"], arrays["thumbnail sizes"] = _joined(origins.thumbnails)


def _joined(texts: Sequence[bytes]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Texts, one after the other, and the length of each."""
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    return np.frombuffer(b"".join(texts), dtype=np.uint8), sizes


def _layer_arrays(gallery: Gallery, arrays: Arrays) -> list[dict[str, Any]]:
    """Add the layers' arrays; return what the document says of each layer.

    Bases that nest are kept once: the columns of a smaller layer are the first columns of each
    set in the largest layer of its representation.
    """
    written: list[dict[str, Any]] = []
    for i, solved in enumerate(gallery.layers):
        if solved.layer.representation.basis.holds_vectors:
            written.append({})  # made again of the vectors
            continue
        columns = solved.graph.columns
        largest = _largest(gallery, i)
        nested = largest != i and _equals_first(solved, gallery.layers[largest])
        if not nested:
            arrays[f"member {i} columns"] = np.ascontiguousarray(columns)
        arrays[f"member {i} sets"] = solved.column_sets.astype(np.int32)
        graph = None
        if solved.layer.representation.basis.has_graph:
            for name, values in solved.graph.solution().items():
                arrays[f"member {i} {name}"] = values
            # What the gallery fixed, such as a Gaussian's width, is in the graph's own graph.
            graph = solved.graph.graph.to_config()
        is_fortran = bool(columns.flags.f_contiguous and not columns.flags.c_contiguous)
        nested_in = largest if nested else None
        written.append({"nested_in": nested_in, "graph": graph, "is_fortran": is_fortran})
    return written


def _largest(gallery: Gallery, i: int) -> int:
    """The place of the largest layer of the same representation and start."""
    own = gallery.layers[i].layer
    layers = [solved.layer for solved in gallery.layers]
    of = own.representation, own.start
    alike = [j for j, layer in enumerate(layers) if (layer.representation, layer.start) == of]
    return max(alike, key=lambda j: layers[j].n_columns)


def _equals_first(small: SolvedLayer, large: SolvedLayer) -> bool:
    columns, sets = first_columns(large, small.layer.n_columns)
    same_sets = np.array_equal(sets, small.column_sets)
    return same_sets and np.array_equal(columns, small.graph.columns)


def _labels(classes: npt.NDArray[Any], caller: str) -> tuple[list[Any], str]:
    kind = _KINDS.get(classes.dtype.kind)
    if kind is None:
        reject(
            f"{caller}: labels of dtype {classes.dtype} cannot be written down. Expected str, "
            "int, float or bool: convert them before fit."
        )
    return classes.tolist(), kind


def _finite_pair(pair: tuple[float, float]) -> list[float] | None:
    return [float(x) for x in pair] if np.isfinite(pair).all() else None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def load_gallery(
    path: str | Path, *, index: Index | None = None, caller: str = "load_gallery"
) -> tuple[Gallery, dict[str, Any]]:
    """Read a gallery, and the other parameters of the estimator."""
    given = check_path(caller, path)
    document, arrays = read_tensors(given, caller, FORMAT)
    try:
        with one_blas_thread():  # as it was solved
            gallery, own = restored(document, arrays, index), dict(document["classifier"])
        features = document.get("features", {})
        weights = {name: written["weights"] for name, written in features.items()}
    except MissingExtraError:
        raise
    except (SetwiseError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        msg = (
            f"{caller}: {str(given)!r} contradicts itself ({type(error).__name__}: {error}). "
            "Expected what save wrote; copy it again, or fit and save anew."
        )
        raise DataError(msg) from error
    for name, here in trained_features(gallery.views).items():
        if weights.get(name) != here["weights"]:
            reject(
                f"{caller}: {str(given)!r} was made with other weights of the view {name!r}, "
                f"{weights.get(name)}, than are installed here, {here['weights']}. Install "
                "those, or fit and save anew."
            )
    return gallery, own
