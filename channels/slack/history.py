"""Reads conversations, to fill a gap or to find out whether a message of ours was sent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from channels.errors import ChannelDown, SendAmbiguous, SendDelayed, SendRefused
from channels.host import FullHost
from channels.message import OutboundMessage
from channels.pacing import Priority
from channels.slack.event_fields import Raw, is_own, ts_of
from channels.slack.reorder import stamp_of
from channels.slack.threads import payload_of, question_of, thread_of
from channels.slack.workspaces import Workspace

MESSAGES: Final = "conversations.history"
REPLIES: Final = "conversations.replies"
PRIORITY: Final = Priority.FIRST_TEXT  # leaves a share to the checks whether an answer was sent
PAGE_SIZE: Final = 200
MAX_PAGES: Final = 25
MAX_SEARCHED_PAGES: Final = 5  # pages per outcome check
SEARCH_MARGIN: Final = timedelta(hours=1)
MAX_TRIES: Final = 4  # attempts to read a page while Slack asks to wait

TYPES: Final = ("public_channel", "private_channel", "mpim", "im")


@dataclass(frozen=True, slots=True)
class HistoryMatch:
    """One of our messages that was found; `whole` means that it is the answer, not its draft."""

    ts: str
    whole: bool


class History:
    def __init__(self, host: Callable[[], FullHost]) -> None:
        self._host = host  # the current one: the gap is that of this run

    async def find(
        self, workspace: Workspace, message: OutboundMessage, streams: Collection[str]
    ) -> HistoryMatch | None:
        """Find a message by its key, not before its question; `streams` are still being written.

        A stream that was cut off by a crash has no key. Our first message without a key in the
        question's thread is taken to be that stream.
        """
        thread, question = thread_of(message), question_of(message)
        oldest = question or ts_at(_moment(message.date) - SEARCH_MARGIN)
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
        try:
            return await self._own_since(workspace, chat_id, None, oldest)
        except SendRefused:
            self._host().log_exception("slack.history_refused")
            return []

    async def _own_since(
        self, workspace: Workspace, chat_id: str, thread: str | None, oldest: str
    ) -> list[Raw]:
        given: dict[str, Any] = {"oldest": oldest, "include_all_metadata": "true"}
        given["priority"] = Priority.FINAL  # an answer waits for it
        raws = await self.messages(workspace, chat_id, thread, MAX_SEARCHED_PAGES, **given)
        return [raw for raw in raws if is_own(raw, workspace)]

    async def conversations(self, workspace: Workspace) -> list[Raw]:
        """Return the conversations that the app is in, as far as it may list them, each once.

        In an organization, each has the id of a workspace that it is in as its `team`.
        """
        found: dict[str, Raw] = {}
        for team in await self._teams(workspace):
            for chat in await self._of_team(workspace, team):
                found.setdefault(str(chat.get("id") or ""), {**chat, "team": team or ""})
        found.pop("", None)
        for chat_id, chat in found.items():
            workspace.names.learn(chat_id, str(chat.get("name") or ""))
        return list(found.values())

    async def _teams(self, workspace: Workspace) -> list[str | None]:
        """Return the workspaces of an organization that the app is in, or None in their place."""
        if not workspace.org:
            return [None]
        try:
            teams = await self._pages(workspace, "auth.teams.list", "teams", MAX_PAGES)
        except SendRefused:
            self._host().log_exception("slack.conversations_refused")
            return [None]
        return [str(team["id"]) for team in teams if team.get("id")]

    async def _of_team(self, workspace: Workspace, team: str | None) -> list[Raw]:
        # Slack refuses all types if the scope of one is missing, so each is then listed alone.
        try:
            return await self._listed(workspace, ",".join(TYPES), team)
        except SendRefused:
            self._host().gap_skipped("", workspace.account)
        found: list[Raw] = []
        for each in TYPES:
            try:
                found += await self._listed(workspace, each, team)
            except SendRefused:
                self._host().log_exception("slack.conversations_refused")
        return found

    async def _listed(self, workspace: Workspace, types: str, team: str | None) -> list[Raw]:
        given: dict[str, Any] = {"types": types, "exclude_archived": "true", "team_id": team}
        return await self._pages(workspace, "users.conversations", "channels", MAX_PAGES, **given)

    async def messages(
        self, workspace: Workspace, chat_id: str, thread: str | None, max_pages: int, **given: Any
    ) -> list[Raw]:
        """Return a thread's messages, or a conversation's messages outside threads, in order."""
        method = MESSAGES if thread is None else REPLIES
        given |= {"channel": chat_id, "ts": thread}
        found = await self._pages(workspace, method, "messages", max_pages, **given)
        return sorted((raw for raw in found if ts_of(raw)), key=lambda raw: stamp_of(raw["ts"]))

    async def allows(self, workspace: Workspace, method: str) -> bool:
        """Return whether Slack's limits allow to read without a wait."""
        return await workspace.api.limits.allows(method, PRIORITY)

    async def _pages(
        self, workspace: Workspace, method: str, name: str, max_pages: int, **given: Any
    ) -> list[Raw]:
        found: list[Raw] = []
        cursor = ""
        for _page in range(max_pages):
            given |= {"cursor": cursor or None, "limit": PAGE_SIZE}
            answer = await self._ask(workspace, method, **given)
            found += [one for one in answer.get(name) or () if isinstance(one, Mapping)]
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                break
        return found

    async def _ask(self, workspace: Workspace, method: str, **given: Any) -> Raw:
        for _try in range(MAX_TRIES):
            try:
                return await workspace.api.call(method, **{"priority": PRIORITY, **given})
            except SendDelayed as delayed:
                await self._host().clock.sleep(delayed.retry_after)
            except SendAmbiguous as lost:
                raise ChannelDown(str(lost)) from lost
        raise ChannelDown("Slack keeps asking to wait")


def _moment(date: str) -> datetime:
    try:
        return datetime.fromisoformat(date.replace("Z", "+00:00"))
    except ValueError:
        return datetime.now(UTC) - timedelta(days=1)


def ts_at(moment: datetime) -> str:
    """Return a time as Slack writes it."""
    return f"{max(moment.timestamp(), 0):.6f}"
