"""The other ways to classify sets, behind the interface of :class:`setwise.CVC`."""

from setwise.baselines.committee import Committee
from setwise.baselines.covariance import LogEuclidean
from setwise.baselines.dcc import DCC
from setwise.baselines.hull_distance import AHISD, CHISD
from setwise.baselines.iscrc import ISCRC
from setwise.baselines.kernel_sets import CDL, GDA
from setwise.baselines.mda import MDA
from setwise.baselines.mmd import MMD
from setwise.baselines.mutual_subspace import CMSM, MSM
from setwise.baselines.rnp import RNP
from setwise.baselines.sanp import SANP
from setwise.baselines.simple import FrameVote, MeanCosine, MeanVector, MinimumDistance

__all__ = [
    "AHISD",
    "CDL",
    "CHISD",
    "CMSM",
    "DCC",
    "GDA",
    "ISCRC",
    "MDA",
    "MMD",
    "MSM",
    "RNP",
    "SANP",
    "Committee",
    "FrameVote",
    "LogEuclidean",
    "MeanCosine",
    "MeanVector",
    "MinimumDistance",
]
