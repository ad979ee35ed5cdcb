"""Sends and edits messages, shows partial text, and finds messages that may have been sent.

Each post has a nonce made from its key: if it is repeated within some minutes, Discord answers with
the message of the first post. Later, the chat's history is searched instead.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final

from discord.utils import parse_time, time_snowflake

from channels.apart import apart
from channels.clock import SystemClock
from channels.discord.api import ANSWER_SECONDS, ApiRefused, Code, DiscordApi
from channels.discord.bodies import PostPlace, bare_content, content_of, nonce_fields
from channels.discord.format import LIMIT, render, render_partial
from channels.discord.guild_cache import Raw
from channels.draft import DraftReference
from channels.errors import (
    ChannelError,
    DraftGone,
    SendPostponed,
    SendRefused,
    TooLarge,
    Unchangeable,
)
from channels.facts import Facts, OwnFacts
from channels.markdown.render import is_visible
from channels.message import Button, InboundMessage, OutboundMessage, Receipt
from channels.refusals import Forms, Step

EDIT_SECONDS: Final = 8.0
"""Maximum duration of an edit of partial text, in seconds: the answer waits for it."""


MAX_REMEMBERED: Final = 1_000
MAX_PAGES: Final = 10
PAGE: Final = 100
CLOCK_SKEW: Final = timedelta(seconds=30)
ALIKE: Final = 24
"""How many letters at the beginning must be equal for a message to be recognized as a draft."""

NOTE_SECONDS: Final = 86_400.0  # for how long a command's answer replies to its note
NOTE_POST_SECONDS: Final = 15.0  # how long the answer waits for it

RESEND: Final = "/again"
"""Suffix added to an answer's key after somebody deleted the answer's draft."""

EMPTY: Final = "(an answer without visible text)"
_LETTERS: Final = re.compile(r"[\W_]+")


class DiscordSender:
    """Posts messages.

    me           returns the bot's id
    warn         reports a refusal to the operator
    answer_path  returns where a command's answer can be sent by its token, or ""
    """

    def __init__(
        self, api: DiscordApi, me: Callable[[], str], warn: Callable[[str, ApiRefused], None]
    ) -> None:
        self._api = api
        self._me = me
        self._warn = warn
        self.answer_path: Callable[[str], Awaitable[str]] = _no_path
        self.facts: Facts = OwnFacts(SystemClock())
        self._posted_nonces: dict[str, str] = {}
        self._deleted_drafts: dict[str, str] = {}

    def is_ours(self, own: Raw, keys: Iterable[str] = ()) -> bool:
        """Return whether this process, or a send with one of the keys, posted a message."""
        nonce = own.get("nonce")
        if nonce is None or str(nonce) in self._posted_nonces:
            return True
        return any(str(nonce) in (nonce_of(key), nonce_of(key + RESEND)) for key in keys)

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        text = _visible(await apart(render, message.text), message.text)
        try:
            if message.edits:
                return [await self._become(message, message.edits, text)]
            if message.idem not in self._deleted_drafts:
                nonce = nonce_of(message.idem) if message.idem else None
                return [Receipt(await self._put(message, text, nonce))]
        except DraftGone:
            if not message.idem:
                raise
            # With the nonce of the deleted draft, Discord would answer with that draft.
            remember(self._deleted_drafts, message.idem, "")
            if message.edits:
                raise
        return [Receipt(await self._put(message, text, nonce_of(message.idem + RESEND)))]

    async def _put(self, message: OutboundMessage, text: str, nonce: str | None) -> str:
        sent = await self.post(message, text, nonce)
        if _is_whole(sent, text, message):
            return str(sent["id"])
        # Discord answered with the draft, which was posted with the same nonce.
        channel_id = str(sent.get("channel_id") or _channel_id(message))
        return await self._edit(channel_id, str(sent["id"]), text, buttons=message.buttons)

    async def post(self, message: OutboundMessage, text: str, nonce: str | None) -> Raw:
        """Post a message, in another form or place if Discord refuses the first one."""
        place = PostPlace(_channel_id(message), await self._question(message.reply_to))
        content, forms = content_of(text, message.buttons), Forms("send")
        if nonce is not None:
            remember(self._posted_nonces, nonce, "")
        while True:
            body = content | place.reply | nonce_fields(nonce)
            try:
                path = f"/channels/{place.channel_id}/messages"
                return _message(await self._api.call("POST", path, body))
            except ApiRefused as refused:
                match forms.after(refused, place.ways_out(message)):
                    case "reopened":
                        await self._reopen(place.channel_id, refused)
                    case "chat":
                        place = PostPlace(message.chat_id, None)
                    case "unreplied":
                        place = PostPlace(place.channel_id, None)
                    case "bare":
                        place = PostPlace(place.channel_id, None)
                        content = bare_content(text, message.buttons)
                    case "token":
                        return await self._by_token(message, text, refused)
                    case step:
                        raise self._ended(step, place.channel_id, refused) from refused

    async def _by_token(self, message: OutboundMessage, text: str, why: ApiRefused) -> Raw:
        """Send an answer to a command by the token of the command, or raise why it is needed."""
        path = await self.answer_path(message.reply_to or "")
        if not path:
            raise self._ended("give_up", _channel_id(message), why) from why
        query = {"wait": "true"}
        body = content_of(text, message.buttons)
        try:
            return _message(await self._api.call("POST", path, body, query=query, as_bot=False))
        except ApiRefused:
            raise self._ended("give_up", _channel_id(message), why) from why

    def _ended(self, step: Step, channel_id: str, refused: ApiRefused) -> ChannelError:
        """Return the error that a refusal ends in, once no other form is left."""
        if step == "wait":
            return SendPostponed(str(refused))
        if step == "parts":
            return TooLarge(str(refused), explanation=refused.explanation)
        if step == "gone":
            return DraftGone(str(refused))
        if refused.code in (Code.MISSING_ACCESS, Code.MISSING_PERMISSION):
            self._warn(channel_id, refused)
        return refused

    async def show(self, message: InboundMessage, reference: DraftReference, text: str) -> str:
        shown = await apart(render_partial, text)
        if not is_visible(shown):
            return reference.platform_id or ""
        channel_id = message.thread_id or message.chat_id
        if reference.platform_id:
            return await self._edit(channel_id, reference.platform_id, shown, EDIT_SECONDS)
        first = OutboundMessage(
            "discord",
            message.chat_id,
            text,
            idem=reference.idem,
            thread_id=message.thread_id,
            reply_to=message.message_id,
            date=message.date,
        )
        known = await self._draft_of(first) if reference.again else None
        if known is not None:
            return await self._edit(channel_id, known, shown, EDIT_SECONDS)
        sent = await self.post(first, shown, nonce_of(reference.idem))
        return str(sent["id"])

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        text = _visible(await apart(render, message.text), message.text)
        drafts = message.part == 0 and message.piece == 0
        nonces = (nonce_of(message.idem), nonce_of(message.idem + RESEND))
        for sent in await self._own_since(message):
            if sent.get("nonce") in nonces or _same(sent, text):
                if _is_whole(sent, text, message):
                    return [Receipt(str(sent["id"]))]
            elif not (drafts and _is_alike(sent, text, shorter=True)):
                continue
            return [Receipt(await self._finish(message, str(sent["id"]), text))]
        return []

    async def type(self, channel_id: str) -> None:
        await self._api.call("POST", f"/channels/{channel_id}/typing")

    async def delete(self, channel_id: str, message_id: str) -> None:
        try:
            await self._api.call("DELETE", f"/channels/{channel_id}/messages/{message_id}")
        except SendRefused:
            """It is gone, or can no longer be deleted; then it stays."""

    async def _question(self, reply_to: str | None) -> str | None:
        """Return what an answer replies to: for a command, the note that quotes it."""
        name = note_of(reply_to or "")
        note = self.facts.get(name)
        if note is not None and not note["posted"]:
            note = await self.facts.wait(
                name, lambda now: now is None or now["posted"], NOTE_POST_SECONDS
            )
        return note["id"] if note is not None and note["id"] else reply_to

    async def _become(self, message: OutboundMessage, draft: str, text: str) -> Receipt:
        """Edit a draft into the answer; one that takes no edit is replaced, then deleted."""
        try:
            return Receipt(await self._finish(message, draft, text))
        except Unchangeable:
            nonce = nonce_of(message.idem + RESEND) if message.idem else None
            posted = await self._put(message, text, nonce)
        except ApiRefused as refused:
            if refused.row.edit != "token":
                raise
            posted = str((await self._by_token(message, text, refused))["id"])
        await self.delete(_channel_id(message), draft)
        return Receipt(posted)

    async def _finish(self, message: OutboundMessage, message_id: str, text: str) -> str:
        return await self._edit(_channel_id(message), message_id, text, buttons=message.buttons)

    async def _edit(
        self,
        channel_id: str,
        message_id: str,
        text: str,
        seconds: float = ANSWER_SECONDS,
        buttons: Sequence[Button] = (),
    ) -> str:
        """Edit one of our messages; raises DraftGone if there is none of ours, or no thread.

        Raises Unchangeable if it is there and takes no other text.
        """
        path, body = f"/channels/{channel_id}/messages/{message_id}", content_of(text, buttons)
        forms = Forms("edit")
        while True:
            try:
                await self._api.call("PATCH", path, body, seconds=seconds)
                return message_id
            except ApiRefused as refused:
                match forms.after(refused, ("reopened", "bare", "parts", "token")):
                    case "reopened":
                        await self._reopen(channel_id, refused)
                    case "bare":
                        body = bare_content(text, buttons)
                    case "new":
                        raise Unchangeable(str(refused)) from refused
                    case step:
                        raise self._ended(step, channel_id, refused) from refused

    async def _reopen(self, channel_id: str, why: ApiRefused) -> None:
        """Reopen a thread; if Discord refuses, as for a locked thread, raise `why`."""
        try:
            await self._api.call("PATCH", f"/channels/{channel_id}", {"archived": False})
        except ApiRefused:
            raise why from None

    async def _draft_of(self, message: OutboundMessage) -> str | None:
        for sent in await self._own_since(message):
            own = sent.get("nonce") == nonce_of(message.idem)
            if own or (sent.get("message_reference") and _is_alike(sent, message.text)):
                return str(sent["id"])
        return None

    async def _own_since(self, message: OutboundMessage) -> list[Raw]:
        """Return our own messages that answer the same question, oldest first."""
        channel_id, after = _channel_id(message), _since(message)
        wanted = {message.reply_to} if message.reply_to else set()
        found: list[Raw] = []
        for _page in range(MAX_PAGES):
            query = {"after": str(after), "limit": str(PAGE)}
            page = await self._api.ask(f"/channels/{channel_id}/messages", query)
            page = sorted(page, key=lambda one: int(one["id"]))  # Discord lists the newest first
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


async def _no_path(interaction: str) -> str:
    del interaction
    return ""


def remember(known: dict[str, str], key: str, value: str) -> None:
    """Add an item; the oldest one is forgotten if there are too many."""
    known[key] = value
    if len(known) > MAX_REMEMBERED:
        del known[next(iter(known))]


def note_of(interaction: str) -> str:
    """Return the name of the fact that says which note quotes a command."""
    return f"note/{interaction}"


def nonce_of(idem: str) -> str:
    """Return the nonce of a key, 24 characters long; it is the same after a crash."""
    return urlsafe_b64encode(sha256(idem.encode()).digest()[:18]).decode()


def _channel_id(message: OutboundMessage) -> str:
    return message.thread_id or message.chat_id


def _message(answer: Any) -> Raw:
    if not isinstance(answer, Mapping) or "id" not in answer:
        raise SendRefused("Discord's answer has no message id")
    return answer


def _since(message: OutboundMessage) -> int:
    """Return a message id before this message: the question's id, or one made from its date."""
    if message.reply_to and message.reply_to.isdigit():
        return int(message.reply_to)
    moment = parse_time(message.date) if message.date else None
    return time_snowflake(moment - CLOCK_SKEW) if moment is not None else 0


def _answers(sent: Raw, wanted: set[str]) -> bool:
    to = (sent.get("message_reference") or {}).get("message_id")
    return to is None or not wanted or str(to) in wanted


def _same(sent: Raw, text: str) -> bool:
    return str(sent.get("content", "")).strip() == text


def _is_whole(sent: Raw, text: str, message: OutboundMessage) -> bool:
    """Return whether a message has the text, and buttons if it should have some."""
    if message.buttons and _same(sent, bare_content(text, message.buttons)["content"]):
        return True
    return _same(sent, text) and bool(sent.get("components")) == bool(message.buttons)


def _is_alike(sent: Raw, text: str, *, shorter: bool = False) -> bool:
    """Return whether both texts begin alike and, if `shorter`, `sent` is not the longer one."""
    beginning, whole = _LETTERS.sub("", str(sent.get("content", ""))), _LETTERS.sub("", text)
    if shorter and len(beginning) > len(whole):
        return False
    first = min(len(beginning), len(whole), ALIKE)
    return first > 0 and beginning[:first] == whole[:first]


def _visible(rendered: str, text: str) -> str:
    found = (rendered, text.strip()[:LIMIT])
    return next((one for one in found if is_visible(one)), EMPTY)
