"""Albums of stripes, judged once: known, with outliers, and unknown ones."""

from __future__ import annotations

import pytest

for module in ("jinja2", "matplotlib"):
    pytest.importorskip(module)


@pytest.fixture(scope="session")
def albums():
    from tests.report.made_albums import made

    return made()


@pytest.fixture(scope="session")
def page(albums):
    from setwise.report import render_answers

    return render_answers(albums.gallery, albums.probes, albums.answers)


@pytest.fixture(scope="session")
def hostile_page():
    from tests.report.made_albums import HOSTILE, made

    from setwise.report import render_answers

    given = made(names=HOSTILE, text=" ".join(HOSTILE))
    text = " ".join(HOSTILE)
    return render_answers(
        given.gallery, given.probes, given.answers,
        truth=[HOSTILE[0]] * len(given.probes), title=text, command=text, left_out=[text],
    )  # fmt: skip
