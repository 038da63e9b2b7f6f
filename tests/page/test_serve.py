"""``setwise serve``: the command."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest
from typer.testing import CliRunner

from setwise.cli import app
from setwise.page.start.folders import Folders

COMMAND = "from setwise.cli import run; import sys; sys.argv[0] = 'setwise'; run()"


def run(*arguments):
    return CliRunner().invoke(app, ["serve", *map(str, arguments)])


@pytest.mark.parametrize(
    "module", ["fastapi", "uvicorn", "python_multipart", "prometheus_client"]
)
def test_a_missing_extra_names_its_pip_line(monkeypatch, gallery_file, module):
    monkeypatch.setitem(sys.modules, module, None)
    found = run(gallery_file)
    assert found.exit_code == 1
    assert 'pip install "setwise[serve]"' in found.stderr


def test_what_is_no_gallery_is_refused_in_one_line(tmp_path):
    (tmp_path / "people.setwise").write_bytes(b"no gallery")
    for path in (tmp_path / "no" / "folder", tmp_path / "people.setwise", tmp_path):
        found = run(path, "--no-browser")
        assert found.exit_code == 1
        assert len(found.stderr.strip().splitlines()) == 1


def test_the_command_is_quick_to_start_without_the_page():
    code = (
        "import sys; from setwise.cli import app; app(['serve', '--help'], "
        "standalone_mode=False); sys.exit(bool({'fastapi', 'uvicorn', 'numpy', 'starlette'} "
        "& set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("options", "n_open"),
    [([], 1), (["--photos", "."], 1), (["--host", "0.0.0.0"], 0),
     (["--public-url", "https://a.example"], 0)],
)  # fmt: skip
def test_the_folder_it_was_started_in_is_open_to_this_machine_alone(
    monkeypatch, tmp_path, options, n_open
):
    from setwise.cli import serve

    seen = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(serve, "_run", lambda settings, _: seen.append(settings))
    assert run(tmp_path / "new.setwise", *options).exit_code == 0
    assert len(Folders(seen[0].sources).roots) == n_open


def test_off_loopback_a_token_is_made_and_printed(gallery_file):
    arguments = ["serve", str(gallery_file), "--host", "0.0.0.0", "--port", "0", "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        address = process.stdout.readline().split(" is at ")[1].split()[0]
        plain, _, token = address.partition("?token=")
        assert len(token) >= 24
        assert httpx.get(f"{plain}api/v1/gallery").status_code == 401
        with httpx.Client(follow_redirects=True) as browser:
            browser.get(address)
            assert browser.get(f"{plain}api/v1/gallery").json()["n_sets"] == 9
        process.terminate()
        assert process.wait(timeout=20) in (0, -15)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_demo_of_the_page_has_a_gallery_and_an_inbox(tmp_path):
    from examples.digits_page import write_page_demo

    from setwise import load, load_images

    gallery = write_page_demo(tmp_path / "page", n_gallery=2, n_probes=1)
    clf = load(gallery)
    assert clf.gallery_.n_classes == 8
    assert clf.gallery_.calibration.threshold is not None
    inbox = load_images(tmp_path / "page" / "inbox", size=clf.gallery_.sets.image_shape)
    assert len(inbox) == 10
    written = gallery.read_bytes()
    assert write_page_demo(tmp_path / "page").read_bytes() == written
