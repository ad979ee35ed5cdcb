"""Markdown as text with marks, and as plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.markdown.autoclose import close_open_marks
from channels.markdown.render import render_spans, text_outside_code, to_text
from channels.markdown.tree import parse
from tests.channels.markdown.samples import markdowns
from tests.kit.examples import examples


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("plain words", "plain words"),
        ("**a** *b* ~~c~~ `d`", "a b c d"),
        ("## Head ##\ntext", "Head\ntext"),
        ("Head\n===\n\ntext", "Head\n\ntext"),
        ("[tea](https://x.org)", "tea (https://x.org)"),
        ("[](https://x.org)", "https://x.org"),
        ("<https://x.org> <a@b.org>", "https://x.org a@b.org"),
        ('![cat](https://x.org/c.png "t")', "cat (https://x.org/c.png)"),
        ("![](c.png)", "c.png"),
        ("[![i](a.png)](https://x.org)", "i (a.png) (https://x.org)"),
        ("a <b>c</b> <br/>\n\n<div>\n*d*\n</div>", "a <b>c</b> <br/>\n\n<div>\nd\n</div>"),
        ("<!-- note -->", "<!-- note -->"),
        ("[t][1]\n\n[1]: https://x.org 'title'", "[t][1]\n\n[1]: https://x.org 'title'"),
        ("word[^1]\n\n[^1]: note", "word[^1]\n\n[^1]: note"),
        ("$x_1 * y_q * z$ and $$a_b$$", "$x_1 * y_q * z$ and $$a_b$$"),
        ("$5 and $6, ~7 and ~8", "$5 and $6, ~7 and ~8"),
        ("https://x.org/_a_/~b~", "https://x.org/_a_/~b~"),
        ("- a\n- b\n  - c\n    more", "• a\n• b\n  • c\n    more"),
        ("1. a\n1. b\n1. c", "1. a\n2. b\n3. c"),
        ("7) a\n9) b", "7) a\n9) b"),
        ("- [x] a\n- [ ] b", "☑ a\n☐ b"),
        ("> a\n> b\n>\n> - c", "> a\n> b\n\n> • c"),
        ("a\n\n---\n\nb", "a\n\n———\n\nb"),
        ("```py\nx = 1\n\n  y\n```", "x = 1\n\n  y"),
        ("```print(1)\n```", "print(1)"),
        ("||secret||", "||secret||"),
        ("a\\\nb  \nc", "a\nb\nc"),
        ("- ```\n  a\n  ```\n  b", "• a\n  b"),
        ("&amp; \\* \\<", "& * <"),
    ],
)
def test_markup_without_a_plain_form_stays_readable(markdown: str, shown: str) -> None:
    assert to_text(markdown) == shown


def test_a_table_is_aligned_by_the_width_of_its_characters() -> None:
    table = "| a | 中文 |\n|---|---|\n| long | b |\n| [l](u) | 👨‍👩‍👧 |"
    assert to_text(table).splitlines() == [
        "a     | 中文",
        "------+-----",
        "long  | b",
        "l (u) | 👨‍👩‍👧",
    ]


def test_a_wide_table_is_not_aligned() -> None:
    table = f"| a | b |\n|---|---|\n| {'x' * 90} | c |"
    assert to_text(table).splitlines() == ["a | b", f"{'x' * 90} | c"]


def test_rendering_returns_the_marks_and_their_text() -> None:
    text, marks = render_spans(
        "a **b *c*** [d](u) `e`\n\n> f ||g||", linkable=lambda url: url == "u"
    )
    assert text == "a b c d e\n\nf g"
    assert sorted((mark.kind, text[mark.start : mark.end]) for mark in marks) == [
        ("bold", "b c"),
        ("code", "e"),
        ("italic", "c"),
        ("link", "d"),
        ("quote", "f g"),
        ("spoiler", "g"),
    ]


def test_the_text_outside_code_has_no_code_and_no_marks() -> None:
    found = text_outside_code("@a `@b`\n\n```\n@c\n```\n\n> **@d** <b>")
    assert found.split() == ["@a", "@d", "<b>"]


@examples(60)
@given(markdowns | st.text())
def test_events_lie_within_the_text_and_containers_are_closed(markdown: str) -> None:
    opened: list[str] = []
    for event in parse(markdown):
        assert 0 <= event.start <= event.end <= len(markdown)
        if event.phase == "open":
            opened.append(event.name)
        elif event.phase == "close":
            assert opened.pop() == event.name
    assert opened == []


def test_text_hidden_from_the_parser_is_restored() -> None:
    text = "`<b>` [a_b](https://x.org/_a_) <i>\x01\x02\x03\x04 ]: [1]: x"
    assert to_text(text) == "<b> a_b (https://x.org/_a_) <i>\ufffd\ufffd\ufffd\ufffd ]: [1]: x"


@pytest.mark.parametrize(
    ("unfinished", "shown"),
    [
        ("plain wor", "plain wor"),
        ("a **bold te", "a **bold te**"),
        ("a **", "a "),
        ("a *b **c", "a *b **c***"),
        ("an `x", "an `x`"),
        ("an `x *y", "an `x *y`"),
        ("~~gone", "~~gone~~"),
        ("a [lin", "a lin"),
        ("a [link]", "a link"),
        ("a [link](https://x.o", "a link"),
        ("a ![cat](c.p", "a cat"),
        ("a [link](https://x.org)", "a [link](https://x.org)"),
        ("**whole** and *whole*", "**whole** and *whole*"),
        ("2 * 3", "2 * 3"),
        ("```py\nx = 1 **", "```py\nx = 1 **"),
        ("", ""),
    ],
)
def test_an_unfinished_text_shows_no_partial_mark(unfinished: str, shown: str) -> None:
    assert close_open_marks(unfinished) == shown
