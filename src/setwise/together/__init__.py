"""What unlabelled sets say about each other: the graph of sets, labels spread, groups."""

from setwise.together.clusters import SetClusters
from setwise.together.consistency import consistency, label_free_weights
from setwise.together.find import FoundGroups, find_groups
from setwise.together.graph import SetGraph, relate
from setwise.together.grouping import Grouping
from setwise.together.links import Links
from setwise.together.modules import walker_modules
from setwise.together.scales import ScaledGroups, scaled_groups
from setwise.together.spread import walked
from setwise.together.suggest import Merge, Move, NextLabel, Suggestions, suggest
from setwise.together.transduce import Transduction, transduce
from setwise.together.tree import GroupTree, grow_tree

__all__ = [
    "FoundGroups", "GroupTree", "Grouping", "Links", "Merge", "Move", "NextLabel",
    "ScaledGroups", "SetClusters", "SetGraph", "Suggestions", "Transduction", "consistency",
    "find_groups", "grow_tree", "label_free_weights", "relate", "scaled_groups", "suggest",
    "transduce", "walked", "walker_modules",
]  # fmt: skip
