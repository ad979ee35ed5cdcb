"""What was said before: what people said meanwhile, and what the app may have said already."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from channels.errors import ChannelDown, SendAmbiguous, SendDelayed, SendRefused
from channels.host import Cursors, FullHost
from channels.message import InboundMessage, OutboundMessage
from channels.pacing import Priority
from channels.slack.inbound import SlackSelf, edit_of, is_own, of_event, ts_of
from channels.slack.reorder import stamp_of
from channels.slack.threads import payload_of, question_of, thread_of
from channels.slack.workspaces import Workspace

Raw = Mapping[str, Any]

PAGE: Final = 200
MOST_PAGES: Final = 25
SEARCHED_PAGES: Final = 5
MOST_THREADS: Final = 50
THREADS_OF: Final = timedelta(days=3)
"""Threads in which something was said so long before a channel's mark are asked for, too."""

BEFORE: Final = timedelta(hours=1)
TRIES: Final = 4
WAITS: Final = (1.0, 3.0)
"""How long is waited before a conversation that could not be read is asked for again."""

MOST_FAILED: Final = 3
"""So many conversations in a row that cannot be read: it is Slack that cannot be reached."""

TYPES: Final = ("public_channel", "private_channel", "mpim", "im")


@dataclass(frozen=True, slots=True)
class HistoryMatch:
    """A message of ours that is there; `whole`: it is the answer, and no part of it."""

    ts: str
    whole: bool


