"""Answers to be looked at: a page for one's own albums, and a picture per set."""

from setwise.report.album_page import render_answers, write_answers
from setwise.report.picture import draw_answer, draw_answers

__all__ = ["draw_answer", "draw_answers", "render_answers", "write_answers"]
