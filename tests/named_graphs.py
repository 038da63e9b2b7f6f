"""Small graphs that everybody knows, as dense adjacency matrices."""

import numpy as np

# More vertices than Lanczos keeps all its vectors orthogonal for.
LARGE = 300


def complete(n):
    return np.ones((n, n)) - np.eye(n)


def path(n):
    return np.eye(n, k=1) + np.eye(n, k=-1)


def star(n):
    A = np.zeros((n, n))
    A[0, 1:] = A[1:, 0] = 1
    return A


def band(n, width=12):
    """A path with edges to the next few vertices: many steps, but no weak link."""
    return sum(np.eye(n, k=k) + np.eye(n, k=-k) for k in range(1, width + 1))


def same_partition(side, other):
    return bool((side == other).all() or (side != other).all())
