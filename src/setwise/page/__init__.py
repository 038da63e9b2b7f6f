"""The page of ``setwise serve``: a gallery file in the browser, and over HTTP."""

from setwise.page.access import Token
from setwise.page.app import create_app
from setwise.page.settings import Limits, Settings

__all__ = ["Limits", "Settings", "Token", "create_app"]
