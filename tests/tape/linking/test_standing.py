"""Which texts stand alone, in languages with rules and without."""

from __future__ import annotations

import pytest

from tape.linking.standing import stands_alone
from tests.kit.tasks import CHINESE, ENGLISH

TASKS = [task.asks for triple in (*ENGLISH, *CHINESE) for task in triple]

NEEDING = (
    *("", "?", "what do you think of that?", "what do you think?", "and you?", "and with Debian?"),
    *("who is right?", "do you agree?", "is that true?", "summarize this", "what did I miss?"),
    *("summarize the discussion please", "what were we talking about?", "tl;dr", "thoughts?"),
    *("can you settle this for us?", "and that one?", "what about the second one?", "really?"),
    *("what did he mean?", "which of these is better?"),
    *(
        "你们觉得怎么样?",
        "你怎么看?",
        "这个呢?",
        "那Debian呢?",
        "他说得对吗?",
        "真的吗?",
        "总结一下",
    ),
    *("刚才说的那个你觉得靠谱吗", "那个方案怎么样?", "总结一下大家的讨论", "这样可以吗"),
    *("was hältst du davon?", "und mit Debian?", "¿y qué piensas de eso?", "いいですか?"),
    "что ты думаешь об этом?",  # noqa: RUF001
    *("qu'est-ce que tu en penses?", "これについてどう思う?"),
    *("어떻게 생각해?", "그거 맞아?", "คุณคิดยังไง"),
)
STANDING = (
    *("which is the highest mountain of Austria?", "weather in Vienna tomorrow?", "write a haiku"),
    *("tell me a joke about penguins", "how do I exit vim?", "convert 3 miles to km"),
    *("book a table for four at eight", "is it safe to drink tap water in Prague?"),
    *("what time is it in Tokyo?", "why does it rain so much in Bergen?", "https://example.org/a"),
    *("讲个笑话", "北京明天天气怎么样?", "推荐一部科幻电影", "Linux怎么装显卡驱动?"),
    *("Rezept für Lasagne", "Was kostet ein Zug nach Wien?", "東京の天気は?", "서울 날씨 알려줘"),
    *("¿qué tiempo hace mañana en Madrid?", "какая сегодня погода в Москве?"),
    *("トマトスープの作り方を教えて", "quelle est la capitale de la Mongolie ?"),
    "พรุ่งนี้กรุงเทพอากาศเป็นอย่างไร",
)


@pytest.mark.parametrize("text", NEEDING)
def test_what_refers_or_says_little_needs_what_was_said_before(text: str) -> None:
    assert not stands_alone(text)


@pytest.mark.parametrize("text", [*STANDING, *TASKS])
def test_a_task_stands_alone(text: str) -> None:
    assert stands_alone(text)
