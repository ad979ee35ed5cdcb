"""How texts and questions are cut, whatever their script."""

from __future__ import annotations

import pytest

from tape.search.tokenizer import MAX_TERM_CHARACTERS, fold, pairs, pieces, terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hello, World", "hello world"),
        ("snake_case don't v1.2", "snake case don t v1 2"),
        ("Straße CAFÉ", "strasse café"),
        ("cafe\u0301", "café"),
        ("部署v2失败", "部 署 v2 失 败"),
        ("ｶﾞｷﾞ ー", "ガ ギ ー"),
        ("한국", "한 국"),
        ("สวัสดี", "ส วั ส ดี"),
        ("हिन्दी", "हिन्दी"),
        ("❤️ 😀 \ue000 \ud800 \x00", ""),
        ("x" * 100, "x" * MAX_TERM_CHARACTERS),
    ],
)
def test_a_text_is_cut_into_words_and_into_characters_where_there_are_no_spaces(
    text: str, found: str
) -> None:
    assert terms(fold(text)) == found.split()


def test_a_question_has_a_phrase_where_characters_stand_together() -> None:
    asked = pieces(fold("部署 v2失败 昨,天"))
    assert ["".join(piece) for piece in asked] == ["部署", "v2", "失败", "昨", "天"]


def test_neighbours_are_paired_and_the_last_of_a_run_stands_by_itself() -> None:
    assert pairs(terms(fold("昨天的 abc 部 x"))) == ["昨天", "天的", "的", "部"]
    assert pairs(["plain", "words"]) == []
