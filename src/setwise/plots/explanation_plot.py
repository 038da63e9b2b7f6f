"""One picture of why a set got its label: the answer, and what it rests on."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from setwise.errors import reject
from setwise.plots.answer_picture import AnswerPicture, draw_picture, ranked_bars
from setwise.plots.reasons import draw_plane, draw_reasons, draw_vectors
from setwise.plots.sheet import WIDTH, Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from setwise.classify.explanation import Explanation

__all__ = ["plot_explanation"]

_MOST_BARS = 6
_NARROWEST, _WIDEST = 4.0, 30.0


def plot_explanation(
    explanation: Explanation,
    path: str | Path | None = None,
    *,
    width: float = WIDTH,
    figure: Figure | None = None,
) -> Figure:
    """Draw an explanation; needs the extra ``plot``.

    Parameters
    ----------
    explanation : Explanation
        What :meth:`setwise.CVC.explain` returned.
    path : str or Path, optional
        Where to save the picture too; the suffix says how (``.png``, ``.svg``, ``.pdf``).
    width : float
        Inches. From 8 on there are two columns, below one, as for a phone or a column of text.
    figure : matplotlib.figure.Figure, optional
        An empty one to draw on, such as ``plt.figure()``. By default a new one is made,
        outside pyplot.

    Returns
    -------
    matplotlib.figure.Figure
        The set, how probable each class is and what is most alike; below, who stayed with the
        set as the graph was cut, and for whom the members spoke.
    """
    if not _NARROWEST <= width <= _WIDEST:
        reject(
            f"Explanation.plot: width is {width!r}. Expected inches from {_NARROWEST:g} to "
            f"{_WIDEST:g}."
        )
    sheet = Sheet.empty(width, figure)
    kinds = _kinds(explanation)
    picture = _picture(explanation, kinds)
    if picture.images:
        below = draw_picture(sheet, picture)
    else:
        plane = partial(draw_plane, why=explanation, kinds=kinds)
        below = draw_vectors(sheet, draw_picture(sheet, picture, plane) + 0.15, explanation)
    height = draw_reasons(sheet, below + 0.25, explanation, kinds) + 0.1
    drawn: Figure = sheet.cut_below(height) if path is None else sheet.save(Path(path), height)
    return drawn


def _kinds(why: Explanation) -> dict[str, str]:
    """What labels are to a reader: the first, and the second."""
    kinds = {} if why.runner_up is None else {str(why.runner_up): "second"}
    return kinds | ({str(why.label): "first"} if why.is_informed else {})


def _picture(why: Explanation, kinds: dict[str, str]) -> AnswerPicture:
    n_vectors, looks = len(why.support), why.pictured
    noun = "photo" if looks and looks.images else "vector"
    files = looks.files if looks else tuple(f"vector {j + 1}" for j in range(n_vectors))
    return AnswerPicture(
        name=why.name or "This set",
        about=f"{n_vectors} {noun}{'' if n_vectors == 1 else 's'}",
        sentence=why.sentence,
        images=looks.images if looks else (),
        files=files,
        is_out=~why.is_typical,
        bars=ranked_bars(why.classes, why.probabilities, kinds, _MOST_BARS),
        n_more=max(len(why.classes) - _MOST_BARS, 0),
        bars_title="How probable" + ", if it were known after all" * (why.is_known is False),
        alike=looks.alike if looks else (),
        support=why.support,
    )
