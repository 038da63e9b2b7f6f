"""Who may talk to the server."""

from __future__ import annotations

import asyncio
import socket

import pytest
from tests.page.page_server import album, served, settings_for

from setwise.errors import ParameterError
from setwise.page import Settings
from setwise.page.guard import COOKIE, CSP, GO_ON, Guard
from setwise.page.settings import is_loopback

TOKEN = "a-token-that-nobody-knows"


@pytest.fixture(scope="module")
def locked_page(gallery_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("locked")
    with served(settings_for(gallery_file, folder, token=TOKEN)) as running:
        yield running


def test_only_loopback_is_this_machine_alone():
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.2", "example.org", "")))


@pytest.mark.parametrize("path", ["/", "/api/v1/gallery", "/api/v1/nothing", "/openapi.json"])
def test_every_response_has_a_strict_policy(shared_page, path):
    found = shared_page.get(path)
    assert found.headers["content-security-policy"] == CSP
    assert "unsafe" not in CSP
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://evil.example:8765"]
)
def test_requests_of_other_sites_are_refused(shared_page, origin):
    first = shared_page.overview()["classes"][0]["sets"][0]["id"]
    refused = shared_page.post(
        "/api/v1/commands/forget", {"set_id": first}, headers={"Origin": origin}
    )
    assert refused.status_code == 403
    asked = shared_page.client.post(
        "/api/v1/identify", files=album(), headers={"Origin": origin}
    )
    assert asked.status_code == 403
    assert shared_page.overview()["n_sets"] == 9


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
def test_browsers_that_say_so_are_believed(shared_page, site):
    found = shared_page.get("/api/v1/gallery", headers={"Sec-Fetch-Site": site})
    assert found.status_code == 403


@pytest.mark.parametrize("path", ["/", "/?token=wrong", f"/?token={TOKEN}"])
def test_a_link_of_another_site_is_opened_by_the_page_itself(locked_page, path):
    """A browser brings no strict cookie with a link; asked again by the page, it does."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    found = locked_page.get(path, headers=headers)
    assert (found.status_code, found.text) == (200, GO_ON)
    assert "set-cookie" not in found.headers
    assert found.headers["x-frame-options"] == "DENY"
    for odd in ({"Sec-Fetch-Dest": "iframe"}, {"Sec-Fetch-Dest": "image"}):
        assert locked_page.get(path, headers=headers | odd).status_code == 403
    assert locked_page.client.post(path, headers=headers).status_code == 403
    assert locked_page.get(path, headers=headers | {"Host": "evil.example"}).status_code == 421


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_the_page_itself_may_ask(shared_page, site):
    headers = {"Sec-Fetch-Site": site, "Origin": shared_page.address}
    assert shared_page.get("/api/v1/gallery", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example:8765", "localhost.evil.example", "[::1", "",
     "evil.example@127.0.0.1",
     "[::1].evil.com", "[::1]:8765.evil.com",
     "127.0.0.1:8765:1", "0.0.0.0:8765", "169.254.169.254"],
)  # fmt: skip
def test_names_that_were_bent_to_this_machine_are_refused(shared_page, host):
    found = shared_page.get("/api/v1/gallery", headers={"Host": host})
    assert found.status_code in (400, 421)


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8765", "LOCALHOST"])
def test_own_names_are_answered(shared_page, host):
    assert shared_page.get("/api/v1/gallery", headers={"Host": host}).status_code == 200


def test_without_the_token_nothing_is_told(locked_page):
    for path in ("/", "/api/v1/gallery", "/openapi.json", "/api/v1/events"):
        assert locked_page.get(path).status_code == 401
    assert locked_page.client.post("/api/v1/identify", files=album()).status_code == 401
    wrong = {"Authorization": "Bearer wrong", "Cookie": f"{COOKIE}=wrong"}
    assert locked_page.get("/api/v1/gallery", headers=wrong).status_code == 401
    assert locked_page.get("/api/v1/gallery?token=wrong").status_code == 401


def test_a_program_brings_the_token_in_a_header(locked_page):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert locked_page.get("/api/v1/gallery", headers=headers).status_code == 200


def test_a_browser_brings_it_once_and_keeps_it_in_a_cookie(locked_page):
    with locked_page.new_client() as browser:
        found = browser.get(f"/?x=1&token={TOKEN}")
        assert found.status_code == 303
        assert found.headers["location"] == "/?x=1"
        cookie = found.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert browser.get("/api/v1/gallery").status_code == 200


def test_the_way_on_after_the_token_stays_on_this_server(locked_page):
    with locked_page.new_client() as browser:
        found = browser.get(f"{locked_page.address}//evil.example/?token={TOKEN}")
        assert found.headers["location"] == "/evil.example/"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_anything_but_loopback_needs_a_token(gallery_file, host):
    with pytest.raises(ParameterError, match="token"):
        Settings(gallery_file, host).check()
    Settings(gallery_file, host, token=TOKEN).check()


@pytest.mark.parametrize("token", ["short", "with space and more", "a;b=cccccccc", "ü" * 20])
def test_tokens_that_no_cookie_could_hold_are_refused(gallery_file, token):
    with pytest.raises(ParameterError, match="letters, digits"):
        Settings(gallery_file, token=token).check()


def test_bound_to_all_addresses_numbers_are_answered_but_not_names(gallery_file, tmp_path):
    with served(settings_for(gallery_file, tmp_path, host="0.0.0.0", token=TOKEN)) as page:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        for host, status in (("10.1.2.3:80", 200), ("evil.example", 421)):
            found = page.get("/api/v1/gallery", headers=headers | {"Host": host})
            assert found.status_code == status


def test_noise_instead_of_a_request_harms_nobody(shared_page):
    port = int(shared_page.address.rpartition(":")[2])
    for noise in (b"\0\xff" * 1000, b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n", b"A" * 200_000):
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(noise)
    assert shared_page.get("/api/v1/gallery").status_code == 200


def test_an_upgrade_to_websocket_is_refused(shared_page):
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}  # fmt: skip
    for path in ("/", "/api/v1/gallery"):
        found = shared_page.get(path, headers=headers)
        assert found.status_code == 400
        assert "WebSocket" in found.json()["error"]


def test_an_asgi_server_that_upgrades_is_told_to_close(gallery_file, tmp_path):
    sent = []

    async def send(message):
        sent.append(message)

    guard = Guard(None, settings_for(gallery_file, tmp_path))
    asyncio.run(guard({"type": "websocket"}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_there_are_no_docs_that_load_scripts_from_elsewhere(shared_page):
    assert shared_page.get("/redoc").status_code == 404
    assert "//" not in shared_page.get("/docs").text.replace("<!doctype", "")
    schema = shared_page.get("/openapi.json").json()
    assert "/api/v1/identify" in schema["paths"]


def test_a_person_without_a_token_is_told_so_on_a_page(locked_page):
    with locked_page.new_client() as nobody:
        found = nobody.get("/", headers={"Accept": "text/html,*/*"})
        assert found.status_code == 401
        assert found.headers["content-type"].startswith("text/html")
        assert "Open the address that the server printed" in found.text
        assert nobody.get("/api/v1/gallery").json()["error"].startswith("The token is missing")
        assert nobody.get("/api/v1/gallery").headers["www-authenticate"] == "Bearer"
