"""What a GPU gives: fitting, inserting, judging, beside the processor of the same machine.

    python benchmarks/device.py                     # everything, about ten minutes
    python benchmarks/device.py --only fit probes threads labels

* ceilings: how fast this GPU multiplies matrices of doubles and copies memory;
* fit: the exact lasso graph of synthetic face-like columns (400 features), the largest
  violation of its optimality over all columns and atoms, and how far from the floor it is;
* probes: one classifier over 10,000 columns, and the default ensemble on ETH-80;
* threads: the same without the GPU, on 1, 2, 4, 8 threads;
* labels: of all probes of the real datasets, with and without it.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
from joblib.externals.loky import get_reusable_executor

from datasets import load
from harness import face_like_sets, publish
from setwise import CVC, SetBatch
from setwise.basis import centred_svd_bases
from setwise.device import on_device
from setwise.features import unit_rows
from setwise.graph import LassoGraph

PARTS = ("ceilings", "fit", "probes", "ensemble", "threads", "labels")
THREADS = (1, 2, 4, 8, 16)
DATASETS = ("eth80", "yaleb", "coil20", "hands", "vowels")


def best_of(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Shortest time of several runs, after one to warm up where there are several."""
    took = []
    for _ in range(repeats + (repeats > 1)):
        started = time.perf_counter()
        result = work()
        took.append(time.perf_counter() - started)
    return min(took[repeats > 1 :]), result


def machine() -> str:
    """The GPU and the processors beside it."""
    import torch

    return f"machine: {torch.cuda.get_device_name()}, {os.cpu_count()} cores"


def end_processes() -> None:
    """Wait for joblib's processes, so that their time counts as this benchmark's own."""
    get_reusable_executor().shutdown(wait=True)


def ceilings() -> tuple[float, float]:
    """TFLOP/s of products of doubles, and TB/s of a copy, on this GPU."""
    import torch

    square = torch.randn(8192, 8192, dtype=torch.float64, device="cuda")
    long = torch.randn(2**30, dtype=torch.float32, device="cuda")

    def timed(work: Callable[[], Any]) -> float:
        work()
        torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(5):
            work()
        torch.cuda.synchronize()
        return (time.perf_counter() - started) / 5

    flops = 2 * 8192**3 / timed(lambda: square @ square) / 1e12
    return flops, 2 * 4 * 2**30 / timed(long.clone) / 1e12


def violation(columns: np.ndarray, codes: Any, alpha: float) -> float:
    """Largest violation of optimality, over all columns and atoms, in doubles, on the GPU."""
    import torch

    doubles = np.ascontiguousarray(columns.T, dtype=np.float64)
    left = codes.residuals(doubles, np.arange(len(doubles)))
    owners = np.repeat(np.arange(len(codes)), codes.counts)
    rows, residuals, owner, atoms, signs = (
        torch.from_numpy(array).cuda()
        for array in (doubles, left, owners, codes.atoms, np.sign(codes.values))
    )
    worst = 0.0
    for i in range(0, len(rows), 8192):
        gradients = residuals[i : i + 8192] @ rows.T
        n = len(gradients)
        gradients[torch.arange(n), torch.arange(i, i + n)] = 0.0
        here = (owner >= i) & (owner < i + n)
        place = owner[here] - i, atoms[here]
        worst = max(worst, float((gradients[place] - alpha * signs[here]).abs().max()))
        gradients[place] = 0.0
        worst = max(worst, float(gradients.abs().max()) - alpha)
    return worst


