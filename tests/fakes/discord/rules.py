"""What Discord refuses, in its own words; each check raises `Refusal` or returns what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tests.fakes.base.http import JsonObject
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.posting import Allowed
from tests.fakes.discord.text import trimmed
from tests.fakes.discord.world import CATEGORY, FORUM, Channel, World

MAX_CONTENT: Final = 2000
MAX_NONCE: Final = 25
MAX_EMBEDS: Final = 10
MAX_EMBED_TEXT: Final = 6000
MAX_ROWS: Final = 5
MAX_BUTTONS: Final = 5
MAX_CUSTOM_ID: Final = 100
MAX_LABEL: Final = 80
_ROW, _BUTTON, _LINK_STYLE = 1, 2, 5
COMPONENTS_V2: Final = 1 << 15
_EMBED_LENGTHS: Final = {"title": 256, "description": 4096, "url": 2048}


@dataclass(eq=False)
class Refusal(Exception):
    """Say that a request is refused; `errors` are those of the form's fields."""

    status: int
    code: int
    message: str
    errors: JsonObject | None = None

    def as_json(self) -> JsonObject:
        """Return the body of the answer."""
        found: JsonObject = {"message": self.message, "code": self.code}
        return found | ({"errors": self.errors} if self.errors else {})


def unknown(what: str, code: int) -> Refusal:
    """Return the 404 for what does not exist."""
    return Refusal(404, code, f"Unknown {what}")


def unknown_channel() -> Refusal:
    """Return the refusal of a channel that does not exist."""
    return unknown("Channel", 10003)


def unknown_message() -> Refusal:
    """Return the refusal of a message that does not exist."""
    return unknown("Message", 10008)


def missing_access() -> Refusal:
    """Return the refusal of what the bot cannot see."""
    return Refusal(403, 50001, "Missing Access")


def missing_permissions() -> Refusal:
    """Return the refusal of what the bot may not do."""
    return Refusal(403, 50013, "Missing Permissions")


def invalid_form(field: str, code: str, message: str) -> Refusal:
    """Return the refusal of one field, whose name may have dots in it."""
    errors: JsonObject = {"_errors": [{"code": code, "message": message}]}
    for name in reversed(field.split(".")):
        errors = {name: errors}
    return Refusal(400, 50035, "Invalid Form Body", errors)


