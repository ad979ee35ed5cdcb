"""Text as Slack keeps it: what people type, encoded; and who is alerted by what a bot writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.slack.world import Message

_TOKEN: Final = re.compile(
    r"(?P<pre>```.*?```)|(?P<code>`[^`\n]+`)|(?P<link>https?://[^\s<>|]+[^\s<>|.,!?;:'\")\]])"
    r"|(?<![\w@])@(?P<name>[\w.-]*\w)|(?<![\w#&])#(?P<channel>[\w-]+)",
    re.DOTALL,
)
_QUIET: Final = re.compile(
    r"^[ \t>]*```.*?(?:^[ \t>]*```|\Z)|(?<!`)(`+)(?!`)[^\n]*?[^`\n]\1(?!`)|\bhttps?://[^\s<>]+",
    re.DOTALL | re.MULTILINE,
)
_BROADCASTS: Final = ("here", "channel", "everyone")
_MARKUP: Final = re.compile(r"<(!(?:here|channel|everyone|subteam\^\w+)|@[UW]\w+)(?:\|[^>]*)?>")
_PLAIN: Final = re.compile(r"(?<![\w@])@(here|channel|everyone)\b")


@dataclass(frozen=True, slots=True)
class Typed:
    """Hold what a client makes of typed text: its `text`, and the `rich_text` block of it."""

    text: str
    block: JsonObject


def escaped(text: str) -> str:
    """Escape the three characters that Slack keeps for itself."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescaped(text: str) -> str:
    """Take the escapes back."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def typed(text: str, users: Mapping[str, str], channels: Mapping[str, str]) -> Typed:
    """Encode what somebody types; `users` and `channels` are ids by name.

    A mention is one outside of code only.
    """
    pieces: list[str] = []
    elements: list[JsonObject] = []
    end = 0
    for found in _TOKEN.finditer(text):
        piece, element = _special(found, users, channels)
        if element is None:
            continue
        if plain := text[end : found.start()]:
            pieces.append(escaped(plain))
            elements.append({"type": "text", "text": plain})
        pieces.append(piece)
        elements.append(element)
        end = found.end()
    if plain := text[end:]:
        pieces.append(escaped(plain))
        elements.append({"type": "text", "text": plain})
    section = {"type": "rich_text_section", "elements": elements}
    return Typed("".join(pieces), {"type": "rich_text", "block_id": "b1", "elements": [section]})


def _special(
    found: re.Match[str], users: Mapping[str, str], channels: Mapping[str, str]
) -> tuple[str, JsonObject | None]:
    if code := found["pre"] or found["code"]:
        bare = code.strip("`")
        return escaped(code), {"type": "text", "text": bare, "style": {"code": True}}
    if link := found["link"]:
        return f"<{escaped(link)}>", {"type": "link", "url": link}
    if name := found["name"]:
        if name in _BROADCASTS:
            return f"<!{name}>", {"type": "broadcast", "range": name}
        user = users.get(name)
        return (f"<@{user}>", {"type": "user", "user_id": user}) if user else ("", None)
    channel = channels.get(found["channel"])
    if channel is None:
        return "", None
    return f"<#{channel}|{found['channel']}>", {"type": "channel", "channel_id": channel}


def mentions(text: str, user_id: str) -> bool:
    """Return whether an encoded text mentions a user."""
    return re.search(rf"<@{user_id}(\|[^>]*)?>", text) is not None


def pings(message: Message) -> list[str]:
    """Return whom a message of the bot alerts, as marks like `<!here>` or `<@U1>`.

    Code and addresses of standard Markdown alert nobody. Where Slack does not say whether a form
    alerts, as with marks in the code of other texts, it is taken to.
    https://docs.slack.dev/messaging/formatting-message-text/
    """
    words = message.settings.get("parse") == "full" or _true(message.settings.get("link_names"))
    markdown = message.markdown or message.stream is not None
    texts = [
        _QUIET.sub(" ", text) if markdown else text for text in message.history or [message.text]
    ]
    found = [mark for text in texts for mark in _marks(text, words)]
    return found + [mark for block in message.blocks for mark in _of_block(block)]


def _true(value: object) -> bool:
    return value in (True, 1, "1", "true")


def _marks(text: str, words: bool) -> list[str]:
    found = [f"<{mark}>" for mark in _MARKUP.findall(text)]
    return found + ([f"<!{name}>" for name in _PLAIN.findall(text)] if words else [])


def _of_block(block: JsonObject) -> list[str]:
    if block.get("type") == "markdown":
        return _marks(_QUIET.sub(" ", str(block.get("text", ""))), words=False)
    return [mark for node in _nodes(block) for mark in _of_node(node)]


def _of_node(node: JsonObject) -> list[str]:
    match node.get("type"):
        case "mrkdwn":
            # Unless it is verbatim, "certain mentions" of a text object are found in plain words.
            return _marks(str(node.get("text", "")), words=not node.get("verbatim"))
        case "broadcast":
            return [f"<!{node.get('range')}>"]
        case "user" if "user_id" in node:
            return [f"<@{node['user_id']}>"]
        case "usergroup":
            return [f"<!subteam^{node.get('usergroup_id')}>"]
    return []


def _nodes(value: object) -> Iterable[JsonObject]:
    """Yield every object inside a value, itself included."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _nodes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _nodes(inner)
