"""A server of the page that is killed again and again while a client changes its gallery."""

from __future__ import annotations

import random
import secrets
import threading
import time
from pathlib import Path
from typing import Any

import httpx

import setwise
from page_load import Files, Server, ask, overview, started

Sets = dict[tuple[str, str], int]  # photos of each set, by class and name


class Killed:
    """A server that somebody kills, and that is started again on the same port."""

    def __init__(self, gallery: Path) -> None:
        self.gallery, self.n_kills = gallery, 0
        self.server: Server = started(gallery)
        self.port = int(self.server.address.rpartition(":")[2])

    def kill(self) -> None:
        """As by a power cut; then start it again."""
        self.server.process.kill()
        self.server.process.wait()
        self.n_kills += 1
        self.server = started(self.gallery, port=self.port)


def sets_of(found: dict[str, Any]) -> Sets:
    """The sets of an overview."""
    return {
        (one["name"], album["name"]): album["n_images"]
        for one in found["classes"]
        for album in one["sets"]
    }


def insisting(
    client: httpx.Client, path: str, body: dict[str, Any], cut: list[str]
) -> dict[str, Any]:
    """Send a change under one key until the server says what became of it.

    ``cut`` gets the keys of those whose server was killed before it answered.
    """
    key = secrets.token_hex(8)
    while True:
        try:
            found = client.post(path, json=body | {"key": key})
        except httpx.ConnectError:
            time.sleep(0.1)
            continue
        except httpx.TransportError:  # killed before it answered
            cut.append(key)
            time.sleep(0.1)
            continue
        if found.status_code in (200, 409, 422):
            result: dict[str, Any] = found.json()
            return result
        time.sleep(0.1)


def kill_often(gallery: Path, files: Files, n_kills: int) -> str:
    """Kill the server so often; what was lost or doubled, in words."""
    rng, killed = random.Random(0), Killed(gallery)
    lost, cut, n_changes, over = list[str](), list[str](), 0, threading.Event()

    def killer() -> None:
        while killed.n_kills < n_kills:
            time.sleep(rng.uniform(0.02, 6.0))
            killed.kill()
        over.set()

    thread = threading.Thread(target=killer, daemon=True)
    with killed.server.client() as client:
        expected = sets_of(overview(client))
        thread.start()
        while not over.is_set():
            try:
                expected, problem = _change(client, rng, expected, files, cut)
                n_changes += 1
            except httpx.TransportError:
                time.sleep(0.1)
                continue
            if problem:
                lost.append(problem)
        thread.join()
        if sets_of(overview(client)) != expected:
            lost.append("the gallery is not what was asked for in the end")
        undone = 0
        while client.post("/api/v1/commands/undo", json={}).status_code == 200:
            undone += 1
    killed.server.process.terminate()
    killed.server.process.wait()
    setwise.load(gallery)
    words = f"{n_changes} changes, {len(set(cut))} of them cut, {len(lost)} lost or doubled"
    words += f", {undone} undone in the end"
    return words + (f": {lost[:3]}" if lost else "")


def _change(
    client: httpx.Client, rng: random.Random, expected: Sets, files: Files, cut: list[str]
) -> tuple[Sets, str]:
    """Make one change, and see whether it is there; the sets now, and what is wrong."""
    before = sets_of(overview(client))
    if before != expected:
        return before, f"{set(before) ^ set(expected)} between two changes"
    albums = [
        (one["name"], album) for one in overview(client)["classes"] for album in one["sets"]
    ]
    label, album = rng.choice(albums)
    name, now = album["name"], dict(expected)
    kind = rng.choice(["move", "remove", "enroll"])
    if kind == "move":
        to = rng.choice([one for one, _ in albums if one != label])
        body = {"set_id": album["id"], "label": to}
        done = insisting(client, "/api/v1/commands/move", body, cut)
        now[to, name] = now.pop((label, name))
    elif kind == "remove":
        body = {"set_id": album["id"], "images": [0]}
        done = insisting(client, "/api/v1/commands/remove_photos", body, cut)
        now[label, name] -= 1
    else:
        job = _asked(client, files)
        body = {"job": job, "label": label, "without": []}
        done = insisting(client, "/api/v1/commands/enroll", body, cut)
        if done.get("state") == "done":
            name = done["words"].removeprefix("Added ").rpartition(" (")[0]
            now[label, name] = len(files)
    if done.get("state") != "done":
        now = dict(expected)  # refused, in a sentence
    after = sets_of(overview(client))
    return after, "" if after == now else f"{kind} {name}: {done}"


def _asked(client: httpx.Client, files: Files) -> str:
    """A question that the server has."""
    while True:
        try:
            sent = client.post("/api/v1/identify", files=files)
            if sent.status_code == 202:
                return str(sent.json()["id"])
        except httpx.TransportError:
            pass
        time.sleep(0.1)


__all__ = ["ask", "kill_often"]
