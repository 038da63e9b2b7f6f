"""Which classes were taken for which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from setwise.errors import DataError
from setwise.plots.cells import Cell, draw_cells, name_columns, name_rows
from setwise.plots.checked import matrix, same_length
from setwise.plots.labels import one_line
from setwise.plots.style import GREY, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_confusion"]

_RIGHT, _WRONG = PALETTE[0], PALETTE[1]
_LONGEST_NAME = 20


def plot_confusion(axes: Axes, counts: Sequence[Sequence[int]], names: Sequence[str]) -> Axes:
    """Draw how often each class was taken for each: blue where it is right, amber where not.

    The colour is as strong as the share of the row. Places without any count are empty.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    counts : sequence of sequence of int
        ``counts[truth][answer]``.
    names : sequence of str
        The classes, in the order of rows and columns.

    Returns
    -------
    Axes
        The same.
    """
    table = matrix("plot_confusion", "counts", counts)
    same_length("plot_confusion", rows=table, columns=table.T, names=names)
    if (table < 0).any():
        msg = f"plot_confusion: counts holds {table.min():g}. Expected counts from 0 on."
        raise DataError(msg)
    of_row = np.maximum(table.sum(axis=1), 1)
    cells = [
        Cell(
            row=int(truth),
            column=int(answer),
            strength=float(table[truth, answer] / of_row[truth]),
            text=f"{table[truth, answer]:.0f}",
            colour=_RIGHT if truth == answer else _WRONG,
        )
        for truth, answer in np.argwhere(table > 0)
    ]
    draw_cells(axes, cells, range(len(table)), len(table))
    short = [one_line(name, _LONGEST_NAME) for name in names]
    name_rows(axes, range(len(table)), short)
    is_long = len(names) > 12 or max(map(len, short)) > 50 / len(names)
    name_columns(axes, short, are_upright=is_long)
    axes.set_ylabel("true class", size=9, color=GREY)
    axes.set_xlabel("answer", size=9, color=GREY)
    axes.xaxis.set_label_position("top")
    return axes
