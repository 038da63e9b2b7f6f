"""The alternation of dictionary learning, compiled whole.

All arrays are C-contiguous float64, so that each kernel is compiled once. Atoms are rows, so
that inner loops vectorise.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel
from setwise.lasso.ball_kernels import code_in_l1_ball

# An atom no code uses teaches nothing: it is replaced by the worst-reconstructed vector.
UNUSED = 1e-10


@kernel
def _products(left, right, out):
    """``left @ right.T`` into ``out``."""
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            total = 0.0
            for f in range(left.shape[1]):
                total += left[i, f] * right[j, f]
            out[i, j] = total


@kernel
def _reconstruct(atoms, vectors, codes, residual, errors):
    """Squared residual of each vector into ``errors``; returns the loss.

    From the residuals themselves: expanding the square would lose a loss near zero.
    """
    total = 0.0
    for i in range(vectors.shape[0]):
        for f in range(residual.shape[0]):
            residual[f] = vectors[i, f]
        for j in range(atoms.shape[0]):
            weight = codes[i, j]
            if weight != 0.0:
                for f in range(residual.shape[0]):
                    residual[f] -= weight * atoms[j, f]
        error = 0.0
        for f in range(residual.shape[0]):
            error += residual[f] * residual[f]
        errors[i] = error
        total += error
    return 0.5 * (total / vectors.shape[0])


@kernel
def _update(atoms, vectors, codes, errors, moved):
    """One sweep of block-coordinate descent over the atoms, in place, codes fixed."""
    for j in range(atoms.shape[0]):
        usage = 0.0
        for i in range(codes.shape[0]):
            usage += codes[i, j] * codes[i, j]
        is_used = usage >= UNUSED
        if is_used:
            for f in range(moved.shape[0]):
                moved[f] = 0.0
            for i in range(codes.shape[0]):
                weight = codes[i, j]
                if weight != 0.0:
                    for f in range(moved.shape[0]):
                        moved[f] += weight * vectors[i, f]
            for other in range(atoms.shape[0]):
                weight = 0.0
                for i in range(codes.shape[0]):
                    weight += codes[i, j] * codes[i, other]
                for f in range(moved.shape[0]):
                    moved[f] -= weight * atoms[other, f]
            for f in range(moved.shape[0]):
                moved[f] = atoms[j, f] + moved[f] / usage
        else:
            worst = 0
            for i in range(errors.shape[0]):
                if errors[i] > errors[worst]:
                    worst = i
            errors[worst] = -1.0  # the next unused atom gets the next worst
            for f in range(moved.shape[0]):
                moved[f] = vectors[worst, f]
        norm = 0.0
        for f in range(moved.shape[0]):
            norm += moved[f] * moved[f]
        norm = np.sqrt(norm)
        if is_used:
            norm = max(norm, 1.0)
        if norm > 0.0:  # a zero vector never becomes an atom
            for f in range(moved.shape[0]):
                atoms[j, f] = moved[f] / norm


@kernel
def alternate(vectors, atoms, radius, tolerance, max_iter, max_steps):
    """Code, reconstruct and update until the loss settles; moves ``atoms`` in place.

    Returns the loss, whether it has settled within ``max_iter`` alternations, and how many
    codes have not reached their optimum within ``max_steps`` steps.
    """
    n_vectors, n_atoms = vectors.shape[0], atoms.shape[0]
    gram = np.empty((n_atoms, n_atoms))
    correlations = np.empty((n_vectors, n_atoms))
    codes = np.zeros((n_vectors, n_atoms))
    errors = np.empty(n_vectors)
    workspace = np.empty(vectors.shape[1])
    loss, n_approximate = np.inf, 0
    for _ in range(max_iter):
        _products(atoms, atoms, gram)
        _products(vectors, atoms, correlations)
        is_exact = code_in_l1_ball(gram, correlations, radius, codes, max_steps)
        for i in range(n_vectors):
            n_approximate += not is_exact[i]
        previous, loss = loss, _reconstruct(atoms, vectors, codes, workspace, errors)
        if previous - loss <= tolerance * loss:
            return loss, True, n_approximate
        _update(atoms, vectors, codes, errors, workspace)
    return loss, False, n_approximate
