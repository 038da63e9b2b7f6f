"""Several features of an image side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import check_choice, refuse
from setwise._support.types import FloatArray
from setwise.errors import ParameterError
from setwise.features.images import (
    ImageFeature,
    check_image_feature,
    fingerprint_of,
    values_of,
)
from setwise.features.units import unit_rows

__all__ = ["Concatenated"]


class Concatenated(ImageFeature):
    """Several features of each image side by side, none louder than the others.

    It is what scikit-learn's ``FeatureUnion`` is for arrays, which knows no sets.

    Parameters
    ----------
    features : sequence of image features, or of (name, feature) pairs
        Such as ``[HOG(), LBP()]``; a pipeline of image features is one too. A feature without
        a name is called by that of its class in small letters, and a number if another has
        the same: ``set_params(hog__cell=4)``. What learns from data comes afterwards:
        ``make_pipeline(Concatenated(...), PerVector(PCA(50)))``.
    unit_norm : bool, default=True
        Scale each feature of each image to unit norm first. Otherwise the one with the
        largest values, or the most of them, drowns the others.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.features import Pixels
    >>> both = Concatenated([Pixels(), ("small", Pixels(size=2))])
    >>> both.transform(np.ones((1, 4, 4))).round(2)
    array([[0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25,
            0.25, 0.25, 0.25, 0.25, 0.25, 0.5 , 0.5 , 0.5 , 0.5 ]])
    """

    def __init__(self, features: Sequence[Any], *, unit_norm: bool = True) -> None:
        self.features = features
        self.unit_norm = unit_norm

    def check_parameters(self) -> None:
        """Refuse parameters that no images could be transformed with."""
        check_choice("Concatenated", "unit_norm", self.unit_norm, (True, False))
        _named(self.features)

    def fingerprint(self) -> dict[str, Any]:
        """Everything that the values depend on but the images, of types that JSON knows."""
        named = _named(self.features)
        each = [[name, fingerprint_of(feature)] for name, feature in named]
        content = super().fingerprint()
        content["parameters"]["features"] = each
        return content

    def compute(self, images: npt.NDArray[Any]) -> FloatArray:
        """All features of each image as one row."""
        return self._values(images, images)

    def _values(self, images: npt.NDArray[Any], X: Any) -> FloatArray:
        parts = []
        for _, feature in _named(self.features):
            values = values_of(feature, X).astype(np.float64)
            rows = values.reshape(len(images), -1)
            parts.append(unit_rows(rows) if self.unit_norm else rows)
        return np.hstack(parts)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, with ``deep`` those of the features too."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        if not deep:
            return parameters
        for name, feature in _named(self.features):
            parameters[name] = feature
            inner = feature.get_params(deep=True).items()
            parameters.update({f"{name}__{key}": value for key, value in inner})
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, those of a feature as ``name__parameter``."""
        own = {"features", "unit_norm"}
        for name in parameters:
            if "__" not in name and name not in own:
                msg = (
                    f"Concatenated: {name} cannot be set. Expected features, unit_norm, or a "
                    "feature's parameter such as hog__cell; to exchange a feature, give all "
                    "of features."
                )
                raise ParameterError(msg)
        super().set_params(**parameters)
        return self


def _named(features: Any) -> list[tuple[str, Any]]:
    """Features with their names; refuses what is not a sequence of image features."""
    if not isinstance(features, list | tuple) or not features:
        expected = "a list of image features, such as [HOG(), LBP()]"
        refuse("Concatenated", "features", expected, features)
    pairs = [_as_pair(feature) for feature in features]
    for _, feature in pairs:
        check_image_feature("Concatenated", feature)
    kinds = [type(feature).__name__.lower() for _, feature in pairs]
    seen = Counter[str]()
    names = []
    for (name, _), kind in zip(pairs, kinds, strict=True):
        seen[kind] += 1
        names.append(name or (kind if kinds.count(kind) == 1 else f"{kind}{seen[kind]}"))
    _check_names(names)
    return [(name, feature) for name, (_, feature) in zip(names, pairs, strict=True)]


def _check_names(names: list[str]) -> None:
    is_bad = [
        "__" in name or name in ("features", "unit_norm") or names.count(name) > 1
        for name in names
    ]
    if any(is_bad):
        expected = "named each by a name of its own, without __ and no parameter's"
        refuse("Concatenated", "features", expected, names)


def _as_pair(feature: Any) -> tuple[str, Any]:
    is_pair = isinstance(feature, tuple | list) and len(feature) == 2
    if is_pair and isinstance(feature[0], str):
        return feature[0], feature[1]
    return "", feature
