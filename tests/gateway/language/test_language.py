"""Writing a sentence in the language of a page."""

# ruff: noqa: RUF001
from __future__ import annotations

import pytest

from channels.telegram.troubles import CONNECTION
from gateway.explain import conversation
from gateway.language.finished import MAX_CHARACTERS, Finished
from gateway.language.language import language_of, say, speaking, translated
from tape.linking.utterance import SILENCE

ENTRY = "entry {number}"
SPOKEN = Finished(
    {
        "private chat": "私聊",
        "{row} is dropped": "已丢弃 {row}",
        "The model did not answer: {cause}.": "模型没有回答：{cause}。",
        "the model said nothing": "模型什么也没说",
        "{name} cannot be reached.": "无法连接 {name}。",
        "Wait.": "请等待。",
    }
)


def test_a_page_is_given_its_language_or_english() -> None:
    assert language_of("zh-CN,zh;q=0.9,en;q=0.8") == "zh"
    assert language_of("fr, zh;q=0.5") == "zh"
    assert [language_of(one) for one in ("", "*", "fr-FR", "EN-us, zh")] == ["en"] * 4


def test_outside_of_a_page_sentences_are_english() -> None:
    assert (say(ENTRY, number=7), translated("mention")) == ("entry 7", "mention")
    with speaking("zh"):
        assert say(ENTRY, number=7) == "第 7 条记录"
        assert translated("mention") == "提及了助手"
        assert translated("There is none of this.") == "There is none of this."
    assert (say(ENTRY, number=7), translated("mention")) == ("entry 7", "mention")


def test_what_people_wrote_is_never_read_as_a_sentence() -> None:
    assert say("“{text}” by {name}", text="{name}|{0}", name="{text}") == "“{name}|{0}” by {text}"


def test_one_and_many() -> None:
    sentence = conversation.WHY_NEW[SILENCE]
    assert say(sentence, minutes=1).endswith("for 1 minute")
    assert say(sentence, minutes=2).endswith("for 2 minutes")


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("private chat", "私聊"),
        ("in-7 is dropped", "已丢弃 in-7"),
        ("The model did not answer: the model said nothing.", "模型没有回答：模型什么也没说。"),
        ("The model did not answer: Error 500. Sorry.", "模型没有回答：Error 500. Sorry。"),
        ("X cannot be reached. Wait.", "无法连接 X。请等待。"),
        ("X cannot be reached (private chat). Wait.", "无法连接 X（私聊）。请等待。"),
        ("X cannot be reached (no route).", "无法连接 X（no route）。"),
    ],
)
def test_a_finished_sentence_is_recognized_by_its_words(written: str, wanted: str) -> None:
    assert SPOKEN.of(written) == wanted


@pytest.mark.parametrize(
    "written",
    [
        "",
        " is dropped",
        "a private chat",
        "X cannot be reached. But this is not known.",
        "Unknown. Wait. A value of two sentences is dropped",
        "x" * MAX_CHARACTERS + " is dropped",
    ],
)
def test_what_is_not_known_in_full_is_not_translated_in_part(written: str) -> None:
    assert SPOKEN.of(written) is None


def test_a_value_stays_as_it_is() -> None:
    assert SPOKEN.of("{row} is dropped") == "已丢弃 {row}"
    assert SPOKEN.of("private chat is dropped") == "已丢弃 private chat"


def test_a_trouble_is_translated_with_its_case() -> None:
    with speaking("zh"):
        said = translated(CONNECTION.unreachable.sentence("api.telegram.org:443: no route"))
    assert said.startswith("现在无法连接 Telegram（api.telegram.org:443: no route）。")
    assert said.endswith("请设置 TAPEWAY_TELEGRAM__PROXY。网关会继续尝试。")
