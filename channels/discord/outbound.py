"""Sending, editing, partial text and typing; and looking up what may have been sent.

Each post carries a nonce made of its key: for some minutes Discord answers a second one with the
first one's message. Later the chat's history is searched.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final

import anyio
import anyio.to_thread
from discord.flags import MessageFlags
from discord.mentions import AllowedMentions
from discord.utils import parse_time, time_snowflake

from channels.discord.api import (
    ANSWER_SECONDS,
    ARCHIVED,
    INVALID_FORM,
    MISSING_ACCESS,
    MISSING_PERMISSION,
    NO_HISTORY,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    ApiRefused,
    DiscordApi,
)
from channels.discord.format import LIMIT, render, render_partial
from channels.draft import DraftReference
from channels.errors import DraftGone, SendRefused
from channels.message import InboundMessage, OutboundMessage, Receipt

NOBODY: Final = {**AllowedMentions.none().to_dict(), "replied_user": False}
NO_PREVIEW: Final = MessageFlags(suppress_embeds=True).value
EDIT_SECONDS: Final = 8.0
"""A showing that takes longer is given up: the answer itself waits for it."""

EASY: Final = 500
MOST_NOTED: Final = 1_000
MOST_PAGES: Final = 10
PAGE: Final = 100
CLOCKS_DIFFER: Final = timedelta(seconds=30)
ALIKE: Final = 24
"""So many letters at the beginning tell that a draft is of an answer."""

AGAIN: Final = "/again"
"""What the key of an answer has at its end whose draft somebody has deleted."""

EMPTY: Final = "(an answer without visible text)"
_INVISIBLE: Final = re.compile(
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0]+"
)
_LETTERS: Final = re.compile(r"[\W_]+")

Json = Mapping[str, Any]


class DiscordSender:
    """Puts messages into channels; `me` returns the bot's id, `note` tells its operator."""

    def __init__(
        self, api: DiscordApi, me: Callable[[], str], note: Callable[[str, ApiRefused], None]
    ) -> None:
        self._api = api
        self._me = me
        self._note = note
        self._notes: OrderedDict[str, str] = OrderedDict()
        self._noting: dict[str, anyio.Event] = {}
        self._posted: OrderedDict[str, None] = OrderedDict()
        self._gone: OrderedDict[str, None] = OrderedDict()

    def noting(self, interaction: str) -> None:
        """Learn that a command is being noted in its chat: an answer to it waits for that."""
        self._noting[interaction] = anyio.Event()

    def noted(self, interaction: str, message_id: str | None) -> None:
        """Remember the message that notes a command: the answer is a reply to it."""
        if message_id is not None:
            self._notes[interaction] = message_id
            while len(self._notes) > MOST_NOTED:
                self._notes.popitem(last=False)
        if (noting := self._noting.pop(interaction, None)) is not None:
            noting.set()

    def is_ours(self, own: Json) -> bool:
        """Tell whether a message of the bot's came from here, not from a second gateway."""
        nonce = own.get("nonce")
        return nonce is None or str(nonce) in self._posted

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        """Send a message, or put it into the place of its draft; raises ChannelError."""
        text = _visible(render(message.text), message.text)
        try:
            if message.edits:
                return [Receipt(await self._edit(_room(message), message.edits, text))]
            if message.idem not in self._gone:
                nonce = nonce_of(message.idem) if message.idem else None
                return [Receipt(await self._put(message, text, nonce))]
        except DraftGone:
            if not message.idem:
                raise
            # Under the key of a draft that was deleted Discord would answer with that draft.
            self._gone[message.idem] = None
            while len(self._gone) > MOST_NOTED:
                self._gone.popitem(last=False)
            if message.edits:
                raise
        return [Receipt(await self._put(message, text, nonce_of(message.idem + AGAIN)))]

    async def _put(self, message: OutboundMessage, text: str, nonce: str | None) -> str:
        """Post a message, or make what stands under its nonce this message."""
        sent = await self.post(message, text, nonce)
        if _same(sent, text):
            return str(sent["id"])
        room = str(sent.get("channel_id") or _room(message))  # its draft, under the same key
        return await self._edit(room, str(sent["id"]), text)

    async def post(self, message: OutboundMessage, text: str, nonce: str | None) -> Json:
        """Post a message; a thread or a question that is gone is left out."""
        room, reply_to = _room(message), await self._question(message.reply_to)
        opened = False
        if nonce is not None:
            self._posted[nonce] = None
            while len(self._posted) > MOST_NOTED:
                self._posted.popitem(last=False)
        for _attempt in range(4):
            body = _body(text, room, reply_to, nonce)
            try:
                return _posted(await self._api.call("POST", f"/channels/{room}/messages", body))
            except ApiRefused as refused:
                if refused.code == ARCHIVED and not opened:
                    opened = True
                    await self._unarchive(room, refused)
                elif refused.code == UNKNOWN_CHANNEL and room != message.chat_id:
                    room, reply_to = message.chat_id, None
                elif reply_to and _is_about_reply(refused):
                    reply_to = None
                else:
                    self._tell(room, refused)
                    raise
        raise SendRefused("neither the thread nor the question is there any more")

    async def show(self, message: InboundMessage, place: DraftReference, text: str) -> str:
        """Show partial text: a message that is edited as the answer grows."""
        shown = await _partial(text)
        if not _shows(shown):
            return place.platform_id or ""
        room = message.thread_id or message.chat_id
        if place.platform_id:
            return await self._edit(room, place.platform_id, shown, EDIT_SECONDS)
        first = OutboundMessage(
            "discord",
            message.chat_id,
            text,
            idem=place.idem,
            thread_id=message.thread_id,
            reply_to=message.message_id,
            date=message.date,
        )
        known = await self._draft_of(first) if place.again else None
        if known is not None:
            return await self._edit(room, known, shown, EDIT_SECONDS)
        sent = await self.post(first, shown, nonce_of(place.idem))
        return str(sent["id"])

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        """Look for a message that may have been sent; a draft of it is made the message."""
        text = _visible(render(message.text), message.text)
        drafts = message.part == 0 and message.piece == 0
        nonces = (nonce_of(message.idem), nonce_of(message.idem + AGAIN))
        for sent in await self._own_since(message):
            if sent.get("nonce") in nonces or _same(sent, text):
                if _same(sent, text):
                    return [Receipt(str(sent["id"]))]
            elif not (drafts and _begins(sent, text)):
                continue
            return [Receipt(await self._edit(_room(message), str(sent["id"]), text))]
        return []

    async def type(self, room: str) -> None:
        """Show the sign for some seconds."""
        await self._api.call("POST", f"/channels/{room}/typing")

    async def delete(self, room: str, message_id: str) -> None:
        """Take a message of ours away; one that is gone already is fine."""
        try:
            await self._api.call("DELETE", f"/channels/{room}/messages/{message_id}")
        except SendRefused:
            """It is gone, or may not be deleted any more: then it stays."""

    async def _question(self, reply_to: str | None) -> str | None:
        """Return the message to reply to: of a command, its note."""
        if reply_to in self._noting:
            await self._noting[reply_to].wait()
        return self._notes.get(reply_to, reply_to) if reply_to else None

    async def _edit(
        self, room: str, message_id: str, text: str, seconds: float = ANSWER_SECONDS
    ) -> str:
        """Edit a message of ours; PlaceGone where it, or its thread, is not there any more."""
        path = f"/channels/{room}/messages/{message_id}"
        body = {"content": text, "allowed_mentions": NOBODY, "flags": NO_PREVIEW}
        for opened in (False, True):
            try:
                await self._api.call("PATCH", path, body, seconds=seconds)
                break
            except ApiRefused as refused:
                if refused.code in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL):
                    raise DraftGone(str(refused)) from refused
                if refused.code != ARCHIVED or opened:
                    self._tell(room, refused)
                    raise
                await self._unarchive(room, refused)
        return message_id

    async def _unarchive(self, room: str, why: ApiRefused) -> None:
        """Open a thread again; where that may not be, it may be locked."""
        try:
            await self._api.call("PATCH", f"/channels/{room}", {"archived": False})
        except ApiRefused:
            raise why from None

    async def _draft_of(self, message: OutboundMessage) -> str | None:
        """Return a draft that a process before this one has left."""
        for sent in await self._own_since(message):
            own = sent.get("nonce") == nonce_of(message.idem)
            if own or (sent.get("message_reference") and _alike(sent, message.text)):
                return str(sent["id"])
        return None

    async def _own_since(self, message: OutboundMessage) -> list[Json]:
        """Return our messages that may be this one, oldest first: they answer the same question."""
        room, after = _room(message), _since(message)
        wanted = {message.reply_to} if message.reply_to else set()
        found: list[Json] = []
        for _page in range(MOST_PAGES):
            query = {"after": str(after), "limit": str(PAGE)}
            page = await self._api.ask(f"/channels/{room}/messages", query)
            page = sorted(page, key=lambda one: int(one["id"]))
            for one in page:
                if str((one.get("author") or {}).get("id")) != self._me():
                    continue
                used = str((one.get("interaction_metadata") or {}).get("id"))
                if used in wanted:  # the note of the command that is answered
                    wanted.add(str(one["id"]))
                elif _answers(one, wanted):
                    found.append(one)
            if len(page) < PAGE:
                break
            after = int(page[-1]["id"])
        return found

    def _tell(self, room: str, refused: ApiRefused) -> None:
        if refused.code in (MISSING_ACCESS, MISSING_PERMISSION):
            self._note(room, refused)


