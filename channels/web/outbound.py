"""Serves the files of pages, which say nothing about anybody."""

from __future__ import annotations

import re
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
KEPT: Final = "public, max-age=31536000, immutable"

_PART: Final = re.compile(rb"<!-- (head|reel) -->\n")
_VERSION: Final = re.compile(r"v[0-9a-f]{12}/")


class PageFiles:
    """The files of a package's folder `assets`, served below an address.

    The pages name them below their version, so that a browser asks for each of them once.
    """

    def __init__(self, package: str, address: str) -> None:
        self._package = package
        self._address = address

    def answer(self, request: Request, name: str) -> Response:
        """Return one of the files, or a 404 response."""
        versioned = _VERSION.match(name)
        name = _VERSION.sub("", name, count=1)
        kind, found = TYPES.get(name.rpartition(".")[2]), self.files.get(name)
        if kind is None or found is None:
            return Response("Not found.", status_code=404, media_type="text/plain")
        body, tag = self._pages.get(name, found)
        is_kept = versioned is not None and versioned[0] == self._version
        headers = {"Cache-Control": KEPT if is_kept else "no-cache", "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type=kind, headers=headers)

    @cached_property
    def files(self) -> dict[str, tuple[bytes, str]]:
        """Map the files' paths to what they hold, and to its tag."""
        found: dict[str, tuple[bytes, str]] = {}
        _read(files(self._package) / "assets", "", found)
        return found

    @cached_property
    def _version(self) -> str:
        tags = "".join(sorted(tag for _body, tag in self.files.values()))
        return f"v{sha256(tags.encode()).hexdigest()[:12]}/"

    @cached_property
    def _pages(self) -> dict[str, tuple[bytes, str]]:
        """Map the pages among the files to what is sent, with the parts that all pages share."""
        found = {}
        for name, (body, _tag) in self.files.items():
            if name.endswith(".html"):
                whole = _PART.sub(lambda part: SHARED.files[f"{part[1].decode()}.html"][0], body)
                here = self._address.encode()
                whole = whole.replace(here, here + self._version.encode())
                found[name] = whole, _tag_of(whole)
        return found


SHARED: Final = PageFiles("channels.web", "/static/")
"""The files of the rooms' page, which all pages of the gateway use."""


def page_routes() -> list[Route]:
    """Return the route of the rooms' page."""

    async def page(request: Request) -> Response:
        return SHARED.answer(request, "index.html")

    return [Route("/", page)]


def static_route() -> Route:
    """Return the route of the files that the pages of the gateway use, rooms or not."""

    async def static(request: Request) -> Response:
        return SHARED.answer(request, request.path_params["name"])

    return Route("/static/{name:path}", static)


def _tag_of(body: bytes) -> str:
    return f'"{sha256(body).hexdigest()[:20]}"'


def _read(folder: Traversable, prefix: str, found: dict[str, tuple[bytes, str]]) -> None:
    for one in folder.iterdir():
        if one.is_dir():
            _read(one, f"{prefix}{one.name}/", found)
        else:
            body = one.read_bytes()
            found[f"{prefix}{one.name}"] = body, _tag_of(body)
