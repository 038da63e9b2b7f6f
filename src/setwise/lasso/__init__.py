"""Exact lasso on a Gram matrix: the solver under the basis and under the graph."""

from setwise.lasso.solver import l1_ball_codes, lasso_codes, optimality_violation

__all__ = ["l1_ball_codes", "lasso_codes", "optimality_violation"]
