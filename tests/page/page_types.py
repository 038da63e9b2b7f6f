"""Types of the page's scripts, written from the OpenAPI document.

``python -m tests.page.page_types`` writes them again after a change of the API.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.page.page_server import write_gallery

import setwise.page
from setwise.page import Settings, create_app

FILE = Path(setwise.page.__file__).parent / "static" / "types.js"
HEAD = """// What the server sends and takes, as types for editors; nothing runs here.
// Written from the OpenAPI document by `python -m tests.page.page_types`.

export {};
"""
PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean"}


def type_of(schema: dict[str, Any]) -> str:
    """A schema as a type of TypeScript."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        return " | ".join(dict.fromkeys(map(type_of, several)))
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if "const" in schema:
        return f'"{schema["const"]}"'
    if "prefixItems" in schema:
        return f"[{', '.join(map(type_of, schema['prefixItems']))}]"
    if schema.get("type") == "array":
        inner = type_of(schema["items"])
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if schema.get("type") == "object" and "additionalProperties" in schema:
        return f"Record<string, {type_of(schema['additionalProperties'])}>"
    return "null" if schema.get("type") == "null" else PLAIN.get(schema.get("type", ""), "any")


def types(document: dict[str, Any]) -> str:
    """All models of a document."""
    made = [HEAD]
    for name, schema in sorted(document["components"]["schemas"].items()):
        needed = set(schema.get("required", ()))
        fields = [
            f"{field}{'' if field in needed else '?'}: {type_of(about)}"
            for field, about in schema.get("properties", {}).items()
        ]
        made.append(f"/** @typedef {{{{ {', '.join(fields)} }}}} {name} */\n")
    return "\n".join(made)


def current() -> str:
    """The types of the API as it is."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(write_gallery(Path(folder) / "people.setwise")))
        return types(app.openapi())


if __name__ == "__main__":
    FILE.write_text(current(), encoding="utf-8")
