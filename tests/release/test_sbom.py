"""The components of a release, and versions below which one is known to be vulnerable."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, distributions, version

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from tests.release.project import PROJECT, ROOT, lowest_versions
from tests.release.sbom import document, normal

FIXED = tomllib.loads((ROOT / "tests/release/advisories.toml").read_text("utf-8"))["fixed"]


@pytest.fixture(scope="module")
def listed():
    return document(distributions())


def test_every_dependency_is_listed_once_with_a_licence(listed):
    names = [normal(one["name"]) for one in listed["components"]]
    assert len(names) == len(set(names))
    assert {normal(Requirement(line).name) for line in PROJECT["dependencies"]} <= set(names)
    for one in [listed["metadata"]["component"], *listed["components"]]:
        assert re.fullmatch(r"pkg:pypi/[\w.-]+@[\w.+!-]+", one["purl"])
        (told,) = one["licenses"]
        assert told.get("expression") or "name" in told["license"]
    assert listed["metadata"]["component"]["licenses"] == [{"expression": "BSD-3-Clause"}]


def test_what_needs_what_refers_to_what_is_listed(listed):
    known = {one["bom-ref"] for one in listed["components"]}
    own, *others = listed["dependencies"]
    assert own["ref"] == listed["metadata"]["component"]["bom-ref"]
    assert {one["ref"] for one in others} == known
    assert all(set(one["dependsOn"]) <= known for one in listed["dependencies"])
    assert any(ref.startswith("pkg:pypi/numpy@") for ref in own["dependsOn"])


def test_equal_environments_give_equal_lists(listed):
    again = document(reversed(list(distributions())))
    assert json.dumps(again) == json.dumps(listed)


@pytest.mark.parametrize("fixed", FIXED, ids=lambda fixed: f"{fixed['package']} {fixed['id']}")
def test_no_version_that_is_known_to_be_vulnerable(fixed):
    """Neither what is installed here, nor the lowest that pyproject.toml allows."""
    name, least = fixed["package"], Version(fixed["version"])
    lowest = dict(line.split("==") for line in lowest_versions() if "==" in line)
    if name in lowest:
        assert Version(lowest[name]) >= least
    try:
        assert Version(version(name)) >= least
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
