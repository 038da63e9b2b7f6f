from __future__ import annotations

import pytest

for module in ("fastapi", "uvicorn", "python_multipart", "skimage", "selenium"):
    pytest.importorskip(module)
from tests.page.browser.real_photos import write_gallery, write_inbox, write_probes
from tests.page.browser.serving import own_copy, serving
from tests.page.browser.window import Window
from tests.report.browser import browsing


@pytest.fixture(scope="session")
def real_gallery(tmp_path_factory):
    return write_gallery(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="session")
def probes(tmp_path_factory):
    return write_probes(tmp_path_factory.mktemp("probes"))


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def served(real_gallery, tmp_path_factory):
    """One server for a file of tests, which therefore leave the gallery as they found it."""
    folder = tmp_path_factory.mktemp("served")
    inbox = write_inbox(folder / "inbox")
    (folder / "sorted").mkdir()
    options = ("--inbox", str(inbox), "--into", str(folder / "sorted"))
    with serving(own_copy(real_gallery, folder), *options) as running:
        yield running


@pytest.fixture
def window(driver, served):
    """A fresh window; in the end, nothing failed and nothing was refused by the policy."""
    yield Window(driver, served.address)
    log = Window(driver, served.address).complaints()
    driver.get("about:blank")
    assert log == []
