"""Access control: find the session of each request, and refuse what it may not do.

A session is that of a cookie, or of the access token in a header. If no token is set, it may also
be that of the user who runs the gateway, at the other end of a loopback connection. A request that
came through a proxy is nobody's: the proxy's user is not the person in front of it. Requests of
other sites are refused: otherwise, a foreign website could use its visitor's session.

Whoever was invited has a page of their own below `/g/`, and their cookie is sent there alone. What
is asked there is asked as that person and as nobody else, whatever else the browser may do: so the
owner and their guest can stand side by side in one browser.
"""

from __future__ import annotations

import hmac
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import SplitResult, urlencode, urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from channels.room.session import NOBODY, OWNER, PageSession
from gateway.clock import Clock
from gateway.http.limits import READS, network_of
from gateway.http.peers import Peer, is_loopback
from gateway.http.sessions import Sessions
from tape.errors import StoreUnavailable

COOKIE: Final = "tapeway_session"
GUEST_COOKIE: Final = "tapeway_guest"
GUESTS: Final = "/g/"
GUEST: Final = "guest"
"""The key of a request's state that has the person of the page below which it was asked, or ""."""

_GUEST_PATH: Final = re.compile(rf"{GUESTS}(w-[0-9a-f]{{12}})(/.*)?", re.DOTALL)
OPEN_PATHS: Final = ("/health/", "/login", "/static/", "/console")
MEMBER_PATHS: Final = ("/api/rooms/", "/api/session/")
"""What a member may use besides the page; the rooms check which one."""

CONSOLE_PATHS: Final = ("/api/console/",)
"""What the console decides about itself: also for people of the platforms, who have its cookie."""

PROGRAM_PATHS: Final = ("/api/", "/metrics")
"""What programs ask for: without a login, they get a 401 and not a page."""

OWN_GUARD: Final = ("/webhooks/", "/slack/")
"""Paths for platforms, which check their own secrets and accept any host name."""

BEHIND_LOGIN: Final = ("/slack/install",)
"""Paths below those of OWN_GUARD that are for the owner."""

Audience = Literal["platforms", "everybody", "console", "members", "owner"]

FORWARDING: Final = ("forwarded", "via", "x-real-ip", "cf-connecting-ip", "true-client-ip")

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


@dataclass(slots=True)
class WrongLogins:
    """When each address last gave a wrong secret."""

    _clock: Clock
    _at: dict[str, float] = field(default_factory=dict)

    MOST = 4096

    def is_answered(self, host: str) -> bool:
        """Record a wrong secret; return whether it is the address's first one in a second."""
        now, key = self._clock.monotonic(), network_of(host)
        if now - self._at.pop(key, float("-inf")) < 1.0:
            self._at[key] = now
            return False
        if len(self._at) >= self.MOST:
            del self._at[next(iter(self._at))]
        self._at[key] = now
        return True


@dataclass(frozen=True, slots=True)
class Gatekeeper:
    """What the guard and the logins check: the sessions, and the token, if one is set.

    token       the access token, or ""
    bearer      what local tools send: the token, or a secret of this process
    public_url  the address by which browsers reach the gateway, or ""
    """

    sessions: Sessions
    wrong: WrongLogins
    token: str
    bearer: str
    public_url: str

    async def session(self, scope: Scope) -> PageSession | None:
        """Return the session of a request, or None; raises StoreUnavailable."""
        if guest := guest_of(scope):
            found = await self.guest(scope, _room(scope))
            return found if found is not None and found.person == guest else None
        headers = Headers(scope=scope)
        if same(headers.get("authorization", "").removeprefix("Bearer "), self.bearer):
            return OWNER
        found = await self.sessions.find(Request(scope).cookies.get(COOKIE, ""), _room(scope))
        if found is not None:
            return found
        return OWNER if not self.token and is_own_user(scope, headers) else None

    async def guest(self, scope: Scope, room: str = "") -> PageSession | None:
        """Return the session of the guest whose cookie a request has, or None."""
        found = await self.sessions.find(Request(scope).cookies.get(GUEST_COOKIE, ""), room)
        return None if found is None or found.owner else found

    def is_https(self, scope: Scope) -> bool:
        """Return whether browsers reach the gateway by HTTPS, also if a proxy does not say so.

        A cookie for HTTPS would be lost where a browser itself says that its page came by plain
        http from another host than the public one, as from an address in the local network.
        """
        if scope["scheme"] == "https" or not self.public_url.startswith("https:"):
            return bool(scope["scheme"] == "https")
        headers, public = Headers(scope=scope), urlsplit(self.public_url)
        origin = _split(headers.get("origin", ""))
        is_elsewhere = origin.scheme == "http" and origin.hostname != public.hostname
        return _is_forwarded(headers) or not is_elsewhere


