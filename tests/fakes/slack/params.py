"""The parameters of a call, in the encodings that Slack takes."""

from __future__ import annotations

from urllib.parse import parse_qsl

import orjson

from tests.fakes.base.http import JsonObject, Request
from tests.fakes.base.params import UnreadableRequest


def params_of(request: Request) -> JsonObject:
    """Return the parameters of query and body; those of a form are all strings.

    Raises UnreadableRequest.
    """
    found: JsonObject = dict(parse_qsl(request.target.partition("?")[2], keep_blank_values=True))
    if not request.body:
        return found
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind == "application/json":
        return found | _json(request.body)
    if kind == "application/x-www-form-urlencoded":
        return found | dict(parse_qsl(request.body.decode(), keep_blank_values=True))
    raise UnreadableRequest("invalid_post_type")


def _json(body: bytes) -> JsonObject:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise UnreadableRequest("invalid_json") from error
    if not isinstance(found, dict):
        raise UnreadableRequest("json_not_object")
    return found
