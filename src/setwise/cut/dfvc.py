"""DFVC, Algorithm 3 of the paper, as it stands.

It iterates with the inverse of ``M = L - u 1' - eta I``, where ``u = sqrt(degree)`` and
``eta = 1 / vol^2``, until at most 1 % of the signs change. Two things to know:

* ``M`` is not symmetric and its right eigenvector is not the Fiedler vector ``v`` but
  ``v + c u`` with ``c = -(1'v) / (lambda_2 + 1'u)``: the Fiedler vector moved along ``u`` until
  its entries nearly sum to zero. The signs cut ``D^-1/2 v`` at ``-c``, not at 0.
* Where ``lambda_2`` is close to ``lambda_3`` the 1 % rule stops early, with a mixture of both
  vectors: a good cut, but one that depends on the start vector, and so on the order of the
  vertices. No start vector that ignores the order could take its place: it would be as
  symmetric as the graph, and on a path the Fiedler vector is not (``docs/theory.md``).

:func:`setwise.cut.fiedler.exact_fiedler` has neither property.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from setwise._support.compiled import kernels_of
from setwise._support.types import Adjacency, IntArray
from setwise.cut.edges import Edges
from setwise.cut.fiedler import Fiedler, with_canonical_sign

__all__ = ["DFVC_LIMIT", "dfvc", "sign_switches"]

# A QR of more vertices than this takes seconds and hundreds of megabytes.
DFVC_LIMIT = 2000


def dfvc(adjacency: Adjacency, *, max_changes: float = 0.01, max_iter: int = 100) -> Fiedler:
    """Fiedler vector by over-deflated inverse iteration, stopped on signs (Algorithm 3).

    The start vector is the sum of all columns but the last of an orthogonal factor, less
    ``u``: it depends on the order of the vertices, and so do the number of iterations, the
    sign switches, and the cut where the iteration stops early. The limit of the iteration
    does not.

    Parameters
    ----------
    adjacency : symmetric matrix of shape (n_vertices, n_vertices)
        A connected graph.
    max_changes : float
        Stop when at most this share of the signs changes in an iteration (the paper's
        epsilon_s). The sign of the whole vector is arbitrary and does not count: with it,
        the literal rule never stops where eta exceeds lambda_2.
    max_iter : int
        Give up then, with ``has_converged`` False.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import dfvc
    >>> found = dfvc(adjacency)
    >>> (found.vector > 0).tolist() in ([True, True, False, False], [False, False, True, True])
    True
    """
    edges = Edges.of(adjacency)
    kernels = kernels_of("setwise.cut", "dfvc_kernels")
    columns = kernels.over_deflated(*edges, edges.degrees)
    # The signs of Q's columns are Householder's. Q itself, which would take as long again and
    # more, is never formed.
    factors, taus, _, _ = lapack.dgeqrf(columns.T, lwork=32 * len(columns), overwrite_a=True)
    vector, switches, n_iterations, has_converged = kernels.settle_signs(
        factors.T, taus, np.sqrt(edges.degrees), max_changes, max_iter
    )
    return Fiedler(
        vector=with_canonical_sign(vector),
        connectivity=kernels.rayleigh_quotient(*edges, edges.degrees, vector),
        n_iterations=n_iterations,
        has_converged=has_converged,
        sign_switches=switches,
    )


def sign_switches(adjacency: Adjacency) -> IntArray | None:
    """How often each vertex changes sides while Algorithm 3 settles, the paper's alarm.

    The same numbers as ``dfvc(adjacency).sign_switches``. None for more than
    :data:`DFVC_LIMIT` vertices: the start vector of the iteration needs a dense orthogonal
    factor, whose memory grows with the square of their number, and from another start other
    vertices switch.

    Parameters
    ----------
    adjacency : symmetric matrix of shape (n_vertices, n_vertices)
        A connected graph.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import sign_switches
    >>> sign_switches(adjacency).shape
    (4,)
    """
    n = adjacency.n_vertices if isinstance(adjacency, Edges) else adjacency.shape[0]
    return dfvc(adjacency).sign_switches if n <= DFVC_LIMIT else None