def fits(n_jobs: int, flops: float, with_processor: bool) -> list[list[str]]:
    """Fitting, with and without the GPU."""
    rows = []
    LassoGraph().solve(face_like_columns(5_000), n_jobs=n_jobs)  # compiles
    for n, alpha in ((10_000, 0.05), (30_000, 0.05), (100_000, 0.05), (10_000, 0.01)):
        columns = face_like_columns(n)
        graph = LassoGraph(alpha=alpha)
        with on_device("cuda"):
            seconds, solved = best_of(lambda g=graph, c=columns: g.solve(c), 2)
        floor = 2 * n * n * columns.shape[0] / flops / 1e12  # one certificate
        plain = np.nan
        if with_processor:
            plain, _ = best_of(lambda g=graph, c=columns: g.solve(c, n_jobs=n_jobs), 1)
        worst = violation(solved.columns, solved.codes, alpha)
        rows.append(
            [f"{n:,}", f"{alpha:g}", f"{seconds:.2f} s", f"{plain:.1f} s",
             f"{plain / seconds:.0f}", f"{worst:.0e}", f"{seconds / floor:.1f}",
             f"{solved.codes.counts.mean():.0f}"]
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def face_like_columns(n: int) -> np.ndarray:
    """Centred bases of ten columns of face-like sets, ten sets a class."""
    sets, _ = face_like_sets(n // 10, n_classes=n // 100, rng=np.random.default_rng(0))
    return np.hstack([centred_svd_bases(unit_rows(s), [10])[0] for s in sets])


def synthetic(n_sets: int) -> tuple[SetBatch, np.ndarray]:
    """Face-like sets of 20 vectors of 400 features, ten sets a class."""
    rng = np.random.default_rng(0)
    sets, labels = face_like_sets(n_sets, n_classes=n_sets // 10, rng=rng)
    return SetBatch.from_list(sets), labels


def rate(classifier: CVC, probes: SetBatch) -> tuple[float, np.ndarray]:
    """Probes judged in a second, and their labels; in processes, if joblib says so."""
    classifier.predict(probes[np.arange(min(64, len(probes)))])
    seconds, labels = best_of(lambda: classifier.predict(probes), 1)
    return len(probes) / seconds, labels


def one_classifier(n_jobs: int) -> list[list[str]]:
    """Judging by one classifier of 10,000 columns."""
    sets, labels = synthetic(1250)
    is_gallery = np.arange(1250) % 5 > 0
    gallery, probes = sets[np.flatnonzero(is_gallery)], sets[np.flatnonzero(~is_gallery)]
    probes = SetBatch.join([probes] * 8)
    how = {"dims": (10,), "representations": [("plain", "centred")], "evidence": ("clusters",)}
    plain = CVC(**how, weights=None, n_jobs=n_jobs).fit(gallery, labels[is_gallery])
    device = CVC(**how, weights=None, n_jobs=n_jobs, device="cuda")
    device.gallery_ = plain.gallery_
    with joblib.parallel_config("loky", n_jobs=n_jobs):
        with_gpu, found = rate(device, probes)
        without, expected = rate(plain, probes)
    same, few = int((found == expected).sum()), probes
    return [_rates("one classifier, 10,000 columns", with_gpu, without, same, len(few))]


def _rates(name: str, with_gpu: float, without: float, n_same: int, n: int) -> list[str]:
    return [name, f"{with_gpu:.0f}", f"{without:.0f}", f"{n_same} of {n}"]


def ensemble(n_jobs: int) -> list[list[str]]:
    """Judging ETH-80 by the default ensemble."""
    data = load("eth80")
    train, test = data.folds[0]
    train, test = np.asarray(train), np.asarray(test)
    plain = CVC(random_state=0, n_jobs=n_jobs).fit(data.sets[train], data.labels[train])
    device = CVC(random_state=0, n_jobs=n_jobs, device="cuda")
    device.gallery_ = plain.gallery_
    probes = SetBatch.join([data.sets[test]] * 16)
    with joblib.parallel_config("loky", n_jobs=n_jobs):
        with_gpu, found = rate(device, probes)
        without, expected = rate(plain, probes)
    same = int((found == expected).sum())
    return [_rates("default ensemble, ETH-80", with_gpu, without, same, len(probes))]


def threads() -> list[list[str]]:
    """Probes judged in a second on more and more threads, and in more and more processes."""
    data = load("eth80")
    train, test = map(np.asarray, data.folds[0])
    clf = CVC(random_state=0).fit(data.sets[train], data.labels[train])
    probes = SetBatch.join([data.sets[test]] * 8)
    rows = []
    for kind in ("threads", "processes"):
        rates = []
        for n_jobs in THREADS:
            backend = "loky" if kind == "processes" and n_jobs > 1 else "threading"
            clf.n_jobs = n_jobs
            with joblib.parallel_config(backend, n_jobs=n_jobs):
                rates.append(rate(clf, probes)[0])
        shares = [f"{one / rates[0]:.2f}" for one in rates]
        rows.append([f"default ensemble, ETH-80, {kind}", *shares, f"{rates[0]:.1f}"])
        print(rows[-1], flush=True)
    return rows


def same_labels(n_jobs: int) -> list[list[str]]:
    """Labels of the real datasets' probes with and without the GPU."""
    rows = []
    for name in DATASETS:
        data, n_same, n_all = load(name), 0, 0
        for train, test in data.folds[:2]:
            train, test = np.asarray(train), np.asarray(test)
            fitted = [
                CVC(random_state=0, n_jobs=n_jobs, device=device).fit(
                    data.sets[train], data.labels[train]
                )
                for device in (None, "cuda")
            ]
            one, other = (clf.predict(data.sets[test]) for clf in fitted)
            n_same, n_all = n_same + int((one == other).sum()), n_all + len(test)
        rows.append([name, f"{n_same} of {n_all}"])
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--gpu-alone", action="store_true", help="do not fit without it")
    parser.add_argument("--even-if-busy", action="store_true", help="look, do not publish")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    jobs, chosen = arguments.jobs, arguments.only
    flops, copy = ceilings()
    print(f"{flops:.1f} TFLOP/s of doubles, {copy:.2f} TB/s copied", flush=True)
    processor, many = f"processor, {jobs} threads", f"processor, {jobs} processes"
    if "fit" in chosen:
        notes = [
            machine(),
            f"ceilings of this GPU: {flops:.1f} TFLOP/s of doubles, {copy:.2f} TB/s copied",
            "to the floor: times one product of all columns with all, the least a proof takes",
        ]
        columns = ["columns", "alpha", "GPU", processor, "times faster", "largest violation",
                   "to the floor", "atoms of a code"]  # fmt: skip
        rows = fits(jobs, flops, not arguments.gpu_alone)
        publish("device_fit", "The exact lasso graph on a GPU", notes, columns, rows)
    rows = one_classifier(jobs) if "probes" in chosen else []
    print(*rows, flush=True)
    rows += ensemble(jobs) if "ensemble" in chosen else []
    if rows:
        columns = ["classifier", f"GPU and {jobs} processes", many, "same label"]
        end_processes()
        publish("device_probes", "Probes judged in a second", [machine()], columns, rows)
    if "threads" in chosen:
        notes = [
            "times one thread, which judges as many in a second as the last column says",
            'processes: within joblib.parallel_config("loky", n_jobs=8)',
        ]
        columns, rows = ["classifier", *map(str, THREADS), "on one"], threads()
        end_processes()
        publish("device_threads", "More threads", [machine(), *notes], columns, rows)
    if "labels" in chosen:
        rows, columns = same_labels(jobs), ["data", "same label"]
        notes = [machine(), "the default ensemble; two folds of each dataset's protocol"]
        publish(
            "device_labels",
            "Labels with a GPU as without",
            notes,
            columns,
            rows,
            has_times=False,
        )


if __name__ == "__main__":
    main()
