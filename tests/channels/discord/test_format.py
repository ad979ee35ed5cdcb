"""Text for Discord: within its limit, and without marks that it would show as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.discord.format import LIMIT, pieces, render, render_partial, size
from channels.markdown.split import cut
from tests.channels.markdown.samples import markdowns, rejoin
from tests.kit.examples import examples

texts = markdowns | st.text(max_size=200)


@examples(80)
@given(texts)
def test_every_piece_fits_and_together_they_are_the_text(markdown: str) -> None:
    for limit in (LIMIT, 120):
        found = cut(markdown, limit, size)
        assert all(0 < len(render(piece.text)) <= limit or not piece.text for piece in found)
        assert rejoin(found) == (markdown if markdown.strip() else "")


@examples(40)
@given(texts, st.integers(0, 300))
def test_an_unfinished_text_is_always_within_the_limit(markdown: str, end: int) -> None:
    assert len(render_partial(markdown[:end])) <= LIMIT


@pytest.mark.parametrize(
    "markdown",
    [
        "**bold** *italic* ~~gone~~ ||spoiler|| `code` [label](https://example.org)",
        "# One\n\n## Two\n\n### Three",
        "> quoted\n> more",
        "- a\n  - b\n1. c",
        "```py\nprint(1)\n```",
        "snake_case_name and 2 * 3 * 4",
        "<@1> @everyone <https://example.org>",
    ],
)
def test_markdown_that_discord_renders_stays_unchanged(markdown: str) -> None:
    assert render(markdown) == markdown


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nafter", "```\na | b\n--+--\n1 | 2\n```\n\nafter"),
        ("> | a |\n> |---|\n> | 1 |\n>\n> after", "> ```\n> a\n> -\n> 1\n> ```\n>\n> after"),
        ("![a tree](https://e.org/a.png)", "a tree (https://e.org/a.png)"),
        ("![](https://e.org/a.png)", "https://e.org/a.png"),
        ("#### Small `x` ####", "**Small `x`**"),
        ("###### **Bold** one", "**Bold** one"),
        ("Title\n=====\n\ntext", "# Title\n\ntext"),
        ("Title\n---", "## Title"),
        ("__Strong__ and _slanted_", "**Strong** and _slanted_"),
        ("- [x] done\n- [ ] open", "- ☑ done\n- ☐ open"),
        ("~~~py\na = 1\n~~~", "```py\na = 1\n```"),
        ("a\n\n    indented\n    code\n\nb", "a\n\n```\nindented\ncode\n```\n\nb"),
        ("````\n```\nx\n```\n````", "```\n`\u200b``\nx\n`\u200b``\n```"),
        ("a\x00b\ud800c\r\nd", "abc\nd"),
        ("__x__ | b\n---|---\n2*3 | 4", "```\n__x__ | b\n------+--\n2*3   | 4\n```"),
        ("- __x__ | b\n  ---|---\n  1 | 2", "- ```\n__x__ | b\n------+--\n1     | 2\n```"),
        ("![__x__ 2*3](https://e.org/a_b.png)", "\\_\\_x\\_\\_ 2\\*3 (https://e.org/a_b.png)"),
        ("#### __x__ 2*3", "**\\_\\_x\\_\\_ 2\\*3**"),
        ("a `x||y` b||c", "a `x||y` b\\|\\|c"),
    ],
)
def test_markdown_that_discord_does_not_render_is_replaced(markdown: str, shown: str) -> None:
    assert render(markdown) == shown


def test_an_unfinished_text_shows_no_partial_mark() -> None:
    assert render_partial("this is **bo") == "this is **bo**"
    assert render_partial("see [the pa") == "see the pa"
    assert len(render_partial("word " * 5000)) <= LIMIT


def test_a_long_code_block_is_closed_and_reopened() -> None:
    found = [render(piece) for piece in pieces("```py\n" + "x = 1\n" * 1000 + "```")]
    assert len(found) > 2
    assert all(one.startswith("```py\n") and one.endswith("\n```") for one in found)


def test_the_limit_counts_code_points() -> None:
    assert size("\U0001f600" * 2000) == 2000
    assert len(pieces("\U0001f600" * 2000)) == 1
    assert len(pieces("\U0001f600" * 2001)) == 2


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("3*(4+5)*2", "3\\*(4+5)\\*2"),
        ("a *b and **c", "a \\*b and \\*\\*c"),
        ("a__b__c", "a\\_\\_b\\_\\_c"),
        ("one `two\n\nthree` four", "one \\`two\n\nthree\\` four"),
        ("C:\\\u6587\u4ef6", "C:\\\\\u6587\u4ef6"),
        ("\\*a\\* 2 * 3 a_b", "\\*a\\* 2 * 3 a_b"),
        ("[a](http://x.org)**b c", "[a](http://x.org)\\*\\*b c"),
        ("*a `f(*x)` b*", "a `f(*x)` b"),
        ("x***\u597d\uff0c b*\u4e2d c\u4e2d*\u4e2d", "x\\**\u597d\uff0c b\u4e2d c\u4e2d*\u4e2d"),
        ("*a *b* c*", "*a b c*"),
        ("*a _b_ c*", "*a _b_ c*"),
        ("<https://x.org/a*b>***c", "<https://x.org/a*b>\\*\\*\\*c"),
        ("**a `**kw`** _b_", "a `**kw` _b_"),
        ("*see https://x.org/a*b c*", "see https://x.org/a*b c"),
        ("~~a `~~` b~~", "a `~~` b"),
        ("*\u91cd the***\u8981**", "\u91cd the**\u8981**"),
        ("_a _b__ c", "_a b_ c"),
        ("**a *b***", "**a *b***"),
        ("***a***", "***a***"),
        ("a\n\n***\n\nb **c**", "a\n\n---\n\nb **c**"),
        ("```diff\n\n```\n\n```\nx\n```", "```\ndiff\n```\n\n```\nx\n```"),
        ("```\n```\n\n```\nx\n```", "```\n \n```\n\n```\nx\n```"),
        ("```py\nx = 1", "```py\nx = 1\n```"),
        ("> ```py\n> x = 1", "> ```py\n> x = 1\n> ```"),
    ],
)
def test_discord_finds_no_mark_that_the_answer_has_not(markdown: str, shown: str) -> None:
    assert render(markdown) == shown


def test_code_that_is_being_written_is_code() -> None:
    assert render_partial("a\n\n```py\nx = **k") == "a\n\n```py\nx = **k\n```"
