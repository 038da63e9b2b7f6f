"""Algorithms 1 to 3 of the paper, line by line: slow, literal, and independent of setwise.

Symbols and order are the paper's. Class and cluster labels start at 1, as in the paper. Every
departure is marked ``# Departure:``; each is needed for the algorithm to end, or to mean
anything at all. The end of the file holds the random graphs that they are tried on.
"""

from collections.abc import Callable

import numpy as np

Vector = np.ndarray
Matrix = np.ndarray


# ---------------------------------------------------------------------------- Algorithm 1: CVC


def CVC(
    ell_G: Vector, n_p: int, SHC: Callable[[Vector, int], tuple[Vector, int]]
) -> tuple[int, Vector]:
    """Label of the probe, and its Bhattacharyya distance from each class.

    ``SHC`` takes the labels and the dummy probe label and returns cluster labels and their
    number: Algorithm 2, or any other clustering.
    """
    n_c = len(np.unique(ell_G))
    ell_hat_p = n_c + 1
    ell_D = np.concatenate([ell_G, np.full(n_p, ell_hat_p)])
    ell_k, n_k = SHC(ell_D, ell_hat_p)
    H_cc = np.zeros((n_c + 1, n_k))
    for i in range(len(ell_D)):
        H_cc[ell_D[i] - 1, ell_k[i] - 1] = H_cc[ell_D[i] - 1, ell_k[i] - 1] + 1
    for i in range(n_c + 1):
        H_cc[i, :] = H_cc[i, :] / sum(H_cc[i, j] for j in range(n_k))
    p_p = H_cc[n_c, :]
    B = np.zeros(n_c)
    for i in range(n_c):
        p_i = H_cc[i, :]
        coefficient = sum(np.sqrt(p_i[j] * p_p[j]) for j in range(n_k))
        # Departure: the logarithm of zero is said to be minus infinity.
        B[i] = -np.log(coefficient) if coefficient > 0 else np.inf
    i_min = int(np.argmin(B))
    # Departure: the paper returns ell_G(i_min), but i_min counts classes, not columns.
    ell_p = i_min + 1
    return ell_p, B


# ---------------------------------------------------------------------------- Algorithm 2: SHC


class ImproperSplit(RuntimeError):
    """All signs are equal: the paper would recurse on the same cluster for ever."""


def Indivisible(ell_c: Vector, ell_hat_p: int) -> bool:
    """``p_i[k] and p_j[k] and p_p[k] = 0`` for every pair of gallery classes."""
    in_cluster = set(ell_c.tolist())
    gallery = in_cluster - {ell_hat_p}
    return not any(
        i in in_cluster and j in in_cluster and ell_hat_p in in_cluster
        for i in gallery
        for j in gallery
        if i != j
    )


def Update_Cluster_Labels(
    ell_k: Matrix, i_c: Vector, ell_hat: Vector, c: int, p: int, r: int
) -> Matrix:
    """Give the label ``c`` at level ``r + 1`` to the members of side ``p`` of a cluster.

    The paper leaves its body open. A row is a level; what was not divided has no label (0) in
    the rows below its own.
    """
    if len(ell_k) == r:
        ell_k = np.vstack([ell_k, np.zeros(ell_k.shape[1], dtype=int)])
    members = np.flatnonzero(i_c)[ell_hat == p]
    ell_k[r, members] = c
    return ell_k


