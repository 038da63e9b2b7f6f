"""Why some probes got their labels, and which images of the gallery theirs look like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from setwise._support.types import IntArray
from setwise.classify import CVC, Explanation
from setwise.errors import ParameterError, reject
from setwise.features.vectors import nearest_pairs
from setwise.studies.data import StudyData, read_data
from setwise.studies.items import Item
from setwise.studies.kinds.classify import ClassifyItem, Sides, classifier_of, sides_of

__all__ = ["ExplainItem"]

MOST_PAIRS = 8  # images of a probe that are shown beside the gallery's
MOST_POINTS = 400  # of the gallery, in the plane


class ExplainItem(Item):
    """Why some probes of a fold got their labels.

    Attributes
    ----------
    of : ClassifyItem
        The item that judged them.
    probes : tuple of int
        Their places among its probes.
    """

    kind: Literal["explain"] = "explain"
    of: ClassifyItem
    probes: tuple[int, ...]

    def perform(self, folder: Path | None = None) -> dict[str, Any]:
        """Fit the classifier again, and explain its answers.

        Returns
        -------
        dict
            ``explanations``, each with ``place`` (among the probes), ``index`` (of the set in
            the data), ``probe`` (its name), ``truth``, ``answer``, ``why``
            (:meth:`setwise.classify.Explanation.to_dict`), and the pairs of images ``nearest``
            and ``nearest_of_truth``, among all the gallery and among the sets of the true
            class. A pair has ``image`` (of the probe), ``set`` (index), ``set_name``,
            ``label``, ``gallery_image`` and ``distance`` (of the images scaled to unit norm,
            before any outliers).
        """
        data = read_data(self.of.data, folder)
        sides = sides_of(self.of, data)
        wrong = [place for place in self.probes if not 0 <= place < len(sides.probes)]
        if wrong:
            reject(f"There is no probe {wrong[0]}. Expected 0 to {len(sides.probes) - 1}.")
        classifier = classifier_of(self.of)
        if not isinstance(classifier, CVC):
            msg = f"recipe {self.of.recipe.of!r}: it explains nothing. Expected CVC."
            raise ParameterError(msg)
        classifier.fit(sides.gallery, np.asarray(sides.gallery.labels))
        gallery = data.fold(self.of.fold)[0]
        return {
            "explanations": [
                _explain(place, classifier, sides, data, gallery) for place in self.probes
            ]
        }


def _explain(
    place: int, classifier: CVC, sides: Sides, data: StudyData, gallery: IntArray
) -> dict[str, Any]:
    why = _thin_out(classifier.explain(sides.probes[[place]]))
    index = int(sides.indices[place])
    truth = str(data.labels[index])
    return {
        "place": int(place),
        "index": index,
        "probe": sides.probes.names[place],
        "truth": truth,
        "answer": str(why.label),
        "why": why.to_dict(),
        "nearest": _nearest(data, index, gallery),
        "nearest_of_truth": _nearest(data, index, gallery[data.labels[gallery] == truth]),
    }


def _thin_out(why: Explanation) -> Explanation:
    """The explanation with fewer points of the gallery, evenly spread over it."""
    every = -(-len(why.gallery_points) // MOST_POINTS)
    if every <= 1:
        return why
    return replace(
        why,
        gallery_points=why.gallery_points[::every].round(4),
        gallery_point_classes=why.gallery_point_classes[::every],
    )


def _nearest(data: StudyData, probe: int, gallery: IntArray) -> list[dict[str, Any]]:
    """Images of a probe with the image of the gallery that each is most like."""
    sets = data.sets[gallery]
    return [
        {
            "image": pair.vector,
            "set": int(gallery[pair.set]),
            "set_name": sets.names[pair.set],
            "label": str(data.labels[gallery[pair.set]]),
            "gallery_image": pair.other,
            "distance": round(pair.distance, 6),
        }
        for pair in nearest_pairs(data.sets[probe], sets, MOST_PAIRS)
    ]
