"""The cut alone: Fiedler vectors of dense and sparse graphs, setwise against its rivals.

Everybody gets the same connected graph and must give the second eigenvector of its normalised
Laplacian; scaling the graph is part of the time, on one thread. Only signs matter for a cut,
so a solver is judged by how many of them agree with a reference, but for a global flip.

pip install networkx
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/cut.py [--sizes 500 10000]
"""

from __future__ import annotations

import argparse
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from harness import Timing, face_like_sets, in_turns, parsed, publish, seconds
from setwise.basis import svd_bases
from setwise.cut import Fiedler, exact_fiedler
from setwise.graph import LassoGraph

LONGEST = 60.0  # seconds
LONGEST_REFERENCE = 120.0
ENOUGH = 0.99  # of the signs; rows below are marked
FACTORED = 5000  # vertices up to which a matrix is factored
PLOTTED = "sbm50"

Graph = np.ndarray | sp.csr_array


def gauss3(n: int) -> np.ndarray:
    """Gaussian kernel of three 3-D Gaussians, dense."""
    centres = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0]])
    points = np.random.default_rng(0).normal(size=(n, 3)) + centres[np.arange(n) % 3]
    weights = np.exp(-0.5 * cdist(points, points, "sqeuclidean"))
    np.fill_diagonal(weights, 0.0)
    return weights


