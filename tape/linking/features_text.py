"""What the linker keeps of a text: its content words as numbers, and its form.

Words are hashed to save memory and to keep names out of the model's file. A text in a script
without spaces gives pairs of characters instead of words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from zlib import crc32

from tape.linking.languages import (
    ASKING,
    CALLING,
    GOING_ON,
    GREETING,
    PLAIN,
    THANKS,
    YES_NO,
    Language,
    language_of,
)
from tape.scripts import SPACED, characters, compiled, has_unspaced, pairs, runs

BUCKETS: Final = 1 << 16
MAX_WORDS: Final = 40
"""Maximum words to keep of a message: the first lines of a pasted log are enough."""

AGAIN: Final = 8
"""Texts whose gist is kept, as a message's is taken several times when it is linked."""

MAX_CHARACTERS: Final = 2_000
CHARACTERS_PER_WORD: Final = 2.5
"""Characters of an average word in a script without spaces for which there are no rules."""

NAME_LENGTHS: Final = (3, 4)  # characters of a name in a script without spaces

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019._+/-]+[^\W_]+)*")
_SPACED: Final = compiled(rf"{SPACED}(?:['\u2019._+/-]+{SPACED})*")
_NAME: Final = re.compile(r"[^\W\d_](?:[^\s_|]*[^\W\d_])?")
_LINK: Final = re.compile(r"https?://|www\.|`")

_OPENERS: Final = MappingProxyType(
    {
        GREETING: "hi hello hey heya yo hola hallo moin morning evening greetings howdy salut ciao",
        THANKS: "thanks thank thx ty thanx tnx cheers danke merci gracias",
        YES_NO: "yes yeah yep yup ya no nope nah ok okay k kk right sure ah ahh oh ohh hmm hm lol"
        " haha heh true exactly indeed yea nice cool great good sorry np ? aha",
        GOING_ON: "and but or also so because then if though well actually maybe it that its it's"
        " that's you your i'll try use just not same there they",
        ASKING: "how what why where when who which whats what's is are does do did can could would"
        " should will has have any",
        CALLING: "anyone anybody someone somebody everyone everybody guys folks all",
    }
)
_OPENS: Final = MappingProxyType(
    {word: kind for kind, words in _OPENERS.items() for word in words.split()}
)

_STOPPED: Final = (
    "a about after again all also am an and any anyone are as at back be because been before "
    "being but by can cant can't could did didnt didn't do does doesnt doesn't doing don't dont "
    "even for from get go got had has have havent haven't he her here hey hi him his how i i'd "
    "i'll i'm i've if im in into is isn't isnt it it's its ive just know let like ll lol look me "
    "more much my need no not now of off oh ok on one only or other our out over really s see she "
    "should so some something still t than thanks that that's thats the their them then there "
    "there's these they thing think this those to too try up us use very want was wasn't way we "
    "well were what what's whats when where which while who why will with won't would yeah yes "
    "yet you you're your youre "
)
STOP_WORDS: Final = frozenset(_STOPPED.split())
"""Words of English that are grammar."""


@dataclass(frozen=True, slots=True)
class Gist:
    """What the linker keeps of a text.

    length  number of words
    opens   the kind of opening
    asks    whether the text has a question mark
    holds   whether the text has a link or code
    spoken  every word, to find names in; not remembered
    """

    words: tuple[int, ...]
    length: int
    opens: int
    asks: bool
    holds: bool
    spoken: frozenset[str] = frozenset()


@lru_cache(AGAIN)
def gist(text: str) -> Gist:
    """Return what the linker keeps of a text, from the first 2,000 characters."""
    text = text[:MAX_CHARACTERS].lower()
    if has_unspaced(text):
        return _unspaced(unicodedata.normalize("NFKC", text))
    found = (_WORD if text.isascii() else _SPACED).findall(text)
    return Gist(
        words=_hashed(found),
        length=len(found),
        opens=_opening(found),
        asks=_asks(text),
        holds=_LINK.search(text) is not None,
        spoken=frozenset(found),
    )


def called(name: str) -> str:
    """Return the first word of a name as people write it in messages, without signs around it."""
    found = _NAME.search(name.lower())
    return found[0] if found else ""


def _unspaced(text: str) -> Gist:
    """Return the gist of a text that has a script without spaces, and perhaps others."""
    language = language_of(text)
    spaced, unspaced = _SPACED.findall(text), runs(text)
    count = sum(len(characters(run)) for run in unspaced)
    per_word = language.pace if language else CHARACTERS_PER_WORD
    return Gist(
        words=_hashed([*spaced, *_content(text, language)]),
        length=len(spaced) + (max(1, round(count / per_word)) if per_word else len(unspaced)),
        opens=(_opening_of(text, language) if language else PLAIN) or _opening(spaced),
        asks=_asks(text) or (language is not None and language.asks(text)),
        holds=_LINK.search(text) is not None,
        spoken=frozenset((*spaced, *unspaced, *_names(unspaced))),
    )


def _content(text: str, language: Language | None) -> Iterator[str]:
    """Give what is compared of the runs without spaces."""
    for run in runs(text):
        if language is None:
            yield from pairs(characters(run))
            continue
        for piece, units in language.units(run):
            if len(units) > 1 or language.is_word(piece):
                yield from pairs(units, language.least)


def _names(found: list[str]) -> Iterator[str]:
    """Give the parts of runs that may be the names of people."""
    for run in found:
        for size in NAME_LENGTHS:
            for at in range(len(run) - size + 1):
                yield run[at : at + size]


def _opening(found: list[str]) -> int:
    for word in found[:2]:  # the first word may be a person's name
        kind = _OPENS.get(word, PLAIN)
        if kind:
            return kind
    return PLAIN


def _opening_of(text: str, language: Language) -> int:
    first = text.split(maxsplit=2)[:2]
    for said in first:
        word = said.lstrip("@,.\uff0c\u3001\u3002")
        for opener, kind in language.openers:
            if word.startswith(opener):
                return kind
        if any(asking in word for asking in language.asking):
            return ASKING
    return PLAIN


def _asks(text: str) -> bool:
    return "?" in text or "\uff1f" in text or "\u061f" in text


def _hashed(found: list[str]) -> tuple[int, ...]:
    """Return the numbers of words that say something, each once."""
    words: dict[int, None] = {}
    for word in found:
        if word not in STOP_WORDS:
            words[crc32(word.encode("utf-8", "replace")) % BUCKETS] = None
    return tuple(words)[:MAX_WORDS]
