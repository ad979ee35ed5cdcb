"""The parameters of a request: of its query, its JSON, its form, or its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import orjson

from tests.fakes.base.http import JsonObject, Request

# Parameters that are text whatever they look like; the others are JSON where they can be read so.
_TEXTS = frozenset(
    {
        "text",
        "caption",
        "url",
        "secret_token",
        "file_id",
        "parse_mode",
        "name",
        "description",
        "title",
        "action",
        "first_name",
        "language_code",
        "short_description",
        "callback_query_id",
        "quote",
        "ip_address",
    }
)


@dataclass(frozen=True, slots=True)
class Upload:
    """Hold one file of a multipart request."""

    filename: str
    data: bytes = field(repr=False)


class UnreadableRequest(ValueError):
    """Say that parameters are no JSON object or no UTF-8."""


def params_of(request: Request) -> JsonObject:
    """Return the parameters of query and body, what is JSON in a string parsed.

    Raises UnreadableRequest.
    """
    query = request.target.partition("?")[2]
    found = _decoded(_pairs(query.encode())) if query else {}
    if not request.body:
        return found
    kind = request.headers.get("content-type", "")
    if kind.startswith("application/json"):
        return found | _json_body(request.body)
    if kind.startswith("multipart/form-data"):
        return found | _multipart(request.body, kind)
    return found | _decoded(_pairs(request.body))


def _pairs(encoded: bytes) -> list[tuple[str, str]]:
    try:
        text = encoded.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as error:
        raise UnreadableRequest("strings must be encoded in UTF-8") from error


def _decoded(pairs: list[tuple[str, str]]) -> JsonObject:
    return {name: _value(name, text) for name, text in pairs}


def _value(name: str, text: str) -> Any:
    # Digits with a sign or a zero in front are numbers here, as they are to the real server.
    if name in _TEXTS or not text:
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"True": True, "False": False}.get(text, text)


def _json_body(body: bytes) -> JsonObject:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise UnreadableRequest("can't parse JSON object") from error
    if not isinstance(found, dict):
        raise UnreadableRequest("can't parse JSON object")
    # A client may also leave the nested values encoded, as it would in a form.
    return {
        name: _value(name, value) if isinstance(value, str) else value
        for name, value in found.items()
    }


def _multipart(body: bytes, kind: str) -> JsonObject:
    boundary = kind.partition("boundary=")[2].partition(";")[0].strip('"').encode()
    found: JsonObject = {}
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, data = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        data = data.removesuffix(b"\r\n")
        labels = _disposition(head.decode("utf-8", "replace"))
        name = labels.get("name", "")
        if "filename" in labels:
            found[name] = Upload(labels["filename"], data)
        else:
            found[name] = _value(name, _utf8(data))
    return found


def _disposition(head: str) -> dict[str, str]:
    for line in head.split("\r\n"):
        label, _, value = line.partition(":")
        if label.lower() == "content-disposition":
            parts = (piece.strip().partition("=") for piece in value.split(";"))
            return {name: text.strip('"') for name, _, text in parts}
    return {}


def _utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableRequest("strings must be encoded in UTF-8") from error
