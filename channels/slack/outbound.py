"""Post, edit and delete messages, show partial text, and handle refusals.

Every message carries its key as metadata, by which it is found again. Links are not unfurled.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from typing import Any, Final, Protocol

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
STILL_STREAMING: Final = frozenset(("streaming_state_conflict",))
MAX_NEW: Final = 5_000


class SenderSink(Protocol):
    """Learns what the sender does; implemented by the channel."""

    def sent(self, workspace: Workspace, chat_id: str, kind: str) -> None:
        """Expect the event of a message; `kind` is `post`, `edit` or `stream`."""
        ...

    def stop_pressed(self, message: InboundMessage, ts: str) -> None:
        """Stop the answer to a message: its author pressed Stop at the stream `ts`."""
        ...


class SlackSender:
    """Writes into conversations."""

    def __init__(
        self, workspaces: Workspaces, history: History, streams: Streams, sink: SenderSink
    ) -> None:
        self._workspaces = workspaces
        self._history = history
        self._streams = streams
        self._sink = sink
        # Questions that arrived in this process, so that no earlier attempt can have answered them.
        self._new: OrderedDict[str, None] = OrderedDict()
        self._last: tuple[Workspace, str, str, str, dict[str, Any]] | None = None

    def is_new(self, ext_id: str) -> None:
        """Record that a message has just arrived, so that nothing can have answered it yet."""
        self._new[ext_id] = None
        while len(self._new) > MAX_NEW:
            self._new.popitem(last=False)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message, or turn its draft into it; raises ChannelError."""
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
        """Find a message that may have been sent; a draft of it that is found becomes it."""
        workspace = self._workspaces.of(message.account)
        found = await self._find(workspace, message)
        ts = await self._take_over(workspace, message, found)
        return [Receipt(ts)] if ts is not None else []

    async def show(self, message: InboundMessage, draft: DraftReference, text: str) -> str | None:
        """Show partial text in a stream, or in a message that is edited; return its stamp."""
        workspace = self._workspaces.of(message.account)
        drawn = settled(text)
        if not shows(drawn):
            return draft.platform_id
        ts = draft.platform_id
        if ts is None:
            ts = await self._begun(workspace, message, draft) if draft.again else None
            if ts is None:
                return await self._begin(workspace, message, draft, text, drawn)
        if self._streams.is_open(message):
            try:
                if await self._streams.append(message, drawn):
                    return ts
            except StreamOver as over:
                if over.stopped:
                    self._sink.stop_pressed(message, ts)
                    return ts
        await self._redraw(workspace, message, draft, ts, text)
        return ts

    async def probe(self) -> bool:
        """Edit the last answer without a change; return whether there is one."""
        if self._last is None:
            return False
        await self._edit(*self._last)
        return True

    async def delete(self, message: InboundMessage, ts: str) -> None:
        """Delete a message of our own; it may be gone already."""
        self._streams.forget(message.ext_id)
        workspace = self._workspaces.of(message.account)
        with suppress(SendRefused, DraftGone):  # it is gone, or may not be deleted and stays
            await workspace.api.call("chat.delete", channel=message.chat_id, ts=ts)

    # -- partial text

    async def _begin(
        self,
        workspace: Workspace,
        message: InboundMessage,
        draft: DraftReference,
        text: str,
        drawn: str,
    ) -> str | None:
        try:
            if self._streams.is_possible(workspace, message):
                if workspace.api.limits.wait("chat.startStream", Priority.FIRST_TEXT) > 0:
                    return None  # too many answers begin now: this one is shown when it is complete
                ts = await self._streams.start(workspace, message, drawn)
                if ts is not None:
                    self._sink.sent(workspace, message.chat_id, "stream")
                    return ts
            mark = metadata(draft.idem, message.ext_id.rpartition("/")[2], draft=True)
            shown = render(close_open_marks(text))
            return await self._put(workspace, message.chat_id, thread_for(message), shown, mark)
        except SendAmbiguous:
            self._new.pop(message.ext_id, None)  # it may be there: the answer will look for it
            raise
        except SendDelayed as delayed:
            if workspace.api.limits.wait("chat.startStream", Priority.FINAL) > 0:
                return None  # streams have a limit of their own: the answer itself may pass
            raise delayed

    async def _begun(
        self, workspace: Workspace, message: InboundMessage, draft: DraftReference
    ) -> str | None:
        # The process may have ended before it learned the stamp of its partial text.
        wanted = OutboundMessage(
            message.channel,
            message.chat_id,
            "",
            idem=draft.idem,
            account=message.account,
            thread_id=message.thread_id,
            reply_to=message.message_id or None,
            date=message.date,
        )
        found = await self._find(workspace, wanted)
        return found.ts if found is not None else None

    async def _redraw(
        self,
        workspace: Workspace,
        message: InboundMessage,
        draft: DraftReference,
        ts: str,
        text: str,
    ) -> None:
        # Answers go first when few edits are left.
        if workspace.api.limits.wait("chat.update", Priority.EDIT) > 0:
            return
        mark = metadata(draft.idem, message.ext_id.rpartition("/")[2], draft=True)
        shown = render(close_open_marks(text))
        with suppress(SendDelayed):  # the answer itself will show the rest
            await self._edit(workspace, message.chat_id, ts, shown, mark, Priority.EDIT)

    # -- whole messages

    async def _become(self, workspace: Workspace, message: OutboundMessage, ts: str) -> str:
        text, mark = render(message.text), metadata(message.idem, named(message))
        if message.answers and await self._streams.finish(message.answers, ts, text, mark):
            self._sink.sent(workspace, message.chat_id, "stream")
        else:
            await self._edit(workspace, message.chat_id, ts, text, mark)
        self._last = (workspace, message.chat_id, ts, text, mark)
        return ts

    async def _take_over(
        self, workspace: Workspace, message: OutboundMessage, found: HistoryMatch | None
    ) -> str | None:
        """Turn a draft that was found into the message; return its stamp, None if it is gone."""
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
        """Post a text into its thread, or into the channel if the thread is gone."""
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
            self._sink.sent(workspace, chat_id, "post")
            return str(found.get("ts") or "")
        raise SendRefused("Slack accepts it neither in the thread nor in the channel")

    async def _edit(
        self,
        workspace: Workspace,
        chat_id: str,
        ts: str,
        text: str,
        mark: dict[str, Any],
        priority: Priority = Priority.FINAL,
    ) -> None:
        for is_first in (True, False):
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
                if refused.code not in STILL_STREAMING:
                    raise
                if not is_first:  # lasts some minutes at most, then the stream is too old
                    raise SendAmbiguous(
                        "Slack contradicts itself on whether the stream is over"
                    ) from None
                await self._end_stream(workspace, chat_id, ts)
                continue
            self._sink.sent(workspace, chat_id, "edit")
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
        # Some servers take no Markdown.
        try:
            return await workspace.api.call(method, priority=priority, markdown_text=text, **given)
        except Refused as refused:
            if refused.code not in NO_MARKDOWN:
                raise
        return await workspace.api.call(method, priority=priority, text=plain(text), **given)

    # -- what may be there already

    def _may_have_begun(self, message: OutboundMessage) -> bool:
        """Return whether an earlier attempt, or its draft, may already be visible.

        A crash may have left one, or a request whose answer was lost.
        """
        first = message.part == 0 and message.piece == 0 and bool(message.turn)
        return first and message.answers is not None and message.answers not in self._new

    async def _find(self, workspace: Workspace, message: OutboundMessage) -> HistoryMatch | None:
        return await self._history.find(
            workspace, message, self._streams.stamps_in(message.chat_id)
        )
