"""Seconds for one probe and one classifier (the largest d) at the sizes of the paper's table.

    python benchmarks/per_probe.py                  # all five sizes, about ten minutes
    python benchmarks/per_probe.py --only honda eth80 --quick

Everybody gets the same dictionary atoms of the same sets (learned before the clock starts),
alpha = 0.01 where there is a lasso, one thread, and ends with the same Bhattacharyya distances:

* setwise, once the gallery is fitted: insertion, clusters and distances, with each of its cuts;
* the paper, literally: a SPAMS lasso for each column, Algorithm 2 with Algorithm 3 by QR, and
  Algorithm 1, from scratch for every probe. Vectorised, and checked at the start against the
  line-by-line transcription in tests/reference. The same with SPAMS's fastest call, too;
* k-means, SSC by ADMM, and spectral clustering of SPAMS's graph as the clusterer of
  Algorithm 1, with as many clusters as classes, as in the paper.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.ndimage import zoom
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans, SpectralClustering

from datasets import load
from harness import Timing, face_like_sets, in_turns, parsed, publish, seconds
from setwise import CVC, SSC
from setwise.cut import CutRule
from setwise.errors import ConvergenceWarning
from setwise.gallery import Gallery
from setwise.gallery.bases import SetBases
from setwise.lasso import lasso_codes

try:
    import spams
except ImportError:  # the literal paper then has setwise's lasso, which is quicker
    spams = None

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.reference import algorithms as transcription

ALPHA = 0.01
CUTS = ("paper", "sweep", "exact")
LITERAL = "the paper, literally"
OWN_LASSO = "the paper, setwise's lasso"


# ------------------------------------------------------------------- Sets of the five sizes


@dataclass(frozen=True)
class Problem:
    """Gallery and probe sets whose columns have the numbers of one of the paper's datasets."""

    source: str
    n_columns: int  # of each set
    gallery: list[np.ndarray]
    gallery_labels: np.ndarray
    probes: list[np.ndarray]
    probe_labels: np.ndarray
    printed: float  # seconds of SHC in the paper's table


def of_sets(sets, labels, gallery, probes, **about) -> Problem:
    """A problem made of some of a dataset's sets."""
    chosen = [[sets[i] for i in indices] for indices in (gallery, probes)]
    return Problem(
        gallery=chosen[0], gallery_labels=labels[gallery],
        probes=chosen[1], probe_labels=labels[probes], **about,
    )  # fmt: skip


def resized(vectors: np.ndarray, old: tuple[int, int], new: tuple[int, int]) -> np.ndarray:
    """The images that some vectors of pixels are, in another size."""
    return zoom(vectors.reshape(-1, *old), (1, new[0] / old[0], new[1] / old[1]), order=1)


