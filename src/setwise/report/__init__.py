"""Answers as pages and pictures: one HTML file for all sets, or one picture per set."""

from setwise.report.album_page import judge_and_explain, render_answers, write_answers
from setwise.report.picture import draw_answer, draw_answers

__all__ = [
    "draw_answer",
    "draw_answers",
    "judge_and_explain",
    "render_answers",
    "write_answers",
]
