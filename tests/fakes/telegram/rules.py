"""What Telegram refuses, in its own words, and how much it lets through.

Each check raises `Refusal` or returns what the server goes on with.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.entities import BadEntity, Text, checked, detected
from tests.fakes.telegram.markup import parsed
from tests.fakes.telegram.world import Chat, Press, Topic, World

MAX_TEXT: Final = 4096
MAX_CAPTION: Final = 1024
MAX_ENTITIES: Final = 100
MAX_BUTTONS: Final = 100
MAX_CALLBACK_DATA: Final = 64
MAX_ALERT: Final = 200
PRESS_SECONDS: Final = 15 * 60.0
TOLERANCE: Final = 0.05

_COMMAND: Final = re.compile(r"[a-z0-9_]{1,32}")
_INVISIBLE: Final = " \n\t\r\v\f\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"


@dataclass(eq=False)
class Refusal(Exception):
    """Say that a call is refused; `parameters` is the answer's ResponseParameters."""

    code: int
    description: str
    parameters: JsonObject = field(default_factory=dict)


def bad_request(what: str, **parameters: object) -> Refusal:
    """Return the 400 of a reason."""
    return Refusal(400, f"Bad Request: {what}", dict(parameters))


def known_chat(world: World, params: JsonObject) -> Chat:
    """Return the chat that a call is about, whether or not the bot may write in it."""
    if params.get("chat_id") in (None, ""):
        raise bad_request("chat_id is empty")
    chat = world.find_chat(params["chat_id"])
    if chat is None:
        raise bad_request("chat not found")
    if chat.migrated_to is not None:
        raise bad_request(
            "group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to
        )
    return chat


def open_chat(world: World, params: JsonObject) -> Chat:
    """Return the chat of a call; refuse it where the bot has no place (any more)."""
    chat = known_chat(world, params)
    if chat.bot_status in ("member", "administrator"):
        return chat
    if chat.kind == "private":
        if chat.bot_status == "kicked":
            raise Refusal(403, "Forbidden: bot was blocked by the user")
        raise Refusal(403, "Forbidden: bot can't initiate conversation with a user")
    did = "was kicked from" if chat.bot_status == "kicked" else "is not a member of"
    raise Refusal(403, f"Forbidden: bot {did} the {chat.kind} chat")


def open_topic(chat: Chat, params: JsonObject) -> Topic | None:
    """Return the topic that a message goes to, None for no topic or the General one."""
    thread = params.get("message_thread_id")
    if not thread:
        return None
    topic = chat.topics.get(thread)
    # General is no such topic: its id 1 serves for typing, and nothing can be sent to it.
    if topic is None:
        raise bad_request("message thread not found")
    if topic.closed:
        raise bad_request("TOPIC_CLOSED")
    return topic


def replied_to(chat: Chat, params: JsonObject) -> int | None:
    """Return the id of the message that is answered; None without one, or with one that is gone."""
    wanted = params.get("reply_parameters")
    if wanted is None and "reply_to_message_id" in params:
        allowed = bool(params.get("allow_sending_without_reply"))
        wanted = {
            "message_id": params["reply_to_message_id"],
            "allow_sending_without_reply": allowed,
        }
    if wanted is None:
        return None
    if not isinstance(wanted, dict):
        raise bad_request("object expected as reply parameters")
    message_id = wanted.get("message_id")
    if message_id in chat.messages:
        return int(message_id)
    if wanted.get("allow_sending_without_reply"):
        return None
    raise bad_request("message to be replied not found")


def given_text(params: JsonObject) -> str:
    """Return the text of a call, refused when there is none at all."""
    text = params.get("text")
    if text is None or text == "":
        raise bad_request("message text is empty")
    return str(text)


def fit_text(
    text: str, params: JsonObject, limit: int = MAX_TEXT, too_long: str = "message is too long"
) -> tuple[Text, int]:
    """Return the text as it is stored, with its entities, and how many entities were dropped.

    Nothing but spaces is refused in other words than nothing at all, as the real server does.
    The length is counted after trimming.
    """
    entities = params.get("entities") or params.get("caption_entities") or []
    if not isinstance(entities, list):
        raise bad_request("can't parse entities JSON object")
    try:
        if params.get("parse_mode"):
            text, entities = parsed(text, str(params["parse_mode"]))
        dropped = max(len(entities) - MAX_ENTITIES, 0)
        fit = checked(text, entities[:MAX_ENTITIES])
    except BadEntity as error:
        raise bad_request(str(error)) from error
    if not fit.text.strip(_INVISIBLE):
        raise bad_request("text must be non-empty")
    if fit.length > limit:
        raise bad_request(too_long)
    return fit, dropped


