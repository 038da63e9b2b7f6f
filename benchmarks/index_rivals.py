"""Engines that setwise has no index for, measured beside those it has.

Each is built with rows and keys, and has nearest(query, n), add(rows, keys) with one
more, remove(key), close() and n_bytes.
"""

from __future__ import annotations

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
