"""Access control: if a token is set, requests must carry it in a cookie or a header.

Posts from other sites are refused and, if no token is set, so are requests for other host names:
otherwise, a foreign website could talk to the gateway on its visitor's machine.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE: Final = "tapeway_session"
COOKIE_SECONDS: Final = 30 * 24 * 3600
MAX_FORM_BYTES: Final = 10_000
OPEN_PATHS: Final = ("/health/", "/login", "/static/")
LOGGED_IN: Final = "tapeway.logged_in"
"""The key of a request's scope that says whether it may see more than anyone."""

OWN_GUARD: Final = ("/webhooks/", "/slack/")
"""Paths for platforms, which check their own secrets and accept any host name."""

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # "no-referrer" would make browsers send "Origin: null" with the login form.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Middleware that passes a request on, redirects it to the login page, or refuses it."""

    def __init__(self, app: ASGIApp, host: str, token: str, bearer: str) -> None:
        self._app = app
        self._host = host
        self._token = token
        self._bearer = bearer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refuse(scope)
        if refused is not None:
            await refused(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"].extend(
                    (name.lower().encode(), value.encode())
                    for name, value in SECURITY_HEADERS.items()
                )
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        scope[LOGGED_IN] = self._logged_in(headers, Request(scope))
        if scope["path"].startswith(OWN_GUARD):
            return None
        host = headers.get("host", "")
        if not self._token and not self._known_host(host):
            return PlainTextResponse(
                f"This gateway does not answer under the name {host}. Open it at"
                f" http://{self._host}/, or set TAPEWAY_HTTP__TOKEN.\n",
                status_code=421,
            )
        origin = headers.get("origin")
        if scope["method"] != "GET" and origin and urlsplit(origin).netloc != host:
            return PlainTextResponse("Requests from other sites are refused.\n", status_code=403)
        if scope[LOGGED_IN] or scope["path"].startswith(OPEN_PATHS):
            return None
        if scope["method"] == "GET" and not scope["path"].startswith("/api/"):
            return RedirectResponse("/login", status_code=303)
        return PlainTextResponse("Log in first.\n", status_code=401)

    def _logged_in(self, headers: Headers, request: Request) -> bool:
        if not self._token:
            return True
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        cookie = request.cookies.get(COOKIE, "")
        return same(bearer, self._bearer) or same(cookie, cookie_value(self._token))

    def _known_host(self, host: str) -> bool:
        name = urlsplit(f"//{host}").hostname or ""
        return name == self._host or is_loopback(name)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def same(given: str, secret: str) -> bool:
    """Compare a given secret with the real one in constant time; an empty secret never matches."""
    return bool(secret) and hmac.compare_digest(given.encode(), secret.encode())


def cookie_value(token: str) -> str:
    """Return the cookie's content: a digest of the token."""
    return hmac.new(token.encode(), b"tapeway-cookie-1", hashlib.sha256).hexdigest()


async def log_in(request: Request, token: str) -> Response:
    """Set the cookie if the form has the right token; otherwise show the form again."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_FORM_BYTES:
            break
    given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0]
    if len(body) > MAX_FORM_BYTES or not same(given.strip(), token):
        return RedirectResponse("/login?wrong=1", status_code=303)
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(
        COOKIE,
        cookie_value(token),
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response
