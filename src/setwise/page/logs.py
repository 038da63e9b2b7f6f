"""The log of a server: one line per request, question and change, as text or as JSON."""

from __future__ import annotations

import json
import logging
import sys
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from setwise._support.text import printable

FORMATS, LEVELS = ("text", "json"), ("debug", "info", "warning", "error")
LOGGERS = ("setwise", "uvicorn")
# The request that is being answered, in its own threads too: id, client, name of the token.
request_fields: ContextVar[dict[str, Any] | None] = ContextVar("request_fields", default=None)

logger = logging.getLogger("setwise.page")


def tell(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log one event with named values."""
    logger.log(level, event, extra={"fields": fields})


class _Lines(logging.Formatter):
    """A record as one line; an error's traceback follows, in JSON inside of the line."""

    def __init__(self, *, is_json: bool) -> None:
        super().__init__()
        self.is_json = is_json

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = (request_fields.get() or {}) | getattr(record, "fields", {})
        fields = {name: value for name, value in fields.items() if value is not None}
        words, trace = record.getMessage(), ""
        if record.exc_info:
            trace = self.formatException(record.exc_info)
        if self.is_json:
            line = {"time": time, "level": record.levelname.lower(), "event": words} | fields
            return json.dumps(line | ({"traceback": trace} if trace else {}), default=str)
        told = " ".join(f"{name}={_word(value)}" for name, value in fields.items())
        return f"{time} {record.levelname:<7} {printable(words)} {told}".rstrip() + (
            f"\n{trace}" if trace else ""
        )


def _word(value: Any) -> str:
    """A value in a line of text: quoted where it would not be one word."""
    text = str(value)
    is_plain = text.isascii() and text.isprintable() and text and not set(text) & set(' "=\\')
    return text if is_plain else json.dumps(text)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a record is no traceback of a request that was broken off, which has its line."""
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or not issubclass(kind, CancelledError)


@contextmanager
def logging_to_stderr(form: str, level: str) -> Iterator[None]:
    """Log to stderr, for a while, what setwise and its web server have to say."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(is_json=form == "json"))
    handler.addFilter(_is_news)
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(one.level, one.propagate) for one in loggers]
    for one in loggers:
        one.addHandler(handler)
        one.setLevel(level.upper())
        one.propagate = False
    # The web server tells of each start and stop, which setwise does itself.
    loggers[1].setLevel(max(logging.WARNING, loggers[1].level))
    try:
        yield
    finally:
        for one, (old, propagates) in zip(loggers, before, strict=True):
            one.removeHandler(handler)
            one.setLevel(old)
            one.propagate = propagates