def keyboard(params: JsonObject) -> JsonObject | None:
    """Return the inline keyboard of a call; None without one, and for one without a button."""
    markup = params.get("reply_markup")
    if markup is None:
        return None
    rows = markup.get("inline_keyboard") if isinstance(markup, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad_request("object expected as reply markup")
    buttons = [button for row in rows for button in row]
    for button in buttons:
        _check_button(button)
    if len(buttons) > MAX_BUTTONS:
        raise bad_request("reply markup is too long")
    return markup if buttons else None


def _check_button(button: object) -> None:
    if not isinstance(button, dict) or not isinstance(button.get("text"), str):
        raise bad_request("can't parse inline keyboard button: can't find field \"text\"")
    if not button["text"].strip():
        raise bad_request("inline keyboard button text must be non-empty")
    data = button.get("callback_data")
    if not isinstance(data, str):
        raise bad_request("text buttons are unallowed in the inline keyboard")
    if not 0 < len(data.encode()) <= MAX_CALLBACK_DATA:
        raise bad_request("BUTTON_DATA_INVALID")


def press_of(world: World, params: JsonObject, now: float) -> Press:
    """Return the press that a call answers; it is answered once, and not after some minutes."""
    press = world.presses.get(str(params.get("callback_query_id", "")))
    if press is None or press.shown is not None or now - press.at > PRESS_SECONDS:
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    if len(str(params.get("text") or "").encode("utf-16-le")) > 2 * MAX_ALERT:
        raise bad_request("MESSAGE_TOO_LONG")
    return press


def previews(params: JsonObject, text: str, entities: Sequence[JsonObject]) -> bool:
    """Return whether people see a preview of a link in a message; a rich one has none."""
    if "rich_message" in params:
        return False
    options = params.get("link_preview_options") or {}
    if options.get("is_disabled") or params.get("disable_web_page_preview"):
        return False
    found = [*entities, *detected(text)]
    return any(entity["type"] in ("url", "text_link") for entity in found)


def checked_commands(params: JsonObject) -> list[JsonObject]:
    """Return the commands of setMyCommands."""
    commands = params.get("commands")
    if not isinstance(commands, list):
        raise bad_request("can't parse commands JSON object")
    if len(commands) > 100:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for entry in commands:
        if not _COMMAND.fullmatch(str(entry.get("command", "")).removeprefix("/")):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= len(str(entry.get("description", ""))) <= 256:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
    return commands


@dataclass(slots=True)
class _Window:
    """Allow `most` calls in `seconds`; a call while it is closed restarts the wait."""

    most: int
    seconds: float
    times: deque[float] = field(default_factory=deque)
    closed_until: float = -math.inf
    closed_for: float = 0.0

    def wait(self, now: float) -> float:
        """Return the seconds to wait, 0.0 when the next call may come."""
        if now < self.closed_until - TOLERANCE:
            return self.closed_until - now
        while self.times and now - self.times[0] >= self.seconds - TOLERANCE:
            self.times.popleft()
        return self.times[0] + self.seconds - now if len(self.times) >= self.most else 0.0

    def close(self, now: float, wait: float) -> float:
        """Close for so many seconds, or for as many as before, and return them."""
        still = now < self.closed_until - TOLERANCE
        self.closed_for = self.closed_for if still else math.ceil(wait)
        self.closed_until = now + self.closed_for
        return self.closed_for


class Limits:
    """Count messages and edits: 30 a second in all, 1 a second a chat, 20 a minute a group."""

    def __init__(self) -> None:
        self._all = _Window(30, 1.0)
        self._chats: dict[int, _Window] = {}
        self._groups: dict[int, _Window] = {}

    def charge(self, chat: Chat, now: float) -> None:
        """Count one message or edit; refuse it with 429 when it is one too many."""
        windows = list(self._windows(chat))
        for window in windows:
            if (wait := window.wait(now)) > 0:
                seconds = int(window.close(now, wait))
                raise too_many(seconds)
        for window in windows:
            window.times.append(now)

    def _windows(self, chat: Chat) -> Iterator[_Window]:
        yield self._all
        yield self._chats.setdefault(chat.id, _Window(1, 1.0))
        if chat.kind != "private":
            yield self._groups.setdefault(chat.id, _Window(20, 60.0))


def too_many(seconds: int) -> Refusal:
    """Return the 429 that asks to wait for so many seconds."""
    description = f"Too Many Requests: retry after {seconds}"
    return Refusal(429, description, {"retry_after": seconds})
