"""The lasso graph alone: every column coded on all the others, setwise against its rivals.

All solvers minimise ``1/2 ||x_i - D a||^2 + alpha ||a||_1`` with ``a_i = 0`` and are run to
the same optimality: the tolerance of each is the loosest power of ten that brings the largest
KKT violation to about 1e-6. Everything is timed, Gram matrices too, on one thread. Solvers
too slow for all columns run on a random part of them; their full time is extrapolated.

pip install spams-bin celer skglm
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/lasso_graph.py [--sizes 500 2000]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import enet_path

from datasets import data_folder, load
from harness import Timing, face_like_sets, in_turns, parsed, publish, seconds, timed
from setwise.basis import centred_svd_bases, svd_bases
from setwise.graph import LassoGraph

with suppress(ImportError):
    import spams
with suppress(ImportError):
    from celer import celer_path
with suppress(ImportError):
    from skglm.datafits import Quadratic, QuadraticHessian
    from skglm.penalties import WeightedL1
    from skglm.solvers import AndersonCD

SIZES = (500, 2000, 8000)
ALPHAS = (0.01, 0.05)  # the paper's, our default
TOLERANCES = 10.0 ** -np.arange(4, 13)
OPTIMAL = 2e-6  # "about 1e-6": no rival is sent on for a factor of two
SAME = 5e-3  # how far coefficients may be apart where columns are much alike
DIM = 10  # columns per set
PROBED = 20  # columns to choose the tolerance on
LEAST_RUN = 50
LONGEST = 180.0
NEVER = 1e6  # a weight that keeps a column out of its own code

# (columns, alpha, columns to code, tolerance) -> their codes
Solver = Callable[[np.ndarray, float, np.ndarray, float], sp.csc_array]


def spams_batched(columns, alpha, targets, _):
    """One call for all: the self atom cannot be left out, but weighted away."""
    weights = np.ones((columns.shape[1], len(targets)), order="F")
    weights[targets, np.arange(len(targets))] = NEVER
    x = np.asfortranarray(columns[:, targets])
    return spams.lassoWeighted(x, columns, weights, lambda1=alpha, mode=2, numThreads=1)


def spams_per_column(columns, alpha, targets, _):
    """As its users call it: the dictionary with the column zeroed."""
    others = columns.copy(order="F")
    codes = []
    for i in targets:
        others[:, i] = 0.0
        x = np.asfortranarray(columns[:, [i]])
        codes.append(spams.lasso(x, D=others, lambda1=alpha, mode=2, numThreads=1))
        others[:, i] = columns[:, i]
    return sp.hstack(codes, format="csc")


def spams_on_gram(columns, alpha, targets, _):
    """One Gram matrix for all calls; L bounds the support, and what SPAMS allocates."""
    gram = (columns.T @ columns).T  # symmetric: this is Fortran order without a copy
    most = min(columns.shape)
    codes = []
    for i in targets:
        q = gram[:, [i]].copy(order="F")
        own, gram[i] = q[:, 0].copy(), 0.0
        q[i] = 0.0
        x = np.asfortranarray(columns[:, [i]])
        codes.append(spams.lasso(x, Q=gram, q=q, L=most, lambda1=alpha, mode=2, numThreads=1))
        gram[i] = own
    return sp.hstack(codes, format="csc")


def celer(columns, alpha, targets, tolerance):
    n_features, n = columns.shape
    options = {"p0": 50, "prune": 1, "max_iter": 100, "tol": tolerance}

    def code(i: int, weights: np.ndarray) -> np.ndarray:
        x, alphas = columns[:, i].copy(), [alpha / n_features]
        return celer_path(columns, x, "lasso", alphas=alphas, weights=weights, **options)[1]

    return stacked((code(i, w).ravel() for i, w in away_from_self(n, targets, np.inf)), n)


def skglm_on_columns(columns, alpha, targets, tolerance):
    n_features, n = columns.shape
    solver = AndersonCD(tol=tolerance / n_features, fit_intercept=False)

    def code(i: int, weights: np.ndarray) -> np.ndarray:
        penalty, x = WeightedL1(alpha / n_features, weights), columns[:, i].copy()
        return solver.solve(columns, x, Quadratic(), penalty, run_checks=False)[0]

    return stacked((code(i, w) for i, w in away_from_self(n, targets, NEVER)), n)


def skglm_on_gram(columns, alpha, targets, tolerance):
    gram = (columns.T @ columns).T  # symmetric: this is Fortran order without a copy
    n = len(gram)
    solver = AndersonCD(tol=tolerance, fit_intercept=False)

    def code(i: int, weights: np.ndarray) -> np.ndarray:
        penalty, datafit = WeightedL1(alpha, weights), QuadraticHessian()
        return solver.solve(gram, -gram[:, i], datafit, penalty, run_checks=False)[0]

    return stacked((code(i, w) for i, w in away_from_self(n, targets, NEVER)), n)


def scikit_learn(columns, alpha, targets, tolerance):
    """Coordinate descent on the Gram matrix. Screening finds nothing here and is left out."""
    gram = columns.T @ columns
    others = columns.copy(order="F")
    options = {"check_input": False, "max_iter": 100_000, "do_screening": False}

    def code(i: int) -> np.ndarray:
        q = gram[:, i].copy()
        own, q[i] = q.copy(), 0.0
        gram[:, i] = gram[i] = others[:, i] = 0.0
        coefficients = enet_path(
            *(others, columns[:, i]), l1_ratio=1.0, alphas=[alpha / len(columns)],
            precompute=gram, Xy=q, tol=tolerance, **options,
        )[1]  # fmt: skip
        gram[:, i] = gram[i] = own
        others[:, i] = columns[:, i]
        return coefficients.ravel()

    return stacked((code(i) for i in targets), len(gram))


# Rivals, those left out that are not installed.
RIVALS: dict[str, Solver] = {
    "SPAMS, batched": spams_batched,
    "SPAMS, per column, on the Gram": spams_on_gram,
    "SPAMS, per column": spams_per_column,
    "celer": celer,
    "skglm, on the columns": skglm_on_columns,
    "skglm, on the Gram": skglm_on_gram,
    "scikit-learn, on the Gram": scikit_learn,
}
for _name, _library in {"SPAMS": "spams", "celer": "celer", "skglm": "skglm"}.items():
    if find_spec(_library) is None:
        RIVALS = {name: of for name, of in RIVALS.items() if not name.startswith(_name)}


def away_from_self(n: int, targets: np.ndarray, weight: float) -> Iterator:
    """Each column to code, with weights of one but for its own."""
    weights = np.ones(n)
    for i in targets:
        weights[i] = weight
        yield i, weights
        weights[i] = 1.0


def stacked(codes: Iterable[np.ndarray], n: int) -> sp.csc_array:
    """Dense codes, as they come, in one sparse matrix."""
    atoms, values = [], []
    for code in codes:
        atoms.append(np.flatnonzero(code))
        values.append(code[atoms[-1]])
    pointers = np.cumsum([0, *map(len, atoms)])
    parts = np.concatenate(values), np.concatenate(atoms), pointers
    return sp.csc_array(parts, shape=(n, len(atoms)))


def violation(columns: np.ndarray, codes: sp.csc_array, alpha: float, targets) -> float:
    """Largest violation of the optimality conditions, from the columns themselves."""
    worst = 0.0
    for part in np.array_split(np.arange(len(targets)), 1 + len(targets) // 500):
        own, code = targets[part], codes[:, part].toarray()
        gradient = columns.T @ (columns[:, own] - columns @ code)
        gradient[own, np.arange(len(own))] = 0.0
        active = np.abs(gradient - alpha * np.sign(code))
        inactive = np.maximum(np.abs(gradient) - alpha, 0.0)
        worst = max(worst, np.where(code != 0, active, inactive).max())
    return float(worst)


@dataclass(frozen=True)
class Plan:
    """What a solver is to do when it is its turn: which columns, and to which tolerance.

    ``once`` are the seconds that a call takes however few columns it codes (a Gram matrix).
    """

    solve: Callable[[], sp.csc_array]
    targets: np.ndarray
    tolerance: float
    once: float


def planned(solve: Solver, columns: np.ndarray, alpha: float, budget: float) -> Plan | float:
    """The loosest tolerance, and as many columns as the budget allows; or seconds, if too many.

    Whole sets are drawn, because the first singular vectors of all sets are alike and take
    coordinate descent far longer than the others.
    """
    n = columns.shape[1]
    sets = np.random.default_rng(0).permutation(n // DIM)
    order = (DIM * sets[:, None] + np.arange(DIM)).ravel()

    def run(targets: np.ndarray, tolerance: float, **limits) -> tuple[float, float]:
        timing, codes = timed(lambda: solve(columns, alpha, targets, tolerance), **limits)
        return timing.median, violation(columns, codes, alpha, targets)

    solve(np.asfortranarray(columns[:, :30]), alpha, np.arange(3), 1e-4)  # compiles
    for tolerance in TOLERANCES:
        n_run = PROBED
        spent, kkt = run(order[:n_run], tolerance, budget=0.0)
        if kkt > OPTIMAL and tolerance > TOLERANCES[-1]:
            continue
        once = run(order[DIM - 1 : DIM], tolerance, repeats=3, budget=budget / 4)[0]
        while n_run < (more := min(4 * n_run, n)) and (spent - once) * more / n_run <= budget:
            n_run = more
            spent, kkt = run(order[:n_run], tolerance, budget=0.0)
        if kkt <= OPTIMAL:
            break
    least = max(n_run, min(n, LEAST_RUN))
    expected = (spent - once) * least / n_run
    if expected > LONGEST:
        return expected
    targets = order[:least]
    return Plan(lambda: solve(columns, alpha, targets, tolerance), targets, tolerance, once)


def setwise(columns: np.ndarray, alpha: float) -> Plan:
    """The public call, which makes residuals and the graph as well."""
    n = columns.shape[1]
    LassoGraph(0.5).solve(columns)  # compiles, with little to solve

    def solve() -> sp.csc_array:
        return LassoGraph(alpha).solve(columns).codes.to_csc(n)

    return Plan(solve, np.arange(n), 0.0, 0.0)


def measured(plan: Plan, timing: Timing, codes: sp.csc_array, columns, alpha: float) -> dict:
    n, n_run = columns.shape[1], len(plan.targets)
    return {
        "seconds": plan.once + (timing.median - plan.once) * n / n_run,
        "n_run": n_run,
        "tolerance": float(plan.tolerance),
        "kkt": violation(columns, codes, alpha, plan.targets),
        "nonzeros": codes.nnz / n_run,
    }


def face_like_columns(n: int) -> np.ndarray:
    """Singular vectors of n / 10 synthetic sets, five sets per class."""
    rng = np.random.default_rng(0)
    sets, _ = face_like_sets(n // DIM, n_classes=max(n // (5 * DIM), 2), rng=rng)
    return np.hstack([svd_bases(vectors, (DIM,))[0] for vectors in sets])


def eth80_columns(n: int) -> np.ndarray:
    """Centred singular vectors of n / 10 sets of ETH-80."""
    sets = load("eth80").sets
    chosen = np.sort(np.random.default_rng(0).permutation(len(sets))[: n // DIM])
    return np.hstack([centred_svd_bases(sets[int(i)], (DIM,))[0] for i in chosen])


def compared(data: str, columns: np.ndarray, alpha: float, budget: float) -> Iterator[dict]:
    """One record per solver, setwise first; the others with their difference to it."""
    n = columns.shape[1]
    plans: dict[str, Plan | float] = {"setwise": setwise(columns, alpha)}
    for name, solve in RIVALS.items():
        print(f"{data}, {n} columns, alpha {alpha}: {name}", file=sys.stderr)
        plans[name] = planned(solve, columns, alpha, budget)
    works = {name: plan.solve for name, plan in plans.items() if isinstance(plan, Plan)}
    timings = in_turns(works, repeats=3, budget=budget)
    all_codes = timings["setwise"][1]
    ours = timings["setwise"][0].median
    for name, plan in plans.items():
        what = {"data": data, "n": n, "alpha": alpha, "solver": name}
        if not isinstance(plan, Plan):
            yield {**what, "left_out": plan, "n_run": min(n, LEAST_RUN)}
            continue
        timing, codes = timings[name]
        record = {**what, **measured(plan, timing, codes, columns, alpha)}
        record["difference"] = float(abs(codes - all_codes[:, plan.targets]).max())
        yield {**record, "ratio": record["seconds"] / ours}


def difference_of(record: dict) -> str:
    if record["solver"] == "setwise":
        return ""
    return f"{'' if record['difference'] <= SAME else '! '}{record['difference']:.0e}"


def row(record: dict) -> list[str]:
    n = record["n"]
    about = "" if record["n_run"] == n else "~"
    return [
        *(record["data"], f"{n}", f"{record['alpha']}", record["solver"]),
        about + seconds(record["seconds"]),
        seconds(record["seconds"] / n),
        f"{record['n_run']}",
        f"{record['kkt']:.0e}",
        difference_of(record),
        f"{record['ratio']:.3g}x",
    ]


def notes(records: list[dict]) -> list[str]:
    result = [
        "One thread. Time of the whole matrix of codes, with its Gram matrix; ~ is "
        "extrapolated from the columns run (random, seed 0), what is spent once counted once.",
        "KKT: largest violation of the optimality conditions over the columns run. The "
        "tolerance of each solver is the loosest power of ten that brings it to about 1e-6; "
        "SPAMS and setwise are exact and have none.",
        "difference: largest difference of a coefficient to setwise's, on the columns run; ! "
        f"marks more than {SAME:g}. ratio: time over that of setwise.",
    ]
    for record in records:
        what = f"{record['data']}, {record['n']} columns, alpha {record['alpha']}"
        if "seconds" not in record:
            result.append(
                f"left out: {record['solver']} on {what}, where {record['n_run']} columns "
                f"would take {seconds(record['left_out'])}."
            )
        elif record["solver"] == "setwise":
            result.append(f"{what}: {record['nonzeros']:.0f} non-zeros a code.")
    return result


def curves(records: list[dict]) -> dict:
    """Seconds of each solver on face-like columns at our default, for the plot."""
    chosen = [r for r in records if r["data"] == "face-like" and r["alpha"] == ALPHAS[-1]]
    sizes = sorted({record["n"] for record in chosen})
    found = {(r["solver"], r["n"]): r.get("seconds") for r in chosen}
    solvers = dict.fromkeys(record["solver"] for record in chosen)
    return {"sizes": sizes, "seconds": {s: [found[s, n] for n in sizes] for s in solvers}}


def main() -> None:
    """Print one table and write out/bench/lasso_graph.json, or _part for part of the work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", help="how many columns")
    parser.add_argument("--quick", action="store_true", help="200 columns, a second a solver")
    arguments = parsed(parser)
    sizes, budget = ([200], 1.0) if arguments.quick else (arguments.sizes or SIZES, 4.0)
    warnings.simplefilter("ignore")  # rivals warn when a probing tolerance is out of reach
    problems = [("face-like", face_like_columns(n)) for n in sizes]
    if data_folder() is not None and (arguments.quick or 500 in sizes):
        problems.insert(0, ("ETH-80", eth80_columns(200 if arguments.quick else 500)))
    records = [
        record
        for name, columns in problems
        for alpha in ALPHAS
        for record in compared(name, np.asfortranarray(columns), alpha, budget)
    ]
    publish(
        "lasso_graph_part" if arguments.quick or arguments.sizes else "lasso_graph",
        "The lasso graph alone",
        notes(records),
        ["columns", "n", "alpha", "solver", "time", "a column", "columns run", "KKT",
         "difference", "ratio"],
        [row(record) for record in records if "seconds" in record],
        records=records,
        **curves(records),
    )  # fmt: skip


if __name__ == "__main__":
    main()
