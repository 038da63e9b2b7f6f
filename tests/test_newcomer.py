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
    "README and accuracy.md differ": "test_every_page_shows_what_was_measured",
    "the picture shows no image and no name": "test_report_pictures_and_table_are_written",
    "cross-validation on one's own folder, --folds 2": "test_evaluate_on_ones_own_folder",
    "photos above 25 megapixels are refused": (
        "test_a_photo_of_many_megapixels_is_decoded_at_a_reduced_size"
    ),
    "a .jpg is refused as a probe": "test_one_photo_is_a_probe",
    "album/*.jpg is refused": "test_photos_by_name_are_a_set_per_folder",
    "only the largest face of a photo": "test_all_faces_of_all_photos",
    "faces of photos/ is refused": "test_faces_of_photos_get_folders_a_table_and_a_sheet",
    "nothing groups people": "test_faces_become_people_and_one_seen_once_is_unsure",
    "a second run starts again": "test_a_second_run_looks_at_new_photos_alone",
    "no tags of people for other programs": "test_names_and_regions_are_read_back",
    "no sorting from the shell": (
        "test_table_folders_and_sidecars_change_only_where_people_do"
    ),
    "fit -o overwrites": "test_fit_keeps_a_file_that_is_there",
    "Answer.label names somebody for a stranger": (
        "test_the_label_of_an_unknown_set_is_the_unknown_label"
    ),
    "repr of an answer is 22 kB, and no to_dict": (
        "test_an_answer_is_short_to_read_and_goes_into_json"
    ),
    "0.99 for a tomato": "test_a_gallery_that_cannot_say_unknown_says_so_once",
    "nothing lists the sets of a gallery file": (
        "test_inspect_lists_classes_and_sets_of_a_gallery_file"
    ),
    "a bad file hides --skip-bad": "test_messages_name_options_of_the_shell",
    "first estimates are far too long": "test_results_pass_and_the_estimate_falls",
    "inner progress runs backwards": "test_parts_of_a_step_do_not_show_their_own_progress",
    "labels and file names are cut": "test_labels_and_file_names_are_never_cut",
    "a file forgets bursts and gap": "test_a_gallery_file_remembers_bursts_and_gap",
    "--features auto changes, --features of identify is ignored": (
        "test_auto_features_are_told_and_a_gallery_pins_them"
    ),
    "the same album twice": "test_the_same_album_twice_is_noticed",
    "the same photos in two classes": "test_equal_photos_in_two_classes_are_named_by_fit",
    "27648 features, but the gallery has 512": (
        "test_a_gallery_of_vectors_refuses_photos_in_words"
    ),
    "identify with swapped arguments": "test_swapped_arguments_are_named_before_any_work",
    "parquet is unknown to the shell": "test_tables_of_vectors",
    "a frame with numbers for names": "test_columns_may_be_numbers",
    "a LazyFrame": "test_a_lazy_frame_is_named_with_what_to_do",
    "a bare PCA in a pipeline": "test_a_bare_transformer_of_rows_is_told_of_per_vector",
    "a clusterer of scikit-learn cannot be saved": (
        "test_a_clusterer_of_scikit_learn_is_saved_and_loaded"
    ),
    "compare has one split": "test_accuracies_of_splits_are_those_of_the_method",
    "no test over repeated splits": ("test_the_corrected_test_is_that_of_nadeau_and_bengio"),
    "no test over datasets": "test_methods_over_datasets",
    ".CR2, and clips among photos": "test_raw_photos_and_clips_among_photos_say_what_to_do",
    "RAW previews": "test_the_preview_is_a_photo",
    "30 pixel crops in which no face is found": "test_a_person_who_comes_back_is_one_folder",
    "one clip without people stops all": "test_a_clip_without_people_is_no_fault",
    "a film is read again each time": "test_a_clip_is_read_once",
    "one command per name": "test_several_are_named_at_once_or_none",
    "who is person 1?": "test_a_sheet_shows_who_is_who",
    "a collage is many people": "test_a_collage_shows_one_person_many_times",
    "a folder of copies among the photos": (
        "test_folders_among_the_photos_are_refused_before_any_work"
    ),
    "own parts without code": "test_what_a_page_says_runs",
    "a port that is taken is a bug in setwise": "test_3_a_port_that_is_taken_is_one_sentence",
    "no health check": "test_1_health_readiness_and_metrics_are_there",
    "a truncated photo": "test_bad_photos_stop_or_are_skipped",
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
