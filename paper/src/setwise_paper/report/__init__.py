"""A study as one self-contained HTML file."""
