"""Text of others is shown, and does nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise._support.text import distinct_file_names, printable, spreadsheet_cell


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


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["anna", "Anna", "a?", "a*", "a_"], ["anna", "Anna (2)", "a_", "a_ (2)", "a_ (3)"]),
        (["x (2)", "x", "x"], ["x (2)", "x", "x (3)"]),
        (["A", "a", "a", "a (2)"], ["A", "a (2)", "a (3)", "a (2) (2)"]),
        (["../..", ".", "é" * 300], ["_", "_ (2)", "é" * 100]),
        (["\x1b[31mred\n", ""], ["__31mred_", "_"]),
    ],
)
def test_names_of_files_are_safe_and_differ_where_case_does_not_count(names, expected):
    assert distinct_file_names(names) == expected


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"), ("+a", "'+a"), ("-a", "'-a"), ("@a", "'@a"), ("a=b", "a=b"),
        ("\t=1", "\\t=1"), ("a\nb", "a\\nb"), (-3.5, -3.5), (0, 0), (None, ""),
        ("a;=1+1", "a;'=1+1"), ("a; -b;c", "a; '-b;c"), ("＝1+1", "'＝1+1"), ("＠a", "'＠a"),
    ],
)  # fmt: skip
def test_no_cell_is_a_formula(value, cell):
    assert spreadsheet_cell(value) == cell
