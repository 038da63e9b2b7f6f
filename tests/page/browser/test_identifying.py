"""Asking: photos go in, plain words and their evidence come out, and people act on them."""

import zipfile
from threading import Event

import numpy as np
from PIL import Image
from tests.page.browser.real_photos import cuts, write_set
from tests.page.page_server import uploaded

from setwise.page import identify

HOSTILE = "<img src=x onerror=alert(1)> & 'so' \"on\""
DROP = """
const [words, name] = arguments, zone = document.querySelector('.zone');
const transfer = new DataTransfer();
for (const [i, one] of words.entries()) {
  const bytes = Uint8Array.from(atob(one), (letter) => letter.charCodeAt(0));
  transfer.items.add(new File([bytes], name || `IMG_${i}.jpg`));
}
for (const type of ['dragenter', 'dragover', 'drop'])
  zone.dispatchEvent(
    new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
"""


def undo(window, n_sets=9):
    window.click("#undo")
    window.until(
        "document.querySelector('#view-gallery .counts').textContent"
        f".includes('{n_sets} albums')"
    )


def send(window, *paths):
    window.driver.find_element("id", "choose-files").send_keys("\n".join(map(str, paths)))


def test_the_answer_comes_in_words_and_then_its_evidence(window, probes):
    window.open("identify").ask(probes["mixed"])
    assert window.text(".answer .words").startswith("cat, ")
    assert "two photos do not belong" in window.text(".answer .words")
    assert window.run("return document.querySelectorAll('.answer .tile').length") == 8
    assert (
        window.run("return document.querySelectorAll('.tile[aria-pressed=true]').length") == 2
    )
    assert window.text(".chances li:first-child .label") == "cat"
    assert window.run("return document.querySelectorAll('.pairs li').length") == 8
    assert window.run("return document.querySelectorAll('.looks dd .first').length") > 0
    window.until("document.querySelector('.curve svg .this') !== null", "the curve")
    seen = "[...document.querySelectorAll('.pairs img')].every((i) => i.naturalWidth > 0)"
    window.run(
        "document.querySelectorAll('.pairs img').forEach((i) => { i.loading = 'eager' })"
    )
    window.until(seen, "photos and their nearest")


def test_an_answer_is_accepted_without_the_photos_out_of_place_and_undone(window, probes):
    window.open("identify").ask(probes["mixed"])
    window.click(".tile[aria-pressed=true]")  # this one shall be added after all
    window.click(".answer .button", "Yes, add to cat")
    window.find(".done-words", "Added to cat")
    window.click("nav a", "Gallery")
    window.fill("#shown-as", "albums")
    window.find(".set[aria-label*='7 photos']")
    assert len(window.sets_of("cat")) == 4
    undo(window)


def test_an_answer_is_corrected(window, probes):
    window.open("identify").ask(probes["cat"])
    window.click(".answer .button", "No, it is")
    window.choose_class("astronaut")
    window.find(".done-words", "Added to astronaut")
    undo(window)


def test_an_unknown_set_becomes_a_class_of_its_own(window, probes):
    window.open("identify").ask(probes["unknown"])
    assert "most like" in window.text(".answer .words")
    window.find(".curve figcaption", "unknown")
    window.click(".answer .button", "Someone or something new")
    window.choose_class("<b>coins</b>")  # which is a name, and no markup
    window.find(".done-words", "Added to <b>coins</b>")
    window.click("nav a", "Gallery")
    window.fill("#shown-as", "albums")
    assert len(window.sets_of("<b>coins</b>")) == 1
    undo(window)


def test_the_tree_of_cuts_is_played_and_stepped(window, probes):
    window.open("identify").ask(probes["cat"])
    window.click(".tree summary")
    window.until("document.querySelectorAll('.node:not(.unborn)').length > 1", "a cut")
    window.click(".tree-controls .button", "Pause")
    window.fill(".tree input", 0)
    assert window.run("return document.querySelectorAll('.node:not(.unborn)').length") == 1
    window.click(".tree-controls .button", "Step")
    assert window.run("return document.querySelectorAll('.node:not(.unborn)').length") == 3
    assert "cut in two" in window.text(".tree-words")


def test_words_are_explained_on_hover_and_on_focus(window):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    window.open("identify")
    word = window.find(".zone .term", "album")
    ActionChains(window.driver).move_to_element(word).perform()
    assert "belong together" in window.find("#tip").text
    ActionChains(window.driver).move_to_element(window.find("h1")).perform()
    window.until("document.querySelector('#tip').hidden")
    window.run("arguments[0].focus()", word)
    assert word.get_attribute("aria-describedby") == "tip"
    window.press(Keys.ESCAPE)
    window.until("document.querySelector('#tip').hidden")


def test_photos_dropped_are_asked_about(window, probes):
    from base64 import b64encode

    window.open("identify")
    photos = [b64encode(path.read_bytes()).decode() for path in sorted(probes["cat"].iterdir())]
    window.run(DROP, photos, "")
    window.until("document.querySelector('.answer .words')")
    assert window.text(".answer .words").startswith("cat, ")


