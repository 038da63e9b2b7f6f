"""A solved gallery as one file, and back.

What is written: the description (names and parameters), labels, names of sets, and arrays:
columns and codes of each member, what views have learnt, weights. What follows from them
(graphs, residuals, Gram matrices) is computed again when the file is read. A file is not
trusted: everything that a compiled loop or an index will rely on is checked first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import IntArray
from setwise.classify.description import Description, Member
from setwise.classify.gallery import Gallery, SolvedMember
from setwise.classify.member import spans_of_sets
from setwise.classify.outliers import NOTHING
from setwise.errors import DataError, SetwiseError, reject
from setwise.features import Whitener
from setwise.features.views import FittedView, View
from setwise.graph import Graph
from setwise.io.tensors import read_tensors, write_tensors
from setwise.io.untrusted import check_path
from setwise.sets import SetBatch

__all__ = ["FORMAT", "load_gallery", "save_gallery"]

# Files of a larger number are of a later version of setwise.
FORMAT = 1
_KINDS = {"U": "str", "i": "int", "u": "int", "f": "float", "b": "bool"}

Arrays = dict[str, npt.NDArray[Any]]


# ------------------------------------------------------------------------------- writing


def save_gallery(
    gallery: Gallery,
    path: str | Path,
    *,
    classifier: Mapping[str, Any] | None = None,
    caller: str = "save_gallery",
) -> Path:
    """Write a gallery to one file.

    Parameters
    ----------
    gallery : Gallery
        What is written.
    path : str or Path
        The file; one that is there is replaced, at once or not at all.
    classifier : dict, optional
        What else the estimator has to know, of what JSON knows.
    caller : str
        Who asks, for messages.
    """
    target = check_path(caller, path)
    if target.is_dir():
        reject(f"{caller}: {str(target)!r} is a folder. Expected the name of a file.")
    if not target.parent.is_dir():
        reject(f"{caller}: there is no folder {str(target.parent)!r}. Make it first.")
    arrays: Arrays = {
        "vectors": _compact(gallery.sets.vectors),
        "offsets": gallery.sets.offsets,
        "codes": gallery.codes,
        "weights": gallery.weights,
        "steepness": gallery.steepness,
    }
    members = _member_arrays(gallery, arrays)
    for name, view in gallery.views.items():
        _view_arrays(name, view, arrays)
    labels, kind = _labels(gallery.classes, caller)
    write_tensors(
        target,
        {
            "format": FORMAT,
            "description": gallery.description.to_config(),
            "classifier": dict(classifier or {}),
            "classes": labels,
            "labels": kind,
            "names": list(gallery.sets.names),
            "image_shape": gallery.sets.image_shape,
            "vector_dtype": gallery.sets.vectors.dtype.str,
            "dims": list(gallery.dims),
            "members": members,
            "accuracy": None if gallery.accuracy is None else dict(gallery.accuracy),
            "power": gallery.power,
            "trust": gallery.trust,
            "threshold": gallery.threshold,
            "strange": _finite_pair(gallery.strange),
        },
        arrays,
    )
    return target


def _compact(vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The vectors in the smallest type that holds each of them exactly."""
    for dtype in (np.uint8, np.float32):
        with np.errstate(invalid="ignore", over="ignore"):
            smaller = vectors.astype(dtype)
        if np.array_equal(smaller, vectors):
            return smaller
    return vectors


def _member_arrays(gallery: Gallery, arrays: Arrays) -> list[dict[str, Any]]:
    """Put the members' arrays beside the others; what is to be known of them otherwise.

    Bases that nest are kept once: the columns of a smaller member are the first of the sets'
    in the largest of its representation.
    """
    written = []
    for i, solved in enumerate(gallery.members):
        columns = solved.graph.columns
        largest = _largest(gallery, i)
        nested = largest != i and _equals_first(solved, gallery.members[largest])
        if not nested:
            arrays[f"member {i} columns"] = np.ascontiguousarray(columns)
        arrays[f"member {i} sets"] = solved.column_sets.astype(np.int32)
        for name, values in solved.graph.solution().items():
            arrays[f"member {i} {name}"] = values
        written.append(
            {
                "nested_in": largest if nested else None,
                # What the gallery fixed, such as the width of a Gaussian, is in its own.
                "graph": solved.graph.graph.to_config(),
                "is_fortran": bool(
                    columns.flags.f_contiguous and not columns.flags.c_contiguous
                ),
            }
        )
    return written


def _largest(gallery: Gallery, i: int) -> int:
    """The member of the same representation and start that has most columns."""
    own = gallery.members[i].member
    alike = [
        j
        for j, other in enumerate(gallery.members)
        if (other.member.representation, other.member.start) == (own.representation, own.start)
    ]
    return max(alike, key=lambda j: gallery.members[j].member.n_columns)


