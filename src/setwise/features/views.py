"""Views: named transformations of the vectors of a set before they become a basis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pickle import PicklingError
from threading import Lock
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from setwise._support.parallel import lazy
from setwise._support.parameters import check_choice, check_known, refuse
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.errors import ParameterError, reject
from setwise.features.descriptors import HOG, LBP
from setwise.features.faces import Faces
from setwise.features.images import AT_ONCE, ImageFeature, Pixels, is_pipeline, steps_of
from setwise.features.network import Network
from setwise.features.vectors import unit_rows
from setwise.features.whitening import Principal, Whitener

# What can be written down by its name and parameters, and read again.
_STEPS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (HOG, LBP, Faces, Network, Pixels, Whitener)
}


@dataclass(frozen=True)
class View:
    """A named transformation of the vectors of a set."""

    name: str
    transformer: Any = None
    has_lengths: bool = False

    def __post_init__(self) -> None:
        check_choice("View", "has_lengths", self.has_lengths, (True, False))

    @classmethod
    def of(cls, value: Any, owner: str) -> View:
        """The view that ``value`` is or names; ``owner`` is for the message."""
        if isinstance(value, View):
            return value
        if isinstance(value, str) and value in KNOWN:
            return KNOWN[value]
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
            name, transformer = value
            if transformer is None or hasattr(transformer, "transform"):
                return cls(name, transformer)
        elif hasattr(value, "transform") and not isinstance(value, type):
            return cls(type(value).__name__.lower(), value)
        names = ", ".join(map(repr, KNOWN))
        expected = f"{names}, a transformer or a (name, transformer) pair"
        return refuse(owner, "view", expected, value)

    @property
    def steps(self) -> tuple[Any, ...]:
        """The transformers in order."""
        return () if self.transformer is None else tuple(_steps(self.transformer))

    @property
    def feature(self) -> str:
        """The features in words, equal for a view and its whitened form."""
        return " ".join(str(step) for step in self.steps if not isinstance(step, Whitener))

    def to_config(self) -> dict[str, Any]:
        """Name and parameters of the steps, in JSON types."""
        steps = []
        for step in self.steps:
            kind = type(step).__name__
            if type(step) not in _STEPS.values():
                what = f"view {self.name!r} cannot be written down: {kind} is not one of"
                advice = "Transform the sets before they come here"
                msg = f"{what} {', '.join(_STEPS)}. {advice}."
                raise ParameterError(msg)
            parameters = step.get_params(deep=False)
            plain = {k: list(v) if isinstance(v, tuple) else v for k, v in parameters.items()}
            steps.append({"name": kind, **plain})
        return {"name": self.name, "steps": steps, "has_lengths": self.has_lengths}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> View:
        """The view of a configuration from :meth:`to_config`."""
        steps = []
        for step in config["steps"]:
            check_known(f"view {config['name']!r}", "step", step["name"], _STEPS)
            kind = _STEPS[step["name"]]
            values = {k: tuple(v) if isinstance(v, list) else v for k, v in step.items()}
            del values["name"]
            for parameter in values:
                check_known(kind.__name__, "parameter", parameter, kind().get_params())
            steps.append(kind(**values))
        return cls(config["name"], _in_a_row(steps), config["has_lengths"])

    def fit(
        self, images: Images, principal: Callable[[Any], Principal] | None = None
    ) -> FittedView:
        """Fit the view to the vectors of a gallery.

        ``principal`` gives the principal directions of a feature of theirs, for whiteners.
        """
        view = self.unfitted()
        if view.feature is not None and images.shape is None:
            what = f"view {self.name!r} looks at images, and the gallery holds vectors"
            expected = "sets from load_images, load_video or SetBatch.from_images"
            reject(f"{what}. Expected {expected}.")
        if principal is not None and isinstance(view.rest, Whitener):
            view.rest.fit_to(principal(view.feature))
        elif view.rest is not None:
            view.rest.fit(images.seen_by(view.feature))
        return view

    def unfitted(self) -> FittedView:
        """Unfitted copies of the steps, the image feature apart."""
        steps = [clone(step) for step in self.steps]
        feature = steps.pop(0) if steps and isinstance(steps[0], ImageFeature) else None
        return FittedView(self.name, feature, _in_a_row(steps), self.has_lengths)


def _steps(transformer: Any) -> Iterator[Any]:
    """The transformers of a pipeline, also of nested ones."""
    if is_pipeline(transformer):
        for step in steps_of(transformer):
            yield from _steps(step)
    else:
        yield transformer


def _in_a_row(steps: Sequence[Any]) -> Any:
    """One transformer that applies several, None for none."""
    if len(steps) < 2:
        return steps[0] if steps else None
    from sklearn.pipeline import make_pipeline

    return make_pipeline(*steps)


KNOWN = {
    "plain": View("plain"),
    "whitened": View("whitened", Whitener()),
    "lengths": View("lengths", has_lengths=True),
}


class FeatureTable:
    """Values of one feature, a row per image, computed when first wanted.

    They are rounded to single precision, which takes half the memory, before anything is made
    of them: what is kept with a gallery is what a new fit would compute.
    """

    def __init__(
        self, feature: Any, is_made: BoolArray, values: npt.NDArray[Any] | None = None
    ) -> None:
        self.feature, self.is_made, self.values = feature, is_made, values
        self._lock = Lock()  # two threads that want one image compute it once

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock."""
        return {"feature": self.feature, "is_made": self.is_made, "values": self.values}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def rows(
        self, rows: IntArray, images: Callable[[IntArray], npt.NDArray[Any]]
    ) -> FloatArray:
        """Values of some images, of which the missing ones are computed."""
        with self._lock:
            missing = rows[~self.is_made[rows]]
            for start in range(0, len(missing), AT_ONCE):
                part = missing[start : start + AT_ONCE]
                made = np.asarray(self.feature.transform(images(part)))
                if made.ndim != 2 or len(made) != len(part):
                    return made  # the view refuses it
                if self.values is None:
                    self.values = np.zeros((len(self.is_made), made.shape[1]), np.float32)
                with np.errstate(over="ignore"):  # what becomes infinite is refused
                    self.values[part] = made
                self.is_made[part] = True
            assert self.values is not None  # noqa: S101
            return self.values[rows].astype(np.float64)

    def copy_from(self, other: FeatureTable, own: IntArray, equal: IntArray) -> None:
        """Take over the values of equal images in another table, where it has them."""
        is_made = other.is_made[equal]
        if other.values is None or not is_made.any():
            return
        own, equal = own[is_made], equal[is_made]
        with self._lock:
            if self.values is None:
                self.values = np.zeros(
                    (len(self.is_made), other.values.shape[1]), other.values.dtype
                )
            self.values[own], self.is_made[own] = other.values[equal], True

    def taken(self, rows: IntArray) -> FeatureTable:
        """The table of some of the images."""
        values = None if self.values is None else self.values[rows]
        return FeatureTable(self.feature, self.is_made[rows], values)

    @classmethod
    def joined(cls, tables: Sequence[FeatureTable]) -> FeatureTable:
        """One table after the other, of one feature."""
        is_made = np.concatenate([table.is_made for table in tables])
        made = [table.values for table in tables if table.values is not None]
        if not made:
            return cls(tables[0].feature, is_made)
        values = np.zeros((len(is_made), made[0].shape[1]), np.result_type(*made))
        ends = np.cumsum([len(table.is_made) for table in tables])
        for table, end in zip(tables, ends, strict=True):
            if table.values is not None:
                values[end - len(table.is_made) : end] = table.values
        return cls(tables[0].feature, is_made, values)


