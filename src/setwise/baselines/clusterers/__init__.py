"""The rival clusterers of the paper: sparse subspace clustering and kernel mean shift."""

from setwise.baselines.clusterers.skms import SKMS
from setwise.baselines.clusterers.ssc import SSC

__all__ = ["SKMS", "SSC"]
