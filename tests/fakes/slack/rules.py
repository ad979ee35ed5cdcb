"""What Slack refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import orjson

from tests.fakes.base.http import JsonObject
from tests.fakes.slack.world import Channel, Message, Workspace, parsed_ts

MAX_TEXT: Final = 40_000
MAX_UPDATE_TEXT: Final = 4_000
MAX_MARKDOWN: Final = 12_000
MAX_BLOCKS: Final = 50
MAX_SECTION: Final = 3_000
MAX_METADATA: Final = 16_384


class Refusal(Exception):
    """Say that a call is refused; `more` goes into the answer beside the error."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.more: JsonObject = more


class TooFast(Refusal):
    """Say that a call comes too early."""

    def __init__(self, seconds: int) -> None:
        super().__init__("ratelimited")
        self.seconds = seconds


@dataclass(slots=True)
class Asked:
    """Hold one call of a method that is allowed to be made, and by whom."""

    workspace: Workspace
    params: JsonObject

    def text(self, name: str, default: str = "") -> str:
        """Return a parameter that is text; raises Refusal."""
        value = self.params.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise invalid_arguments(f"[ERROR] must be a string [json-pointer:/{name}]")
        return value

    def needed(self, name: str) -> str:
        """Return a parameter that there must be; raises Refusal."""
        if not (value := self.text(name)):
            raise invalid_arguments(f"[ERROR] missing required field: {name}")
        return value

    def flag(self, name: str) -> bool:
        """Return a parameter that is true or false; raises Refusal."""
        value = self.params.get(name, False)
        if value in (True, "1", "true", "True", 1):
            return True
        if value in (False, "0", "false", "False", "", 0, None):
            return False
        raise invalid_arguments(f"[ERROR] must be a boolean [json-pointer:/{name}]")

    def number(self, name: str, default: int) -> int:
        """Return a parameter that is a whole number; raises Refusal."""
        value = self.params.get(name)
        if value in (None, ""):
            return default
        try:
            return int(value)
        except (TypeError, ValueError):
            raise invalid_arguments(f"[ERROR] must be a number [json-pointer:/{name}]") from None

    def json(self, name: str, error: str) -> Any:
        """Return a parameter that is JSON, itself or as text; raises Refusal."""
        value = self.params.get(name)
        if not isinstance(value, str):
            return value
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            raise Refusal(error) from None


def invalid_arguments(*messages: str) -> Refusal:
    """Return the refusal of arguments that are of the wrong form."""
    return Refusal("invalid_arguments", response_metadata={"messages": list(messages)})


def channel_of(asked: Asked, name: str = "channel") -> Channel:
    """Return a channel that the bot may know of; raises Refusal."""
    given = asked.needed(name)
    workspace = asked.workspace
    channel = workspace.channels.get(given)
    if channel is None and given.startswith("U"):
        channel = next(
            (it for it in workspace.channels.values() if it.kind == "im" and it.person == given),
            None,
        )
    if channel is None or (channel.is_private and workspace.bot.id not in channel.members):
        raise Refusal("channel_not_found")
    return channel


def joined_channel(asked: Asked, name: str = "channel") -> Channel:
    """Return a channel that the bot is in; raises Refusal."""
    channel = channel_of(asked, name)
    if asked.workspace.bot.id not in channel.members:
        raise Refusal("not_in_channel")
    return channel


def open_channel(asked: Asked, name: str = "channel") -> Channel:
    """Return a channel that the bot may write in; raises Refusal."""
    channel = joined_channel(asked, name)
    if channel.archived:
        raise Refusal("is_archived")
    person = asked.workspace.users.get(channel.person or "")
    if person is not None and person.deleted:
        raise Refusal("channel_not_found")
    return channel


def thread_of(asked: Asked, channel: Channel) -> str | None:
    """Return the thread that a message is for; raises Refusal."""
    given = asked.text("thread_ts")
    if not given:
        return None
    valid_ts(given, "invalid_thread_ts")
    parent = channel.messages.get(given)
    if parent is None:
        raise Refusal("thread_not_found")
    # An answer to an answer goes into the thread that this is in.
    return parent.thread_ts or parent.ts


