"""The page: a gallery file in the browser, and over HTTP for programs.

``setwise serve people.setwise`` starts it. The rest of setwise does not import it.
"""

from setwise.page.app import create_app
from setwise.page.settings import Limits, Settings

__all__ = ["Limits", "Settings", "create_app"]