class History:
    """Asks for what was said; `me_of` tells who the app is in a workspace."""

    def __init__(self, host: FullHost, me_of: Callable[[Workspace], SlackSelf]) -> None:
        self._host = host
        self._me_of = me_of

    async def missed(
        self, workspace: Workspace, marks: Cursors
    ) -> AsyncIterator[list[InboundMessage]]:
        """Yield what was said in each conversation of a workspace after its mark.

        One that cannot be read now is left out; raises ChannelDown where several in a row cannot,
        or none at all.
        """
        read, failed, cause = 0, 0, None
        for chat in await self._conversations(workspace):
            mark = marks.of(str(chat["id"]), workspace.account)
            if mark is None:
                continue
            found: list[InboundMessage] = []
            try:
                found = await self._patiently(workspace, chat, mark)
                read, failed = read + 1, 0
            except SendRefused:
                self._host.log_exception("slack.history_refused")
                self._host.gap_skipped(str(chat["id"]), workspace.account)
            except ChannelDown as down:
                failed, cause = failed + 1, down
                if failed >= MOST_FAILED:
                    raise
                self._host.log_exception("slack.history_failed")
                self._host.gap_skipped(str(chat["id"]), workspace.account)
            if found:
                yield found
        if cause is not None and not read:
            raise cause

    async def _patiently(
        self, workspace: Workspace, chat: Raw, mark: datetime
    ) -> list[InboundMessage]:
        """Return what was said in a conversation, after a few tries."""
        for wait in WAITS:
            try:
                return await self._said_since(workspace, chat, mark)
            except ChannelDown:
                await self._host.clock.sleep(wait)
        return await self._said_since(workspace, chat, mark)

    async def find(
        self, workspace: Workspace, message: OutboundMessage, streams: Collection[str]
    ) -> HistoryMatch | None:
        """Look for a message by its key, from its question on; `streams` are under way elsewhere.

        A stream that a crash left behind has no key yet: one of ours without any, in the thread of
        the question and after it, is that.
        """
        thread, question = thread_of(message), question_of(message)
        oldest = question or _ts(_moment(message.date) - BEFORE)
        try:
            raws = await self._own_since(workspace, message.chat_id, thread, oldest)
        except SendRefused:
            raws = await self._own_in_channel(workspace, message.chat_id, oldest)
            thread = None
        bare: HistoryMatch | None = None
        for raw in raws:
            payload = payload_of(raw)
            if payload is not None and payload.get("key") == message.idem:
                return HistoryMatch(str(raw["ts"]), not payload.get("draft"))
            if payload is None and raw["ts"] not in streams and raw["ts"] != thread:
                bare = bare or HistoryMatch(str(raw["ts"]), whole=False)
        first = message.part == 0 and message.piece == 0
        return bare if thread is not None and question is not None and first else None

    async def _own_in_channel(self, workspace: Workspace, chat_id: str, oldest: str) -> list[Raw]:
        """Return the app's own messages outside threads; none where it may not look for them."""
        try:
            return await self._own_since(workspace, chat_id, None, oldest)
        except SendRefused:
            self._host.log_exception("slack.history_refused")
            return []

    async def _own_since(
        self, workspace: Workspace, chat_id: str, thread: str | None, oldest: str
    ) -> list[Raw]:
        """Return the app's own messages, the oldest first."""
        given: dict[str, Any] = {"oldest": oldest, "include_all_metadata": "true"}
        if thread is None:
            raws = await self._history(workspace, chat_id, SEARCHED_PAGES, **given)
        else:
            raws = await self._replies(workspace, chat_id, thread, SEARCHED_PAGES, **given)
        return [raw for raw in raws if is_own(raw, workspace)]

    async def _conversations(self, workspace: Workspace) -> list[Raw]:
        """Return where the app is; of the types that it may ask for where it may not for all."""
        try:
            found = await self._listed(workspace, ",".join(TYPES))
        except SendRefused:
            self._host.gap_skipped("", workspace.account)
            found = []
            for each in TYPES:
                try:
                    found += await self._listed(workspace, each)
                except SendRefused:
                    self._host.log_exception("slack.conversations_refused")
        for chat in found:
            workspace.names.learn(str(chat.get("id") or ""), str(chat.get("name") or ""))
        return [chat for chat in found if chat.get("id")]

    async def _listed(self, workspace: Workspace, types: str) -> list[Raw]:
        return await self._pages(
            workspace,
            "users.conversations",
            "channels",
            MOST_PAGES,
            types=types,
            exclude_archived="true",
        )

    async def _said_since(
        self, workspace: Workspace, chat: Raw, mark: datetime
    ) -> list[InboundMessage]:
        """Return what was said in a conversation and its threads, in order."""
        chat_id, oldest = str(chat["id"]), _ts(mark)
        raws = await self._history(workspace, chat_id, MOST_PAGES, oldest=oldest)
        threads = {
            str(raw["ts"]): None
            for raw in raws
            if raw.get("reply_count") or raw.get("thread_ts") == raw["ts"]
        }
        known = await self._host.threads(chat_id, mark - THREADS_OF, workspace.account)
        threads |= dict.fromkeys(sorted(known, key=stamp_of, reverse=True)[:MOST_THREADS])
        for thread in threads:
            try:
                raws += await self._replies(workspace, chat_id, thread, MOST_PAGES, oldest=oldest)
            except SendRefused:
                """A thread that is gone holds up no other."""
        kind = "im" if chat.get("is_im") else "channel"
        after = stamp_of(oldest)
        return self._read(workspace, chat_id, kind, [r for r in raws if stamp_of(r["ts"]) > after])

    def _read(
        self, workspace: Workspace, chat_id: str, kind: str, raws: Sequence[Raw]
    ) -> list[InboundMessage]:
        me = self._me_of(workspace)
        found: list[InboundMessage] = []
        once = {str(raw["ts"]): raw for raw in raws}
        for _ts_of, raw in sorted(once.items(), key=lambda item: stamp_of(item[0])):
            event = {**raw, "type": "message", "channel": chat_id, "channel_type": kind}
            try:
                read = [of_event(event, me), edit_of(event, me)]
            except Exception:
                self._host.log_exception("slack.message_unreadable")
                continue
            found += [message for message in read if message is not None]
        return found

    async def _history(
        self, workspace: Workspace, chat_id: str, pages: int, **given: Any
    ) -> list[Raw]:
        found = await self._pages(
            workspace, "conversations.history", "messages", pages, channel=chat_id, **given
        )
        return sorted((raw for raw in found if ts_of(raw)), key=lambda raw: stamp_of(raw["ts"]))

    async def _replies(
        self, workspace: Workspace, chat_id: str, thread: str, pages: int, **given: Any
    ) -> list[Raw]:
        found = await self._pages(
            workspace,
            "conversations.replies",
            "messages",
            pages,
            channel=chat_id,
            ts=thread,
            **given,
        )
        return sorted((raw for raw in found if ts_of(raw)), key=lambda raw: stamp_of(raw["ts"]))

    async def _pages(
        self, workspace: Workspace, method: str, name: str, most: int, **given: Any
    ) -> list[Raw]:
        """Return what is on all pages of an answer."""
        found: list[Raw] = []
        cursor = ""
        for _page in range(most):
            answer = await self._ask(workspace, method, cursor=cursor or None, limit=PAGE, **given)
            held = answer.get(name)
            found += [one for one in held or () if isinstance(one, Mapping)]
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                break
        return found

    async def _ask(self, workspace: Workspace, method: str, **given: Any) -> Raw:
        """Ask for a page, after the wait that Slack asks for."""
        for _try in range(TRIES):
            try:
                return await workspace.api.call(method, priority=Priority.FIRST_TEXT, **given)
            except SendDelayed as delayed:
                await self._host.clock.sleep(delayed.retry_after)
            except SendAmbiguous as lost:
                raise ChannelDown(str(lost)) from lost
        raise ChannelDown("Slack asks to wait, again and again")


def _moment(date: str) -> datetime:
    try:
        return datetime.fromisoformat(date.replace("Z", "+00:00"))
    except ValueError:
        return datetime.now(UTC) - timedelta(days=1)


def _ts(moment: datetime) -> str:
    """Return a moment as a stamp."""
    return f"{max(moment.timestamp(), 0):.6f}"
