"""Sends messages, edits, drafts and typing signs, with a fallback if Telegram refuses one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, Final

from channels.apart import apart
from channels.errors import DraftGone, SendRefused
from channels.markdown.render import is_visible
from channels.message import Button, OutboundMessage, Receipt
from channels.telegram.address import (
    Address,
    address_of,
    ephemeral_number,
    is_ephemeral,
    message_of,
    moved,
)
from channels.telegram.api import ANSWER_SECONDS, BotApi, Migrated, NotAsSent, says
from channels.telegram.fields import utf16_length
from channels.telegram.format import LIMIT, Rendered, plain, render, render_partial

GENERAL: Final = "1"  # the id of a group's topic General; Telegram refuses this id in a send
NO_PREVIEW: Final = {"is_disabled": True}
MAX_SHOWN: Final = 1_000  # maximum number of messages whose shown text is remembered
MAX_ALERT: Final = 200  # maximum UTF-16 units shown to a person who pressed a button

GONE: Final = ("message to edit not found", "message can't be edited", "message_id_invalid")
UNCHANGED: Final = ("message is not modified",)
NO_THREAD: Final = ("message thread not found", "topic_deleted", "topic not found")
NO_REPLY: Final = ("message to be replied not found", "replied message not found")
UNFIT: Final = (
    "entity",
    "entities",
    "message is too long",
    "message_too_long",
    "text is empty",
    "must be non-empty",
    "too large",
)
EDIT_SECONDS: Final = 8.0  # maximum duration of a draft update, since the answer waits for it
EMPTY: Final = "(an answer without visible text)"


class TelegramSender:
    """Sends and edits the messages of one bot."""

    def __init__(self, api: BotApi) -> None:
        self.api = api
        self.shown: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message, or edit its draft into it; raises ChannelError."""
        private = _is_private(message.chat_id)
        rendered = _visible(
            await apart(partial(render, private=private), message.text), message.text
        )
        try:
            return [Receipt(await self._put(message, rendered))]
        except NotAsSent as refused:
            if not says(refused, *UNFIT):
                raise
        # Telegram refuses the entities, so the text is sent without them.
        ids: list[str] = []
        pieces = plain(message.text, private=private) or [(EMPTY, [])]
        for number, piece in enumerate(pieces, start=1):
            buttons = message.buttons if number == len(pieces) else ()
            edits = None if ids else message.edits
            ids.append(await self._put(replace(message, buttons=buttons, edits=edits), piece))
        return [Receipt(number) for number in ids]

    async def answer_press(self, query_id: str, text: str) -> None:
        """Acknowledge a press, and show a text to the person who pressed."""
        await self.api.call(
            "answerCallbackQuery",
            callback_query_id=query_id,
            text=_alert(text) or None,
            show_alert=True if text else None,
        )

    async def post(self, message: OutboundMessage, rendered: Rendered) -> str:
        """Send a new message and return its id; omit a topic or question that was deleted."""
        chat, thread, reply_to = message.chat_id, message.thread_id, _answered(message)
        for _attempt in range(4):
            try:
                return await self._send(
                    address_of(chat), thread, reply_to, rendered, message.buttons
                )
            except Migrated as migrated:
                if chat != message.chat_id:
                    raise SendRefused("the group moves in circles") from None
                chat, reply_to = moved(chat, migrated.chat_id), None
            except NotAsSent as refused:
                if thread and says(refused, *NO_THREAD):
                    thread = None
                elif reply_to and says(refused, *NO_REPLY):
                    reply_to = None
                else:
                    raise
        raise SendRefused("both the topic and the question were deleted")

    async def show(
        self, chat: str, thread: str | None, reply_to: str | None, shown_id: str | None, text: str
    ) -> str:
        """Show partial text in a message that is edited as the answer grows; return the id."""
        rendered = await _partial(text, _is_private(chat))
        if not is_visible(rendered[0]):
            return shown_id or ""
        if shown_id and self.shown.get((chat, shown_id)) == _digest(rendered):
            return shown_id
        if shown_id:
            return await self._edit(chat, shown_id, rendered, EDIT_SECONDS)
        first = OutboundMessage("telegram", chat, text, thread_id=thread, reply_to=reply_to)
        message_id = await self.post(first, rendered)
        if not message_id:
            raise SendRefused("the server did not return the message's id, so it cannot be edited")
        self.remember(chat, message_id, rendered)
        return message_id

    async def draft(self, chat: str, thread: str | None, idem: str, text: str) -> None:
        """Show partial text as a draft in a private chat; a draft is not a message."""
        rendered = await _partial(text, _is_private(chat))
        if not is_visible(rendered[0]):
            return
        shown, entities = rendered
        await self.api.call(
            "sendMessageDraft",
            seconds=EDIT_SECONDS,
            chat_id=address_of(chat).chat,
            message_thread_id=_thread(address_of(chat), thread),
            draft_id=draft_id(idem),
            text=shown,
            entities=entities or None,
            can_stop=True,
        )

    async def type(self, chat: str, thread: str | None) -> None:
        place = address_of(chat)
        if place.is_part:  # Telegram has no sign there, and the whole group must not see one
            return
        thread_id = int(thread) if thread else None
        await self.api.call(
            "sendChatAction", chat_id=place.chat, message_thread_id=thread_id, action="typing"
        )

    async def delete(self, chat: str, message_id: str) -> None:
        place = address_of(chat)
        method = "deleteMessage" if place.receiver is None else "deleteEphemeralMessage"
        with suppress(SendRefused):  # the message was deleted already, or is too old to be deleted
            await self.api.call(method, **place.of_message(message_id))

    async def _put(self, message: OutboundMessage, rendered: Rendered) -> str:
        if not message.edits:
            return await self.post(message, rendered)
        # Buttons are removed by a keyboard without any: servers differ in what none at all means.
        keyboard = _keyboard(message.buttons)
        try:
            return await self._edit(message.chat_id, message.edits, rendered, keyboard=keyboard)
        except NotAsSent as refused:
            if says(refused, *GONE):
                raise DraftGone(str(refused)) from refused
            raise

    async def _send(
        self,
        place: Address,
        thread: str | None,
        reply_to: str | None,
        rendered: Rendered,
        buttons: Sequence[Button],
    ) -> str:
        text, entities = rendered
        result = await self.api.call(
            "sendMessage",
            **place.of_send(),
            message_thread_id=_thread(place, thread),
            text=text,
            entities=entities or None,
            link_preview_options=NO_PREVIEW,
            reply_parameters=_reply(reply_to),
            reply_markup=_keyboard(buttons) if buttons else None,
        )
        return _id_of(result, place) if isinstance(result, dict) else ""

    async def _edit(
        self,
        chat: str,
        message_id: str,
        rendered: Rendered,
        seconds: float = ANSWER_SECONDS,
        keyboard: dict[str, Any] | None = None,
    ) -> str:
        text, entities = rendered
        place = address_of(chat)
        try:
            await self.api.call(
                "editMessageText" if place.receiver is None else "editEphemeralMessageText",
                seconds=seconds,
                **place.of_message(message_id),
                text=text,
                entities=entities or None,
                link_preview_options=NO_PREVIEW,
                reply_markup=keyboard,
            )
        except Migrated as moved:
            raise NotAsSent(f"message to edit not found: {moved}") from None
        except NotAsSent as refused:
            if not says(refused, *UNCHANGED):
                raise
        self.remember(chat, message_id, rendered)
        return message_id

    def remember(self, chat: str, message_id: str, rendered: Rendered) -> None:
        self.shown[(chat, message_id)] = _digest(rendered)
        self.shown.move_to_end((chat, message_id))
        while len(self.shown) > MAX_SHOWN:
            self.shown.popitem(last=False)


