"""Who is measured: CVC, its former self, and the rivals.

A method takes a split and a number of threads and returns an :class:`Opinion` of its probes.
Mean cosine, trimmed mean cosine and frame vote are oracles: a few lines of NumPy of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from evidence.tasks import Split
from setwise import CVC
from setwise.baselines import GDA, MSM, MeanCosine

# Wanted rate of strangers let in.
STRANGER_RATE = 0.05


@dataclass(frozen=True, eq=False)
class Opinion:
    """What a method says of the probes of a split.

    Attributes
    ----------
    labels : array of shape (n_probes,)
        Its answers.
    probability : array of shape (n_probes,), optional
        Of each answer.
    nearness : array of shape (n_probes,), optional
        How near the answer is, absolutely: what tells known probes from unknown ones.
    is_known : array of bool, shape (n_probes,), optional
        Whether it takes the probe for one of its classes.
    scored_by : str
        What ``nearness`` is.
    """

    labels: np.ndarray
    probability: np.ndarray | None = None
    nearness: np.ndarray | None = None
    is_known: np.ndarray | None = None
    scored_by: str = ""


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows of length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def mean_direction(vectors: np.ndarray) -> np.ndarray:
    """Direction of the mean of the unit vectors."""
    return unit(unit(vectors).mean(axis=0))


def trimmed_direction(vectors: np.ndarray) -> np.ndarray:
    """The same without the quarter farthest from the direction of the coordinates' medians."""
    rows = unit(vectors)
    nearest_first = np.argsort(-(rows @ unit(np.median(rows, axis=0))), kind="stable")
    return mean_direction(rows[nearest_first[: len(rows) - len(rows) // 4]])


def by_direction(
    direction: Callable[[np.ndarray], np.ndarray], split: Split, n_jobs: int
) -> Opinion:
    """The class of the gallery set whose direction has the largest cosine."""
    gallery, probes = (
        np.array([direction(vectors) for vectors in sets])
        for sets in (split.gallery, split.probes)
    )
    cosines = probes @ gallery.T
    labels = split.gallery_labels[cosines.argmax(axis=1)]
    return Opinion(labels, nearness=cosines.max(axis=1), scored_by="cosine")


def frame_vote(split: Split, n_jobs: int) -> Opinion:
    """Every vector votes for the class of the gallery vector of largest cosine.

    Ties go to the class whose nearest vectors are nearer on average.
    """
    owners = np.repeat(split.gallery_labels, split.gallery.sizes)
    gallery, classes = unit(split.gallery.vectors), np.unique(owners)
    labels = []
    for vectors in split.probes:
        cosines = unit(vectors) @ gallery.T
        winners = owners[cosines.argmax(axis=1)]
        votes = [
            ((winners == c).sum(), cosines[:, owners == c].max(axis=1).mean()) for c in classes
        ]
        labels.append(classes[max(range(len(classes)), key=votes.__getitem__)])
    return Opinion(np.array(labels))


def by_classifier(make: Callable[[], Any], split: Split, n_jobs: int) -> Opinion:
    """The labels of a set classifier."""
    clf = make().set_params(n_jobs=n_jobs).fit(split.gallery, split.gallery_labels)
    return Opinion(np.asarray(clf.predict(split.probes)))


def by_cvc(split: Split, n_jobs: int, **parameters: Any) -> Opinion:
    """CVC by default; where some probes are of no class of the gallery, it may say so."""
    clf = CVC(random_state=0, n_jobs=n_jobs, **parameters)
    if not split.is_enrolled.all() and "unknown" in clf.get_params():
        clf.set_params(unknown=STRANGER_RATE, unknown_label=-1)
    answers = list(clf.fit(split.gallery, split.gallery_labels).judge(split.probes))
    scored_by = "nearness" if hasattr(answers[0], "nearness") else "probability"
    verdicts = [getattr(answer, "is_known", None) for answer in answers]
    return Opinion(
        labels=np.array(
            [getattr(answer, "nearest", answer.label) for answer in answers], dtype=object
        ),
        probability=np.array([answer.probability for answer in answers]),
        nearness=np.array([getattr(answer, scored_by) for answer in answers]),
        is_known=None if None in verdicts else np.array(verdicts),
        scored_by=scored_by,
    )


Method = Callable[[Split, int], Opinion]


def methods() -> dict[str, Method]:
    """Every method, by the name that tasks call it."""
    return {
        "CVC": by_cvc,
        "mean cosine": partial(by_direction, mean_direction),
        "trimmed mean cosine": partial(by_direction, trimmed_direction),
        "robust mean cosine": partial(by_classifier, partial(MeanCosine, robust=True)),
        "frame vote (cosine)": frame_vote,
        "MSM (smallest angle)": partial(by_classifier, partial(MSM, n_angles=1)),
        "MSM": partial(by_classifier, MSM),
        "GDA": partial(by_classifier, GDA),
    }