def own_message(asked: Asked, channel: Channel, error: str) -> Message:
    """Return a message that the bot may change; raises Refusal, for others' with `error`."""
    ts = asked.needed("ts")
    message = channel.messages.get(ts)
    if message is None or message.json.get("subtype") == "tombstone":
        raise Refusal("message_not_found")
    if not message.mine:
        raise Refusal(error)
    return message


def valid_ts(ts: str, error: str) -> tuple[int, int]:
    """Return a timestamp as numbers; raises Refusal."""
    try:
        return parsed_ts(ts)
    except ValueError:
        raise Refusal(error) from None


@dataclass(slots=True)
class Content:
    """Hold what a message is to say; `cut` tells that Slack shortened its text."""

    text: str
    blocks: list[JsonObject]
    markdown: bool = False
    cut: bool = False


def content_of(asked: Asked) -> Content:
    """Return what a post or an update says; raises Refusal."""
    text, markdown = asked.text("text"), asked.text("markdown_text")
    blocks = blocks_of(asked)
    if markdown.strip():
        if text or blocks:
            raise Refusal("markdown_text_conflict")
        return Content(checked_markdown(markdown), [], markdown=True)
    if not text.strip() and not blocks and not asked.params.get("attachments"):
        raise Refusal("no_text")
    return Content(text[:MAX_TEXT], blocks, cut=len(text) > MAX_TEXT)


def checked_markdown(text: str) -> str:
    """Return Markdown that is not too long; raises Refusal."""
    if len(text) > MAX_MARKDOWN:
        raise Refusal("msg_too_long")
    return drawn_markdown(text)


def drawn_markdown(text: str) -> str:
    """Return Markdown of which Slack makes no more blocks than a message may have.

    One piece becomes several: each heading, list, table, code and paragraph. Of tables there may be
    one: https://docs.slack.dev/reference/block-kit/blocks/table-block. Raises Refusal.
    """
    outside = _FENCED.sub("```\n", text)
    if sum(1 for piece in _BLANK_LINE.split(outside) if piece.strip()) > MAX_BLOCKS:
        raise _bad_block("", f"no more than {MAX_BLOCKS} items allowed")
    if len(_TABLE.findall(outside)) > 1:
        raise Refusal("invalid_attachments")
    return text


def blocks_of(asked: Asked) -> list[JsonObject]:
    """Return the blocks of a message; raises Refusal."""
    given = asked.json("blocks", "invalid_blocks_format")
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(block, dict) for block in given):
        raise Refusal("invalid_blocks_format")
    if len(given) > MAX_BLOCKS:
        raise _bad_block("", f"no more than {MAX_BLOCKS} items allowed")
    for number, block in enumerate(given):
        _check_block(block, f"/blocks/{number}")
    # The sum is documented for Markdown blocks only, and refused for the others too.
    if _length(given) > MAX_MARKDOWN:
        raise Refusal("msg_blocks_too_long")
    return given


def _length(value: Any) -> int:
    if isinstance(value, list):
        return sum(_length(it) for it in value)
    if not isinstance(value, dict):
        return 0
    text = value.get("text")
    return (len(text) if isinstance(text, str) else 0) + sum(map(_length, value.values()))


_FENCED: Final = re.compile(r"^[ \t>]*```.*?(?:^[ \t>]*```|\Z)", re.DOTALL | re.MULTILINE)
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")
_TABLE: Final = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$", re.MULTILINE)
_BLOCKS: Final = frozenset(
    {
        "actions",
        "context",
        "context_actions",
        "divider",
        "file",
        "header",
        "image",
        "input",
        "markdown",
        "plan",
        "rich_text",
        "section",
        "table",
        "task_card",
        "video",
    }
)


def _check_block(block: JsonObject, place: str) -> None:
    kind = block.get("type")
    if kind not in _BLOCKS:
        raise _bad_block(f"{place}/type", f"unsupported type: {kind}")
    if len(str(block.get("block_id", ""))) > 255:
        raise _bad_block(f"{place}/block_id", "must be less than 256 characters")
    match kind:
        case "section":
            if "text" not in block and "fields" not in block:
                raise _bad_block(place, "missing required field: text")
            if "text" in block:
                _check_text(block["text"], f"{place}/text", MAX_SECTION)
            fields = block.get("fields", [])
            if len(fields) > 10:
                raise _bad_block(f"{place}/fields", "no more than 10 items allowed")
            for number, field_ in enumerate(fields):
                _check_text(field_, f"{place}/fields/{number}", 2_000)
        case "header":
            _check_text(block.get("text"), f"{place}/text", 150, ("plain_text",))
        case "markdown":
            if not isinstance(block.get("text"), str) or not block["text"]:
                raise _bad_block(f"{place}/text", "missing required field: text")
            drawn_markdown(block["text"])
        case "context" | "actions" | "rich_text" | "context_actions":
            most = {"context": 10, "actions": 25, "context_actions": 5}.get(str(kind), 1_000)
            elements = block.get("elements")
            if not isinstance(elements, list) or not 0 < len(elements) <= most:
                raise _bad_block(f"{place}/elements", f"from 1 to {most} items allowed")
            if kind == "actions":
                _check_buttons(elements, f"{place}/elements")


