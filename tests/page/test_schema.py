"""The API as its schema describes it: no input makes the server fail."""

from __future__ import annotations

import warnings
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from tests.page.page_server import album, photos, served, settings_for
from tests.page.page_types import FILE, current

schemathesis = pytest.importorskip("schemathesis")

# Of streams there is no end, and some values are only ever found on the wire.
STREAMS = ("/api/v1/events",)


@pytest.fixture(scope="module")
def busy_page(gallery_file, tmp_path_factory):
    """With a question that is answered, an inbox, and a folder to carry to."""
    folder = tmp_path_factory.mktemp("schema")
    inbox = folder / "inbox" / "a"
    inbox.mkdir(parents=True)
    for i, one in enumerate(photos("flat", 4)):
        (inbox / f"{i}.png").write_bytes(one)
    settings = settings_for(gallery_file, folder, inbox=inbox.parent, into=folder / "sorted")
    with served(settings) as running:
        running.answered(album())
        yield running


def operations(page):
    schema = schemathesis.openapi.from_url(f"{page.address}/openapi.json")
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path not in STREAMS:
            yield operation


def attack(page, n_examples: int) -> dict[str, int]:
    """Call every operation with what its schema allows, and with what it does not."""
    counted: dict[str, int] = {}
    for operation in operations(page):
        for mode in (
            schemathesis.GenerationMode.POSITIVE,
            schemathesis.GenerationMode.NEGATIVE,
        ):
            strategy = operation.as_strategy(generation_mode=mode)

            @settings(
                max_examples=n_examples,
                deadline=None,
                database=None,
                derandomize=True,
                phases=(Phase.explicit, Phase.generate),
                suppress_health_check=list(HealthCheck),
            )
            @given(case=strategy)
            def ask(case):
                response = case.call(base_url=page.address, timeout=30)
                counted[case.path] = counted.get(case.path, 0) + 1
                assert response.status_code < 500 or response.status_code == 503, response.text
                if response.status_code >= 400:
                    assert response.headers["content-type"][0] == "application/json"
                    assert list(response.json()) == ["error"]

            # Where there is nothing to be sent, nothing wrong can be sent.
            with warnings.catch_warnings(), suppress(Unsatisfiable):
                warnings.simplefilter("ignore")
                ask()
    return counted


def test_no_request_makes_the_server_fail(busy_page):
    counted = attack(busy_page, 2)
    assert len(counted) >= 16
    assert busy_page.answered(album())["answers"][0]["most_like"]


@pytest.mark.slow
def test_no_request_of_many_makes_the_server_fail(busy_page):
    assert len(attack(busy_page, 30)) >= 16


def test_every_answer_is_described(busy_page):
    schema = busy_page.get("/openapi.json").json()
    for path, operation in schema["paths"].items():
        for method, about in operation.items():
            assert about["summary"], (method, path)
            assert "503" in about["responses"]
            problem = about["responses"]["503"]["content"]["application/json"]["schema"]
            assert problem["$ref"].endswith("/Problem")


def test_clients_can_be_made_from_the_description(busy_page):
    schema = busy_page.get("/openapi.json").json()
    ways = [one for path in schema["paths"].values() for one in path.values()]
    names = [one["operationId"] for one in ways]
    assert len(set(names)) == len(names)
    assert {"enroll", "judge", "questions", "start_undo", "undo"} <= set(names)
    assert {one["tags"][0] for one in ways} == {one["name"] for one in schema["tags"]}
    assert set(schema["components"]["securitySchemes"]) == {"bearer", "cookie"}
    assert {} in schema["security"]  # no token is needed here
    of = schema["paths"]["/api/v1/gallery"]["get"]["responses"]
    assert set(of) == {"200", "401", "403", "409", "421", "429", "503"}
    assert "202" in schema["paths"]["/api/v1/commands/move"]["post"]["responses"]


def test_the_description_for_people_is_of_local_files(busy_page):
    page = busy_page.get("/docs")
    assert page.status_code == 200
    assert "docs.js" in page.text
    assert "http" not in page.text.replace("http-equiv", "")
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_the_types_of_the_scripts_are_those_of_the_api():
    assert FILE.read_text(encoding="utf-8") == current(), (
        "the API has changed: python -m tests.page.page_types"
    )
