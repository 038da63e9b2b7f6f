"""Answers in words."""

from dataclasses import replace

import pytest

from setwise.classify.answer import kind_of, sentence, sureness
from setwise.report.answers import meanings_in


@pytest.mark.parametrize(
    ("changes", "kind", "words", "begins"),
    [
        ({"probability": 0.9}, "known", "sure", "This is "),
        ({"probability": 0.89}, "known", "quite sure", "This is "),
        ({"probability": 0.7}, "known", "quite sure", "This is "),
        ({"probability": 0.69}, "unsure", "unsure", "Probably "),
        ({"is_known": False}, "unknown", "unknown", "Unknown: "),
        ({"is_known": None}, "known", "quite sure", "This is "),
        ({"is_informed": False, "is_known": False}, "guess", "no answer", "No answer: "),
    ],
)
def test_kinds_of_answers(albums, changes, kind, words, begins):
    answer = replace(albums.answers[0], **{"probability": 0.8, **changes})
    assert (kind_of(answer), sureness(answer)) == (kind, words)
    assert str(sentence(answer)).startswith(begins)


def test_a_runner_up_that_is_nothing_is_not_named(albums):
    answer = replace(albums.answers[0], runner_up=None)
    assert str(sentence(answer)).endswith("; nothing else comes near.")


def test_an_answer_says_which_unlabelled_sets_it_came_through(albums):
    answer = replace(albums.answers[0], carried_by=(("b", 0.62), ("c", 0.2), ("d", 0.1)))
    assert str(sentence(answer)).endswith(
        " The label came by way of b (62%), c (20%) and others."
    )
    assert "by way of" not in str(sentence(replace(answer, is_known=False)))


def test_only_words_that_occur_are_explained():
    assert list(meanings_in("whitened fine edges svd plain mean")) == [
        *("fine edges", "whitened", "mean", "svd")
    ]
