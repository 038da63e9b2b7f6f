"""Codes within an l1 ball, as the compiled dictionary learning codes its vectors."""

import numpy as np

from setwise.lasso import ball_kernels


def l1_ball_codes(
    gram: np.ndarray,
    correlations: np.ndarray,
    radius: float,
    *,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """Code vectors on a few atoms with ``||a||_1 <= radius``, exactly, one code per row."""
    codes = np.zeros(correlations.shape) if start is None else np.array(start, float, order="C")
    arguments = [np.ascontiguousarray(one, dtype=float) for one in (gram, correlations)]
    assert ball_kernels.code_in_l1_ball(*arguments, float(radius), codes, 100_000).all()
    return codes
