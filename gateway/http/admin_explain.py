"""What became of a message, over HTTP, for `tapeway explain` beside a running gateway."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from gateway.explain.explainer import Explainer


def explain_routes(explainer: Explainer) -> list[BaseRoute]:
    """Return the routes; who gets to them is decided before."""

    async def explain(request: Request) -> Response:
        story = await explainer.explain(request.query_params.get("message", ""))
        return JSONResponse(story.to_json())

    return [Route("/api/explain", explain)]
