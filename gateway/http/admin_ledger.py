"""The ledger and the reports over HTTP, for the command line while a gateway is running."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.admin.ledger_admin import LedgerAdmin
from gateway.errors import AdminError
from gateway.explain.explainer import Explainer
from gateway.http.json_route import json_route


def explain_routes(explainer: Explainer) -> list[BaseRoute]:
    """Return the routes of `tapeway explain`; the guard checks access."""

    async def explain(request: Request) -> Any:
        return (await explainer.explain(request.query_params.get("message", ""))).to_json()

    return [json_route("/api/explain", explain)]


def ledger_routes(admin: LedgerAdmin) -> list[BaseRoute]:
    """Return the routes of `tapeway ledger`; the guard checks access."""

    async def rows(request: Request) -> Any:
        limit = request.query_params.get("limit", "50")
        if not limit.isdigit():
            raise AdminError("limit must be a number")
        return await admin.rows(request.query_params.get("status", ""), int(limit))

    async def usage(request: Request) -> Any:
        wanted = request.query_params
        return await admin.usage(wanted.get("by", "day"), wanted.get("since", ""))

    async def show(request: Request) -> Any:
        return await admin.show(request.path_params["row"])

    async def retry(request: Request) -> Any:
        return {"done": await admin.retry(request.path_params["row"])}

    async def drop(request: Request) -> Any:
        return {"done": await admin.drop(request.path_params["row"])}

    async def resume(request: Request) -> Any:
        return {"done": await admin.resume(request.query_params.get("row", ""))}

    return [
        json_route("/api/ledger", rows),
        json_route("/api/ledger/resume", resume, "POST"),
        json_route("/api/usage", usage),
        json_route("/api/ledger/{row}", show),
        json_route("/api/ledger/{row}/retry", retry, "POST"),
        json_route("/api/ledger/{row}/drop", drop, "POST"),
    ]
