"""Tokens with rights, addresses behind a proxy, and rates."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from tests.page.page_server import album, served, settings_for

from setwise.errors import DataError, ParameterError
from setwise.page import Limits, Settings, Token, access
from setwise.page.access import Rate, tokens_of_environment, tokens_of_file

WRITER, READER = (
    Token("token-of-the-operator", "anna"),
    Token("token-of-a-kiosk", "kiosk", False),
)
PUBLIC = "https://photos.example.org"


def bearer(token: Token) -> dict[str, str]:
    return {"Authorization": f"Bearer {token.value}"}


@pytest.fixture(scope="module")
def proxied(gallery_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("proxied")
    settings = settings_for(
        gallery_file, folder, tokens=(WRITER, READER), public_url=PUBLIC,
        allowed_hosts=("setwise.internal",),
    )  # fmt: skip
    with served(settings) as running:
        yield running


def test_a_reader_asks_and_changes_nothing(proxied):
    with proxied.new_client(headers=bearer(READER)) as reader:
        assert reader.get("/api/v1/gallery").status_code == 200
        assert reader.get("/metrics").status_code == 200
        asked = reader.post("/api/v1/identify", files=album())
        assert asked.status_code == 202
        job = asked.json()["id"]
        assert proxied.question(job, reader)["state"] == "done"
        for path, body in (
            ("/api/v1/commands/enroll", {"job": job, "label": "flat"}),
            ("/api/v1/commands/undo", {}),
            ("/api/v1/identifyx", {}),
        ):
            refused = reader.post(path, json=body)
            assert refused.status_code == 403, path
            assert "does not allow changes" in refused.json()["error"]
        assert reader.delete(f"/api/v1/identify/{job}").status_code == 204
        assert reader.delete("/api/v1/gallery").status_code == 403
        assert reader.get("/api/v1/gallery").json()["n_sets"] == 9


def test_a_writer_may_change(proxied):
    with proxied.new_client(headers=bearer(WRITER)) as writer:
        assert (
            writer.post("/api/v1/commands/undo", json={}).status_code == 422
        )  # nothing to undo


def test_every_route_that_is_not_read_needs_the_right_to_write(proxied):
    """A new command is refused to readers without that anybody thinks of it."""
    schema = proxied.get("/openapi.json", headers=bearer(READER)).json()
    for path, operations in schema["paths"].items():
        for method in set(operations) - {"get"}:
            with proxied.new_client(headers=bearer(READER)) as reader:
                found = reader.request(method, path, json={})
            is_asking = path.startswith(("/api/v1/identify", "/api/v1/judge"))
            assert (found.status_code == 403) != is_asking, (method, path)


def test_a_read_only_server_refuses_everybody(gallery_file, tmp_path):
    with served(settings_for(gallery_file, tmp_path, is_read_only=True)) as page:
        assert page.post("/api/v1/commands/undo").status_code == 403
        overview = page.overview()
        assert not overview["can_change"]
        assert "--read-only" in overview["reason_it_cannot"]
        assert page.answered(album())["answers"][0]["label"] == "flat"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["people.setwise"]


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("photos.example.org", PUBLIC, 200),  # the proxy passes the name on
        ("photos.example.org:443", PUBLIC, 200),
        ("127.0.0.1:8765", PUBLIC, 200),  # or its own: the default of nginx
        ("setwise.internal", None, 200),
        ("photos.example.org", "https://evil.example", 403),
        ("127.0.0.1:8765", "https://photos.example.org:1", 403),
        ("evil.example", PUBLIC, 421),
        ("photos.example.org.evil.example", None, 421),
    ],
)
def test_behind_a_proxy(proxied, host, origin, status):
    headers = bearer(WRITER) | {"Host": host} | ({"Origin": origin} if origin else {})
    assert proxied.get("/api/v1/gallery", headers=headers).status_code == status


def test_the_cookie_of_a_public_address_is_for_tls_alone(proxied):
    for token in (WRITER, READER):
        with proxied.new_client() as browser:
            cookie = browser.get(f"/?token={token.value}").headers["set-cookie"]
        assert cookie.startswith(f"setwise_token={token.value};")
        assert cookie.endswith("; Secure")


def test_forwarded_addresses_are_believed_of_the_proxy_alone(gallery_file, tmp_path, caplog):
    caplog.set_level("INFO", logger="setwise")
    settings = settings_for(gallery_file, tmp_path)
    for proxies, client in ((("127.0.0.1",), "203.0.113.9"), (("10.0.0.0/8",), "127.0.0.1")):
        caplog.clear()
        with served(replace(settings, proxies=proxies)) as page:
            page.get("/api/v1/history", headers={"X-Forwarded-For": "203.0.113.9"})
        lines = [one.fields for one in caplog.records if one.getMessage() == "request"]
        # Another server may still be writing about its last request.
        own = [line for line in lines if line["path"] == "/api/v1/history"]
        assert [line["client"] for line in own] == [client]


@pytest.mark.parametrize(
    "url",
    ["photos.example.org", "https://", "ftp://a.b", "https://a.b/setwise", "https://a.b?x=1",
     "https://user@a.b", "https://a.b:99999", "https://a b"],
)  # fmt: skip
def test_public_addresses_that_are_none_are_refused(gallery_file, url):
    with pytest.raises(ParameterError, match="public address"):
        Settings(gallery_file, token=WRITER.value, public_url=url).check()


def test_a_public_address_needs_a_token(gallery_file):
    with pytest.raises(ParameterError, match="no token"):
        Settings(gallery_file, public_url=PUBLIC).check()
    Settings(gallery_file, public_url=f"{PUBLIC}:8443/", tokens=(READER,)).check()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"allowed_hosts": ("a/b",)}, "no name of a host"),
        ({"proxies": ("nginx",)}, "neither an IP address"),
        ({"tokens": (READER, Token(READER.value, "other"))}, "two tokens are equal"),
        ({"limits": Limits(streams=0)}, "streams"),
        ({"limits": Limits(undo_bytes=-1)}, "undo_bytes"),
    ],
)
def test_settings_that_cannot_work_are_refused(gallery_file, options, words):
    with pytest.raises(ParameterError, match=words):
        Settings(gallery_file, **options).check()


def test_settings_show_no_token(gallery_file):
    shown = repr(Settings(gallery_file, token=WRITER.value, tokens=(READER,)))
    assert WRITER.value not in shown
    assert READER.value not in shown


def test_a_file_of_tokens(tmp_path):
    file = tmp_path / "tokens"
    file.write_text("# of the office\n\nkiosk read token-of-a-kiosk\nanna  write x1234567\n")
    assert tokens_of_file(file) == (READER, Token("x1234567", "anna", can_write=True))
    file.write_text("just-a-token\n")
    assert tokens_of_file(file) == (Token("just-a-token"),)


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "is empty"), ("# only this", "holds no token"), ("a secret-1", "neither"),
     ("kiosk admin secret-1", "neither"), ("a read secret-1 b", "neither"),
     (b"\xff", "cannot be read")],
)  # fmt: skip
def test_a_bad_file_of_tokens_is_refused_without_being_shown(tmp_path, text, words):
    file = tmp_path / "tokens"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=words) as refused:
        tokens_of_file(file)
    assert "secret" not in str(refused.value)
    with pytest.raises(DataError, match="nothing"):
        tokens_of_file(tmp_path / "nothing")


def test_the_token_of_the_environment(monkeypatch):
    monkeypatch.setenv(access.VARIABLE, "from-systemd")
    assert tokens_of_environment() == (Token("from-systemd"),)
    monkeypatch.setenv(access.VARIABLE, "")
    assert tokens_of_environment() == ()


def test_a_rate_fills_again(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(access.time, "monotonic", lambda: now[0])
    rate = Rate(60)
    for _ in range(60):
        assert rate.wait_s("a") == 0
        rate.count("a")
    assert rate.wait_s("a") == pytest.approx(1.0)
    assert rate.wait_s("b") == 0
    now[0] += 0.5
    assert rate.wait_s("a") == pytest.approx(0.5)
    now[0] += 1000.0
    assert rate.wait_s("a") == 0


def test_a_rate_remembers_a_bounded_number_of_clients(monkeypatch):
    monkeypatch.setattr(access, "MOST_CLIENTS", 3)
    rate = Rate(1)
    for client in "abcd":
        rate.count(client)
    assert [rate.wait_s(client) > 0 for client in "abcd"] == [False, True, True, True]


def test_guessing_tokens_is_slow(gallery_file, tmp_path):
    limits = Limits(wrong_tokens_per_minute=3)
    with served(settings_for(gallery_file, tmp_path, limits, tokens=(WRITER,))) as page:
        guesses = [bearer(Token(f"not-the-token-{i}")) for i in range(5)]
        found = [page.get("/api/v1/gallery", headers=one).status_code for one in guesses]
        assert found == [401, 401, 401, 429, 429]
        right = page.get("/api/v1/gallery", headers=bearer(WRITER))
        assert right.status_code == 429  # or the guess could be read from the answer
        assert int(right.headers["retry-after"]) > 0
        assert page.get("/readyz").status_code == 200


def test_a_window_with_an_old_token_shuts_nobody_out(gallery_file, tmp_path):
    limits = Limits(wrong_tokens_per_minute=3)
    with served(settings_for(gallery_file, tmp_path, limits, tokens=(WRITER,))) as page:
        old = bearer(Token("of-the-server-before"))
        found = {page.get("/api/v1/history", headers=old).status_code for _ in range(9)}
        assert found == {401}
        assert page.get("/api/v1/history", headers=bearer(WRITER)).status_code == 200


def test_requests_of_one_client_are_bounded(gallery_file, tmp_path):
    limits = Limits(requests_per_minute=5)
    with served(settings_for(gallery_file, tmp_path, limits, tokens=(WRITER,))) as page:
        found = [
            page.get("/api/v1/history", headers=bearer(WRITER)).status_code for _ in range(7)
        ]
        assert found == [200] * 5 + [429] * 2
        other = bearer(WRITER) | {"X-Forwarded-For": "203.0.113.9"}
        assert page.get("/api/v1/history", headers=other).status_code == 200


def test_every_limit_is_checked(gallery_file):
    for field in fields(Limits):
        with pytest.raises(ParameterError, match=field.name):
            Settings(gallery_file, limits=Limits(**{field.name: -1})).check()
