"""Health, metrics and the log of a server."""

from __future__ import annotations

import json
import logging
import re
import sys
from asyncio import CancelledError

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.page.page_server import served, settings_for

from setwise.page import Limits, Token
from setwise.page.logs import logging_to_stderr, request_fields, tell
from setwise.page.metrics import BUCKETS, COUNTERS, GAUGES, TIMES, Metrics


def parsed(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """The values by name and labels, as Prometheus' own parser reads them."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = sample.name, tuple(sorted(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def test_health_is_told_to_everybody_by_any_name(gallery_file, tmp_path):
    settings = settings_for(gallery_file, tmp_path, token="a-token-that-nobody-knows")
    with served(settings) as page:
        for path, status in (("/healthz", "ok"), ("/readyz", "ready")):
            found = page.get(path, headers={"Host": "10.0.0.7.pod.local"})
            assert (found.status_code, found.json()) == (200, {"status": status})
            assert page.client.head(path).status_code == 200
        assert page.get("/metrics").status_code == 401
        assert page.post("/healthz").status_code in (401, 405)


def test_ready_says_why_not(gallery_file, tmp_path):
    with served(settings_for(gallery_file, tmp_path)) as page:
        whole = page.gallery.read_bytes()
        page.gallery.write_bytes(whole[:1000])
        page.state.file.refreshed(surely=True)
        found = page.get("/readyz")
        assert found.status_code == 503
        assert "gallery file cannot be read" in found.json()["error"]
        assert str(page.gallery) not in found.text
        assert int(found.headers["retry-after"]) > 0
        assert page.get("/healthz").status_code == 200  # a new start would not help
        page.gallery.write_bytes(whole)
        page.state.file.refreshed(surely=True)
        assert page.get("/readyz").status_code == 200
        page.state.is_closed.set()
        assert "stopping" in page.get("/readyz").json()["error"]


def test_a_full_disk_is_not_ready(gallery_file, tmp_path):
    with served(settings_for(gallery_file, tmp_path, Limits(upload_bytes=10**18))) as page:
        assert "disk" in page.get("/readyz").json()["error"]


def test_metrics_count_requests_questions_and_changes(gallery_file, tmp_path):
    with served(settings_for(gallery_file, tmp_path)) as page:
        page.enroll("flat")
        page.get("/app.js")
        page.get("/api/v1/sets/none/images/0")
        page.get("/nothing\N{SNOWMAN}")
        page.get("/", headers={"Origin": "http://evil.example"})
        found = page.get("/metrics")
        text = found.text
    values = parsed(text)
    assert found.headers["content-type"].startswith("text/plain; version=")
    assert values["setwise_changes_total", (("command", "enroll"),)] == 1
    assert values["setwise_questions_total", (("state", "done"),)] == 1
    assert values["setwise_question_seconds_count", ()] == 1
    assert values["setwise_gallery_sets", ()] == 10
    assert values["setwise_refused_total", (("status", "403"),)] == 1
    assert values["setwise_ready", ()] == 1
    enrolled = ("method", "POST"), ("route", "/api/v1/commands/enroll"), ("status", "200")
    assert values["setwise_requests_total", enrolled] == 1
    routes = {dict(labels)["route"] for _, labels in values if "route" in dict(labels)}
    assert "/api/v1/sets/{set_id}/images/{i}" in routes  # no route per set
    assert routes <= {"static", "other"} | {r for r in routes if r.startswith("/")}
    named = re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE)
    told = {name for name in named if not name.startswith("process_")}
    assert told == {*COUNTERS, *TIMES, *GAUGES}
    if sys.platform == "linux":
        assert values["process_resident_memory_bytes", ()] > 10**7
        assert values["process_open_fds", ()] > 3


def test_histograms_add_up_and_labels_are_escaped():
    metrics = Metrics()
    seconds = (0.001, 0.005, 0.3, 1000.0)
    for one in seconds:
        metrics.observe("setwise_question_seconds", one)
    metrics.add("setwise_changes_total", command='a"b\\c\nd')
    values = parsed(metrics.text({}).decode())
    for bound in BUCKETS:
        expected = sum(one <= bound for one in seconds)
        assert values["setwise_question_seconds_bucket", (("le", str(bound)),)] == expected
    assert values["setwise_question_seconds_bucket", (("le", "+Inf"),)] == len(seconds)
    assert values["setwise_question_seconds_sum", ()] == sum(seconds)
    assert values["setwise_changes_total", (("command", 'a"b\\c\nd'),)] == 1


@pytest.fixture
def logged(caplog):
    caplog.set_level(logging.DEBUG, logger="setwise")

    def fields(event: str) -> list[dict]:
        return [record.fields for record in caplog.records if record.getMessage() == event]

    return fields


def test_each_request_question_and_change_is_one_line(gallery_file, tmp_path, logged):
    tokens = (Token("token-of-the-operator", "anna"),)
    with served(settings_for(gallery_file, tmp_path, tokens=tokens)) as page:
        secret = tokens[0].value
        page.client.headers["Authorization"] = f"Bearer {secret}"
        answer = page.enroll("flat")
        with page.new_client() as browser:
            browser.get(f"/?token={secret}", headers={"X-Request-ID": "from-the-proxy-1"})
        page.get("/healthz")
    lines = logged("request")
    enrolled = [line for line in lines if line["path"] == "/api/v1/commands/enroll"]
    assert [line["status"] for line in enrolled] == [200]
    assert [line["path"] for line in lines].count("/") == 1
    change, question = logged("change")[0], logged("question")[0]
    assert change["command"] == "enroll"
    assert change["revision"] == answer.json()["revision"]
    assert question["state"] == "done"
    assert question["images"] == 8
    assert secret not in str(lines)


def written(form, capsys):
    about = request_fields.set({"client": "10.0.0.1", "who": "an na"})
    try:
        with logging_to_stderr(form, "info"):
            tell("change", words='Added "x"\nERROR faked', revision=None)
            logging.getLogger("setwise").debug("left out")
            logging.getLogger("setwise.other").warning("two\nlines \x1b[31m")
            logging.getLogger("uvicorn.error").error("of the web server")
            for kind in (ValueError, CancelledError):
                try:
                    raise kind
                except kind:
                    logging.getLogger("setwise").exception("failed")
    finally:
        request_fields.reset(about)
    return capsys.readouterr().err


def test_json_lines_are_json(capsys):
    lines = [json.loads(line) for line in written("json", capsys).splitlines()]
    assert [line["event"] for line in lines] == [
        "change", "two\nlines \x1b[31m", "of the web server", "failed",
    ]  # fmt: skip
    assert lines[0]["words"] == 'Added "x"\nERROR faked'
    assert {"time", "level", "client", "who"} <= set(lines[0])
    assert "revision" not in lines[0]
    assert "ValueError" in lines[3]["traceback"]


def test_text_lines_cannot_be_faked(capsys):
    lines = written("text", capsys).splitlines()
    assert r'words="Added \"x\"\nERROR faked"' in lines[0]
    assert 'who="an na"' in lines[0]
    assert r"two\nlines \x1b[31m" in lines[1]
    assert lines[3].split()[1:3] == ["ERROR", "failed"]


def test_a_request_id_of_a_proxy_is_kept_unless_it_is_odd(shared_page):
    kept = shared_page.get("/healthz", headers={"X-Request-ID": "a1-b2"})
    assert kept.headers["x-request-id"] == "a1-b2"
    for odd in ("x" * 65, "a b", "a;b"):
        found = shared_page.get("/healthz", headers={"X-Request-ID": odd})
        assert re.fullmatch("[0-9a-f]{12}", found.headers["x-request-id"])
