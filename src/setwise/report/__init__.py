"""Answers and groups as pages and pictures: one HTML file for all sets, or a picture each."""

from setwise.report.album_page import judge_and_explain, render_answers, write_answers
from setwise.report.groups_page import render_groups, write_groups
from setwise.report.picture import draw_answer, draw_answers

__all__ = [
    "draw_answer",
    "draw_answers",
    "judge_and_explain",
    "render_answers",
    "render_groups",
    "write_answers",
    "write_groups",
]
