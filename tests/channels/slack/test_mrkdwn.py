"""Decoding of Slack's markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.slack.mrkdwn import decode, escape, mentioned, prose, unescape

NAMES = {"U1": "Ada", "C1": "garden"}


def read(text: str) -> str:
    return decode(text, lambda one: NAMES.get(one, one), lambda one: NAMES.get(one, one))


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<@U1> and <@U2>", "@Ada and @U2"),
        ("<@U1|ada.l>", "@ada.l"),
        ("<#C1> <#C2|weeds>", "#garden #weeds"),
        ("<!here> <!channel|channel> <!everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@gardeners> <!subteam^S1>", "@gardeners @S1"),
        ("<!date^1392734382^{date}|18 Feb 2014>", "18 Feb 2014"),
        ("<!date^1^{date}^https://e.org/7|18 Feb 2014>", "[18 Feb 2014](https://e.org/7)"),
        ("<https://example.org/a?b=1&amp;c=2>", "https://example.org/a?b=1&c=2"),
        ("<https://example.org|example.org>", "https://example.org"),
        ("<https://example.org|the page>", "[the page](https://example.org)"),
        ("<mailto:a@example.org|a@example.org>", "a@example.org"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2 &amp;lt;", "1 < 2 && 3 > 2 &lt;"),
        ("", ""),
    ],
)
def test_markup_is_decoded_to_what_people_see(raw: str, text: str) -> None:
    assert read(raw) == text


@given(st.text())
def test_escaped_text_decodes_to_the_original(text: str) -> None:
    assert unescape(escape(text)) == text
    assert read(escape(text)) == text


@given(st.text(alphabet="<>@#!|&;:ltgamp U1C\n`^"))
def test_any_text_can_be_decoded(text: str) -> None:
    read(text)
    prose(text)
    mentioned(text)


def test_mentioned_people_are_listed_once_each() -> None:
    assert mentioned("<@U1> <@U2|bob> <@U1> &lt;@U3&gt; <#C1>") == ["U1", "U2"]


def test_prose_excludes_code_links_and_mentions() -> None:
    raw = "Robin `Robin1` ```Robin2\nRobin3``` <https://robin.org|Robin4> <@U9|Robin5> end"
    assert prose(raw).split() == ["Robin", "end"]
