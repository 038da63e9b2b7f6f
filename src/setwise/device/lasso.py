"""Exact lasso codes of thousands of columns at once.

A round, for all columns that are not solved yet:

1. *Pools*: the atoms of a column's present code, and those of largest gradient.
2. *Descent*: greedy, on the pool, in single precision, finds most of the support.
3. *Exact step*: on that support with those signs, the optimum is one linear system in double
   precision; atoms whose sign does not hold are dropped.
4. *Certificate*: one product of all residuals with all atoms. Where no gradient exceeds the
   penalty, the code is optimal. Elsewhere it ranks the atoms for the next round.

After a few rounds single atoms are missing, too few for single precision: violators then enter
the support itself, without 1 and 2. Inserted probes begin there. Columns that do not settle
(copies of each other, mostly) are not ``is_solved``, and left to the processor's solver.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import FloatArray, IntArray
from setwise.device.devices import Device, DeviceAtoms, DeviceCodes
from setwise.lasso import Codes

# A pool has at least twice the atoms of the longest code in its block, within these sizes.
_FIRST_POOL, _SMALLEST_POOL, _LARGEST_POOL = 256, 64, 1024
# Descent stops where no coefficient would move by more, or after so many steps per atom.
_STILL, _STEPS_PER_ATOM = 1e-6, 64
# Rounds with pools, quick rounds, and rounds in all. Quick ones let many violators in and drop
# all wrong signs at once, and may go in circles; the others are careful.
_POOL_ROUNDS, _QUICK_ROUNDS, _ROUNDS = 4, 12, 60
# A row of gradients is searched in so many strips, tiles of which take turns.
_STRIPS, _TILE = 16, 64
# Violators that enter in a careful round; how often a round drops atoms and solves again.
_CAREFUL, _DROPS = 4, 6
# How far a gradient may be beyond the penalty: rounding, of unit vectors.
TOLERANCE = 1e-10
# Codes have room for a multiple of so many atoms; at most so many columns, of about as long
# codes, are solved together.
_ROOM, _BLOCK = 32, 8192
_SAMPLE, _CHOOSE_TILE = 4096, 1024


class _Problems:
    """Columns ``owns`` of ``atoms`` that are being coded, all arrays on the device.

    Every column may use the first ``n_shared`` atoms, and those of its row of ``extra``, -1
    where there are fewer.
    """

    def __init__(
        self, atoms: DeviceAtoms, n_shared: int, owns: Any, extra: Any, smallest_pool: int
    ) -> None:
        self.atoms, self.n_shared, self.smallest_pool = atoms, n_shared, smallest_pool
        self.owns, self.extra = owns, extra
        self.n, new = int(owns.shape[0]), atoms.device.new
        self.support = new((self.n, _ROOM), "int64")
        self.signs, self.values = (new((self.n, _ROOM), "float64") for _ in range(2))
        self.residuals = new((self.n, int(atoms.rows.shape[1])), "float64")
        self.largest, self.is_solved = new((self.n,), "float64"), new((self.n,), "bool")

    def start(self, places: Any, support: Any, signs: Any, values: Any) -> None:
        """Set the codes of some columns; a sign of zero marks room that is not used."""
        width = int(support.shape[1])
        missing = -(-width // _ROOM) * _ROOM - int(self.support.shape[1])
        if missing > 0:
            new, xp = self.atoms.device.new, self.atoms.device.xp
            none, no_atoms = new((self.n, missing), "float64"), new((self.n, missing), "int64")
            self.support = xp.concat([self.support, no_atoms], axis=1)
            self.signs = xp.concat([self.signs, none], axis=1)
            self.values = xp.concat([self.values, none], axis=1)
        self.signs[places] = self.values[places] = 0.0
        self.support[places, :width] = support
        self.signs[places, :width], self.values[places, :width] = signs, values

    def solve(self, penalty: float) -> None:
        """Rounds, each for what is left, until nothing is."""
        xp = self.atoms.device.xp
        waiting = xp.arange(self.n, device=self.owns.device)
        for block in self._blocks(waiting):
            self._descend(block, self._rough_gradients(block), penalty)
        for number in range(_ROUNDS):
            if not waiting.shape[0]:
                break
            left = []
            for block in self._blocks(waiting):
                chosen, gradients = self._round(block, penalty, number >= _QUICK_ROUNDS)
                left.append(chosen)
                if number < _POOL_ROUNDS and chosen.shape[0]:
                    self._descend(chosen, gradients, penalty)
            waiting = xp.concat(left)

    def _rough_gradients(self, chosen: Any) -> Any:
        """At the start, for pools; in single precision, or less."""
        xp, width = self.atoms.device.xp, self._width(chosen)
        left = xp.astype(self.residuals[chosen], xp.float32)
        support, signs = self.support[chosen, :width], self.signs[chosen, :width]
        with self.atoms.device.tf32():
            return self._gradients(left, chosen, support, signs)

    def _blocks(self, waiting: Any) -> list[Any]:
        """Columns in the order of how long their codes are, as many as fit."""
        xp = self.atoms.device.xp
        waiting = waiting[xp.argsort(_count(xp, self.signs[waiting]), stable=True)]
        n, width = int(waiting.shape[0]), int(self.support.shape[1])
        n_features = int(self.atoms.rows.shape[1])
        pool = max(self.smallest_pool, width)
        each = 8 * (3 * self.n_shared + (width + pool) * (width + pool + 2 * n_features))
        size = max(1, min(_BLOCK, self.atoms.device.block_bytes // each))
        return [waiting[i : i + size] for i in range(0, n, size)]

    def _round(self, chosen: Any, penalty: float, is_careful: bool) -> tuple[Any, Any]:
        """Solve some columns on their supports; returns the others, and their gradients."""
        xp, rows = self.atoms.device.xp, self.atoms.rows
        width = self._width(chosen)
        support, signs = self.support[chosen, :width], self.signs[chosen, :width]
        x = rows[self.owns[chosen]]
        D = rows[support] * xp.astype(signs != 0, xp.float64)[:, :, None]
        values, signs, is_settled = _on_supports(
            self.atoms.device, D, x, signs, self.values[chosen, :width], penalty, is_careful
        )
        residuals = x - xp.matmul(values[:, None, :], D)[:, 0]
        gradients = self._gradients(residuals, chosen, support, signs)
        top, place = self._strongest(gradients)
        largest = xp.max(xp.abs(top), axis=1)
        is_done = is_settled & (largest <= penalty + TOLERANCE)
        self.residuals[chosen], self.largest[chosen] = residuals, largest
        self.values[chosen, :width], self.signs[chosen, :width] = values, signs
        self.is_solved[chosen] = is_done
        left = xp.nonzero(~is_done)[0]
        chosen, gradients, place = chosen[left], gradients[left], place[left]
        if chosen.shape[0]:
            top, n_enter = top[left], _STRIPS
            if is_careful:  # no atom enters where the optimum on the support is not reached
                top, n_enter = xp.where(is_settled[left][:, None], top, 0.0), _CAREFUL
            place = self._let_in(chosen, top, place, penalty, n_enter)
            gradients[xp.arange(len(left), device=left.device)[:, None], place] = 0.0
        return chosen, gradients

    def _width(self, chosen: Any) -> int:
        """Room that the codes of some columns need: they are packed to the front."""
        used = int(self.atoms.device.xp.max(_count(self.atoms.device.xp, self.signs[chosen])))
        return max(_ROOM, -(-used // _ROOM) * _ROOM)

    def _descend(self, chosen: Any, gradients: Any, penalty: float) -> None:
        """Continue some columns from where descent on a pool of likely atoms ends."""
        device, rough = self.atoms.device, self.atoms.rough
        xp, b, width = device.xp, int(chosen.shape[0]), self._width(chosen)
        size = self.smallest_pool
        while size < min(2 * width, _LARGEST_POOL):
            size *= 2
        pools, a = device.new((b, size), "int64"), device.new((b, size), "float32")
        width = min(width, size)
        pools[:, :width] = self.support[chosen, :width]
        a[:, :width] = xp.astype(self.values[chosen, :width], xp.float32)
        counts = _count(xp, self.signs[chosen, :width])
        self._fill(pools, counts, gradients, chosen)
        D = rough[pools]
        H = xp.matmul(D, xp.permute_dims(D, (0, 2, 1)))
        left = xp.astype(self.residuals[chosen], xp.float32)
        g = xp.matmul(D, left[:, :, None])[:, :, 0]
        device.run(
            "descend", b, H, g, a, counts, penalty, _STILL, _STEPS_PER_ATOM * size,
            SIZE=size, num_warps=4,
        )  # fmt: skip
        width = max(1, int(xp.max(_count(xp, a))))
        used = device.largest(xp.abs(a), width)
        a = xp.astype(xp.take_along_axis(a, used, axis=1), xp.float64)
        order = xp.argsort(xp.astype(a == 0, xp.int64), axis=1, stable=True)
        used, a = (xp.take_along_axis(x, order, axis=1) for x in (used, a))
        self.start(chosen, xp.take_along_axis(pools, used, axis=1), xp.sign(a), a)

    def _fill(self, pools: Any, counts: Any, gradients: Any, chosen: Any) -> None:
        """Fill pools with atoms of large gradient, behind the atoms they have."""
        xp = self.atoms.device.xp
        before = xp.asarray(counts, copy=True)
        _fill(self.atoms.device, pools, counts, gradients, self.owns[chosen])
        if int(gradients.shape[1]) > self.n_shared:
            slots = xp.arange(pools.shape[1], device=pools.device)
            is_new = (slots >= before[:, None]) & (slots < counts[:, None])
            pools[:] = xp.where(is_new, self._atoms_at(pools, chosen), pools)

    def _atoms_at(self, places: Any, chosen: Any) -> Any:
        """Numbers of the atoms at some places of the rows of gradients."""
        xp, n_extra = self.atoms.device.xp, int(self.extra.shape[1])
        if not n_extra:
            return places
        beyond = xp.clip(places - self.n_shared, 0, n_extra - 1)
        extra = xp.take_along_axis(self.extra[chosen], beyond, axis=1)
        return xp.where(places < self.n_shared, places, extra)

    def _gradients(self, residuals: Any, chosen: Any, support: Any, signs: Any) -> Any:
        """Of all atoms that each may use, zero for those in use and the column itself."""
        xp, n = self.atoms.device.xp, self.n_shared
        is_rough = residuals.dtype == xp.float32
        rows = self.atoms.rough if is_rough else self.atoms.rows
        shared = xp.matmul(residuals, rows[:n].T)
        own = self.owns[chosen]
        each = xp.nonzero(own < n)[0]
        shared[each, own[each]] = 0.0
        row, slot = xp.nonzero((signs != 0) & (support < n))
        shared[row, support[row, slot]] = 0.0
        extra = self.extra[chosen]
        if not extra.shape[1]:
            return shared
        is_there = (extra >= 0) & (extra != own[:, None])
        more = xp.matmul(rows[xp.where(is_there, extra, 0)], residuals[:, :, None])[:, :, 0]
        in_use = (extra[:, :, None] == support[:, None, :]) & (signs != 0)[:, None, :]
        more = xp.where(is_there & ~xp.any(in_use, axis=2), more, 0.0)
        return xp.concat([shared, more], axis=1)

    def _strongest(self, gradients: Any) -> tuple[Any, Any]:
        """A few of the largest gradients of each row, and where they are."""
        device, (n, width) = self.atoms.device, map(int, gradients.shape)
        values, places = device.new((n, _STRIPS), "float64"), device.new((n, _STRIPS), "int64")
        device.run("strongest", n, gradients, values, places, width, STRIPS=_STRIPS, TILE=_TILE)
        top = device.xp.take_along_axis(gradients, places, axis=1)
        # A short row leaves strips empty.
        return device.xp.where(values > 0, top, 0.0), places

    def _let_in(self, chosen: Any, top: Any, place: Any, penalty: float, n_enter: int) -> Any:
        """Put the worst violators into the supports, packed to the front; where they were."""
        xp = self.atoms.device.xp
        first = xp.argsort(-xp.abs(top), axis=1, stable=True)[:, :n_enter]
        top, place = (xp.take_along_axis(x, first, axis=1) for x in (top, place))
        enters = xp.where(xp.abs(top) > penalty + TOLERANCE, xp.sign(top), 0.0)
        entering = self._atoms_at(place, chosen)
        support = xp.concat([self.support[chosen], entering], axis=1)
        signs = xp.concat([self.signs[chosen], enters], axis=1)
        values = xp.concat([self.values[chosen], xp.zeros_like(enters)], axis=1)
        width = max(1, int(xp.max(_count(xp, signs))))
        order = xp.argsort(xp.astype(signs == 0, xp.int64), axis=1, stable=True)[:, :width]
        packed = (xp.take_along_axis(x, order, axis=1) for x in (support, signs, values))
        self.start(chosen, *packed)
        return place

    def found(self) -> DeviceCodes:
        """What was found, on the host, atoms ascending."""
        device, xp = self.atoms.device, self.atoms.device.xp
        key = xp.where(self.values != 0, self.support, len(self.atoms))  # unused room last
        order = xp.argsort(key, axis=1, stable=True)
        atoms, values = (
            xp.take_along_axis(x, order, axis=1) for x in (self.support, self.values)
        )
        is_used = values != 0
        arrays = _count(xp, values), atoms[is_used], values[is_used]
        largest, is_solved = device.get(self.largest), device.get(self.is_solved)
        return DeviceCodes(Codes(*map(device.get, arrays)), self.residuals, largest, is_solved)


def _count(xp: Any, values: Any) -> Any:
    """How many values of each row are not zero."""
    return xp.sum(xp.astype(values != 0, xp.int64), axis=1)


def _fill(device: Device, pools: Any, counts: Any, gradients: Any, owns: Any) -> Any:
    """Fill pools, in place, with places of large gradients; returns what no other exceeds."""
    b, n = map(int, gradients.shape)
    cutoffs = device.new((b,), str(gradients.dtype).rpartition(".")[2])
    stride = -(-n // _SAMPLE)
    share = 0.95 if stride == 1 else 0.8  # a sample says how many there are approximately
    device.run(
        "choose", b, gradients, owns, pools, counts, cutoffs, n, stride, share,
        MOST=int(pools.shape[1]), SAMPLE=_SAMPLE, TILE=_CHOOSE_TILE,
    )  # fmt: skip
    return cutoffs


def _on_supports(
    device: Device, D: Any, x: Any, signs: Any, values: Any, penalty: float, is_careful: bool
) -> tuple[Any, Any, Any]:
    """Codes on given atoms with given signs, without those whose sign does not hold.

    Careful, each goes from its ``values`` only as far as the first to reach zero, which is
    dropped: the objective falls with every step. Returns values, signs, and whether all kept
    their sign.
    """
    xp = device.xp
    gram = xp.matmul(D, xp.permute_dims(D, (0, 2, 1)))
    products = xp.matmul(D, x[:, :, None])[:, :, 0]
    is_settled = signs[:, 0] != signs[:, 0]
    eye = device.put(np.eye(signs.shape[1]))
    todo = xp.arange(signs.shape[0], device=x.device)
    for _ in range(_DROPS):
        sign, value = signs[todo], values[todo]
        is_in = sign != 0
        pairs = is_in[:, :, None] & is_in[:, None, :]
        matrices = xp.where(pairs, gram[todo], 0.0) + eye * (~is_in)[:, :, None]
        right = xp.where(is_in, products[todo] - penalty * sign, 0.0)
        found, is_definite = device.solve_definite(matrices, right)
        is_wrong = goes = is_in & (found * sign <= 0)
        if is_careful:
            way = value - found
            reach = xp.where(is_wrong, value / xp.where(way == 0, 1.0, way), 1.0)
            stride = xp.min(reach, axis=1, keepdims=True)
            goes = is_wrong & (reach <= stride)
            found = value + stride * (found - value)
        # Dependent atoms: new ones, which have no value yet, go again.
        goes = xp.where(is_definite[:, None], goes, is_in & (value == 0))
        found = xp.where(is_definite[:, None], found, value)
        values[todo], signs[todo] = xp.where(goes, 0.0, found), xp.where(goes, 0.0, sign)
        is_settled[todo] = ~xp.any(is_wrong, axis=1) & is_definite
        todo = todo[xp.nonzero(xp.any(goes, axis=1) & is_definite)[0]]
        if not todo.shape[0]:
            break
    return values, signs, is_settled


def code_all(atoms: DeviceAtoms, penalty: float) -> DeviceCodes:
    """The code of each column on all the others (paper eq. 14)."""
    xp, n = atoms.device.xp, len(atoms)
    owns = xp.arange(n, device=atoms.rows.device)
    problems = _Problems(atoms, n, owns, atoms.device.new((n, 0), "int64"), _FIRST_POOL)
    problems.residuals[:] = atoms.rows
    problems.solve(penalty)
    return problems.found()


def pools_of_all(
    atoms: DeviceAtoms, residuals: Any, most: int
) -> tuple[npt.NDArray[np.int32], IntArray, FloatArray]:
    """Atoms near each code: at most so many, and a gradient that no other atom exceeds."""
    device, n = atoms.device, len(atoms)
    xp, parts = device.xp, []
    owns = xp.arange(n, device=atoms.rows.device)
    size = max(1, device.block_bytes // (8 * (2 * n + most)))
    for i in range(0, n, size):
        own = owns[i : i + size]
        n_own = int(own.shape[0])
        pools, counts = device.new((n_own, most), "int64"), device.new((n_own,), "int64")
        gradients = xp.matmul(residuals[own], atoms.rows.T)
        cutoffs = _fill(device, pools, counts, gradients, own)
        parts.append([device.get(x) for x in (xp.astype(pools, xp.int32), counts, cutoffs)])
    places, counted, above = map(np.concatenate, zip(*parts, strict=True))
    return places, counted, above


def insert_all(
    gallery: DeviceAtoms,
    codes: tuple[Any, Any, Any],
    residuals: Any,
    probes: list[npt.NDArray[Any]],
    penalty: float,
) -> list[tuple[IntArray, DeviceCodes]]:
    """Numbers and codes of the columns that each probe changes, as if it alone were inserted.

    ``codes`` are atoms, signs and values of the gallery's codes, one row per column, sign 0 for
    unused room, and ``residuals`` what they leave, on the device. Probes have their columns as
    rows; their numbers follow the gallery's.
    """
    device, xp, n = gallery.device, gallery.device.xp, len(gallery)
    sizes = np.array([len(probe) for probe in probes])
    first = np.concatenate([[0], np.cumsum(sizes)])
    more = DeviceAtoms.of(device, np.concatenate(probes))
    rows = xp.concat([gallery.rows, more.rows], axis=0)
    atoms = DeviceAtoms(device, rows, xp.concat([gallery.rough, more.rough], axis=0))
    column, of_all = xp.nonzero(xp.abs(xp.matmul(residuals, more.rows.T)) > penalty)
    probe_of = device.put(np.repeat(np.arange(len(probes)), sizes))
    keys = xp.unique_values(probe_of[of_all] * n + column)
    own = xp.arange(int(first[-1]), device=keys.device)
    probe = xp.concat([keys // n, probe_of])
    owns = xp.concat([keys % n, n + own])
    # By probe, the gallery's columns first.
    order = xp.argsort(probe * (n + int(first[-1])) + owns, stable=True)
    probe, owns = probe[order], owns[order]
    offered = np.full((len(probes), max(1, int(sizes.max()))), -1)
    for row, (start, end) in zip(offered, pairwise(first), strict=True):
        row[: end - start] = n + np.arange(start, end)
    problems = _Problems(atoms, n, owns, device.put(offered)[probe], _SMALLEST_POOL)
    is_old = owns < n
    old, new = xp.nonzero(is_old)[0], xp.nonzero(~is_old)[0]
    problems.start(old, *(part[owns[old]] for part in codes))
    problems.residuals[old] = residuals[owns[old]]
    problems.residuals[new] = atoms.rows[owns[new]]
    problems.solve(penalty)
    return _by_probe(problems.found(), device.get(probe), device.get(owns), first, n)


def _by_probe(
    found: DeviceCodes, probe: IntArray, owns: IntArray, first: IntArray, n: int
) -> list[tuple[IntArray, DeviceCodes]]:
    """What was found, for each probe as if it were the only one; they come in order."""
    pointers, codes = found.codes.pointers, found.codes
    ends = np.searchsorted(probe, np.arange(len(first)))
    parts = []
    for i, (start, end) in enumerate(pairwise(ends)):
        inside, here = slice(pointers[start], pointers[end]), slice(start, end)
        # Its own columns are numbered from the gallery's end.
        targets, atoms = (
            np.where(numbers >= n, numbers - first[i], numbers)
            for numbers in (owns[here], codes.atoms[inside])
        )
        mine = Codes(codes.counts[here], atoms, codes.values[inside])
        left, largest = found.residuals[here], found.largest[here]
        parts.append((targets, DeviceCodes(mine, left, largest, found.is_solved[here])))
    return parts
