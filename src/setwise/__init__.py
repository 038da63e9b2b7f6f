"""setwise classifies sets: one set in, one answer out, with a reason.

The public names are imported when first used, so that ``import setwise`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_ROOMS = {
    "baselines.clusterers": ("SKMS", "SSC"),
    "basis": ("Dictionary",),
    "classify": ("CVC", "Answer", "Explanation", "Gallery", "edit", "load"),
    "cluster": ("SHC",),
    "evaluation": ("Comparison", "Evaluation", "compare", "cross_validate"),
    "faces": ("face_tracks", "find_faces"),
    "features": ("HOG", "LBP", "Pixels", "Whitener"),
    "graph": ("GaussianGraph", "LassoGraph", "LeastSquaresGraph", "OMPGraph"),
    "io": ("load_arrays", "load_images", "load_mat", "load_sets", "load_video", "load_videos"),
    "sets": ("SetBatch", "gallery_probe_split", "gallery_probe_splits"),
    "together": ("SetClusters",),
}
_HOMES = {name: f"setwise.{room}" for room, names in _ROOMS.items() for name in names}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("setwise")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    msg = f"module 'setwise' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
