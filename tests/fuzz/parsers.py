"""The parsers that meet bytes from outside: what each gets, and the errors that it may raise."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson
from hypothesis import strategies as st
from pydantic import ValidationError

from agent.errors import AgentError
from agent.models.openai_stream import StreamReader
from agent.web.page_text import Source, page_text
from agent.web.urls import PageRefused, checked
from agent.web.verbatim import stands_in
from channels.commands import after_mention, command_line
from channels.discord import format as discord_format
from channels.discord import inbound as discord
from channels.markdown import close_open_marks, split, text_outside_code, to_text
from channels.message import InboundMessage
from channels.room.routes import Post, Press, Stop
from channels.slack import inbound as slack
from channels.slack.format import render as to_mrkdwn
from channels.telegram import format as telegram_format
from channels.telegram import inbound as telegram
from channels.telegram.rich_writer import rich_message
from channels.web.format import linked_images, to_html
from channels.web.inbound import addressed
from gateway.errors import CommandRefused, SettingsError
from gateway.intake.commands.command_line import parse_command
from gateway.intake.entry_meta import cleaned
from gateway.redaction.redactor import Redactor
from gateway.settings import load_settings
from tape.entry import dump
from tape.importing.normalize import read_raw
from tests.channels.discord import raw as discord_raw
from tests.channels.slack.events import event as slack_event
from tests.channels.slack.events import me as slack_self
from tests.channels.telegram import raw as telegram_raw
from tests.fuzz import doors, served
from tests.fuzz.inputs import broken, markdown, mixed, streams, texts, urls, values


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser, the strategy of its input, and the errors with which it refuses input."""

    inputs: st.SearchStrategy[Any]
    parse: Callable[[Any], object]
    refuses: tuple[type[Exception], ...] = ()


def _taken(message: InboundMessage | None) -> None:
    """Take a message in as far as the database."""
    if message is not None:
        stored = dump(cleaned(message, Redactor(["a-secret"]).clean).to_payload())
        InboundMessage.from_payload(orjson.loads(stored))


def _telegram(update: Any) -> None:
    try:
        found = telegram.parse(update, telegram_raw.ME)
    except Exception as cause:  # as the poller does: the update is kept as unreadable
        found = telegram.unreadable(update, str(cause))
    _taken(found)


def _discord(data: Any) -> None:
    for name in ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "INTERACTION_CREATE"):
        try:
            found = discord.parse(name, data, discord_raw.ME, discord_raw.guild_cache())
        except Exception as cause:
            found = discord.unreadable(name, data, str(cause))
        _taken(found)


def _slack(body: Any) -> None:
    try:
        found = slack.parse(body, slack_self())
    except Exception as cause:
        found = slack.unreadable(body, str(cause), "T1")
    _taken(found)


def _page(body: Any) -> None:
    raw = json.dumps(body).encode()
    for kind in (Post, Stop, Press):
        try:
            found = kind.model_validate_json(raw)
        except ValidationError:
            continue
        if isinstance(found, Post):
            addressed(found.text, "Robin", ["Ann"], to_agent=found.to_agent, to_ours=False)


def _stream(text: str) -> None:
    reader, raw = StreamReader("model"), text.encode("utf-8", "surrogatepass")
    for start in range(0, len(raw), 700):
        reader.read(raw[start : start + 700])
    reader.end()
    reader.reply()


def _markdown(text: str) -> None:
    to_text(text)
    close_open_marks(text)
    text_outside_code(text)
    to_html(text)
    linked_images(text)
    for piece in split(text, 400, len):
        telegram_format.render(piece)
        rich_message(piece)
        discord_format.render(piece)
        to_mrkdwn(piece)


def _url(text: str) -> None:
    stands_in(text, f"see {text}, or http://{text}")
    checked(text)


def _settings(values: dict[str, str]) -> None:
    load_settings({f"TAPEWAY_{name}": value for name, value in values.items()})


