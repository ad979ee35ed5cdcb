"""The gateway's routes and those of its channels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from channels.base import Channel
from gateway.http.auth import Gatekeeper, Guard, is_named_local
from gateway.http.limits import BodyLimit
from gateway.http.logins import login_routes, session_routes
from gateway.http.peers import is_loopback
from gateway.language.refusals import TranslatedRefusals
from gateway.settings.sections import HttpSettings
from gateway.supervision.status import ChannelState
from tape.payloads import left_out
from tape.store import NotingStore


@runtime_checkable
class HasRoutes(Protocol):
    """A channel that has routes of its own (the capability `routes`)."""

    def routes(self) -> list[Route]:
        """Return the routes that the gateway serves for this channel."""
        ...


Readiness = dict[str, Any]
ROUTE: Final = "tapeway.route"
"""The key of a request's scope that has the route of a channel."""


class MetricsPort:
    """Middleware that serves the metrics, and nothing else, on their port, to whoever reaches it.

    On a loopback address, that is this machine; a site in somebody's browser, which could have a
    name of its own lead there, is refused.
    """

    def __init__(self, app: ASGIApp, metrics: Route, http: HttpSettings) -> None:
        self._app = app
        self._port = http.metrics_port
        self._is_local = is_loopback(http.metrics_host)
        self._metrics = Starlette(routes=[metrics])
        self._metrics.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The server's end of the connection is the kernel's word: no header changes it.
        if not self._port or (scope.get("server") or ("", 0))[1] != self._port:
            await self._app(scope, receive, send)
        elif self._is_local and not is_named_local(Headers(scope=scope)):
            refused = PlainTextResponse("Ask for 127.0.0.1 or localhost.\n", status_code=421)
            await refused(scope, receive, send)
        else:
            await self._metrics(scope, receive, send)


class _ChannelRoutes(BaseRoute):
    """The routes of the channels that run now: one may have been replaced since the start."""

    def __init__(self, channels: Mapping[str, Channel]) -> None:
        self._channels = channels
        self._known: tuple[Channel, ...] = ()
        self._routes: tuple[Route, ...] = ()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        running = tuple(self._channels.values())
        if running != self._known:
            self._known, self._routes = running, tuple(channel_routes(running))
        partial: tuple[Match, Scope] = Match.NONE, {}
        for route in self._routes:
            match, child = route.matches(scope)
            if match == Match.FULL:
                return match, {**child, ROUTE: route}
            if match == Match.PARTIAL and partial[0] == Match.NONE:
                partial = match, {**child, ROUTE: route}
        return partial

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await scope[ROUTE].handle(scope, receive, send)


def channel_routes(channels: Iterable[Channel]) -> Iterator[Route]:
    """Yield the routes of channels that have some."""
    for channel in channels:
        if "routes" in channel.capabilities and isinstance(channel, HasRoutes):
            yield from channel.routes()


def make_app(
    channels: Mapping[str, Channel],
    health: Callable[[], Readiness],
    more: Sequence[BaseRoute],
    gate: Gatekeeper,
) -> Starlette:
    """Return the application, whose requests the gate lets in."""

    async def live(_request: Request) -> Response:
        return JSONResponse({"status": "live"})

    async def ready(request: Request) -> Response:
        body = health()
        shown = body if request.state.session.owner else without_reasons(body)
        return JSONResponse(shown, status_code=200 if body["status"] == "ready" else 503)

    async def serving(_request: Request) -> Response:
        away = "store" in health()
        body = {"status": "not serving" if away else "serving"}
        return JSONResponse(body, status_code=503 if away else 200)

    routes: list[BaseRoute] = [
        Route("/health/live", live),
        Route("/health/serving", serving),
        Route("/health/ready", ready),
        *login_routes(gate),
        *session_routes(gate, list(channels.values())),
        *more,
        _ChannelRoutes(channels),
    ]
    guard, limit = Middleware(Guard, gate=gate), Middleware(BodyLimit)
    middleware = [Middleware(TranslatedRefusals), guard, limit]
    return Starlette(routes=routes, middleware=middleware)


def without_reasons(body: Readiness) -> Readiness:
    """Return what anyone may know: the state of each part, but not why."""
    hidden = ("why", "notes", "name")
    return {
        key: without_reasons(value) if isinstance(value, dict) else value
        for key, value in body.items()
        if key not in hidden
    }


def readiness(
    states: dict[str, ChannelState],
    deaf: dict[str, float],
    store_away: float | None,
    why: str,
    store: object = None,
) -> Readiness:
    """Return the body of `/health/ready`; `deaf` maps stalled channels to seconds of silence.

    `store` may be one with notes.
    """
    channels = {
        name: {
            "state": "deaf" if name in deaf else state.state,
            "since": state.since,
            **({"deaf_seconds": round(deaf[name], 1)} if name in deaf else {}),
            **({"why": state.why} if state.why else {}),
            **({"notes": state.notes} if state.notes else {}),
        }
        for name, state in states.items()
    }
    connected = all(state.state == "ready" for state in states.values())
    ready = store_away is None and connected and not deaf
    body: Readiness = {"status": "ready" if ready else "not ready", "channels": channels}
    if store_away is not None:
        body["store"] = {"state": "away", "seconds": round(store_away, 1), "why": why}
    if notes := [*left_out.notes(), *(store.notes() if isinstance(store, NotingStore) else ())]:
        body["notes"] = notes
    return body
