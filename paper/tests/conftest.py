"""Fixtures of setwise's own tests, and reports of made results, written once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from paper.tests import made_results
from tests.conftest import _one_blas_thread, _own_cache, real, seed  # noqa: F401

from setwise_paper.report import parts as pictures
from setwise_paper.report.render import render


@pytest.fixture(scope="session")
def rendered():
    """``rendered(made)`` is the page of a made result, whose images are at hand."""

    def page(made) -> str:
        with pytest.MonkeyPatch.context() as patch:
            found = SimpleNamespace(images=made.images, sets=made.sets, labels=made.labels)
            patch.setattr(pictures, "read_data", lambda data, folder: found)
            return render(made.result)

    return page


@pytest.fixture(scope="session")
def ordinary(rendered):
    return rendered(made_results.made())


@pytest.fixture(scope="session")
def hostile(rendered):
    text = " ".join(made_results.HOSTILE)
    failures = [made_results.failure(text)]
    return rendered(
        made_results.made(made_results.HOSTILE, text, failures=failures, n_finished=50)
    )