def SHC(
    A: Matrix,
    ell_D: Vector,
    ell_k: Matrix,
    c: int,
    r: int,
    ell_hat_p: int,
    fiedler: Callable[[Matrix, Matrix], Vector],
) -> Matrix:
    """Updated cluster label matrix; ``fiedler(L_s, D_c)`` is DFVC or an exact solver."""
    ell_b = ell_k[r - 1, :]
    i_c = ell_b == c
    ell_c = ell_D[i_c]
    if Indivisible(ell_c, ell_hat_p):
        return ell_k
    A_c = A[np.ix_(i_c, i_c)]
    # Departure: several components mean several zero eigenvalues, an isolated vertex an
    # infinite D_c^(-1/2). Cutting between components is free, and all are cut at once.
    ell_hat = connected_components(A_c)
    if ell_hat.max() == 0:
        n = len(A_c)
        D_c = np.zeros((n, n))
        for j in range(n):
            D_c[j, j] = sum(A_c[i, j] for i in range(n))
        D_c_root = np.diag(1.0 / np.sqrt(np.diag(D_c)))
        L_s = D_c_root @ (D_c - A_c) @ D_c_root
        u_n_minus_1 = fiedler(L_s, D_c)
        ell_hat = u_n_minus_1 >= 0
        # Departure: stop instead of recursing for ever.
        if ell_hat.all() or not ell_hat.any():
            raise ImproperSplit
    for p in range(int(ell_hat.max()) + 1):
        # Departure: the paper's c + 1 repeats labels that deeper calls have given already
        # (c is passed by value), which would merge unrelated clusters.
        c = int(ell_k.max()) + 1
        ell_k = Update_Cluster_Labels(ell_k, i_c, ell_hat, c, p, r)
        ell_k = SHC(A, ell_D, ell_k, c, r + 1, ell_hat_p, fiedler)
    return ell_k


def clusters_of_SHC(
    A: Matrix, ell_D: Vector, ell_hat_p: int, fiedler: Callable[[Matrix, Matrix], Vector]
) -> tuple[Vector, int]:
    """Run Algorithm 2 from the top: each vertex's deepest label, renumbered 1, 2, ..., n_k."""
    ell_k = np.ones((1, len(A)), dtype=int)
    ell_k = SHC(A, ell_D, ell_k, 1, 1, ell_hat_p, fiedler)
    deepest = [max(label for label in column if label > 0) for column in ell_k.T]
    ids, labels = np.unique(deepest, return_inverse=True)
    return labels + 1, len(ids)


# --------------------------------------------------------------------------- Algorithm 3: DFVC


def DFVC(
    L_s: Matrix, u_n: Vector, eta: float, epsilon_s: int, max_k: int = 100
) -> tuple[Vector, float, list[Vector]]:
    """Fiedler vector and value, and the iterates ``v^(0), v^(1), ...``."""
    n = len(u_n)
    L_hat_s = L_s - np.outer(u_n, np.ones(n)) - eta * np.eye(n)
    Q_s, R_s = np.linalg.qr(L_hat_s)
    v_0 = sum(Q_s[:, i] for i in range(n - 1)) - u_n
    v = [v_0 / np.linalg.norm(v_0)]
    Delta_s, k = epsilon_s + 1, 1
    # Departure: a cap on the iterations.
    while Delta_s >= epsilon_s and k <= max_k:
        v_prime = Q_s.T @ v[k - 1]
        w = np.zeros(n)
        for i in range(n - 1, -1, -1):
            w[i] = (v_prime[i] - R_s[i, :] @ w) / R_s[i, i]
        v.append(w / np.linalg.norm(w))
        Delta_s = int(np.sum((v[k] > 0) ^ (v[k - 1] > 0)))
        # Departure: the sign of the whole vector is arbitrary. Where eta > lambda_2 it flips
        # in every iteration, and the literal count never falls.
        Delta_s = min(Delta_s, n - Delta_s)
        k = k + 1
    # Departure: the paper's u <- v^(k) is off by one, k has been raised already.
    u_n_minus_1 = v[k - 1]
    return u_n_minus_1, float(u_n_minus_1 @ L_s @ u_n_minus_1), v


def one_percent(n: int) -> int:
    """The epsilon_s with which ``Delta_s >= epsilon_s`` means "more than 1 % changed"."""
    return n // 100 + 1


def paper_fiedler(L_s: Matrix, D_c: Matrix) -> Vector:
    """Algorithm 3 as Algorithm 2 calls it: eta = 1 / v_g^2, at most 1 % of sign changes."""
    degree = np.diag(D_c)
    v_g = degree.sum()
    return DFVC(L_s, np.sqrt(degree), 1.0 / v_g**2, one_percent(len(degree)))[0]


def exact_fiedler(L_s: Matrix, D_c: Matrix) -> Vector:
    """Second eigenvector of the dense Laplacian."""
    return np.linalg.eigh(L_s)[1][:, 1]


# ------------------------------------------------------------------ Small literal companions


