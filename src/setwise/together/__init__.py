"""What unlabelled sets say about each other: the graph of sets, labels spread, groups."""

from setwise.together.clusters import SetClusters
from setwise.together.consistency import consistency, consistent_weights
from setwise.together.divide import lasting_groups
from setwise.together.graph import SetGraph, relate
from setwise.together.grouping import Grouping
from setwise.together.links import Links
from setwise.together.spread import walked
from setwise.together.suggest import Merge, Move, NextLabel, Suggestions, suggest
from setwise.together.transduce import Transduction, transduce
from setwise.together.tree import GroupTree, grow_tree

__all__ = [
    "GroupTree", "Grouping", "Links", "Merge", "Move", "NextLabel", "SetClusters", "SetGraph",
    "Suggestions", "Transduction", "consistency", "consistent_weights", "grow_tree",
    "lasting_groups", "relate", "suggest", "transduce", "walked",
]  # fmt: skip
