"""Files that arrive with a request: limits of time and number, and sentences for what fails."""

import asyncio
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import HTTPException, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.requests import ClientDisconnect

from setwise._support.text import free_names
from setwise.errors import reject
from setwise.page.bodies import JudgeBody
from setwise.page.state import AppState
from setwise.page.uploads import VECTORS_SUFFIX, Received, ReceivedFile, receive

FILE = {"type": "string", "format": "binary"}
FILES = {"type": "array", "items": FILE, "description": "Photos, clips, zip files, folders."}
FORM = {"type": "object", "required": ["files"], "properties": {"files": FILES}}
CONTENT = {"multipart/form-data": {"schema": FORM}}
UPLOAD = {"requestBody": {"required": True, "content": CONTENT}}
MOST_JSON = 10_000_000  # bytes of vectors, which take ten times that in memory
NPY = ("application/octet-stream", "application/x-npy", "application/zip")
VECTORS: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": JudgeBody.model_json_schema()},
            NPY[0]: {"schema": FILE | {"description": "A NumPy file, .npz or .npy."}},
        },
    }
}


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


async def received_vectors(app: AppState, request: Request, home: Path) -> Received:
    """The vectors of a request, as a NumPy file in a new folder below ``home``."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", *NPY):
        raise HTTPException(422, f"Send sets as application/json, or a NumPy file as {NPY[0]}.")
    try:
        body = await request.body()
    except ClientDisconnect:
        raise HTTPException(400, "The vectors did not arrive.") from None
    if kind == "application/json" and len(body) > MOST_JSON:
        raise HTTPException(413, "That is too much JSON. Send vectors as a NumPy file.")
    return await run_in_threadpool(_kept, body, kind == "application/json", home)


def _kept(body: bytes, is_json: bool, home: Path) -> Received:
    named, content = "vectors", body
    if is_json:
        try:
            sets = JudgeBody.model_validate_json(body).sets
            arrays = [np.array(one.vectors, dtype=np.float64) for one in sets]
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the request"
            reject(f"{place}: {first['msg']}.", error)
        except ValueError as error:
            reject("The vectors of a set must be rows of equally many numbers.", error)
        stream, names = io.BytesIO(), free_names([one.name for one in sets], ())
        values = np.concatenate([rows.reshape(len(rows), -1) for rows in arrays])
        index = np.repeat(np.arange(len(arrays)), [len(rows) for rows in arrays])
        np.savez(stream, features=values, set_index=index, set_names=np.array(names))
        content, named = stream.getvalue(), names[0] if len(names) == 1 else named
    received = Received(Path(tempfile.mkdtemp(dir=home)))
    path = received.folder / f"000000{VECTORS_SUFFIX}"
    path.write_bytes(content)
    received.files.append(ReceivedFile(path, (named,)))
    return received


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
