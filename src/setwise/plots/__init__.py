"""Pictures as functions on axes: each takes axes and numbers, draws, and returns the axes.

Nothing here opens a window, goes through pyplot or changes a setting of matplotlib, which is
only imported once something is drawn. Accuracies are in percent, except where a function says
otherwise. :func:`setwise.plots.svg.svg` makes a figure part of an HTML page.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "new_figure": "style",
    "plot_accuracy_time": "accuracy_time",
    "plot_by_size": "gaussians",
    "plot_clouds": "gaussians",
    "plot_confusion": "confusion",
    "plot_dimensions": "dimensions",
    "plot_distances": "clusters",
    "plot_distributions": "clusters",
    "plot_outliers": "outliers",
    "plot_points": "clusters",
    "plot_switch_errors": "gaussians",
    "tidy": "style",
}

__all__ = [
    "new_figure",
    "plot_accuracy_time",
    "plot_by_size",
    "plot_clouds",
    "plot_confusion",
    "plot_dimensions",
    "plot_distances",
    "plot_distributions",
    "plot_outliers",
    "plot_points",
    "plot_switch_errors",
    "tidy",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"setwise.plots.{_HOMES[name]}"), name)
    msg = f"module 'setwise.plots' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
