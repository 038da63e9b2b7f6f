"""What a gallery file makes setwise open, write or connect to: nothing but the gallery."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import toy_sets

import setwise
from setwise.classify import Shortlist
from setwise.index import FaissIndex
from setwise.io.tensors import read_tensors, write_tensors

pytest.importorskip("faiss")

# Uses and changes honest galleries, so that everything is imported and compiled; then all
# galleries, with a watch on sockets, processes, clients of databases and changes of files.
WATCHED = """
import json, os, sys, warnings
import numpy as np, setwise
warnings.simplefilter("ignore")
probes = np.random.default_rng(0).normal(size=(2, 5, 20)) + 1
CHANGES = ("os.mkdir", "os.remove", "os.rmdir", "os.rename", "os.truncate", "os.link",
           "os.symlink", "os.chmod", "shutil.", "socket.", "subprocess.", "os.exec", "os.posix")
done = []

def use(path):
    clf = setwise.load(path)
    list(clf.judge(probes))
    str(clf.explain(probes[0]))
    clf.enroll(probes, ["new", "newer"]).forget(["newer"]).predict(probes)

def change(path):
    with setwise.edit(path) as clf:
        clf.enroll(probes, ["new", "newer"])
    setwise.load(path).save(path)

def watch(event, arguments):
    if event == "open":
        path, _, flags = arguments
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        if flags & writes and not isinstance(path, int):
            done.append([event, os.fsdecode(path)])
    elif event.startswith(CHANGES):
        done.append([event, *map(str, arguments)])
    elif event == "import" and arguments[0].partition(".")[0] in ("pymilvus", "grpc"):
        done.append([event, arguments[0]])

honest, files = sys.argv[1:3], sys.argv[3:]
for path in honest:
    use(path), change(path)
sys.addaudithook(watch)
found = {}
for path in files:
    for task in (use, change):
        done.clear()
        task(path)
        found[path + " " + task.__name__] = list(done)
print(json.dumps(found))
"""

SECRET = "three years of work"
LIES = {
    "none": {},
    "path": {"name": "faiss", "path": "{home}/thesis.docx", "n_candidates": 10},
    "address": {"name": "milvus", "uri": "http://127.0.0.1:9", "collection": "people"},
    "server": {"name": "pgvector", "uri": "postgresql://127.0.0.1:9/x", "table": "people"},
    "database": {"name": "milvus", "uri": "{home}/thesis.db", "token": "secret"},
}


@cache
def fitted(above: int) -> setwise.CVC:
    """A gallery of eight classes, with a shortlist above so many."""
    sets, labels = toy_sets(3, n_classes=8, n_sets=2)
    names = np.array([f"class {code}" for code in labels])
    near = Shortlist(n_classes=3, n_compared=6, above=above)
    index = FaissIndex(n_candidates=10)
    clf = setwise.CVC((1,), shortlist=near, index=index, random_state=0)
    return clf.fit(sets, names)


def saved(path: Path, above: int, lie: dict[str, object]) -> Path:
    """The file of such a gallery, with what it claims."""
    document, arrays = read_tensors(fitted(above).save(path), "test", 2)
    document["description"]["index"] = lie or document["description"]["index"]
    del document["sha256"]
    write_tensors(path, document, arrays)
    return path


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """The events of each task with each gallery, and the folder of what must not change."""
    root = tmp_path_factory.mktemp("watched")
    home, shared = root / "home", root / "shared"
    home.mkdir()
    shared.mkdir()
    for name in ("thesis.docx", "thesis.db"):
        (home / name).write_text(SECRET)
    honest = [saved(root / f"honest {above}.setwise", above, {}) for above in (7, 8)]
    files = []
    for lie, about in LIES.items():
        index = {
            key: value.format(home=home) if isinstance(value, str) else value
            for key, value in about.items()
        }
        # Above 7, the index is in use; above 8, from the first class that is enrolled.
        files += [saved(shared / f"{lie} {above}.setwise", above, index) for above in (7, 8)]
    places = ("SETWISE_MILVUS", "SETWISE_PGVECTOR")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(places)}
    environment |= {"MILVUS_TOKEN": "root:SECRET", "PGPASSWORD": "SECRET"}
    run = subprocess.run(
        [sys.executable, "-c", WATCHED, *honest, *files],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1]), home


def test_load_judge_explain_and_enroll_change_nothing(watched):
    found = {task: events for task, events in watched[0].items() if task.endswith(" use")}
    assert len(found) == 2 * len(LIES)
    assert not any(found.values()), found


def test_edit_and_save_write_the_gallery_and_its_lock_alone(watched):
    found = {task: events for task, events in watched[0].items() if task.endswith(" change")}
    assert len(found) == 2 * len(LIES)
    for task, events in found.items():
        own = Path(task.removesuffix(" change"))
        assert ["open", str(own.with_name(f".{own.name}.lock"))] in events
        for event, *about in events:
            assert event in {"open", "os.rename", "os.remove", "os.chmod"}, (task, event, about)
            for path in map(Path, about[:2] if event == "os.rename" else about[:1]):
                is_hidden = path.name.startswith(f".{own.name}.")
                assert path == own or (path.parent == own.parent and is_hidden), (task, path)


def test_files_that_a_gallery_names_are_untouched(watched):
    home = watched[1]
    assert sorted(path.name for path in home.iterdir()) == ["thesis.db", "thesis.docx"]
    assert {path.read_text() for path in home.iterdir()} == {SECRET}