_SLACK_BLOCKS = [
    {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "hi"}]}],
    },
    {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}]]},
    {"type": "new", "parts": [{"text": {"type": "mrkdwn", "text": "<https://e.org|b>"}}]},
]
_SLACK_ATTACHMENTS = [
    {"is_share": True, "text": "x", "ts": "1.1", "files": [{"id": "F1"}], "message_blocks": [{}]},
    {"title": "t", "from_url": "https://e.org", "fields": [{"title": "a", "value": "b"}]},
    {"blocks": _SLACK_BLOCKS, "fallback": "[no preview available]"},
]
_POST = {
    "id": "00000000-0000-4000-8000-000000000001",
    "person": {"name": "Ann"},
    "text": "hello @Robin `x`",
    "to_agent": True,
    "reply_to": None,
}
_SETTINGS: Final = ("HTTP__PORT", "AGENT__BASE_URL", "TELEGRAM__TOKEN", "MODELS", "ACCESS__ALLOW")

PARSERS: Final[dict[str, Parser]] = {
    "telegram": Parser(
        broken(
            [
                telegram_raw.said("hi @tapeway_bot"),
                telegram_raw.edited("hi"),
                telegram_raw.said(None, caption="c", photo=[{"file_id": "f", "width": 1}]),
                telegram_raw.said("a", entities=[telegram_raw.entity("a", "a", "bold")]),
                {
                    "update_id": 1,
                    "callback_query": {"id": "9", "from": telegram_raw.ADA, "data": "x"},
                },
                {"update_id": 1, "my_chat_member": {"chat": telegram_raw.GROUP, "date": 1}},
            ]
        ),
        _telegram,
    ),
    "discord": Parser(
        broken(
            [
                discord_raw.message("hi <@1>"),
                discord_raw.message("x", mentions=[discord_raw.BOT], embeds=[{"title": "t"}]),
                discord_raw.message(
                    "x", attachments=[{"id": "1", "url": "https://x/y", "size": 1}]
                ),
                {"id": "1", "type": 3, "data": {"custom_id": "t"}, "message": {"id": "2"}},
            ]
        ),
        _discord,
    ),
    "slack": Parser(
        broken(
            [
                *(
                    {"team_id": "T1", "type": "event_callback", "event": one}
                    for one in (
                        slack_event("hi <@UBOT>"),
                        slack_event("x", files=[{"id": "F1", "size": 1, "preview": "y"}]),
                        slack_event("x", blocks=_SLACK_BLOCKS),
                        slack_event("", attachments=_SLACK_ATTACHMENTS),
                        slack_event(subtype="message_changed", message=slack_event("z")),
                    )
                ),
                {"type": "block_actions", "actions": [{"action_id": "a"}], "user": {"id": "U1"}},
            ]
        ),
        _slack,
    ),
    "page": Parser(broken([_POST, {"person": {"name": "Ann"}}]), _page),
    "stream": Parser(streams, _stream, (AgentError,)),
    "import": Parser(
        st.binary(max_size=200)
        | values.map(repr).map(str.encode)
        | streams.map(lambda text: text.encode("utf-8", "surrogatepass")),
        lambda line: read_raw(line, lambda _note: None),
    ),
    "command": Parser(
        mixed(",", '"', "'", "\\", "=", "[", "]", "“", "tape.search", " ", "\u00a0", "query"),
        parse_command,
        (CommandRefused,),
    ),
    "form of a command": Parser(
        mixed(",", "/", "@", "help", ".", " ", "\u00a0", ":"),
        lambda text: command_line(after_mention(text, len(text) // 2), lambda bot: bot == "b"),
    ),
    "markdown": Parser(markdown, _markdown),
    "url": Parser(urls, _url, (PageRefused,)),
    "html": Parser(
        markdown, lambda text: page_text(Source(text.encode("utf-8", "replace"), "text/html", ""))
    ),
    "redaction": Parser(urls | markdown, lambda text: Redactor(["a-secret"]).line(text)),
    "settings": Parser(
        st.dictionaries(
            st.sampled_from(_SETTINGS), texts.map(lambda text: text.replace("\x00", "")), max_size=3
        ),
        _settings,
        (SettingsError,),
    ),
    "press": Parser(doors.presses, doors.press),
    "pairing": Parser(doors.codes, doors.pair),
    "install": Parser(doors.states, doors.install),
    "files": Parser(doors.files, doors.read_files, (SettingsError,)),
    "tombs": Parser(doors.tombs, doors.read_tomb),
    "results": Parser(doors.results, doors.check_result, doors.REFUSED),
    "http": Parser(served.requests, served.ask),
}
