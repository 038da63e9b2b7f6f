"""docs/format.md has every key and array that a gallery file has, with its type."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import toy_sets
from tests.striped_sets import stripes

from setwise import CVC, SetBatch
from setwise.classify import Shortlist
from setwise.features import HOG
from setwise.gallery.file import FORMAT
from setwise.io.tensors import read_tensors
from setwise.sets import Origins

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "format.md").read_text("utf-8")
GALLERIES = Path(__file__).resolve().parents[1] / "data" / "galleries"


def section(title: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    text = PAGE.split(f"\n{title}\n", 1)[1].split("\n#", 1)[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line[:3] == "| `"]
    return [[cell.strip() for cell in row] for row in rows]


def told(title: str) -> list[str]:
    return [name for row in section(title) for name in re.findall("`([^`]+)`", row[0])]


def pattern(name: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", r".+", re.escape(name)))


def written_galleries(folder: Path, monkeypatch) -> list[Path]:
    """Galleries that, together, have everything that a file can have."""
    sets, labels = toy_sets(3, n_classes=8, n_sets=2)
    n_vectors = sum(map(len, sets))
    files = [f"{i}.jpg" for i in range(n_vectors)]
    origins = Origins.of_files(files, thumbnails=[b"x"] * n_vectors)
    batch = SetBatch.from_list(sets).replaced(origins=origins)
    views = [("whitened", "svd"), ("plain", "mean")]
    made = {
        "whole": CVC((1, 2), unknown=0.5, unknown_label=-1, representations=views),
        "other graph": CVC((1,), representations=[("plain", "mean")], graph="gaussian"),
    }
    paths = [clf.fit(batch, labels).save(folder / f"{n}.setwise") for n, clf in made.items()]
    near = Shortlist(n_classes=3, n_compared=6, above=7)
    from setwise.index import FaissIndex

    rng = np.random.default_rng(0)
    pictures = SetBatch.from_images(
        [stripes(a, 4, rng, (16, 16)) for a in (0.1, 0.1, 1.5, 1.5)]
    )
    clf = CVC((1,), representations=[(HOG(), "mean")]).fit(pictures, [0, 0, 1, 1])
    paths.append(clf.save(folder / "features.setwise"))
    clf = CVC((1, 2), shortlist=near, index=FaissIndex(n_candidates=8), representations=views)
    paths.append(clf.fit(batch, labels).save(folder / "shortlist.setwise"))
    monkeypatch.setattr("setwise.graph.lasso.GRAM_LIMIT", 4)
    clf = CVC((2,), representations=[("plain", "svd")]).fit(batch, labels)
    return [*paths, clf.save(folder / "pools.setwise"), *GALLERIES.glob("v*/*.setwise")]


@pytest.fixture(scope="module")
def galleries(tmp_path_factory):
    pytest.importorskip("faiss")
    with pytest.MonkeyPatch.context() as patch:
        paths = written_galleries(tmp_path_factory.mktemp("format"), patch)
    return [read_tensors(path, "test", FORMAT) for path in paths]


def test_every_key_of_the_document_is_described_and_every_one_is_written(galleries):
    assert set().union(*(document for document, _ in galleries)) == set(told("## The document"))


def test_every_key_of_the_description_is_described(galleries):
    written = set().union(*(document["description"] for document, _ in galleries))
    assert written == set(told("### `description`"))


def test_every_key_of_members_and_classifier_is_described(galleries):
    rows = {row[0].strip("`"): row[-1] for row in section("## The document")}
    members = set().union(*(one for document, _ in galleries for one in document["members"]))
    assert members <= set(re.findall("`([^`]+)`", rows["members"]))
    own = set().union(*(document["classifier"] for document, _ in galleries))
    assert own == set(re.findall("`([^`]+)`", rows["classifier"]))


def test_every_array_is_described_and_every_one_is_written(galleries):
    patterns = {name: pattern(name) for name in told("## The arrays")}
    written = set().union(*(arrays for _, arrays in galleries))
    unknown = {n for n in written if not any(p.fullmatch(n) for p in patterns.values())}
    unused = {n for n, p in patterns.items() if not any(p.fullmatch(w) for w in written)}
    assert not unknown, f"describe {unknown} in docs/format.md"
    assert not unused, f"docs/format.md describes {unused}, which no gallery has"


def test_every_array_has_the_type_that_is_described(galleries):
    kinds = {}
    for row in section("## The arrays"):
        names = re.findall("`([^`]+)`", row[0])
        parts = row[1].split(", ") if ", " in row[1] and "or" not in row[1] else [row[1]]
        parts = parts * len(names) if len(parts) == 1 else parts
        kinds |= dict(zip(names, parts, strict=True))
    for name, kind in kinds.items():
        allowed = tuple(re.findall(r"bool|u?int\d+|float\d*", kind))
        for _, arrays in galleries:
            for other, array in arrays.items():
                if pattern(name).fullmatch(other) and not kinds.keys() & {other} - {name}:
                    assert str(array.dtype).startswith(allowed), (other, array.dtype, kind)


def test_the_table_of_formats_ends_with_the_newest():
    rows = re.findall(r"^\| (\d+) \|", PAGE.split("## Versions")[1], re.MULTILINE)
    assert [int(row) for row in rows] == list(range(1, FORMAT + 1))
