"""Words without marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.markdown.plain import plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("fired at **1222 °C** (_cone_ 6)", "fired at 1222 °C (cone 6)"),
        ("# Title\n\nand `code`", "Title\nand code"),
        ("- one\n- two", "one\ntwo"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a b\n1 2"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("[the sign](https://example.org/x)", "the sign"),
        ("first\nsecond", "first\nsecond"),
        ("2 * 3 * 4 and <b>this</b>", "2 * 3 * 4 and <b>this</b>"),
    ],
)
def test_marks_are_left_out_and_words_stay(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.text(max_size=200))
def test_any_text_has_a_plain_form(text: str) -> None:
    assert "\n\n" not in plain(text)
