import json
import logging
import os
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from setwise.cli import app, run
from setwise.cli.common import shown_progress
from setwise.demo import run_demo
from setwise.errors import DataError

HEAVY = ("sklearn", "scipy", "numba", "matplotlib", "numpy")
RUN = "from setwise.cli import app; app()"
SETWISE = [sys.executable, "-c", RUN]


def setwise(*arguments, **environment):
    return subprocess.run(
        [*SETWISE, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        timeout=200,
        check=False,
    )


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return run_demo(tmp_path_factory.mktemp("demo"), quick=True)


def demo_that(monkeypatch, action):
    """Let ``setwise demo`` do something else: call the action with its progress."""

    def run(*_, progress, **__):
        return action(progress)

    monkeypatch.setattr("setwise.demo.run_demo", run)


def demo_that_raises(monkeypatch, error):
    def action(progress):
        raise error

    demo_that(monkeypatch, action)


def test_json_is_one_document_and_nothing_else(tmp_path):
    found = setwise("demo", "--quick", "--json", "--out", str(tmp_path / "new"))
    assert found.returncode == 0
    assert found.stderr == ""
    document = json.loads(found.stdout)
    assert document["accuracy"]["CVC"]["plain"] > 0.9
    assert {"n_probes", "accuracy", "identified", "seconds", "picture"} <= set(document)
    assert (tmp_path / "new" / "explanation.png").stat().st_size > 50_000
    assert (tmp_path / "new" / "digits.setwise").is_file()


def test_tables(result, monkeypatch):
    demo_that(monkeypatch, lambda progress: result)
    environment = {"FORCE_COLOR": "", "TTY_COMPATIBLE": "", "COLUMNS": "240"}
    found = CliRunner().invoke(app, ["demo"], env=environment)
    assert found.exit_code == 0
    lines = [" ".join(line.split()) for line in found.stdout.splitlines() if line.strip()]
    assert lines[2] == ("% right 8 sets 8 with 4 images of another digit 4 of an unknown digit")
    assert [line.rsplit(" ", 3)[0] for line in lines[4:9]] == list(result["accuracy"])
    mixed, unknown = result["identified"]
    assert any(line.startswith(f"{mixed['set']}: {mixed['label']}") for line in lines)
    assert any(line.startswith(f"{unknown['set']}: unknown; nearest to") for line in lines)
    assert f"The gallery is one file, {result['gallery']}." in found.stdout
    assert lines[-1].startswith("Seconds: classify ")
    assert str(result["picture"]) in found.stdout
    assert "\x1b" not in found.stdout


def test_tables_without_picture_give_advice(result, monkeypatch):
    advice = 'pip install "setwise[plot]"'
    demo_that(monkeypatch, lambda progress: result | {"picture": None, "advice": advice})
    found = CliRunner().invoke(app, ["demo"])
    assert found.exit_code == 0
    assert advice in found.stdout


def test_where_nobody_watches_progress_is_plain_and_on_stderr(result, monkeypatch):
    def action(progress):
        for done in range(3):
            progress("classify", done, 2)
        return result

    demo_that(monkeypatch, action)
    found = CliRunner().invoke(app, ["demo"])
    assert found.stderr == "classify ...\n"


def test_quiet_is_one_line(result, monkeypatch):
    demo_that(monkeypatch, lambda progress: result)
    found = CliRunner().invoke(app, ["demo", "--quiet"])
    assert found.exit_code == 0
    assert found.output.count("\n") == 1
    assert "of 8 sets right" in found.output
    assert "of 8 sets right" in found.output
    assert logging.getLogger("setwise").level == logging.NOTSET


@pytest.mark.parametrize(
    "error", [DataError("set 3 is empty."), OSError(28, "No space left\non device")]
)
def test_failure_is_one_line_and_status_1(monkeypatch, error):
    demo_that_raises(monkeypatch, error)
    found = CliRunner().invoke(app, ["demo", "--quiet"])
    assert found.exit_code == 1
    assert found.stdout == ""
    assert found.stderr.startswith("setwise: ")
    assert found.stderr.count("\n") == 1


def test_a_table_in_an_error_stays_a_table(monkeypatch):
    demo_that_raises(monkeypatch, DataError("which one?\n  name  size\n  A     1x2"))
    found = CliRunner().invoke(app, ["demo", "--quiet"])
    assert found.stderr == "setwise: which one?\n  name  size\n  A     1x2\n"


def test_interrupt_is_one_line_and_status_130(monkeypatch):
    demo_that_raises(monkeypatch, KeyboardInterrupt())
    found = CliRunner().invoke(app, ["demo", "--quiet"])
    assert found.exit_code == 130
    assert found.stderr == "setwise: interrupted.\n"


def test_ctrl_c_in_a_kernel_is_an_interrupt_too(monkeypatch):
    def action(progress):
        try:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as interrupt:
                raise SystemError("returned a result with an exception set") from interrupt
        except SystemError as error:
            raise SystemError("returned a result with an exception set") from error

    demo_that(monkeypatch, action)
    found = CliRunner().invoke(app, ["demo", "--quiet"])
    assert found.exit_code == 130
    assert found.stderr == "setwise: interrupted.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a single process")
