"""``setwise serve``: the page of a gallery file, in the browser."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from setwise.cli.common import say
from setwise.cli.options import command

if TYPE_CHECKING:
    from setwise.page import Settings

LAST_S = 2  # for requests to end when the server is stopped


@command
def serve(
    gallery: Annotated[Path, Argument(help="A gallery file of `setwise fit`.")],
    host: Annotated[str, Option(help="Address; others reach any but 127.0.0.1.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8765,
    inbox: Annotated[Path | None, Option(metavar="FOLDER", help="Sets to sort.")] = None,
    into: Annotated[Path | None, Option(metavar="FOLDER", help="For sorted files.")] = None,
    token: Annotated[str | None, Option(help="Password; made and printed if needed.")] = None,
    most_upload: Annotated[int, Option(min=1, metavar="MB", help="Largest upload.")] = 50,
    no_browser: Annotated[bool, Option("--no-browser", help="Open no browser window.")] = False,
) -> None:
    """Open a gallery in the browser: look at it, identify photos, correct it, sort albums.

    Only this machine can reach it, unless --host says otherwise; then a token is needed.
    Every change of the gallery can be undone. Ctrl-C ends it.

    Example:
      setwise serve people.setwise
      setwise serve people.setwise --inbox unsorted/ --into sorted/
    """
    from setwise._support.extras import require

    for module in ("fastapi", "uvicorn", "python_multipart"):
        require(module, "serve")
    from setwise.page import Limits, Settings
    from setwise.page.settings import is_loopback

    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    limits = Limits(upload_bytes=most_upload * 1_000_000)
    _run(Settings(gallery, host, port, token, inbox, into, limits), not no_browser)


def _run(settings: Settings, opens_browser: bool) -> None:
    """Serve until Ctrl-C; print the address once it can be opened."""
    import uvicorn

    from setwise.page import create_app
    from setwise.page.guard import server_config

    app = create_app(settings)

    class Server(uvicorn.Server):
        """Prints its address once it listens."""

        async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
            await super().startup(sockets)  # type: ignore[arg-type]
            if self.started:
                port = self.servers[0].sockets[0].getsockname()[1]
                _tell(settings, port, opens_browser)

    Server(server_config(app, settings, timeout_graceful_shutdown=LAST_S)).run()


def _tell(settings: Settings, port: int, opens_browser: bool) -> None:
    import webbrowser

    name = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104
    shown = f"[{name}]" if ":" in name else name
    address = f"http://{shown}:{port}/" + (f"?token={settings.token}" if settings.token else "")
    say(f"{settings.gallery.name} is at {address} (Ctrl-C ends it)")
    if opens_browser:
        webbrowser.open(address)
