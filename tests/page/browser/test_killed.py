"""A server that is killed in the middle of an act, and started again."""

import time

from tests.page.browser.real_photos import cuts, write_set
from tests.page.browser.serving import own_copy, serving
from tests.page.browser.window import Window

import setwise


def test_a_server_killed_while_it_enrolls_comes_back_whole(
    driver, real_gallery, probes, tmp_path
):
    gallery = own_copy(real_gallery, tmp_path)
    with serving(gallery) as first:
        window = Window(driver, first.address).open("identify")
        window.ask(probes["cat"])
        window.click(".answer .button", "Yes, add to cat")
        time.sleep(0.05)  # in the middle of it, or not yet begun: both must be survived
        first.kill()
        window.find("#offline", "does not answer")
        port = int(first.address.rpartition(":")[2])
    assert len(setwise.load(gallery).gallery_.sets) in (9, 10)
    with serving(gallery, port=port):
        # The window sends again what it was not told of, and nothing is added twice.
        window.until("document.querySelector('#offline').hidden", "the server again")
        window.find(".done-words", "Added to cat")
        window.open_albums()
        window.until("document.querySelectorAll('.set[aria-label*=\"of cat\"]').length === 4")
        window.find("#undo[aria-label*='Added']:enabled")
    assert len(setwise.load(gallery).gallery_.sets) == 10
    with serving(gallery, port=port):
        window.open_albums()
        assert len(window.sets_of("cat")) == 4
        refused = [
            line for line in window.complaints() if "Failed to load resource" not in line
        ]
        assert refused == []
        driver.get("about:blank")  # or it would miss the server


def test_a_question_outlives_a_killed_server(driver, real_gallery, tmp_path):
    gallery = own_copy(real_gallery, tmp_path)
    folder = write_set(tmp_path / "many", cuts("chelsea", 6, 60))
    with serving(gallery) as first:
        window = Window(driver, first.address).open("identify")
        driver.find_element("id", "choose-folder").send_keys(str(folder))
        window.until("!document.querySelector('.question-card')?.dataset.sending")
        first.kill()
        port = int(first.address.rpartition(":")[2])
        window.find(".question-card", "does not answer")
    with serving(gallery, port=port):
        window.until("document.querySelector('.answer .words')", "the answer after all")
        assert window.text(".answer .words").startswith("cat")
        driver.get("about:blank")
    window.complaints()  # of requests that failed meanwhile
