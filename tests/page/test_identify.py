"""Questions: what comes back is what the classifier says, whatever the files are called."""

from __future__ import annotations

import io
import json
import shutil
import stat
import struct
import time
import zipfile
from dataclasses import replace

import httpx
import numpy as np
import pytest
from PIL import Image
from tests.page.page_server import (
    ANGLES,
    SHAPE,
    album,
    gallery_sets,
    photos,
    png,
    uploaded,
    zipped,
)
from tests.striped_sets import stripes

from setwise import load, load_images
from setwise.page import Limits, identify, uploads
from setwise.page.answers import answer_words, counted
from setwise.page.gallery_file import GalleryFile
from setwise.page.parts import without_strays
from setwise.page.uploads import (
    Received,
    ReceivedFile,
    TooMuchError,
    free_name,
    plain_parts,
    receive,
)


def test_an_answer_is_that_of_judge_on_the_same_folder(shared_page, tmp_path):
    files = album("steep", seed=11)
    folder = tmp_path / "album"
    folder.mkdir()
    for _, (name, content, _) in files:
        (tmp_path / name).write_bytes(content)
    clf = load(shared_page.gallery)
    sets = load_images(folder, size=clf.gallery_.sets.image_shape)
    (expected,) = clf.judge(sets)
    (answer,) = shared_page.answered(files)["answers"]
    assert answer["set"] == {"name": expected.name, "n_images": 8}
    assert answer["label"] == answer["most_like"] == expected.label == "steep"
    assert answer["probability"] == expected.probability
    assert answer["margin"] == expected.margin
    assert answer["nearness"]["value"] == expected.nearness
    assert answer["runner_up"]["label"] == expected.runner_up
    assert answer["outliers"] == [int(i) for i in np.flatnonzero(~expected.is_typical)]
    assert sum(one["probability"] for one in answer["candidates"]) == pytest.approx(1.0)
    votes = clf.explain(sets[0]).votes
    assert [vote["label"] for vote in answer["votes"]] == [
        None if vote.label is None else str(vote.label)
        for vote in sorted(votes, key=lambda vote: -vote.weight)
    ]


def test_the_order_of_photos_is_natural_however_they_were_sent(shared_page):
    files = album("flat", 12)
    (answer,) = shared_page.answered(files[::-1])["answers"]
    assert [photo["name"] for photo in answer["photos"]] == [f"{i}.png" for i in range(12)]
    other = shared_page.answered(files)["answers"][0]
    answer["nearness"]["curve"] = other["nearness"]["curve"]  # which may have come meanwhile
    assert answer == other | {"photos": answer["photos"]}


def test_photos_of_an_answer_and_their_nearest_can_be_looked_at(shared_page):
    found = shared_page.answered(album("flat"))
    (answer,) = found["answers"]
    for photo in answer["photos"]:
        assert shared_page.get(photo["url"]).content.startswith(b"\xff\xd8\xff")
        assert photo["nearest"]["label"] == "flat"
        assert shared_page.get(photo["nearest"]["url"]).status_code == 200
    vectors = load(shared_page.gallery).gallery_.sets[:3].vectors.astype(float)
    probe = np.asarray(Image.open(io.BytesIO(photos("flat")[0]))).ravel().astype(float)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    distances = np.linalg.norm(units - probe / np.linalg.norm(probe), axis=1)
    nearest = answer["photos"][0]["nearest"]
    assert nearest["distance"] == pytest.approx(distances.min())
    place = divmod(int(distances.argmin()), 8)
    wall = shared_page.overview()["classes"][0]
    assert (nearest["set_id"], nearest["image"]) == (wall["sets"][place[0]]["id"], place[1])


