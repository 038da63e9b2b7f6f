"""The other ways to classify sets, behind the interface of :class:`setwise.CVC`."""

from setwise.baselines.covariance import LogEuclidean
from setwise.baselines.dcc import DCC
from setwise.baselines.kernel_sets import CDL, GDA
from setwise.baselines.mda import MDA
from setwise.baselines.mmd import MMD
from setwise.baselines.mutual_subspace import CMSM, MSM
from setwise.baselines.simple import FrameVote, MeanVector, MinimumDistance

__all__ = [
    "CDL",
    "CMSM",
    "DCC",
    "GDA",
    "MDA",
    "MMD",
    "MSM",
    "FrameVote",
    "LogEuclidean",
    "MeanVector",
    "MinimumDistance",
]
