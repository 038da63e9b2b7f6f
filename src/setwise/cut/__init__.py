"""Graph to two halves: components, Laplacian, Fiedler vector, sweep cut, NCut value."""

from setwise.cut.bisect import Cut, bisect, components, in_scale, local_cut, spectral_cut
from setwise.cut.dfvc import dfvc, sign_switches
from setwise.cut.edges import Edges
from setwise.cut.fiedler import Fiedler, exact_fiedler
from setwise.cut.laplacian import degrees, ncut, normalised_laplacian
from setwise.cut.rules import CutRule, ExactCut, PaperCut, SweepCut
from setwise.cut.sweep import sweep

__all__ = [
    "Cut",
    "CutRule",
    "Edges",
    "ExactCut",
    "Fiedler",
    "PaperCut",
    "SweepCut",
    "bisect",
    "components",
    "degrees",
    "dfvc",
    "exact_fiedler",
    "in_scale",
    "local_cut",
    "ncut",
    "normalised_laplacian",
    "sign_switches",
    "spectral_cut",
    "sweep",
]
