"""Access over HTTP, for the page and for the command line while a gateway is running."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.admin.access_admin import AccessAdmin
from gateway.http.json_route import json_body, json_route


def access_routes(admin: AccessAdmin) -> list[BaseRoute]:
    """Return the routes of `tapeway access` and `tapeway pair`; the guard checks access."""

    async def rules(_request: Request) -> Any:
        return await admin.rules()

    async def grant(request: Request) -> Any:
        body = await json_body(request)
        names = (str(body.get(name) or "") for name in ("who", "role", "account"))
        who, role, account = names
        return {"done": await admin.grant(who, role or "member", account)}

    async def revoke(request: Request) -> Any:
        body = await json_body(request)
        who, account = (str(body.get(name) or "") for name in ("who", "account"))
        return {"done": await admin.revoke(who, account)}

    async def pair(_request: Request) -> Any:
        return await admin.pair()

    return [
        json_route("/api/access", rules),
        json_route("/api/access/grant", grant, "POST"),
        json_route("/api/access/revoke", revoke, "POST"),
        json_route("/api/access/pair", pair, "POST"),
    ]
