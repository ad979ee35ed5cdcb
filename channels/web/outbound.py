"""Serves the page's files."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


_PART: Final = re.compile(rb"<!-- (head|reel) -->\n")


@cache
def _files() -> dict[str, Traversable]:
    return {file.name: file for file in (files("channels.web") / "assets").iterdir()}


def page_routes() -> list[Route]:
    """Return the route of the rooms' page."""

    async def page(_request: Request) -> Response:
        return asset("index.html")

    return [Route("/", page)]


def static_route() -> Route:
    """Return the route of the files that the pages of the gateway use, rooms or not."""

    async def static(request: Request) -> Response:
        return asset(request.path_params["name"])

    return Route("/static/{name}", static)


def asset(name: str) -> Response:
    """Return one of the page's files, or a 404 response."""
    kind = _TYPES.get(name.rpartition(".")[2])
    file = _files().get(name)
    if kind is None or file is None:
        return Response("Not found.", status_code=404, media_type="text/plain")
    body = file.read_bytes()
    body = whole(body) if name.endswith(".html") else body
    return Response(body, media_type=kind, headers={"Cache-Control": "no-cache"})


def whole(page: bytes) -> bytes:
    """Return a page with the parts that all pages share in the place of their comments."""
    return _PART.sub(lambda part: _files()[f"{part[1].decode()}.html"].read_bytes(), page)
