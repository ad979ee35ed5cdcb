"""Rooms that nobody would like to be in: each gives a message by its number, the same each time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Final

from channels.message import Author, InboundMessage
from tests.gateway.context.memories import says

LONG: Final = 100_000
CROWD: Final = 5_000
COMMON: Final = ("May", "Will", "The", "Lol", "\u603b")
ODD_IDS: Final = (
    "agent",
    "turn:7",
    "a/b",
    "said:1",
    "-100/3",
    "@x",
    "\u0000",
    "\u200f",
    "%s{}",
    "'",
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_YEARS: Final = (1970, 2026, 2026, 2026, 9998, 1)

BadRoom = Callable[[int], InboundMessage]


def some_words(number: int, count: int = 8) -> str:
    """Return words that no other number has."""
    random = Random(number)
    return " ".join("".join(random.choices(_LETTERS, k=7)) for _ in range(count))


def strangers(number: int) -> InboundMessage:
    """Return what each of thousands says of something else."""
    return says(number, str(number * 7 % CROWD), some_words(number))


def flood(number: int) -> InboundMessage:
    """Return a bot's message, or once in a while a person's."""
    if number % 40 == 0:
        return says(number, str(number % 3), some_words(number))
    return says(number, "bot", f"ALERT {number}: the disk of host {number % 9} is full")


def renamed(number: int) -> InboundMessage:
    """Return what somebody says under another name each time."""
    said = says(number, "7", some_words(number, 3))
    return replace(said, sender=Author("7", f"Nick{number} Of{number}", handle=f"nick{number}"))


def replies(number: int) -> InboundMessage:
    """Return a reply to the message before."""
    return says(number, str(number % 7), some_words(number, 2), reply_to=str(number - 1))


def forward_replies(number: int) -> InboundMessage:
    """Return a reply to a message that is not there yet, or to itself."""
    return says(number, str(number % 7), "yes", reply_to=str(number + number % 3))


def long_texts(number: int) -> InboundMessage:
    """Return a very long text now and then, of one kind after another."""
    if number % 8:
        return says(number, str(number % 9), some_words(number))
    kinds = (
        some_words(number, 60) * (LONG // 480),
        "\u603b" * LONG,
        "@" * LONG,
        "@a" * (LONG // 2),
    )
    return says(
        number, str(number % 9), (*kinds, "\U0001f914" * LONG, "\n" * LONG)[number // 8 % 6]
    )


def jumping_clock(number: int) -> InboundMessage:
    """Return a message with a time hours or years before or after the last."""
    year, hour = _YEARS[number % len(_YEARS)], number * 7 % 24
    second = "" if number % 2 else f":{number % 60:02}"
    date = f"{year:04}-06-01T{hour:02}:{number % 60:02}{second}+00:00"
    return says(number, str(number % 9), some_words(number), date=date)


def emoji(number: int) -> InboundMessage:
    """Return a message without a letter."""
    return says(number, str(number % 9), "\U0001f914\U0001f44d\ufe0f\u2764"[number % 4 :] * 3)


def one_letter(number: int) -> InboundMessage:
    """Return a message of one letter."""
    return says(number, str(number % 9), _LETTERS[number % 26])


def right_to_left(number: int) -> InboundMessage:
    """Return a message in Arabic or Hebrew, with marks that turn the direction."""
    texts = ("\u0645\u062a\u0649 \u0627\u0644\u0642\u0637\u0627\u0631\u061f", "\u05de\u05ea\u05d9?")
    return says(number, str(number % 9), f"\u202e{texts[number % 2]}\u202c {number}")


def mentions_everybody(number: int) -> InboundMessage:
    """Return a message that mentions two thousand people."""
    people = tuple(f"@handle{who}" for who in range(2_000))
    return says(number, str(number % 9), some_words(number, 3), mentions=people)


def odd_ids(number: int) -> InboundMessage:
    """Return a message of people, in chats and with ids, as no platform has them."""
    odd = ODD_IDS[number % len(ODD_IDS)]
    said = says(number, odd, f"{odd}: {some_words(number, 2)} @agent", mentions=("@agent", odd))
    before = f"{number - 1}/{ODD_IDS[(number - 1) % len(ODD_IDS)]}"
    return replace(
        said, ext_id=f"-100/{number}{odd}", message_id=f"{number}/{odd}", reply_to=before
    )


def namesakes(number: int) -> InboundMessage:
    """Return what one of several people of the same name says to the others."""
    said = says(number, str(number % 9), f"Sam Smith, {some_words(number, 2)}")
    return replace(said, sender=Author(str(number % 9), "Sam Smith", handle="sam"))


def long_names(number: int) -> InboundMessage:
    """Return what people say whose names are as long as a book."""
    who = str(number % 9)
    long = Author(who, f"N{number}" * LONG, handle=f"h{number}" * LONG)
    return replace(says(number, who, some_words(number, 3)), sender=long)


def common_names(number: int) -> InboundMessage:
    """Return what people say whose names are words that everybody says."""
    who = COMMON[number % len(COMMON)]
    text = f"{COMMON[number * 3 % len(COMMON)]} {some_words(number, 3)} the may lol"
    return replace(says(number, who, text), sender=Author(who, who, handle=who))


def empty(number: int) -> InboundMessage:
    """Return a message without a word, of somebody without a name."""
    return replace(says(number, str(number % 9), " "), sender=Author(str(number % 9), ""))


BAD_ROOMS: Final[Mapping[str, BadRoom]] = MappingProxyType(
    {
        make.__name__: make
        for make in (
            strangers,
            flood,
            renamed,
            replies,
            forward_replies,
            long_texts,
            jumping_clock,
            emoji,
            one_letter,
            right_to_left,
            mentions_everybody,
            odd_ids,
            namesakes,
            long_names,
            common_names,
            empty,
        )
    }
)