def test_photos_out_of_place_are_named(shared_page):
    files = album("flat", 10)
    strange = np.zeros((12, 16), dtype=np.uint8)
    strange[0] = 255
    files[4] = ("files", ("album/4.png", png(strange), "image/png"))
    (answer,) = shared_page.answered(files)["answers"]
    assert answer["outliers"] == [4]
    assert answer["words"].endswith("one photo does not belong")
    assert [p["image"] for p in answer["photos"] if p["is_outlier"]] == [4]


def test_an_unknown_set_is_called_unknown(shared_page):
    rng = np.random.default_rng(0)
    noise = [png(rng.integers(0, 255, (12, 16), dtype=np.uint8)) for _ in range(8)]
    files = [("files", (f"x/{i}.png", one, "image/png")) for i, one in enumerate(noise)]
    (answer,) = shared_page.answered(files)["answers"]
    assert answer["is_known"] is False
    assert answer["label"] is None
    assert answer["words"].startswith(f"Unknown, most like {answer['most_like']}")


def test_the_curve_shows_the_threshold_between_two_hills(shared_page):
    for _ in range(100):
        nearness = shared_page.answered(album())["answers"][0]["nearness"]
        if nearness["curve"]:
            break
        time.sleep(0.1)
    curve = nearness["curve"]
    x, known, unknown = (np.array(curve[key]) for key in ("x", "known", "strangers"))
    assert np.trapezoid(known, x) == pytest.approx(1, abs=0.06)
    assert np.trapezoid(unknown, x) == pytest.approx(1, abs=0.06)
    assert x[known.argmax()] > x[unknown.argmax()]
    assert x[0] < nearness["threshold"] < x[-1]


def test_the_tree_goes_from_one_root_to_leaves_that_say_why(shared_page):
    found = shared_page.answered(album("steep"))
    assert found["answers"][0]["has_tree"]
    tree = shared_page.get(f"/api/v1/identify/{found['id']}/answers/0/tree").json()
    ids = {node["id"] for node in tree["nodes"]}
    roots = [node for node in tree["nodes"] if node["parent"] is None]
    assert len(roots) == 1
    assert roots[0]["share_probe"] == 1
    parents = {node["parent"] for node in tree["nodes"]}
    for node in tree["nodes"]:
        assert node["parent"] is None or node["parent"] in ids
        assert (node["stopped_because"] is None) == (node["id"] in parents)
        if node["classes"]:
            assert sum(one["share"] for one in node["classes"]) == pytest.approx(1)


def test_folders_of_one_upload_are_sets_of_their_own(shared_page):
    files = album("flat", folder="all/a") + album("steep", folder="all/b")
    found = shared_page.answered(files)
    assert found["name"] == "all"
    names = [(one["set"]["name"], one["label"]) for one in found["answers"]]
    assert names == [("a", "flat"), ("b", "steep")]


def test_a_zip_is_opened(shared_page):
    entries = {f"trip/{i}.png": one for i, one in enumerate(photos("slanted"))}
    entries |= {"__MACOSX/trip/._1.png": b"x", "trip/.DS_Store": b"x", "trip/readme.txt": b"x"}
    found = shared_page.answered([("files", ("z.zip", zipped(entries), "application/zip"))])
    (answer,) = found["answers"]
    assert answer["set"] == {"name": "trip", "n_images": 8}
    assert answer["label"] == "slanted"
    assert found["left_out"] == [
        {"name": "trip/readme.txt", "reason": "is no photo, clip or zip file."}
    ]


def test_a_clip_is_one_set_of_frames(shared_page, tmp_path):
    av = pytest.importorskip("av")
    path = tmp_path / "clip.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for one in photos("steep", 10):
            image = Image.open(io.BytesIO(one)).convert("RGB").resize((64, 48))
            for packet in stream.encode(av.VideoFrame.from_image(image)):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    files = [("files", ("my clip.mp4", path.read_bytes(), "video/mp4"))]
    (answer,) = shared_page.answered(files)["answers"]
    assert answer["set"]["name"] == "my clip"
    assert answer["set"]["n_images"] >= 8
    assert answer["most_like"] == "steep"


