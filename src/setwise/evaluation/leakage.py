"""Images on both sides of a split, which make any accuracy meaningless."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np

from setwise._support.types import IntArray
from setwise.errors import LeakageError
from setwise.sets import SetBatch

__all__ = ["check_leakage", "image_numbers", "sets_that_share"]


def image_numbers(sets: SetBatch) -> IntArray:
    """A number for each image (any vector) of all sets, the same for equal bytes only."""
    known: dict[bytes, int] = {}
    rows = np.ascontiguousarray(sets.vectors)
    digests = (hashlib.blake2b(row, digest_size=16).digest() for row in rows)
    return np.array([known.setdefault(digest, len(known)) for digest in digests], np.int64)


def check_leakage(
    sets: SetBatch,
    gallery: IntArray,
    probes: IntArray,
    *,
    numbers: IntArray | None = None,
    where: str = "check_leakage",
) -> None:
    """Refuse a split with the same image on both of its sides, by a :class:`LeakageError`.

    ``gallery`` and ``probes`` are indices of sets; ``numbers`` may hold their
    :func:`image_numbers`, to check many splits; ``where`` names the split in the message. An
    image may be twice in the gallery, or twice in the probes.
    """
    of_image = image_numbers(sets) if numbers is None else numbers
    in_gallery, in_probes = _rows(sets, gallery), _rows(sets, probes)
    is_shared = np.isin(of_image[in_probes], of_image[in_gallery])
    if not is_shared.any():
        return
    probe_row = in_probes[is_shared][0]
    gallery_row = in_gallery[of_image[in_gallery] == of_image[probe_row]][0]
    n_shared = int(is_shared.sum())
    are = f"{'is' if n_shared == 1 else 'are'} {n_shared}"
    msg = (
        f"{where}: {_name(sets, probe_row)}, a probe, is the same as "
        f"{_name(sets, gallery_row)}, in the gallery; so {are} of the "
        f"{len(in_probes)} images of the probes. Expected no image on both sides: remove the "
        "copies from the data, or keep sets that share images on one side."
    )
    raise LeakageError(msg)


def sets_that_share(sets: SetBatch) -> dict[tuple[int, int], int]:
    """Pairs of sets that hold equal images, and the number of these images.

    An image that is in many sets pairs each of them with the first one only.
    """
    numbers = image_numbers(sets)
    owners = np.repeat(np.arange(len(sets)), sets.sizes)
    first_owner = owners[np.unique(numbers, return_index=True)[1]][numbers]
    is_copy = owners != first_owner
    copies = np.stack([first_owner[is_copy], owners[is_copy], numbers[is_copy]])
    pairs = np.unique(copies, axis=1)[:2].tolist()
    return dict(Counter(zip(*pairs, strict=True)))


def _rows(sets: SetBatch, chosen: IntArray) -> IntArray:
    """Rows of ``sets.vectors`` that belong to the chosen sets."""
    parts = [np.arange(sets.offsets[i], sets.offsets[i + 1]) for i in chosen]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _name(sets: SetBatch, row: int) -> str:
    owner = int(np.searchsorted(sets.offsets, row, side="right")) - 1
    return f"image {row - sets.offsets[owner]} of {sets.names[owner]!r}"