def nonce_of(idem: str) -> str:
    """Return the nonce of a key, 24 characters: the same one, also after a crash."""
    return urlsafe_b64encode(sha256(idem.encode()).digest()[:18]).decode()


def _room(message: OutboundMessage) -> str:
    return message.thread_id or message.chat_id


def _body(text: str, room: str, reply_to: str | None, nonce: str | None) -> dict[str, Any]:
    body: dict[str, Any] = {"content": text, "allowed_mentions": NOBODY, "flags": NO_PREVIEW}
    if nonce is not None:
        body |= {"nonce": nonce, "enforce_nonce": True}
    if reply_to and reply_to.isdigit():
        body["message_reference"] = {
            "message_id": reply_to,
            "channel_id": room,
            "fail_if_not_exists": False,
        }
    return body


def _posted(answer: Any) -> Json:
    if not isinstance(answer, Mapping) or "id" not in answer:
        raise SendRefused("the server does not tell the message's id")
    return answer


def _is_about_reply(refused: ApiRefused) -> bool:
    if refused.code == NO_HISTORY:
        return True
    return refused.code == INVALID_FORM and "message_reference" in refused.detail


def _since(message: OutboundMessage) -> int:
    """Return the id after which a message stands: that of its question, or of its moment."""
    if message.reply_to and message.reply_to.isdigit():
        return int(message.reply_to)
    moment = parse_time(message.date) if message.date else None
    return time_snowflake(moment - CLOCKS_DIFFER) if moment is not None else 0


