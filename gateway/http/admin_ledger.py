"""The operator's desk over HTTP, for `tapeway ledger` beside a running gateway."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from gateway.admin.ledger_admin import LedgerAdmin
from gateway.errors import AdminError


def desk_routes(desk: LedgerAdmin) -> list[BaseRoute]:
    """Return the routes; who gets to them is decided before."""

    async def rows(request: Request) -> Any:
        limit = request.query_params.get("limit", "50")
        if not limit.isdigit():
            raise AdminError("limit is a number")
        return await desk.rows(request.query_params.get("status", ""), int(limit))

    async def show(request: Request) -> Any:
        return await desk.show(request.path_params["row"])

    async def retry(request: Request) -> Any:
        return {"done": await desk.retry(request.path_params["row"])}

    async def drop(request: Request) -> Any:
        return {"done": await desk.drop(request.path_params["row"])}

    return [
        Route("/api/ledger", _told(rows)),
        Route("/api/ledger/{row}", _told(show)),
        Route("/api/ledger/{row}/retry", _told(retry), methods=["POST"]),
        Route("/api/ledger/{row}/drop", _told(drop), methods=["POST"]),
    ]


def _told(
    answer: Callable[[Request], Awaitable[Any]],
) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            return JSONResponse(await answer(request))
        except AdminError as refused:
            return JSONResponse({"error": str(refused)}, status_code=422)

    return respond
