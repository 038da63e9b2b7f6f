"""The other ways to classify sets, behind the interface of :class:`setwise.CVC`."""

from setwise.baselines.covariance import LogEuclidean
from setwise.baselines.hulls import AHISD, CHISD
from setwise.baselines.iscrc import ISCRC
from setwise.baselines.kernel_sets import CDL, GDA
from setwise.baselines.mean_clusters import MeanClusters
from setwise.baselines.nearest_points import RNP, SANP
from setwise.baselines.patches import MDA, MMD
from setwise.baselines.simple import FrameVote, MeanCosine, MeanVector, MinimumDistance
from setwise.baselines.subspaces import CMSM, DCC, MSM

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
    "FrameVote",
    "LogEuclidean",
    "MeanClusters",
    "MeanCosine",
    "MeanVector",
    "MinimumDistance",
]
