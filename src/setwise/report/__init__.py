"""Answers to be looked at: a page for one's own albums, and a picture per set."""

from setwise.report.album_page import render_answers, write_answers

__all__ = ["render_answers", "write_answers"]
