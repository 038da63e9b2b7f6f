"""Photos of an album that are of somebody else: a few that stray, or whole parts of it.

Photos are grouped by the class of the most similar photo of the gallery, and each group is
judged as a set of its own. Single photos say little; a group of them that is much more
probably of one class than of all others is someone, or else somebody new beside them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from setwise._support.parallel import one_blas_thread, quiet
from setwise._support.types import FloatArray
from setwise.classify import Answer
from setwise.classify.answer import kind_of
from setwise.classify.judge import Inference
from setwise.errors import NoInformationWarning
from setwise.page.answers import is_probable
from setwise.page.gallery_file import GalleryState
from setwise.page.payload import Part

FEWEST, SHARE = 4, 0.1  # photos of a part, and their share of the album
# A photo strays if one of another class is so many times nearer than any of its own.
NEARER, MOST_STRAY = 2.0, 0.5


def without_strays(state: GalleryState, vectors: FloatArray, answer: Answer) -> Answer:
    """The answer, with photos of other classes among those that do not belong."""
    gallery = state.gallery
    if kind_of(answer) not in ("known", "unsure") or not gallery.has_vectors:
        return answer
    code = int(np.flatnonzero(gallery.classes == answer.nearest)[0])
    with one_blas_thread():
        own, other, _ = state.rivals(state.units(vectors), code)
    strays = np.sqrt(np.maximum(1 - other, 0)) * NEARER < np.sqrt(np.maximum(1 - own, 0))
    rest = answer.is_typical & ~strays
    if strays.sum() > MOST_STRAY * len(strays) or not rest.any():
        return answer
    return replace(answer, is_typical=rest)


def parts_of(state: GalleryState, vectors: FloatArray) -> list[Part]:
    """The parts of an album that shows several, the largest first; else none."""
    gallery = state.gallery
    fewest = max(FEWEST, round(SHARE * len(vectors)))
    if len(vectors) < 2 * fewest or not gallery.has_vectors:
        return []
    with one_blas_thread():
        rows, _ = state.nearest(vectors)
        sets = np.searchsorted(gallery.sets.offsets, rows, side="right") - 1
        codes = gallery.codes[sets]
        common = [code for code, n in enumerate(np.bincount(codes)) if n >= fewest]
        if len(common) < 2:
            return []
        named: dict[str, list[int]] = {}
        for code in common:
            images = np.flatnonzero(codes == code)
            with quiet("", NoInformationWarning):
                answer = Inference.of(gallery, vectors[images]).answer()
            if kind_of(answer) == "known" or is_probable(answer):
                named.setdefault(str(answer.nearest), []).extend(images.tolist())
    if len(named) < 2:
        return []
    parts = [Part(label=label, images=sorted(images)) for label, images in named.items()]
    parts.sort(key=lambda part: -len(part.images))
    rest = np.setdiff1d(np.arange(len(vectors)), np.concatenate(list(named.values())))
    return parts + [Part(label=None, images=rest.tolist())] * bool(len(rest))