def test_ctrl_c_in_the_middle(tmp_path):
    # What starts the tests may ignore Ctrl-C, and its children inherit that.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    process = subprocess.Popen(
        [sys.executable, "-c", listen + RUN, "demo", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if line.startswith("classify"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.endswith("setwise: interrupted.\n")
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize(
    "arguments", [["demo", "--no-such-option"], ["no-such-command"], ["demo", "extra"], []]
)
def test_wrong_usage_is_status_2(arguments):
    assert CliRunner().invoke(app, arguments).exit_code == 2


def test_wrong_usage_of_the_program_is_a_line_without_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["setwise", "fit", "--no-such-option"])
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as ended:
            run()
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "No such option: --no-such-option" in told
    assert "Traceback" not in told


def test_out_that_is_a_file_is_wrong_usage(tmp_path):
    (tmp_path / "file").touch()
    found = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "file")])
    assert found.exit_code == 2


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_version(arguments):
    import setwise

    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 0
    assert found.output == f"setwise {setwise.__version__}\n"


@pytest.mark.parametrize(
    "code",
    [
        "import setwise",
        "from setwise.cli import app; app(['--help'], standalone_mode=False)",
        "from setwise.cli import app; app(['demo', '--help'], standalone_mode=False)",
    ],
)
def test_nothing_heavy_is_imported_early(code):
    """What makes help fast; and it does help."""
    check = f"import sys; print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)"
    found = subprocess.run(
        [sys.executable, "-c", f"{code}\n{check}"], capture_output=True, text=True, check=True
    )
    assert found.stderr == "[]\n"
    assert "--help" not in code or "demo" in found.stdout


BAR = """
from setwise.cli.common import shown_progress
with shown_progress(is_silent=False) as report:
    report("fit [/b]", 0, 1)  # not markup
    for done in range(4):
        report("classify", done, 3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
@pytest.mark.parametrize("no_color", ["", "1"])
def test_on_a_terminal_there_is_a_bar(no_color):
    import pty

    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": no_color}
    process = subprocess.Popen([sys.executable, "-c", BAR], stderr=child, env=environment)
    os.close(child)
    shown = b""
    try:
        while chunk := os.read(parent, 65536):
            shown += chunk
    except OSError:
        pass  # Linux says EIO when the other side is closed.
    finally:
        os.close(parent)
    assert process.wait(timeout=60) == 0
    text = shown.decode()
    assert "classify" in text
    assert "3/3" in text
    assert ("\x1b[32m" in text) is (no_color == "")


@pytest.mark.parametrize("is_silent", [True, False])
def test_what_the_library_logs_is_shown_unless_silent(is_silent, capsys):
    logger = logging.getLogger("setwise")
    with shown_progress(is_silent=is_silent):
        logger.info("view hog: 40 %% done, about %d s left", 9)
    logger.info("not heard")
    assert capsys.readouterr().err == (
        "" if is_silent else "view hog: 40 % done, about 9 s left\n"
    )
    assert logger.level == logging.NOTSET
    assert not logger.handlers
