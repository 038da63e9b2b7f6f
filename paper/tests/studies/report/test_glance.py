from dataclasses import replace

from tests.studies.report.made_results import failure, made

from setwise_paper.report.glance import at_a_glance


def facts(result):
    return {fact.label: fact for fact in at_a_glance(result)}


def test_paper_beside_ours_and_the_best():
    found = facts(made(n_wrong=2).result)
    assert (found["The paper says"].value, found["We find"].value) == ("91.75", "91.00")
    assert found["We find"].mark == "within"
    assert found["Best of all here"].value == "96.50"
    assert found["Wrong probes"].value == "2"
    assert found["Finished"].mark == ""


def test_failures_are_marked():
    result = replace(made(n_wrong=0).result, failures=(failure(),), n_finished=59)
    found = facts(result)
    assert "Wrong probes" not in found
    assert found["Finished"].mark == "below"
    assert "1 to go, 1 failed" in found["Finished"].note


def test_times_are_no_results():
    result = made(n_wrong=0).result
    fusion, methods = result.sections[:2]
    timed = methods.experiment.model_copy(update={"is_timed": True})
    found = facts(replace(result, sections=(fusion, replace(methods, experiment=timed))))
    assert found["Best of all here"].value == "91.00"


def test_a_tie_is_no_best_of_all():
    result = made(n_wrong=0).result
    methods = result.sections[1]
    best = methods.rows[0]
    tied = (best, *(replace(row, mean=best.mean) for row in methods.rows[1:3]))
    found = facts(replace(result, sections=(replace(methods, rows=tied),)))
    assert "Best of all here" not in found
    assert found["Best here, shared"].value == "96.50"
    assert found["Best here, shared"].note == "3 methods: CVC, DCC, …"