def test_damaged_photos_are_left_out_by_the_names_of_their_sender(shared_page):
    files = album("flat")
    files.insert(3, ("files", ("album/bad.jpg", b"\xff\xd8\xffnothing", "image/jpeg")))
    files.insert(0, ("files", ("album/notes.pdf", b"%PDF", "application/pdf")))
    found = shared_page.answered(files)
    assert found["answers"][0]["label"] == "flat"
    assert {left["name"] for left in found["left_out"]} == {"album/bad.jpg", "album/notes.pdf"}
    assert str(shared_page.state.questions.folder) not in json.dumps(found)


def test_nothing_but_damaged_photos_fails_in_a_sentence_without_our_paths(shared_page):
    files = [("files", ("album/bad.jpg", b"\xff\xd8\xffnothing", "image/jpeg"))]
    found = shared_page.question(shared_page.ask(files))
    assert found["state"] == "failed"
    assert "album/bad.jpg" in found["error"]
    assert str(shared_page.state.questions.folder) not in found["error"]


def test_an_image_that_is_a_bomb_is_left_out(shared_page):
    stream = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(stream, "PNG")  # 144 million pixels in 18 kB
    files = [*album("flat"), ("files", ("album/bomb.png", stream.getvalue(), "image/png"))]
    found = shared_page.answered(files)
    assert found["answers"][0]["set"]["n_images"] == 8
    assert [left["name"] for left in found["left_out"]] == ["album/bomb.png"]
    assert "pixels" in found["left_out"][0]["reason"]


HOSTILE = [
    "../../../../tmp/evil.png",
    "/etc/passwd.png",
    "C:\\windows\\evil.png",
    "a/./../b/.././c.png",
    "nul\x00.png",
    "tab\there\x1b[31m.png",
    "‮gnp.exe.png",
    "<img src=x onerror=alert(1)>.png",
    "x" * 3000 + ".png",
    "日本 שלום é.png",
    "'; DROP TABLE sets; --.png",
    "con.png",
    "-rf.png",
    "{{7*7}}${7*7}.png",
]


def test_names_and_numbers_in_words():
    assert plain_parts("../../etc/passwd") == ("etc", "passwd")
    assert plain_parts("a\\b\0.jpg") == ("a", "b\\x00.jpg")
    assert free_name("anna", {"anna", "anna (2)"}) == "anna (3)"
    words = [counted(number, "photo") for number in (1, 2, 30)]
    assert words == ["one photo", "two photos", "30 photos"]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_only_words(shared_page, name, tmp_path):
    parts = plain_parts(name)
    assert all(part.isprintable() for part in parts)
    assert ".." not in parts
    assert all(0 < len(part) <= 120 for part in parts)
    content = photos("flat", 1)[0]
    received = receive([(name, io.BytesIO(content))], tmp_path, Limits())
    assert [file.path.name for file in received.files] == ["000000.png"]
    assert [path.name for path in tmp_path.iterdir()] == ["000000.png"]
    if "\x00" in name or "\x1b" in name:
        return  # no client can send these in a header
    found = shared_page.answered([("files", (name, content, "image/png"))])
    assert found["n_images"] == 1


def test_no_path_of_a_client_reaches_the_file_system(page, tmp_path):
    before = sorted(path for path in tmp_path.rglob("*"))
    content = photos("flat", 1)[0]
    for name in HOSTILE[:4]:
        page.answered([("files", (name, content, "image/png"))])
        packed = zipped({name: content})
        page.answered([("files", ("z.zip", packed, "application/zip"))])
    for path in (
        "/../people.setwise",
        "/%2e%2e/people.setwise",
        "/..%2fapp.py",
        "//etc/passwd",
    ):
        assert page.get(path).status_code == 404
    assert page.get("/api/v1/sets/..%2f../images/0").status_code == 404
    # The folder of the page itself, which leads to its first file and no further.
    found = page.get("/api/v1/identify/..%2f..", follow_redirects=True)
    assert found.status_code == 404 or found.text == page.get("/").text
    for folder in uploaded(page):
        assert {path.parent for path in folder.iterdir()} == {folder}
        shutil.rmtree(folder)
    assert sorted(path for path in tmp_path.rglob("*")) == before


