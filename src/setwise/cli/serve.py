"""``setwise serve``: the page of a gallery file, in the browser and over HTTP."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from setwise.cli.common import say
from setwise.cli.options import command

if TYPE_CHECKING:
    from setwise.page import Limits, Settings, Token

LAST_S = 10  # for requests to end when the server is stopped

_TOKENS = "Tokens: a line each, `NAME read TOKEN` or `NAME write TOKEN`."
_PHOTOS = "A folder of photos, to begin with and to show large; here, those below this one too."
NEW = Path("people.setwise")
_LEVEL = "debug, info, warning or error; info, on a terminal warning."


@dataclass(frozen=True)
class Door:
    """Options on who may come, and by which address."""

    token_file: Annotated[Path | None, Option(metavar="FILE", help=_TOKENS)] = None
    read_only: Annotated[bool, Option("--read-only", help="Refuse all changes.")] = False
    public_url: Annotated[str | None, Option(metavar="URL", help="Address at a proxy.")] = None
    allow_host: Annotated[list[str] | None, Option(help="Another name of the server.")] = None
    proxy: Annotated[list[str] | None, Option(help="IP or network of the proxy.")] = None
    limit: Annotated[list[str] | None, Option(help="NAME=NUMBER, as in operating.md.")] = None

    def of_settings(self, host: str) -> dict[str, Any]:
        """Arguments of `Settings`; a token is made if one is needed and none is given."""
        from setwise.page.access import tokens_of_environment, tokens_of_file
        from setwise.page.settings import is_loopback

        tokens: tuple[Token, ...] = tokens_of_environment()
        if self.token_file is not None:
            tokens += tokens_of_file(self.token_file)
        made = None
        if not tokens and (self.public_url or not is_loopback(host)):
            made = secrets.token_urlsafe(24)
        known = {"proxies": tuple(self.proxy)} if self.proxy else {}
        return known | {
            "token": made,
            "tokens": tokens,
            "is_read_only": self.read_only,
            "public_url": self.public_url,
            "allowed_hosts": tuple(self.allow_host or ()),
        }


@dataclass(frozen=True)
class Log:
    """Options of the log, which goes to stderr."""

    log_format: Annotated[str, Option(help="text or json; one line each.")] = "text"
    log_level: Annotated[str | None, Option(help=_LEVEL)] = None

    def to_stderr(self) -> AbstractContextManager[None]:
        """Log to stderr for a while."""
        from setwise._support.parameters import check_choice
        from setwise.page.logs import FORMATS, LEVELS, logging_to_stderr

        level = self.log_level or ("warning" if sys.stderr.isatty() else "info")
        check_choice("serve", "--log-format", self.log_format, FORMATS)
        check_choice("serve", "--log-level", level, LEVELS)
        return logging_to_stderr(self.log_format, level)


@command
def serve(
    door: Door,
    log: Log,
    gallery: Annotated[Path, Argument(help="A gallery file; a new one is made.")] = NEW,
    host: Annotated[str, Option(help="Address; others reach any but 127.0.0.1.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8765,
    inbox: Annotated[Path | None, Option(metavar="FOLDER", help="Sets to sort.")] = None,
    into: Annotated[Path | None, Option(metavar="FOLDER", help="For sorted files.")] = None,
    photos: Annotated[list[Path] | None, Option(metavar="FOLDER", help=_PHOTOS)] = None,
    most_upload: Annotated[int, Option(min=1, metavar="MB", help="Largest upload.")] = 50,
    no_browser: Annotated[bool, Option("--no-browser", help="Open no browser window.")] = False,
) -> None:
    """Open a gallery in the browser: look at it, identify photos, correct it, sort albums.

    Without a gallery, the page makes one: choose a folder, and say who is in it.
    Only this machine can reach it, unless --host or --public-url says otherwise; then a token
    is needed: from --token-file, from $SETWISE_TOKEN, or one that is made and printed.
    Every change of the gallery can be undone. Ctrl-C or SIGTERM ends it.

    Example:
      setwise serve
      setwise serve people.setwise
      setwise serve people.setwise --inbox unsorted/ --into sorted/
      setwise serve people.setwise --public-url https://photos.example.org --log-format json
    """
    from setwise._support.extras import require

    for module in ("fastapi", "uvicorn", "python_multipart", "prometheus_client"):
        require(module, "serve")
    from setwise.page import Settings

    limits = limits_of(most_upload, door.limit or ())
    about = door.of_settings(host)
    is_own = not about["tokens"] and about["token"] is None
    settings = Settings(
        gallery,
        host,
        port,
        inbox=inbox,
        into=into,
        limits=limits,
        photos=tuple(photos or ()),
        # Who brings a token need not be whoever may read the folder that this was started in.
        sources=(*([Path.cwd()] if is_own else []), *(photos or ())),
        **about,
    )
    with _ending_well(), log.to_stderr():
        _run(settings, not no_browser)


@contextmanager
def _ending_well() -> Iterator[None]:
    """End with status 0 on SIGTERM, which the web server raises again once it has stopped."""

    def end(*_: object) -> None:
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def limits_of(most_upload: int, given: list[str] | tuple[str, ...]) -> Limits:
    """The limits, some of them changed by options."""
    from setwise.page import Limits

    limits = Limits(upload_bytes=most_upload * 1_000_000)
    known = {field.name: type(getattr(limits, field.name)) for field in fields(limits)}
    for text in given:
        name, _, value = text.partition("=")
        try:
            limits = replace(limits, **{name: known[name](value)})
        except (KeyError, ValueError):
            names = ", ".join(known)
            msg = f"{text!r} is not NAME=NUMBER with one of the names {names}."
            raise typer.BadParameter(msg, param_hint="--limit") from None
    return limits


def _run(settings: Settings, opens_browser: bool) -> None:
    """Serve until a signal; print the address once it can be opened."""
    import uvicorn

    from setwise.page import create_app
    from setwise.page.guard import server_config
    from setwise.page.logs import tell

    settings.check()
    bound = _bound(settings)  # before the gallery is read, which may take a minute
    with bound:
        app = create_app(settings)
        port = bound.getsockname()[1]

        class Server(uvicorn.Server):
            """Prints its address once it listens."""

            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                if self.started:
                    tell("listening", host=settings.host, port=port)
                    _notify("READY=1")
                    _tell(settings, port, opens_browser)

            def handle_exit(self, sig: int, frame: Any) -> None:
                app.state.setwise.is_closed.set()  # streams of events end by this
                super().handle_exit(sig, frame)

        config = server_config(app, settings, timeout_graceful_shutdown=LAST_S)
        try:
            Server(config).run(sockets=[bound])
        finally:
            tell("stopped")


def _bound(settings: Settings) -> socket.socket:
    """A socket that listens at the address of the settings; nobody else can take it now."""
    from setwise.errors import reject

    host, port = settings.host.strip("[]"), settings.port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, number, _, address = sorted(found)[0]  # 127.0.0.1 before ::1
        bound = socket.socket(family, kind, number)
        try:
            if sys.platform != "win32":
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen()  # two programs could bind to one port, and who comes may wait
        except BaseException:
            bound.close()
            raise
    except OSError as error:
        advice = "End the program that has it, or choose another --port; 0 takes any free one."
        if not isinstance(error, socket.gaierror) and port == 0:
            advice = "Choose another --host."
        if isinstance(error, socket.gaierror):
            advice = "Expected an address or name of this machine, such as 127.0.0.1."
        reason = f"serve: cannot listen on port {port} of {host}: {error.strerror or error}."
        reject(f"{reason} {advice}", error)
    return bound


def _notify(state: str) -> None:
    """Tell systemd, if that has started the server (`Type=notify`)."""
    name = os.environ.get("NOTIFY_SOCKET")
    if name:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
            supervisor.connect("\0" + name[1:] if name.startswith("@") else name)
            supervisor.sendall(state.encode())


def _tell(settings: Settings, port: int, opens_browser: bool) -> None:
    """Print the address; with the token only if nobody else could know that."""
    import webbrowser

    name = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104
    shown = f"[{name}]" if ":" in name else name
    own = settings.public_url or f"http://{shown}:{port}"
    query = f"?token={settings.token}" if settings.token else ""
    say(f"{settings.gallery.name} is at {own.rstrip('/')}/{query} (Ctrl-C ends it)")
    sys.stdout.flush()
    if opens_browser:
        webbrowser.open(f"http://{shown}:{port}/{query}")
