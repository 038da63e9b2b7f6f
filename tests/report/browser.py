"""A browser for tests: Chromium without a window, asked for nothing but local files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
PLACES = {
    "browser": ("chromium", "chromium-browser", "google-chrome"),
    "driver": ("chromedriver",),
}


def find(what: str) -> str:
    """The path of the browser or of its driver; skips, saying so, where there is none."""
    for name in PLACES[what]:
        path = shutil.which(name)
        if path:
            return path
    pytest.skip(f"no {what} to test the report in: none of {', '.join(PLACES[what])} is here")


@contextmanager
def browsing(profile, width: int = 1400, height: int = 1000) -> Iterator:
    """A fresh browser with a profile of its own, closed in the end."""
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = find("browser")
    for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(find("driver")))
    try:
        driver.set_page_load_timeout(30)
        yield driver
    finally:
        driver.quit()


def resize(driver, width: int, height: int = 900) -> None:
    """Make the page so wide, which windows cannot be made as narrow as a phone."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def complaints(driver) -> list[str]:
    """What the browser logged since it was last asked, above the level of information."""
    return [
        f"{entry['level']}: {entry['message']}"
        for entry in driver.get_log("browser")
        if entry["level"] not in ("INFO", "DEBUG")
    ]
