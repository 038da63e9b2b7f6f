import numpy as np
import pytest
from paper.tests.made_results import CLASSES, striped_images, wrong_probes

from setwise.classify.explanation import Explanation
from setwise_paper.report.pictures import Pictures
from setwise_paper.report.probe_page import probe_pages


@pytest.fixture(scope="module")
def images():
    return striped_images(CLASSES)


@pytest.fixture(scope="module")
def wrong(images):
    return wrong_probes("CVC", images, CLASSES, 3)


@pytest.fixture(scope="module")
def pages(images, wrong):
    return probe_pages("methods", wrong, Pictures(images, np.asarray(images.labels)))


def test_pages_lead_to_each_other(pages):
    assert [page.id for page in pages] == [
        "probe-methods-1",
        "probe-methods-2",
        "probe-methods-3",
    ]
    assert [page.next for page in pages] == ["probe-methods-2", "probe-methods-3", ""]
    assert [page.previous for page in pages] == ["", "probe-methods-1", "probe-methods-2"]
    assert {page.n_pages for page in pages} == {3}


def test_every_member_is_in_the_grid(pages, wrong):
    for page, one in zip(pages, wrong, strict=True):
        why = Explanation.from_dict(one.explanation["why"])
        cells = [cell for _, row in page.votes.grid for cell in row if cell is not None]
        assert len(cells) == len(why.votes)
        assert {tally.kind for tally in page.votes.tally} >= {"truth", "answer"}


def test_tiles_say_what_the_support_says(pages, wrong):
    for page, one in zip(pages, wrong, strict=True):
        support = Explanation.from_dict(one.explanation["why"]).support
        assert [tile.image for tile in page.tiles] == list(range(len(support)))
        for tile, value in zip(page.tiles, support, strict=True):
            expected = "" if np.isnan(value) else "answer" if value >= 0.5 else "other"
            assert tile.speaks_for == expected
        assert page.n_doubtful == int((support < 0.5).sum())


def test_neighbours_show_the_images_they_name(pages, images):
    (neighbour,) = pages[0].nearest
    pictures = Pictures(images, np.asarray(images.labels))
    assert neighbour.probe_image == pictures.one(pages[0].wrong.index, 1)
    assert neighbour.gallery_image == pictures.one(0, 2)
    assert neighbour.place == 2
