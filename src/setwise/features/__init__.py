"""Vector to vector before any basis: the views an ensemble looks through."""

from setwise.features.units import unit_rows
from setwise.features.whitening import Whitener

__all__ = ["Whitener", "unit_rows"]
