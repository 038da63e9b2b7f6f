"""Twelve screens of the page as small pictures: desktop, phone and dark.

    python benchmarks/page_film.py [docs/pictures]

The photos are those of `page_photos.py`.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from page_load import Server, overview, serving, settled, window
from page_photos import write_albums, write_gallery, write_heap

DESKTOP, PHONE = (1440, 900, 800), (390, 844, 300)  # width, height, and width of the picture
NAMED = ("Chelsea", "coffee", "flower", "temple")


class Film:
    """A window whose screens are kept."""

    def __init__(self, driver: Any, server: Server, folder: Path) -> None:
        self.driver, self.server, self.folder = driver, server, folder
        self.width = 0

    def show(
        self, place: str, size: tuple[int, int, int], scheme: str = "light", until: str = "true"
    ) -> None:
        """Open a view, and wait until it is there."""
        wide, high, self.width = size
        is_phone = wide < 600
        metrics = {"width": wide, "height": high, "deviceScaleFactor": 2, "mobile": is_phone}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        touch = {"enabled": is_phone}
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", touch)
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get("about:blank")
        self.driver.get(f"{self.server.address}/{place}")
        self.wait(until)

    def run(self, script: str, *given: object) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(script, *given)

    def wait(self, condition: str) -> None:
        """Wait for a condition, and for all pictures that can be seen."""
        seen = (
            "[...document.images].every((one) => one.complete || !one.getClientRects().length"
            " || one.getBoundingClientRect().top > innerHeight)"
        )
        for wanted in (condition, seen):
            for _ in range(1200):
                if self.run(f"return Boolean({wanted})"):
                    break
                time.sleep(0.05)
            else:
                msg = f"not seen: {wanted}"
                raise TimeoutError(msg)
        time.sleep(0.4)  # for what fades in

    def click(self, selector: str, words: str = "") -> None:
        """Click what holds some words."""
        find = (
            "return [...document.querySelectorAll(arguments[0])].find((one) =>"
            " one.getClientRects().length && one.textContent.includes(arguments[1]))?.click()"
        )
        self.run(find, selector, words)

    def keep(self, name: str) -> None:
        """Keep the screen as a small picture."""
        time.sleep(0.3)
        with Image.open(io.BytesIO(self.driver.get_screenshot_as_png())) as screen:
            high = round(screen.height * self.width / screen.width)
            small = screen.convert("RGB").resize((self.width, high), Image.Resampling.LANCZOS)
        palette = small.quantize(192, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        path = self.folder / f"page_{name}.png"
        palette.save(path, optimize=True)
        print(f"{path}  {path.stat().st_size / 1e3:.0f} kB", flush=True)


def first_run(film: Film, shown: Mapping[str, str]) -> None:
    """From a heap to stacks with names; what each photo shows is given."""
    film.show("", DESKTOP, until="document.querySelector('.folder')")
    film.keep("start")
    film.click(".kind", "Whole photos")
    film.click(".folder", "heap")
    film.wait("document.querySelector('.folders .button.primary')")
    film.click(".folders .button", "Use")
    film.wait("document.querySelector('.start-head .lead')?.textContent.includes('without a')")
    with film.server.client() as client:
        found = client.get("/api/v1/start").json()
        for stack in found["stacks"]:
            name = shown[found["items"][stack["items"][0]]["name"]]
            if name in NAMED:
                body = {"run": found["run"], "items": stack["items"], "name": name}
                client.post("/api/v1/start/name", json=body).raise_for_status()
    film.wait("document.querySelectorAll('.person-stack.named').length >= 4")
    film.keep("stacks")


def misfile(server: Server) -> None:
    """Put some photos where they do not belong."""
    with server.client() as client:
        settled(client)
        sets = {
            (group["name"], one["name"]): one["id"]
            for group in overview(client)["classes"]
            for one in group["sets"]
        }
        rocket = next(set_id for (name, _), set_id in sets.items() if name == "rocket")
        photos = [{"set_id": rocket, "images": [0, 3, 5]}]
        body = {"photos": photos, "label": "Chelsea"}
        client.post("/api/v1/commands/move_photos", json=body).raise_for_status()
        settled(client)


def gallery(film: Film) -> None:
    """The gallery, and a person's page."""
    ready = "document.querySelectorAll('.person').length > 5"
    film.show("#gallery", DESKTOP, until=ready)
    film.keep("wall")
    film.show("#gallery", PHONE, until=ready)
    film.keep("phone")
    film.show("#gallery", DESKTOP, until=ready)
    film.click(".person-open", "Chelsea")
    film.wait("document.querySelectorAll('.doubtful .tile').length > 0")
    film.click(".doubtful .tile")
    film.keep("person")


def inbox(film: Film) -> None:
    """The inbox as a list, and one album at a time."""
    film.show("#inbox", DESKTOP, until="document.querySelectorAll('.inbox tr.done').length > 8")
    film.wait("document.querySelector('#view-inbox').textContent.includes('Somebody new')")
    film.run(
        "[...document.querySelectorAll('.inbox tr')].find((row) =>"
        " row.textContent.includes('Somebody new')).focus()"
    )
    film.keep("sort")
    ready = "document.querySelector('.one-album')"
    film.show("#inbox/one", DESKTOP, "dark", until=ready)
    film.keep("one_dark")
    film.click(".one-answer .button", "Later")
    film.show("#inbox/one", PHONE, until=ready)
    film.keep("phone_one")


def answer(film: Film, root: Path) -> None:
    """An answer and its evidence."""
    film.show("#identify", DESKTOP, until="document.querySelector('#choose-folder')")
    mixed = film.driver.find_element("id", "choose-folder")
    mixed.send_keys(str(root / "ask"))
    film.wait("document.querySelector('.answer .words')")
    film.keep("answer")
    film.click(".tree summary")
    film.wait("document.querySelectorAll('.leaf-photo').length > 2")
    film.run("document.querySelector('.tree').scrollIntoView()")
    film.keep("tree")
    address = film.run("return location.hash || document.querySelector('.keep a').hash")
    film.show(address, PHONE, "dark", until="document.querySelector('.answer .words')")
    film.keep("phone_dark")
    film.show(address, DESKTOP, "dark", until="document.querySelector('.answer .words')")
    film.click(".answer .button", "Yes, add to")
    film.wait("document.querySelector('#busy').textContent.includes('Learning')")
    film.keep("learning_dark")


def main() -> None:
    """Write photos, serve them, and keep the screens."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures").resolve()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(root / "cache")
        write_gallery(write_albums(root))
        (root / "things.setwise").rename(root / "home.setwise")
        shown = write_heap(root / "heap", 90)
        (root / "home").mkdir()
        os.chdir(root / "home")  # which a server opens, too
        ask = root / "ask"
        (root / "inbox" / "2026-07-05").rename(ask)
        photos = sorted(ask.iterdir())
        other = sorted((root / "inbox" / "2026-07-04").iterdir())
        for mine, others in zip(photos[2:4], other, strict=False):
            mine.write_bytes(others.read_bytes())
        new = serving(root / "new.setwise", "--photos", root / "heap")
        with new as server, window(server) as driver:
            first_run(Film(driver, server, folder), shown)
        with serving(
            root / "home.setwise", "--inbox", root / "inbox", "--photos", root / "photos"
        ) as server:
            misfile(server)
            with window(server) as driver:
                film = Film(driver, server, folder)
                for part in (gallery, inbox):
                    part(film)
                answer(film, root)


if __name__ == "__main__":
    main()