def uniform_lbp(images: np.ndarray, patch: int = 8) -> np.ndarray:
    """Histograms of the 59 uniform local binary patterns in the patches of each image."""
    ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)), mode="edge")
    around = [np.roll(padded, shift, (1, 2))[:, 1:-1, 1:-1] for shift in ring]
    codes = sum((neighbour >= images) << k for k, neighbour in enumerate(around))
    bits = np.arange(256)[:, None] >> np.arange(8) & 1
    is_uniform = (bits != np.roll(bits, 1, axis=1)).sum(axis=1) <= 2
    kind = np.where(is_uniform, np.cumsum(is_uniform) - 1, 58)[codes]
    n, height, width = images.shape
    patches = kind.reshape(n, height // patch, patch, width // patch, patch)
    return np.stack([(patches == k).sum((2, 4)) for k in range(59)], -1).reshape(n, -1) * 1.0


def youtube() -> Problem:
    data = load("yaleb")
    large = np.random.default_rng(0).permutation(data.folds[0][1])  # subsets 2 to 5
    source = "real: Yale B faces, 24x21 pixels for HOG; sets of four of the five light subsets"
    return of_sets(
        data.sets, data.labels, large[:141], large[141:],
        source=source, n_columns=8, printed=7.30,
    )  # fmt: skip


def mobo() -> Problem:
    data = load("yaleb")
    faces = [uniform_lbp(resized(s, (24, 21), (40, 40))) for s in data.sets]
    source = (
        "real: Yale B faces enlarged to 40x40, LBP of 8x8 patches; light subset 4 against 3"
    )
    return of_sets(
        faces, data.labels, data.folds[3][0][:24], data.folds[2][0][:24],
        source=source, n_columns=12, printed=0.43,
    )  # fmt: skip


def honda() -> Problem:
    data = load("coil20")
    small = [resized(s, (32, 32), (20, 20)).reshape(len(s), -1) for s in data.sets]
    gallery = np.unique(data.labels, return_index=True)[1]
    probes = np.setdiff1d(np.arange(len(small)), gallery)
    source = "real: COIL-20, shrunk to 20x20 pixels; one quadrant of each object against three"
    return of_sets(
        small, data.labels, gallery, probes, source=source, n_columns=12, printed=0.41
    )


def eth80() -> Problem:
    data = load("eth80")
    source = "real: ETH-80 itself, 20x20 pixels, the first of the ten published splits"
    return of_sets(
        data.sets, data.labels, *data.folds[0], source=source, n_columns=10, printed=1.21
    )


def cambridge() -> Problem:
    data = load("eth80")
    fifths = [s[i::5] for s in data.sets for i in range(5)]
    gallery, probes = (
        np.random.default_rng(0).permutation((5 * sets[:, None] + np.arange(5)).ravel())
        for sets in data.folds[0]
    )
    source = "real: ETH-80, 20x20 pixels, the views of each object dealt into five sets"
    return of_sets(
        fifths, np.repeat(data.labels, 5), gallery[:180], probes,
        source=source, n_columns=7, printed=22.75,
    )  # fmt: skip


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "YouTube": youtube,
    "MoBo": mobo,
    "Honda": honda,
    "ETH-80": eth80,
    "Cambridge": cambridge,
}


class Columns(NamedTuple):
    """What a clusterer sees: gallery's then probe's columns; the probe's class is the last."""

    matrix: np.ndarray
    classes: np.ndarray
    n_classes: int


@dataclass(frozen=True)
class Case:
    """A problem reduced to columns, as `CVC.as_in_paper` does it."""

    gallery: Gallery
    probes: list[SetBases]
    truth: np.ndarray

    @classmethod
    def of(cls, problem: Problem, n_probes: int) -> Case:
        clf = CVC.as_in_paper(dims=(problem.n_columns,), random_state=0)
        clf.fit(problem.gallery, problem.gallery_labels)
        picked = np.random.default_rng(1).permutation(len(problem.probes))[:n_probes]
        return cls(
            clf.gallery_,
            [clf.gallery_.bases(problem.probes[i]) for i in picked],
            np.searchsorted(clf.classes_, problem.probe_labels[picked]),
        )

    def with_probe(self, i: int) -> Columns:
        (solved,) = self.gallery.layers
        probe = self.probes[i][solved.layer]  # made once, before the clock starts
        matrix = np.asfortranarray(np.hstack([solved.graph.columns, probe]))
        n_classes = self.gallery.n_classes
        known = self.gallery.everything.layer_graph(0).targets.classes
        classes = np.append(known, np.full(probe.shape[1], n_classes))
        return Columns(matrix, classes, n_classes)


# ------------------------------------------------------------------------------ Lasso graphs


def spams_by_column(D: np.ndarray) -> sp.csr_array:
    """As SPAMS is used: one call a column, its own atom blotted out of the dictionary."""
    others, codes = D.copy(order="F"), []
    for i in range(D.shape[1]):
        others[:, i] = 0.0
        codes.append(
            spams.lasso(D[:, [i]], D=others, mode=2, lambda1=ALPHA, numThreads=1).tocoo()
        )
        others[:, i] = D[:, i]
    column = np.repeat(np.arange(D.shape[1]), [code.nnz for code in codes])
    row, data = (
        np.concatenate([getattr(code, of) for code in codes]) for of in ("row", "data")
    )
    return symmetrised(sp.csr_array((data, (row, column)), shape=(D.shape[1],) * 2))


