"""Routes that answer with JSON; refusals contain a sentence that says why."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.errors import AdminError
from gateway.language.language import language_of, speaking


def json_route(
    path: str, answer: Callable[[Request], Awaitable[Any]], method: str = "GET"
) -> Route:
    """Return a route that calls `answer`; an AdminError becomes status 422 with an `error`.

    Sentences are in the language of `Accept-Language` where `gateway.language` has them.
    """

    async def respond(request: Request) -> Response:
        try:
            with speaking(language_of(request.headers.get("Accept-Language", ""))):
                return JSONResponse(await answer(request))
        except AdminError as refused:
            return JSONResponse({"error": str(refused)}, status_code=422)

    return Route(path, respond, methods=[method])


async def json_body(request: Request) -> dict[str, Any]:
    """Return a request's JSON object; raises AdminError if the body is anything else."""
    try:
        body = orjson.loads(await request.body())
    except ValueError as cause:
        raise AdminError("the request is not JSON") from cause
    if not isinstance(body, dict):
        raise AdminError("the request is not a JSON object")
    return body
