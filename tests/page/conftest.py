from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason='needs pip install "setwise[serve]"')
pytest.importorskip("httpx")
from tests.page.page_server import served, settings_for, write_gallery


@pytest.fixture(scope="session")
def gallery_file(tmp_path_factory):
    return write_gallery(tmp_path_factory.mktemp("gallery") / "people.setwise")


@pytest.fixture
def page(gallery_file, tmp_path):
    with served(settings_for(gallery_file, tmp_path)) as running:
        yield running


@pytest.fixture(scope="module")
def shared_page(gallery_file, tmp_path_factory):
    """For tests that change nothing."""
    folder = tmp_path_factory.mktemp("shared")
    with served(settings_for(gallery_file, folder), learns=True) as running:
        yield running
