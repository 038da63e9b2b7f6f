"""Licences of everything that an installed setwise runs with, as the packages declare them.

A wheel may hold libraries of others, too. Those that are copyleft are named here and in the
README, and are nowhere in the core.
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution

import pytest
from packaging.requirements import Requirement
from tests.release.project import EXTRAS, PROJECT, needed_by
from tests.release.sbom import licence

COPYLEFT = re.compile(r"\b(A|L)?GPL|GNU|General Public", flags=re.IGNORECASE)
PERMISSIVE = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software|MPL|Mozilla|Boost|Zlib|HPND")
# Declared copyleft: asked for by name only, never part of "all".
ASKED_FOR = {"pi-heif": "LGPL: libheif and libde265 decode the photos of phones"}
# Libraries inside wheels, by the starts of their file names.
COPYLEFT_LIBRARIES = (
    "libx264", "libx265", "libavcodec", "libheif", "libde265", "libgmp", "libraw",
)  # fmt: skip
BUNDLED = {
    "av": {"libx264", "libx265", "libavcodec", "libgmp"},
    "opencv-python-headless": {"libavcodec"},
    "pi-heif": {"libheif", "libde265"},
    "rawpy": {"libraw"},
}


def closure(requirements):
    """Installed distributions that requirements lead to, by name."""
    waiting, known = [Requirement(line) for line in requirements], {}
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop().name.lower())
        if name in known:
            continue
        try:
            known[name] = distribution(name)
        except PackageNotFoundError:
            continue  # of another extra, or of another system
        needed = map(Requirement, known[name].requires or [])
        waiting += [r for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return known


def bundled(package: Distribution) -> set[str]:
    names = [file.name for file in package.files or []]
    return {start for start in COPYLEFT_LIBRARIES if any(n.startswith(start) for n in names)}


CORE = closure(PROJECT["dependencies"])
WITH_EXTRAS = CORE | closure([line for extra in EXTRAS for line in needed_by(extra)])


@pytest.mark.parametrize("name", sorted(set(WITH_EXTRAS) - set(ASKED_FOR)))
def test_its_licence_is_permissive(name):
    words = licence(WITH_EXTRAS[name])
    assert PERMISSIVE.search(words), f"{name}: {words!r}"
    assert not COPYLEFT.search(words), f"{name}: {words!r}"


def test_what_is_copyleft_has_to_be_asked_for_by_name():
    asked_for = {Requirement(line).name for line in needed_by("all")}
    assert not asked_for & {*ASKED_FOR, "rawpy"}
    for name in set(ASKED_FOR) & set(WITH_EXTRAS):
        assert COPYLEFT.search(licence(WITH_EXTRAS[name])), f"{name} is none any more: say so"


def test_the_core_brings_no_copyleft_library():
    assert {name: bundled(package) for name, package in CORE.items() if bundled(package)} == {}


def test_copyleft_libraries_inside_of_extras_are_those_that_the_readme_names():
    for name, package in WITH_EXTRAS.items():
        assert bundled(package) <= BUNDLED.get(name, set()), f"{name}: name it in the README"
