"""Exact lasso: the solver under the basis and under the graph.

With the Gram matrix of all columns where it fits in memory (``solver``), without it where
it does not (``pools``).
"""

from setwise.lasso.pools import Pools, code_blocks, code_changed
from setwise.lasso.solver import (
    Codes,
    code_by_gram,
    code_with_new,
    gram_lasso,
    inverses_of,
    lasso_codes,
    optimality_violation,
)

__all__ = [
    "Codes", "Pools", "code_blocks", "code_by_gram", "code_changed", "code_with_new",
    "gram_lasso", "inverses_of", "lasso_codes", "optimality_violation",
]  # fmt: skip
