"""Text of others is shown, and does nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from setwise._support.text import printable


def test_what_acts_on_a_terminal_or_forges_lines_is_escaped():
    assert printable("a\tb\nc\rd\x1b[31me\x07\x9b\x00") == (r"a\tb\nc\rd\x1b[31me\x07\x9b\x00")
    assert printable("x\u202ey\u2028z\x85\ud800") == r"x\u202ey\u2028z\x85\ud800"


def test_what_can_be_shown_stays():
    assert printable("Jörg 北京 🙂 a b \\") == "Jörg 北京 🙂 a b \\"


@given(st.text(st.characters()))
def test_any_text_becomes_one_line_that_can_be_written(text):
    shown = printable(text)
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1
    shown.encode()