# ------------------------------------------------------------------------- zip files


def read_zip(content: bytes, folder, **limits):
    return receive([("z.zip", io.BytesIO(content))], folder, Limits(**limits))


def test_a_zip_bomb_is_refused_by_what_it_declares(shared_page):
    before = uploaded(shared_page)
    bomb = zipped({"a.png": bytes(300_000_000)})
    assert len(bomb) < 400_000
    found = shared_page.client.post(
        "/api/v1/identify", files=[("files", ("bomb.zip", bomb, "application/zip"))]
    )
    assert found.status_code == 413
    assert "unpacks to more than 200 MB" in found.json()["error"]
    assert uploaded(shared_page) == before


def test_a_zip_that_lies_about_its_size_is_stopped_while_it_is_unpacked(tmp_path):
    honest = zipped({"a.png": bytes(3_000_000), "b.png": photos("flat", 1)[0]})
    lie = honest.replace(struct.pack("<L", 3_000_000), struct.pack("<L", 300_000))
    assert lie != honest
    received = read_zip(lie, tmp_path, unpacked_bytes=400_000)
    assert [file.words for file in received.files] == ["z/b.png"]
    assert received.left_out[0][0] == "z/a.png"
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 400_000


def test_many_files_packed_within_their_limits_are_too_much_together(tmp_path):
    rng = np.random.default_rng(0)
    noise = {f"{i}.png": rng.bytes(50_000) for i in range(10)}
    with pytest.raises(TooMuchError, match="unpacks to more"):
        read_zip(zipped(noise), tmp_path, unpacked_bytes=400_000)


def test_a_zip_in_a_zip_is_not_opened(tmp_path):
    inner = zipped({"a.png": photos("flat", 1)[0]})
    received = read_zip(zipped({"inner.zip": inner, "b.png": b"x"}), tmp_path)
    assert [left[0] for left in received.left_out] == ["z/inner.zip"]


def test_a_zip_with_a_list_that_would_fill_the_memory_is_not_listed(tmp_path):
    tail = b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, 65535, 65535, 40_000_000, 0, 0)
    with pytest.raises(TooMuchError, match="lists more than"):
        read_zip(bytes(1000) + tail, tmp_path)


