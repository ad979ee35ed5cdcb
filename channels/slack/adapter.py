"""The Slack channel: events in, messages out, in one workspace or several."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from channels.base import Capability, Channel, Feature, Traits
from channels.draft import DraftReference
from channels.errors import ChannelDown, ChannelError, ChannelUnfit
from channels.host import Cursors
from channels.markdown.split import split
from channels.message import InboundMessage, Media, OutboundMessage, Receipt
from channels.pacing import Budget
from channels.slack import media as files
from channels.slack.api import UNKNOWN_BOT, ApiSessions, SlackApi
from channels.slack.assistant_status import Statuses
from channels.slack.connection_monitor import ConnectionMonitor
from channels.slack.events import Events
from channels.slack.format import LIMIT, size
from channels.slack.history import History
from channels.slack.inbound import SlackSelf, stop_of
from channels.slack.oauth import Install
from channels.slack.outbound import SlackSender as Outbound
from channels.slack.settings import SlackSettings
from channels.slack.socket_mode import SocketMode
from channels.slack.threads import is_direct, thread_for
from channels.slack.workspaces import (
    NOT_INSTALLED,
    Installed,
    Workspace,
    Workspaces,
    introduce,
    read_installations,
)

NO_WAY_IN: Final = (
    "There is a bot token and no way for events to come in. Set TAPEWAY_SLACK__APP_TOKEN (xapp-...,"
    " Basic Information, App-Level Tokens, scope connections:write) for Socket Mode, or"
    " TAPEWAY_SLACK__SIGNING_SECRET for /slack/events, and start again."
)
NO_BOT: Final = (
    "There is no bot token. Open https://api.slack.com/apps, choose the app, then OAuth &"
    " Permissions; copy the Bot User OAuth Token (xoxb-...) into TAPEWAY_SLACK__BOT_TOKEN (install"
    " the app first where there is none) and start again."
)
NOT_NOW: Final = "The workspace {team} cannot be reached now. It is tried again, beside the others."
JOIN_AFTER: Final = 5.0
LONGEST_JOIN: Final = 300.0
NOBODY_THERE: Final = (
    "The app is installed nowhere: set TAPEWAY_SLACK__BOT_TOKEN, or open /slack/install, and start"
    " again."
)


class SlackChannel(Channel):
    """One app."""

    name: ClassVar[str] = "slack"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {"edit", "typing", "native_stream", "media", "lookup", "backfill", "routes"}
    )
    # What people delete Slack tells; the core has no word for it yet.
    features: ClassVar[frozenset[Feature]] = frozenset(
        {
            "groups",
            "private",
            "threads",
            "names",
            "rules",
            "bursts",
            "bots",
            "strangers",
            "edits",
            "deletions",
            "exclusive",
            "pings",
            "remote",
        }
    )

    def __init__(self, settings: SlackSettings) -> None:
        super().__init__()
        self.settings = settings
        self._by_socket = bool(settings.app_token.get_secret_value())
        place = Budget(1.05)
        self.traits = Traits(
            edit_interval=1.2,
            first_text=0.5,
            max_draft_chars=LIMIT - 500,
            stalled_after=60.0 if self._by_socket else None,
            answers_open_threads=True,
            chat=place,
            group=place,
        )
        self._sessions = ApiSessions(settings)
        self._workspaces = Workspaces()
        self._events = Events(settings, self._workspaces, self._me, self._heard, self._left)
        self._install = Install(settings, self._sessions, self._installed)
        self._presence: ConnectionMonitor | None = None
        self._out: Outbound | None = None
        self._past: History | None = None
        self._statuses: Statuses | None = None
        self._joining: set[str] = set()
        self._running: anyio.CancelScope | None = None
        self._stopped = False
        self._why_unfit = ""
        self._since = datetime.now(UTC)

    # -- running

    async def run(self) -> None:
        """Find out who the app is, then take events until stopped.

        The connections for requests outlive a failure: sends that are under way go on.
        """
        if self._stopped:
            return
        if not (self._by_socket or self.settings.signing_secret.get_secret_value()):
            raise ChannelUnfit(NO_WAY_IN)
        if not self.settings.bot_token.get_secret_value() and self.settings.installations is None:
            raise ChannelUnfit(NO_BOT)
        await self._sessions.open()
        self._begin()
        with anyio.CancelScope() as self._running:
            await self._introduce()
            assert self._presence is not None
            self._events.begin(self.host, self._presence, self._keep)
            await self._work(self._presence)
        if self._why_unfit:
            raise ChannelUnfit(self._why_unfit)

    async def stop(self) -> None:
        """End `run`."""
        self._stopped = True
        if self._running is not None:
            self._running.cancel()

    async def close(self) -> None:
        """Let go of the connections."""
        await self._sessions.close()

    def _begin(self) -> None:
        """Make what needs the host; what was begun before a failure goes on."""
        if self._out is None:
            self._past = History(self.host, self._me)
            self._out = Outbound(self._workspaces, self._past, self._said, self._stop_pressed)
            self._statuses = Statuses(self.host.clock, self.host.start_soon)
            self._since = self.host.clock.now()
        self._presence = ConnectionMonitor(self.host, self.catch_up)

    async def _introduce(self) -> None:
        """Ask who the app is, in each workspace."""
        token = self.settings.bot_token.get_secret_value()
        if token:
            self._workspaces.add(await introduce("", self._api(token), self.host.start_soon))
        if self.settings.installations is not None:
            for one in read_installations(self.settings.installations):
                await self._join(one)
            if not (len(self._workspaces) or self._joining or self._install.possible):
                raise ChannelUnfit(NOBODY_THERE)

    async def _join(self, one: Installed) -> None:
        """Take a workspace of the file; one that cannot be taken holds up no other."""
        if not await self._joined(one) and one.team not in self._joining:
            self._joining.add(one.team)
            self.host.warn(NOT_NOW.format(team=one.name or one.team))
            self.host.start_soon("slack workspace", lambda: self._join_later(one))

    async def _joined(self, one: Installed) -> bool:
        """Tell whether a workspace was taken, or never will be: then nobody need try again."""
        try:
            found = await introduce(one.team, self._api(one.token), self.host.start_soon)
        except ChannelUnfit:
            self.host.warn(NOT_INSTALLED.format(team=one.name or one.team))
        except ChannelError:
            return False
        else:
            self._workspaces.add(found)
        return True

    async def _join_later(self, one: Installed) -> None:
        """Try again and again; then ask for what was said there meanwhile."""
        wait = JOIN_AFTER
        try:
            while not self._stopped:
                await self.host.clock.sleep(wait)
                wait = min(2 * wait, LONGEST_JOIN)
                if await self._joined(one):
                    break
        finally:
            self._joining.discard(one.team)
        if self._presence is not None:
            self._presence.missing()
            self._presence.took()

    async def _installed(self, one: Installed) -> None:
        await self._join(one)

    def _api(self, token: str) -> SlackApi:
        own = token == self.settings.bot_token.get_secret_value()
        unfit = (lambda: self._unfit(UNKNOWN_BOT)) if own else (lambda: None)
        return SlackApi(
            token, self.settings, self._sessions, self.host.clock, self.host.warn, unfit
        )

    async def _work(self, presence: ConnectionMonitor) -> None:
        """Take events, fill gaps, and listen for what must come."""
        unfit: ChannelUnfit | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(presence.fill_gaps)
            if not self._by_socket:
                await presence.connected(1, seamless=False)
                await anyio.sleep_forever()
            app = self._api(self.settings.app_token.get_secret_value())
            came = self._events
            socket = SocketMode(
                app, self._sessions, self.host.clock, came.app, presence, came.keep_unread
            )
            presence.renew, presence.probe = socket.renew, self._sender.probe
            group.start_soon(presence.listen)
            try:
                await socket.run()
            except ChannelUnfit as cause:
                unfit = cause
            group.cancel_scope.cancel()
        if unfit is not None:
            raise unfit

    def _unfit(self, why: str) -> None:
        """End because a token is no good: a restart is no use."""
        self._why_unfit = why
        if self._running is not None:
            self._running.cancel()

    # -- messages in

    def _me(self, workspace: Workspace) -> SlackSelf:
        now = self.host.clock.now
        return SlackSelf(workspace, tuple(self.host.names), self.settings.rules(), now)

    async def _keep(self, messages: Sequence[InboundMessage]) -> None:
        """Put messages on the disk, of a mention's two events one."""
        once = {message.ext_id: message for message in reversed(messages)}
        new = await self.host.accept(list(reversed(once.values())))
        if self._presence is not None:
            self._presence.took()
        for ext_id in new:
            self._sender.is_new(ext_id)

    def _heard(self, workspace: Workspace, event: Mapping[str, Any]) -> None:
        if self._presence is not None:
            self._presence.heard(workspace.account, event)

    def _said(self, workspace: Workspace, chat_id: str, kind: str) -> None:
        if self._by_socket and self._presence is not None:
            self._presence.said(workspace.account, chat_id, kind)

    async def catch_up(self) -> None:
        """Take what was said while the channel was away; of a new app, what was since its start."""
        gaps = self._presence.gaps if self._presence is not None else 0
        marks = await self.host.cursors()
        since = {one.account: self._since for one in self._workspaces.all()}
        async for messages in self.missed(Cursors(since | dict(marks.accounts), marks.chats)):
            await self._keep([replace(message, backlog=True) for message in messages])
        if self._presence is None or self._presence.gaps == gaps:  # else there is a newer one
            self.host.gap_closed(marks)

    async def missed(self, marks: Cursors) -> AsyncIterator[Sequence[InboundMessage]]:
        """Yield what was said in every conversation after its mark.

        A workspace that cannot be asked holds up no other; raises ChannelDown for it at the end.
        """
        assert self._past is not None
        down: ChannelError | None = None
        for team in self._joining:
            self.host.gap_skipped("", team)
        for workspace in self._workspaces.all():
            try:
                async for messages in self._past.missed(workspace, marks):
                    yield messages
            except ChannelUnfit:
                self.host.gap_skipped("", workspace.account)
                self._left(workspace)
            except ChannelError as cause:
                down = cause
        if down is not None:
            raise down

    def _left(self, workspace: Workspace) -> None:
        """Look whether the app may still be in a workspace: somebody says that it may not."""
        self.host.start_soon("slack token", lambda: self._look_after(workspace))

    async def _look_after(self, workspace: Workspace) -> None:
        try:
            await introduce(workspace.account, workspace.api, self.host.start_soon)
        except ChannelUnfit as unfit:
            if not workspace.account:
                self._unfit(str(unfit))
                return
            self._workspaces.remove(workspace.account)
            self.host.warn(NOT_INSTALLED.format(team=workspace.team))
        except ChannelError:
            """The next request tells."""

    def _stop_pressed(self, message: InboundMessage, ts: str) -> None:
        """Take the Stop of a stream for the command: who is answered there pressed it."""
        place = {
            "channel": message.channel,
            "account": message.account,
            "chat_id": message.chat_id,
            "chat_kind": message.chat_kind,
            "chat_title": message.chat_title,
            "thread_id": thread_for(message),
            "date": message.date,
        }
        told = stop_of(place, message.sender, ts)
        self.host.start_soon("slack stop", lambda: self._keep([told]))

    # -- messages out

    @property
    def _sender(self) -> Outbound:
        if self._out is None:
            raise ChannelDown("the channel slack was not started")
        return self._out

    @property
    def invitation(self) -> str:
        """How to bring the app into a channel."""
        lines = [
            f"In Slack ({one.url}) write to @{one.name}, or bring it into a channel:"
            f" /invite @{one.name}"
            for one in self._workspaces.all()
        ]
        return "\n".join(lines)

    def streams(self, message: InboundMessage) -> bool:
        """Tell whether a stream is open for a message: its first text is a message like another."""
        return self._out is not None and self._out.streams.is_open(message)

    def split(self, text: str) -> list[str]:
        """Cut an answer into pieces that Slack takes, also with what breaks mentions in them."""
        return split(text, LIMIT, size)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message, or make its draft it."""
        return await self._sender.deliver(message)

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        """Look for a message by its key."""
        return await self._sender.find(message)

    async def show(self, message: InboundMessage, place: DraftReference, text: str) -> str | None:
        """Show partial text."""
        return await self._sender.show(message, place, text)

    async def remove_draft(self, message: InboundMessage, place: DraftReference) -> None:
        """Take partial text away."""
        if place.platform_id:
            await self._sender.delete(message, place.platform_id)

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        """Show, or stop showing, that an answer is being thought of."""
        assert self._statuses is not None
        workspace = self._workspaces.of(message.account)
        thread = thread_for(message)
        if thread is None and is_direct(message.chat_id):
            thread = message.message_id or None
        self._statuses.show(workspace, thread, message, on=on)

    async def fetch(self, media: Media, most: int) -> bytes:
        """Fetch a file by its id."""
        account, _, file_id = media.file.rpartition("/")
        return await files.fetch(self._workspaces.of(account).api, file_id, most)

    # -- over HTTP

    def routes(self) -> list[Route]:
        """Return the routes for events and for installing the app."""

        async def events(request: Request) -> Response:
            return await self._events.over_http(request)

        return [Route("/slack/events", events, methods=["POST"]), *self._install.routes()]