def lasso(n: int) -> sp.csr_array:
    """The lasso graph of n / 10 face-like sets, five sets per class."""
    rng = np.random.default_rng(0)
    sets, _ = face_like_sets(n // 10, n_classes=n // 50, rng=rng)
    columns = np.hstack([svd_bases(vectors, (10,))[0] for vectors in sets])
    return LassoGraph().adjacency(columns)


def geo(n: int) -> sp.csr_array:
    """Ten nearest neighbours of two overlapping 3-D Gaussians."""
    points = np.random.default_rng(0).normal(size=(n, 3))
    points[n // 2 :, 0] += 3.0
    near = cKDTree(points).query(points, 11)[1][:, 1:]
    return unweighted(np.repeat(np.arange(n), 10), near.ravel(), n)


def sbm(n_clusters: int) -> Callable[[int], sp.csr_array]:
    """Planted clusters: about 13 edges a vertex, 15 % of them to anywhere."""

    def graph(n: int) -> sp.csr_array:
        rng = np.random.default_rng(0)
        one, other = rng.integers(n, size=(2, 13 * n // 2))
        inside = one % n_clusters + n_clusters * (other // n_clusters)
        is_inside = (rng.random(len(one)) > 0.15) & (inside < n)
        return unweighted(one, np.where(is_inside, inside, other), n)

    return graph


def unweighted(one: np.ndarray, other: np.ndarray, n: int) -> sp.csr_array:
    """The graph with these edges, each once, of weight one."""
    edges = sp.coo_array((np.ones(len(one)), (one, other)), shape=(n, n)).tocsr()
    edges = sp.csr_array(edges + edges.T)
    edges.data[:] = 1.0
    edges.setdiag(0.0)
    edges.eliminate_zeros()
    return edges


def largest_component(graph: Graph) -> Graph:
    component = connected_components(graph, directed=False)[1]
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    return graph if len(kept) == graph.shape[0] else graph[kept][:, kept]


def n_entries(graph: Graph) -> int:
    return int(graph.nnz if sp.issparse(graph) else np.count_nonzero(graph))


# name -> how it is made, and of which sizes
GRAPHS: dict[str, tuple[Callable[[int], Graph], tuple[int, ...]]] = {
    "gauss3": (gauss3, (500, 1000, 2000, 5000)),
    "lasso": (lasso, (500, 2000)),
    "geo": (geo, (10_000, 100_000, 1_000_000)),
    "sbm2": (sbm(2), (10_000, 100_000, 1_000_000)),
    "sbm50": (sbm(50), (10_000, 100_000)),
}


def scaled(graph: Graph) -> tuple[Graph, np.ndarray]:
    """``S = D^-1/2 A D^-1/2``, so that ``L = I - S``, and the null vector of ``L``."""
    degree = np.asarray(graph.sum(axis=1)).ravel()
    scale, null = 1.0 / np.sqrt(degree), np.sqrt(degree / degree.sum())
    if not sp.issparse(graph):
        matrix = graph * scale
        matrix *= scale[:, None]
        return matrix, null
    weights = graph.data * np.repeat(scale, np.diff(graph.indptr))
    weights *= scale[graph.indices]
    return sp.csr_array((weights, graph.indices, graph.indptr), shape=graph.shape), null


def laplacian(graph: Graph) -> Graph:
    matrix, _ = scaled(graph)
    matrix *= -1.0
    if sp.issparse(matrix):
        return sp.csc_array(matrix + sp.eye_array(matrix.shape[0]))
    matrix.flat[:: len(matrix) + 1] += 1.0
    return matrix


def random_start(n: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=n)


def direct(graph: Graph) -> np.ndarray:
    dense = laplacian(graph.toarray() if sp.issparse(graph) else graph)
    options = {"overwrite_a": True, "check_finite": False}
    return linalg.eigh(dense, subset_by_index=[1, 1], **options)[1][:, 0]


def shift_inverted(graph: Graph) -> np.ndarray:
    matrix, start = laplacian(graph), random_start(graph.shape[0])
    values, vectors = eigsh(matrix, k=2, sigma=-1e-3, tol=1e-6, v0=start)
    return vectors[:, values.argmax()]


def deflated(graph: Graph) -> LinearOperator:
    """``2 I - L - 2 u u'``: the Fiedler vector is the eigenvector of its largest value."""
    matrix, null = scaled(graph)

    def product(x: np.ndarray) -> np.ndarray:
        x = x.ravel()
        return x + matrix @ x - (2.0 * (null @ x)) * null

    return LinearOperator(matrix.shape, matvec=product, dtype=np.float64)


def largest_deflated(graph: Graph, tolerance: float) -> np.ndarray:
    operator, start = deflated(graph), random_start(graph.shape[0])
    return eigsh(operator, k=1, which="LA", tol=tolerance, v0=start)[1][:, 0]


def two_largest(graph: Graph, tolerance: float) -> np.ndarray:
    start = random_start(graph.shape[0])
    values, vectors = eigsh(scaled(graph)[0], k=2, which="LA", tol=tolerance, v0=start)
    return vectors[:, values.argmin()]


def by_lobpcg(graph: Graph) -> np.ndarray:
    matrix, null = scaled(graph)
    start, known = random_start(len(null))[:, None], null[:, None]
    return lobpcg(matrix, start, Y=known, tol=1e-4, maxiter=10_000, largest=True)[1][:, 0]


def by_networkx(graph: nx.Graph, method: str) -> np.ndarray:
    """At its own tolerance, 1e-8: at 1e-6 it may take the null vector for the second one."""
    return np.asarray(nx.fiedler_vector(graph, normalized=True, method=method, seed=0))


def to_networkx(graph: Graph) -> nx.Graph:
    return nx.from_scipy_sparse_array(sp.csr_array(graph))


@dataclass(frozen=True)
class Solver:
    """How to get the vector, up to which size, and from what, made before the clock starts."""

    solve: Callable[[Any], Any]
    most_vertices: int = 10**9
    most_edges: int = 10**9
    given: Callable[[Graph], Any] = lambda graph: graph


def networkx_solver(method: str) -> Solver:
    return Solver(lambda graph: by_networkx(graph, method), 10_000, 10**6, to_networkx)


SOLVERS = {
    "setwise": Solver(exact_fiedler),
    "setwise, signs only": Solver(lambda graph: exact_fiedler(graph, precise=False)),
    "SciPy eigh": Solver(direct, FACTORED),
    "SciPy eigsh, shift-invert": Solver(shift_inverted, FACTORED),
    "SciPy eigsh, deflated, 1e-4": Solver(lambda graph: largest_deflated(graph, 1e-4)),
    "SciPy eigsh, deflated, 1e-6": Solver(lambda graph: largest_deflated(graph, 1e-6)),
    "SciPy eigsh, two vectors, 1e-4": Solver(lambda graph: two_largest(graph, 1e-4)),
    "SciPy eigsh, two vectors, 1e-6": Solver(lambda graph: two_largest(graph, 1e-6)),
    "SciPy lobpcg, 1e-4": Solver(by_lobpcg),
    "networkx, tracemin_pcg": networkx_solver("tracemin_pcg"),
    "networkx, lanczos": networkx_solver("lanczos"),
}


@contextmanager
def at_most(limit: float) -> Iterator[None]:
    """Raise TimeoutError after so many seconds, as soon as Python code runs again."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def reference(graph: Graph) -> tuple[np.ndarray, str]:
    """The best vector there is time for, and how it was found."""
    if graph.shape[0] <= FACTORED:
        return direct(graph), "eigh"
    operator, vectors, reached = deflated(graph), random_start(graph.shape[0])[:, None], 1.0
    with suppress(TimeoutError), at_most(LONGEST_REFERENCE):
        for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
            start = vectors.sum(axis=1)
            vectors = eigsh(operator, k=2, which="LA", tol=tolerance, v0=start)[1]
            reached = tolerance
    return vectors[:, -1], f"eigsh, two vectors, {reached:.0e}"


def agreement(vector: np.ndarray, other: np.ndarray) -> float:
    """Share of equal signs, but for a global flip."""
    share = float(np.mean((vector > 0) == (other > 0)))
    return max(share, 1.0 - share)


def can_solve(solver: Solver, graph: Graph) -> bool:
    return graph.shape[0] <= solver.most_vertices and n_entries(graph) <= 2 * solver.most_edges


def work_of(solver: Solver, graph: Graph) -> Callable[[], Any]:
    """Its one call, stopped when it takes too long."""
    given = solver.given(graph)

    def work() -> Any:
        with at_most(LONGEST):
            return solver.solve(given)

    return work


def measured(graph: Graph, wanted: np.ndarray, expected: dict[str, float]) -> dict[str, dict]:
    """Time and agreement of each solver, in turns, or why there are none."""
    able = {name: solver for name, solver in SOLVERS.items() if can_solve(solver, graph)}
    works = {
        name: work_of(solver, graph)
        for name, solver in able.items()
        if expected.get(name, 0.0) <= LONGEST
    }
    timings = in_turns(works, budget=10.0)
    records: dict[str, dict] = {name: {} for name in SOLVERS}
    for name in able:
        if name in timings:
            records[name] = record_of(*timings[name], wanted)
        elif name in works:
            records[name] = {"left_out": f"stopped after {LONGEST / 60:.0f} minutes"}
        else:
            minutes = expected[name] / 60
            records[name] = {"left_out": f"expected to take {minutes:.0f} minutes or more"}
    return records


def record_of(timing: Timing, found: Any, wanted: np.ndarray) -> dict:
    convergence, vector = {}, found
    if isinstance(found, Fiedler):
        vector = found.vector
        convergence = {
            "n_iterations": int(found.n_iterations),
            "has_converged": bool(found.has_converged),
        }
    return {
        "seconds": timing.median,
        "low": timing.low,
        "high": timing.high,
        "agreement": agreement(vector, wanted),
        **convergence,
    }


def compared(family: str, sizes: list[int]) -> Iterator[dict]:
    """One record a size and solver. What took a while is expected to grow with the size."""
    make = GRAPHS[family][0]
    before: dict[str, tuple[int, float]] = {}
    for size in sizes:
        print(f"{family}, {size} vertices: graph and reference", file=sys.stderr)
        graph = largest_component(make(size))
        n = graph.shape[0]
        wanted, found_by = reference(graph)
        print(f"{family}, {size} vertices: solvers in turns", file=sys.stderr)
        expected = {name: spent * n / n_before for name, (n_before, spent) in before.items()}
        for name, record in measured(graph, wanted, expected).items():
            before[name] = n, record.get("seconds", LONGEST)
            what = {"graph": family, "size": size, "n": n, "degree": n_entries(graph) / n}
            yield {**what, "solver": name, "reference": found_by, **record}


def row(record: dict, ours: float | None) -> list[str]:
    mark = "" if record["agreement"] >= ENOUGH else "! "
    return [
        *(record["graph"], f"{record['n']:,}", f"{record['degree']:.0f}", record["solver"]),
        seconds(record["seconds"]),
        "-" if ours is None else f"{record['seconds'] / ours:.3g}x",
        f"{mark}{100 * record['agreement']:.2f} %",
    ]


def notes(records: list[dict]) -> list[str]:
    result = [
        "One thread; the graph is given as an array or a CSR matrix (to networkx as its own), "
        "scaling it is timed. ratio: time over that of setwise, less than 1 is faster.",
        "agreement: share of the signs that agree with the reference, but for a global flip; "
        f"! marks less than {100 * ENOUGH:.0f} %.",
        "gauss3: Gaussian kernel of three Gaussians, dense; lasso: lasso graphs of face-like "
        "sets; geo: 10 nearest neighbours of two Gaussians; sbm: planted clusters.",
        "setwise goes on until the vector is known to rounding; with signs only, until they "
        "are settled (above 3000 vertices it always stops there).",
        f"Factorisations (eigh, shift-invert) up to {FACTORED:,} vertices, networkx up to "
        "10,000 vertices and a million edges: beyond, they take too long.",
    ]
    by_solver = {(r["graph"], r["n"]): r["reference"] for r in records}
    for found_by in dict.fromkeys(by_solver.values()):
        graphs = [f"{g} {n:,}" for (g, n), other in by_solver.items() if other == found_by]
        result.append(f"Reference by {found_by}: {', '.join(graphs)}.")
    for record in records:
        what = f"{record['solver']} on {record['graph']} of {record['n']:,} vertices"
        if "left_out" in record:
            result.append(f"Left out: {what}, {record['left_out']}.")
        if not record.get("has_converged", True):
            result.append(f"{what}: stopped before it converged.")
    return result


def curves(records: list[dict]) -> dict:
    """Seconds of each solver on the graphs of one family, for the plot."""
    chosen = [record for record in records if record["graph"] == PLOTTED]
    sizes = sorted({record["size"] for record in chosen})
    found = {(r["solver"], r["size"]): r.get("seconds") for r in chosen}
    times = {name: [found[name, size] for size in sizes] for name in SOLVERS if chosen}
    return {"sizes": sizes, "seconds": times, "x_label": f"vertices ({PLOTTED})"}


def main() -> None:
    """Print one table and keep it, unless it is a part of the work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", help="only graphs of these sizes")
    parser.add_argument("--quick", action="store_true", help="the smallest graph of each kind")
    arguments = parsed(parser)
    warnings.simplefilter("ignore")  # lobpcg warns of every iteration it needs
    for small in (gauss3(400), sbm(2)(400), sbm(2)(4000)):
        exact_fiedler(largest_component(small))  # compiles
    records = []
    for family, (_, sizes) in GRAPHS.items():
        wanted = sizes[:1] if arguments.quick else arguments.sizes or sizes
        records += compared(family, [size for size in sizes if size in wanted])
    ours = {(r["graph"], r["n"]): r.get("seconds") for r in records if r["solver"] == "setwise"}
    publish(
        "cut_part" if arguments.quick or arguments.sizes else "cut",
        "The cut alone",
        notes(records),
        ["graph", "vertices", "edges a vertex", "solver", "time", "ratio", "agreement"],
        [row(r, ours[r["graph"], r["n"]]) for r in records if "seconds" in r],
        records=records,
        **curves(records),
    )


if __name__ == "__main__":
    main()
