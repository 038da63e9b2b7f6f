"""The picture of README and the site's first page: a heap, its groups, new albums and answers.

    python benchmarks/front_picture.py [docs/pictures/front.jpg]

Photos are those of docs/start.md, whose script is run; so are its commands, in Python. They are
photographs of scikit-image that are in the public domain or CC0.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

from records import ROOT

PAGE = ROOT / "docs" / "start.md"
FEATURES = ("--features", "pixels,edges")
WIDTH, HEIGHT = 1480, 650
# Its parts, which narrow screens show one below the other.
PANELS = {"heap": (14, 426), "groups": (480, 866), "answers": (920, 1466)}
INK, QUIET, LINE = "#22303c", "#66727e", "#d5dae0"
BLUE, RED, AMBER = "#3f74b5", "#a83b22", "#b7791f"


def practice() -> None:
    """Run the script of the Start page here."""
    script = re.search(
        r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert script is not None
    Path("practice.py").write_text(script[1], encoding="utf-8")
    runpy.run_path("practice.py")


def run(*words: str) -> dict:
    """A command of setwise, and what it prints as JSON."""
    command = [sys.executable, "-c", "from setwise.cli import run; run()", *words, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def photograph(page: str, target: Path, link: str = "", *, height: int) -> None:
    """What Chromium shows of a page, or behind a link of it."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in (
        "headless=new",
        "no-sandbox",
        "hide-scrollbars",
        f"window-size=1200,{height}",
    ):
        options.add_argument(f"--{argument}")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    browser = webdriver.Chrome(options=options, service=service)
    try:
        browser.get(Path(page).resolve().as_uri())
        if link:
            browser.find_element(By.PARTIAL_LINK_TEXT, link).click()
        with Image.open(io.BytesIO(browser.get_screenshot_as_png())) as shot:
            shot.convert("RGB").save(target, quality=90)
    finally:
        browser.quit()


def photos(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jpg"))


class Sheet:
    """Axes in pixels, from the upper left corner."""

    def __init__(self) -> None:
        self.figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor="white")
        self.axes: Axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
        self.axes.axis("off")

    def photo(
        self, path: Path, x: float, y: float, side: float, *, is_out: bool = False
    ) -> None:
        """One photo with round corners; red where it is out of place."""
        with Image.open(path) as image:
            pixels = np.asarray(image)
        shape = FancyBboxPatch(
            (x, y), side, side, boxstyle=f"round,pad=0,rounding_size={side / 12}",
            facecolor="none", edgecolor=RED if is_out else "none", linewidth=3.5, zorder=3,
        )  # fmt: skip
        self.axes.add_patch(shape)
        shown = self.axes.imshow(pixels, extent=(x, x + side, y + side, y), zorder=2)
        shown.set_clip_path(shape)

    def text(self, words: str, x: float, y: float, size: float = 15, **style: object) -> None:
        style = {"color": INK, "va": "center", **style}
        self.axes.text(x, y, words, fontsize=size, **style)

    def arrow(self, x: float, y: float) -> None:
        self.axes.add_patch(
            FancyArrowPatch((x, y), (x + 44, y), arrowstyle="-|>", mutation_scale=22,
                            color=QUIET, linewidth=2)
        )  # fmt: skip

    def heading(self, words: str, below: str, x: float) -> None:
        self.text(words, x, 36, 19, weight="bold")
        self.text(below, x, 66, 13.5, color=QUIET)


def draw(groups: dict[str, list[Path]], answers: Sequence[dict]) -> Figure:
    """Heap, groups and answers, from left to right."""
    sheet = Sheet()
    heap = sorted(Path("heap").iterdir())
    sheet.heading("A heap", f"{len(heap)} albums without labels", 34)
    for number, album in enumerate(heap):
        row, column = divmod(number, 4)
        x, y = 34 + column * 98, 100 + row * 140
        for i, photo in enumerate(photos(album)[:4]):
            sheet.photo(photo, x + (i % 2) * 43, y + (i // 2) * 43, 40)
        sheet.text(album.name, x, y + 99, 12, color=QUIET)
    sheet.arrow(430, 372)
    sheet.heading("Groups", "found by setwise, named by you", 500)
    for row, (name, albums) in enumerate(groups.items()):
        y = 100 + row * 140
        for column, album in enumerate(albums):
            sheet.photo(photos(album)[1], 500 + column * 88, y, 82)
        sheet.text(name, 500, y + 100, 16, weight="bold")
    sheet.arrow(870, 372)
    sheet.heading("New albums", "answered with a reason, or unknown", 940)
    for row, answer in enumerate(answers):
        album, y = Path("new", answer["set"]), 100 + row * 290
        strays = {Path(one["file"]).name for one in answer["out_of_place"]}
        for i, photo in enumerate(photos(album)[:10]):
            x, below = 940 + (i % 5) * 102, y + (i // 5) * 102
            sheet.photo(photo, x, below, 96, is_out=photo.name in strays)
        is_known = answer["label"] in groups
        said = f"{answer['label']}, {answer['probability']:.2f} sure" if is_known else "unknown"
        sheet.text(said, 940, y + 224, 18, weight="bold", color=BLUE if is_known else AMBER)
        why = (
            f"{len(strays)} photos out of place"
            if strays
            else f"most like {answer['nearest']}, but far"
        )
        sheet.text(why, 1446, y + 224, 14, ha="right", color=RED if strays else QUIET)
    return sheet.figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "picture", nargs="?", type=Path, default=ROOT / "docs" / "pictures" / "front.jpg"
    )
    target = parser.parse_args().picture.resolve()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        practice()
        into = ("--into", "groups", "--copy", "--report", "groups.html")
        run("group", "heap", *into, *FEATURES)
        photograph("groups.html", target.with_name("groups.jpg"), height=1460)
        for old, new in re.findall(r'^mv "(.+)" (.+)$', PAGE.read_text("utf-8"), re.MULTILINE):
            Path(old).rename(new)
        named = [folder for folder in Path("groups").iterdir() if folder.is_dir()]
        groups = {folder.name: sorted(folder.iterdir()) for folder in sorted(named)}
        run("fit", "groups", "-o", "things.setwise", "--unknown", "0.25", *FEATURES)
        answers = run("identify", "things.setwise", "new", "--report", "why.html")["answers"]
        photograph("why.html", target.with_name("report.jpg"), "from the phone", height=1250)
        drawn = io.BytesIO()
        draw(groups, answers).savefig(drawn, format="png")
    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(drawn) as image:
        whole = image.convert("RGB")
    whole.save(target, quality=92)
    for name, (left, right) in PANELS.items():
        panel = whole.crop((left, 0, right, HEIGHT))
        panel.save(target.with_stem(f"{target.stem}_{name}"), quality=92)
    print(f"Pictures: {target}, and its parts")


if __name__ == "__main__":
    main()
