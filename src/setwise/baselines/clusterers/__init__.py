"""The rival clusterers of the paper: sparse subspace clustering and kernel mean shift."""

from setwise.baselines.clusterers.skms import SKMS, KernelClusters, random_constraints, skms
from setwise.baselines.clusterers.ssc import (
    SSC,
    AdmmCodes,
    spectral_labels,
    ssc_affinity,
    ssc_codes_admm,
    ssc_penalty,
)

__all__ = [
    "SKMS",
    "SSC",
    "AdmmCodes",
    "KernelClusters",
    "random_constraints",
    "skms",
    "spectral_labels",
    "ssc_affinity",
    "ssc_codes_admm",
    "ssc_penalty",
]