def spams_at_once(D: np.ndarray) -> sp.csr_array:
    """The fastest way to call SPAMS: all columns at once, a column's own atom at a price."""
    price = np.ones((D.shape[1],) * 2, order="F")
    np.fill_diagonal(price, 1e6)
    codes = spams.lassoWeighted(D, D=D, W=price, mode=2, lambda1=ALPHA, numThreads=1)
    return symmetrised(sp.csr_array(codes))


def setwise_from_scratch(D: np.ndarray) -> sp.csr_array:
    """By setwise's own exact lasso, which knows nothing of the gallery before."""
    codes = lasso_codes(D.T @ D, ALPHA, rank=min(D.shape))
    return symmetrised(sp.csr_array(codes))


def symmetrised(codes: sp.csr_array) -> sp.csr_array:
    return abs(codes) + abs(codes.T)


# ------------------------------------------- The paper's algorithms, vectorised as in MATLAB


def shc(A: np.ndarray, columns: Columns) -> np.ndarray:
    """Algorithm 2: cut until no cluster holds the probe and two classes."""
    clusters = np.empty(len(A), dtype=int)
    waiting, n_leaves = [np.arange(len(A))], 0
    while waiting:
        vertices = waiting.pop()
        present = np.unique(columns.classes[vertices])
        is_divisible = len(present) > 2 and present[-1] == columns.n_classes
        part = parts(A[np.ix_(vertices, vertices)]) if is_divisible else np.zeros(1, dtype=int)
        if part.any():
            waiting += [vertices[part == k] for k in range(part.max() + 1)]
        else:
            clusters[vertices] = n_leaves
            n_leaves += 1
    return clusters


def parts(A: np.ndarray) -> np.ndarray:
    """Connected components, or the sides of the cut; all zero if one side is empty."""
    n_components, part = connected_components(sp.csr_array(A), directed=False)
    if n_components == 1:
        part = (dfvc(A) >= 0).astype(int)
        part = part if part.any() and not part.all() else np.zeros_like(part)
    return part


def dfvc(A: np.ndarray, max_iterations: int = 100) -> np.ndarray:
    """Algorithm 3, by explicit QR, until at most 1 % of the signs change."""
    n, degree = len(A), A.sum(axis=0)
    u = np.sqrt(degree)
    L = np.eye(n) - A / np.outer(u, u)
    Q, R = linalg.qr(L - u[:, None] - np.eye(n) / degree.sum() ** 2, check_finite=False)
    v = Q[:, :-1].sum(axis=1) - u
    for _ in range(max_iterations):
        w = linalg.solve_triangular(R, Q.T @ v, check_finite=False)
        n_changed = np.count_nonzero((w > 0) != (v > 0))
        v = w / np.linalg.norm(w)
        if min(n_changed, n - n_changed) <= 0.01 * n:
            break
    return v


def label(clusters: np.ndarray, columns: Columns) -> int:
    """Algorithm 1 after the clustering: the nearest class by Bhattacharyya's distance."""
    histogram = np.zeros((columns.n_classes + 1, clusters.max() + 1))
    np.add.at(histogram, (columns.classes, clusters), 1)
    p = histogram / histogram.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return int(np.argmin(-np.log(np.sqrt(p[:-1] * p[-1]).sum(axis=1))))


def check_against_transcription(columns: Columns) -> None:
    """Stop if the vectorised algorithms and the line-by-line ones differ."""
    graph = spams_by_column if spams else setwise_from_scratch
    A = graph(columns.matrix).toarray()
    is_probe = columns.classes == columns.n_classes
    clusters = shc(A, columns)
    literal, n_literal = transcription.clusters_of_SHC(
        A, columns.classes + 1, columns.n_classes + 1, transcription.paper_fiedler
    )
    said, _ = transcription.CVC(
        columns.classes[~is_probe] + 1, is_probe.sum(), lambda *_: (literal, n_literal)
    )
    n_pairs = len(np.unique([clusters, literal], axis=1).T)
    if not n_pairs == n_literal == clusters.max() + 1 or said - 1 != label(clusters, columns):
        sys.exit("the vectorised algorithms are not those of tests/reference")