class Images:
    """Vectors, as rows or as images; parts share their features, each computed once."""

    def __init__(
        self,
        vectors: npt.NDArray[Any],
        shape: tuple[int, ...] | None,
        tables: Sequence[FeatureTable] = (),
    ) -> None:
        self.shape = shape
        self._rows: IntArray = np.arange(len(vectors))
        self._whole = vectors
        self._tables = list(tables)
        self._lock = Lock()
        if vectors.dtype == np.float64:
            self.vectors = vectors

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock, and what is converted again when asked for."""
        left_out = ("_lock", "vectors")
        return {name: kept for name, kept in vars(self).items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def __len__(self) -> int:
        return len(self._rows)

    @lazy
    def vectors(self) -> FloatArray:
        """The vectors in double precision, which are not made before they are asked for."""
        return np.asarray(self.compact, dtype=np.float64)

    @property
    def compact(self) -> npt.NDArray[Any]:
        """The vectors as they were given."""
        return self._whole[self._rows]

    def seen_by(self, feature: Any) -> FloatArray:
        """Values of an image feature; None leaves the vectors as they are."""
        if feature is None:
            return self.vectors
        return self.table(feature).rows(self._rows, self._pixels)

    def table(self, feature: Any) -> FeatureTable:
        """The values of a feature, of all images that this is a part of."""
        with self._lock:
            for table in self._tables:
                if are_equal(feature, table.feature):
                    return table
            table = FeatureTable(feature, np.zeros(len(self._whole), dtype=np.bool_))
            self._tables.append(table)
            return table

    @property
    def tables(self) -> tuple[FeatureTable, ...]:
        """The values of all features that were asked for."""
        with self._lock:
            return tuple(self._tables)

    def recall(self, others: Images, rows: IntArray) -> None:
        """Take over the features of equal vectors among some of others' whole."""
        places = {others._whole[row].tobytes(): row for row in rows}
        found = [(i, places.get(vector.tobytes())) for i, vector in enumerate(self._whole)]
        own = np.array([i for i, row in found if row is not None], dtype=np.int64)
        equal = np.array([row for _, row in found if row is not None], dtype=np.int64)
        for table in others.tables:
            self.table(table.feature).copy_from(table, own, equal)

    def _pixels(self, rows: IntArray) -> npt.NDArray[Any]:
        assert self.shape is not None  # noqa: S101
        return self._whole[rows].reshape(-1, *self.shape)

    def part(self, start: int, stop: int) -> Images:
        """The vectors between two places."""
        return self._of(slice(start, stop))

    def where(self, rows: BoolArray | IntArray) -> Images:
        """The vectors of some rows."""
        return self if rows.dtype == np.bool_ and rows.all() else self._of(rows)

    def _of(self, rows: Any) -> Images:
        part = Images.__new__(Images)
        vars(part).update(vars(self), _rows=self._rows[rows])
        vectors = vars(part).pop("vectors", None)
        if vectors is not None and isinstance(rows, slice):  # others would be copied
            part.vectors = vectors[rows]
        return part


