"""Serve the console's page and its files, which say nothing about anybody.

The page names its files below their version, so that a browser asks for each of them once.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from channels.web.outbound import whole

TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PAGE: Final = "console.html"
ASSETS: Final = "/console/assets/"
KEPT: Final = "public, max-age=31536000, immutable"
_VERSION: Final = re.compile(r"v[0-9a-f]{12}/")


def page_routes() -> list[BaseRoute]:
    """Return the routes of the page and its files, which are for everybody."""

    async def page(request: Request) -> Response:
        return _answer(request, PAGE)

    async def asset(request: Request) -> Response:
        return _answer(request, request.path_params["name"])

    return [Route("/console", page), Route(f"{ASSETS}{{name:path}}", asset)]


def _answer(request: Request, name: str) -> Response:
    versioned = _VERSION.match(name)
    name = _VERSION.sub("", name, count=1)
    kind, found = TYPES.get(name.rpartition(".")[2]), _files().get(name)
    if kind is None or found is None:
        return Response("Not found.", status_code=404, media_type="text/plain")
    body, tag = _page() if name == PAGE else found
    is_kept = versioned is not None and versioned[0] == _version()
    headers = {"Cache-Control": KEPT if is_kept else "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=kind, headers=headers)


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """Map the files' paths to what they hold, and to its tag."""
    found: dict[str, tuple[bytes, str]] = {}
    _read(files("gateway.console") / "assets", "", found)
    return found


@cache
def _version() -> str:
    """Return the folder below which the page names the files as they are now."""
    tags = "".join(sorted(tag for _body, tag in _files().values()))
    return f"v{sha256(tags.encode()).hexdigest()[:12]}/"


@cache
def _page() -> tuple[bytes, str]:
    """Return the page and its tag."""
    body = whole(_files()[PAGE][0])
    body = body.replace(ASSETS.encode(), f"{ASSETS}{_version()}".encode())
    return body, _tag(body)


def _tag(body: bytes) -> str:
    return f'"{sha256(body).hexdigest()[:20]}"'


def _read(folder: Traversable, prefix: str, found: dict[str, tuple[bytes, str]]) -> None:
    for one in folder.iterdir():
        if one.is_dir():
            _read(one, f"{prefix}{one.name}/", found)
        else:
            body = one.read_bytes()
            found[f"{prefix}{one.name}"] = body, _tag(body)