def _first_columns(large: SolvedMember, n_columns: int) -> tuple[npt.NDArray[Any], IntArray]:
    """The first columns of each set."""
    chosen = spans_of_sets(large.column_sets)[1] < n_columns
    return large.graph.columns[:, chosen], large.column_sets[chosen]


def _equals_first(small: SolvedMember, large: SolvedMember) -> bool:
    columns, sets = _first_columns(large, small.member.n_columns)
    same_sets = np.array_equal(sets, small.column_sets)
    return same_sets and np.array_equal(columns, small.graph.columns)


def _view_arrays(name: str, view: FittedView, arrays: Arrays) -> None:
    """Put what a view has learnt beside the others."""
    for k, step in enumerate(_learnt(view.rest)):
        if isinstance(step, Whitener):
            for what in ("mean_", "directions_", "gains_"):
                arrays[f"view {name} {k} {what}"] = getattr(step, what)


def _learnt(rest: Any) -> tuple[Any, ...]:
    return View("", rest).steps


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


# ------------------------------------------------------------------------------- reading


def load_gallery(
    path: str | Path, *, caller: str = "load_gallery"
) -> tuple[Gallery, dict[str, Any]]:
    """Read a gallery, and what else the estimator had to know.

    Parameters
    ----------
    path : str or Path
        What :func:`save_gallery` wrote.
    caller : str
        Who asks, for messages.

    Raises
    ------
    DataError
        When the file is not there, no gallery, damaged, contradictory, or of a later version.
    """
    given = check_path(caller, path)
    document, arrays = read_tensors(given, caller)
    version = document.get("format")
    if isinstance(version, int) and version > FORMAT:
        reject(
            f"{caller}: {str(given)!r} was written by a later version of setwise (format "
            f"{version}, this one reads up to {FORMAT}). Install a newer one."
        )
    try:
        return _gallery(document, arrays), dict(document["classifier"])
    except (SetwiseError, KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        msg = (
            f"{caller}: {str(given)!r} contradicts itself ({type(error).__name__}: {error}). "
            "Expected what save wrote; copy it again, or fit and save anew."
        )
        raise DataError(msg) from error


@dataclass(frozen=True)
class _Stored:
    """Arrays of a file, given out only as what they have to be."""

    arrays: Arrays

    def get(
        self, name: str, kind: str, shape: tuple[int | None, ...], *, within: Any = None
    ) -> npt.NDArray[Any]:
        """The array of a name, once its type, shape and values are what is expected."""
        array = self.arrays[name]
        if array.dtype.kind not in kind or array.ndim != len(shape):
            _contradiction(f"{name!r} is of dtype {array.dtype} and shape {array.shape}")
        if any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
            _contradiction(f"{name!r} has shape {array.shape}, expected {shape}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            _contradiction(f"{name!r} is not finite")
        if within is not None and array.size:
            low, high = within
            if array.min() < low or array.max() > high:
                _contradiction(f"{name!r} has values outside {low} to {high}")
        return array


def _contradiction(what: str) -> None:
    raise ValueError(what)


def _gallery(document: Mapping[str, Any], arrays: Arrays) -> Gallery:
    stored = _Stored(arrays)
    description = Description.from_config(document["description"])
    sets = _sets(document, stored)
    classes = _classes(document)
    codes = stored.get("codes", "i", (len(sets),), within=(0, len(classes) - 1))
    codes = codes.astype(np.int64)
    if len(np.unique(codes)) != len(classes):
        _contradiction("a class has no set")
    dims = tuple(document["dims"])
    if (
        not dims
        or not all(type(d) is int and d >= 1 for d in dims)
        or dims != tuple(sorted(set(dims)))
    ):
        _contradiction(f"dims are {dims}")
    members = _members(description, dims, document["members"], stored, len(sets))
    n_voices = len(description.voices(dims))
    views = _views(description, stored, sets.n_features)
    strange = document["strange"]
    return Gallery(
        description=description,
        sets=sets,
        classes=classes,
        codes=codes,
        dims=dims,
        views=views,
        members=members,
        weights=stored.get("weights", "f", (n_voices,), within=(0.0, 1e9)),
        steepness=stored.get("steepness", "f", (n_voices,), within=(0.0, 1e9)),
        accuracy=document["accuracy"],
        power=_number(document["power"]),
        trust=_number(document["trust"]),
        threshold=None if document["threshold"] is None else _number(document["threshold"]),
        strange=NOTHING if strange is None else (_number(strange[0]), _number(strange[1])),
    )


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        _contradiction(f"expected a number, found {value!r}")
    return float(value)


def _sets(document: Mapping[str, Any], stored: _Stored) -> SetBatch:
    names = document["names"]
    dtype = np.dtype(document["vector_dtype"])
    if dtype.kind not in "uif":
        _contradiction(f"vectors of dtype {dtype}")
    vectors = stored.get("vectors", "uif", (None, None))
    offsets = stored.get("offsets", "i", (len(names) + 1,))
    if offsets[0] != 0 or offsets[-1] != len(vectors) or (np.diff(offsets) < 1).any():
        _contradiction("offsets of the sets do not divide the vectors")
    shape = document["image_shape"]
    return SetBatch(
        vectors.astype(dtype),
        offsets,
        names,
        image_shape=None if shape is None else tuple(shape),
    )


def _classes(document: Mapping[str, Any]) -> npt.NDArray[Any]:
    kinds = {"str": str, "int": int, "float": float, "bool": bool}
    kind, labels = kinds[document["labels"]], document["classes"]
    if not labels or not all(type(label) is kind for label in labels):
        _contradiction(f"labels are not all of kind {document['labels']}")
    classes = np.array(labels)
    if (
        (classes[1:] <= classes[:-1]).any()
        if kind is not bool
        else len(set(labels)) != len(labels)
    ):
        _contradiction("labels are not sorted")
    return classes


def _members(
    description: Description,
    dims: tuple[int, ...],
    written: Any,
    stored: _Stored,
    n_sets: int,
) -> tuple[SolvedMember, ...]:
    described = description.members(dims)
    if len(written) != len(described):
        _contradiction(f"{len(written)} members are written, {len(described)} described")
    solved: dict[int, SolvedMember] = {}
    # Those that others are nested in come first.
    for i in sorted(range(len(described)), key=lambda i: written[i]["nested_in"] is not None):
        solved[i] = _member(described[i], i, written[i], stored, solved, n_sets)
    return tuple(solved[i] for i in range(len(described)))


def _member(
    member: Member,
    i: int,
    written: Mapping[str, Any],
    stored: _Stored,
    solved: Mapping[int, SolvedMember],
    n_sets: int,
) -> SolvedMember:
    sets = stored.get(f"member {i} sets", "i", (None,), within=(0, n_sets - 1)).astype(np.int64)
    if (np.diff(sets) < 0).any():
        _contradiction(f"columns of member {i} are not in the order of the sets")
    if written["nested_in"] is None:
        columns = stored.get(f"member {i} columns", "f", (None, len(sets)))
    else:
        columns, own = _first_columns(solved[written["nested_in"]], member.n_columns)
        if not np.array_equal(own, sets):
            _contradiction(f"member {i} is not nested in member {written['nested_in']}")
    columns = (
        np.asfortranarray(columns) if written["is_fortran"] else np.ascontiguousarray(columns)
    )
    graph = Graph.from_config(written["graph"])
    prefix = f"member {i} "
    names = [name for name in stored.arrays if name.startswith(prefix)]
    solution = {
        name.removeprefix(prefix): stored.arrays[name]
        for name in names
        if name.removeprefix(prefix) not in ("columns", "sets")
    }
    _check_solution(solution, *columns.shape)
    return SolvedMember(member, graph.restored(columns, solution), sets)


def _check_solution(
    solution: Mapping[str, npt.NDArray[Any]], n_features: int, n_columns: int
) -> None:
    """Refuse indices that lead out of the arrays, before any loop follows them."""
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
            _contradiction("atoms of a code do not ascend")
        if "pool_atoms" in solution:
            pool = stored.get("pool_atoms", "i", (n_columns, None), within=(0, n_columns - 1))
            stored.get("pool_counts", "i", (n_columns,), within=(0, pool.shape[1]))
            stored.get("pool_margins", "f", (n_columns,))
            stored.get("residuals", "f", (n_columns, n_features))
        return
    pointers = stored.get("indptr", "i", (n_columns + 1,))
    if pointers[0] != 0 or (np.diff(pointers) < 0).any():
        _contradiction("rows of the graph do not follow each other")
    stored.get("indices", "i", (int(pointers[-1]),), within=(0, n_columns - 1))
    stored.get("data", "f", (int(pointers[-1]),), within=(0.0, np.inf))


def _views(description: Description, stored: _Stored, n_features: int) -> dict[str, FittedView]:
    views = {}
    for representation in description.representations:
        view = representation.view
        fitted = view.unfitted()
        for k, step in enumerate(_learnt(fitted.rest)):
            if not isinstance(step, Whitener):
                continue
            width = None if view.steps[0] is not step else n_features
            mean = stored.get(f"view {view.name} {k} mean_", "f", (width,))
            directions = stored.get(f"view {view.name} {k} directions_", "f", (None, len(mean)))
            step.mean_, step.directions_ = mean, directions
            step.gains_ = stored.get(f"view {view.name} {k} gains_", "f", (len(directions),))
            step.n_features_in_ = len(mean)
        views[view.name] = fitted
    return views
