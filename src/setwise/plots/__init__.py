"""Pictures as functions on axes: each takes axes and numbers, draws, and returns the axes.

Nothing here opens a window, goes through pyplot or changes a setting of matplotlib, which is
only imported when something is drawn.
"""

from setwise.plots.labels import plot_accuracy_time
from setwise.plots.set_graph import plot_set_graph
from setwise.plots.style import new_figure, tidy

__all__ = ["new_figure", "plot_accuracy_time", "plot_set_graph", "tidy"]
