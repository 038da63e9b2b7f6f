"""Files that arrive with a request: limits of time and number, and sentences for what fails."""

import asyncio
import tempfile
from pathlib import Path

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.requests import ClientDisconnect

from setwise.page.state import AppState
from setwise.page.uploads import Received, receive

FILE = {"type": "string", "format": "binary"}
FILES = {"type": "array", "items": FILE, "description": "Photos, clips, zip files, folders."}
FORM = {"type": "object", "required": ["files"], "properties": {"files": FILES}}
CONTENT = {"multipart/form-data": {"schema": FORM}}
UPLOAD = {"requestBody": {"required": True, "content": CONTENT}}


async def received_files(app: AppState, request: Request, home: Path) -> Received:
    """The files of a request, in a new folder below ``home``."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise HTTPException(422, "Send the files as multipart/form-data.")
    form = await _form(app, request)
    try:
        parts = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
        named = [(part.filename or "", part.file) for part in parts]
        folder = Path(tempfile.mkdtemp(dir=home))
        return await run_in_threadpool(receive, named, folder, app.settings.limits)
    finally:
        await form.close()


async def _form(app: AppState, request: Request) -> FormData:
    """The form of a request; if too many arrive at once, the oldest is broken off."""
    limits, arriving = app.settings.limits, app.arriving
    try:
        async with asyncio.timeout(limits.seconds) as clock:
            arriving.append(clock)
            try:
                if len(arriving) > limits.uploads:
                    arriving[0].reschedule(asyncio.get_running_loop().time())
                return await request.form(max_files=limits.files, max_fields=20)
            finally:
                arriving.remove(clock)
    except TimeoutError:
        status, words = 408, "The files took too long to arrive. Send fewer."
    except ClientDisconnect:
        status, words = 400, "The files did not arrive."
    except OSError as error:
        status, words = 413, f"The server cannot store the files: {error.strerror}."
    except AnyHTTPException as error:
        status, words = 422, "The files did not arrive whole. Send them again."
        if "Too many" in str(error.detail):
            words = f"These are more than {limits.files} files. Send fewer at once."
            status = 413
    raise HTTPException(status, words)
