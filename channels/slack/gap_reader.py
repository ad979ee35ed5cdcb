"""Reads what was missed in all conversations, by turns.

Slack limits how often histories are read, so a large gap takes minutes, and another process may
have to go on. So it is stored how far each conversation was read, and those that were read the
longest ago come first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from channels.errors import ChannelDown, SendRefused
from channels.host import ChatReading, Cursors, FullHost
from channels.message import InboundMessage
from channels.slack.api import Refused
from channels.slack.event_fields import TS, Raw, SlackSelf
from channels.slack.history import MAX_PAGES, MESSAGES, REPLIES, History, ts_at
from channels.slack.inbound import edit_of, of_event
from channels.slack.reorder import stamp_of
from channels.slack.workspaces import Workspace

MAX_THREADS: Final = 50
MAX_ANSWERED: Final = 20  # the newest answers that may have got a first reply
THREAD_AGE: Final = timedelta(days=3)
"""Threads that were active this long before the cursor are read as well."""

RETRY_SECONDS: Final = (1.0, 3.0)  # seconds before a conversation is read again
MAX_FAILED: Final = 3
"""How many conversations in a row may be unreadable before Slack counts as unreachable."""

TURN_SECONDS: Final = 2.0
"""How long a conversation is read while others wait; its messages are then accepted."""

_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
TOP_LEVEL: Final = "0"  # as the last thread that was read: only messages outside threads were


@dataclass(slots=True, eq=False)
class _Conversation:
    """A conversation that is read since a cursor; `threads` are yet to be read.

    `is_resumed` means that an earlier process began to, so that it is read once more in the end;
    `reached` is what that process had read up to.
    """

    id: str
    kind: str
    cursor: datetime
    team: str = ""  # the workspace that it is in, in an organization
    is_resumed: bool = False
    reached: datetime = _LONG_AGO
    began: datetime | None = None
    thread: str = TOP_LEVEL  # the last one that was read
    threads: deque[str] | None = None
    raws: list[Raw] = field(default_factory=list)

    @property
    def position(self) -> str:
        """The last thread that was read, or "" if nothing is left to read."""
        return self.thread if self.threads is None or self.threads else ""


class GapReader:
    """Reads what was missed; `identity` returns the app's identity in a workspace."""

    def __init__(
        self,
        history: History,
        host: Callable[[], FullHost],
        identity: Callable[[Workspace], SlackSelf],
    ) -> None:
        self._history = history
        self._host = host  # the current one: the gap is that of this run
        self._identity = identity

    async def missed(
        self, workspace: Workspace, cursors: Cursors
    ) -> AsyncIterator[list[InboundMessage]]:
        """Yield the new messages of one conversation after the other, at times none.

        A conversation with much to read has several turns. Raises ChannelDown if several
        conversations in a row are unreadable.
        """
        host = self._host()
        waiting = deque(await self._conversations(workspace, cursors))
        read, failed, kept_at = 0, 0, host.clock.monotonic()
        down: ChannelDown | None = None
        readings: dict[tuple[str, str], ChatReading] = {}
        while waiting:
            one = waiting.popleft()
            problem = await self._read_or_skip(workspace, one)
            yield self._found(workspace, one)
            if one.began is not None:
                readings[workspace.account, one.id] = ChatReading(one.began, one.position)
            if isinstance(problem, ChannelDown):
                failed, down = failed + 1, problem
            elif problem is None:
                read, failed = read + 1, 0
                waiting.extend(_rest(one, cursors.overlap))
            late = host.clock.monotonic() - kept_at >= TURN_SECONDS
            if (
                late
                or failed
                or one.position
                or not await self._history.allows(workspace, MESSAGES)
            ):
                await host.keep_readings(readings)
                readings, kept_at = {}, host.clock.monotonic()
            if down is not None and failed >= MAX_FAILED:
                raise down
        if down is not None and not read:
            raise down

    async def _conversations(self, workspace: Workspace, cursors: Cursors) -> list[_Conversation]:
        """Return the conversations that may lack messages, in the order of their turns."""
        found: list[tuple[datetime, _Conversation]] = []
        for chat in await self._history.conversations(workspace):
            chat_id = str(chat["id"])
            cursor = cursors.of(chat_id, workspace.account)
            if cursor is None:
                continue
            kind = "im" if chat.get("is_im") else "channel"
            one = _Conversation(chat_id, kind, cursor, str(chat.get("team") or ""))
            known, reached = cursors.readings.get((workspace.account, chat_id)), cursor
            if known is not None:
                one.is_resumed, one.began, one.thread = True, known.began, known.thread
                one.reached = reached = max(cursor, known.began - cursors.overlap)
            found.append((reached, one))
        return [one for _reached, one in sorted(found, key=lambda item: item[0])]

    async def _read_or_skip(
        self, workspace: Workspace, one: _Conversation
    ) -> SendRefused | ChannelDown | None:
        host = self._host()
        try:
            await self._read_with_retries(workspace, one)
        except SendRefused as refused:
            host.log_exception("slack.history_refused")
            host.gap_skipped(one.id, workspace.account)
            return refused
        except ChannelDown as down:
            host.log_exception("slack.history_failed")
            host.gap_skipped(one.id, workspace.account)
            return down
        return None

    async def _read_with_retries(self, workspace: Workspace, one: _Conversation) -> None:
        for wait in RETRY_SECONDS:
            try:
                await self._read_on(workspace, one)
            except ChannelDown:
                await self._host().clock.sleep(wait)
            else:
                return
        await self._read_on(workspace, one)

    async def _read_on(self, workspace: Workspace, one: _Conversation) -> None:
        clock = self._host().clock
        ends, waits = clock.monotonic() + TURN_SECONDS, one.threads is not None
        if one.threads is None:
            one.threads = await self._begin(workspace, one)
        while one.threads and clock.monotonic() < ends:
            # What was found is not held back by Slack's limits, nor are other conversations.
            if not (waits or await self._history.allows(workspace, REPLIES)):
                break
            waits = False
            try:
                one.raws += await self._messages(workspace, one, one.threads[0])
            except Refused as refused:
                if not is_gone(refused):
                    raise
            one.thread = one.threads.popleft()

    async def _begin(self, workspace: Workspace, one: _Conversation) -> deque[str]:
        """Read the messages outside threads; return the threads to read, oldest first."""
        host = self._host()
        one.began = one.began or host.clock.now()
        raws = await self._messages(workspace, one, None)
        since = one.cursor - THREAD_AGE
        known = await host.threads(one.id, since, workspace.account)
        threads = set(sorted(set(known), key=stamp_of)[-MAX_THREADS:])
        if one.kind != "im":  # in a channel, an answer begins a thread, which may be empty
            answered = await host.answered(one.id, since, workspace.account)
            new = sorted({ts for ts in answered if TS.fullmatch(ts)} - threads, key=stamp_of)
            threads.update(new[-MAX_ANSWERED:])
        for raw in raws:
            threads.discard(raw["ts"])
            if _may_have_replies(raw, workspace):
                threads.add(str(raw["ts"]))
        one.raws = raws
        last, reached = stamp_of(one.thread), stamp_of(ts_at(one.reached))
        # A thread that an earlier process has read may have got replies since.
        again = {str(raw["ts"]) for raw in raws if stamp_of(raw.get("latest_reply", "")) > reached}
        left = (ts for ts in threads if stamp_of(ts) > last or ts in again)
        return deque(sorted(left, key=stamp_of))

    async def _messages(
        self, workspace: Workspace, one: _Conversation, thread: str | None
    ) -> list[Raw]:
        oldest = ts_at(one.cursor)
        return await self._history.messages(workspace, one.id, thread, MAX_PAGES, oldest=oldest)

    def _found(self, workspace: Workspace, one: _Conversation) -> list[InboundMessage]:
        """Return the messages that were read in a turn, in their order."""
        in_team = replace(workspace, team=one.team) if one.team else workspace
        me, after = self._identity(in_team), stamp_of(ts_at(one.cursor))
        once = {str(raw["ts"]): raw for raw in one.raws if stamp_of(raw["ts"]) > after}
        one.raws = []
        found: list[InboundMessage] = []
        for _ts_of, raw in sorted(once.items(), key=lambda item: stamp_of(item[0])):
            event = {**raw, "type": "message", "channel": one.id, "channel_type": one.kind}
            try:
                read = [of_event(event, me), edit_of(event, me)]
            except Exception:
                self._host().log_exception("slack.message_unreadable")
                continue
            found += [message for message in read if message is not None]
        return found


def is_gone(refused: Refused) -> bool:
    """Return whether a refusal to read a thread means that there is none any more."""
    return refused.row.send == "unreplied" or refused.row.edit == "gone"


def _rest(one: _Conversation, overlap: timedelta) -> list[_Conversation]:
    """Return what is to be read of a conversation after its turn; one that was resumed twice."""
    if one.position:
        return [one]
    if one.began is None or not one.is_resumed:
        return []
    return [_Conversation(one.id, one.kind, max(one.cursor, one.began - overlap), one.team)]


def _may_have_replies(raw: Raw, workspace: Workspace) -> bool:
    """Return whether anybody but the app may have replied to a message."""
    users = raw.get("reply_users")
    if isinstance(users, list) and users and raw.get("reply_users_count") == len(users):
        return not {workspace.user, workspace.bot}.issuperset(users)
    return bool(raw.get("reply_count") or raw.get("thread_ts") == raw["ts"])
