"""Lasso graphs solved on a device, and probes inserted there, many at once.

What comes back is the same as from the processor, kept in the same way: a gallery that was
solved on a device can be saved, and asked without one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import FloatArray, IntArray
from setwise.device import Device, DeviceAtoms, code_all, insert_all, pools_of_all
from setwise.graph.base import Graph, graph_of_codes
from setwise.graph.lasso_gallery import GramLasso, LassoGallery, PooledLasso
from setwise.lasso import Codes, Pools, code_blocks, code_by_gram
from setwise.lasso.pools import POOL_SIZE, SLACK


def solved_by_gram_on(
    device: Device, graph: Graph, columns: FloatArray, alpha: float
) -> GramLasso:
    """As :meth:`setwise.graph.lasso_gallery.GramLasso.solved`."""
    columns = np.asarray(columns, dtype=np.float64)
    with device.exclusive(f"the lasso graph of {columns.shape[1]} columns"):
        found = code_all(DeviceAtoms.of(device, columns.T), alpha)
    gram, codes = columns.T @ columns, found.codes
    left = np.flatnonzero(~found.is_solved)
    if len(left):
        rank = min(columns.shape)
        codes = codes.replaced(left, code_by_gram(gram, alpha, left, rank=rank))
    return GramLasso.of_codes(graph, columns, alpha, codes, gram)


def solved_by_pools_on(
    device: Device, graph: Graph, columns: FloatArray, alpha: float
) -> PooledLasso:
    """As :meth:`setwise.graph.lasso_gallery.PooledLasso.solved`."""
    rows = np.ascontiguousarray(columns.T, dtype=np.float32)
    with device.exclusive(f"the lasso graph of {len(rows)} columns"):
        atoms = DeviceAtoms.of(device, rows)
        found = code_all(atoms, alpha)
        residuals = device.get(device.xp.astype(found.residuals, device.xp.float32))
        places, counts, cutoffs = pools_of_all(atoms, found.residuals, POOL_SIZE)
    pools = Pools(places, counts, np.maximum(alpha - cutoffs - SLACK, 0.0))
    codes, left = found.codes, np.flatnonzero(~found.is_solved)
    if len(left):
        new, residuals[left], new_pools = code_blocks(
            rows, rows[:0], left, alpha, Codes.none(len(left)), rows[left]
        )
        codes, pools = codes.replaced(left, new), pools.replaced(left, new_pools)
    adjacency = graph_of_codes(codes)
    return PooledLasso(graph, rows.T, adjacency, alpha, codes, residuals, pools)


def recoded_on(
    device: Device, gallery: LassoGallery, probes: list[FloatArray]
) -> list[tuple[IntArray, Codes]]:
    """As :meth:`setwise.graph.lasso_gallery.LassoGallery.recoded`, for each of many probes."""
    dtype = gallery.columns.dtype  # in which a gallery of many columns is kept, probes too
    rows = [probe.T.astype(dtype).astype(np.float64) for probe in probes]
    with device.exclusive(f"inserting {len(probes)} probes"):
        atoms, codes, residuals = device.cached(gallery, lambda: _on_device(device, gallery))
        inserted = insert_all(atoms, codes, residuals, rows, gallery.alpha)
    return [
        (targets, found.codes) if found.is_solved.all() else gallery.recoded(probe)
        for probe, (targets, found) in zip(probes, inserted, strict=True)
    ]


def _on_device(
    device: Device, gallery: LassoGallery
) -> tuple[DeviceAtoms, tuple[Any, Any, Any], Any]:
    """Columns, codes and residuals of a gallery, on the device."""
    rows: npt.NDArray[Any] = np.ascontiguousarray(gallery.columns.T)
    atoms, codes = DeviceAtoms.of(device, rows), gallery.codes
    width = max(1, int(codes.counts.max(initial=0)))
    is_used = np.arange(width) < codes.counts[:, None]
    table, values = np.zeros(is_used.shape, dtype=np.int64), np.zeros(is_used.shape)
    table[is_used], values[is_used] = codes.atoms, codes.values
    residuals = codes.residuals(rows.astype(np.float64), np.arange(len(rows)))
    on_device = device.put(table), device.put(np.sign(values)), device.put(values)
    return atoms, on_device, device.put(residuals)
