"""A study as one self-contained HTML file."""

from setwise.studies.report.render import render, write_report

__all__ = ["render", "write_report"]