def _is_private(chat: str) -> bool:
    """Return whether only one person reads a chat: groups have other ids, and channels names."""
    return chat.isdecimal()


async def _partial(text: str, private: bool) -> Rendered:
    return await apart(partial(render_partial, private=private), text)


def _visible(rendered: Rendered, text: str) -> Rendered:
    if is_visible(rendered[0]):
        return rendered
    written: Rendered = (text.strip()[:LIMIT], [])
    return written if is_visible(written[0]) else (EMPTY, [])


def _keyboard(buttons: Sequence[Button]) -> dict[str, Any]:
    # One button a row: side by side, a phone cuts the labels.
    rows = [[{"text": one.label, "callback_data": one.token}] for one in buttons]
    return {"inline_keyboard": rows}


def _alert(text: str) -> str:
    if utf16_length(text) <= MAX_ALERT:
        return text
    units = text.encode("utf-16-le", "replace")[: 2 * (MAX_ALERT - 1)]
    return f"{units.decode('utf-16-le', 'ignore')}…"


def _answered(message: OutboundMessage) -> str | None:
    """Return the id of the message to reply to.

    A bot that is no admin may only send an ephemeral message that replies to one, so each piece of
    an answer does.
    """
    if message.reply_to or address_of(message.chat_id).receiver is None:
        return message.reply_to
    return (message.answers or "").removeprefix(f"{message.chat_id}/") or None


def _reply(message_id: str | None) -> dict[str, Any] | None:
    if message_id and message_id.isdigit():
        return {"message_id": int(message_id), "allow_sending_without_reply": True}
    number = ephemeral_number(message_id or "")
    return {"ephemeral_message_id": number} if number is not None else None


def _id_of(sent: dict[str, Any], place: Address) -> str:
    if place.receiver is None:
        return str(sent.get("message_id", ""))
    return message_of({**sent, "from": {"is_bot": True}}) if is_ephemeral(sent) else ""


def _digest(rendered: Rendered) -> bytes:
    return sha256(repr(rendered).encode("utf-8", "replace")).digest()


def draft_id(idem: str) -> int:
    """Return a draft's number, computed from its key; never 0, and the same after a restart."""
    return int.from_bytes(sha256(idem.encode()).digest()[:4]) % 2_000_000_000 + 1


def _thread(place: Address, thread: str | None) -> int | None:
    in_private = isinstance(place.chat, int) and place.chat > 0  # where no topic is General
    return int(thread) if thread and (in_private or thread != GENERAL) else None
