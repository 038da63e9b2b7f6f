"""Parts of pages and pictures, for reports of your own."""

from setwise.plots.labels import EndLabel, label_ends, one_line, plain
from setwise.plots.sheet import as_pixels
from setwise.report.album_page import render_page
from setwise.report.photos import png_data_uri, strip_data_uri
from setwise.report.tables import Confusion, cluster_table, confusion_table, count_votes, number
from setwise.report.tree import tree_figure

__all__ = [
    "Confusion", "EndLabel", "as_pixels", "cluster_table", "confusion_table", "count_votes",
    "label_ends", "number", "one_line", "plain", "png_data_uri", "render_page",
    "strip_data_uri", "tree_figure",
]  # fmt: skip
