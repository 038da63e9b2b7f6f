"""Sidecars, read back by a reader of XML that knows nothing of setwise."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image, ImageOps

from setwise.io import xmp
from setwise.io.xmp import Region, as_stored, sidecar_of, write_sidecar

NS = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "mwg": "http://www.metadataworkinggroup.com/schemas/regions/",
    "area": "http://ns.adobe.com/xmp/sType/Area#",
    "dim": "http://ns.adobe.com/xap/1.0/sType/Dimensions#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "iptc": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
}
ANNA = Region('Anna & "Bo" <x>', 0.25, 0.5, 0.1, 0.2)


def test_names_and_regions_are_read_back(tmp_path):
    photo = tmp_path / "a.jpg"
    assert write_sidecar(photo, (400, 300), 1, [ANNA, Region(None, 0.5, 0.5, 0.1, 0.1)])
    root = ET.parse(sidecar_of(photo)).getroot()
    people = root.findall(".//mwg:RegionList/rdf:Bag/rdf:li/rdf:Description", NS)
    assert [one.get(f"{{{NS['mwg']}}}Name") for one in people] == [ANNA.name, None]
    area = people[0].find("mwg:Area", NS)
    assert [float(area.get(f"{{{NS['area']}}}{key}")) for key in "xywh"] == [
        0.25,
        0.5,
        0.1,
        0.2,
    ]
    size = root.find(".//mwg:AppliedToDimensions", NS)
    assert [size.get(f"{{{NS['dim']}}}{key}") for key in "wh"] == ["400", "300"]
    for tag in ("dc:subject", "iptc:PersonInImage"):
        assert [one.text for one in root.findall(f".//{tag}/rdf:Bag/rdf:li", NS)] == [ANNA.name]


def test_exiftool_reads_names_and_regions(tmp_path):
    tool = shutil.which("exiftool")
    if tool is None:
        pytest.skip("needs exiftool (libimage-exiftool-perl)")
    photo = tmp_path / "a.jpg"
    write_sidecar(photo, (400, 300), 6, [ANNA, Region(None, 0.5, 0.5, 0.1, 0.1)])
    command = [tool, "-json", "-struct", "-G1", str(sidecar_of(photo))]
    (told,) = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    info = told["XMP-mwg-rs:RegionInfo"]
    assert info["AppliedToDimensions"] == {"W": 300, "H": 400, "Unit": "pixel"}
    first, second = info["RegionList"]
    assert (first["Name"], first["Type"]) == (ANNA.name, "Face")
    area = {"X": 0.5, "Y": 0.75, "W": 0.2, "H": 0.1, "Unit": "normalized"}
    assert first["Area"] == area
    assert "Name" not in second
    assert told["XMP-iptcExt:PersonInImage"] == [ANNA.name]
    assert told["XMP-dc:Subject"] == [ANNA.name]
    write_sidecar(photo, (400, 300), 6, [Region(None, 0.5, 0.5, 0.1, 0.1)])
    (told,) = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert not {"XMP-dc:Subject", "XMP-iptcExt:PersonInImage"} & told.keys()


def test_only_what_changed_is_written(tmp_path):
    photo = tmp_path / "a.jpg"
    assert write_sidecar(photo, (400, 300), 1, []) is False
    assert not sidecar_of(photo).exists()
    assert write_sidecar(photo, (400, 300), 1, [ANNA])
    assert write_sidecar(photo, (400, 300), 1, [ANNA]) is False
    assert write_sidecar(photo, (400, 300), 1, [])
    assert ANNA.name not in sidecar_of(photo).read_text()


def test_the_sidecar_of_another_program_is_left_alone(tmp_path):
    other = sidecar_of(tmp_path / "a.jpg")
    other.write_text("<x:xmpmeta x:xmptk='darktable'/>")
    assert write_sidecar(tmp_path / "a.jpg", (400, 300), 1, [ANNA]) is None
    assert "darktable" in other.read_text()


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder", "large"])
def test_what_is_no_plain_sidecar_is_left_alone(tmp_path, kind, monkeypatch):
    photo = tmp_path / "a.jpg"
    path, other = sidecar_of(photo), tmp_path / "other"
    if kind == "link":
        write_sidecar(other, (4, 3), 1, [ANNA])
        path.symlink_to(sidecar_of(other))
    elif kind == "dangling link":
        path.symlink_to(other)
    elif kind == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("no pipes here")
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        monkeypatch.setattr(xmp, "LONGEST", 100)
        path.write_text("x" * 101 + xmp.MARK)
    before = sorted((one.name, one.lstat().st_size) for one in tmp_path.iterdir())
    assert write_sidecar(photo, (400, 300), 1, [ANNA]) is None
    assert before == sorted((one.name, one.lstat().st_size) for one in tmp_path.iterdir())


def test_names_with_characters_that_xml_does_not_know_are_escaped(tmp_path):
    photo = tmp_path / "a.jpg"
    assert write_sidecar(photo, (4, 3), 1, [Region("a\x0bb\udcff", 0.5, 0.5, 0.1, 0.1)])
    names = ET.parse(sidecar_of(photo)).getroot().findall(".//dc:subject/rdf:Bag/rdf:li", NS)
    assert [one.text for one in names] == [r"a\x0bb\udcff"]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_regions_lie_where_the_pixels_are_stored(orientation):
    stored = np.zeros((40, 60), np.uint8)
    stored[4:10, 40:52] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = Image.fromarray(stored)
    image.info["exif"] = exif.tobytes()
    image.getexif()[0x0112] = orientation
    upright = np.asarray(ImageOps.exif_transpose(image))
    rows, columns = np.nonzero(upright)
    height, width = upright.shape
    box = Region(
        None,
        (columns.min() + columns.max() + 1) / 2 / width,
        (rows.min() + rows.max() + 1) / 2 / height,
        (np.ptp(columns) + 1) / width,
        (np.ptp(rows) + 1) / height,
    )
    found = as_stored(box, orientation)
    expected = (46 / 60, 7 / 40, 12 / 60, 6 / 40)
    np.testing.assert_allclose((found.x, found.y, found.width, found.height), expected)
