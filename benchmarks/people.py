"""How well `setwise people` groups made photos and clips: B-cubed, minutes and memory.

    python benchmarks/people.py [n_photos] [folder]

Photos and clips are composed of 25 faces that come with scikit-image (see
`tests/faces/made_people.py`): one small photograph per person, in other sizes, light, sharpness
and turn. That is easier than photographs of years; it shows that the parts work together, and
what they cost, not how often dlib's network takes two people for one.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from tests.faces.made_people import FOUND, face, photo
from typer.testing import CliRunner

from setwise.cli import app


def make(folder: Path, n_photos: int, n_clips: int = 4) -> dict[str, list[int]]:
    """Photos of one to three people, and clips of one person; who is in each."""
    import av

    rng, truth = np.random.default_rng(0), {}
    for number in range(n_photos):
        who = rng.choice(len(FOUND), size=rng.integers(1, 4), replace=False).tolist()
        side = int(rng.integers(110, 260))
        name = f"day {number // 20}/{number:04d}.jpg"
        photo(folder / name, [(one, number) for one in who], side=side)
        truth[name] = who
    for number in range(n_clips):
        path = folder / "clips" / f"{number}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.asarray(face(number, 900 + number, 170))
        with av.open(str(path), "w") as clip:
            stream = clip.add_stream("mpeg4", rate=5)
            stream.width, stream.height, stream.pix_fmt = 480, 320, "yuv420p"
            for step in range(12):
                frame = np.full((320, 480), 128, np.uint8)
                frame[60:230, 60 + 10 * step : 230 + 10 * step] = pixels
                clip.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="gray")))
            clip.mux(stream.encode())
        truth[f"clips/{number}.mp4"] = [number]
    return truth


def b_cubed(truth: list, found: list) -> tuple[float, float]:
    """Mean precision and recall of each face."""
    both = Counter(zip(truth, found, strict=True))
    of_truth, of_found = Counter(truth), Counter(found)
    pairs = list(zip(truth, found, strict=True))
    precision = np.mean([both[pair] / of_found[pair[1]] for pair in pairs])
    recall = np.mean([both[pair] / of_truth[pair[0]] for pair in pairs])
    return float(precision), float(recall)


def main() -> None:
    """Make an album, find the people, and say how well."""
    n_photos = int(sys.argv[1]) if len(sys.argv) > 1 else 150
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else "out/people")
    truth = make(folder / "album", n_photos)
    out = folder / "people.setwise"
    out.unlink(missing_ok=True)
    started, cpu = time.perf_counter(), time.process_time()
    command = ["people", str(folder / "album"), "-o", str(out), "--json", "--no-cache"]
    result = CliRunner().invoke(app, command)
    if result.exit_code:
        raise SystemExit(result.output)
    wall, cpu = time.perf_counter() - started, time.process_time() - cpu
    rows = json.loads(result.stdout)["faces"]
    who, called, n_found = [], [], 0
    for name, people in truth.items():
        own = [row for row in rows if row["file"].endswith(f"/{name}")]
        own.sort(key=lambda row: row["left"] or 0)
        n_found += min(len(own), len(people))
        if len(own) == len(people):  # else nobody knows which is which
            who += people
            called += [row["person"] or f"alone {name} {i}" for i, row in enumerate(own)]
    precision, recall = b_cubed(who, called)
    n_faces = sum(map(len, truth.values()))
    named = {one for one in called if not one.startswith("alone")}
    mixed = sum(
        len({w for w, c in zip(who, called, strict=True) if c == one}) > 1 for one in named
    )
    score = 2 * precision * recall / (precision + recall)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(truth)} photos and clips, {n_faces} faces, {n_found} found")
    print(f"{len(named)} people for {len(FOUND)}, {mixed} of them mixed")
    print(f"B-cubed: precision {precision:.3f}, recall {recall:.3f}, F {score:.3f}")
    print(f"{wall:.0f} s wall, {cpu:.0f} s CPU, {peak:.1f} GiB at most")


if __name__ == "__main__":
    main()
