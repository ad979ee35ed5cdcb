"""What is kept of a text."""

from __future__ import annotations

import pytest

from tape.linking.features_text import (
    ASKING,
    GREETING,
    MAX_WORDS,
    PLAIN,
    THANKS,
    YES_NO,
    called,
    gist,
)


def test_words_are_known_in_either_case_and_common_ones_are_left_out() -> None:
    assert set(gist("The PRINTER of the hall").words) == set(gist("printer hall").words)


def test_chinese_is_compared_by_pairs_of_characters() -> None:
    assert set(gist("打印机坏了").words) & set(gist("那台打印机").words)
    assert gist("机").words


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("hello everybody", GREETING),
        ("ann: thanks a lot", THANKS),
        ("how do I print", ASKING),
        ("yes", YES_NO),
        ("the printer", PLAIN),
        ("", PLAIN),
    ],
)
def test_a_text_opens_in_one_of_a_few_ways(text: str, opens: int) -> None:
    assert gist(text).opens == opens


@pytest.mark.parametrize("text", ["is it?", "是吗\uff1f"])
def test_a_question_mark_is_seen_in_either_width(text: str) -> None:
    assert gist(text).asks


def test_a_megabyte_of_text_costs_no_more_than_its_beginning() -> None:
    assert len(gist("word number " * 100_000).words) <= MAX_WORDS
    long = gist(" ".join(f"word{number}" for number in range(100_000)))
    assert len(long.words) == MAX_WORDS


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "🙂" * 50, "a" * 5000, "...", "\n\n"])
def test_any_text_has_a_gist(text: str) -> None:
    assert gist(text) == gist(text)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Anna Maria", "anna"),
        ("jdub_", "jdub"),
        ("bob|away", "bob"),
        ("[42]", ""),
        ("x", "x"),
        ("", ""),
    ],
)
def test_people_are_called_by_the_first_word_of_their_name(name: str, short: str) -> None:
    assert called(name) == short
