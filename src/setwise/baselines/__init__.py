"""The other ways to classify sets, behind the interface of :class:`setwise.CVC`."""

from setwise.baselines.simple import FrameVote, MeanVector, MinimumDistance

__all__ = ["FrameVote", "MeanVector", "MinimumDistance"]