def test_links_and_absolute_paths_in_a_zip_go_nowhere(tmp_path):
    stream = io.BytesIO()
    content = photos("flat", 1)[0]
    with zipfile.ZipFile(stream, "w") as archive:
        link = zipfile.ZipInfo("link.png")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("/etc/cron.d/evil.png", content)
        archive.writestr("../../evil.png", content)
    received = read_zip(stream.getvalue(), tmp_path)
    assert [file.words for file in received.files] == ["z/etc/cron.d/evil.png", "z/evil.png"]
    assert received.left_out == [
        ("z/link.png", "is a link or no plain file, which is not followed.")
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["000000.png", "000001.png"]
    assert not any(path.is_symlink() for path in tmp_path.iterdir())


def test_too_many_entries_are_refused(tmp_path):
    with pytest.raises(TooMuchError, match="more than 5 files"):
        read_zip(zipped({f"{i}.png": b"x" for i in range(6)}), tmp_path, files=5)


@pytest.mark.parametrize("content", [b"", b"PK\5\6", b"PK\3\4" + bytes(100), bytes(100_000)])
def test_what_is_no_zip_is_left_out_with_a_word(shared_page, content):
    files = [*album("flat"), ("files", ("album/broken.zip", content, "application/zip"))]
    found = shared_page.answered(files)
    assert found["left_out"] == [
        {"name": "album/broken.zip", "reason": "is damaged, or no zip file. Pack it again."}
    ]


def test_damaged_bytes_inside_a_zip_lose_that_photo_only(tmp_path):
    good = photos("flat", 2)
    packed = bytearray(zipped({"a.png": good[0], "b.png": good[1]}))
    place = packed.index(b"a.png") + 40
    packed[place : place + 20] = bytes(20)
    received = read_zip(bytes(packed), tmp_path)
    assert [file.words for file in received.files] == ["z/b.png"]
    assert received.left_out == [("z/a.png", "is damaged inside the zip file.")]


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_a_damaged_entry_of_any_method_is_left_out(shared_page, method):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for i, one in enumerate(photos("flat", 4)):
            archive.writestr(f"{i}.png", one)
    packed = bytearray(stream.getvalue())
    packed[60:90] = b"\xff" * 30
    found = shared_page.answered([("files", ("z.zip", bytes(packed), "application/zip"))])
    assert found["answers"][0]["set"]["n_images"] == 3
    assert found["left_out"] == [
        {"name": "z/0.png", "reason": "is damaged inside the zip file."}
    ]


def test_a_full_disk_is_said_in_a_sentence(shared_page, monkeypatch):
    def refuse(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(uploads._Room, "_write", refuse)
    packed = zipped({"a.png": photos("flat", 1)[0]})
    for files in (album("flat", 2), [("files", ("z.zip", packed, "application/zip"))]):
        found = shared_page.client.post("/api/v1/identify", files=files)
        assert found.status_code == 422
        assert "No space left" in found.json()["error"]


def test_a_set_is_looked_at_once(shared_page, monkeypatch):
    calls, original = [], identify.Inference.of

    def counted(*arguments, **options):
        calls.append(1)
        return original(*arguments, **options)

    monkeypatch.setattr(identify.Inference, "of", counted)
    (answer,) = shared_page.answered(album())["answers"]
    assert answer["has_tree"]
    assert len(calls) == 1


def test_votes_are_told_by_what_they_compare(shared_page):
    (answer,) = shared_page.answered(album())["answers"]
    for vote in answer["votes"]:
        assert vote["feature"] == "plain"
        assert vote["basis"] in ("mean", "svd")
        assert vote["evidence"] in ("clusters", "edges", "smallest angle", "all angles")
    weights = [vote["weight"] for vote in answer["votes"]]
    assert weights == sorted(weights, reverse=True)


# ------------------------------------------------------------------------- following


def test_a_question_that_is_over_can_be_forgotten(shared_page):
    ask = shared_page.answered(album())["id"]
    assert shared_page.client.delete(f"/api/v1/identify/{ask}").status_code == 204
    assert shared_page.get(f"/api/v1/identify/{ask}").status_code == 404
    assert shared_page.client.delete(f"/api/v1/identify/{ask}").status_code == 404


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "multipart/form-data"),
        (b"nothing", "multipart/form-data; boundary=x"),
        (b"{}", "application/json"),
        (b"--x\r\n\r\n\r\n--x--", "multipart/form-data; boundary=x"),
        (b"--x--", "multipart/form-data; boundary=x"),
        (b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n",
         "multipart/form-data; boundary=x"),
    ],
)  # fmt: skip
def test_bodies_that_bring_nothing_are_refused_in_a_sentence(shared_page, body, kind):
    found = shared_page.client.post(
        "/api/v1/identify", content=body, headers={"Content-Type": kind}
    )
    assert found.status_code == 422
    assert len(found.json()["error"]) > 20


def test_uploads_are_kept_with_the_answer_and_gone_with_it(shared_page):
    before = uploaded(shared_page)
    job = shared_page.answered(album())["id"]
    (folder,) = uploaded(shared_page) - before
    assert len(list(folder.glob("*.png"))) == 8
    assert not (folder / "sets").exists()
    shared_page.client.delete(f"/api/v1/identify/{job}")
    assert uploaded(shared_page) == before


