"""Write what was measured into README.md and docs/: every number between two comments.

    python benchmarks/write_pages.py            from docs/benchmarks/*.json
    python benchmarks/write_pages.py --check    change nothing; exit code 1 where a page differs

A page says where a number comes from in a comment before it, and ends it with another:

    <!-- measured: evidence/pixels -->
    ... a table of the record evidence.json, and its notes ...
    <!-- end -->
    CVC has <!-- measured: evidence/pixels; vowels; CVC -->96.49<!-- end --> % on the vowels.

``evidence`` alone is the line that says when, where and by which commands it was measured, and
``view/NAME`` a table of benchmarks/views.py, which is made of several.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from pictures import PICTURES
from records import ROOT, Table, read_all
from views import VIEWS

Records = Mapping[str, Mapping[str, Table]]
BLOCK = re.compile(r"<!-- measured: (?P<what>.+?) -->(?P<text>.*?)<!-- end -->", re.DOTALL)


def pages(root: Path = ROOT) -> list[Path]:
    """Every page that may show what was measured."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def written(page: str, records: Records, missing: list[str] | None = None) -> str:
    """A page with the numbers of the records; what these lack stays, and is listed."""
    return BLOCK.sub(lambda found: _block(found, records, missing), page)


def _block(found: re.Match[str], records: Records, missing: list[str] | None) -> str:
    what = found["what"]
    is_inline = "\n" not in found["text"]
    try:
        text = shown(what, records)
    except LookupError as error:
        if missing is None:
            raise
        missing.append(f"{what}: {error}")
        return found[0]
    inside = text if is_inline else f"\n\n{text.strip()}\n\n"
    return f"<!-- measured: {what} -->{inside}<!-- end -->"


def shown(what: str, records: Records) -> str:
    """What a comment asks for, as Markdown."""
    name, *place = (part.strip() for part in what.split(";"))
    record, _, table = name.partition("/")
    if record == "view":
        return VIEWS[table](records)
    if record not in records or (table and table not in records[record]):
        known = records.get(record, records)
        msg = f"there is no {name}. There are: {', '.join(known)}"
        raise LookupError(msg)
    if not table:
        return provenance(records[record])
    found = records[record][table]
    if place:
        return found.number(*place)
    notes = "".join(f"- {note}\n" for note in found.notes)
    return f"{found.markdown()}\n{notes}"


def provenance(tables: Mapping[str, Table]) -> str:
    """Commands, versions, days and machines of all tables of a record."""
    commands, versions, days, machines = (
        list(dict.fromkeys(map(of, tables.values())))
        for of in (
            lambda table: f"`{table.measured['command']}`",
            lambda table: f"setwise {table.measured['version']} ({table.measured['revision']})",
            lambda table: table.measured["date"],
            _machine,
        )
    )
    when = f"{', '.join(versions)}, {', '.join(sorted(days))}"
    return f"Measured with {', '.join(commands)}; {when}; {'; '.join(machines)}."


def _machine(table: Table) -> str:
    libraries = ", ".join(f"{name} {v}" for name, v in table.measured["libraries"].items())
    return f"{table.measured['machine']}; {libraries}"


def changed_pages(
    records: Records, root: Path = ROOT, missing: list[str] | None = None
) -> dict[Path, str]:
    """Pages that differ from what the records say, and what they should be."""
    olds = {page: page.read_text(encoding="utf-8") for page in pages(root)}
    news = {page: written(old, records, missing) for page, old in olds.items()}
    return {page: new for page, new in news.items() if new != olds[page]}


def write_pages(root: Path = ROOT) -> None:
    """Write the pages that have changed, and say which, and what is missing."""
    missing: list[str] = []
    changed = changed_pages(read_all(root / "docs" / "benchmarks"), root, missing)
    for page, text in changed.items():
        page.write_text(text, encoding="utf-8")
        print(f"wrote {page.relative_to(root)}", flush=True)
    for line in missing:
        print(f"not measured: {line}", file=sys.stderr)


def draw_pictures(names: Collection[str], root: Path = ROOT) -> None:
    """Draw the pictures of some records."""
    records = read_all(root / "docs" / "benchmarks")
    for path, (name, draw) in PICTURES.items():
        if name in names:
            draw(records, root / path)
            print(f"drew {path}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.add_argument("--pictures", nargs="+", metavar="RECORD", help="draw those of these")
    options = parser.parse_args()
    if options.check:
        missing: list[str] = []
        differing = changed_pages(read_all(), missing=missing)
        wrong = [
            f"{page.relative_to(ROOT)} is not what docs/benchmarks says" for page in differing
        ]
        print(*wrong, *missing, sep="\n", file=sys.stderr)
        sys.exit(bool(wrong or missing))
    write_pages()
    draw_pictures(options.pictures or ())


if __name__ == "__main__":
    main()
