"""An answer that grows is drawn for Slack block by block, and looks as if it had come whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.markdown.tree import PARSES
from channels.slack.drawing import counted, drawn
from channels.slack.format import begun, neutral, render, settled, size
from channels.slack.growing import ENDED, growing
from tests.channels.markdown.samples import markdowns
from tests.kit.examples import examples

LINES = (
    *("- a\n", "- b `c` 2*3\n", "  d\n", "1. x\n", "10. x\n", "   - y\n", "* s\n", "    i\n"),
    *("\n", "\n\n", " \n", "text 3*4*5\n", "`u` v\n", "[a](https://x.org/2*3)\n", "\u3000p\n"),
    *("```py\n", "```\n", "~~~\n", "code 2**3\n\n", "- ```\n", "`a ``` b`\n"),
    *("> q\n", "> | a |\n> |---|\n", "- | a | b |\n  |---|---|\n", "# h\n", "---\n", "===\n"),
    *("| a | b |\n", "|---|---|\n", "| 1*2 | `x|y` |\n", "| *z | n*(n+1) |\n", "| 1 | 2 | 3*4 |\n"),
    *("<div>\n", "</div>\n", "<!-- 2*3\n", "-->\n", "\\(a\n", "b\\)\n", "[^1]: n\n", "__a__\n"),
)
texts = st.lists(st.sampled_from(LINES), max_size=14).map("".join)


@examples(300)
@given(texts | markdowns)
def test_a_text_has_the_form_that_it_has_to_the_parser(text: str) -> None:
    ENDED.clear()
    text = text.replace("\r\n", "\n")
    if found := growing(text):
        assert found.form() == drawn(text)
        count, whole = found.total(), counted(text.rstrip())
        assert count.tables == whole.tables
        assert count.most >= whole.most


@examples(100)
@given(texts, st.integers(1, 30))
def test_a_text_that_grows_has_the_form_and_the_size_of_one_that_comes_whole(
    text: str, step: int
) -> None:
    ENDED.clear()
    text = "An answer with more characters at its beginning than the key has:\n\n" + text
    ends = [*range(step, len(text), step), len(text)]
    grown = [(neutral(text[:end]), settled(begun(text[:end])), size(text[:end])) for end in ends]
    for end, found in zip(ends, grown, strict=True):
        ENDED.clear()
        part = text[:end]
        assert (neutral(part), settled(begun(part)), size(part)) == found


PARAGRAPH = "Some **words** about 2*3 that are `code`, and n*(n+1)/2.\n\n"
LIST = "- one `a`, 2*3\n  more of it\n- **two**: __init__.py\n\n"
HEADED = "| a | **b** |\n|---|:-:|\n"
CODE = "    x = 2*3\n\n    if (a || b) return *p;\n"


@pytest.mark.parametrize(
    ("begins", "again"),
    [
        ("", PARAGRAPH),
        ("", LIST),
        ("", "1. first 2*3\n2. second\n\n> quoted 2*3\n> more\n\n## Head 2*3\n\n"),
        ("", "\u7b2c\u4e00\uff0c**\u6ce8\u610f\uff1a**2*3\u3002\n\n"),
        ("", "So:\n```py\nx = 2**3\n\ny = `1`\n```\n"),
        ("", "~~~\n```\n2*3\n~~~\n\n"),
        ("```c\n", CODE),
        ("Here:\n\n```c\n", CODE),
        (HEADED, "| 2*3 `x|y` | a\\|b |\n"),
        (HEADED, "| 1 | 2 | 3*4 |\n"),
    ],
)
def test_of_an_answer_that_grows_only_the_last_block_is_drawn(begins: str, again: str) -> None:
    ENDED.clear()
    text, longest = "Seventy characters, so that this answer is not taken for another one.\n\n", 0
    text += begins
    for number in range(40):
        text += again.replace("2*3", f"{number}*3")
        for part in (text[:-5], text):
            found = growing(part)
            assert found is not None
            settled(begun(part))
            longest = max(longest, len(found.rest))
    assert longest <= len(begins) + 2 * len(again)


@pytest.mark.parametrize("again", [PARAGRAPH, LIST, f"```c\n{CODE}```\n"])
def test_where_signs_stand_in_ordinary_text_is_known_without_the_parser(again: str) -> None:
    ENDED.clear()
    PARSES.clear()
    text = again * 20
    for end in range(len(again), len(text), len(again)):
        settled(begun(text[:end]))
    size(text)
    assert PARSES.sizes()[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "- a\n\n  ```py\n  x = 2*3\n  ```\n\nb 2*3\n\nc",
        "<pre>\n\n2*3\n\n</pre>\n\n2*3",
        "`a ``` b`\n\n2*3\n\nc",
        "| a |\n|---|\n| \\(x |\n| 2*3\\) |\n\nc",
        "[a](https://x.org/2*3) 4*5\n\n    6*7\n\n8*9",
    ],
)
def test_the_parser_is_asked_where_something_may_reach_further(text: str) -> None:
    ENDED.clear()
    assert neutral(text) == drawn(text)
    for end in range(len(text)):
        assert neutral(text).startswith(settled(text[:end]))


def test_characters_that_slack_refuses_change_nothing_as_an_answer_grows() -> None:
    ENDED.clear()
    text = "a\x00 2*3\r\n\r\n```\r\nb\x07 2*3\n\nc\x00\n```\n\n\x00    d 2*3\n\ne 4*5\n\n" * 3
    clean = "a 2\\*3\n\n```\nb 2*3\n\nc\n```\n\n    d 2*3\n\ne 4\\*5\n\n" * 3
    for end in range(0, len(text) + 1, 3):
        assert clean.startswith(settled(begun(text[:end])))
    assert render(text) == clean.strip()


def test_a_mention_far_below_leaves_what_was_shown_as_it_was() -> None:
    ENDED.clear()
    text = PARAGRAPH + "```\n@ 2*3\n```\n\n" + LIST + "@here and 2*3, `@here`.\n\n" + PARAGRAPH
    for end in range(len(text)):
        assert render(text).startswith(settled(text[:end]))
    assert render(text).count("@\u200bhere") == 1


@pytest.mark.parametrize("text", ["\n" * 200_000, "a" + "\n" * 200_000, "\n" * 200_000 + " b"])
def test_a_text_of_blank_lines_is_read_once(text: str) -> None:
    ENDED.clear()
    assert neutral(text) == text
    assert settled(text).strip() in text
