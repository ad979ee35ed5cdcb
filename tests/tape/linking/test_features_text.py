"""What is kept of a text."""

from __future__ import annotations

import pytest

from tape.linking.features_text import MAX_WORDS, called, gist
from tape.linking.languages import ASKING, CALLING, GREETING, PLAIN, THANKS, YES_NO
from tests.tape.linking.subjects import JAPANESE, KOREAN, THAI


def test_words_are_known_in_either_case_and_common_ones_are_left_out() -> None:
    assert set(gist("The PRINTER of the hall").words) == set(gist("printer hall").words)


def test_chinese_is_compared_by_pairs_of_characters() -> None:
    assert set(gist("打印机坏了").words) & set(gist("那台打印机").words)
    assert gist("机").words


@pytest.mark.parametrize(("said", "same", "other"), [*JAPANESE, *KOREAN, *THAI])
def test_a_subject_is_recognized_without_spaces_between_words(
    said: str, same: str, other: str
) -> None:
    words = set(gist(said).words)
    assert words & set(gist(same).words)
    assert not words & set(gist(other).words)


@pytest.mark.parametrize("text", ["ປື້ມຫົວນີ້ດີຫຼາຍ", "សៀវភៅនេះល្អណាស់", "ဒီစာအုပ်ကောင်းတယ်", "ㄅㄆㄇㄈ"])
def test_a_script_without_rules_is_compared_by_pairs(text: str) -> None:
    assert set(gist(text).words) & set(gist(f"{text[:6]} x").words)
    assert gist(text).length < len(text)


def test_words_beside_a_script_without_spaces_stay_whole() -> None:
    assert set(gist("用linux系统").words) >= set(gist("linux").words)
    assert set(gist("ＬＩＮＵＸを使う").words) >= set(gist("linux").words)


def test_a_script_with_marks_keeps_its_words_whole() -> None:
    assert len(gist("हिन्दी").words) == 1


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("hello everybody", GREETING),
        ("ann: thanks a lot", THANKS),
        ("how do I print", ASKING),
        ("yes", YES_NO),
        ("the printer", PLAIN),
        ("大家好", GREETING),
        ("怎么还不来", ASKING),
        ("ありがとうございます", THANKS),
        ("どうすればいいですか", ASKING),
        ("네 알겠습니다", YES_NO),
        ("여러분 아시나요", CALLING),
        ("สวัสดีครับ", GREETING),
        ("打印机坏了", PLAIN),
        ("ປື້ມ", PLAIN),
        ("", PLAIN),
    ],
)
def test_a_text_opens_in_one_of_a_few_ways(text: str, opens: int) -> None:
    assert gist(text).opens == opens


@pytest.mark.parametrize("text", ["is it?", "是吗\uff1f", "هل هو هنا\u061f"])
def test_a_question_mark_is_seen_in_any_form(text: str) -> None:
    assert gist(text).asks


@pytest.mark.parametrize("text", ["是吗", "行きますか", "언제 오나요", "ไปไหม", "ใช่หรือเปล่าคะ"])
def test_a_question_without_a_mark_is_seen_by_its_end(text: str) -> None:
    assert gist(text).asks
    assert not gist(f"{text} x").asks


def test_a_name_is_found_inside_a_text_without_spaces() -> None:
    assert "王小明" in gist("请王小明看一下").spoken


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
