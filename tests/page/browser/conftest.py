from __future__ import annotations

import time

import pytest

pytest.importorskip("fastapi", reason='needs pip install "setwise[serve]"')
pytest.importorskip("httpx")
pytest.importorskip("skimage")
pytest.importorskip("selenium")
from tests.page.browser.real_photos import write_gallery, write_inbox, write_probes
from tests.page.browser.window import Window
from tests.page.page_server import served as serve
from tests.page.page_server import settings_for
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


@pytest.fixture(scope="session")
def served(real_gallery, tmp_path_factory):
    """One server for all tests, which therefore leave the gallery as they found it."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "sorted").mkdir()
    folders = {"inbox": write_inbox(folder / "inbox"), "into": folder / "sorted"}
    with serve(settings_for(real_gallery, folder, **folders), learns=True) as running:
        yield running


@pytest.fixture
def window(driver, served):
    """A fresh window; in the end, nothing failed and nothing was refused by the policy."""
    yield Window(driver, served.address)
    log = Window(driver, served.address).complaints()
    # A reload would open its questions again, and show the gallery as it was chosen.
    driver.execute_script("sessionStorage.clear(); localStorage.clear()")
    driver.get("about:blank")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert [line for line in log if not is_gone(line)] == []


def is_gone(line: str) -> bool:
    """Whether it is about a picture that was asked for while its album left the gallery."""
    return "/images/" in line and "404" in line


def settle(served) -> None:
    """Wait until nothing goes on behind the page, so that nothing is drawn again."""
    for _ in range(600):
        inbox = served.get("/api/v1/inbox").json()["state"]
        if inbox == "ready" and not served.overview()["is_learning"]:
            return
        time.sleep(0.05)
    raise AssertionError(inbox)
