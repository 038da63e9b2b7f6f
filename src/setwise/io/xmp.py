"""XMP sidecars: who is in a photo, and where, for programs that keep photos.

Regions are those of the Metadata Working Group (mwg-rs), which digiKam, Lightroom and Immich
read: fractions of the photo as it is stored, before its EXIF tag turns it. Names are keywords
(dc:subject) and persons (Iptc4xmpExt:PersonInImage) too. The photo itself is never touched.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from setwise._support.files import write_whole
from setwise._support.text import printable

# By it a sidecar is known as one of setwise, which may be written again.
MARK = 'x:xmptk="setwise"'
LONGEST = 10_000_000  # bytes
_SPACES = {
    "mwg-rs": "http://www.metadataworkinggroup.com/schemas/regions/",
    "stDim": "http://ns.adobe.com/xap/1.0/sType/Dimensions#",
    "stArea": "http://ns.adobe.com/xmp/sType/Area#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "Iptc4xmpExt": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
}


@dataclass(frozen=True)
class Region:
    """A face in an upright photo, as fractions of its width and height."""

    name: str | None  # None: nobody is named
    x: float  # of the centre
    y: float
    width: float
    height: float


def sidecar_of(photo: Path) -> Path:
    """Where the sidecar of a photo lies: ``anna.jpg.xmp`` beside ``anna.jpg``.

    >>> sidecar_of(Path("a/anna.jpg")).as_posix()
    'a/anna.jpg.xmp'
    """
    return photo.with_name(f"{photo.name}.xmp")


def write_sidecar(
    photo: Path, size: tuple[int, int], orientation: int, regions: Sequence[Region]
) -> bool | None:
    """Write the sidecar of a photo if it has to change; None if it is another program's.

    ``size`` is that of the upright photo.
    """
    path = sidecar_of(photo)
    text = sidecar_text(size, orientation, regions)
    if os.path.lexists(path):
        # A link would lead elsewhere, a pipe would have no end, and ours are never that long.
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LONGEST:
            return None
        before = path.read_text("utf-8", errors="replace")
        if MARK not in before:
            return None
        if before == text:
            return False
    elif not regions:
        return False
    write_whole(path, text)
    return True


def sidecar_text(size: tuple[int, int], orientation: int, regions: Sequence[Region]) -> str:
    """The content of a sidecar; equal regions give equal texts."""
    stored = size[::-1] if orientation in (5, 6, 7, 8) else size
    boxes = "\n".join(_region(as_stored(region, orientation)) for region in regions)
    names = list(dict.fromkeys(region.name for region in regions if region.name))
    spaces = "".join(f' xmlns:{short}="{name}"' for short, name in _SPACES.items())
    dimensions = f'stDim:w="{stored[0]}" stDim:h="{stored[1]}" stDim:unit="pixel"'
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" {MARK}>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""{spaces}>
<mwg-rs:Regions rdf:parseType="Resource">
<mwg-rs:AppliedToDimensions {dimensions}/>
<mwg-rs:RegionList><rdf:Bag>
{boxes}
</rdf:Bag></mwg-rs:RegionList>
</mwg-rs:Regions>
{_bag("dc:subject", names)}{_bag("Iptc4xmpExt:PersonInImage", names)}</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
"""


def _bag(tag: str, names: Sequence[str]) -> str:
    items = "".join(f"<rdf:li>{escape(printable(name))}</rdf:li>" for name in names)
    return f"<{tag}><rdf:Bag>{items}</rdf:Bag></{tag}>\n" if items else ""


def _region(region: Region) -> str:
    values = {"x": region.x, "y": region.y, "w": region.width, "h": region.height}
    area = " ".join(f'stArea:{name}="{value:.6f}"' for name, value in values.items())
    named = f" mwg-rs:Name={quoteattr(printable(region.name))}" if region.name else ""
    return (
        f'<rdf:li><rdf:Description mwg-rs:Type="Face"{named}>'
        f'<mwg-rs:Area {area} stArea:unit="normalized"/></rdf:Description></rdf:li>'
    )


def as_stored(region: Region, orientation: int) -> Region:
    """A region of the upright photo in the pixels as they are stored.

    ``orientation`` is that of EXIF, 1 to 8.

    >>> upright = Region("anna", 0.2, 0.3, 0.1, 0.05)
    >>> as_stored(upright, 6)
    Region(name='anna', x=0.3, y=0.8, width=0.05, height=0.1)
    """
    x, y = region.x, region.y
    place = {
        2: (1 - x, y), 3: (1 - x, 1 - y), 4: (x, 1 - y), 5: (y, x), 6: (y, 1 - x),
        7: (1 - y, 1 - x), 8: (1 - y, x),
    }.get(orientation, (x, y))  # fmt: skip
    sides = region.width, region.height
    if orientation in (5, 6, 7, 8):
        sides = sides[::-1]
    return Region(region.name, *place, *sides)
