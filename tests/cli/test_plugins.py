"""Commands of other packages: found by their entry points, or named with what installs them."""

import typer
from typer.testing import CliRunner

from setwise.cli import app, plugins


class Entry:
    """As an installed package has it in its metadata."""

    def __init__(self, name, function):
        self.name, self.function = name, function

    def load(self):
        found = typer.Typer()
        plugins.add_command(found, self.function)
        return found


def greet(name: str) -> None:
    """Say hello.

    Example: setwise greet anna
    """
    plugins.say(f"hello {name}")


def run(*arguments):
    return CliRunner().invoke(app, [*arguments])


def test_a_command_of_another_package_is_mounted(monkeypatch):
    monkeypatch.setattr(plugins, "entry_points", lambda group: [Entry("greet", greet)])
    assert run("greet", "anna").stdout == "hello anna\n"
    assert "greet" in run("--help").stdout
    assert "Usage: root greet" in run("greet", "--help").stdout.replace("setwise", "root")


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(plugins, "entry_points", lambda group: [])
    for name in ("reproduce", "data"):
        found = run(name, "eth80", "--out", "somewhere")
        assert found.exit_code == 2
        assert found.stderr.count("\n") == 1
        assert "pip install setwise-paper" in found.stderr
    assert run("nothing").exit_code == 2
    assert "No such command 'nothing'" in run("nothing").stderr


def test_a_package_that_cannot_be_imported_says_so(monkeypatch):
    class Broken(Entry):
        def load(self):
            msg = "No module named 'pydantic'"
            raise ImportError(msg)

    monkeypatch.setattr(plugins, "entry_points", lambda group: [Broken("reproduce", greet)])
    found = run("reproduce")
    assert found.exit_code == 3
    assert "pydantic" in found.stderr
