"""Events for those who follow: windows that show the gallery, and questions."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import StreamingResponse

from setwise.page.house import House

__all__ = ["follow"]

# Seconds between two looks, and after which a sign of life is sent.
EVERY_S, ALIVE_S = 0.2, 15.0


def follow(
    house: House,
    request: Request,
    look: Callable[[], dict[str, Any]],
    is_over: Callable[[], bool] = lambda: False,
) -> StreamingResponse:
    """Send what is seen, by the names of events, whenever any of it changes.

    Parameters
    ----------
    house : House
        Counts those who follow.
    request : Request
        Of the client; nothing is sent once it is gone.
    look : callable
        What is to be seen now: by the name of each event, its data.
    is_over : callable
        Whether nothing will change any more.
    """
    if house.n_streams >= house.settings.limits.streams:
        words = "Too many windows follow already. Close one, or ask again later."
        raise HTTPException(503, words, headers={"Retry-After": "10"})

    async def events() -> AsyncIterator[str]:
        house.n_streams += 1
        try:
            sent: dict[str, str] = {}
            spoken = 0.0
            while not house.is_closed.is_set() and not await request.is_disconnected():
                was_over = is_over()
                for name, data in look().items():
                    text = json.dumps(data)
                    if sent.get(name) != text:
                        sent[name], spoken = text, time.monotonic()
                        yield f"event: {name}\ndata: {text}\n\n"
                if was_over:
                    return
                if time.monotonic() - spoken > ALIVE_S:
                    spoken = time.monotonic()
                    yield ": still here\n\n"
                await asyncio.sleep(EVERY_S)
        finally:
            house.n_streams -= 1

    return StreamingResponse(
        events(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )
