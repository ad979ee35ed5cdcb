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

from gateway.language.chinese import FINISHED, SAID
from gateway.language.finished import Finished

ENGLISH: Final = "en"
_SAID: Final[Mapping[str, Mapping[str, str]]] = {ENGLISH: {}, "zh": SAID}
_FINISHED: Final = {"zh": Finished(FINISHED)}

_chosen: Final[ContextVar[str]] = ContextVar("language", default=ENGLISH)


def language_of(accepted: str) -> str:
    """Return the language that a page asks for in `Accept-Language`; English if none is known."""
    for wanted in accepted.split(","):
        name = wanted.partition(";")[0].strip().lower().partition("-")[0]
        if name in _SAID:
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


def spoken() -> str:
    """Return the language in which sentences are written now, as HTML names it."""
    return _chosen.get()


def say(sentence: str, /, **values: object) -> str:
    """Return a sentence with its values, such as `say("entry {number}", number=7)`.

    A sentence with `|` has a singular, for a first value of 1: `"{n} minute|{n} minutes"`.
    """
    wanted = _SAID[_chosen.get()].get(sentence, sentence)
    one, bar, many = wanted.partition("|")
    if bar and next(iter(values.values()), None) != 1:
        one = many
    return one.format_map(values)


def translated(text: str) -> str:
    """Return what the gateway wrote before in the language of the page, or as it is.

    It was stored in English, or comes from a part that does not know of pages. Text of people is
    never given to this function.
    """
    finished = _FINISHED.get(_chosen.get())
    return text if finished is None else finished.of(text) or text
