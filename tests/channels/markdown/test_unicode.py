"""Formulas that are written with Unicode's signs: what they cannot do, and how they grow."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.markdown.signs import MAX_FORMULA, as_signs, with_signs
from channels.markdown.tree import parse
from channels.slack.format import neutral, settled

PIECES = [
    *(
        "$",
        "$$",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "x",
        "ab",
        "evil",
        "com",
        "5",
        ".",
        "/",
        ":",
        "@",
        "`",
    ),
    *("^", "_", "{", "}", "^2", "_1", "\\alpha", "\\le ", "\\,", "\\frac", "*", "|", "[", "]", "<"),
    *(">", " ", "\n", "\n\n", "https://", "www.", "。", "文", "-", "+", "=", "'", "!", "#", "~"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)
DOMAIN = re.compile(r"[A-Za-z0-9][.。．｡:@/][A-Za-z]")  # noqa: RUF001


@given(texts)
def test_no_signs_make_an_address_or_a_mark(text: str) -> None:
    signs = as_signs(text)
    if signs is None:
        return
    assert not re.search(r"[*_`~|\[\]$#@:\\]", signs)
    assert not re.search(r"[^\d]\.|\.[^\d]", signs)
    assert {event.name for event in parse(f"a {signs} b")} <= {"Paragraph", "Text"}
    assert {event.name for event in parse(signs)} <= {"Paragraph", "Text"}


@given(texts)
def test_no_signs_join_what_stands_beside_them(text: str) -> None:
    before, after = (len(DOMAIN.findall(one)) for one in (text, with_signs(text)))
    assert after <= before


@given(texts)
def test_signs_are_written_once_for_all(text: str) -> None:
    assert with_signs(text) == with_signs(text[:0] + text)
    assert "```" not in text or with_signs(f"```\n{text}\n```") == f"```\n{text}\n```"


@given(texts)
def test_what_slack_was_sent_of_a_text_goes_on(text: str) -> None:
    whole = neutral(text).lstrip()
    for end in range(len(text)):
        assert whole.startswith(settled(text[:end]).rstrip())


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("so $x^2", "so"),
        ("so $x^2$", "so"),
        ("so $x^2$ and", "so x² and"),
        ("so $5 and", "so $5 and"),
        ("so $5 in", "so"),
        ("so $x" + " + y" * MAX_FORMULA, "so $x" + " + y" * MAX_FORMULA),
    ],
)
def test_slack_waits_for_the_end_of_a_formula(text: str, sent: str) -> None:
    assert settled(text).rstrip() == sent


@pytest.mark.parametrize("text", ["`$x^2$`", "```\n$x^2$\n```", "`\\(x^2\\)`", "    $x^2$"])
def test_code_has_no_formulas(text: str) -> None:
    assert with_signs(text) == text
