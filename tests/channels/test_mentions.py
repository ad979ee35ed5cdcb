"""Whether a text calls somebody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.mentions import begins_with_mention, calls, mentions


@pytest.mark.parametrize(
    ("text", "name", "called"),
    [
        ("Robin, what now?", "Robin", True),
        ("what now, ROBIN", "robin", True),
        ("robin's question", "Robin", True),
        ("Robinson", "Robin", False),
        ("a_robin", "Robin", False),
        ("robin2", "Robin", False),
        ("wrobin", "Robin", False),
        ("问Robin吧", "Robin", True),
        ("小助手你好", "小助手", True),
        ("Жробин", "робин", False),
        ("C++ is", "C++", True),
        ("ask R2 D2 now", "R2 D2", True),
        ("éRobin", "Robin", False),
        ("", "Robin", False),
    ],
)
def test_b2_a_name_is_a_word_of_its_own(text: str, name: str, called: bool) -> None:
    assert calls(text, [name]) is called


def test_any_of_several_names_calls_and_an_empty_one_never() -> None:
    assert calls("hello robbie", ["Robin", "", "Robbie"])
    assert not calls("hello", [])
    assert not calls("hello", [""])


@pytest.mark.parametrize(
    ("text", "found", "begins"),
    [
        ("@bot hi", True, True),
        ("hi @BOT!", True, False),
        ("@bot2 hi", False, False),
        ("x@bot hi", False, False),
        ("bot hi", False, False),
        ("@@bot", True, False),
    ],
)
def test_b2_a_mention_is_an_at_and_the_whole_name(text: str, found: bool, begins: bool) -> None:
    assert mentions(text, "bot") is found
    assert begins_with_mention(text, "bot") is begins


@given(text=st.text(), name=st.text(min_size=1, max_size=5))
def test_a_name_between_blanks_always_calls(text: str, name: str) -> None:
    assert calls(f"{text} {name} {text}", [name])
