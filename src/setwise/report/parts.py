"""Parts of pages and pictures, for reports of your own."""

from setwise.plots.labels import EndLabel, label_ends, one_line, plain
from setwise.report.clusters import cluster_table
from setwise.report.confusion import Confusion, confusion_table
from setwise.report.inline_svg import picture
from setwise.report.page import render_page
from setwise.report.thumbnails import png_data_uri, sprite, strip_data_uri
from setwise.report.tree_figure import tree_figure
from setwise.report.votes import count_votes
from setwise.report.words import number

__all__ = [
    "Confusion",
    "EndLabel",
    "cluster_table",
    "confusion_table",
    "count_votes",
    "label_ends",
    "number",
    "one_line",
    "picture",
    "plain",
    "png_data_uri",
    "render_page",
    "sprite",
    "strip_data_uri",
    "tree_figure",
]