def test_a_folder_dropped_is_opened_and_its_folders_are_sets(window, tmp_path):
    root = tmp_path / "two albums"
    write_set(root / "first", cuts("chelsea", 210))
    write_set(root / "second", cuts("astronaut", 211))
    (root / ".DS_Store").write_text("left alone")
    window.open("identify")
    place = window.find(".zone").rect
    where = {"x": place["x"] + 20, "y": place["y"] + 20}
    data = {"items": [], "files": [str(root)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        window.driver.execute_cdp_cmd(
            "Input.dispatchDragEvent", {"type": kind, "data": data} | where
        )
    window.until("document.querySelectorAll('.answer').length === 2", "two answers")
    names = window.run(
        "return [...document.querySelectorAll('.contents b')].map((b) => b.textContent)"
    )
    assert [name.rpartition("/")[2] for name in names] == ["first", "second"]
    assert not window.sees(".left-out")


def test_a_zip_of_folders_is_several_sets_and_hostile_names_are_text(window, tmp_path):
    archive = tmp_path / "albums.zip"
    write_set(tmp_path / "a", cuts("chelsea", 200))
    write_set(tmp_path / "b", cuts("astronaut", 201))
    with zipfile.ZipFile(archive, "w") as packed:
        for name, label in (("a", HOSTILE), ("b", "sunday")):
            for path in sorted((tmp_path / name).iterdir()):
                packed.write(path, f"{label}/{path.name}")
        packed.writestr(f"{HOSTILE}/notes.txt", "no photo")
    window.open("identify")
    send(window, archive)
    window.until("document.querySelectorAll('.answer').length === 2", "two answers")
    assert "<img src=x onerror=alert(1)>" in window.run("return document.body.innerText")
    assert window.run("return document.querySelectorAll('img[src=x], [onerror]').length") == 0
    window.click(".left-out summary")
    window.find(".left-out li", "notes.txt")
    window.click(".answer .button", "Yes, add to cat")
    window.find(".done-words", "Added to cat")
    window.click("nav a", "Gallery")
    window.fill("#shown-as", "albums")
    assert any("onerror" in name for name in window.sets_of("cat"))
    undo(window)


def test_a_zip_bomb_is_refused_in_words(window, tmp_path):
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        for i in range(3):
            packed.writestr(f"{i}.bmp", bytes(70_000_000))
    window.open("identify")
    send(window, bomb)
    sentence = window.find(".question-card .notice").text
    assert len(sentence) > 20
    assert "Traceback" not in sentence
    assert all("Failed to load resource" in line for line in window.complaints())
    window.click(".question-card .button", "Close")
    window.until("!document.querySelector('.question-card')")


def test_more_than_50_mb_is_refused_before_it_is_sent(window, tmp_path):
    large = tmp_path / "film.mp4"
    with large.open("wb") as file:
        file.truncate(51_000_000)
    window.open("identify")
    send(window, large)
    assert "at most 50 MB" in window.find(".question-card .notice").text
    assert window.complaints() == []  # no request was refused, as none was made
    window.click(".question-card .button", "Close")


def test_large_photos_are_made_smaller_before_they_are_sent(window, tmp_path, served):
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 255, (2000, 3000, 3), dtype=np.uint8)  # which hardly shrinks
    for i in range(6):
        Image.fromarray(np.roll(noise, i, axis=0)).save(tmp_path / f"{i}.png")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) > 100e6
    window.open("identify")
    window.driver.find_element("id", "choose-folder").send_keys(str(tmp_path))
    window.until("document.querySelector('.answer .words')", "an answer")
    newest = max(uploaded(served), key=lambda folder: folder.stat().st_mtime)
    kept = list(newest.glob("*.jpg"))
    assert len(kept) == 6
    with Image.open(kept[0]) as photo:
        assert max(photo.size) == 1600
    window.click(".question-card .close")


def test_what_holds_no_photo_is_refused_in_words(window, tmp_path):
    (tmp_path / "notes.txt").write_text("no photo")
    window.open("identify")
    send(window, tmp_path / "notes.txt")
    assert window.find(".question-card .notice").text
    assert all("Failed to load resource" in line for line in window.complaints())


def test_a_question_can_be_cancelled_while_it_is_worked_on(window, tmp_path, monkeypatch):
    has_been_cancelled, read = Event(), identify._Reader.read

    def read_slowly(self, received):
        assert has_been_cancelled.wait(30)
        return read(self, received)

    monkeypatch.setattr(identify._Reader, "read", read_slowly)
    folder = write_set(tmp_path / "many", cuts("chelsea", 6, 120))
    window.open("identify")
    window.driver.find_element("id", "choose-folder").send_keys(str(folder))
    window.click(".progress .button", "Cancel")
    window.until("!document.querySelector('.question-card')")
    has_been_cancelled.set()
    assert not window.sees(".answer")
