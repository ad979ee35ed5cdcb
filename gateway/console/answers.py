"""Routes of the console: JSON that is not stored anywhere, and refusals with a sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.errors import AdminError

API: Final = "/api/console"
NO_STORE: Final = {"Cache-Control": "no-store"}


def console_route(
    path: str, answer: Callable[[Request], Awaitable[Any]], method: str = "GET"
) -> Route:
    """Return a route below API; `answer` returns JSON data, or a response.

    An AdminError becomes status 422, and an HTTPException its own, with an `error`. Requests of
    other sites have been refused by the guard.
    """

    async def respond(request: Request) -> Response:
        try:
            answered = await answer(request)
        except AdminError as refused:
            answered = refusal(422, str(refused))
        except HTTPException as refused:
            answered = refusal(refused.status_code, refused.detail)
        response = answered if isinstance(answered, Response) else JSONResponse(answered)
        response.headers.update(NO_STORE)
        return response

    return Route(f"{API}{path}", respond, methods=[method])


def refusal(status: int, sentence: str) -> Response:
    """Return a refusal."""
    return JSONResponse({"error": sentence}, status_code=status)
