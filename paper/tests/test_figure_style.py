import pytest
from tests.plots.drawn import SEEN_BY, contrast, least_difference

from setwise_paper.figures.style import OURS, PALETTE, PUBLISHED, line_looks


@pytest.mark.parametrize("reader", SEEN_BY)
def test_the_first_colours_differ_for_everyone(reader):
    assert least_difference((*PALETTE[:4], OURS, PUBLISHED), reader) > 20


@pytest.mark.parametrize("colour", [*PALETTE, OURS, PUBLISHED])
@pytest.mark.parametrize("paper", ["#ffffff", "#16181d"])
def test_all_colours_are_seen_on_white_and_on_dark(colour, paper):
    assert contrast(colour, paper) > 2


def test_lines_look_different_and_ours_stand_out():
    names = ["CVC", *(f"method {i}" for i in range(26)), "CVC (SSC)"]
    looks = line_looks(names)
    assert looks[0]["color"] == looks[-1]["color"] == OURS
    assert len({(look["color"], look["linestyle"]) for look in looks}) == len(names)
