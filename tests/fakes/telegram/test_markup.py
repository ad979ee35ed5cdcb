"""Texts with a parse_mode, read by the fake Telegram."""

from __future__ import annotations

import pytest

from tests.fakes.telegram.entities import BadEntity
from tests.fakes.telegram.markup import parsed

LINK = {"type": "text_link", "offset": 0, "length": 1, "url": "https://a.org"}


@pytest.mark.parametrize(
    ("mode", "text", "plain", "kinds"),
    [
        ("HTML", "<b>a<i>b</i></b> &lt;&amp;", "ab <&", [("italic", 1, 1), ("bold", 0, 2)]),
        (
            "HTML",
            '<pre><code class="language-x">y</code></pre>',
            "y",
            [("code", 0, 1), ("pre", 0, 1)],
        ),
        (
            "MarkdownV2",
            r"*a* _b_ __c__ ~d~ ||e|| \.",
            "a b c d e .",
            [
                ("bold", 0, 1),
                ("italic", 2, 1),
                ("underline", 4, 1),
                ("strikethrough", 6, 1),
                ("spoiler", 8, 1),
            ],
        ),
        ("MarkdownV2", "`a*b.`", "a*b.", [("code", 0, 4)]),
        ("Markdown", "*a* b. `c`", "a b. c", [("bold", 0, 1), ("code", 5, 1)]),
        ("html", "😀<b>x</b><b></b>", "😀x", [("bold", 2, 1)]),
        ("HTML", '<a href="./README.md">x</a>', "x", []),
    ],
)
def test_marks_become_entities(
    mode: str, text: str, plain: str, kinds: list[tuple[str, int, int]]
) -> None:
    found, entities = parsed(text, mode)
    assert found == plain
    assert entities == [{"type": k, "offset": o, "length": n} for k, o, n in kinds]


@pytest.mark.parametrize(
    ("mode", "text"),
    [("HTML", '<a href="https://a.org">x</a>'), ("Markdown", "[x](https://a.org)")],
)
def test_a_link_keeps_its_address(mode: str, text: str) -> None:
    assert parsed(text, mode) == ("x", [LINK])


@pytest.mark.parametrize(
    ("mode", "text", "why"),
    [
        (
            "HTML",
            "é<table>",
            'can\'t parse entities: Unsupported start tag "table" at byte offset 2',
        ),
        ("HTML", "1 < 2", 'can\'t parse entities: Unsupported start tag "" at byte offset 2'),
        ("HTML", "<b>x</i>", "can't parse entities: Unmatched end tag at byte offset 4"),
        ("HTML", "<b>x", "can't parse entities: Can't find end tag corresponding to start tag"),
        ("MarkdownV2", "*x", "can't parse entities: Can't find end of bold entity"),
        (
            "MarkdownV2",
            "x.",
            (
                "can't parse entities: Character '.' is reserved and must be escaped with the "
                "preceding '\\'"
            ),
        ),
        ("BBCode", "x", "unsupported parse_mode"),
    ],
)
def test_what_cannot_be_parsed_is_refused(mode: str, text: str, why: str) -> None:
    with pytest.raises(BadEntity) as caught:
        parsed(text, mode)
    assert str(caught.value) == why
