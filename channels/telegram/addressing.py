"""Decides which messages are for the agent, and by which rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from channels.commands import after_mention, command_line, named_bot
from channels.mentions import calls, mentions
from channels.telegram.address import is_ephemeral, message_of
from channels.telegram.fields import Raw, covered, part, thread_of, utf16_length

COMMANDS: Final = {
    "start": "say hello",
    "help": "show what I can do",
    "stop": "stop the answer I'm writing for you",
    "reset": "start over, without the messages so far",
    "handoff": "set a checkpoint: what to remember from here on",
    "rewind": "go back to an earlier checkpoint",
    "open": "let everybody in this chat ask me (my owner only)",
    "console": "a link to the console, in private (my owner and admins only)",
    "forget": "forget me: delete what I wrote here",
}

_NOT_PROSE: Final = frozenset(
    ("code", "pre", "url", "text_link", "email", "mention", "text_mention", "bot_command")
)
_SHOWN: Final = frozenset(("code", "pre", "blockquote", "expandable_blockquote"))
"""The entities whose text is shown to others, not said to the bot."""

FOR_ANOTHER: Final = "a command for another bot"


@dataclass(frozen=True, slots=True)
class TelegramSelf:
    """The bot's own id and username, its names in chats, and the rules by which it answers."""

    id: int
    username: str
    names: Sequence[str] = ()
    answers: frozenset[str] = frozenset()


def addressed(
    raw: Raw, text: str, entities: Sequence[Raw], me: TelegramSelf, *, forwarded: bool
) -> tuple[bool, str]:
    """Return whether a message is for the agent, and the rule that decided it."""
    if raw["chat"].get("type") == "private":
        return ("private" in me.answers, "private chat")
    if is_ephemeral(raw):
        return True, "only the bot sees it"
    bot = "" if forwarded else named_bot(text)
    if bot and not _is_mine(bot, me):
        return False, FOR_ANOTHER
    is_mentioned = bool(bot) or (not forwarded and _mentions_me(text, entities, me))
    if "mention" in me.answers and is_mentioned:
        return True, "mention"
    if "reply" in me.answers and _replies_to(raw, me):
        return True, "reply"
    if not forwarded and "name" in me.answers and calls(prose(text, entities), me.names):
        return True, "name"
    return False, "forwarded" if forwarded else "said to the group"


def may_follow(raw: Raw, entities: Sequence[Raw], me: TelegramSelf) -> bool:
    """Return whether a message is for the agent if an earlier message in its topic was."""
    to_others = any(entity.get("type") in ("mention", "text_mention") for entity in entities)
    return "topic" in me.answers and thread_of(raw) not in (None, "1") and not to_others


def as_command(text: str, entities: Sequence[Raw], me: TelegramSelf) -> str:
    """Return the command line that a text has the form of, beginning with a comma, or ""."""
    said = after_mention(text, _leading_mention(text, entities, me))
    at = utf16_length(text) - utf16_length(said.lstrip())
    if any(one.get("type") in _SHOWN and int(one["offset"]) <= at for one in entities):
        return ""
    line = command_line(said, lambda bot: _is_mine(bot, me))
    return ",forget me" if line.strip() == ",forget" else line  # the menu sends the bare name


def without_own(mentions: Iterable[str], me: TelegramSelf) -> tuple[str, ...]:
    """Return those of the usernames and user ids mentioned that are not the bot's own."""
    return tuple(
        one
        for one in mentions
        if one != str(me.id) and not (one.startswith("@") and _is_mine(one[1:], me))
    )


def mentioned(text: str, entities: Iterable[Raw]) -> Iterable[str]:
    """Yield the usernames and user ids that a text mentions."""
    for entity in entities:
        if entity.get("type") == "mention":
            yield covered(text, entity)
        elif entity.get("type") == "text_mention" and part(entity, "user").get("id"):
            yield str(entity["user"]["id"])


def replied(raw: Raw) -> Raw:
    """Return the message replied to, also in another topic or chat, or an empty one.

    The first message of a topic does not count: every message of the topic names it.
    """
    near = part(raw, "reply_to_message")
    is_root = raw.get("is_topic_message") and near.get("message_id") == raw.get("message_thread_id")
    if near and not is_root and "forum_topic_created" not in near:
        return near
    return part(raw, "external_reply")


def reply_to(raw: Raw) -> str | None:
    """Return the id of the message replied to, if it is in this chat."""
    found = replied(raw)
    if "origin" in found and part(found, "chat").get("id") != raw["chat"].get("id"):
        return None
    if "origin" in found:
        return str(int(found["message_id"])) if found.get("message_id") else None
    return message_of(found) if found else None


def prose(text: str, entities: Sequence[Raw]) -> str:
    """Return a text without its code, links and mentions."""
    if not entities:
        return _outside_code(text)
    units = text.encode("utf-16-le", "surrogatepass")
    kept, at = bytearray(), 0
    for entity in sorted(entities, key=lambda one: int(one.get("offset", 0))):
        if entity.get("type") in _NOT_PROSE:
            start = int(entity["offset"]) * 2
            if start > at:
                kept += units[at:start] + b" \x00"
            at = max(at, start + int(entity["length"]) * 2)
    kept += units[at:]
    return kept.decode("utf-16-le", "replace")


_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_CHUNK: Final = re.compile(r"\S+")
_URL: Final = re.compile(r"://\S")
_ADDRESS: Final = re.compile(r"(?<!\w)\w+\.\w{2,}/\S*")


def _outside_code(text: str) -> str:
    # Some servers send no entities. A single pattern would backtrack at each letter of a long word.
    rest = _CODE.sub(" ", text)
    if "://" in rest:
        rest = _CHUNK.sub(lambda one: " " if _URL.search(one[0]) else one[0], rest)
    return _ADDRESS.sub(" ", rest)


_LEADING: Final = re.compile(r"\s*@(\w+)")


def _leading_mention(text: str, entities: Sequence[Raw], me: TelegramSelf) -> int:
    """Return where a mention of the bot ends that a text begins with, or 0."""
    first = next((one for one in entities if one.get("type") == "text_mention"), None)
    if first is not None and (first.get("user") or {}).get("id") == me.id:
        name = covered(text, first)
        start = len(text) - len(text.lstrip())
        is_first = utf16_length(text[:start]) == int(first["offset"])
        return start + len(name) if is_first else 0
    found = _LEADING.match(text)
    return found.end() if found is not None and _is_mine(found[1], me) else 0


def _mentions_me(text: str, entities: Sequence[Raw], me: TelegramSelf) -> bool:
    if not entities:
        return bool(me.username) and mentions(_outside_code(text), me.username)
    for entity in entities:
        if entity.get("type") == "text_mention" and entity.get("user", {}).get("id") == me.id:
            return True
        if entity.get("type") == "mention" and _is_mine(covered(text, entity)[1:], me):
            return True
    return False


def _is_mine(username: str, me: TelegramSelf) -> bool:
    if not me.username:  # the server does not report it, but a bot's username ends with "bot"
        return username.lower().endswith("bot")
    return username.lower() == me.username.lower()


def _replies_to(raw: Raw, me: TelegramSelf) -> bool:
    found = replied(raw)
    author = part(found, "from") or part(part(found, "origin"), "sender_user")
    return reply_to(raw) is not None and author.get("id") == me.id
