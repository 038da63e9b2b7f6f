"""Answers to be looked at: a page for one's own albums, and a picture per set."""
