"""What four kinds of new users met (review/newcomer.md): each has a test, or a reason.

Most tests live with what they test; this is the list, and it cannot go stale unseen.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
README = (TESTS.parent / "README.md").read_text(encoding="utf-8")

MET = {
    "no way to install it into one's own environment": "test_the_readme_says_how_to_install",
    "nothing on strangers or on saving": "test_the_readme_says_how_to_install",
    "the demo does not show why one needs sets": "test_sets_beat_the_rivals_over_all_rounds",
    "one album tomorrow is a full refit": "test_the_file_answers_as_the_folder_does",
    "five car photos among twenty apples": "test_photos_out_of_place_are_named",
    "a card is silently one label": (
        "test_a_card_is_read_in_bursts_whatever_folder_they_lie_in"
    ),
    "false tracks: a forehead inside a face": "test_a_forehead_inside_a_face_is_no_set",
    "no way to refuse strangers": "test_sets_of_other_classes_are_unknown_where_wanted",
    ".mat with X and gnd": "test_a_matrix_with_labels_and_groups",
    "probes read as auto, no --gap, no recursion": "test_bursts_lie_at_any_depth",
    "gallery/anna/*.jpg is refused": "test_fit_says_what_is_in_the_file",
    "one image against one image says 1.00": "test_one_image_against_one_is_not_certain",
    "classify does not say what it left out": "test_a_bad_file_stops_or_is_skipped",
    "HEIC": "test_heic_that_cannot_be_read_is_listed",
    "inspect stops at the first bad file": "test_inspect_lists_every_bad_file",
    "max_bad is no option": "test_a_bad_file_stops_or_is_skipped",
    "extra sub-folders": "test_what_is_excluded_is_not_read",
    "links": "test_links_outside_are_read_on_request",
    "no explanation, picture, report or CSV": "test_report_pictures_and_table_are_written",
    "sets keep no file names": "test_a_gallery_remembers_them_through_enroll_and_forget",
    "a column of embeddings": "test_a_column_of_vectors",
    "faces: table, contact sheet": "test_people_see_a_table_and_where_to_look",
    "faces: minimum length and size": "test_options_choose_frames_and_tracks",
    "faces: one clip per call": "test_folders_of_classes_stay_classes",
    "faces: an existing folder is refused after all work": (
        "test_a_folder_that_is_not_empty_is_refused_before_any_clip_is_opened"
    ),
    "clips are judged whole without a word": "test_whole_frames_are_judged_and_it_is_said",
    "method names with commas": (
        "test_compare_knows_names_with_commas_and_checks_them_before_loading"
    ),
    "--picture nosuch/x.png loses the finished table": (
        "test_a_picture_that_cannot_be_drawn_is_refused_first"
    ),
    "33 of 41 vectors speak for another class": (
        "test_only_what_was_left_out_can_be_out_of_place"
    ),
    "1,000 classes x 2 sets x 5 vectors": (
        "test_few_classes_are_looked_at_and_the_right_one_is_among_them"
    ),
    "README says enroll is far cheaper": "test_nothing_is_learnt_or_solved_from_scratch",
    "an API reference": "test_every_public_name_has_an_example",
    "README and accuracy.md differ": "test_the_readme_has_the_numbers_that_were_measured",
    "the picture shows no image and no name": "test_report_pictures_and_table_are_written",
    "cross-validation on one's own folder, --folds 2": "test_evaluate_on_ones_own_folder",
}
REFUSED = {
    "unknown / empty photos of a camera trap": (
        "A burst of nothing is a class like any other: give the gallery a folder `empty/`."
    ),
    "partial reports": "`setwise reproduce --only` writes a report of what is done so far.",
}


def all_tests() -> set[str]:
    return {
        name
        for file in TESTS.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), flags=re.MULTILINE)
    }


def test_everything_that_was_met_has_a_test():
    assert set(MET.values()) <= all_tests()


@pytest.mark.parametrize("row", REFUSED)
def test_what_has_none_has_a_reason(row):
    assert row not in MET
    assert REFUSED[row].endswith(".")


def test_the_readme_says_how_to_install():
    for words in ("pip install", "unknown", "people.setwise", "setwise identify"):
        assert words in README