def laplacian(A: Matrix) -> Matrix:
    """``D^(-1/2) (D - A) D^(-1/2)``."""
    D = np.diag(A.sum(axis=0))
    D_root = np.diag(1.0 / np.sqrt(np.diag(D)))
    return D_root @ (D - A) @ D_root


def NCut(A: Matrix, p_r: Vector) -> float:
    """Equation 7, by the double sum."""
    n = len(A)
    v_r = sum(A[i, j] for i in range(n) for j in range(n) if p_r[i])
    v_l = sum(A[i, j] for i in range(n) for j in range(n) if not p_r[i])
    across = sum(A[i, j] for i in range(n) for j in range(n) if p_r[i] and not p_r[j])
    return across / v_r + across / v_l


def connected_components(A: Matrix) -> Vector:
    """Component of each vertex, numbered by its smallest vertex, by flooding."""
    component = np.full(len(A), -1)
    for start in range(len(A)):
        if component[start] >= 0:
            continue
        component[start] = component.max() + 1
        reached = [start]
        while reached:
            i = reached.pop()
            for j in np.flatnonzero((A[i] > 0) & (component < 0)):
                component[j] = component[i]
                reached.append(int(j))
    return component


# ------------------------------------------------------- Random graphs to try the above on


def _symmetric(upper: Matrix) -> Matrix:
    upper = np.triu(upper, 1)
    return upper + upper.T


def gaussian_graph(n: int, rng: np.random.Generator) -> Matrix:
    """Three clouds in 3-D, ``exp(-1/2 |x_i - x_j|^2)`` between all pairs."""
    centres = rng.uniform(-2.5, 2.5, (3, 3))
    x = centres[rng.integers(3, size=n)] + rng.standard_normal((n, 3))
    return _symmetric(np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(axis=2)))


def planted_graph(n: int, rng: np.random.Generator) -> Matrix:
    """Three groups, dense and heavy inside, thin and light between."""
    group = np.arange(n) % 3
    same = group[:, None] == group[None]
    weight = rng.random((n, n)) * np.where(same, 1.0, 0.3)
    kept = rng.random((n, n)) < np.where(same, 0.7, 0.1)
    return joined(_symmetric(weight * kept), rng)


def sparse_graph(n: int, rng: np.random.Generator) -> Matrix:
    """A random tree and twice as many random edges more."""
    A = np.zeros((n, n))
    for i in range(1, n):
        A[rng.integers(i), i] = rng.uniform(0.1, 1.0)
    i, j = rng.integers(n, size=(2, 2 * n))
    A[np.minimum(i, j), np.maximum(i, j)] = rng.uniform(0.1, 1.0, 2 * n)
    return _symmetric(A)


def lasso_like_graph(n: int, rng: np.random.Generator) -> Matrix:
    """Points near three subspaces, each coded on the others; five coefficients are kept."""
    bases = rng.standard_normal((3, 12, 3))
    x = np.stack([bases[i % 3] @ rng.standard_normal(3) for i in range(n)], axis=1)
    x += 0.3 * rng.standard_normal(x.shape)
    x /= np.linalg.norm(x, axis=0)
    inverse = np.linalg.inv(x.T @ x + 0.05 * np.eye(n))
    S = -inverse / np.diag(inverse)  # column j: ridge coefficients of x_j on the others
    np.fill_diagonal(S, 0.0)
    smallest = np.argsort(np.abs(S), axis=0)[:-5]
    np.put_along_axis(S, smallest, 0.0, axis=0)
    return joined(np.abs(S) + np.abs(S.T), rng)


def joined(A: Matrix, rng: np.random.Generator) -> Matrix:
    """Connect the components by one light edge each."""
    component = connected_components(A)
    for k in range(1, component.max() + 1):
        i = rng.choice(np.flatnonzero(component == k - 1))
        j = rng.choice(np.flatnonzero(component == k))
        A[i, j] = A[j, i] = rng.uniform(0.05, 0.1)
    return A


GRAPHS: dict[str, Callable[[int, np.random.Generator], Matrix]] = {
    "gaussian": gaussian_graph,
    "planted": planted_graph,
    "sparse": sparse_graph,
    "lasso": lasso_like_graph,
}
