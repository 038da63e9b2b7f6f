"""Indexes over set means of synthetic identities: what they find, and what they cost.

python benchmarks/indexes.py [--rows 2000 20000 200000] [--only exact faiss ...]

Two sets of five images per class, 512 numbers; probes are third sets of gallery classes. Every
index runs in a process of its own, on one thread, and its queries alternate with exact products
of the same rows: their ratio says more than times of a machine that others use too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import numpy as np

from harness import publish, seconds
from identities import set_means

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests start a PostgreSQL
N, N_PROBES = 128, 50
# With what each imports, which is neither timed nor counted.
NAMES = {
    "exact": (),
    "faiss": ("faiss", "setwise.io.tensors"),
    "usearch, 128": ("usearch.index",),
    "usearch, 2048": ("usearch.index",),
    "milvus-lite": ("pymilvus", "milvus_lite.adapter.grpc.server"),
    "pgvector": ("pg8000", "tests.index.postgres_server"),
}
COLUMNS = (
    "index", "rows", "build", "one query", "share of exact", "recall at 128",
    "sets of the right class", "memory beside rows", "on disk", "one more", "one fewer",
)  # fmt: skip


class Ours:
    """An index of setwise, as rivals are."""

    def __init__(self, index, rows, keys, folder):
        self.rows, self.keys, self.folder = rows, keys, folder
        self._keep(index.build(rows, keys))
        self.nearest = self.built.nearest

    def add(self, rows, keys):
        self._keep(self.built.changed(rows, keys))

    def remove(self, key):
        self._keep(self.built.changed(self.rows, self.keys))

    def _keep(self, built):
        """As saving the gallery does."""
        from setwise.io.tensors import write_tensors

        built.publish()
        if built.arrays():
            write_tensors(self.folder / "codes", {}, built.arrays())
        self.built = built

    @property
    def n_bytes(self):
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    def close(self):
        if "milvus_lite" in sys.modules:  # or it writes its files again when all ends
            import_module("milvus_lite").server_manager_instance.release_all()


class InPostgres(Ours):
    """The index in a PostgreSQL, which is a server of its own."""

    def __init__(self, rows, keys, folder):
        from tests.index.postgres_server import postgres

        from setwise.index import PgvectorIndex

        self.server = postgres(folder)
        self.index = PgvectorIndex(self.server.__enter__(), timeout_s=600)
        self.began = time.perf_counter()  # the server is no part of the index
        super().__init__(self.index, rows, keys, folder)

    @property
    def n_bytes(self):
        with self.index._cursor() as cursor:
            cursor.execute("select pg_total_relation_size('setwise')")
            return cursor.fetchone()[0]

    def close(self):
        self.server.__exit__(None, None, None)


def built(name: str, rows: np.ndarray, keys: np.ndarray, folder: Path):
    """An engine that holds the rows."""
    import index_rivals as rivals
    from setwise.index import ExactIndex, FaissIndex, MilvusIndex

    if name == "exact":
        return Ours(ExactIndex(), rows, keys, folder)
    if name == "faiss":
        return Ours(FaissIndex(), rows, keys, folder)
    if name == "milvus-lite":
        return Ours(MilvusIndex(str(folder / "m.db"), timeout_s=600), rows, keys, folder)
    kinds = {
        "usearch, 128": rivals.QuickUsearch,
        "usearch, 2048": rivals.Usearch,
        "pgvector": InPostgres,
    }
    return kinds[name](rows, keys, folder)


def timed(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(name: str, means: np.ndarray) -> dict:
    """Everything about one engine with one gallery; in a process of its own."""
    rows = np.ascontiguousarray(means[:, :2].reshape(-1, means.shape[-1]))
    keys = np.arange(len(rows))
    classes = np.random.default_rng(1).choice(len(means), N_PROBES, replace=False)
    for module in ("index_rivals", "setwise.index", *NAMES[name]):
        import_module(module)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        started = time.perf_counter()
        engine = built(name, rows, keys, Path(folder))
        began = getattr(engine, "began", started)
        result = {"build": time.perf_counter() - began}
        engine.nearest(means[0, 2], N)
        took, exact, recalls, own = [], [], [], []
        for place in classes:
            query = means[place, 2]
            started = time.perf_counter()
            found = engine.nearest(query, N)
            took.append(time.perf_counter() - started)
            started = time.perf_counter()
            cosines = rows @ query
            nearest = np.argpartition(cosines, len(rows) - N)[len(rows) - N :]
            exact.append(time.perf_counter() - started)
            recalls.append(np.isin(nearest, found).mean())
            own.append(np.isin([2 * place, 2 * place + 1], found).mean())
        result |= {"query": np.median(took), "share": np.median(took) / np.median(exact)}
        result |= {"recall": np.mean(recalls), "own": np.mean(own)}
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result |= {"memory": (after - before) * 1024, "disk": engine.n_bytes}
        grown, more_keys = np.vstack([rows, means[:1, 2]]), np.arange(len(rows) + 1)
        result["add"] = timed(lambda: engine.add(grown, more_keys))
        result["remove"] = timed(lambda: engine.remove(len(rows)))
        engine.close()
    return {key: float(value) for key, value in result.items()}


def measured(name: str, file: Path) -> dict:
    """The same, of a process of its own."""
    command = [sys.executable, __file__, "--measure", name, str(file)]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        command, env=os.environ | one_thread, stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(run.stdout.splitlines()[-1])


def cells(name: str, n_rows: int, result: dict) -> list[str]:
    """One line of the table."""
    return [
        name, f"{n_rows:,}", seconds(result["build"]), seconds(result["query"]),
        f"{result['share']:.2f}", f"{result['recall']:.4f}", f"{100 * result['own']:.0f} %",
        f"{result['memory'] / 2**20:.0f} MiB", f"{result['disk'] / 2**20:.0f} MiB",
        seconds(result["add"]), seconds(result["remove"]),
    ]  # fmt: skip


def markdown(cell: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cell)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=(2_000, 20_000, 200_000))
    parser.add_argument("--only", nargs="+", default=[*NAMES], choices=NAMES)
    parser.add_argument("--measure", nargs=2, metavar=("NAME", "FILE"))
    options = parser.parse_args()
    if options.measure:
        name, file = options.measure
        print(json.dumps(measure(name, np.load(file))))
        return
    lines, records = [], []
    print(markdown(COLUMNS), markdown(["---"] * len(COLUMNS)), sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in options.rows:
            file = Path(folder) / "means.npy"
            np.save(file, set_means(n_rows // 2, 3))
            for name in options.only:
                result = measured(name, file)
                lines.append(cells(name, n_rows, result))
                records.append({"name": name, "rows": n_rows, **result})
                print(markdown(lines[-1]), flush=True)
    notes = ["one thread; memory of pgvector is its server's, which is not counted"]
    publish(
        "indexes", "Indexes over set means", notes, COLUMNS, lines,
        has_times=False,  # a database's server would count as somebody else
        records=records,
    )  # fmt: skip


if __name__ == "__main__":
    main()
