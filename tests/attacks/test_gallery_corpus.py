"""Two thousand damaged or lying gallery files: one clear error each, or the same answers."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from tests.conftest import toy_sets
from tests.striped_sets import stripes

import setwise
from setwise import SetBatch
from setwise.errors import ConvergenceWarning, SetwiseError
from setwise.features import Pixels
from setwise.io.tensors import read_tensors, write_tensors

N_BYTES, N_SIGNED = 1600, 400


@pytest.fixture(scope="module")
def gallery_file(tmp_path_factory):
    sets, labels = toy_sets(5, n_classes=3, n_sets=3, noise=1.0)
    clf = setwise.CVC((1, 2), unknown=0.5, unknown_label=-1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(sets, labels)
    path = clf.save(tmp_path_factory.mktemp("corpus") / "people.setwise")
    return path, sets[:2]


@pytest.fixture(scope="module")
def photo_file(tmp_path_factory):
    """A gallery of images, with features of them that are kept in the file."""
    rng = np.random.default_rng(0)
    images = [stripes(angle, 4, rng, (12, 16)) for angle in (0.1, 0.1, 0.8, 0.8)]
    sets = SetBatch.from_images(images, list("abcd"), np.array([1, 1, 2, 2]))
    looks = ((("small", Pixels(8)), "mean"), (("small", Pixels(8)), "svd"))
    clf = setwise.CVC((1, 2), representations=looks, random_state=0).fit(sets, sets.labels)
    path = clf.save(tmp_path_factory.mktemp("corpus") / "photos.setwise")
    return path, [np.asarray(one, dtype=float) for one in sets[:2]]


def damaged(content, rng):
    """The bytes of a file, spoilt in one of the ways in which files are."""
    kind = int(rng.integers(6))
    mutant = bytearray(content)
    if kind == 0:
        return mutant[: int(rng.integers(len(content)))]
    if kind == 1:
        return mutant + rng.bytes(int(rng.integers(1, 100)))
    if kind == 2:  # a block is lost, the rest moves up
        start = int(rng.integers(len(content)))
        del mutant[start : start + int(rng.integers(1, 500))]
        return mutant
    if kind == 3:  # a block of zeros, as of a disk
        start = int(rng.integers(len(content)))
        mutant[start : start + 512] = bytes(len(mutant[start : start + 512]))
        return mutant
    reach = len(content) if kind == 4 else 6000  # the header alone
    for place in rng.integers(reach, size=int(rng.integers(1, 6))):
        mutant[place] ^= int(rng.integers(1, 256))
    return mutant


def test_damaged_files_are_refused_or_change_nothing(gallery_file, tmp_path):
    path, probes = gallery_file
    content, rng = path.read_bytes(), np.random.default_rng(0)
    expected = setwise.load(path).predict_proba(probes)
    victim, n_refused = tmp_path / "victim.setwise", 0
    for _ in range(N_BYTES):
        victim.write_bytes(damaged(content, rng))
        try:
            again = setwise.load(victim)
        except SetwiseError as error:
            n_refused += "victim.setwise" in str(error)
            continue
        np.testing.assert_array_equal(again.predict_proba(probes), expected)
    assert n_refused > 0.95 * N_BYTES


ODD = (None, -1, 0, 2**63, 1e300, "x" * 50, "\0", [], {}, [[]], True, {"name": "svd"})


def leaves(value, path=()):
    """Places of everything inside a document."""
    yield path
    inside = {dict: lambda: value.items(), list: lambda: enumerate(value)}.get(type(value))
    for key, part in inside() if inside else ():
        yield from leaves(part, (*path, key))


def lie_about(document, arrays, rng):
    """Change one thing of the document, or one array, as somebody would who can sign it."""
    if rng.random() < 0.5:
        places = [place for place in leaves(document) if place]
        *above, last = places[int(rng.integers(len(places)))]
        part = document
        for key in above:
            part = part[key]
        part[last] = ODD[int(rng.integers(len(ODD)))]
        return
    name = sorted(arrays)[int(rng.integers(len(arrays)))]
    array = arrays[name].copy()
    changes = (
        lambda a: a[:-1],
        lambda a: np.concatenate([a, a]),
        lambda a: a.reshape(-1),
        lambda a: a.astype(np.float32) if a.dtype.kind == "i" else a.astype(np.int32),
        lambda a: ~a if a.dtype.kind == "b" else -a,
        lambda a: np.zeros_like(a),
        lambda a: (a * 1e6).astype(a.dtype),
        lambda a: a[..., ::-1],
    )
    arrays[name] = changes[int(rng.integers(len(changes)))](array)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::setwise.errors.NoInformationWarning")
def test_lies_that_are_signed_are_refused_or_give_finite_answers(
    gallery_file, photo_file, tmp_path
):
    rng, n_refused = np.random.default_rng(1), 0
    victim = tmp_path / "victim.setwise"
    for i in range(N_SIGNED):
        path, probes = photo_file if i % 2 else gallery_file
        document, arrays = read_tensors(path, "test")
        lie_about(document, arrays, rng)
        document.pop("sha256", None)
        write_tensors(victim, document, arrays)
        try:
            # Codes that are not those of the columns are found out when a probe comes: said so.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                shares = setwise.load(victim).predict_proba(probes)
        except SetwiseError:
            n_refused += 1
            continue
        assert np.isfinite(shares).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert n_refused > 0.5 * N_SIGNED


def steps_of(document):
    views = [r["view"] for r in document["description"]["representations"]]
    return [step for view in views for step in view["steps"]]


GREEDY = {
    "a side": lambda d: [step.update(size=50_000) for step in steps_of(d)],
    "a batch": lambda d: [step.update({"name": "HOG", "size": 10**9}) for step in steps_of(d)],
    "no images": lambda d: d.update(image_shape=None),
    "tries": lambda d: d["description"].update(
        clusterer={"name": "scikit-learn", "kind": "KMeans", "parameters": {"n_init": 10**8}}
    ),
}


@pytest.mark.parametrize("lie", GREEDY)
def test_what_a_file_asks_for_is_bounded(photo_file, tmp_path, lie):
    """Of what takes memory or hours before a first answer."""
    document, arrays = read_tensors(photo_file[0], "test")
    GREEDY[lie](document)
    del document["sha256"]
    write_tensors(tmp_path / "victim.setwise", document, arrays)
    with pytest.raises(SetwiseError, match=r"victim\.setwise"):
        setwise.load(tmp_path / "victim.setwise")


WATCHED = """
import sys, setwise
setwise.load(sys.argv[1])  # everything is imported now
FORBIDDEN = ("import", "exec", "compile", "pickle.find_class", "os.system", "subprocess.Popen")

def watch(event, arguments):
    if event in FORBIDDEN:
        sys.stderr.write(f"{event} {arguments}")
        raise RuntimeError(event)

sys.addaudithook(watch)
print(len(setwise.load(sys.argv[1]).gallery_.sets))
"""


def test_loading_imports_runs_and_unpickles_nothing(gallery_file):
    path, _ = gallery_file
    done = subprocess.run([sys.executable, "-c", WATCHED, path], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("9", "")
