"""The evidence table: its splits, its rivals, its figures, and that nothing is lost."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

from evidence import figures
from evidence.damage import many_strangers, n_replaced, one_stranger, shortened, with_strangers
from evidence.methods import Opinion, frame_vote, mean_direction, methods, trimmed_direction
from evidence.run import Clock, Store, measured, missing_jobs, run
from evidence.tables import tables as tables_of
from evidence.tasks import (
    PIXELS,
    UNKNOWN,
    Split,
    Task,
    bursts,
    half_enrolled,
    scattered_points,
    tasks,
)
from setwise import SetBatch
from setwise.evaluation.significance import chance_of_difference


def numbered_sets(n_sets, n_vectors=10):
    """Set i holds nothing but the number i."""
    return SetBatch.from_list([np.full((n_vectors, 2), float(i)) for i in range(n_sets)])


@pytest.mark.parametrize(
    ("n_vectors", "share", "expected"),
    [(41, 0.2, 8), (41, 0.4, 16), (7, 0.2, 1), (7, 0.4, 3), (3, 0.1, 1), (2, 0.2, 0)],
)
def test_number_of_strangers(n_vectors, share, expected):
    assert n_replaced(n_vectors, share) == expected


@pytest.mark.parametrize("draw", [one_stranger, many_strangers])
def test_strangers_are_of_other_classes_and_sets_keep_their_size(draw):
    sets, labels = numbered_sets(12), np.repeat(np.arange(4), 3)
    damaged = with_strangers(sets, labels, 0.4, draw, np.random.default_rng(0))
    donors_of_sets = []
    for i, vectors in enumerate(damaged):
        donors = vectors[vectors[:, 0] != i, 0].astype(int)
        assert len(vectors) == 10
        assert len(donors) == 4
        assert (labels[donors] != labels[i]).all()
        donors_of_sets.append(len(set(donors)))
    if draw is one_stranger:
        assert set(donors_of_sets) == {1}
    else:
        assert max(donors_of_sets) > 1
    assert (sets[3] == 3).all()  # the sets themselves stay as they are


def test_short_sets_are_parts_of_the_sets():
    sets = SetBatch.from_list([np.arange(12.0).reshape(6, 2), np.arange(4.0).reshape(2, 2)])
    short = shortened(sets, 3, np.random.default_rng(1))
    assert short.sizes.tolist() == [3, 2]
    assert set(short[0][:, 0]) < set(sets[0][:, 0])
    np.testing.assert_array_equal(short[1], sets[1])


def test_task_names_are_unique_and_every_kind_of_task_is_there():
    known = tasks()
    assert len(known) == len({task.title + task.section for task in known.values()})
    counts = {}
    for task in known.values():
        kind = task.name.split("-")[0]
        counts[kind] = counts.get(kind, 0) + 1
    assert counts == {
        "pixels": 5, "net": 3, "arcface": 1, "strangers": 12, "small": 16, "point": 5,
        "fig9": 27, "unknown": 5, "few": 18,
    }  # fmt: skip


def test_half_of_the_classes_is_enrolled_and_all_probes_are_asked():
    whole = bursts(0)
    split = half_enrolled(bursts, 0)
    assert len(np.unique(split.gallery_labels)) == 3
    assert len(split.probes) == len(whole.probes)
    assert split.is_enrolled.sum() == 15
    assert whole.is_enrolled.all()


def test_mean_cosine_is_the_nearest_neighbour_of_means():
    split = scattered_points(2, 0)
    means = [[mean_direction(s) for s in sets] for sets in (split.gallery, split.probes)]
    oracle = KNeighborsClassifier(1, metric="cosine").fit(means[0], split.gallery_labels)
    said = methods()["mean cosine"](split, 1)
    np.testing.assert_array_equal(said.labels, oracle.predict(means[1]))
    np.testing.assert_allclose(1 - said.nearness, oracle.kneighbors(means[1])[0][:, 0])


def test_trimmed_mean_leaves_a_quarter_out_and_small_sets_alone():
    around = np.tile([1.0, 0.0], (6, 1))
    strangers = np.tile([0.0, 5.0], (2, 1))
    np.testing.assert_allclose(trimmed_direction(np.vstack([strangers, around])), [1.0, 0.0])
    np.testing.assert_allclose(trimmed_direction(np.eye(2)), mean_direction(np.eye(2)))
    assert np.isfinite(trimmed_direction(np.zeros((4, 3)))).all()


def test_frame_vote_counts_nearest_vectors():
    split = scattered_points(2, 1)
    owners = np.repeat(split.gallery_labels, split.gallery.sizes)
    nearest = KNeighborsClassifier(1, metric="cosine").fit(split.gallery.vectors, owners)
    votes = [np.bincount(nearest.predict(vectors), minlength=3) for vectors in split.probes]
    said = frame_vote(split, 1).labels
    for label, counts in zip(said, votes, strict=True):
        assert counts[label] == counts.max()


def test_auroc_and_calibration_against_oracles():
    rng = np.random.default_rng(0)
    scores, is_positive = rng.integers(0, 6, 50), rng.random(50) < 0.4
    assert figures.auroc(scores, is_positive) == pytest.approx(
        roc_auc_score(is_positive, scores)
    )
    # 0.95 sure and right in 3 of 4; 0.55 sure and right in 1 of 2.
    probability = np.array([0.95, 0.95, 0.95, 0.95, 0.55, 0.55])
    correct = np.array([1, 1, 1, 0, 1, 0])
    expected = (4 * 0.20 + 2 * 0.05) / 6
    assert figures.calibration_error(probability, correct) == pytest.approx(expected)
    assert figures.bins_of(np.array([0.0, 0.1, 0.999, 1.0])).tolist() == [0, 1, 9, 9]


def records(*answers, names=("a", "b", "c", "d")):
    return {i: {"probes": names, "correct": right} for i, right in enumerate(answers)}


def test_sign_test_is_mcnemar_where_every_set_is_a_probe_once():
    rng = np.random.default_rng(3)
    ours, theirs = rng.random(40) < 0.9, rng.random(40) < 0.6
    names = [str(i) for i in range(40)]
    counts = figures.wins_and_losses(
        records(ours.astype(int), names=names), records(theirs.astype(int), names=names)
    )
    assert figures.sign_test(*counts) == pytest.approx(chance_of_difference(ours, theirs))


def test_a_set_that_probes_often_counts_once_and_lone_splits_not_at_all():
    ours = records([1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1])
    theirs = records([0, 1, 0, 1], [0, 1, 0, 0])
    assert figures.wins_and_losses(ours, theirs) == (1, 1)  # a won, b lost, d is even


# ---------------------------------------------------------------------------------- the run

TASK = Task("tiny", PIXELS, "tiny task", 3, lambda i: scattered_points(2, i))
OPEN = replace(
    TASK, name="tiny-open", section=UNKNOWN, rivals=("mean cosine",),
    split=lambda i: half_enrolled(bursts, i),
)  # fmt: skip


def sure(split: Split, n_jobs: int) -> Opinion:
    """Right about all but the first probe, and sure of it; a stand-in for CVC."""
    labels = split.labels.copy()
    labels[0] += 1
    nearness = split.is_enrolled.astype(float)
    return Opinion(labels, np.full(len(labels), 0.75), nearness, nearness > 0, "nearness")


def test_a_run_that_was_stopped_goes_on_and_nothing_is_measured_twice(tmp_path):
    path, calls = tmp_path / "out" / "evidence.jsonl", []
    store = Store(path)

    def stopping(split, n_jobs):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(split)
        return sure(split, n_jobs)

    jobs = missing_jobs([TASK], ["CVC"], store, None)
    assert [job.i for job in jobs] == [0, 1, 2]
    with pytest.raises(KeyboardInterrupt):
        run(jobs, {"CVC": stopping}, store, Clock(jobs, [TASK], store), 1)
    rest = missing_jobs([TASK], ["CVC"], store, None)
    assert [job.i for job in rest] == [2]
    assert missing_jobs([TASK], ["CVC"], store, 2) == []
    assert Clock(rest, [TASK], store).left(rest) is not None
    run(rest, {"CVC": sure}, store, Clock(rest, [TASK], store), 1)
    assert list(Store(path).records("tiny", "CVC")) == [0, 1, 2]
    store.keep("tiny", "mean cosine", 0, {"correct": [1]})
    assert store.forget(["tiny"], "CVC") == 3
    assert len(missing_jobs([TASK], ["CVC"], Store(path), None)) == 3
    assert Store(path).records("tiny", "mean cosine") == {0: {"correct": [1]}}


def test_a_line_cut_off_by_a_kill_is_measured_again_and_the_later_of_two_lines_counts(tmp_path):
    path = tmp_path / "evidence.jsonl"
    Store(path).keep("tiny", "CVC", 0, {"correct": [1]})
    path.write_text(path.read_text() + '{"task": "tiny", "meth')
    Store(path).keep("tiny", "CVC", 1, {"correct": [0]})
    path.write_text(path.read_text() + path.read_text().replace("[0]", "[2]"))
    assert Store(path).records("tiny", "CVC") == {0: {"correct": [1]}, 1: {"correct": [2]}}


def test_after_its_minutes_a_run_begins_nothing(tmp_path):
    store = Store(tmp_path / "evidence.jsonl")
    jobs = missing_jobs([TASK], ["CVC"], store, None)
    run(jobs, {"CVC": sure}, store, Clock(jobs, [TASK], store), 1, minutes=0)
    assert missing_jobs([TASK], ["CVC"], store, None) == jobs


def test_the_dearest_jobs_come_first(tmp_path):
    store, calls = Store(tmp_path / "evidence.jsonl"), []

    def noted(name, split, n_jobs):
        calls.append((name, len(split.probes)))
        return sure(split, n_jobs)

    larger = replace(TASK, name="larger", n_splits=1, split=bursts)
    jobs = missing_jobs([TASK, larger], ["CVC", "mean cosine"], store, None)
    named = {name: partial(noted, name) for name in ("CVC", "mean cosine")}
    run(jobs, named, store, Clock(jobs, [TASK, larger], store), 1)
    assert calls[0] == ("CVC", 30)
    assert [name for name, _ in calls] == ["CVC"] * 4 + ["mean cosine"] * 4


def test_what_is_kept_of_a_split():
    kept = json.loads(json.dumps(measured(sure, TASK.split(0), 1)))
    assert kept["correct"] == [0] + [1] * 8
    assert kept["probability"] == [0.75] * 9
    assert "nearness" not in kept
    opened = measured(sure, OPEN.split(0), 1)
    assert opened["is_enrolled"] == opened["is_known"] == OPEN.split(0).is_enrolled.tolist()
    assert opened["scored_by"] == "nearness"


def test_a_table_has_a_row_per_task_beside_its_rival(tmp_path):
    store = Store(tmp_path / "evidence.jsonl")
    available = {"CVC": sure, "mean cosine": methods()["mean cosine"]}
    chosen = [TASK, OPEN]
    jobs = missing_jobs(chosen, list(available), store, 2)
    run(jobs, available, store, Clock(jobs, chosen, store), 1)
    found = tables_of(chosen, store)
    row = found["pixels"].rows[0]
    assert row[:3] == ("tiny task", "18", "2")
    assert found["pixels"].cell("tiny task", "CVC") == "88.89 ± 0.00"
    assert row[-2:] == ("0 : 2", "0.5")
    assert found["unknown-rates"].rows == [("tiny task", "0.0 ± 0.0", "100.0 ± 0.0")]
    assert found["reliability"].rows[-1][:6] == [
        "all together",
        "18",
        "88.9",
        "75.0",
        "13.9",
        "0",
    ]
    assert found["reliability"].values["sections"][TASK.section]["n_probes"] == 18
