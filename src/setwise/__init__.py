"""setwise classifies sets: one set in, one answer out, with a reason.

The public names are imported when first used, so that ``import setwise`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "CVC": "setwise.classify",
    "Explanation": "setwise.classify",
    "SHC": "setwise.cluster",
    "SKMS": "setwise.cluster",
    "SSC": "setwise.cluster",
    "SetBatch": "setwise.sets",
    "gallery_probe_split": "setwise.sets",
    "gallery_probe_splits": "setwise.sets",
    "GaussianGraph": "setwise.graph",
    "LassoGraph": "setwise.graph",
    "LeastSquaresGraph": "setwise.graph",
    "OMPGraph": "setwise.graph",
    "HOG": "setwise.features",
    "LBP": "setwise.features",
    "Pixels": "setwise.features",
    "Whitener": "setwise.features",
    "face_tracks": "setwise.files",
    "load_arrays": "setwise.files",
    "load_images": "setwise.files",
    "load_mat": "setwise.files",
    "load_sets": "setwise.files",
    "load_video": "setwise.files",
    "load_videos": "setwise.files",
    "Comparison": "setwise.comparison",
    "compare": "setwise.comparison",
}

__all__ = [
    "CVC",
    "HOG",
    "LBP",
    "SHC",
    "SKMS",
    "SSC",
    "Comparison",
    "Explanation",
    "GaussianGraph",
    "LassoGraph",
    "LeastSquaresGraph",
    "OMPGraph",
    "Pixels",
    "SetBatch",
    "Whitener",
    "__version__",
    "compare",
    "face_tracks",
    "gallery_probe_split",
    "gallery_probe_splits",
    "load_arrays",
    "load_images",
    "load_mat",
    "load_sets",
    "load_video",
    "load_videos",
]


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
