"""The report on a message over HTTP, for `tapeway explain` while a gateway is running."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.explain.explainer import Explainer
from gateway.http.json_route import json_route


def explain_routes(explainer: Explainer) -> list[BaseRoute]:
    """Return the routes; the guard has checked who asks."""

    async def explain(request: Request) -> Any:
        return (await explainer.explain(request.query_params.get("message", ""))).to_json()

    return [json_route("/api/explain", explain)]
