"""Every public name is in the reference, with an example that is run."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
import api_pages

NAMES = {f"{room}.{name}": thing for room, name, thing in api_pages.public_names()}
# Exceptions and warnings are described by their first line.
USED = [
    name
    for name, thing in NAMES.items()
    if not (inspect.isclass(thing) and issubclass(thing, Exception))
]


@pytest.mark.parametrize("name", USED)
def test_every_public_name_has_an_example(name):
    """That it runs is the business of ``--doctest-modules``, which collects all of them."""
    docstring = inspect.getdoc(NAMES[name]) or ""
    section = re.search(r"^Examples\n-{8}\n(.*)", docstring, re.MULTILINE | re.DOTALL)
    assert section, f"{name}: add a section Examples to its docstring"
    examples = doctest.DocTestParser().get_examples(section[1])
    assert any(not e.options.get(doctest.SKIP) for e in examples), f"{name}: nothing is run"


def test_names_are_found_once_and_under_the_shortest_room():
    assert "setwise.CVC" in NAMES
    assert "setwise.classify.CVC" not in NAMES
    assert "setwise.classify.judge" in NAMES


def test_every_room_is_in_the_reference():
    index = (Path(api_pages.__file__).parent / "api" / "index.md").read_text("utf-8")
    listed = [line for line in index.splitlines() if line.startswith("setwise")]
    assert listed == list(api_pages.ROOMS)


def test_tasks_name_what_there_is():
    listed = [name for names in api_pages.TASKS.values() for name in names]
    assert set(listed) <= set(NAMES)
    assert len(listed) == len(set(listed))


def test_every_question_has_an_answer():
    questions = (Path(api_pages.__file__).parent / "faq.md").read_text("utf-8")
    paragraphs = [part for part in questions.split("\n\n")[2:] if not part.startswith("#")]
    assert len(paragraphs) > 30
    assert all("\n: " in part for part in paragraphs)
