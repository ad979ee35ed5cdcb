"""The Slack channel: receives events and sends messages, in one workspace or several."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Final

import anyio
from starlette.routing import Route

from channels.base import Channel
from channels.capabilities import Capability
from channels.draft import DraftReference
from channels.errors import ChannelError, ChannelUnfit
from channels.host import Cursors
from channels.markdown.split import split
from channels.message import InboundMessage, Media, MessageLink, OutboundMessage, Receipt
from channels.pacing import Budget
from channels.slack import files
from channels.slack.api import ApiSessions
from channels.slack.api_methods import COMMAND
from channels.slack.assistant_status import Statuses
from channels.slack.chat_changes import LOCATION, stop_of
from channels.slack.completer import Completer, without_twins
from channels.slack.connection_monitor import SENT, ConnectionMonitor
from channels.slack.event_fields import SlackSelf
from channels.slack.events import EventGate, HttpConnection
from channels.slack.format import LIMIT, size
from channels.slack.gap_reader import GapReader
from channels.slack.history import History
from channels.slack.inbound import COMMANDS, named_later
from channels.slack.installations import FACT, Installations
from channels.slack.oauth import Install
from channels.slack.outbound import SlackSender
from channels.slack.permalink import write_link
from channels.slack.receiver import EventReceiver
from channels.slack.settings import SlackSettings
from channels.slack.socket_mode import SocketMode
from channels.slack.streams import Streams
from channels.slack.threads import is_direct, thread_for
from channels.slack.token_check import check_tokens
from channels.slack.workspaces import Workspace, Workspaces, administers
from channels.traits import Traits

REPORT_SECONDS: Final = 10.0
"""How often a process that does not listen reports that it has sent something."""

NO_WORKSPACE: Final = (
    "The Slack app is not installed in any workspace. Set TAPEWAY_SLACK__BOT_TOKEN, or open"
    " /slack/install, and start again."
)


class SlackChannel(Channel):
    name: ClassVar[str] = "slack"
    joins: ClassVar[str] = "channel"
    server_word: ClassVar[str] = "workspace"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {
            "edit",
            "typing",
            "native_stream",
            "media",
            "lookup",
            "backfill",
            "routes",
            "buttons",
            "admins",
            "commands",
        }
    )

    def __init__(self, settings: SlackSettings) -> None:
        super().__init__()
        self.settings = settings
        self._by_socket = bool(settings.app_token.get_secret_value())
        budget = Budget(1.05)
        self.traits = Traits(
            edit_interval=1.2,
            first_text=0.5,
            max_draft_chars=LIMIT - 500,
            stalled_after=60.0 if self._by_socket else None,
            answers_open_threads=True,
            chat=budget,
            group=budget,
        )
        self._sessions = ApiSessions(settings, self.tally)
        self.workspaces = Workspaces(self._is_joining)
        self.open_streams = Streams()
        self._gate = EventGate(settings)
        self._install = Install(settings, self._sessions, lambda one: self._installations.add(one))
        self._monitor: ConnectionMonitor | None = None
        self._running: anyio.CancelScope | None = None
        self._is_stopped = self._listens = False
        self._reports_at = 0.0
        self._why_unfit = ""

    # Created at the first start and then kept: sends in progress survive a lost connection.

    @cached_property
    def _installations(self) -> Installations:
        return Installations(self.settings, self._sessions, self.workspaces, self.host, self)

    @cached_property
    def _history(self) -> History:
        return History(lambda: self.host)

    @cached_property
    def _completer(self) -> Completer:
        return Completer(self.workspaces, self._history, self.identity, lambda: self.host.clock)

    @cached_property
    def _gap_reader(self) -> GapReader:
        return GapReader(self._history, lambda: self.host, self.identity)

    @cached_property
    def _sender(self) -> SlackSender:
        return SlackSender(self.workspaces, self._history, self.open_streams, self)

    @cached_property
    def _statuses(self) -> Statuses:
        return Statuses(self.host.clock, self.host.start_soon)

    async def introduce(self) -> None:
        if self._is_stopped:
            return
        check_tokens(self.settings)
        await self._sessions.open()
        installations = self._installations
        with anyio.CancelScope() as self._running:
            await installations.join_all()
            if not (self.workspaces.all() or installations.joining or self._install.is_possible):
                raise ChannelUnfit(NO_WORKSPACE)
            if not self._by_socket:  # Slack sends events to every process that serves the route
                self._receive(HttpConnection()).gaps.pass_on()
        self._check_fit()

    async def run(self) -> None:
        if self._is_stopped:
            return
        connection = self._connection()
        monitor = self._receive(connection)
        self._listens = True
        try:
            with anyio.CancelScope() as self._running:
                await _run_both(connection, monitor)
        finally:
            self._listens = False
        self._check_fit()

    async def stop(self) -> None:
        self._is_stopped = True
        if self._running is not None:
            self._installations.stop()
            self._running.cancel()

    async def close(self) -> None:
        await self._sessions.close()

    def _receive(self, connection: SocketMode | HttpConnection) -> ConnectionMonitor:
        """Take events from now on, as those of this connection."""
        monitor = self._monitor = ConnectionMonitor(self.host, connection, self)
        hold = self.settings.reorder_seconds
        self._gate.open(EventReceiver(self.host, self.workspaces, monitor, self, hold))
        return monitor

    def _check_fit(self) -> None:
        if self._why_unfit:
            raise ChannelUnfit(self._why_unfit)

    def _connection(self) -> SocketMode | HttpConnection:
        if not self._by_socket:
            return HttpConnection()
        api = self._installations.api(self.settings.app_token.get_secret_value())
        return SocketMode(api, self._sessions, self.host.clock, self._gate)

    def joined_late(self) -> None:
        if self._monitor is not None:
            self._monitor.gaps.missed()
            self._monitor.state.accepted()

    def token_revoked(self, why: str) -> None:
        self._why_unfit = why
        if not self._listens:
            self.host.down(why)
        if self._running is not None:
            self._running.cancel()

    def access_lost(self, workspace: Workspace) -> None:
        self._installations.check(workspace)

    def _is_joining(self, account: str) -> bool:
        return account in self._installations.joining or (
            self.host.facts.get(FACT + account) is not None
        )

    def identity(self, workspace: Workspace) -> SlackSelf:
        now = self.host.clock.now
        return SlackSelf(workspace, tuple(self.host.names), self.settings.rules(), now)

    async def accept(self, messages: Sequence[InboundMessage]) -> None:
        # Names that were looked up while the messages were held back are known now.
        names = {one.account: one.names for one in self.workspaces.all()}
        new = await self.host.accept(
            [
                named_later(one, names[one.account]) if one.account in names else one
                for one in without_twins(messages)
            ]
        )
        if self._monitor is not None:
            self._monitor.state.accepted()
        for ext_id in new:
            self._sender.is_new(ext_id)

    async def read_missed(self) -> Cursors:
        cursors = await self.host.cursors()
        since = {one.account: self._installations.started_at for one in self.workspaces.all()}
        since |= dict(cursors.accounts)
        async for messages in self.missed(replace(cursors, accounts=since)):
            await self.accept([replace(message, backlog=True) for message in messages])
        return cursors

    async def missed(self, cursors: Cursors) -> AsyncIterator[Sequence[InboundMessage]]:
        """Read all workspaces by turns; at the end, raise ChannelDown if one could not be read."""
        down: ChannelError | None = None
        for team in self._installations.joining:
            self.host.gap_skipped("", team)
        sources = deque(
            (one, self._gap_reader.missed(one, cursors)) for one in self.workspaces.all()
        )
        while sources:
            workspace, source = sources.popleft()
            try:
                messages = await anext(source, None)
            except ChannelUnfit:
                self.host.gap_skipped("", workspace.account)
                self.access_lost(workspace)
            except ChannelError as cause:
                down = cause
            else:
                if messages:
                    yield messages
                if messages is not None:
                    sources.append((workspace, source))
        if down is not None:
            raise down

    async def probe(self) -> bool:
        return await self._sender.probe()

    def sent(self, workspace: Workspace, chat_id: str, kind: str) -> None:
        if not self._by_socket:
            return
        if self._monitor is not None:
            self._monitor.sent(workspace.account, chat_id, kind)
        now = self.host.clock.monotonic()
        if not self._listens and self.host.facts.shared and now >= self._reports_at:
            self._reports_at = now + REPORT_SECONDS
            at = self.host.clock.now().isoformat()
            sent = {"account": workspace.account, "chat": chat_id, "kind": kind, "at": at}
            self.host.facts.put({SENT: sent}, REPORT_SECONDS)

    async def may_have_begun(self, key: str) -> bool:
        return await self.host.may_have_begun(key)

    async def last_sent(self) -> tuple[OutboundMessage, str] | None:
        return await self.host.last_sent()

    def stop_pressed(self, message: InboundMessage, ts: str) -> None:
        location = {name: getattr(message, name) for name in LOCATION}
        location["thread_id"] = thread_for(message)
        command = stop_of(location, message.sender, ts)
        self.host.start_soon("slack stop", lambda: self.accept([command]))

    @property
    def invitation(self) -> str:
        lines = [
            f"In Slack ({one.url}), write to @{one.name}, or add it to a channel:"
            f" /invite @{one.name}"
            for one in self.workspaces.all()
        ]
        return "\n".join(lines)

    @property
    def bot_id(self) -> str:
        own = (one for one in self.workspaces.all() if not one.account)
        return next((f"{one.team}/{one.user}" for one in own), "")

    def take_over(self, former: Channel) -> None:
        super().take_over(former)
        if isinstance(former, SlackChannel):
            former._statuses.end_all()

    def pairing_hint(self, code: str) -> str:
        names = " or ".join(f"@{one.name} ({one.url})" for one in self.workspaces.all())
        return f"Write `pair {code}` to {names or 'the app'} in a direct message."

    def command_hint(self, name: str, place: InboundMessage | None = None) -> str:
        if place is not None and place.thread_id:  # Slack's own commands do not work in threads
            return f",{name}"
        word, blank, rest = name.partition(" ")
        native = next((one for one, line in COMMANDS.items() if line == f",{word}"), "")
        return f"{COMMAND} {native}{blank}{rest}" if native else f",{name}"

    async def private_chat(self, person_id: str, account: str = "") -> str:
        found = await self.workspaces.of(account).api.call("conversations.open", users=person_id)
        chat = (found.get("channel") or {}).get("id")
        return str(chat) if chat else await super().private_chat(person_id, account)

    def administered_as(self, message: InboundMessage) -> str:
        return message.server_id or message.chat_id

    async def administers(self, message: InboundMessage) -> bool:
        if message.chat_kind == "private" or message.sender.acts_as != "person":
            return False
        workspace = self.workspaces.of(message.account)
        found = await workspace.api.call("users.info", user=message.sender.id)
        team = message.server_id if workspace.org else workspace.team
        return administers(found.get("user") or {}, team, workspace.org)

    async def answer_press(self, press: InboundMessage, text: str) -> None:
        if text:  # the press itself was acknowledged when it was stored
            await self._sender.show_to(press, text)

    def streams(self, message: InboundMessage) -> bool:
        # The first partial text is an ordinary message, which needs a send permit.
        return self.open_streams.is_open(message)

    def link_to(self, place: MessageLink) -> str:
        urls = [one.url for one in self.workspaces.all() if one.account == place.account]
        return write_link(place.message_id, place.chat_id, urls[0]) if urls and urls[0] else ""

    def split(self, text: str) -> list[str]:
        return split(text, LIMIT, size)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        return await self._sender.deliver(message)

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        return await self._sender.find(message)

    async def show(
        self, message: InboundMessage, reference: DraftReference, text: str
    ) -> str | None:
        return await self._sender.show(message, reference, text)

    async def remove_draft(self, message: InboundMessage, reference: DraftReference) -> None:
        if reference.platform_id:
            await self._sender.delete(message, reference.platform_id)

    async def show_typing(self, message: InboundMessage, on: bool) -> None:
        workspace = self.workspaces.of(message.account)
        thread = thread_for(message)
        if thread is None and is_direct(message.chat_id):
            thread = message.message_id or None
        self._statuses.show(workspace, thread, message, on=on)

    async def complete(self, message: InboundMessage) -> InboundMessage:
        return await self._completer.complete(message)

    async def fetch(self, media: Media, most: int) -> bytes:
        account, _, file_id = media.file.rpartition("/")
        return await files.fetch(self.workspaces.of(account).api, file_id, most)

    def routes(self) -> list[Route]:
        events = Route("/slack/events", self._gate.take_request, methods=["POST"])
        return [events, *self._install.routes()]


async def _run_both(connection: SocketMode | HttpConnection, monitor: ConnectionMonitor) -> None:
    unfit: ChannelUnfit | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(monitor.run)
        group.start_soon(monitor.hear_of_sends)
        try:
            await connection.run(monitor, group)
        except ChannelUnfit as cause:  # raised below on its own, not in an exception group
            unfit = cause
        group.cancel_scope.cancel()
    if unfit is not None:
        raise unfit
