"""Checks that deliveries come from Slack, and answers them once they are stored.

Bolt authorizes before it runs middleware, and answers 200 even if that fails. So each delivery is
stored and answered in `before_authorize`: it never waits for one of our requests, nor reaches a
listener. Slack redelivers every delivery that is not answered with 200.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.internals import parse_body
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from channels.errors import ChannelDown
from channels.slack.api import QUIET
from channels.slack.event_fields import Raw
from channels.slack.receiver import EventReceiver
from channels.slack.settings import SlackSettings
from channels.slack.socket_mode import ConnectionListener

MAX_BODY_BYTES: Final = 4_000_000
NOT_SLACK: Final = "This is not for you.\n"
ANSWERED_BY_BOLT: Final = ("url_verification", "ssl_check")
UNSIGNED: Final = (
    "A request to /slack/events was not signed with TAPEWAY_SLACK__SIGNING_SECRET, or was signed"
    " more than five minutes ago. If it came from Slack, copy this app's Signing Secret"
    " (https://api.slack.com/apps, Basic Information) into the setting, start again, and check this"
    " machine's clock."
)


class EventGate:
    """Passes deliveries from Socket Mode and HTTP to the receiver of the current run."""

    def __init__(self, settings: SlackSettings) -> None:
        secret = settings.signing_secret.get_secret_value()
        self._verifier = SignatureVerifier(secret) if secret else None
        self._receiver: EventReceiver | None = None
        self._app = AsyncApp(
            name="tapeway",
            logger=QUIET,
            client=AsyncWebClient(logger=QUIET, retry_handlers=[]),
            signing_secret=secret,
            authorize=_authorize_nothing,
            before_authorize=self._before_authorize,
        )

    def open(self, receiver: EventReceiver) -> None:
        """Pass deliveries to this receiver; before the first `open`, Slack must redeliver them."""
        self._receiver = receiver

    async def take_request(self, request: Request) -> Response:
        """Answer an HTTP request, provided that Slack signed it within the last five minutes."""
        if self._verifier is None:
            return PlainTextResponse("There is no signing secret.\n", status_code=404)
        stamp = request.headers.get("x-slack-request-timestamp", "")
        signature = request.headers.get("x-slack-signature", "")
        if not (stamp.isascii() and stamp.isdigit() and len(stamp) < 16 and signature.isascii()):
            return PlainTextResponse(NOT_SLACK, status_code=401)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BODY_BYTES:
                return PlainTextResponse("Too large.\n", status_code=413)
        try:
            is_signed = self._verifier.is_valid(bytes(body), stamp, signature)
        except UnicodeDecodeError:
            is_signed = False
        if is_signed:
            return await self._dispatch(request, bytes(body))
        if self._receiver is not None:
            self._receiver.warn(UNSIGNED)
        return PlainTextResponse(NOT_SLACK, status_code=401)

    async def take_envelope(self, envelope: Mapping[str, Any]) -> str | None:
        try:
            request = SocketModeRequest(
                str(envelope.get("type")), str(envelope["envelope_id"]), envelope["payload"]
            )
            answer = await run_async_bolt_app(self._app, request)
        except Exception:  # Bolt accepts only the documented form
            return "" if await self._keep_unreadable(envelope["payload"]) else None
        return answer.body or "" if answer.status == 200 else None

    async def _dispatch(self, request: Request, body: bytes) -> Response:
        try:
            read = parse_body(body.decode(), request.headers.get("content-type", ""))
        except (ValueError, RecursionError):
            read = None
        if not isinstance(read, dict):
            return PlainTextResponse("This cannot be read.\n", status_code=400)
        try:
            answer = await self._app.async_dispatch(to_async_bolt_request(request, body))
        except Exception:
            return Response(status_code=200 if await self._keep_unreadable(read) else 503)
        return to_starlette_response(answer)

    async def _keep_unreadable(self, body: Any) -> bool:
        return self._receiver is not None and await self._receiver.keep_unreadable(body)

    async def _before_authorize(
        self, body: Raw, next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        if body.get("type") in ANSWERED_BY_BOLT:
            return await next_()
        answer = await self._receiver.take(body) if self._receiver is not None else None
        if answer is None:
            return BoltResponse(status=503, body="", headers={"Retry-After": "1"})
        return BoltResponse(status=200, body=answer)


class HttpConnection:
    """Takes the place of a connection when Slack sends its events to /slack/events over HTTP."""

    async def run(self, listener: ConnectionListener, group: TaskGroup) -> None:
        del group
        await listener.connected(1, seamless=False)
        await anyio.sleep_forever()

    def renew(self, why: str) -> None:
        """Do nothing, since there is no connection to replace."""


async def _authorize_nothing() -> AuthorizeResult:
    raise ChannelDown("nothing is authorized here")
