"""Erasures over HTTP, for `tapeway tape erase` while a gateway is running."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.admin.erase_admin import EraseAdmin
from gateway.http.json_route import json_body, json_route


def erase_routes(admin: EraseAdmin) -> list[BaseRoute]:
    """Return the routes of `tapeway tape erase`; the guard checks access."""

    async def begin(request: Request) -> Any:
        body = await json_body(request)
        return await admin.begin(*(str(body.get(name, "")) for name in ("what", "tape", "name")))

    async def state(request: Request) -> Any:
        return await admin.state(request.path_params["name"])

    async def mentions(_request: Request) -> Any:
        return await admin.mentions()

    return [
        json_route("/api/erasures", begin, "POST"),
        json_route("/api/erasures", mentions),
        json_route("/api/erasures/{name}", state),
    ]
