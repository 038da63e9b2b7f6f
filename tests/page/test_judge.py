"""Vectors are judged as photos are: as JSON, as NumPy files, and by a server started anew."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.page.page_server import served

from setwise import CVC, load
from setwise.evaluation.testing import separable_sets
from setwise.page import Limits, Settings


@pytest.fixture(scope="module")
def vectors():
    sets, labels = separable_sets(n_classes=3, n_sets=5)
    names = np.array(["anna", "bo", "cleo"])[labels]
    is_probe = np.arange(len(sets)) % 5 == 4
    return sets, names, is_probe


@pytest.fixture(scope="module")
def settings(vectors, tmp_path_factory):
    sets, names, is_probe = vectors
    clf = CVC(dims=(2,), unknown=0.34, random_state=0).fit(
        [one for one, out in zip(sets, is_probe, strict=True) if not out], names[~is_probe]
    )
    return Settings(Path(clf.save(tmp_path_factory.mktemp("judge") / "people.setwise")))


@pytest.fixture(scope="module")
def page(settings):
    with served(settings) as running:
        yield running


@pytest.fixture(scope="module")
def probes(vectors):
    sets, _, is_probe = vectors
    return {f"set {i}": np.asarray(sets[i]) for i in np.flatnonzero(is_probe)}


def npz(arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def npy(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def judged(page, **request) -> dict:
    found = page.client.post("/api/v1/judge", **request)
    assert found.status_code == 200, found.text
    return found.json()


def as_json(probes) -> dict:
    sets = [{"name": name, "vectors": rows.tolist()} for name, rows in probes.items()]
    return {"json": {"sets": sets}}


def as_file(content: bytes, kind="application/octet-stream") -> dict:
    return {"content": content, "headers": {"Content-Type": kind}}


def test_vectors_are_judged_as_the_classifier_judges_them(page, probes):
    clf = load(page.gallery)
    same = {name: rows[: min(map(len, probes.values()))] for name, rows in probes.items()}
    expected = [one.to_dict() for one in clf.judge(list(same.values()))]
    stacked = as_file(npy(np.stack(list(same.values()))), "application/x-npy")
    ways = (as_json(same), as_file(npz(same)), stacked)
    for way in ways:
        found = judged(page, **way)
        assert found["state"] == "done"
        for answer, wanted in zip(found["answers"], expected, strict=True):
            assert answer["label"] == wanted["label"]
            assert answer["probability"] == wanted["probability"]
            assert answer["photos"] == []
            assert answer["votes"]
    assert [one["set"]["name"] for one in judged(page, **ways[1])["answers"]] == list(probes)


def test_a_client_that_does_not_wait_looks_later(page, probes):
    headers = {"Prefer": ""}
    asked = page.client.post("/api/v1/judge", **as_json(probes), headers=headers)
    assert asked.status_code == 202
    assert page.question(asked.json()["id"])["state"] == "done"


def test_judged_vectors_can_be_enrolled_also_after_a_restart(settings, probes, tmp_path):
    own = replace(settings, gallery=tmp_path / "people.setwise")
    own.gallery.write_bytes(settings.gallery.read_bytes())
    with served(own) as page:
        job = judged(page, **as_json({"new": probes["set 4"]}))["id"]
    with served(own) as page:
        done = page.post(
            "/api/v1/commands/enroll", {"job": job, "label": "anna", "without": []}
        )
        assert done.json()["words"].startswith("Added new (")
    sets = load(own.gallery).gallery_.sets
    assert np.allclose(sets[sets.names.index("new")], probes["set 4"])


ABOUT = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 9, 9), }"
HUGE = b"\x93NUMPY\x01\x00v\x00" + ABOUT


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"json": {"sets": []}}, "sets"),
        ({"json": {"sets": [{"vectors": [[1, 2], [3]]}]}}, "equally many numbers"),
        ({"content": b'{"sets": [{"vectors": [[NaN]]}]}',
          "headers": {"Content-Type": "application/json"}}, "finite"),
        ({"json": {"sets": [{"vectors": [[1.0, 2.0]]}]}}, "features"),
        (as_file(b"neither"), "neither an .npz nor an .npy"),
        (as_file(HUGE.ljust(128) + bytes(64)), "declares"),
        (as_file(npz({"a": np.array([{}], dtype=object)})), "object"),
        (as_file(b"x", "text/plain"), "application/json"),
    ],
)  # fmt: skip
def test_what_is_no_vectors_is_refused_in_a_sentence(page, request_, words):
    found = page.client.post("/api/v1/judge", **request_)
    error = found.json().get("error")
    assert found.status_code in (200, 202, 422), found.text
    assert words in error, error
    assert not any(leak in error for leak in ("load_arrays", "/tmp"))


def test_too_many_bytes_are_refused(settings, tmp_path):
    own = replace(settings, gallery=tmp_path / "g.setwise", limits=Limits(unpacked_bytes=1000))
    own.gallery.write_bytes(settings.gallery.read_bytes())
    with served(own) as page:
        found = page.client.post("/api/v1/judge", **as_file(npy(np.zeros((2, 50, 20)))))
        assert "take more than" in found.json()["error"]


def test_much_json_is_refused(page):
    many = {"sets": [{"vectors": [[1.0] * 1000] * 3000}]}
    refused = page.client.post("/api/v1/judge", json=many)
    assert refused.status_code == 413
    assert "NumPy file" in refused.json()["error"]
