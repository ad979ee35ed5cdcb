"""Routes of the console: JSON that is not stored anywhere, and refusals with a sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.access.administrators import RightsUnknown
from gateway.console.reads import ConsoleBusy
from gateway.errors import AdminError
from gateway.language.language import language_of, speaking
from tape.errors import TapeError

API: Final = "/api/console"
NO_STORE: Final = {"Cache-Control": "no-store"}
BUSY_SECONDS: Final = 1
"""Seconds after which a page may ask again for what could not be read."""


Answer = Callable[[Request], Awaitable[Any]]


def console_route(path: str, answer: Answer, method: str = "GET") -> Route:
    """Return a route below API; `answer` returns JSON data, or a response.

    An AdminError becomes status 422, an HTTPException its own, and what the store refuses, cannot
    read in time or depends on a silent platform 503 with Retry-After; each has an `error`. Requests
    of other sites have been refused by the guard. Sentences are in the language of
    `Accept-Language` where `gateway.language` has them.
    """
    return Route(f"{API}{path}", _responder(answer), methods=[method])


def door_route(path: str, answer: Answer) -> Route:
    """Return a route that lets somebody in, as `console_route` does; anybody may ask."""
    return Route(f"/console{path}", _responder(answer), methods=["POST"])


def _responder(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            with speaking(language_of(request.headers.get("Accept-Language", ""))):
                answered = await answer(request)
        except AdminError as refused:
            answered = refusal(422, str(refused))
        except (TapeError, ConsoleBusy) as refused:
            answered = refusal(503, str(refused), BUSY_SECONDS)
        except RightsUnknown as refused:
            answered = refusal(503, str(refused), refused.retry_after)
        except HTTPException as refused:
            answered = refusal(refused.status_code, refused.detail)
        response = answered if isinstance(answered, Response) else JSONResponse(answered)
        response.headers.update(NO_STORE)
        return response

    return respond


def refusal(status: int, sentence: str, retry_after: int = 0) -> Response:
    """Return a refusal; `retry_after` says in how many seconds to ask again."""
    headers = {"Retry-After": str(retry_after)} if retry_after else {}
    return JSONResponse({"error": sentence}, status_code=status, headers=headers)
