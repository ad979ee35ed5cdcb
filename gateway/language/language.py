"""Write a sentence in the language that a page asks for.

The English sentence is its own key: `say` fills in its values, and `translated` looks up one that
was written or stored before, as it is. What runs outside of a page's request is English: the
command line, the log and what is sent to platforms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from gateway.language.chinese import CHINESE

ENGLISH: Final = "en"
LANGUAGES: Final[Mapping[str, Mapping[str, str]]] = {ENGLISH: {}, "zh": CHINESE}
"""The sentences of each language by those in English."""

_chosen: Final[ContextVar[str]] = ContextVar("language", default=ENGLISH)


def language_of(accepted: str) -> str:
    """Return the language that a page asks for in `Accept-Language`; English if none is known."""
    for wanted in accepted.split(","):
        name = wanted.partition(";")[0].strip().lower().partition("-")[0]
        if name in LANGUAGES:
            return name
    return ENGLISH


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Write sentences in a language, in this task and those that it starts."""
    token = _chosen.set(language)
    try:
        yield
    finally:
        _chosen.reset(token)


def say(sentence: str, /, **values: object) -> str:
    """Return a sentence with its values, such as `say("entry {number}", number=7)`.

    A sentence with `|` has a singular, for a first value of 1: `"{n} minute|{n} minutes"`.
    """
    wanted = translated(sentence)
    one, bar, many = wanted.partition("|")
    if bar and next(iter(values.values()), None) != 1:
        one = many
    return one.format_map(values)


def translated(sentence: str) -> str:
    """Return a whole sentence in the language of the page, or as it is if that has none for it."""
    return LANGUAGES[_chosen.get()].get(sentence, sentence)
