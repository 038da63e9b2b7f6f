"""A real server in a thread, a small gallery of stripes, and photos to ask about."""

from __future__ import annotations

import io
import shutil
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import uvicorn
from PIL import Image
from tests.striped_sets import stripes

from setwise import CVC, SetBatch
from setwise.page import Limits, Settings, create_app
from setwise.page.guard import server_config
from setwise.sets import Origins

ANGLES = {"flat": 0.1, "slanted": 0.8, "steep": 1.5}
SHAPE = (12, 16)


def png(image: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "PNG")
    return stream.getvalue()


def photos(label: str, n_images: int = 8, seed: int = 5) -> list[bytes]:
    """PNG files of one class."""
    rng = np.random.default_rng(seed)
    return [png(image) for image in stripes(ANGLES[label], n_images, rng, SHAPE)]


def album(label: str = "flat", n_images: int = 8, seed: int = 5, folder: str = "album"):
    """What a browser sends when a folder is dropped."""
    made = photos(label, n_images, seed)
    prefix = f"{folder}/" if folder else ""
    return [("files", (f"{prefix}{i}.png", one, "image/png")) for i, one in enumerate(made)]


def zipped(entries: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return stream.getvalue()


def gallery_sets(n_sets: int = 3, seed: int = 0) -> SetBatch:
    rng = np.random.default_rng(seed)
    labels = [label for label in ANGLES for _ in range(n_sets)]
    images = [stripes(ANGLES[label], 8, rng, SHAPE) for label in labels]
    names = [f"{label}/{i % n_sets}" for i, label in enumerate(labels)]
    sets = SetBatch.from_images(images, names, np.array(labels))
    files = [f"{name}/{j}.png" for name in names for j in range(8)]
    thumbnails = []
    for image in sets.images:
        stream = io.BytesIO()
        Image.fromarray(image).save(stream, "JPEG")
        thumbnails.append(stream.getvalue())
    return sets.replaced(origins=Origins.of_files(files, thumbnails=thumbnails))


def write_gallery(path: Path, **parameters) -> Path:
    sets = gallery_sets()
    looks = (("plain", "mean"), ("plain", "svd"))
    clf = CVC((1, 2), representations=looks, unknown=0.34, random_state=0, **parameters)
    return clf.fit(sets, sets.labels).save(path)


class Page:
    """A server that runs, and a client of it."""

    def __init__(self, address: str, app, gallery: Path) -> None:
        self.address, self.state, self.gallery = address, app.state.setwise, gallery
        self.client = self.new_client()

    def new_client(self, **options) -> httpx.Client:
        """A client that waits for its changes."""
        headers = {"Prefer": "wait=60"} | options.pop("headers", {})
        return httpx.Client(base_url=self.address, timeout=60, headers=headers, **options)

    def get(self, path: str, **options) -> httpx.Response:
        return self.client.get(path, **options)

    def post(self, path: str, body=None, **options) -> httpx.Response:
        return self.client.post(path, json=body if body is not None else {}, **options)

    def ask(self, files) -> str:
        answer = self.client.post("/api/v1/identify", files=files)
        assert answer.status_code == 202, answer.text
        return answer.json()["id"]

    def question(self, ask: str, client: httpx.Client | None = None) -> dict:
        """The question once it is over."""
        for _ in range(600):
            found = (client or self.client).get(f"/api/v1/identify/{ask}").json()
            if found["state"] in ("done", "failed", "cancelled"):
                return found
            time.sleep(0.05)
        raise AssertionError(found)

    def answered(self, files) -> dict:
        found = self.question(self.ask(files))
        assert found["state"] == "done", found
        return found

    def overview(self) -> dict:
        return self.get("/api/v1/gallery").json()

    def sets(self) -> dict[str, dict]:
        """The sets of the gallery, by name, with their class."""
        return {
            one["name"]: one | {"label": group["name"]}
            for group in self.overview()["classes"]
            for one in group["sets"]
        }

    def enroll(self, label: str, seed: int = 5, **body) -> httpx.Response:
        job = self.answered(album("flat", seed=seed))["id"]
        return self.post("/api/v1/commands/enroll", {"job": job, "label": label} | body)


def uploaded(page: Page) -> set[Path]:
    """The folders of all uploads that are kept."""
    return {path for path in page.state.questions.folder.iterdir() if path.is_dir()}


@contextmanager
def served(settings: Settings, *, learns: bool = False) -> Iterator[Page]:
    """A server in a thread, on any free port; most tests need not know what is weak."""
    app = create_app(settings)
    if not learns and app.state.setwise.has_gallery:
        for one in (app.state.setwise.insight, app.state.setwise.learner):
            one.start = lambda: None
    config = server_config(app, replace(settings, host="127.0.0.1", port=0))
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    page = Page(f"http://127.0.0.1:{port}", app, settings.gallery)
    try:
        yield page
    finally:
        page.client.close()
        server.should_exit = True
        thread.join(timeout=20)


def settings_for(gallery: Path, folder: Path, limits: Limits | None = None, **options):
    """Settings for a copy of a gallery file."""
    own = Path(shutil.copy(gallery, folder / "people.setwise"))
    return replace(Settings(own, limits=limits or Limits()), **options)