def test_eight_clients_at_once_get_the_answers_of_one_after_the_other(gallery_file, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    from tests.page.page_server import served, settings_for

    with served(settings_for(gallery_file, tmp_path, Limits(waiting=64))) as page:
        albums = [
            album(label, 6, seed)
            for seed in range(2)
            for label in ("flat", "steep", "slanted", "flat")
        ]

        def answer(files):
            with page.new_client() as client:
                ask = client.post("/api/v1/identify", files=files).json()["id"]
                found = page.question(ask, client)
            (given,) = found["answers"]
            return {
                key: value for key, value in given.items() if key not in ("photos", "nearness")
            } | {"nearness": given["nearness"]["value"]}

        one_by_one = [answer(files) for files in albums]
        with ThreadPoolExecutor(8) as pool:
            at_once = list(pool.map(answer, albums))
    assert at_once == one_by_one


def test_a_client_that_hangs_up_in_the_middle_leaves_nothing(shared_page):
    address = httpx.URL(shared_page.address)

    before = uploaded(shared_page)

    def half():
        yield b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.png"\r\n\r\n'
        yield bytes(1000)
        raise KeyError

    with pytest.raises(KeyError):
        httpx.post(
            address.join("/api/v1/identify"),
            content=half(),
            headers={"Content-Type": "multipart/form-data; boundary=x"},
        )
    assert uploaded(shared_page) == before
    assert shared_page.answered(album())["answers"][0]["label"] == "flat"


def test_the_faces_of_a_clip_are_answered_in_their_order(gallery_file, tmp_path, monkeypatch):
    faces = gallery_sets(4).replaced(labels=None)
    monkeypatch.setattr(identify, "_read", lambda *_: (faces, []))
    received = Received(tmp_path, [ReceivedFile(tmp_path / "000000.mp4", ("film.mp4",))])
    reader = identify._Reader(GalleryFile(gallery_file).state.gallery, lambda *_: None, 1000)
    read = reader.read(received)
    assert list(read.names) == [f"film, face {i}" for i in range(1, 13)]
    assert np.array_equal(read.vectors, faces.vectors)


def test_answers_can_be_kept_as_one_file(shared_page):
    job = shared_page.answered(album("steep", folder="<b>an album</b>"))["id"]
    found = shared_page.get(f"/api/v1/identify/{job}/report.html")
    assert found.headers["content-disposition"].startswith("attachment")
    assert "&lt;b&gt;an album&lt;/b&gt;" in found.text
    assert "<b>an album" not in found.text
    assert "steep" in found.text
    assert shared_page.get("/api/v1/identify/none/report.html").status_code == 404


def test_photos_of_another_class_do_not_belong_whatever_the_album_says(gallery_file):
    state = GalleryFile(gallery_file).state
    rng = np.random.default_rng(9)
    flat, steep = (
        np.stack(stripes(ANGLES[label], 8, rng, SHAPE)).reshape(8, -1).astype(np.float64)
        for label in ("flat", "steep")
    )
    mixed = np.concatenate([flat[:6], steep[:2]])
    for vectors, strays in ((flat, []), (mixed, [6, 7])):
        (answer,) = state.classifier.judge([vectors])
        assert answer.nearest == "flat"
        taken = replace(answer, is_typical=np.ones(8, dtype=np.bool_))  # nothing was noticed
        found = without_strays(state, vectors, taken)
        assert np.flatnonzero(~found.is_typical).tolist() == strays
        assert ("two photos do not belong" in answer_words(found)) == bool(strays)
    half = np.concatenate([flat[:3], steep[:5]])
    (answer,) = state.classifier.judge([half])
    few = replace(answer, is_typical=np.ones(8, dtype=np.bool_), classes=answer.classes)
    kept = without_strays(state, half, few).is_typical
    assert kept.sum() >= 4  # what most photos show is the album
