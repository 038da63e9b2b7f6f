"""Every class with its sets, as the wall of the page shows them."""

from __future__ import annotations

import numpy as np

from setwise.page import models
from setwise.page.insight import Insight, Weakness
from setwise.page.journal import Journal
from setwise.page.living import Living, State
from setwise.page.settings import Settings
from setwise.report.photos import has_photos

__all__ = ["gallery_model"]

NOT_WEAK = Weakness((), ())


def gallery_model(
    state: State, living: Living, insight: Insight, journal: Journal, settings: Settings
) -> models.GalleryOnWall:
    """The whole gallery."""
    gallery = state.gallery
    weak = insight.weak(state)
    reason = living.why_unchangeable()
    rate, threshold = gallery.description.unknown, gallery.calibration.threshold
    return models.GalleryOnWall(
        revision=state.revision,
        file=living.path.name,
        can_change=reason is None,
        reason_it_cannot=reason,
        unknown=None
        if rate is None or threshold is None
        else models.UnknownNow(rate=rate, threshold=threshold),
        n_classes=gallery.n_classes,
        n_sets=len(gallery.sets),
        n_images=int(gallery.sets.sizes.sum()),
        features=list(state.classifier.view_weights_),
        weak_state="computing" if weak is None else "ready",
        classes=_classes(state, weak or {}),
        can_undo=journal.can_undo(state.digest),
        can_redo=journal.can_redo(state.digest),
        inbox=settings.inbox is not None,
        into=settings.into is not None,
        limits=models.LimitsNow(
            upload_bytes=settings.limits.upload_bytes,
            files=settings.limits.files,
            seconds=settings.limits.seconds,
        ),
    )


def _classes(state: State, weak: dict[str, Weakness]) -> list[models.ClassOnWall]:
    gallery, made = state.gallery, []
    shows = gallery.has_vectors and has_photos(gallery.sets)
    sizes = gallery.sets.sizes
    for code, label in enumerate(state.classes):
        inside = np.flatnonzero(gallery.codes == code)
        weakness = weak.get(label, NOT_WEAK)
        made.append(
            models.ClassOnWall(
                name=label,
                n_sets=len(inside),
                n_images=int(sizes[inside].sum()),
                weak=list(weakness.sentences),
                confused_with=list(weakness.confused_with),
                sets=[
                    models.SetOnWall(
                        id=state.set_ids[i],
                        name=gallery.sets.names[i],
                        n_images=int(sizes[i]),
                        shown=int(sizes[i]) if shows else 0,
                    )
                    for i in inside
                ],
            )
        )
    return made
