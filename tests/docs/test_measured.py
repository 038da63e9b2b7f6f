"""One truth about every number: pages show what docs/benchmarks holds, and nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import records
import views
from measure import RECORDS
from records import ROOT, Table, code_of, read_all, sources_hash, stamp, version
from write_pages import BLOCK, changed_pages, pages, shown, written

KNOWN = read_all()
# Pages whose numbers are all measured, by commands that `make measure` runs.
MEASURED = ("README.md", "docs/accuracy.md", "docs/rivals.md", "docs/reproduction.md",
            "docs/reproduced.md", "docs/guide/which_method.md")  # fmt: skip
# Numbers of prose that no measurement gives: settings, figures of others, versions.
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")


def table(**cells):
    """A table of one row and the columns that are given."""
    return Table("Title", ["name", *cells], [["row", *cells.values()]], measured={})


def test_every_page_shows_what_was_measured():
    missing = []
    differing = changed_pages(KNOWN, missing=missing)
    assert [str(page) for page in differing] == [], "run python benchmarks/write_pages.py"
    assert missing == [], "run make measure"


def releases() -> list[str]:
    """Versions of the changelog, the newest first."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    return re.findall(r"^## (\d+\.\d+\.\d+)", changelog, re.MULTILINE)


def test_the_changelog_begins_with_this_version():
    assert releases()[0] == version()


@pytest.mark.parametrize("record", KNOWN)
def test_no_number_is_older_than_the_code_by_more_than_a_release(record):
    known, parts = releases(), set(stamp("x"))
    for name, one in KNOWN[record].items():
        age = known.index(one.measured["version"])
        assert age <= 1, f"{record}/{name} is {age} releases old: run make measure {record}"
        assert set(one.measured) >= parts


def test_every_record_has_a_command_and_a_page():
    shown_somewhere = {
        re.split("[/;]", block["what"])[0].strip()
        for page in pages()
        for block in BLOCK.finditer(page.read_text("utf-8"))
    }
    assert set(KNOWN) == set(RECORDS)
    assert set(KNOWN) <= shown_somewhere
    for commands in RECORDS.values():
        assert all((ROOT / command.split()[0]).is_file() for command in commands)


def loose_decimals(text: str) -> list[str]:
    """Decimals outside of code, links and what was measured."""
    text = BLOCK.sub("", text)
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)
    return DECIMAL.findall(text)


@pytest.mark.parametrize("page", MEASURED)
def test_no_number_is_typed_into_a_page_of_measurements(page):
    text = (ROOT / page).read_text("utf-8")
    assert [number for number in loose_decimals(text) if number not in ("3.11",)] == []


def test_typed_numbers_are_found():
    text = (
        "as in `0.05` [x](1.5) 97.2 %\n```\n1.25\n```\n<!-- measured: a; b -->3.5<!-- end -->"
    )
    assert loose_decimals(text) == ["97.2"]


def test_comments_within_a_line_do_not_begin_one():
    for page in pages():
        for line in page.read_text("utf-8").splitlines():
            assert not re.match(r"\s*<!-- measured: [^>]*;", line), f"{page}: {line}"


def test_a_changed_number_changes_the_page():
    known = {"a": {"t": table(CVC="97.21 ± 0.5")}}
    page = "x\n<!-- measured: a/t -->\n<!-- end -->\n"
    page += "has <!-- measured: a/t; row; CVC -->1<!-- end -->."
    once = written(page, known)
    assert "| row | 97.21 ± 0.5 |" in once
    assert once.endswith("has <!-- measured: a/t; row; CVC -->97.21<!-- end -->.")
    assert written(once, known) == once
    other = written(once, {"a": {"t": table(CVC="98.00")}})
    assert "97.21" not in other
    assert other.count("98.00") == 2


def test_what_is_not_there_is_named():
    known = {"a": {"t": table(CVC="1")}}
    with pytest.raises(LookupError, match=r"no a/u\. There are: t"):
        shown("a/u", known)
    with pytest.raises(LookupError, match=r"no cell 'row', 'MSM'\. There are"):
        shown("a/t; row; MSM", known)
    missing = []
    page = "<!-- measured: b -->\nold\n<!-- end -->"
    assert written(page, known, missing) == page
    assert missing == ["b: there is no b. There are: a"]


def test_the_source_of_a_record_is_told():
    measured = {"command": "python x.py", "version": "1.0.0", "revision": "abc",
                "date": "2026-01-02", "machine": "2 cores",
                "libraries": {"numpy": "2.0"}}  # fmt: skip
    told = shown("a", {"a": {"t": replace(table(CVC="1"), measured=measured)}})
    assert told == (
        "Measured with `python x.py`; setwise 1.0.0 (abc), 2026-01-02; 2 cores; numpy 2.0."
    )


def test_records_are_kept_and_read_back(tmp_path):
    kept = records.keep("a", "t", table(CVC="1"), tmp_path)
    assert json.loads(kept.read_text("utf-8"))["measured"]["sources"] == sources_hash()
    found = records.kept("a", tmp_path)
    records.write("a", found, tmp_path)
    assert records.read("a", tmp_path) == found
    assert found["t"].cell("row", "CVC") == "1"


def test_comments_and_docstrings_are_not_in_the_hash(tmp_path):
    file = tmp_path / "one.py"
    file.write_text('"""Old."""\ndef f(x):\n    """Old."""\n    return x + 1  # old\n')
    before = code_of(file), sources_hash(tmp_path)
    file.write_text('"""New."""\n\ndef f(x):\n    return x + 1\n')
    assert (code_of(file), sources_hash(tmp_path)) == before
    file.write_text("def f(x):\n    return x + 2\n")
    assert sources_hash(tmp_path) != before[1]
    (tmp_path / "page").mkdir()
    before = sources_hash(tmp_path)
    (tmp_path / "page" / "shown.py").write_text("x = 1\n")
    assert sources_hash(tmp_path) == before


def evidence(**cells):
    columns = ["task", "splits", "CVC", *cells, "rival", "p"]
    row = ["vowels", "1", "96.49", *cells.values(), "x", "1"]
    return {"evidence": {"pixels": Table("", columns, [row])}}


def test_the_best_rival_is_found_also_among_the_reproduced_methods():
    known = evidence(MSM="67.03 ± 1", **{"frame vote (cosine)": "97.30"})
    row = views.Row("Vowels", "vowels", "vowels-methods")
    methods = Table("", ["method", "ours"], [["CVC", "99.00"], ["CDL-LDA", "98.50 ± 1"]])
    assert views.best_rival(known, replace(row, study="")) == ("97.30", "frame vote")
    known["reproduced"] = {"vowels-methods": methods}
    assert views.best_rival(known, row) == ("98.50", "CDL")


def test_the_largest_number_of_a_row_is_bold():
    shown_table = views.bold_table(["", "a", "b", "c"], [["x", "1.5", "-", "1.5 (MSM)"]])
    assert shown_table.splitlines()[-1] == "| x | **1.5** | - | **1.5** (MSM) |"


def test_links_between_documents_lead_somewhere():
    for page in pages():
        for target in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text(encoding="utf-8")):
            is_made = "gallery/" in target  # by the examples, when the site is built
            assert is_made or (Path(page).parent / target).exists(), f"{page.name}: {target}"
