"""What a heap is sorted by: the faces in photos, or whole photos."""

from __future__ import annotations

from collections.abc import Callable

from setwise.errors import DataError
from setwise.page.start.faces_kind import FacesKind
from setwise.page.start.items import Kind
from setwise.page.start.photos_kind import PhotosKind

KINDS: dict[str, Callable[[], Kind]] = {"faces": FacesKind, "photos": PhotosKind}


def kind_of(name: str) -> Kind:
    """A kind by its name, for one heap."""
    if name not in KINDS:
        msg = f"{name!r} is nothing to sort by. Expected faces or photos."
        raise DataError(msg)
    return KINDS[name]()
