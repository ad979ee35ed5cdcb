"""Results in words, as each channel shows them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agent.tools.words import in_words
from channels.cli.format import to_terminal
from channels.discord import format as discord
from channels.slack import format as slack
from channels.slack.drawing import GAP
from channels.telegram import format as telegram
from channels.web.format import to_html

LIVE = (
    "[Log in](https://evil.example)",
    "# x",
    "- [ ] x",
    "1. one",
    "***",
    "~~~ x",
    "||hidden|| **bold** _soft_",
    "<!channel> <@U123> @alice",
    "a \\[b](c) &lt;b&gt;",
)


def found(text: str) -> str:
    hit = {"text": text, "by": "Bob (id 1)", "date": "2026-01-01T10:00", "kind": "message"}
    return in_words("tape.search", {"query": "x", "hits": [hit]})


def test_a_hit_in_the_agent_s_own_words_is_signed_like_one_of_a_person() -> None:
    hit = {"text": "as agreed", "by": "you", "date": "2026-01-01T10:00", "kind": "message"}
    assert in_words("tape.search", {"query": "x", "hits": [hit]}).endswith(
        "\n\nme, 2026-01-01 10:00"
    )


@pytest.mark.parametrize("text", LIVE)
def test_what_somebody_wrote_is_quoted_and_not_rendered(text: str) -> None:
    said = found(text)
    shown, entities = telegram.render(said)
    assert text in shown
    assert {entity["type"] for entity in entities} == {"blockquote", "code"}
    page = to_html(said)
    assert re.findall(r"<(\w+)", page) == ["p", "blockquote", "p", "code", "p"]
    assert f"> `{text}`" in discord.render(said)
    assert f"> `{text}`" in slack.render(said).replace(GAP, "")
    assert text in to_terminal(said)


def test_a_query_and_a_name_keep_what_would_be_markdown() -> None:
    hit = {"text": "x", "by": "#7 big_bob", "date": "2026-01-01T10:00", "kind": "message"}
    said = in_words("tape.search", {"query": "snake_case #12", "hits": [hit]})
    assert said.startswith("I found 1 message about `snake_case #12`:")
    assert said.endswith("`big_bob`, 2026-01-01 10:00")


def test_plain_words_are_quoted_without_marks() -> None:
    assert "> See https://example.org (page 3): it's done!\n" in found(
        "See https://example.org\n(page 3): it's done!"
    )


def test_a_long_quoted_program_stays_visible() -> None:
    excerpt = ("```py\n" + "x = compute(a, b)\n" * 30 + "```")[:300] + "..."
    said = found(excerpt)
    assert "x = compute(a, b) x = compute" in to_html(said)
    assert "x = compute(a, b) x = compute" in telegram.render(said)[0]
    assert "```" not in said


def anchors(name: str, summary: str) -> dict[str, Any]:
    return {"anchors": [{"name": name, "date": "2026-01-01", "state": {"summary": summary}}]}


def test_the_name_and_state_of_an_anchor_are_no_markdown() -> None:
    said = in_words(
        "tape.anchors", anchors("phase:`[a](http://b)`", "[c](http://evil.example)\n# d")
    )
    assert said == "- `phase:'[a](http://b)'`, 2026-01-01: `[c](http://evil.example) # d`"
    assert in_words("tape.handoff", {"anchor": "a`b"}) == "I've set the checkpoint `a'b`."


def test_what_is_worth_knowing_is_quoted_and_not_rendered() -> None:
    said = in_words("tape.context", {"messages": [{"text": "[a](http://evil.example)"}]})
    assert said.endswith("> `[a](http://evil.example)`")
