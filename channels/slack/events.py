"""The way in: what Slack delivers is on the disk before Slack is told that it came.

Bolt authorizes before it runs middleware, and answers 200 also where that fails; so everything is
kept in `before_authorize`, and answered there: no delivery waits for a request of ours, and none
reaches a listener. Without an answer of 200 Slack delivers again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from slack_bolt.adapter.starlette.async_handler import (
    to_async_bolt_request,
    to_starlette_response,
)
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request.internals import parse_body
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from channels.errors import ChannelDown, ChannelError
from channels.host import FullHost
from channels.message import InboundMessage
from channels.slack.api import QUIET
from channels.slack.connection_monitor import ConnectionMonitor
from channels.slack.inbound import SlackSelf, parse, ts_of, unreadable
from channels.slack.reorder import ReorderBuffer
from channels.slack.settings import SlackSettings
from channels.slack.workspaces import Workspace, Workspaces

LONGEST_BODY: Final = 4_000_000
NOT_SLACK: Final = "This is not for you.\n"
BOLT_S: Final = ("url_verification", "ssl_check")
GONE: Final = ("tokens_revoked", "app_uninstalled")
IN_CHANNEL: Final = '{"response_type": "in_channel"}'
"""Shows a question that came by a command to the channel: else only its answer would be seen."""

TOO_MANY: Final = (
    "Slack delivers fewer events than there are: the app gets more than 30,000 an hour."
)
UNSIGNED: Final = (
    "Something came to /slack/events that is not signed with TAPEWAY_SLACK__SIGNING_SECRET, or was"
    " signed more than five minutes ago. If it was Slack: copy the Signing Secret of this very app"
    " (https://api.slack.com/apps, Basic Information) into it and start again; and see whether this"
    " machine's clock is right."
)

Raw = Mapping[str, Any]


class Events:
    """Takes deliveries, over either way; `keep` puts messages on the disk.

    heard    is told of every event, ours included
    gone     is told that the app was taken out of a workspace, or its token revoked
    """

    def __init__(
        self,
        settings: SlackSettings,
        workspaces: Workspaces,
        me_of: Callable[[Workspace], SlackSelf],
        heard: Callable[[Workspace, Raw], None],
        gone: Callable[[Workspace], None],
    ) -> None:
        self._workspaces = workspaces
        self._me_of = me_of
        self._heard = heard
        self._gone = gone
        self._hold = settings.hold
        secret = settings.signing_secret.get_secret_value()
        self._verifier = SignatureVerifier(secret) if secret else None
        self._host: FullHost | None = None
        self._presence: ConnectionMonitor | None = None
        self._held: ReorderBuffer | None = None
        self.app = AsyncApp(
            name="tapeway",
            logger=QUIET,
            client=AsyncWebClient(logger=QUIET, retry_handlers=[]),
            signing_secret=secret,
            authorize=_nobody,
            before_authorize=self._before_authorize,
        )

    def begin(
        self,
        host: FullHost,
        presence: ConnectionMonitor,
        keep: Callable[[list[InboundMessage]], Awaitable[Any]],
    ) -> None:
        """Take deliveries from now on; `presence` is told of those that were not taken."""
        self._host = host
        self._presence = presence
        self._held = ReorderBuffer(self._hold, host.clock, keep)

    async def over_http(self, request: Request) -> Response:
        """Answer a request that must be Slack's: signed, and not older than five minutes."""
        if self._verifier is None:
            return PlainTextResponse("There is no signing secret.\n", status_code=404)
        headers = request.headers
        stamp, signature = (
            headers.get(f"x-slack-{name}", "") for name in ("request-timestamp", "signature")
        )
        if not (stamp.isascii() and stamp.isdigit() and len(stamp) < 16 and signature.isascii()):
            return PlainTextResponse(NOT_SLACK, status_code=401)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > LONGEST_BODY:
                return PlainTextResponse("Too large.\n", status_code=413)
        try:
            signed = self._verifier.is_valid(bytes(body), stamp, signature)
        except UnicodeDecodeError:
            signed = False
        if signed:
            return await self._signed(request, bytes(body))
        if self._host is not None:
            self._host.warn(UNSIGNED)
        return PlainTextResponse(NOT_SLACK, status_code=401)

    async def _signed(self, request: Request, body: bytes) -> Response:
        """Answer what Slack signed; what is no object is nothing that Slack delivers."""
        try:
            read = parse_body(body.decode(), request.headers.get("content-type", ""))
        except (ValueError, RecursionError):
            read = None
        if not isinstance(read, dict):
            return PlainTextResponse("This cannot be read.\n", status_code=400)
        try:
            answer = await self.app.async_dispatch(to_async_bolt_request(request, body))
        except Exception:
            return Response(status_code=200 if await self.keep_unread(read) else 503)
        return to_starlette_response(answer)

    async def keep_unread(self, body: Any) -> bool:
        """Keep what Bolt raised an exception over; tells whether it is on the disk."""
        if self._host is None or self._presence is None or self._held is None:
            return False
        self._host.log_exception("slack.delivery_unreadable")
        workspace = self._workspaces.of_body(body) if isinstance(body, Mapping) else None
        account = workspace.account if workspace is not None else ""
        kept = unreadable(body, "Slack's delivery has another form than it should", account)
        try:
            await self._held.put(f"{account}/{kept.chat_id}", "", lambda: kept)
        except ChannelError:
            """Whoever keeps it has said why it cannot."""
        except Exception:
            self._host.log_exception("slack.delivery_failed")
        else:
            return True
        self._presence.missing()
        return False

    async def _before_authorize(
        self, body: Raw, next_: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        """Keep a delivery, and answer it; whatever goes wrong, Slack shall deliver it again."""
        if body.get("type") in BOLT_S:
            return await next_()
        if self._host is None or self._presence is None:
            return BoltResponse(status=503, body="")
        try:
            return BoltResponse(status=200, body=await self._take(body))
        except ChannelError:
            """Whoever keeps it has said why it cannot."""
        except Exception:
            self._host.log_exception("slack.delivery_failed")
        self._presence.missing()
        return BoltResponse(status=503, body="", headers={"Retry-After": "1"})

    async def _take(self, body: Raw) -> str:
        """Put a delivery on the disk; returns what it is answered with."""
        assert self._host is not None
        assert self._held is not None
        assert self._presence is not None
        if body.get("type") == "app_rate_limited":
            self._host.warn(TOO_MANY)
            self._presence.missing()
            self._presence.took()
            return ""
        workspace = self._workspaces.of_body(body)
        if workspace is None:
            self._host.warn("Something came from a workspace that the app has no token for.")
            return ""
        event = body.get("event")
        event = event if isinstance(event, Mapping) else {}
        self._heard(workspace, event)
        if event.get("type") in GONE:
            self._gone(workspace)
            return ""
        message = self._read(body, workspace)
        if message is None:
            return ""
        if ts_of(event):
            await self._presence.filled()
        chat = f"{message.account}/{message.chat_id}"
        if message.kind == "unreadable":
            await self._held.put(chat, "", lambda: message)
            return ""
        # Read once more at the end: names may be known by then.
        again = lambda: self._read(body, workspace) or message  # noqa: E731
        await self._held.put(chat, ts_of(event), again)
        by_command = message.why == "asked by a command" and message.chat_kind == "group"
        return IN_CHANNEL if by_command else ""

    def _read(self, body: Raw, workspace: Workspace) -> InboundMessage | None:
        assert self._host is not None
        try:
            return parse(body, self._me_of(workspace))
        except Exception as cause:
            self._host.log_exception("slack.event_unreadable")
            why = f"{type(cause).__name__}: {cause}"
            return unreadable(body, why, workspace.account)


async def _nobody() -> AuthorizeResult:
    """Authorize nothing: whatever needs it was answered before."""
    raise ChannelDown("nothing is authorized here")
