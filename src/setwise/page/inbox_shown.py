"""Rows of the inbox as JSON shows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise.page import payload
from setwise.page.answers import answer_fields
from setwise.page.inbox_rows import Row
from setwise.plots.answer_picture import choose

MOST_PHOTOS, MOST_CANDIDATES = 8, 9  # 9 keys have a digit
NO_ANSWER: dict[str, Any] = dict.fromkeys(
    ("label", "most_like", "probability", "runner_up", "is_known", "is_far", "confidence")
)


def row_payload(row: Row, state: str, farthest: float) -> payload.InboxRow:
    """A row of the inbox, with some of its photos."""
    answer, out = row.answer, set(row.outliers)
    is_out = np.zeros(row.n_images, dtype=np.bool_)
    is_out[list(out)] = True
    fields = NO_ANSWER | {"words": row.error, "reason": "", "candidates": [], "parts": []}
    if answer is not None:
        fields = answer_fields(answer, MOST_CANDIDATES, row.parts, farthest)
    return payload.InboxRow(
        **fields,
        id=row.id,
        name=row.name,
        n_images=row.n_images,
        state=state,  # type: ignore[arg-type]
        uncertainty=_uncertainty(row),
        group=row.group,
        decided=row.decided,
        outliers=list(row.outliers),
        without=list(row.without),
        boxes=list(row.boxes),
        is_part=row.origin is not None,
        photos=[
            payload.RowPhoto(
                image=int(j),
                url=f"/api/v1/inbox/{row.id}/photos/{j}",
                is_outlier=int(j) in out,
            )
            for j in choose(is_out, MOST_PHOTOS)
        ],
    )


def _uncertainty(row: Row) -> float:
    """From 0 to 1: the less the gallery knows, the more a decision helps."""
    if row.answer is None or row.parts:
        return float(bool(row.parts))
    if row.boxes and row.is_unknown and row.group is None and row.n_images == 1:
        return 0.0  # passers-by, whom nobody can name
    margin = row.answer.margin
    return 1.0 - 0.05 * margin if row.is_unknown else 0.95 * (1.0 - margin)
