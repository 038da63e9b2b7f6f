"""Tokens of clients: where they come from, what each allows, and how often a client may try."""

from __future__ import annotations

import os
import re
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from setwise.errors import reject
from setwise.io.untrusted import regular_file

VARIABLE = "SETWISE_TOKEN"
RIGHTS = {"read": False, "write": True}
FORM = re.compile(r"[A-Za-z0-9_-]{8,200}")  # what a cookie and a header can hold
MOST_CLIENTS = 10_000  # that a rate remembers


@dataclass(frozen=True)
class Token:
    """A secret of clients, the name it has in the log, and whether it allows changes.

    Examples
    --------
    >>> from setwise.page import Token
    >>> Token("a-secret-of-many-letters", "kiosk", can_write=False)
    Token(name='kiosk', can_write=False)
    """

    value: str = field(repr=False)
    name: str = "token"
    can_write: bool = True


def tokens_of_file(path: Path) -> tuple[Token, ...]:
    """The tokens of a file: one per line, ``NAME read|write TOKEN``, or a token alone."""
    try:
        text = regular_file("serve", path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        reject(f"serve: the token file {str(path)!r} cannot be read: {why}.", error)
    lines = [line.split() for line in text.splitlines()]
    found = [_token(words, path) for words in lines if words and not words[0].startswith("#")]
    if not found:
        reject(f"serve: the token file {str(path)!r} holds no token. Write one on a line.")
    return tuple(found)


def _token(words: list[str], path: Path) -> Token:
    """The token of one line; messages show no part of it."""
    if len(words) == 1:
        return Token(words[0])
    if len(words) != 3 or words[1] not in RIGHTS:
        reject(
            f"serve: a line of the token file {str(path)!r} is neither a token alone nor "
            "`NAME read TOKEN` or `NAME write TOKEN`."
        )
    return Token(words[2], words[0], RIGHTS[words[1]])


def tokens_of_environment() -> tuple[Token, ...]:
    """The token of ``$SETWISE_TOKEN``, if that is set."""
    value = os.environ.get(VARIABLE)
    return (Token(value),) if value else ()


def token_problems(tokens: tuple[Token, ...]) -> Iterator[str]:
    """What is wrong with tokens, in words that do not show them."""
    for token in tokens:
        if not FORM.fullmatch(token.value):
            yield f"the token of {token.name!r} must be 8 to 200 letters, digits, - or _."
    if len({token.value for token in tokens}) < len(tokens):
        yield "two tokens are equal, so their rights contradict. Give each client its own."


class Rate:
    """So many events a minute per client: a bucket that fills steadily."""

    def __init__(self, per_minute: int) -> None:
        self.per_minute = per_minute
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, client: str) -> float:
        """Seconds until one more event is allowed; 0 if it is allowed now."""
        return max(1.0 - self._now(client), 0.0) * 60.0 / self.per_minute

    def count(self, client: str) -> None:
        """Count one event."""
        self._left[client] = (self._now(client) - 1.0, time.monotonic())
        self._left.move_to_end(client)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)

    def _now(self, client: str) -> float:
        full = float(self.per_minute)
        left, since = self._left.get(client, (full, 0.0))
        return min(full, left + (time.monotonic() - since) * self.per_minute / 60.0)
