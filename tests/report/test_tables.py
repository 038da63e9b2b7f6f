import numpy as np

from setwise.report.tables import MOST_CLASSES, Confusion, confusion_table


def table(counts, pictures=None):
    names = tuple(f"class {i}" for i in range(len(counts)))
    return confusion_table(Confusion(names, tuple(map(tuple, counts))), pictures or {})


def test_shares_are_of_the_true_class():
    found = table([[8, 2], [0, 5]], {"class 1": "data:x"})
    assert found.rows == (((8, 0.8), (2, 0.2)), ((0, 0.0), (5, 1.0)))
    assert found.accuracies == (80.0, 100.0)
    assert found.classes == (("class 0", ""), ("class 1", "data:x"))


def test_a_class_without_probes_has_no_share():
    assert table([[0, 0], [0, 1]]).accuracies == (0.0, 100.0)


def test_of_many_classes_only_those_that_were_mistaken_are_shown():
    counts = 5 * np.eye(MOST_CLASSES + 6, dtype=int)
    counts[3, 17] = 2
    found = table(counts.tolist())
    assert [name for name, _ in found.classes] == ["class 3", "class 17"]
    assert found.n_left_out == MOST_CLASSES + 4
