"""Graph to two halves: components, Laplacian, Fiedler vector, sweep cut, NCut value."""

from setwise.cut.bisect import (
    Cut,
    CutRule,
    ExactCut,
    PaperCut,
    SweepCut,
    bisect,
    local_cut,
    spectral_cut,
    sweep,
)
from setwise.cut.edges import Edges, components, degrees, in_scale, ncut, normalised_laplacian
from setwise.cut.fiedler import Fiedler, dfvc, exact_fiedler, sign_switches

__all__ = [
    "Cut", "CutRule", "Edges", "ExactCut", "Fiedler", "PaperCut", "SweepCut", "bisect",
    "components", "degrees", "dfvc", "exact_fiedler", "in_scale", "local_cut", "ncut",
    "normalised_laplacian", "sign_switches", "spectral_cut", "sweep",
]  # fmt: skip
