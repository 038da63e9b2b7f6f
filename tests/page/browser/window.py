"""A window of the page: what a user does in it, and what a user sees."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.report.browser import complaints, resize

PATIENCE_S = 20
# Small packages that bring axe.min.js along; their own code is not used.
AXE_PACKAGES = ("axe_core_python", "axe_playwright_python")
FIND = """
const [selector, words] = arguments;
return [...document.querySelectorAll(selector)].find(
  (one) => one.getClientRects().length && (!words || one.textContent.includes(words))) ?? null
"""
VIOLATIONS = """
const done = arguments[arguments.length - 1];
axe.run().then((found) => done({
  passes: found.passes.length,
  violations: found.violations
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`),
}));
"""


def axe_source() -> str:
    """The text of axe-core; skips, saying so, where it is not."""
    for package in AXE_PACKAGES:
        spec = find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            return (Path(spec.submodule_search_locations[0]) / "axe.min.js").read_text("utf-8")
    pytest.skip(f"no axe-core to test with: none of {', '.join(AXE_PACKAGES)} is installed")


class Window:
    """What a user does in a window of the page."""

    def __init__(self, driver, address: str) -> None:
        self.driver, self.address = driver, address

    def open(self, view: str = "gallery", width: int = 1200) -> Window:
        resize(self.driver, width)
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}/#{view}")
        self.until("document.querySelectorAll('.person, .class').length > 0", "the gallery")
        return self

    def open_albums(self, width: int = 1200) -> Window:
        """The gallery with all albums."""
        self.open("gallery", width).fill("#shown-as", "albums")
        self.until("document.querySelectorAll('.class').length > 0", "the albums")
        return self

    def show_in(self, scheme: str) -> None:
        """Light or dark, and without animations."""
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, condition: str, what: str = ""):
        """Wait until an expression is true, and return it."""
        from selenium.common.exceptions import TimeoutException
        from selenium.webdriver.support.ui import WebDriverWait

        try:
            return WebDriverWait(self.driver, PATIENCE_S, 0.04).until(
                lambda _: self.run(f"return {condition}")
            )
        except TimeoutException:
            text = self.run("return document.body.innerText")
            raise AssertionError(
                f"not seen: {what or condition}; on the page: {text}"
            ) from None

    def find(self, selector: str, words: str = ""):
        """The first thing that can be seen and holds these words, as soon as it is there."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, PATIENCE_S, 0.04).until(
            lambda _: self.run(FIND, selector, words), f"no {selector} with {words!r}"
        )

    def sees(self, selector: str, words: str = "") -> bool:
        return self.run(FIND, selector, words) is not None

    def click(self, selector: str, words: str = "") -> None:
        from selenium.common.exceptions import StaleElementReferenceException

        for _ in range(5):  # it may be drawn again meanwhile
            with suppress(StaleElementReferenceException):
                one = self.find(selector, words)
                self.run("arguments[0].scrollIntoView({ block: 'center' })", one)
                one.click()
                return
        raise AssertionError(f"{selector} with {words!r} does not stay")

    def press(self, *keys: str) -> None:
        """Keys, to whatever has the focus."""
        from selenium.webdriver.common.action_chains import ActionChains

        chain = ActionChains(self.driver)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def choose_class(self, name: str) -> None:
        """Type a name into the open question which class, and take it."""
        from selenium.webdriver.common.keys import Keys

        field = self.find("dialog.chooser input")
        field.clear()
        field.send_keys(name, Keys.ENTER)
        self.until("!document.querySelector('dialog.chooser')", "a chosen name")

    def ask(self, folder: Path) -> None:
        """Choose a folder, and wait for the answer."""
        self.find("label[for=choose-folder]")
        self.driver.find_element("id", "choose-folder").send_keys(str(folder))
        self.until("document.querySelector('.answer .words')", "an answer")

    def fill(self, selector: str, value: str | int) -> None:
        """Give a field a value, as typing or sliding does."""
        self.run(
            "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
            "field.dispatchEvent(new Event('input'))",
            selector,
            value,
        )

    def text(self, selector: str) -> str:
        return self.run(
            "return document.querySelector(arguments[0])?.textContent ?? ''", selector
        )

    def sets_of(self, label: str) -> list[str]:
        """The names of the sets of a class, as they are shown."""
        return self.run(
            "return [...document.querySelectorAll('.set .name')].filter((name) =>"
            "  name.closest('.class').querySelector('h2').textContent === arguments[0])"
            ".map((name) => name.textContent)",
            label,
        )

    def complaints(self) -> list[str]:
        """What the browser logged: scripts that failed, what the policy refused."""
        return complaints(self.driver)

    def violations(self) -> list[str]:
        """What axe-core finds wrong, however little."""
        if not self.run("return 'axe' in window"):
            self.run(axe_source())
        found = self.driver.execute_async_script(VIOLATIONS)
        assert found["passes"] > 5  # it has looked
        return found["violations"]
