"""The solved gallery: labelled sets, what is learnt from them, and their solved layers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import lazy
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.errors import DataError
from setwise.features.views import FittedView, Images
from setwise.gallery.bases import SetBases
from setwise.gallery.candidates import Candidates
from setwise.gallery.description import Description, Ensemble, Layer, Member
from setwise.gallery.evidence import Comparison
from setwise.gallery.outliers import KnownVectors, OutlierScale
from setwise.graph import GalleryGraph
from setwise.sets import SetBatch, check_sets

if TYPE_CHECKING:
    from setwise.gallery.bases import InlierSets
    from setwise.gallery.trials import Trials


# Columns that replace those of gallery sets; None hides a set.
Overrides = Mapping[int, SetBases | None]


@dataclass(frozen=True)
class SolvedLayer:
    """The gallery's columns in one layer, and their graph, solved once."""

    layer: Layer
    graph: GalleryGraph
    column_sets: IntArray  # gallery set of each column


@dataclass(frozen=True)
class Calibration:
    """Everything that is learnt from all sets of a gallery together; replaced as a whole.

    Views and dimensionalities are learnt too, but belong to the solution.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.gallery import Calibration
    >>> Calibration(np.ones(2), np.ones(2), shrinkage=0.5).calibrated(np.array([1.0, 0.0]))
    array([0.75, 0.25])
    """

    weights: FloatArray  # of the members; one of weight 0 is inactive
    inverse_temperatures: FloatArray  # of the softmax of members' standardised overlaps
    pool_inverse_temperature: float = 1.0  # power to which fused probabilities are raised
    # Towards uniform probabilities; 1 means none. Less than 1 where the gallery's own sets,
    # left out, are recognised no better than by guessing.
    shrinkage: float = 1.0
    threshold: float | None = None  # nearness below which a set is of an unknown class
    outliers: OutlierScale = field(default_factory=OutlierScale)
    accuracy: Mapping[str, float] | None = None  # left-out sets that each member recognised
    n_changed: int = 0  # sets that were added or removed since

    def calibrated(self, probabilities: FloatArray) -> FloatArray:
        """Fused probabilities as frequencies of right answers on left-out gallery sets."""
        if self.pool_inverse_temperature != 1.0:
            probabilities = probabilities**self.pool_inverse_temperature
            probabilities = probabilities / probabilities.sum()
        if self.shrinkage == 1.0:
            return probabilities
        even = 1.0 / len(probabilities)
        return even + self.shrinkage * (probabilities - even)

    def is_known(self, nearness: float) -> bool | None:
        """Whether a set is near enough to be of a known class; None without a threshold."""
        return None if self.threshold is None else nearness >= self.threshold


@dataclass(frozen=True)
class LeftOut:
    """Answers for some gallery sets, each left out of its gallery."""

    sets: IntArray
    codes: IntArray  # class that each is taken for
    nearness: FloatArray


@dataclass(frozen=True)
class UpdatePlan:
    """Sets of an old gallery that stay; they come first in the new one."""

    old: Gallery
    stays: BoolArray

    @property
    def n_kept(self) -> int:
        """Number of sets that stay."""
        return int(self.stays.sum())


class Solution(ABC):
    """Layers that a gallery's probes are compared with: all classes, or a shortlist."""

    #: Whether each probe is compared with a shortlist of classes.
    is_shortlist: ClassVar[bool]

    @property
    def layers(self) -> tuple[SolvedLayer, ...]:
        """Layers that are solved once for all probes."""
        return ()

    @abstractmethod
    def around(
        self, gallery: Gallery, probe: SetBases, overrides: Overrides | None = None
    ) -> Candidates:
        """Candidate classes of a probe, and their layers."""

    @abstractmethod
    def updated(self, changed: Gallery, plan: UpdatePlan, n_jobs: int | None) -> Solution:
        """The solution of a changed gallery that keeps its views and dimensionalities."""

    @abstractmethod
    def tried(self, codes: IntArray) -> tuple[bool, IntArray]:
        """Whether whole sets can be left out, else halves; and the sets that are tried."""

    @abstractmethod
    def left_out(self, gallery: Gallery, chosen: IntArray, n_jobs: int | None) -> Trials:
        """Scores of all members for gallery sets, each left out."""

    @abstractmethod
    def halved(
        self, gallery: Gallery, chosen: IntArray, inliers: InlierSets | None, n_jobs: int | None
    ) -> Trials | None:
        """Scores of all members for halves of gallery sets; None where sets are too small."""

    def recognised_by_others(
        self, gallery: Gallery, inliers: InlierSets | None, n_jobs: int | None
    ) -> tuple[BoolArray, IntArray] | None:
        """Which sets views that never saw them recognise, and their classes.

        None where the views cannot have overfitted, so that trials need not be repeated.
        """
        return None

    @abstractmethod
    def unknown_nearness(
        self, gallery: Gallery, inliers: InlierSets | None, n_jobs: int | None
    ) -> FloatArray:
        """Nearness of gallery sets to the other classes, as if their own were unknown."""

    @abstractmethod
    def known_vectors(self, gallery: Gallery) -> KnownVectors:
        """Inliers of some of its sets."""

    @abstractmethod
    def judged_left_out(self, gallery: Gallery, n_jobs: int | None) -> LeftOut:
        """Answers for gallery sets of classes that have others, each left out."""


