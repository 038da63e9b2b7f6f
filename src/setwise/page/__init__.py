"""The page: a gallery file in the browser, and over HTTP for programs.

``setwise serve people.setwise`` starts it. Nothing of it is imported by the rest of setwise.
"""

from setwise.page.app import create_app
from setwise.page.settings import Limits, Settings

__all__ = ["Limits", "Settings", "create_app"]