def are_equal(one: Any, other: Any) -> bool:
    """Whether two transformers are of one class with equal parameters."""
    if one is other:
        return True
    if type(one) is not type(other) or not hasattr(one, "get_params"):
        return False
    mine, others = one.get_params(), other.get_params()
    try:
        return all(bool(value == others[name]) for name, value in mine.items())
    except ValueError:  # arrays cannot be compared so
        return False


@dataclass(frozen=True)
class FittedView:
    """A view fitted to a gallery."""

    name: str
    feature: Any  # image feature or None
    rest: Any  # transformer of its vectors, fitted to the gallery, or None
    has_lengths: bool = False

    @property
    def learns(self) -> bool:
        """Whether its vectors may depend on the gallery."""
        return self.rest is not None

    def shows_as(self, other: FittedView) -> bool:
        """Whether it has learnt the same as another fit; False if that cannot be compared."""
        if self.rest is None:
            return True
        try:
            return bool(joblib.hash(self.rest) == joblib.hash(other.rest))
        except (PicklingError, TypeError, AttributeError):
            return False

    def width(self, n_features: int, image_shape: tuple[int, ...] | None) -> int:
        """Length of its vectors, for vectors of a given shape."""
        given = n_features
        if self.feature is not None and image_shape is not None:
            given = self.feature.n_values(image_shape)
        if self.rest is None or (
            isinstance(self.rest, Whitener) and len(self.rest.mean_) == given
        ):
            return given
        return self.show(Images(np.ones((1, n_features)), image_shape)).shape[1]

    @property
    def whitens(self) -> bool:
        """Whether it whitens each vector by itself."""
        return isinstance(self.rest, Whitener) and not self.has_lengths

    def coordinates(self, images: Images) -> FloatArray:
        """As :meth:`show`, up to a rotation; of a view that whitens."""
        coordinates: FloatArray = self.rest.coordinates(unit_rows(images.seen_by(self.feature)))
        return coordinates

    def show(self, images: Images) -> FloatArray:
        """The vectors of a set in this view, of unit norm, or scaled as a whole."""
        values = images.seen_by(self.feature)
        if self.rest is not None:
            values = self.rest.transform(values)
        values = np.asarray(values, dtype=np.float64)
        is_finite = bool(np.isfinite(values).all())
        if values.ndim != 2 or len(values) != len(images) or not is_finite:
            reject(
                f"view {self.name!r} made an array of shape {values.shape} of "
                f"{len(images)} vectors, {'without' if is_finite else 'with'} NaN or "
                "inf. Expected one finite row for each vector: correct its transformer."
            )
        if self.has_lengths:
            return unit_rows(values.reshape(1, -1)).reshape(values.shape)
        return unit_rows(values)


def shown_widths(
    views: Mapping[str, FittedView], n_features: int, image_shape: tuple[int, ...] | None
) -> dict[str, int]:
    """Length of the vectors in each view, for vectors of a given shape."""
    return {name: view.width(n_features, image_shape) for name, view in views.items()}
