"""What is written down about datasets."""

from __future__ import annotations

import json
import re

import pytest

from setwise_paper.datasets.sources import SOURCES

FILES = [file for one in SOURCES.values() for file in one.files]


def test_the_papers_five_and_the_others_are_there():
    assert set(SOURCES) == {
        *("eth80", "honda", "mobo", "youtube", "cambridge"),
        *("yaleb", "coil20", "hands", "vowels"),
    }


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_says_what_a_user_must_know(name):
    one = SOURCES[name]
    assert one.name == name
    assert all((one.title, one.licence, one.protocol, one.note))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_addresses_name_a_commit_and_are_https(file):
    assert file.address.startswith(
        ("https://raw.githubusercontent.com/", "https://github.com/")
    )
    assert re.search(r"/[0-9a-f]{40}[/.]", file.address)
    assert "/" not in file.name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_checksums_have_the_length_of_checksums(file):
    assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
    assert file.git_blob is None or re.fullmatch("[0-9a-f]{40}", file.git_blob)
    assert file.is_verifiable == (file.name != "CroppedYale.tar.gz")


def test_it_can_be_told_in_json():
    told = json.loads(json.dumps(SOURCES["eth80"].to_dict()))
    assert told["name"] == "eth80"
    assert told["files"][0]["size"] == 2_131_127


def test_names_of_files_are_unique():
    names = [file.name for file in FILES]
    assert len(set(names)) == len(names), "they share one folder"
