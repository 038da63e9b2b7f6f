"""The kinds of experiments, one file each.

A kind is an :class:`~setwise_paper.kinds.base.Experiment`: it says what its entries in TOML
are, plans its :class:`items <setwise_paper.plan.Item>` (which perform themselves) and sums
up their results in a :class:`~setwise_paper.kinds.base.Section`, which makes its tables and
its part of the report. A new one is a file, and a line of the table below.
"""

from __future__ import annotations

from setwise_paper.kinds.base import Experiment
from setwise_paper.kinds.distributions import Distributions
from setwise_paper.kinds.fusion import Fusion
from setwise_paper.kinds.gaussians import Gaussians
from setwise_paper.kinds.methods import Methods
from setwise_paper.kinds.robustness import Robustness

__all__ = ["KINDS"]

# kind of experiment, as studies write it -> its model
KINDS: dict[str, type[Experiment]] = {
    "fusion": Fusion,
    "methods": Methods,
    "robustness": Robustness,
    "distributions": Distributions,
    "gaussians": Gaussians,
}