class Guard:
    """Middleware that passes a request on, redirects it to the login page, or refuses it."""

    def __init__(self, app: ASGIApp, gate: Gatekeeper) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        scope = _as_guest(scope)
        try:
            refused = await self._refuse(scope)
        except StoreUnavailable:
            refused = _away()
        started = asked = False

        async def receive_from_known() -> Message:
            """Receive a body whose sender is still let in at its end, however long it took."""
            nonlocal refused, asked
            message = await receive()
            is_last = message["type"] == "http.request" and not message.get("more_body", False)
            if is_last and not asked and scope["method"] not in READS:
                asked = True
                refused = await self._refuse(scope)
            return message if refused is None else {"type": "http.disconnect"}

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"].extend(
                    (name.lower().encode(), value.encode())
                    for name, value in SECURITY_HEADERS.items()
                )
            await send(message)

        try:
            if refused is None:
                await self._app(scope, receive_from_known, send_with_headers)
            if refused is not None and not started:
                await refused(scope, receive, send_with_headers)
        except StoreUnavailable:
            if started:
                raise
            await _away()(scope, receive, send_with_headers)

    async def _refuse(self, scope: Scope) -> Response | None:
        headers, path, guest = Headers(scope=scope), scope["path"], guest_of(scope)
        may = audience(path)
        if guest and may not in ("members", "owner"):
            return PlainTextResponse("Nothing is here.\n", status_code=404)
        if guest and not path:
            return RedirectResponse(f"{GUESTS}{guest}/", 303)
        if may == "platforms":
            return None
        if _is_foreign(scope, headers):
            return PlainTextResponse("Requests from other sites are refused.\n", status_code=403)
        session = None
        with suppress(*(StoreUnavailable,) if may == "everybody" else ()):
            session = await self._gate.session(scope)
        scope.setdefault("state", {})["session"] = session or NOBODY
        if may in ("everybody", "console"):
            return None
        if session is not None:
            if path == "/" and not session.admits(_room(scope)):
                room = urlencode({"room": session.rooms[-1]})
                return RedirectResponse(f"{page_of(guest)}?{room}", 303)
            if session.owner or may == "members":
                return None
            return PlainTextResponse("This is for the owner alone.\n", status_code=403)
        if scope["method"] == "GET" and not path.startswith(PROGRAM_PATHS):
            # The login leads back to a room; the browser itself keeps the fragment.
            is_page = path == "/" and not guest
            back = f"?{urlencode({'room': _room(scope)})}" if is_page else ""
            return RedirectResponse(f"/login{back}", status_code=303)
        if "authorization" in headers and not self._gate.wrong.is_answered(client_of(scope)):
            return PlainTextResponse("Too many wrong tokens.\n", status_code=429)
        return PlainTextResponse("Log in first.\n", status_code=401)


def guest_of(scope: Scope) -> str:
    """Return the person below whose own page a request was asked, or ""."""
    return str(scope.get("state", {}).get(GUEST, ""))


def page_of(guest: str) -> str:
    """Return the path of a guest's own page, or of everybody else's for ""."""
    return f"{GUESTS}{guest}/" if guest else "/"


def _as_guest(scope: Scope) -> Scope:
    """Return what a request below a guest's page asks for, or any other request as it is."""
    found = _GUEST_PATH.fullmatch(scope["path"])
    if found is None:
        return scope
    state = {**scope.get("state", {}), GUEST: found[1]}
    return {**scope, "path": found[2] or "", "state": state}


def audience(path: str) -> Audience:
    """Return who may use a path; the owner may do what members may."""
    if path.startswith(OWN_GUARD) and path not in BEHIND_LOGIN:
        return "platforms"
    if path.startswith(OPEN_PATHS):
        return "everybody"
    if path.startswith(CONSOLE_PATHS):
        return "console"
    is_members = path in ("/", "/api/rooms") or path.startswith(MEMBER_PATHS)
    return "members" if is_members else "owner"


def _away() -> Response:
    return PlainTextResponse("The database is away. Try again later.\n", status_code=503)


def _room(scope: Scope) -> str:
    """Return the room that a request is about, or ""."""
    if scope["path"].startswith(MEMBER_PATHS[0]):
        return str(scope["path"].split("/")[3])
    return QueryParams(scope["query_string"]).get("room", "") if scope["path"] == "/" else ""


def _is_foreign(scope: Scope, headers: Headers) -> bool:
    """Return whether a page of another site sent the request."""
    origin = headers.get("origin")
    if scope["method"] != "GET" and origin and _split(origin).netloc != headers.get("host", ""):
        return True
    is_cross = headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
    return is_cross and scope["path"].startswith("/api/")


def _is_forwarded(headers: Headers) -> bool:
    """Return whether a proxy passed the request on."""
    return any(name.startswith("x-forwarded") or name in FORWARDING for name in headers)


def is_own_user(scope: Scope, headers: Headers) -> bool:
    """Return whether the user who runs the gateway sent the request, and no proxy passed it on."""
    if _is_forwarded(headers):
        return False
    # nginx speaks HTTP/1.0 with its servers, unless it was configured otherwise.
    if scope.get("http_version") == "1.0":
        return False
    peer = scope.get("state", {}).get("peer")
    return is_named_local(headers) and isinstance(peer, Peer) and peer.is_own_user


def is_named_local(headers: Headers) -> bool:
    """Return whether a request asks for this machine by a loopback name, as no foreign site can."""
    return is_loopback(_split(f"//{headers.get('host', '')}").hostname or "")


def _split(url: str) -> SplitResult:
    """Split what a stranger sent as an address; what is none has no parts."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")


def client_of(scope: Scope) -> str:
    """Return the address of a request; that of its sender, if a trusted proxy passed it on."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def same(given: str, secret: str) -> bool:
    """Compare a given secret with the real one in constant time; an empty secret never matches."""
    return bool(secret) and hmac.compare_digest(given.encode(), secret.encode())
