"""The description of the API: OpenAPI, with who may ask and what each request can answer."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from setwise.page.guard import COOKIE
from setwise.page.payload import Problem
from setwise.page.settings import Settings

TAGS = {
    "gallery": "People and things with their albums and photos, and what was done to them.",
    "commands": "Changes of the gallery: queued, answered 202, done once under a key.",
    "identify": "Questions: whose photos, clips or vectors are these?",
    "inbox": "Albums of a folder, to be decided on.",
    "start": "From a heap of photos to a gallery, before there is one.",
    "health": "For supervisors.",
}
PROBLEMS = {
    400: "The request is no JSON, or no HTTP.",
    401: "The token is missing.",
    403: "The request comes from another site, or the token allows no changes.",
    404: "Not found.",
    408: "The request took too long.",
    409: "The gallery has changed meanwhile, or there is none yet.",
    413: "Too much at once.",
    421: "The request is for another host.",
    422: "The request cannot be carried out; the sentence says why.",
    429: "Too many requests of this client; try again later.",
    503: "Too busy; try again later.",
}
ALWAYS, OPEN = {401, 403, 421, 429, 503}, {503}
SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE},
}
LICENSE = {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"}


def operation_id(route: APIRoute) -> str:
    """The name of a route in clients that are made from the description."""
    is_start = route.path.startswith("/api/v1/start")
    return f"start_{route.name}" if is_start and route.name != "start" else route.name


def describe(app: FastAPI, settings: Settings) -> dict[str, Any]:
    """The OpenAPI document of an application."""
    found = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        license_info=LICENSE,
        tags=[{"name": name, "description": words} for name, words in TAGS.items()],
    )
    parts = found["components"]
    parts["securitySchemes"] = SCHEMES
    parts["schemas"]["Problem"] = Problem.model_json_schema()
    found["security"] = [{name: []} for name in SCHEMES] + ([] if settings.all_tokens else [{}])
    for path, operations in found["paths"].items():
        for method, about in operations.items():
            if path in ("/healthz", "/readyz"):
                about["security"] = []
            kept = {code: one for code, one in about["responses"].items() if code[0] in "23"}
            about["responses"] = kept | _problems(path, method, about)
    for name in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(name, None)
    return found


def _problems(path: str, method: str, about: dict[str, Any]) -> dict[str, Any]:
    """What a request can be refused with."""
    codes = set(OPEN) if path in ("/healthz", "/readyz") else set(ALWAYS)
    body = about.get("requestBody", {}).get("content", {})
    if body or about.get("parameters"):
        codes |= {422}
    if "{" in path or path.startswith("/api/v1/inbox") or path.endswith(("enroll", "cover")):
        codes |= {404}
    if path.startswith("/api/v1"):
        codes |= {409}
    if body:
        codes |= {400, 408, 413}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        str(code): {"description": PROBLEMS[code], "content": content} for code in sorted(codes)
    }