def too_long(field: str, most: int) -> Refusal:
    """Return the refusal of what is too long."""
    return invalid_form(field, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")


def snowflake(field: str, value: object) -> int:
    """Return the id that a value is."""
    text = str(value)
    if isinstance(value, bool) or not text.isdecimal() or int(text) >= 1 << 64:
        message = f'Value "{text}" is not snowflake.'
        raise invalid_form(field, "NUMBER_TYPE_COERCE", message)
    return int(text)


def whole_number(field: str, value: object, least: int, most: int) -> int:
    """Return the number that a value is, between two others."""
    text = str(value)
    if not text.lstrip("-").isdecimal():
        raise invalid_form(field, "NUMBER_TYPE_COERCE", f'Value "{text}" is not int.')
    if int(text) < least:
        message = f"int value should be greater than or equal to {least}."
        raise invalid_form(field, "NUMBER_TYPE_MIN", message)
    if int(text) > most:
        message = f"int value should be less than or equal to {most}."
        raise invalid_form(field, "NUMBER_TYPE_MAX", message)
    return int(text)


def visible(world: World, channel_id: int) -> Channel:
    """Return a channel that the bot can see."""
    channel = world.channels.get(channel_id)
    if channel is None:
        raise unknown_channel()
    if not world.may(channel, world.bot.id, Permission.VIEW_CHANNEL):
        raise missing_access()
    return channel


def permitted(world: World, channel: Channel, *wanted: Permission) -> None:
    """Refuse what the bot may not do in a channel."""
    if not world.may(channel, world.bot.id, *wanted):
        raise missing_permissions()


def writable(world: World, channel: Channel) -> None:
    """Refuse to write where nothing can be written, or not by the bot."""
    if channel.person is not None:
        if not channel.person.takes_dms:
            raise Refusal(403, 50007, "Cannot send messages to this user")
        return
    if channel.kind in (CATEGORY, FORUM):
        raise Refusal(400, 50008, "Cannot send messages in a non-text channel")
    if channel.is_thread:
        permitted(world, channel, Permission.SEND_MESSAGES_IN_THREADS)
        if channel.locked and not world.may(channel, world.bot.id, Permission.MANAGE_THREADS):
            raise archived()
    else:
        permitted(world, channel, Permission.SEND_MESSAGES)


def archived() -> Refusal:
    """Return the refusal of an archived thread."""
    return Refusal(400, 50083, "Thread is archived")


@dataclass(frozen=True, slots=True)
class Body:
    """Hold the checked fields of a message that is sent or edited; None: not given."""

    content: str | None
    embeds: list[JsonObject] | None
    components: list[JsonObject] | None
    flags: int
    allowed: Allowed
    nonce: str | None
    enforced: bool

    @property
    def says_nothing(self) -> bool:
        """Return whether there is neither text nor anything else in it."""
        return not self.content and not self.embeds and not self.components


def checked_body(params: JsonObject) -> Body:
    """Return the fields of a message."""
    flags = params.get("flags") or 0
    if not isinstance(flags, int):
        raise invalid_form("flags", "NUMBER_TYPE_COERCE", f'Value "{flags}" is not int.')
    body = Body(
        _content(params),
        _embeds(params),
        _components(params, flags),
        flags,
        checked_allowed(params.get("allowed_mentions")),
        _nonce(params.get("nonce")),
        params.get("enforce_nonce") is True,
    )
    if flags & COMPONENTS_V2 and (body.content or body.embeds):
        message = "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
        code = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"
        raise invalid_form("content" if body.content else "embeds", code, message)
    return body


def _content(params: JsonObject) -> str | None:
    content = params.get("content")
    if content is None:
        return "" if "content" in params else None
    if not isinstance(content, str):
        raise invalid_form("content", "STRING_TYPE_CONVERT", f'Could not convert "{content}"')
    # Discord counts code points, of what is left after trimming.
    if len(trimmed(content)) > MAX_CONTENT:
        raise too_long("content", MAX_CONTENT)
    return trimmed(content)


def _a_list(params: JsonObject, field: str) -> list[JsonObject] | None:
    found = params.get(field)
    if found is None:
        return [] if field in params else None
    if not isinstance(found, list):
        raise invalid_form(field, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    for number, one in enumerate(found):
        if not isinstance(one, dict):
            message = "Only dictionaries may be used in a DictType"
            raise invalid_form(f"{field}.{number}", "DICT_TYPE_CONVERT", message)
    return found


def _components(params: JsonObject, flags: int) -> list[JsonObject] | None:
    rows = _a_list(params, "components")
    if not rows or flags & COMPONENTS_V2:
        return rows
    _fit("components", rows, MAX_ROWS)
    seen: set[str] = set()
    for at, row in enumerate(rows):
        where = f"components.{at}"
        if row.get("type") != _ROW:
            message = f'Value of field "type" must be one of ({_ROW},).'
            raise invalid_form(f"{where}.type", "UNION_TYPE_CHOICES", message)
        parts = _a_list(row, "components") or []
        _fit(f"{where}.components", parts, MAX_BUTTONS)
        for place, part in enumerate(parts):
            _button(part, f"{where}.components.{place}", seen)
    return rows


def _fit(field: str, found: list[JsonObject], most: int) -> None:
    if not 1 <= len(found) <= most:
        raise invalid_form(
            field, "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {most} in length."
        )


def _button(part: JsonObject, where: str, seen: set[str]) -> None:
    """Refuse a button that Discord refuses; other components are not checked."""
    if part.get("type") != _BUTTON or part.get("style") == _LINK_STYLE:
        return
    if part.get("style") not in (1, 2, 3, 4):
        raise invalid_form(f"{where}.style", "BASE_TYPE_REQUIRED", "This field is required")
    if len(str(part.get("label") or "")) > MAX_LABEL:
        raise too_long(f"{where}.label", MAX_LABEL)
    if not part.get("label") and not part.get("emoji"):
        message = "A button must have a label, emoji, or be a premium button"
        raise invalid_form(where, "BUTTON_COMPONENT_INVALID", message)
    number = str(part.get("custom_id") or "")
    if not number:
        message = "A custom id is required"
        raise invalid_form(f"{where}.custom_id", "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", message)
    if len(number) > MAX_CUSTOM_ID:
        raise too_long(f"{where}.custom_id", MAX_CUSTOM_ID)
    if number in seen:
        message = "Component custom id cannot be duplicated"
        raise invalid_form(f"{where}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", message)
    seen.add(number)


def _embeds(params: JsonObject) -> list[JsonObject] | None:
    embeds = _a_list(params, "embeds")
    if embeds is None:
        return None
    if len(embeds) > MAX_EMBEDS:
        raise too_long("embeds", MAX_EMBEDS)
    for number, embed in enumerate(embeds):
        for field, most in _EMBED_LENGTHS.items():
            if len(str(embed.get(field) or "")) > most:
                raise too_long(f"embeds.{number}.{field}", most)
    if sum(_embed_size(embed) for embed in embeds) > MAX_EMBED_TEXT:
        message = f"Embed size exceeds maximum size of {MAX_EMBED_TEXT}"
        raise invalid_form("embeds", "MAX_EMBED_SIZE_EXCEEDED", message)
    return [{"type": "rich"} | embed for embed in embeds]


def _embed_size(embed: JsonObject) -> int:
    fields = [one for one in embed.get("fields") or [] if isinstance(one, dict)]
    texts = [embed.get("title"), embed.get("description")]
    texts += [(embed.get("footer") or {}).get("text"), (embed.get("author") or {}).get("name")]
    texts += [field.get(name) for field in fields for name in ("name", "value")]
    return sum(len(text) for text in texts if text)


def _nonce(nonce: Any) -> str | None:
    if nonce is None:
        return None
    if not isinstance(nonce, str | int) or isinstance(nonce, bool):
        raise invalid_form("nonce", "NONCE_TYPE_INVALID", "Nonce must be a string or an integer")
    if len(str(nonce)) > MAX_NONCE:
        raise too_long("nonce", MAX_NONCE)
    return str(nonce)


def checked_allowed(given: Any) -> Allowed:
    """Return whom a message may alert; without the field, everybody it names."""
    if given is None:
        return Allowed()
    if not isinstance(given, dict):
        message = "Only dictionaries may be used in a DictType"
        raise invalid_form("allowed_mentions", "DICT_TYPE_CONVERT", message)
    parse = given.get("parse")
    kinds = set(parse if isinstance(parse, list) else ())
    if bad := kinds - {"users", "roles", "everyone"}:
        message = f"Value must be one of {{'roles', 'users', 'everyone'}}, not {sorted(bad)[0]!r}."
        raise invalid_form("allowed_mentions.parse.0", "BASE_TYPE_CHOICES", message)
    return Allowed(
        _those(given, "users", kinds),
        _those(given, "roles", kinds),
        "everyone" in kinds,
        given.get("replied_user") is True,
    )


def _those(given: JsonObject, kind: str, kinds: set[str]) -> frozenset[int] | None:
    listed = given.get(kind) or []
    if kind in kinds:
        if listed:
            message = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
            code = "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"
            raise invalid_form("allowed_mentions", code, message)
        return None
    if len(listed) > 100:
        raise too_long(f"allowed_mentions.{kind}", 100)
    return frozenset(snowflake(f"allowed_mentions.{kind}.0", one) for one in listed)


def replied_to(channel: Channel, params: JsonObject) -> int | None:
    """Return the id of the message that is answered; None without one, or with one that is gone."""
    wanted = params.get("message_reference")
    if wanted is None:
        return None
    if not isinstance(wanted, dict):
        message = "Only dictionaries may be used in a DictType"
        raise invalid_form("message_reference", "DICT_TYPE_CONVERT", message)
    number = snowflake("message_reference.message_id", wanted.get("message_id"))
    place = wanted.get("channel_id")
    if place is not None and snowflake("message_reference.channel_id", place) != channel.id:
        message = "Cannot reply to a message in a different channel"
        raise invalid_form("message_reference", "REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL", message)
    if number in channel.messages:
        return number
    if wanted.get("fail_if_not_exists", True) is False:
        return None
    raise invalid_form("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