def _answers(sent: Json, wanted: set[str]) -> bool:
    """Tell whether a message answers one of these, or is told to answer none."""
    to = (sent.get("message_reference") or {}).get("message_id")
    return to is None or not wanted or str(to) in wanted


def _same(sent: Json, text: str) -> bool:
    return str(sent.get("content", "")).strip() == text


def _begins(sent: Json, text: str) -> bool:
    """Tell whether a message is the beginning of a text, its marks apart."""
    begun = _LETTERS.sub("", str(sent.get("content", "")))
    whole = _LETTERS.sub("", text)
    first = min(len(begun), len(whole), ALIKE)
    return first > 0 and len(begun) <= len(whole) and begun[:first] == whole[:first]


def _alike(sent: Json, text: str) -> bool:
    """Tell whether one of two texts is the beginning of the other, as far as letters tell."""
    begun, whole = _LETTERS.sub("", str(sent.get("content", ""))), _LETTERS.sub("", text)
    first = min(len(begun), len(whole), ALIKE)
    return first > 0 and begun[:first] == whole[:first]


async def _partial(text: str) -> str:
    """Draw partial text; a long one beside the loop: a model may write what is hard to draw."""
    if len(text) < EASY:
        return render_partial(text)
    return await anyio.to_thread.run_sync(render_partial, text)


def _shows(text: str) -> bool:
    """Tell whether there is anything to see."""
    return _INVISIBLE.sub("", text) != ""


def _visible(rendered: str, text: str) -> str:
    """Return what can be seen: the text as it was written, where drawing it leaves nothing."""
    found: Sequence[str] = (rendered, text.strip()[:LIMIT])
    return next((one for one in found if _shows(one)), EMPTY)
