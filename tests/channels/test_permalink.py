"""Links to messages, as people copy them: each platform reads its own."""

from __future__ import annotations

import pytest

from channels.discord import permalink as discord
from channels.message import MessageLink
from channels.registry import read_link
from channels.slack import permalink as slack
from channels.telegram import permalink as telegram

LINKS = {
    "https://t.me/c/1234567890/42": ("telegram", MessageLink("42", "-1001234567890")),
    "t.me/c/1234567890/7/42?single": ("telegram", MessageLink("42", "-1001234567890")),
    "https://t.me/c/1234567890/42?thread=7": ("telegram", MessageLink("42", "-1001234567890")),
    "https://t.me/some_group/42": ("telegram", MessageLink("42")),
    "https://telegram.me/some_group/7/42": ("telegram", MessageLink("42")),
    "tg://privatepost?channel=123&post=42": ("telegram", MessageLink("42", "-100123")),
    "https://discord.com/channels/1/22/333": ("discord", MessageLink("333", "22")),
    "https://ptb.discord.com/channels/@me/22/333": ("discord", MessageLink("333", "22")),
    "https://team.slack.com/archives/C0123/p1700000000123456": (
        "slack",
        MessageLink("1700000000.123456", "C0123"),
    ),
    "https://a.enterprise.slack.com/archives/C0123/p1700000000123456?thread_ts=17.1&cid=C0123": (
        "slack",
        MessageLink("1700000000.123456", "C0123"),
    ),
}


def test_a_link_that_is_written_is_read_again() -> None:
    written = {
        telegram.write_link("42", "-1001234567890"): ("telegram", "42", "-1001234567890"),
        discord.write_link("333", "22", "1"): ("discord", "333", "22"),
        discord.write_link("333", "22", ""): ("discord", "333", "22"),
        slack.write_link("1700000000.123456", "C0123", "https://team.slack.com/"): (
            "slack",
            "1700000000.123456",
            "C0123",
        ),
    }
    for text, (channel, message_id, chat_id) in written.items():
        assert read_link(text) == (channel, MessageLink(message_id, chat_id))
    assert telegram.write_link("42", "7") == ""  # a private chat has no links


@pytest.mark.parametrize("text", LINKS)
def test_a_link_names_its_channel_chat_and_message(text: str) -> None:
    assert read_link(text) == LINKS[text]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "https://t.me/some_group",
        "https://t.me/+invite/42",
        "https://example.org/c/1/2",
        "https://t.me.example.org/c/1/2",
        "https://discord.com/channels/1/22",
        "https://slack.com/archives/C0123/p1700000000123456",
        "https://team.slack.com.example.org/archives/C0123/p1700000000123456",
        "https://team.slack.com/archives/C0123",
        "https://t.me/c/1/2\nhttps://t.me/c/1/3",
    ],
)
def test_what_is_no_link_to_a_message_is_none(text: str) -> None:
    assert read_link(text) is None
