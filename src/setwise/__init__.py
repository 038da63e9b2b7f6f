"""setwise classifies sets: one set in, one answer out, with a reason.

The public names are imported when first used, so that ``import setwise`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "CVC": "setwise.classify",
    "Answer": "setwise.classify",
    "Gallery": "setwise.classify",
    "edit": "setwise.classify",
    "load": "setwise.classify",
    "Explanation": "setwise.classify",
    "Dictionary": "setwise.basis",
    "SHC": "setwise.cluster",
    "SKMS": "setwise.baselines.clusterers",
    "SSC": "setwise.baselines.clusterers",
    "SetBatch": "setwise.sets",
    "SetClusters": "setwise.together",
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
    "face_tracks": "setwise.faces",
    "find_faces": "setwise.faces",
    "load_arrays": "setwise.io",
    "load_images": "setwise.io",
    "load_mat": "setwise.io",
    "load_sets": "setwise.io",
    "load_video": "setwise.io",
    "load_videos": "setwise.io",
    "Comparison": "setwise.evaluation",
    "compare": "setwise.evaluation",
    "Evaluation": "setwise.evaluation",
    "cross_validate": "setwise.evaluation",
}

__all__ = [
    "CVC",
    "HOG",
    "LBP",
    "SHC",
    "SKMS",
    "SSC",
    "Answer",
    "Comparison",
    "Dictionary",
    "Evaluation",
    "Explanation",
    "Gallery",
    "GaussianGraph",
    "LassoGraph",
    "LeastSquaresGraph",
    "OMPGraph",
    "Pixels",
    "SetBatch",
    "SetClusters",
    "Whitener",
    "__version__",
    "compare",
    "cross_validate",
    "edit",
    "face_tracks",
    "find_faces",
    "gallery_probe_split",
    "gallery_probe_splits",
    "load",
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
