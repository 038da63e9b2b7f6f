"""Commands of other packages, in the group ``setwise.commands``, and what they may use."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from setwise.cli.common import AsJson, Quiet, clean_exit, say, shown_progress, text_table
from setwise.cli.options import Output, add_command, command

__all__ = [
    "AsJson", "Output", "Quiet", "WithPlugins", "add_command", "clean_exit", "command", "say",
    "shown_progress", "text_table",
]  # fmt: skip

GROUP = "setwise.commands"
KNOWN = {"reproduce": "setwise-paper", "data": "setwise-paper"}  # which installs them


class WithPlugins(TyperGroup):
    """The commands of setwise, then those of installed packages, which load on demand."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, for --help."""
        own = super().list_commands(ctx)
        return [*own, *sorted({one.name for one in entry_points(group=GROUP)} - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command of setwise, or else of another package."""
        own = super().get_command(ctx, cmd_name)
        return _plugged(cmd_name) if own is None else own


def _plugged(name: str) -> Any:
    """The command of another package; None if none is known by this name."""
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            with clean_exit():
                loaded = typer.main.get_command(entry.load())
            loaded.name = name
            return loaded
    if name in KNOWN:
        install = f"pip install {KNOWN[name]}"
        say(f"setwise: `setwise {name}` is in another package: {install}", err=True)
        raise typer.Exit(2)
    return None
