"""docs/operating.md and the files beside it say what the server does, and are run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import pytest
from typer.main import get_command

from setwise.cli import app
from setwise.cli.common import EXIT_CODES

DOCS = Path(__file__).resolve().parents[2] / "docs"
FILES = DOCS / "operating"
PAGE = (DOCS / "operating.md").read_text("utf-8")
RUN = [sys.executable, "-c", "from setwise.cli import run; run()"]


def table(title: str) -> list[list[str]]:
    """The rows of the tables below a heading."""
    text = PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line[:2] == "| "]
    return [[cell.strip() for cell in row] for row in rows]


def metric_names(text: str) -> set[str]:
    names = re.findall(r"\b(?:setwise|process)_\w+", text)
    return {re.sub("_(bucket|sum|count)$", "", name) for name in names}


def test_every_limit_is_in_the_table_with_its_default():
    pytest.importorskip("fastapi")
    from setwise.page import Limits

    told = {row[0].strip("`"): row[1] for row in table("Limits") if row[0].startswith("`")}
    assert told == {field.name: str(field.default) for field in fields(Limits)}


def told_metrics() -> dict[str, str]:
    """The kind of each metric, as the table tells."""
    return {
        name: row[1]
        for row in table("Health, log, metrics")
        for name in re.findall(r"`((?:setwise|process)_\w+)`", row[0])
    }


def test_every_metric_is_in_the_table():
    pytest.importorskip("fastapi")
    from prometheus_client import REGISTRY  # has what the library tells of every process

    from setwise.page.metrics import COUNTERS, GAUGES, TIMES

    told = told_metrics()
    kinds = {"counter": COUNTERS, "histogram": TIMES, "gauge": GAUGES}
    ours = {name: kind for kind, names in kinds.items() for name in names}
    assert {name: kind for name, kind in told.items() if name in ours} == ours
    if sys.platform == "linux":
        of_process = {one.name for one in REGISTRY.collect() if one.name.startswith("process")}
        rest = {name.removesuffix("_total") for name in set(told) - set(ours)}
        assert rest == of_process


def test_dashboard_and_alerts_ask_for_metrics_that_exist():
    pytest.importorskip("fastapi")

    known = set(told_metrics())
    dashboard = json.loads((FILES / "dashboard.json").read_text())
    asked = [t["expr"] for panel in dashboard["panels"] for t in panel["targets"]]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"]) > 8
    yaml = pytest.importorskip("yaml")
    alerts = yaml.safe_load((FILES / "setwise-alerts.yml").read_text())["groups"][0]["rules"]
    asked += [rule["expr"] for rule in alerts]
    scrape = yaml.safe_load((FILES / "prometheus.yml").read_text())
    assert "/metrics" not in str(scrape)  # its default
    for expression in asked:
        assert metric_names(expression) <= known, expression
        assert metric_names(expression) or "up" in expression
        assert expression.count("(") == expression.count(")")


def test_exit_codes_are_those_of_the_command():
    told = {int(row[0]) for row in table("Stop and exit status") if row[0].isdecimal()}
    assert told == set(EXIT_CODES)


def test_every_option_on_the_page_exists():
    known = {
        option
        for command in get_command(app).commands.values()
        for parameter in command.params
        for option in parameter.opts
    }
    lines = [line for line in PAGE.splitlines() if not re.search("pip|benchmarks/", line)]
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", "\n".join(lines)))
    assert len(told) > 8
    assert told <= known


def test_nginx_lets_through_what_the_server_takes():
    pytest.importorskip("fastapi")
    from setwise.page import Limits
    from setwise.page.guard import AROUND_FILES

    text = (FILES / "nginx.conf").read_text()
    most = int(re.search(r"client_max_body_size (\d+)m", text)[1])
    assert most == (Limits().upload_bytes + AROUND_FILES) / 1e6
    assert text.count("{") == text.count("}")


def container_command() -> list[str]:
    text = (FILES / "Containerfile").read_text().replace("\\\n", " ")
    entry = json.loads(re.search(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)[1])
    return entry + json.loads(re.search(r"^CMD (.*)$", text, re.MULTILINE)[1])


def unit() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (FILES / "setwise.service").read_text().splitlines():
        key, sign, value = line.partition("=")
        if sign and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


def test_the_container_s_command_line_parses_and_its_health_check_compiles():
    program, name, *arguments = container_command()
    assert program == "setwise"
    get_command(app).commands[name].make_context(name, arguments).close()
    text = (FILES / "Containerfile").read_text()
    assert (
        text.index("NUMBA_CACHE_DIR") < text.index("\nUSER ") < text.index("RUN setwise doctor")
    )
    check = re.search(r'\["python", "-c", "(.*)"\]', text)[1]
    compile(check, "HEALTHCHECK", "exec")
    extras = re.search(r"\[([\w,]+)\]\"", text)[1].split(",")
    pyproject = (DOCS.parent / "pyproject.toml").read_text("utf-8")
    assert all(re.search(rf"^{extra} = \[", pyproject, re.MULTILINE) for extra in extras)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_finds_nothing_wrong_but_that_it_is_not_installed():
    command = ["systemd-analyze", "verify", str(FILES / "setwise.service")]
    found = subprocess.run(command, capture_output=True, text=True)
    problems = [line for line in found.stderr.splitlines() if "setwise.service" in line]
    assert all("is not executable" in line for line in problems), found.stderr


def system_calls(name: str) -> set[str]:
    """The system calls of a group of systemd."""
    command = ["systemd-analyze", "syscall-filter", name]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    words = [line.strip() for line in found.splitlines()[1:]]
    calls = {word for word in words if word[:1].isalpha()}
    return calls.union(*(system_calls(word) for word in words if word[:1] == "@"))


def under_its_filter(trace: Path) -> list[str]:
    """A command that refuses the system calls that the unit refuses, where it can be had."""
    if not (shutil.which("strace") and shutil.which("systemd-analyze")):
        return []
    allowed, refused = unit()["SystemCallFilter"]
    calls = system_calls("@known") - system_calls(allowed)
    calls |= set().union(*map(system_calls, refused.strip("~").split()))
    names = ",".join(f"?{call}" for call in sorted(calls))
    options = ["-e", f"trace={names}", "-e", f"inject={names}:error=EPERM"]
    return ["strace", "-D", "-f", "--seccomp-bpf", "-o", str(trace), *options]


def test_the_unit_s_command_line_serves_under_its_filter_and_ends_well(tmp_path):
    pytest.importorskip("fastapi")
    httpx = pytest.importorskip("httpx")
    from tests.page.page_server import write_gallery

    write_gallery(tmp_path / "people.setwise")
    (tmp_path / "tokens").write_text("operator write token-of-the-operator\n")
    (line,) = unit()["ExecStart"]
    line = line.replace("/var/lib/setwise", str(tmp_path)).replace("%d", str(tmp_path))
    arguments = shlex.split(line)[1:]
    arguments[arguments.index("--port") + 1] = "0"
    environment = dict(pair.split("=") for pair in unit()["Environment"][0].split())
    environment["NUMBA_CACHE_DIR"] = os.environ.get("NUMBA_CACHE_DIR", "")
    if not environment["NUMBA_CACHE_DIR"]:
        del environment["NUMBA_CACHE_DIR"]  # or everything is compiled for this test
    log = tmp_path / "log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*under_its_filter(tmp_path / "trace"), *RUN, *arguments],
            stdout=subprocess.PIPE, stderr=errors, text=True, env=os.environ | environment,
        )  # fmt: skip
    try:
        assert "https://photos.example.org/ " in process.stdout.readline()
        port = json.loads(log.read_text().splitlines()[0])["port"]
        headers = {"Authorization": "Bearer token-of-the-operator"}
        address = f"http://127.0.0.1:{port}/api/v1/gallery"
        assert httpx.get(address, headers=headers).json()["n_sets"] == 9
        assert httpx.get(address).status_code == 401
        process.terminate()
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.skipif(
    not (shutil.which("nginx") and shutil.which("openssl")), reason="no nginx, or no openssl"
)
def test_nginx_as_configured_passes_on_what_it_should(tmp_path):
    pytest.importorskip("fastapi")
    httpx = pytest.importorskip("httpx")
    from tests.page.page_server import album, served, write_gallery

    from setwise.page import Settings, Token

    public, secret = "https://photos.example.org", "token-of-the-operator"
    gallery = write_gallery(tmp_path / "people.setwise")
    settings = Settings(gallery, public_url=public, tokens=(Token(secret),))
    with served(settings) as page, nginx(tmp_path, page.client.base_url.port) as address:
        headers = {"Host": "photos.example.org", "Authorization": f"Bearer {secret}"}
        headers["Prefer"] = "wait=60"  # until a change is done
        with httpx.Client(
            base_url=address, headers=headers, verify=False, timeout=60
        ) as client:
            assert client.get("/api/v1/gallery").json()["n_sets"] == 9
            assert client.get("/metrics").status_code == 404
            no_token = {"Authorization": ""}
            assert client.get("/api/v1/gallery", headers=no_token).status_code == 401
            own, other = {"Origin": public}, {"Origin": "https://elsewhere.example"}
            undo = "/api/v1/commands/undo"
            assert client.post(undo, json={}, headers=own).status_code == 422  # nothing to undo
            assert client.post(undo, json={}, headers=other).status_code == 403
            assert client.post("/api/v1/identify", files=album()).status_code == 202
            with client.stream("GET", "/api/v1/events") as stream:
                assert next(stream.iter_lines())
            cookie = client.get(f"/?token={secret}").headers["set-cookie"]
            assert "; Secure" in cookie


@contextmanager
def nginx(folder: Path, port: int):
    """The proxy of docs/operating/nginx.conf before a server, with a certificate of its own."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
         "/CN=photos.example.org", "-keyout", folder / "key", "-out", folder / "pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        own = free.getsockname()[1]
    text = (FILES / "nginx.conf").read_text().replace("127.0.0.1:8765", f"127.0.0.1:{port}")
    text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{own} ssl")
    text = re.sub(r"/etc/ssl/photos.example.org.(pem|key)", rf"{folder}/\1", text)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}}\n"
        f"http {{ access_log off; {paths}\n{text}\n}}\n"
    )
    proxy = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])
    try:
        deadline = time.monotonic() + 60
        while proxy.poll() is None and time.monotonic() < deadline:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", own)) == 0:
                    break
            time.sleep(0.05)
        yield f"https://127.0.0.1:{own}"
    finally:
        proxy.terminate()
        proxy.wait()
