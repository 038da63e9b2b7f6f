"""One small job for each extra, with the core and that extra alone: run by environments.py.

python use_extra.py EXTRA
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import setwise
import setwise.errors

sys.path.insert(0, str(Path(__file__).resolve().parent))
from project import EXTRAS

RNG = np.random.default_rng(0)
SETS = [RNG.normal(size=(6, 5)) + 3 * np.eye(5)[i % 2] for i in range(8)]
LABELS = ["anna", "bert"] * 4
IMAGES = setwise.SetBatch.from_images(
    [(127 + 60 * RNG.normal(size=(6, 24, 24))).clip(0, 255).astype(np.uint8) for _ in range(4)],
    labels=["anna", "bert"] * 2,
)


EXTRAS_OF_ALL = EXTRAS["all"][0].removeprefix("setwise[").removesuffix("]").split(",")


def fitted(**parameters: Any) -> setwise.CVC:
    return setwise.CVC(dims=(1, 2), random_state=0, **parameters).fit(SETS, LABELS)


def plot() -> None:
    fitted().explain(SETS[0]).plot("why.png")


def image() -> None:
    from setwise.features.descriptors import HOG

    setwise.CVC(representations=[(HOG(cell=8), "svd")], dims=(1,)).fit(IMAGES, IMAGES.labels)


def video() -> None:
    import av

    with av.open("clip.mp4", "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for level in range(0, 200, 20):
            frame = np.full((64, 64, 3), level, dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
    setwise.load_video("clip.mp4")


def faces() -> None:
    video()
    try:
        setwise.face_tracks("clip.mp4")
    except setwise.errors.DataError as error:  # the detector has looked: there is none
        if "found no face" not in str(error):
            raise


def dlib() -> None:
    faces()
    photo = np.zeros((1, 90, 90, 3), np.uint8)
    assert setwise.features.Faces("dlib").transform(photo).shape == (1, 128)


def mat() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "io"))
    from mat73_writer import save_mat73

    save_mat73(Path("sets.mat"), {"X": np.vstack(SETS), "gnd": np.repeat([1.0, 2.0] * 4, 6)})
    setwise.load_mat("sets.mat", "X", labels="gnd", vectors="rows")


def heif() -> None:
    import pi_heif

    pi_heif.register_heif_opener()


def raw() -> None:
    import rawpy

    from setwise.io.decode import SUFFIXES

    assert rawpy.libraw_version
    assert ".cr2" in SUFFIXES


def onnx() -> None:
    import onnxruntime

    onnxruntime.get_available_providers()


def network() -> None:
    setwise.CVC.for_images(random_state=0).fit(IMAGES, IMAGES.labels)


def report() -> None:
    from setwise.report import render_answers

    clf = fitted()
    render_answers(
        clf.gallery_, setwise.SetBatch.from_list(SETS[:2]), list(clf.judge(SETS[:2]))
    )


def dask() -> None:
    import joblib
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        fitted().predict(SETS[:2])


def faiss() -> None:
    from setwise.index import FaissIndex

    rows = RNG.normal(size=(300, 8))
    FaissIndex().build(rows, np.arange(300)).nearest(rows[0], 3)


def milvus() -> None:
    from setwise._support.extras import require

    require("pymilvus", "milvus")  # more needs a server: tests/index has an embedded one


def pgvector() -> None:
    from setwise._support.extras import require

    require("pg8000", "pgvector")  # more needs a server: tests/index has one


def serve() -> None:
    from setwise.page.app import create_app
    from setwise.page.settings import Settings

    create_app(Settings(fitted().save("people.setwise")))


def everything() -> None:
    for name in EXTRAS_OF_ALL:
        JOBS[name]()


JOBS: dict[str, Callable[[], None]] = {
    job.__name__: job
    for job in (
        *(plot, image, video, faces, dlib, mat, heif, raw, onnx, network, report, dask),
        *(faiss, milvus, pgvector, serve),
    )
} | {"all": everything}


if __name__ == "__main__":
    JOBS[sys.argv[1]]()
    sys.stdout.write(f"{sys.argv[1]}: works\n")