# ---------------------------------------------------------------------------- Other clusterers


def k_means(columns: Columns) -> np.ndarray:
    clusterer = KMeans(columns.n_classes, n_init=10, random_state=0)
    return clusterer.fit_predict(columns.matrix.T)


def spectral(columns: Columns) -> np.ndarray:
    graph = spams_at_once(columns.matrix)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the graph is not connected
        clusterer = SpectralClustering(
            columns.n_classes, affinity="precomputed", random_state=0
        )
        return clusterer.fit_predict(graph)


def ssc(columns: Columns) -> np.ndarray:
    """Sparse subspace clustering with its authors' defaults: no outliers, not affine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SSC(columns.n_classes, random_state=0).fit_predict(columns.matrix.T)


def the_paper(graph: Callable[[np.ndarray], sp.csr_array]) -> Callable[[Columns], np.ndarray]:
    """Algorithm 2 from scratch, on a graph from scratch."""
    return lambda columns: shc(graph(columns.matrix).toarray(), columns)


WITH_SPAMS: dict[str, Callable[[Columns], np.ndarray]] = {
    LITERAL: the_paper(spams_by_column),
    "the paper, SPAMS at once": the_paper(spams_at_once),
    "SpectralClustering, SPAMS at once": spectral,
}
WITHOUT: dict[str, Callable[[Columns], np.ndarray]] = {
    OWN_LASSO: the_paper(setwise_from_scratch),
    "k-means, 10 starts": k_means,
    "SSC by ADMM": ssc,
}
CLUSTERERS = (WITH_SPAMS if spams else {}) | WITHOUT
# Whose labels the others are compared with.
REFERENCE = LITERAL if spams else OWN_LASSO


# --------------------------------------------------------------------------------- Measuring


@dataclass
class Answers:
    """What one contender said of the first probes, and how long each took."""

    seconds: list[float] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)


def judges(
    case: Case, rivals: Mapping[str, Callable[[Columns], np.ndarray]] = CLUSTERERS
) -> dict[str, Callable[[int], Callable[[], int]]]:
    """For each contender, what makes the work of a probe."""

    def by_setwise(cut: str):
        how = replace(case.gallery.description, cut=CutRule.of(cut, "per_probe"))
        gallery = replace(case.gallery, description=how)

        def label_of(i: int) -> int:
            (seen,) = gallery.everything.views(case.probes[i]).values()
            return int(seen.clustered.distances.argmin())

        return lambda i: lambda: label_of(i)

    def by_clusters(cluster: Callable[[Columns], np.ndarray]):
        def work(i: int) -> Callable[[], int]:
            columns = case.with_probe(i)
            return lambda: label(cluster(columns), columns)

        return work

    ours = {f'setwise, cut="{cut}"': by_setwise(cut) for cut in CUTS}
    return ours | {name: by_clusters(cluster) for name, cluster in rivals.items()}


def measure(
    case: Case, limit: float, rivals: Mapping[str, Callable[[Columns], np.ndarray]] = CLUSTERERS
) -> dict[str, Answers]:
    """All contenders probe by probe, so that a busy machine is so for all of them.

    Those that have spent ``limit`` seconds are asked no more.
    """
    contenders = judges(case, rivals)
    answers = {name: Answers() for name in contenders}
    for i in range(len(case.probes)):
        works = {
            name: work(i)
            for name, work in contenders.items()
            if sum(answers[name].seconds) < limit
        }
        for name, (timing, code) in in_turns(works, repeats=3, budget=0.2).items():
            answers[name].seconds.append(timing.median)
            answers[name].labels.append(code)
        print(f"  probe {i + 1} of {len(case.probes)}", file=sys.stderr)
    return answers


def table_rows(name: str, problem: Problem, answers: dict[str, Answers], truth: np.ndarray):
    """Rows of one problem; ratios and agreements are over the probes both have judged."""
    size = f"{name} ({problem.source.split(':')[0]})"

    def ratio(found: Answers, cut: str) -> str:
        ours = answers[f'setwise, cut="{cut}"'].seconds
        times = [a / b for a, b in zip(found.seconds, ours, strict=False)]
        return f"{np.median(times):.3g}"

    def agreement(found: Answers, labels: Sequence[int]) -> str:
        pairs = list(zip(found.labels, labels, strict=False))
        return f"{sum(a == b for a, b in pairs)} of {len(pairs)}"

    for contender, found in answers.items():
        quartiles = map(float, np.quantile(found.seconds, [0.5, 0.25, 0.75]))
        yield [
            size,
            contender,
            str(Timing(*quartiles, len(found.seconds))),
            " / ".join(ratio(found, cut) for cut in CUTS),
            agreement(found, truth),
            agreement(found, answers[REFERENCE].labels),
        ]
    yield [size, "SHC as printed", seconds(problem.printed), "", "", ""]


def described(name: str, problem: Problem) -> str:
    n, d = len(problem.gallery), problem.n_columns
    return (
        f"{name}: {n} sets x {d} + {d} columns of {problem.gallery[0].shape[1]} features, "
        f"{len(np.unique(problem.gallery_labels))} classes; {problem.source}."
    )


NOTES = [
    "Seconds: median over probes (and quartiles), one thread, basis of the probe excluded. "
    "Everybody but setwise starts from scratch for every probe: that is the point.",
    "Times setwise: how many times slower than setwise with the paper's cut / the sweep cut "
    "(the default) / the exact cut; median over probes.",
    "The paper, literally: one spams.lasso per column on the dictionary of the others. SPAMS "
    "at once: one spams.lassoWeighted for all, the fastest way to call it, and the fairer "
    "rival. Setwise's lasso: the same from scratch, with the exact lasso of this package.",
    "Same label: as the literal paper gives the same probe, right or wrong.",
    "Slow contenders judge fewer of the same probes. k-means, SSC and spectral clustering get "
    "the number of classes as number of clusters. SSC: alpha = 20, at most 200 iterations.",
    "SHC as printed: the paper's own figure, on its data and its machine; not measured here.",
]


def warm_up() -> None:
    """Compile and load everything, and check the literal paper, on a synthetic problem.

    It is large enough for the sparse solvers, which the real ones use too.
    """
    sets, labels = face_like_sets(80, n_classes=40, rng=np.random.default_rng(0))
    halves = np.arange(0, 80, 2), np.arange(1, 80, 2)
    case = Case.of(of_sets(sets, labels, *halves, source="", n_columns=8, printed=0.0), 1)
    check_against_transcription(case.with_probe(0))
    for work in judges(case).values():
        work(0)()


def main() -> None:
    """Print the table and keep it, unless it is a part of the work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    by_name = {name.lower().replace("-", ""): name for name in PROBLEMS}
    parser.add_argument(
        "--only", nargs="+", choices=by_name, metavar="SIZE", help=f"{[*by_name]}"
    )
    parser.add_argument(
        "--quick", action="store_true", help="three probes at most, fewer of slow contenders"
    )
    args = parsed(parser)
    n_probes, limit = (3, 2.0) if args.quick else (10, 60.0)
    warm_up()
    rows, notes, raw = [], list(NOTES), {}
    for key in args.only or by_name:
        name, problem = by_name[key], PROBLEMS[by_name[key]]()
        print(described(name, problem), file=sys.stderr)
        case = Case.of(problem, n_probes)
        answers = measure(case, limit)
        rows += table_rows(name, problem, answers, case.truth)
        notes.append(described(name, problem))
        raw[name] = {"truth": case.truth.tolist()} | {
            contender: asdict(found) for contender, found in answers.items()
        }
    publish(
        "per_probe_part" if args.quick or args.only else "per_probe",
        "One probe, one classifier, at the sizes of the paper",
        notes,
        ["size", "classifier", "seconds", "times setwise", "right", "same label"],
        rows,
        probes=raw,
    )


if __name__ == "__main__":
    main()
