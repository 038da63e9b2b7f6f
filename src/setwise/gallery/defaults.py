"""The parts that are used where none are given."""

from __future__ import annotations

from setwise.basis import Spread
from setwise.cluster import Clusterer
from setwise.cut import CutRule
from setwise.gallery.description import Description, Shortlist, as_representations
from setwise.gallery.distributions import Bhattacharyya
from setwise.gallery.evidence import (
    AllAngles,
    ClusterOverlap,
    EdgeShare,
    Regression,
    SmallestAngle,
)
from setwise.gallery.fusion import Pool
from setwise.graph import Graph

# Where a set is, what it spans, how it varies, each of its vectors, and how widely it spreads.
REPRESENTATIONS = (
    ("plain", "mean"),
    ("whitened", "svd"),
    ("plain", "centred"),
    ("plain", "vectors"),
    ("whitened", "vectors"),
    ("plain", Spread()),
    ("whitened", Spread()),
    ("plain", Spread(centred=True)),
    ("whitened", Spread(centred=True)),
)
# Trees of cuts, which take most of the time, at the middle dimensionality only.
EVIDENCE = (
    ClusterOverlap(dims="middle"),
    EdgeShare(),
    SmallestAngle(),
    AllAngles(),
    Regression(),
)
DIMS = (5,)


def default_description() -> Description:
    """The description of ``CVC()``, with seed 0.

    Examples
    --------
    >>> [str(one) for one in default_description().representations[3:6]]
    ['plain vectors', 'whitened vectors', 'plain spread']
    """
    return Description(
        dims=DIMS,
        representations=as_representations(REPRESENTATIONS),
        graph=Graph.of("lasso", "CVC"),
        cut=CutRule.of("sweep", "CVC"),
        clusterer=Clusterer.of("shc", "CVC"),
        distance=Bhattacharyya(),
        fusion=Pool(),
        evidence=EVIDENCE,
        distributions="class",
        weights="gallery",
        outliers="drop",
        unknown=None,
        seed=0,
        shortlist=Shortlist(),
    )
