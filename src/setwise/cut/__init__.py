"""Graph to two halves: components, Laplacian, Fiedler vector, sweep cut, NCut value."""

from setwise.cut.bisect import CUTS, Cut, bisect, components
from setwise.cut.dfvc import dfvc
from setwise.cut.fiedler import Fiedler, exact_fiedler
from setwise.cut.laplacian import degrees, ncut, normalised_laplacian
from setwise.cut.sweep import sweep

__all__ = [
    "CUTS",
    "Cut",
    "Fiedler",
    "bisect",
    "components",
    "degrees",
    "dfvc",
    "exact_fiedler",
    "ncut",
    "normalised_laplacian",
    "sweep",
]
