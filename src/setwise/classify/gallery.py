"""The solved gallery: everything that a probe is judged by, and nothing that changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import lazy
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.description import Description, Layer, Member, Representation
from setwise.classify.layer import Columns, Comparison
from setwise.classify.outliers import NOTHING, without_strangers
from setwise.classify.sketch import GallerySketch
from setwise.errors import DataError
from setwise.features.views import FittedView, Images
from setwise.graph import GalleryGraph
from setwise.sets import SetBatch, check_sets

if TYPE_CHECKING:
    from setwise.classify.directory import Directory

__all__ = ["Gallery", "SetBases", "SolvedLayer"]


@dataclass(frozen=True)
class SolvedLayer:
    """The gallery as one layer sees it: its columns, and their graph solved once.

    Attributes
    ----------
    layer : Layer
        Representation and dimensionality.
    graph : GalleryGraph
        The columns, and their solved graph.
    column_sets : array of int, shape (n_columns,)
        Gallery set of each column.
    """

    layer: Layer
    graph: GalleryGraph
    column_sets: IntArray


@dataclass(frozen=True)
class Gallery:
    """A gallery, solved once: arrays and descriptions.

    It is never changed: :func:`setwise.classify.update` makes a new one. Whoever holds it can
    go on judging probes by it.

    Attributes
    ----------
    description : Description
        What the classifier is made of.
    sets : SetBatch
        The gallery's sets.
    classes : array of shape (n_classes,)
        Labels, sorted.
    codes : array of int, shape (n_sets,)
        Class of each set, an index into ``classes``.
    dims : tuple of int
        Dimensionalities in use.
    views : dict of str to FittedView
        The views, fitted to the gallery's vectors.
    layers : tuple of SolvedLayer
        The ensemble; none in a gallery of many classes, of which no graph is solved.
    directory : Directory or None
        Of a gallery of many classes: finds those around a probe, see
        :func:`setwise.classify.near.near`.
    n_changed : int
        Sets that have come or gone since what is learnt from all sets together was, see
        :mod:`setwise.classify.learnt`.
    weights : array of shape (n_members,)
        How much each member counts; one of weight 0 is never asked.
    inverse_temperatures : array of shape (n_members,)
        How sure each member is of a class that stands out by one standard deviation.
    accuracy : dict of str to float, or None
        Share of the gallery's own sets, left out, that each member recognised.
    power : float
        To which the fused probabilities are raised, so that they come true.
    trust : float
        How much the probabilities are to be believed: 1, or less where the gallery's own
        sets, left out, are recognised no better than by guessing.
    threshold : float or None
        Nearness below which a set is of nobody in the gallery.
    strange : (float, float)
        A probe whose two parts have means with a cosine in this range is of two, see
        :func:`setwise.classify.outliers.strange_cosines`.
    has_vectors : bool
        Whether the vectors of ``sets`` are there; of a gallery that was saved without them
        only their number is.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> gallery = CVC().fit(sets, labels).gallery_
    >>> len(gallery.sets), gallery.classes, gallery.dims
    (9, array([0, 1, 2]), (3, 5, 8))
    """

    description: Description
    sets: SetBatch
    classes: npt.NDArray[Any]
    codes: IntArray
    dims: tuple[int, ...]
    views: Mapping[str, FittedView]
    layers: tuple[SolvedLayer, ...]
    weights: FloatArray
    inverse_temperatures: FloatArray
    accuracy: Mapping[str, float] | None = None
    power: float = 1.0
    trust: float = 1.0
    threshold: float | None = None
    strange: tuple[float, float] = NOTHING
    has_vectors: bool = True
    directory: Directory | None = None
    n_changed: int = 0

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @lazy
    def members(self) -> tuple[Member, ...]:
        """What the layers are asked, in the order of ``weights``."""
        return self.description.members(self.dims)

    @lazy
    def layer_weights(self) -> FloatArray:
        """How much the members of each layer count together, as far as the fusion asks them.

        A layer of weight 0 is never asked.
        """
        dims = np.array([member.layer.n_columns for member in self.members])
        needed = np.where(self.description.fusion.is_needed(dims), self.weights, 0.0)
        layers = self.description.layers(self.dims)
        place = {layer: i for i, layer in enumerate(layers)}
        total = np.zeros(len(layers))
        np.add.at(total, [place[member.layer] for member in self.members], needed)
        return total

    def asked_weights(self, n_vectors: int) -> FloatArray:
        """What each layer counts for a set of so many vectors; 0 is never asked.

        Those whose columns mean nothing of so few vectors stay silent, unless all would.
        """
        layers = self.description.layers(self.dims)
        fewest = np.array([layer.representation.basis.fewest for layer in layers])
        can_say = fewest <= n_vectors
        weights = self.layer_weights
        return np.where(can_say, weights, 0.0) if weights[can_say].any() else weights

    @property
    def row_classes(self) -> IntArray:
        """Class of each row that has a distribution."""
        return self.description.row_classes(self.codes, self.n_classes)

    @property
    def comparison(self) -> Comparison:
        """How a probe's columns are clustered with the gallery's, and compared."""
        how = self.description
        return Comparison(how.clusterer, how.cut, how.distance, how.seed)

    @lazy
    def sketch(self) -> GallerySketch:
        """A small picture of the gallery, an empty one without vectors."""
        if not self.has_vectors:
            return GallerySketch.empty(self.sets.n_features)
        return GallerySketch.of(self.sets, self.codes)

    def columns(self, solved: SolvedLayer) -> Columns:
        """Whose the columns of a layer are."""
        classes = self.codes[solved.column_sets]
        rows = solved.column_sets if self.description.distributions == "set" else classes
        return Columns(solved.column_sets, classes, rows, len(self.row_classes))

    def bases(self, vectors: FloatArray) -> SetBases:
        """Columns of a probe, for any layer."""
        vectors = np.asarray(vectors, dtype=np.float64)
        images = Images(vectors, self.sets.image_shape)
        return self.bases_of(images, self.description.is_kept(vectors))

    def bases_of(self, images: Images, is_kept: BoolArray | None = None) -> SetBases:
        """Columns of a probe, of which some vectors stand out; none where that is not said."""
        if is_kept is None:
            is_kept = np.ones(len(images.vectors), dtype=np.bool_)
        is_kept = without_strangers(self.strange, images.vectors, is_kept)
        return SetBases(images.where(is_kept), self.views, self.description, self.dims, is_kept)

    def check(self, sets: Any, caller: str) -> SetBatch:
        """Sets that can stand beside those of the gallery; vectors are taken for its images."""
        batch = check_sets(sets, caller=caller, n_features=self.sets.n_features)
        shape = self.sets.image_shape
        if batch.image_shape is not None and shape not in (None, batch.image_shape):
            msg = (
                f"{caller}: the images are of shape {batch.image_shape}, those of the gallery "
                f"of shape {shape}. Expected images loaded at one size."
            )
            raise DataError(msg)
        return batch.replaced(image_shape=shape)


class SetBases:
    """Columns of one set for any layer, computed when first asked for.

    Parameters
    ----------
    images : Images
        Vectors of the set, without those that do not belong to it.
    views : dict of str to FittedView
        What the set may be seen in.
    description : Description
        Says how columns are made.
    dims : sequence of int
        Dimensionalities.
    is_kept : array of bool, optional
        Which vectors of the set these are.
    seen : dict of str to array, optional
        What views have shown of them before.
    """

    def __init__(
        self,
        images: Images,
        views: Mapping[str, FittedView],
        description: Description,
        dims: Sequence[int],
        is_kept: BoolArray | None = None,
        seen: Mapping[str, FloatArray] | None = None,
    ) -> None:
        everything = np.ones(len(images.vectors), dtype=np.bool_)
        self.is_kept = everything if is_kept is None else is_kept
        self._images = images
        self._views = views
        self._description = description
        self._dims = tuple(dims)
        self._seen: dict[str, FloatArray] = dict(seen or {})
        self._made: dict[tuple[Representation, int], list[FloatArray]] = {}
        self._lock = Lock()  # representations that share a view may ask at the same time

    def seen(self, view: str) -> FloatArray:
        """The vectors of the set as a view shows them."""
        fitted = self._views[view]
        if fitted.feature is None and fitted.rest is None:  # cheaper to compute than to keep
            return fitted.show(self._images)
        with self._lock:
            if view not in self._seen:
                self._seen[view] = fitted.show(self._images)
            return self._seen[view]

    def of(self, representation: Representation, start: int = 0) -> list[FloatArray]:
        """Bases of the set in one representation, one for each dimensionality it offers."""
        key = representation, start
        if key not in self._made:
            self._made[key] = self._description.columns(
                self.seen(representation.view.name),
                representation,
                start,
                representation.basis.offered(self._dims),
            )
        return self._made[key]

    def give(self, representation: Representation, bases: list[FloatArray]) -> None:
        """Say what the bases in a representation are, where somebody has made them."""
        self._made[representation, 0] = bases

    def __getitem__(self, layer: Layer) -> FloatArray:
        bases = self.of(layer.representation, layer.start)
        return bases[layer.representation.basis.offered(self._dims).index(layer.n_columns)]

    def shares(self, layer: Layer) -> FloatArray:
        """How much of each vector each column of a layer carries, rows summing to 1.

        Vectors that do not belong to the set are in no column.
        """
        basis = layer.representation.basis
        columns = self[layer]
        shares = np.zeros((len(self.is_kept), columns.shape[1]))
        seen = self.seen(layer.representation.view.name)
        shares[self.is_kept] = basis.shares(seen, columns)
        return shares


def usable_dims(dims: Sequence[int], set_sizes: IntArray, width: int) -> tuple[int, ...]:
    """The dimensionalities that can tell sets apart; the largest such if all are larger.

    No set has more columns than vectors. And two subspaces of more than half of the features
    always intersect, whatever sets they are of.
    """
    most = max(1, min(int(set_sizes.max()), width // 2))
    return tuple(d for d in dims if d <= most) or (most,)
