"""The sentences of the gateway in the languages of its pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import gateway
from gateway.explain import conversation
from gateway.language.chinese import CHINESE
from gateway.language.language import language_of, say, speaking, translated
from tape.linking.utterance import SILENCE

VALUES: Final = re.compile(r"\{(\w+)\}")


def written() -> Iterator[str]:
    """Yield the sentences that the gateway's code gives to `say`."""
    tables = (conversation.WHY_NEW, conversation.WHY_THERE)
    yield from (sentence for table in tables for sentence in table.values())
    yield from (conversation.NOT_RECORDED, conversation.BELONGS, conversation.BELONGS_UNSHOWN)
    for path in Path(gateway.__file__).parent.rglob("*.py"):
        source = path.read_text("utf-8")
        if "from gateway.language.language import" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say":
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value


def test_every_sentence_is_there_in_chinese_and_no_other() -> None:
    assert set(written()) == CHINESE.keys()


@pytest.mark.parametrize("sentence", CHINESE)
def test_a_sentence_has_the_same_values_in_each_language(sentence: str) -> None:
    assert set(VALUES.findall(sentence)) == set(VALUES.findall(CHINESE[sentence]))


def test_a_page_is_given_its_language_or_english() -> None:
    assert language_of("zh-CN,zh;q=0.9,en;q=0.8") == "zh"
    assert language_of("fr, zh;q=0.5") == "zh"
    assert [language_of(one) for one in ("", "*", "fr-FR", "EN-us, zh")] == ["en"] * 4


def test_outside_of_a_page_sentences_are_english() -> None:
    sentence = "It is entry {number}"
    assert say(sentence, number=7) == "It is entry 7"
    with speaking("zh"):
        assert say(sentence, number=7) == "它是第 7 条记录"
        assert translated("There is none of this.") == "There is none of this."
    assert say(sentence, number=7) == "It is entry 7"


def test_what_people_wrote_is_never_read_as_a_sentence() -> None:
    assert say("“{text}” by {name}", text="{name}|{0}", name="{text}") == "“{name}|{0}” by {text}"


def test_one_and_many() -> None:
    sentence = conversation.WHY_NEW[SILENCE]
    assert say(sentence, minutes=1).endswith("for 1 minute")
    assert say(sentence, minutes=2).endswith("for 2 minutes")
