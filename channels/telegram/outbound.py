"""Sends messages, edits, drafts and typing signs, with a fallback if Telegram refuses one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, Final, TypeVar

from channels.apart import apart
from channels.commands import with_choices
from channels.errors import DraftGone, SendPostponed, SendRefused
from channels.markdown.render import is_visible
from channels.message import Button, OutboundMessage, Receipt
from channels.refusals import Forms, Step
from channels.telegram.address import (
    Address,
    address_of,
    ephemeral_number,
    is_ephemeral,
    message_of,
    moved,
)
from channels.telegram.api import (
    ANSWER_SECONDS,
    BotApi,
    BotApiRefused,
    MethodUnknown,
    Migrated,
    NotAsSent,
)
from channels.telegram.bodies import (
    Body,
    RichChats,
    is_private,
    partial_with_entities,
    with_entities,
)
from channels.telegram.fields import utf16_length
from channels.telegram.format import LIMIT, plain

GENERAL: Final = "1"  # the id of a group's topic General; Telegram refuses this id in a send
MAX_SHOWN: Final = 1_000  # maximum number of messages whose shown text is remembered
MAX_ALERT: Final = 200  # maximum UTF-16 units shown to a person who pressed a button

OTHER_FORMS: Final[tuple[Step, ...]] = ("plain", "bare")
EDIT_SECONDS: Final = 8.0  # maximum duration of a draft update, since the answer waits for it
EMPTY: Final = "(an answer without visible text)"

T = TypeVar("T")


class TelegramSender:
    """Sends and edits the messages of one bot."""

    def __init__(self, api: BotApi, rich: RichChats | None = None) -> None:
        self.api = api
        self.rich = rich or RichChats()
        self.shown: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message, or edit its draft into it; raises ChannelError."""
        if not self.rich.chats:
            return await self._with_entities(message)
        rich = await apart(partial(self.rich.body, message.chat_id), message.text)
        try:
            if rich is None:
                return await self._with_entities(message)
            return await self._in_either_form(
                message.chat_id,
                partial(self._put_one, message, rich),
                partial(self._with_entities, message),
            )
        except NotAsSent as refused:
            if message.edits and self.rich.includes(message.chat_id):
                # It cannot become this text, perhaps because of its form.
                raise DraftGone(str(refused)) from refused
            raise

    async def _in_either_form(
        self, chat: str, rich: Callable[[], Awaitable[T]], text: Callable[[], Awaitable[T]]
    ) -> T:
        """Send a rich message, and the text with entities if Telegram refuses that.

        Only if it takes the text, the form was the reason, and is remembered.
        """
        try:
            return await rich()
        except NotAsSent as error:
            if error.row.edit == "gone":
                raise
            refused = error
        sent = await text()
        self.rich.refused(chat, refused)
        return sent

    async def _put_one(self, message: OutboundMessage, body: Body) -> list[Receipt]:
        return [Receipt(await self._put(message, body))]

    async def _with_entities(self, message: OutboundMessage) -> list[Receipt]:
        body = await apart(partial(with_entities, message.chat_id), message.text)
        body = _visible(body, message.text)
        forms, form = Forms("edit" if message.edits else "send"), ""
        while True:
            try:
                if not form:
                    return [Receipt(await self._put(message, body))]
                return await self._plainly(message if form == "plain" else _bare(message))
            except BotApiRefused as refused:
                match forms.after(refused, OTHER_FORMS):
                    case "plain" | "bare" as step:
                        form = step
                    case "new":
                        return await self._replace(message)
                    case "wait":
                        raise SendPostponed(str(refused)) from refused
                    case _:
                        raise

    async def _plainly(self, message: OutboundMessage) -> list[Receipt]:
        """Send a text without entities, which may take several messages."""
        ids: list[str] = []
        private = is_private(message.chat_id)
        pieces = plain(message.text, private=private) or [(EMPTY, [])]
        for number, piece in enumerate(pieces, start=1):
            buttons = message.buttons if number == len(pieces) else ()
            edits = None if ids else message.edits
            part = replace(message, buttons=buttons, edits=edits)
            try:
                ids.append(await self._put(part, Body(*piece)))
            except BotApiRefused as refused:
                if not ids:
                    raise
                # A part of the text is in the chat, which must not see it again.
                error = SendRefused(
                    str(refused), explanation=refused.explanation, closed=refused.closed
                )
                raise error from refused
        return [Receipt(number) for number in ids]

    async def _replace(self, message: OutboundMessage) -> list[Receipt]:
        """Send a text in the place of a draft that takes no edit, and delete the draft."""
        receipts = await self._plainly(replace(_bare(message), edits=None))
        await self.delete(message.chat_id, message.edits or "")
        return receipts

    async def answer_press(self, query_id: str, text: str) -> None:
        """Acknowledge a press, and show a text to the person who pressed."""
        await self.api.call(
            "answerCallbackQuery",
            callback_query_id=query_id,
            text=_alert(text) or None,
            show_alert=True if text else None,
        )

    async def post(self, message: OutboundMessage, body: Body) -> str:
        """Send a new message and return its id; omit a topic or question that was deleted."""
        chat, thread, reply_to = message.chat_id, message.thread_id, _answered(message)
        forms = Forms("send")
        while True:
            try:
                return await self._send(address_of(chat), thread, reply_to, body, message.buttons)
            except Migrated as migrated:
                if chat != message.chat_id:
                    raise SendRefused("the group moves in circles") from None
                chat, reply_to = moved(chat, migrated.chat_id), None
            except NotAsSent as refused:
                ways = {"chat": bool(thread), "unreplied": bool(reply_to)}
                match forms.after(refused, [way for way, is_open in ways.items() if is_open]):
                    case "chat":
                        thread = None
                    case "unreplied":
                        reply_to = None
                    case _:
                        raise

    async def show(
        self, chat: str, thread: str | None, reply_to: str | None, shown_id: str | None, text: str
    ) -> str:
        """Show partial text in a message that is edited as the answer grows; return the id."""

        async def shown(body: Body) -> str:
            return await self._show(chat, thread, reply_to, shown_id, body)

        return await self._partial(chat, text, shown) or shown_id or ""

    async def _show(
        self, chat: str, thread: str | None, reply_to: str | None, shown_id: str | None, body: Body
    ) -> str:
        if shown_id and self.shown.get((chat, shown_id)) == _digest(body):
            return shown_id
        if shown_id:
            return await self._edit(chat, shown_id, body, EDIT_SECONDS)
        first = OutboundMessage("telegram", chat, "", thread_id=thread, reply_to=reply_to)
        message_id = await self.post(first, body)
        if not message_id:
            raise SendRefused("the server did not return the message's id, so it cannot be edited")
        self.remember(chat, message_id, body)
        return message_id

    async def draft(self, chat: str, thread: str | None, idem: str, text: str) -> None:
        """Show partial text as a draft in a private chat; a draft is not a message."""

        async def drafted(body: Body) -> None:
            await self.api.call(
                body.draft_method,
                seconds=EDIT_SECONDS,
                chat_id=address_of(chat).chat,
                message_thread_id=_thread(address_of(chat), thread),
                draft_id=draft_id(idem),
                **body.of_draft(),
                can_stop=True,
            )

        await self._partial(chat, text, drafted)

    async def _partial(
        self, chat: str, text: str, show: Callable[[Body], Awaitable[T]]
    ) -> T | None:
        """Show partial text in the form that its answer will have, if any of it is visible."""

        async def with_entities() -> T | None:
            body = await apart(partial(partial_with_entities, chat), text)
            return await show(body) if is_visible(body.text) else None

        rich = None
        if self.rich.chats:
            rich = await apart(partial(self.rich.partial, chat), text)
        if rich is None:
            return await with_entities()
        return await self._in_either_form(chat, partial(show, rich), with_entities)

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

    async def _put(self, message: OutboundMessage, body: Body) -> str:
        if not message.edits:
            return await self.post(message, body)
        # Buttons are removed by a keyboard without any: servers differ in what none at all means.
        keyboard = _keyboard(message.buttons)
        try:
            return await self._edit(message.chat_id, message.edits, body, keyboard=keyboard)
        except NotAsSent as refused:
            if refused.row.edit == "gone":
                raise DraftGone(str(refused)) from refused
            raise

    async def _send(
        self,
        place: Address,
        thread: str | None,
        reply_to: str | None,
        body: Body,
        buttons: Sequence[Button],
    ) -> str:
        result = await self.api.call(
            body.send_method,
            **place.of_send(),
            message_thread_id=_thread(place, thread),
            **body.of_send(),
            reply_parameters=_reply(reply_to),
            reply_markup=_keyboard(buttons) if buttons else None,
        )
        if isinstance(result, dict):
            return _id_of(result, place)
        if body.rich:  # there are servers that say yes to every method that they do not know
            raise MethodUnknown("the server did not return the message")
        return ""

    async def _edit(
        self,
        chat: str,
        message_id: str,
        body: Body,
        seconds: float = ANSWER_SECONDS,
        keyboard: dict[str, Any] | None = None,
    ) -> str:
        place = address_of(chat)
        try:
            await self.api.call(
                "editMessageText" if place.receiver is None else "editEphemeralMessageText",
                seconds=seconds,
                **place.of_message(message_id),
                **body.of_send(),
                reply_markup=keyboard,
            )
        except Migrated as moved:
            raise NotAsSent(f"message to edit not found: {moved}") from None
        except NotAsSent as refused:
            if refused.row.edit != "done":
                raise
        self.remember(chat, message_id, body)
        return message_id

    def remember(self, chat: str, message_id: str, body: Body) -> None:
        self.shown[(chat, message_id)] = _digest(body)
        self.shown.move_to_end((chat, message_id))
        while len(self.shown) > MAX_SHOWN:
            self.shown.popitem(last=False)


def _bare(message: OutboundMessage) -> OutboundMessage:
    """Return a message that is its text and nothing else."""
    text = with_choices(message.text, message.buttons)
    return replace(message, text=text, buttons=(), reply_to=None)


def _visible(body: Body, text: str) -> Body:
    if is_visible(body.text):
        return body
    written = text.strip()[:LIMIT]
    return Body(written if is_visible(written) else EMPTY)


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


def _digest(body: Body) -> bytes:
    return sha256(repr(body).encode("utf-8", "replace")).digest()


def draft_id(idem: str) -> int:
    """Return a draft's number, computed from its key; never 0, and the same after a restart."""
    return int.from_bytes(sha256(idem.encode()).digest()[:4]) % 2_000_000_000 + 1


def _thread(place: Address, thread: str | None) -> int | None:
    in_private = isinstance(place.chat, int) and place.chat > 0  # where no topic is General
    return int(thread) if thread and (in_private or thread != GENERAL) else None
