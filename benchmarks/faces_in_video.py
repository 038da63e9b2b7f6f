"""Faces in a long film of 1280 x 720: minutes of work and memory, by each detector.

A made film: a real head comes and goes over a background of bricks, above a shirt of folds,
beside enlarged faces of Labeled Faces in the Wild. Work and memory grow with the film, so that
two lengths say what ten minutes take. All look at the same film; each in a process of its own,
whose peak of memory is that of everything it does.

python benchmarks/faces_in_video.py [minutes]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
from PIL import Image
from skimage import data

from harness import publish
from setwise.faces import DlibFaces, HaarFaces, YuNetFaces, face_tracks
from setwise.io.frames import Reading, open_video

WIDTH, HEIGHT, RATE, HEAD = 1280, 720, 25, 260
EVERY_S = 0.2
# The head is there for so many seconds, then away for half of that.
SCENE_S = 8


def folds(seed: int, height: int, width: int) -> np.ndarray:
    """Cloth: smooth noise of three scales, which looks like folds in changing light."""
    rng = np.random.default_rng(seed)
    made = np.zeros((height, width))
    for i, cells in enumerate([(9, 16), (18, 32), (36, 64)]):
        noise = Image.fromarray(rng.normal(size=cells).astype(np.float32))
        made += np.asarray(noise.resize((width, height), Image.Resampling.BICUBIC)) / (1 + i)
    return np.clip(128 + 60 * made, 0, 255).astype(np.uint8)


def film(minutes: float) -> Iterator[np.ndarray]:
    """Grey frames."""
    bricks = np.tile(data.brick(), (2, 4))
    shirt = folds(7, 360, 640)
    photo = Image.fromarray(data.astronaut()[10:250, 100:340]).convert("L")
    head = np.asarray(photo.resize((HEAD, HEAD)))
    strangers = [
        np.asarray(Image.fromarray((255 * face).astype(np.uint8)).resize((160, 160)))
        for face in data.lfw_subset()[[3, 40, 77]]
    ]
    for i in range(round(minutes * 60 * RATE)):
        second = i / RATE
        shift = round(40 * np.sin(second))
        frame = bricks[shift + 60 :][:HEIGHT, 60 + shift :][:, :WIDTH].copy()
        frame[340:700, 320 + shift : 960 + shift] = shirt
        scene, inside = divmod(second, 1.5 * SCENE_S)
        if inside < SCENE_S:
            left = round(460 + 200 * np.sin(second / 2) + 100 * (scene % 2))
            frame[70 : 70 + HEAD, left : left + HEAD] = head
        frame[60:220, 1080:1240] = strangers[int(scene) % 3]
        yield frame


def write_film(path: Path, minutes: float) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE, options={"preset": "superfast"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for pixels in film(minutes):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="gray")))
        container.mux(stream.encode())


def measure(path: str, name: str) -> dict[str, object]:
    """What the faces of a film take, in this process."""
    started, used = time.perf_counter(), time.process_time()
    if name == "decoding alone":
        with open_video("benchmark", path, Reading(every_s=EVERY_S)) as video:
            found: dict[str, object] = {"n_frames": sum(1 for _ in video), "names": []}
    else:
        kinds = {"YuNet": YuNetFaces, "dlib": DlibFaces, "Haar": HaarFaces}
        detector = kinds[name](min_size=40)
        tracks = face_tracks(path, detector=detector, every_s=EVERY_S)
        found = {"names": [n.split("/")[1] for n in tracks.names], "notes": tracks.report.notes}
    return found | {
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - used,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main(minutes: float) -> None:
    """Measure, print and keep."""
    rows, records = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for length in (minutes / 2, minutes):
            path = Path(folder) / f"{length:g}.mp4"
            write_film(path, length)
            for name in ("decoding alone", "YuNet", "dlib", "Haar"):
                command = [sys.executable, __file__, "--measure", str(path), name]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                found = json.loads(done.stdout.splitlines()[-1])
                ten_minutes = found["seconds"] / length * 10 / 60
                rows.append([
                    f"{length:g}", name, f"{found['seconds']:.0f} s",
                    f"{found['cpu_seconds']:.0f} s", f"{found['peak_mib']:.0f} MiB",
                    f"{ten_minutes:.1f} min", str(len(found["names"])),
                ])  # fmt: skip
                records[f"{name}, {length:g} min"] = found
                print(rows[-1], found["names"], flush=True)
    columns = ["film, min", "what", "time", "CPU", "peak", "for 10 min", "sets"]
    notes = [
        f"a frame each {EVERY_S:g} s, faces of 40 pixels and more",
        "ten minutes by the rate of the film measured, not by a run",
    ]
    publish("faces_in_video", "Faces in a film of 720p", notes, columns, rows, runs=records)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:])))
    else:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