@dataclass(frozen=True)
class Gallery:
    """A solved gallery, never changed: :func:`setwise.gallery.update` makes a new one.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> gallery = CVC().fit(*separable_sets()).gallery_
    >>> len(gallery.sets), gallery.classes, gallery.dims
    (9, array([0, 1, 2]), (5,))
    """

    description: Description
    sets: SetBatch
    classes: npt.NDArray[Any]  # labels, sorted
    codes: IntArray  # class of each set, an index into ``classes``
    dims: tuple[int, ...]  # dimensionalities in use
    views: Mapping[str, FittedView]  # fitted to the gallery's vectors
    solution: Solution  # finds the layers around a probe
    calibration: Calibration  # weights, temperatures, thresholds
    has_vectors: bool = True  # whether ``sets`` has its vectors; it may be saved without

    def __getstate__(self) -> dict[str, Any]:
        """All but what is computed again when asked for."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def layers(self) -> tuple[SolvedLayer, ...]:
        """Layers that are solved once; none of a gallery with a shortlist."""
        return self.solution.layers

    @lazy
    def ensemble(self) -> Ensemble:
        """Layers and members."""
        return self.description.ensemble(self.dims)

    @property
    def members(self) -> tuple[Member, ...]:
        """The members, in the order of their weights."""
        return self.ensemble.members

    @lazy
    def member_weights(self) -> FloatArray:
        """Weights of the members that the fusion uses, 0 for the others."""
        weights = self.calibration.weights.copy()
        has_weight = weights > 0
        is_needed = self.description.fusion.is_needed(self.ensemble.dims[has_weight])
        weights[has_weight] *= is_needed
        return weights

    @lazy
    def layer_weights(self) -> FloatArray:
        """Weights of each layer's members together; a layer of weight 0 is inactive."""
        total = np.zeros(len(self.ensemble.layers))
        np.add.at(total, self.ensemble.layer_of, self.member_weights)
        return total

    def active_layers(self, n_vectors: int) -> dict[int, float]:
        """Layers that are used for a set of so many vectors, and their weights.

        A layer whose columns mean nothing for so few vectors is inactive, unless all would be.
        """
        fewest = [layer.representation.basis.fewest for layer in self.ensemble.layers]
        is_enough = np.array(fewest) <= n_vectors
        weights = self.layer_weights
        if weights[is_enough].any():
            weights = np.where(is_enough, weights, 0.0)
        return {int(i): float(weights[i]) for i in np.flatnonzero(weights)}

    @lazy
    def comparison(self) -> Comparison:
        """How a probe's columns are clustered with the gallery's, and compared."""
        how = self.description
        return Comparison(how.clusterer, how.cut, how.distance, how.seed)

    @lazy
    def known_vectors(self) -> KnownVectors | None:
        """Inliers of some of its sets; None of a gallery that was saved without them."""
        return self.solution.known_vectors(self) if self.has_vectors else None

    @lazy
    def everything(self) -> Candidates:
        """All classes and solved layers as candidates."""
        every_set = np.arange(len(self.codes))
        layers = dict(enumerate(self.layers))
        return Candidates(self, self.classes, every_set, self.codes, layers)

    def around(self, probe: SetBases, overrides: Overrides | None = None) -> Candidates:
        """Candidate classes of a probe, and their layers; see :meth:`Solution.around`."""
        return self.solution.around(self, probe, overrides)

    def bases(self, vectors: npt.NDArray[Any]) -> SetBases:
        """Columns of a probe, for any layer."""
        images = Images(vectors, self.sets.image_shape)
        return self.bases_of(images, self.description.inliers(vectors))

    def bases_of(self, images: Images, inliers: BoolArray | None = None) -> SetBases:
        """Columns of a probe, of some of its vectors or all."""
        if inliers is None:
            inliers = np.ones(len(images), dtype=np.bool_)
        scale = self.calibration.outliers
        inliers = scale.without_second_part(images.compact, inliers)
        if not inliers.all():
            inliers = scale.with_rare(images.compact, inliers, self.known_vectors)
        return SetBases(images.where(inliers), self.views, self.description, self.dims, inliers)

    def check(self, sets: Any, caller: str) -> SetBatch:
        """Checked sets of the gallery's kind; their vectors are taken for its images."""
        n_features = self.sets.n_features
        batch = check_sets(sets, caller=caller, n_features=n_features, is_compact=True)
        shape = self.sets.image_shape
        if batch.image_shape is not None and shape not in (None, batch.image_shape):
            msg = (
                f"{caller}: the images are of shape {batch.image_shape}, those of the gallery "
                f"of shape {shape}. Expected images loaded at one size."
            )
            raise DataError(msg)
        return batch.replaced(image_shape=shape)

    def calibrated(self, **learnt: Any) -> Gallery:
        """The gallery with some of its calibration replaced."""
        return replace(self, calibration=replace(self.calibration, **learnt))

    def left_out(self, n_jobs: int | None = None) -> LeftOut:
        """Answers for its own sets, each left out; of sets whose class has others."""
        return self.solution.judged_left_out(self, n_jobs)

    def unknown_nearness(self, n_jobs: int | None = None) -> FloatArray:
        """Nearness of its own sets to the other classes, as if their own were unknown."""
        return self.solution.unknown_nearness(self, None, n_jobs)
