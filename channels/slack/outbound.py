"""Posts, edits and deletes messages, shows partial text, and handles refusals.

Every message has its key as metadata, so that it can be found again. Links are not unfurled.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from channels.apart import apart
from channels.commands import with_choices
from channels.draft import DraftReference
from channels.errors import (
    ChannelError,
    DraftGone,
    SendAmbiguous,
    SendDelayed,
    SendPostponed,
    SendRefused,
    TooLarge,
    Unchangeable,
)
from channels.markdown.autoclose import close_open_marks
from channels.markdown.render import is_visible
from channels.message import Button, InboundMessage, OutboundMessage, Receipt
from channels.pacing import Priority
from channels.parts import SMALLEST
from channels.refusals import Forms, Step
from channels.slack.api import Refused
from channels.slack.format import MAX_EDIT, begun, blocks, plain, plain_blocks, render, settled
from channels.slack.history import History, HistoryMatch
from channels.slack.streams import StreamOver, Streams, stop
from channels.slack.threads import metadata, named, thread_for, thread_of
from channels.slack.workspaces import Workspace, Workspaces

MAX_NEW: Final = 5_000
AS_WRITTEN: Final = 0  # the form of a message: with Markdown, or in blocks with its buttons
PLAIN: Final = 1  # without formatting
BARE: Final = 2  # the text alone


class SenderSink(Protocol):  # implemented by the channel
    def sent(self, workspace: Workspace, chat_id: str, kind: str) -> None:
        """Expect the event of a message that was sent; `kind` is `post`, `edit` or `stream`."""

    def stop_pressed(self, message: InboundMessage, ts: str) -> None:
        """Stop the answer to a message, since its author pressed Stop at the stream `ts`."""

    async def may_have_begun(self, key: str) -> bool:
        """Return whether an earlier process may have begun to send a message."""
        ...

    async def last_sent(self) -> tuple[OutboundMessage, str] | None:
        """Return the newest message that any process has sent, and its timestamp."""
        ...


@dataclass(frozen=True, slots=True)
class _Content:
    """What a message says; `buttons` is None for a message that never had any."""

    text: str
    metadata: dict[str, Any]
    buttons: tuple[Button, ...] | None = None


class SlackSender:
    def __init__(
        self, workspaces: Workspaces, history: History, streams: Streams, sink: SenderSink
    ) -> None:
        self._workspaces = workspaces
        self._history = history
        self._streams = streams
        self._sink = sink
        # Questions that arrived in this process: no other one has answered them, without asking.
        self._new: OrderedDict[str, None] = OrderedDict()
        self._last: tuple[Workspace, str, str, _Content] | None = None

    def is_new(self, ext_id: str) -> None:
        """Record that a message has just arrived, so it cannot have been answered yet."""
        self._new[ext_id] = None
        while len(self._new) > MAX_NEW:
            self._new.popitem(last=False)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        if not message.edits and await self._may_have_begun(message):
            found = await self.find(message)
            if found:
                return found
        workspace, content = self._workspaces.of(message.account), await _whole(message)
        if message.edits:
            ts = await self._become(workspace, message, message.edits, content)
        else:
            ts = await self._put(workspace, message.chat_id, thread_of(message), content)
        self._last = (workspace, message.chat_id, ts, content)
        return [Receipt(ts)]

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        workspace = self._workspaces.of(message.account)
        found = await self._find(workspace, message)
        if found is None:
            return []
        if not found.whole:
            try:
                await self._edit(workspace, message.chat_id, found.ts, await _whole(message))
            except DraftGone:
                return []
        return [Receipt(found.ts)]

    async def show(self, message: InboundMessage, draft: DraftReference, text: str) -> str | None:
        text, drawn = await apart(_begun_and_settled, text)
        if not is_visible(drawn):
            return draft.platform_id
        ts = draft.platform_id
        if ts is None:
            ts = await self._begun(message, draft) if draft.again else None
            if ts is None:
                return await self._begin(message, await _partial(message, draft, text), drawn)
        if self._streams.is_open(message):
            try:
                if await self._streams.append(message, drawn):
                    return ts
            except StreamOver as over:
                if over.stopped:
                    self._sink.stop_pressed(message, ts)
                    return ts
        workspace = self._workspaces.of(message.account)
        content = await _partial(message, draft, text)
        # If few edits are left, they are kept for answers.
        if await workspace.api.limits.allows("chat.update", Priority.EDIT):
            with suppress(SendDelayed):  # the answer itself will show the rest
                await self._edit(workspace, message.chat_id, ts, content, Priority.EDIT)
        return ts

    async def show_to(self, press: InboundMessage, text: str) -> None:
        """Show a text to one person only."""
        await self._workspaces.of(press.account).api.call(
            "chat.postEphemeral",
            channel=press.chat_id,
            user=press.sender.id,
            thread_ts=press.thread_id,
            text=plain(text),
        )

    async def probe(self) -> bool:
        """Edit the last answer without changing it; return whether there is a last answer."""
        if self._last is None:
            found = await self._sink.last_sent()  # by another process
            if found is None:
                return False
            message, ts = found
            workspace = self._workspaces.of(message.account)
            await self._edit(workspace, message.chat_id, ts, await _whole(message))
            return True
        await self._edit(*self._last)
        return True

    async def delete(self, message: InboundMessage, ts: str) -> None:
        self._streams.forget(message.ext_id)
        workspace = self._workspaces.of(message.account)
        await self._remove(workspace, message.chat_id, ts)

    async def _begin(self, message: InboundMessage, content: _Content, drawn: str) -> str | None:
        workspace = self._workspaces.of(message.account)
        limits = workspace.api.limits
        try:
            if self._streams.is_possible(workspace, message):
                if not await limits.allows("chat.startStream", Priority.FIRST_TEXT):
                    return None  # too many answers begin now; this one is shown once it is complete
                ts = await self._streams.start(workspace, message, drawn)
                if ts is not None:
                    self._sink.sent(workspace, message.chat_id, "stream")
                    return ts
            return await self._put(workspace, message.chat_id, thread_for(message), content)
        except SendAmbiguous:
            self._new.pop(message.ext_id, None)  # it may have arrived: the answer will look for it
            raise
        except SendDelayed as delayed:
            if limits.wait("chat.startStream", Priority.FINAL) > 0:
                return None  # streams have their own limit, which does not apply to the answer
            raise delayed

    async def _begun(self, message: InboundMessage, draft: DraftReference) -> str | None:
        # An earlier process may have ended before it learned the timestamp of the partial text.
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
        found = await self._find(self._workspaces.of(message.account), wanted)
        return found.ts if found is not None else None

    async def _become(
        self, workspace: Workspace, message: OutboundMessage, ts: str, content: _Content
    ) -> str:
        """Turn a draft into the answer; return the timestamp of what has the whole of it."""
        is_whole = message.answers is not None and await self._streams.finish(
            message.answers, ts, content.text, content.metadata
        )
        if is_whole:
            self._sink.sent(workspace, message.chat_id, "stream")
        if not content.buttons and is_whole:
            return ts
        try:
            await self._edit(workspace, message.chat_id, ts, content)
        except Unchangeable:
            found = await self._find(workspace, message)  # an earlier attempt may have got so far
            if found is not None and found.whole and found.ts != ts:
                posted = found.ts
            else:
                posted = await self._put(workspace, message.chat_id, thread_of(message), content)
            await self._remove(workspace, message.chat_id, ts)
            return posted
        return ts

    async def _put(
        self, workspace: Workspace, chat_id: str, thread: str | None, content: _Content
    ) -> str:
        """Post into a thread, or into the channel if the thread takes it not; return the ts."""
        post = {"channel": chat_id, "unfurl_links": False, "unfurl_media": False}
        forms, form = Forms("send"), AS_WRITTEN
        while True:
            try:
                given = {**post, "thread_ts": thread}
                found = await _write(workspace, "chat.postMessage", content, form, **given)
            except Refused as refused:
                match forms.after(refused, _ways_out(form, content, in_thread=bool(thread))):
                    case "unreplied":
                        thread = None
                    case "plain":
                        form = PLAIN
                    case "bare":
                        form = BARE
                    case step:
                        raise _ended(step, refused) from refused
                continue
            self._sink.sent(workspace, chat_id, "post")
            return str(found.get("ts") or "")

    async def _edit(
        self,
        workspace: Workspace,
        chat_id: str,
        ts: str,
        content: _Content,
        priority: Priority = Priority.FINAL,
    ) -> None:
        """Edit a message; raises DraftGone without one, and Unchangeable if it takes no text."""
        edit = {"channel": chat_id, "ts": ts, "priority": priority}
        forms, form, is_over = Forms("edit"), AS_WRITTEN, False
        while True:
            try:
                await _write(workspace, "chat.update", content, form, **edit)
            except Refused as refused:
                match forms.after(refused, _ways_out(form, content)):
                    case "unstreamed" if not is_over:
                        is_over = True
                        await _end_stream(workspace, chat_id, ts)
                    case "plain":
                        form = PLAIN
                    case "bare":
                        form = BARE
                    case "unstreamed" | "new":
                        raise Unchangeable(str(refused)) from refused
                    case step:
                        raise _ended(step, refused) from refused
                continue
            self._sink.sent(workspace, chat_id, "edit")
            return

    async def _remove(self, workspace: Workspace, chat_id: str, ts: str) -> None:
        with suppress(SendRefused):  # it is gone, or it cannot be deleted and stays
            await workspace.api.call("chat.delete", channel=chat_id, ts=ts)

    async def _may_have_begun(self, message: OutboundMessage) -> bool:
        # There may be an earlier attempt, or its draft, after a crash or a lost answer.
        first = message.part == 0 and message.piece == 0 and bool(message.turn)
        if not first or message.answers is None or message.answers in self._new:
            return False
        return await self._sink.may_have_begun(message.idem)

    async def _find(self, workspace: Workspace, message: OutboundMessage) -> HistoryMatch | None:
        streams = self._streams.stamps_in(message.chat_id)
        return await self._history.find(workspace, message, streams)


async def _whole(message: OutboundMessage) -> _Content:
    # An edit of a question removes its buttons, which Slack keeps if it gets no new blocks.
    may_have = bool(message.buttons) or (bool(message.edits) and message.kind == "notice")
    buttons = message.buttons if may_have else None
    return _Content(
        await apart(render, message.text), metadata(message.idem, named(message)), buttons
    )


async def _partial(message: InboundMessage, draft: DraftReference, text: str) -> _Content:
    question = message.ext_id.rpartition("/")[2]
    drawn = await apart(_closed, text)
    return _Content(drawn, metadata(draft.idem, question, draft=True))


def _begun_and_settled(text: str) -> tuple[str, str]:
    text = begun(text)
    return text, settled(text)


def _closed(text: str) -> str:
    return render(close_open_marks(text))


async def _write(
    workspace: Workspace, method: str, content: _Content, form: int, **given: Any
) -> Any:
    if form != BARE:
        given["metadata"] = content.metadata
    return await workspace.api.call(method, **_said(method, content, form), **given)


def _said(method: str, content: _Content, form: int) -> dict[str, Any]:
    """Return the parameters that say something; some servers accept no Markdown."""
    buttons = content.buttons
    if form == BARE:
        return {"text": plain(with_choices(content.text, buttons or ()))}
    if buttons is None:
        if form == AS_WRITTEN:
            return {"markdown_text": content.text}
        return {"text": plain(content.text)}
    # The text beside the blocks is what notifications show, and what search finds.
    text = plain(content.text)[: MAX_EDIT if method == "chat.update" else None]
    drawn = blocks if form == AS_WRITTEN else plain_blocks
    return {"text": text, "blocks": drawn(content.text, buttons)}


def _ways_out(form: int, content: _Content, *, in_thread: bool = False) -> set[Step]:
    """Return the other forms that a message can take."""
    ways: set[Step] = {"bare"}
    if form == AS_WRITTEN:
        ways.add("plain")
    if len(content.text) >= SMALLEST:
        ways.add("parts")
    if in_thread:
        ways.add("unreplied")
    return ways


def _ended(step: Step, refused: Refused) -> ChannelError:
    """Return the error that a refusal ends in, once no other form is left."""
    if step == "wait":
        return SendPostponed(str(refused))
    if step == "parts":
        return TooLarge(str(refused), explanation=refused.explanation)
    return DraftGone(refused.code) if step == "gone" else refused


async def _end_stream(workspace: Workspace, chat_id: str, ts: str) -> None:
    with suppress(Refused):  # then the message cannot be edited, either
        await stop(workspace, chat_id, ts)
