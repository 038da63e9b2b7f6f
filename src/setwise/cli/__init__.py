"""The ``setwise`` command, which imports nothing heavy before it is needed."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Any

__all__ = ["app", "run"]


def __getattr__(name: str) -> Any:
    if name == "app":
        from setwise.cli.program import app

        return app
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def run() -> None:
    """The program. Ctrl-C ends it with one line and status 130, also during imports."""
    is_quick = sys.argv[1:2] == ["identify"]  # no garbage collection, no tidy end
    if is_quick:
        gc.disable()
    try:
        status = _status()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough
        sys.stderr.write("setwise: interrupted.\n")
        status = 130
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done
    if is_quick:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _status() -> int:
    """Run the command, and return its exit status."""
    import typer

    from setwise.cli.program import app

    usage: Any = typer.BadParameter.__mro__[2]  # ClickException, of Click or of Typer's copy
    try:
        status = int(app(standalone_mode=False) or 0)
    except usage as error:
        error.show()
        return error.exit_code
    except typer.Abort:
        status = 130
    if status == 130:  # Typer reports Ctrl-C by either
        raise KeyboardInterrupt
    return status
