"""Posting, editing and deleting, partial text, and what to do where Slack refuses.

Every message of ours carries its key as metadata, by which it is found again. Nothing is unfurled.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from channels.draft import DraftReference
from channels.errors import DraftGone, SendAmbiguous, SendDelayed, SendRefused
from channels.markdown.autoclose import close_open_marks
from channels.message import InboundMessage, OutboundMessage, Receipt
from channels.pacing import Priority
from channels.slack.api import Refused
from channels.slack.format import plain, render, settled, shows
from channels.slack.history import History, HistoryMatch
from channels.slack.streams import ABSENT, OVER, StreamOver, Streams, stop
from channels.slack.threads import metadata, named, thread_for, thread_of
from channels.slack.workspaces import Workspace, Workspaces

NO_THREAD: Final = frozenset(("thread_not_found", "cannot_reply_to_message", "invalid_thread_ts"))
NO_MARKDOWN: Final = frozenset(("no_text", "invalid_arguments", "markdown_text_conflict"))
STREAMS_STILL: Final = frozenset(("streaming_state_conflict",))
MOST: Final = 5_000

Said = Callable[[Workspace, str, str], None]
Stopped = Callable[[InboundMessage, str], None]


class SlackSender:
    """Puts messages into conversations; `said` is told of each, `stopped` of whom wants no more."""

    def __init__(self, workspaces: Workspaces, past: History, said: Said, stopped: Stopped) -> None:
        self._workspaces = workspaces
        self._past = past
        self._said = said
        self._stopped = stopped
        self._sure: OrderedDict[str, None] = OrderedDict()
        self._last: tuple[Workspace, str, str, str, dict[str, Any]] | None = None
        self.streams = Streams()

    def is_new(self, ext_id: str) -> None:
        """Note that nothing was said to a message yet: it has only just come."""
        self._sure[ext_id] = None
        while len(self._sure) > MOST:
            self._sure.popitem(last=False)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message, or put it into the place of its draft; raises ChannelError."""
        workspace = self._workspaces.of(message.account)
        if message.edits:
            return [Receipt(await self._become(workspace, message, message.edits))]
        if self._may_have_begun(message):
            found = await self._find(workspace, message)
            ts = await self._take_over(workspace, message, found)
            if ts is not None:
                return [Receipt(ts)]
        return [Receipt(await self._post(workspace, message))]

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        """Look for a message that may have been sent; what is only its draft is made it."""
        workspace = self._workspaces.of(message.account)
        found = await self._find(workspace, message)
        ts = await self._take_over(workspace, message, found)
        return [Receipt(ts)] if ts is not None else []

    async def show(self, message: InboundMessage, place: DraftReference, text: str) -> str | None:
        """Show partial text: a stream where that works, else a message that is edited."""
        workspace = self._workspaces.of(message.account)
        drawn = settled(text)
        if not shows(drawn):
            return place.platform_id
        ts = place.platform_id
        if ts is None:
            ts = await self._begun(workspace, message, place) if place.again else None
            if ts is None:
                return await self._begin(workspace, message, place, text, drawn)
        if self.streams.is_open(message):
            try:
                if await self.streams.append(message, drawn):
                    return ts
            except StreamOver as over:
                if over.stopped:
                    self._stopped(message, ts)
                    return ts
        await self._redraw(workspace, message, place, ts, text)
        return ts

    async def probe(self) -> bool:
        """Edit the last answer into what it is; tells whether there is one."""
        if self._last is None:
            return False
        await self._edit(*self._last)
        return True

    async def delete(self, message: InboundMessage, ts: str) -> None:
        """Take a message of ours away; one that is gone already is fine."""
        self.streams.forget(message.ext_id)
        workspace = self._workspaces.of(message.account)
        try:
            await workspace.api.call("chat.delete", channel=message.chat_id, ts=ts)
        except (SendRefused, DraftGone):
            """It is gone, or may not be deleted: then it stays."""

    # -- partial text

    async def _begin(
        self,
        workspace: Workspace,
        message: InboundMessage,
        place: DraftReference,
        text: str,
        drawn: str,
    ) -> str | None:
        """Show the first of it."""
        try:
            if self.streams.may(workspace, message):
                if workspace.api.budgets.wait("chat.startStream", Priority.FIRST_TEXT) > 0:
                    return None  # too many answers begin now: this one comes when it is whole
                ts = await self.streams.start(workspace, message, drawn)
                if ts is not None:
                    self._said(workspace, message.chat_id, "stream")
                    return ts
            mark = metadata(place.idem, message.ext_id.rpartition("/")[2], draft=True)
            shown = render(close_open_marks(text))
            return await self._put(workspace, message.chat_id, thread_for(message), shown, mark)
        except SendAmbiguous:
            self._sure.pop(message.ext_id, None)  # it may be there: the answer looks for it
            raise
        except SendDelayed as delayed:
            if workspace.api.budgets.wait("chat.startStream", Priority.FINAL) > 0:
                return None  # streams have a limit of their own: the answer itself may go
            raise delayed

    async def _begun(
        self, workspace: Workspace, message: InboundMessage, place: DraftReference
    ) -> str | None:
        """Return where partial text stands already, of a process that ended before it knew."""
        asked = OutboundMessage(
            message.channel,
            message.chat_id,
            "",
            idem=place.idem,
            account=message.account,
            thread_id=message.thread_id,
            reply_to=message.message_id or None,
            date=message.date,
        )
        found = await self._find(workspace, asked)
        return found.ts if found is not None else None

    async def _redraw(
        self,
        workspace: Workspace,
        message: InboundMessage,
        place: DraftReference,
        ts: str,
        text: str,
    ) -> None:
        """Edit a message to partial text, if answers do not need what may be edited."""
        if workspace.api.budgets.wait("chat.update", Priority.EDIT) > 0:
            return
        mark = metadata(place.idem, message.ext_id.rpartition("/")[2], draft=True)
        shown = render(close_open_marks(text))
        try:
            await self._edit(workspace, message.chat_id, ts, shown, mark, Priority.EDIT)
        except SendDelayed:
            """Edits have a limit of their own: the answer shows the whole."""

    # -- whole messages

    async def _become(self, workspace: Workspace, message: OutboundMessage, ts: str) -> str:
        """Make a draft the message."""
        text, mark = render(message.text), metadata(message.idem, named(message))
        if message.answers and await self.streams.finish(message.answers, ts, text, mark):
            self._said(workspace, message.chat_id, "stream")
        else:
            await self._edit(workspace, message.chat_id, ts, text, mark)
        self._last = (workspace, message.chat_id, ts, text, mark)
        return ts

    async def _take_over(
        self, workspace: Workspace, message: OutboundMessage, found: HistoryMatch | None
    ) -> str | None:
        """Make what was found the message; None where there is nothing, or it stays as it is."""
        if found is None or found.whole:
            return found.ts if found is not None else None
        mark = metadata(message.idem, named(message))
        try:
            await self._edit(workspace, message.chat_id, found.ts, render(message.text), mark)
        except DraftGone:
            return None
        return found.ts

    async def _post(self, workspace: Workspace, message: OutboundMessage) -> str:
        mark = metadata(message.idem, named(message))
        text = render(message.text)
        ts = await self._put(workspace, message.chat_id, thread_of(message), text, mark)
        self._last = (workspace, message.chat_id, ts, text, mark)
        return ts

    async def _put(
        self,
        workspace: Workspace,
        chat_id: str,
        thread: str | None,
        text: str,
        mark: dict[str, Any],
    ) -> str:
        """Post a text, where its thread is gone into the channel; returns its stamp."""
        for _try in range(2):
            try:
                found = await self._write(
                    workspace,
                    "chat.postMessage",
                    text,
                    Priority.FINAL,
                    channel=chat_id,
                    thread_ts=thread,
                    metadata=mark,
                    unfurl_links=False,
                    unfurl_media=False,
                )
            except Refused as refused:
                if thread is None or refused.code not in NO_THREAD:
                    raise
                thread = None
                continue
            self._said(workspace, chat_id, "post")
            return str(found.get("ts") or "")
        raise SendRefused("Slack takes it neither in the thread nor in the channel")

    async def _edit(
        self,
        workspace: Workspace,
        chat_id: str,
        ts: str,
        text: str,
        mark: dict[str, Any],
        priority: Priority = Priority.FINAL,
    ) -> None:
        """Edit a message of ours; a stream is ended first."""
        for still in (True, False):
            try:
                await self._write(
                    workspace,
                    "chat.update",
                    text,
                    priority,
                    channel=chat_id,
                    ts=ts,
                    metadata=mark,
                )
            except Refused as refused:
                if refused.code not in STREAMS_STILL:
                    raise
                if not still:  # for some minutes at most: then the stream is too old
                    raise SendAmbiguous("Slack says that its stream is over and is not") from None
                await self._end_stream(workspace, chat_id, ts)
                continue
            self._said(workspace, chat_id, "edit")
            return

    async def _end_stream(self, workspace: Workspace, chat_id: str, ts: str) -> None:
        try:
            await stop(workspace, chat_id, ts)
        except Refused as refused:
            if refused.code not in OVER | ABSENT:
                raise

    @staticmethod
    async def _write(
        workspace: Workspace, method: str, text: str, priority: Priority, **given: Any
    ) -> Any:
        """Write a text as Markdown, or plainly where that is not known."""
        try:
            return await workspace.api.call(method, priority=priority, markdown_text=text, **given)
        except Refused as refused:
            if refused.code not in NO_MARKDOWN:
                raise
        return await workspace.api.call(method, priority=priority, text=plain(text), **given)

    # -- what may be there already

    def _may_have_begun(self, message: OutboundMessage) -> bool:
        """Tell whether a part of an answer may be there of which nothing is written down.

        A process that ended, or an answer of Slack's that was lost, may have left one.
        """
        first = message.part == 0 and message.piece == 0 and bool(message.turn)
        return first and message.answers is not None and message.answers not in self._sure

    async def _find(self, workspace: Workspace, message: OutboundMessage) -> HistoryMatch | None:
        return await self._past.find(workspace, message, self.streams.under_way(message.chat_id))
