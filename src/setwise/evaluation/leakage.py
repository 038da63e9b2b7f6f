"""Images on both sides of a split, which make any accuracy meaningless."""

from __future__ import annotations

import hashlib

import numpy as np

from setwise._support.types import IntArray
from setwise.errors import LeakageError
from setwise.sets import SetBatch

__all__ = ["check_leakage", "image_numbers", "sets_that_share"]


def image_numbers(sets: SetBatch) -> IntArray:
    """A number for each image (any vector) of all sets, the same for equal ones only.

    Images are equal where all their bytes are (by BLAKE2b).

    Examples
    --------
    >>> import numpy as np
    >>> from setwise import SetBatch
    >>> image_numbers(SetBatch.from_list([np.array([[1, 2], [3, 4]]), np.array([[1, 2]])]))
    array([0, 1, 0])
    """
    known: dict[bytes, int] = {}
    return np.array(
        [
            known.setdefault(hashlib.blake2b(row, digest_size=16).digest(), len(known))
            for row in np.ascontiguousarray(sets.vectors)
        ],
        dtype=np.int64,
    )


def check_leakage(
    sets: SetBatch,
    gallery: IntArray,
    probes: IntArray,
    *,
    numbers: IntArray | None = None,
    where: str = "check_leakage",
) -> None:
    """Refuse a split with the same image on both of its sides, by a :class:`LeakageError`.

    An image may be twice in the gallery, or twice in the probes.

    Parameters
    ----------
    sets : SetBatch
    gallery, probes : array of int
        Indices of the sets on each side.
    numbers : array of int, optional
        :func:`image_numbers` of the sets, to check many splits.
    where : str
        Name of the split in the message.
    """
    of_image = image_numbers(sets) if numbers is None else numbers
    in_gallery, in_probes = _rows(sets, gallery), _rows(sets, probes)
    is_shared = np.isin(of_image[in_probes], of_image[in_gallery])
    if not is_shared.any():
        return
    probe_row = in_probes[is_shared][0]
    gallery_row = in_gallery[of_image[in_gallery] == of_image[probe_row]][0]
    msg = (
        f"{where}: {_name(sets, probe_row)}, a probe, is the same as "
        f"{_name(sets, gallery_row)}, in the gallery; so {_are(int(is_shared.sum()))} of the "
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
    copies = np.unique(
        np.stack([first_owner[is_copy], owners[is_copy], numbers[is_copy]]), axis=1
    )
    shared: dict[tuple[int, int], int] = {}
    for first, other in zip(*copies[:2].tolist(), strict=True):
        shared[first, other] = shared.get((first, other), 0) + 1
    return shared


def _rows(sets: SetBatch, chosen: IntArray) -> IntArray:
    """Rows of ``sets.vectors`` that belong to the chosen sets."""
    parts = [np.arange(sets.offsets[i], sets.offsets[i + 1]) for i in chosen]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _name(sets: SetBatch, row: int) -> str:
    owner = int(np.searchsorted(sets.offsets, row, side="right")) - 1
    return f"image {row - sets.offsets[owner]} of {sets.names[owner]!r}"


def _are(n: int) -> str:
    return f"{'is' if n == 1 else 'are'} {n}"