def _check_buttons(elements: list[Any], place: str) -> None:
    ids = [str(element.get("action_id", "")) for element in elements]
    for number, element in enumerate(elements):
        if element.get("type") == "button":
            _check_text(element.get("text"), f"{place}/{number}/text", 75, ("plain_text",))
        if len(str(element.get("value", ""))) > 2_000:
            raise _bad_block(f"{place}/{number}/value", "must be less than 2001 characters")
        if len(ids[number]) > 255 or (ids[number] and ids.count(ids[number]) > 1):
            raise _bad_block(f"{place}/{number}/action_id", "must be unique and not too long")


def _check_text(
    text: Any, place: str, most: int, kinds: tuple[str, ...] = ("mrkdwn", "plain_text")
) -> None:
    if not isinstance(text, dict) or text.get("type") not in kinds:
        raise _bad_block(place, "failed to match all allowed schemas")
    given = text.get("text")
    if not isinstance(given, str) or not given:
        raise _bad_block(f"{place}/text", "must be more than 0 characters")
    if len(given) > most:
        raise _bad_block(f"{place}/text", f"must be less than {most + 1} characters")


def _bad_block(place: str, problem: str) -> Refusal:
    told = f"{problem} [json-pointer:{place}]"
    return Refusal(
        "invalid_blocks", errors=[told], response_metadata={"messages": [f"[ERROR] {told}"]}
    )


def metadata_of(asked: Asked) -> JsonObject | None:
    """Return the metadata of a message; raises Refusal."""
    given = asked.json("metadata", "invalid_metadata_format")
    if given is None:
        return None
    if not isinstance(given, dict) or not isinstance(given.get("event_payload"), dict):
        raise Refusal("invalid_metadata_format")
    kind = given.get("event_type")
    if not isinstance(kind, str) or not kind or len(kind) > 255:
        raise Refusal("invalid_metadata_format")
    if len(orjson.dumps(given)) > MAX_METADATA:
        raise Refusal("metadata_too_large")
    return {"event_type": kind, "event_payload": given["event_payload"]}


_SCOPES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "assistant.threads.setStatus": ("chat:write", "assistant:write"),
        "bots.info": ("users:read",),
        "chat.appendStream": ("chat:write",),
        "chat.delete": ("chat:write",),
        "chat.postEphemeral": ("chat:write",),
        "chat.postMessage": ("chat:write",),
        "chat.startStream": ("chat:write",),
        "chat.stopStream": ("chat:write",),
        "chat.update": ("chat:write",),
        "conversations.history": ("{}:history",),
        "conversations.info": ("{}:read",),
        "conversations.join": ("channels:join",),
        "conversations.members": ("{}:read",),
        "conversations.open": ("im:write", "mpim:write"),
        "conversations.replies": ("{}:history",),
        "files.info": ("files:read",),
        "reactions.add": ("reactions:write",),
        "reactions.remove": ("reactions:write",),
        "team.info": ("team:read",),
        "users.info": ("users:read",),
        "users.list": ("users:read",),
    }
)
PLURAL: Final = MappingProxyType(
    {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}
)


def scope_refusal(method: str, channel: Channel | None, scopes: set[str]) -> Refusal | None:
    """Return the refusal of a call that the app has no scope for."""
    kind = PLURAL[channel.kind if channel is not None else "channel"]
    wanted = [scope.format(kind) for scope in _SCOPES.get(method, ())]
    if not wanted or any(scope in scopes for scope in wanted):
        return None
    return Refusal("missing_scope", needed=wanted[0], provided=",".join(sorted(scopes)))
