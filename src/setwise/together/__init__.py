"""What unlabelled sets say about each other: the graph of sets, and labels spread over it."""

from setwise.together.graph import SetGraph, relate
from setwise.together.spread import walked
from setwise.together.transduce import Transduction, transduce

__all__ = ["SetGraph", "Transduction", "relate", "transduce", "walked"]
