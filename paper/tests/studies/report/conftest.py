"""Reports of made results, written once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

for module in ("jinja2", "matplotlib", "pydantic"):
    pytest.importorskip(module)


@pytest.fixture(scope="session")
def rendered():
    """``rendered(made)`` is the page of a made result, whose images are at hand."""
    from setwise_paper.report import pictures
    from setwise_paper.report.render import render

    def page(made) -> str:
        with pytest.MonkeyPatch.context() as patch:
            found = SimpleNamespace(images=made.images, sets=made.sets, labels=made.labels)
            patch.setattr(pictures, "read_data", lambda data, folder: found)
            return render(made.result)

    return page


@pytest.fixture(scope="session")
def ordinary(rendered):
    from tests.studies.report.made_results import made

    return rendered(made())


@pytest.fixture(scope="session")
def hostile(rendered):
    from tests.studies.report.made_results import HOSTILE, failure, made

    text = " ".join(HOSTILE)
    return rendered(made(HOSTILE, text, failures=[failure(text)], n_finished=50))
