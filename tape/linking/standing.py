"""Decide whether a text stands alone, or needs what was said before it to be understood.

"what do you think of that?", "and with Debian?" and a bare mention need it. Structure decides: how
much content there is beside the grammar, and whether words refer. In a language without rules,
long words and names are the content.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from tape.linking.features_text import AGAIN, MAX_CHARACTERS, STOP_WORDS
from tape.linking.languages import GOING_ON, Language, language_of
from tape.scripts import SPACED, characters, compiled, has_unspaced, runs

MIN_WORDS: Final = 2
"""Minimum words of content in a text that stands alone."""

MIN_WORDS_REFERRING: Final = 4
"""The same in a text that refers to something, or goes on from something."""

MAX_WORDS_OF_THE_ROOM: Final = 3
"""Maximum words of content in a text that is about what was said in the room."""

MIN_LETTERS: Final = 6  # minimum letters of a word of content in a language without rules
KNOWN_SHARE: Final = 0.25  # a text with a larger share of English grammar is English
FEW_WORDS: Final = 3  # a text of so few words has no grammar by which to know its language

MORE_REFERRING: Final = 4
"""How many more characters stand alone in a script without spaces if the text refers."""

MIN_CHARACTERS_WITHOUT_RULES: Final = 8
MAX_UNIT: Final = 3  # maximum characters counted of a run that is one unit, such as of katakana

_SPOKEN: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_SPACED: Final = compiled(SPACED)
_PARTS: Final = re.compile(r"[^\W_]+")
_SHOWS: Final = re.compile(r"https?://|www\.|```")
_GOES_ON: Final = re.compile(
    r"\W*(?:(?:and|but|or|also|so|because|then|though|instead|same|und|aber|oder|et|mais|ou|y|pero"
    r"|o|e|ma|\u0438|\u0430|\u043d\u043e|en|maar|och|men)\b"
    r"|(?:what|how) about\b|what if\b|why not\b)"
)

_EXPLETIVE: Final = re.compile(
    r"\bit(?:'s| is| was)? \w+ (?:to|that)\b|\b(?:is|was) it \w+ (?:to|that)\b"
    r"|\b(?:time|day|date|year) is it\b|\bit (?:rain|snow)\w*"
)
"""Where "it" refers to nothing."""

_LIGHT_WORDS: Final = """
actually agree anything best better bit called cannot case come correct different doesn done
else enough every everything example exactly fine first give goes going gonna good great happen
happened happens hello help hm hmm keep last least less little long make makes many maybe mean
means might must never new next nice nothing often opinion please possible pretty probably put
question quite rather right said same saw say says seem seems short should show simple sorry
start still such sure take tell thank thing things thought true type understand useful
usually wait wanna work works wrong yep yet
"""
_LIGHT: Final = frozenset(_LIGHT_WORDS.split())
"""English words that say little by themselves, beside those of grammar."""

_REFERRING_WORDS: Final = """
it its it's that that's this these those they them their they're he him his he's she her she's
one ones same such other another others both either neither too even instead else
"""
_REFERRING: Final = frozenset(_REFERRING_WORDS.split())

_ROOM_WORDS: Final = """
above argue argument arguing chat conversation debate debating discussed discussing discussion
earlier everybody everyone guys recap said summarise summarize talked talking tldr us we
"""
_OF_THE_ROOM: Final = frozenset(_ROOM_WORDS.split())
"""English words about what was said in the room, or about who is in it."""


@lru_cache(AGAIN)
def stands_alone(text: str) -> bool:
    """Return whether a text can be understood without what was said before it."""
    text = text[:MAX_CHARACTERS].replace("\u2019", "'")
    if _SHOWS.search(text):
        return True  # What it is about is in the text itself.
    lower = unicodedata.normalize("NFKC", text.lower())
    if has_unspaced(lower):
        return _is_enough(lower, language_of(lower))
    opened = _GOES_ON.match(lower)
    words = _SPOKEN.findall(lower[opened.end() :] if opened else lower)
    grammar = sum(word in STOP_WORDS or word in _LIGHT for word in words)
    if grammar <= KNOWN_SHARE * len(words) and not (text.isascii() and len(words) <= FEW_WORDS):
        return _long_words(text) >= (MIN_WORDS_REFERRING if opened else MIN_WORDS)
    content = sum(map(_is_content, words))
    if content <= MAX_WORDS_OF_THE_ROOM and not _OF_THE_ROOM.isdisjoint(words):
        return False
    refers = opened or not _REFERRING.isdisjoint(_SPOKEN.findall(_EXPLETIVE.sub(" ", lower)))
    return content >= (MIN_WORDS_REFERRING if refers else MIN_WORDS)


def _is_content(word: str) -> bool:
    known = word in STOP_WORDS or word in _LIGHT or word in _REFERRING
    return not known and (len(word) > 2 or not word.isalpha())


def _long_words(text: str) -> int:
    """Count what is probably content: long words, numbers and, but for the first word, names."""
    words = _PARTS.findall(text)
    long = (len(word) >= MIN_LETTERS or not word.isalpha() for word in words)
    names = (place > 0 and word[0].isupper() for place, word in enumerate(words))
    return sum(one or other for one, other in zip(long, names, strict=True))


def _is_enough(text: str, language: Language | None) -> bool:
    """Return whether a text in a script without spaces has enough content to stand alone."""
    found = runs(text)
    spaced = 2 * len(_SPACED.findall(text))
    if language is None:
        count = sum(len(characters(run)) for run in found)
        return count + spaced >= MIN_CHARACTERS_WITHOUT_RULES
    content = spaced + sum(
        min(len(unit), MAX_UNIT)
        for run in found
        for _piece, units in language.units(run)
        for unit in units
    )
    start = text.lstrip("@,.\uff0c\u3001\u3002 ")
    opened = next((kind for opener, kind in language.openers if start.startswith(opener)), None)
    refers = opened == GOING_ON or language.is_referring(text)
    return content >= language.enough + MORE_REFERRING * refers
