"""What the linker keeps of a text: its content words as numbers, and its form.

Words are hashed to save memory and to keep names out of the model's file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from zlib import crc32

BUCKETS: Final = 1 << 16
MAX_WORDS: Final = 40
"""Maximum words to keep of a message: the first lines of a pasted log are enough."""

MAX_CHARACTERS: Final = 2_000

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019._+/-]+[^\W_]+)*")
_NAME: Final = re.compile(r"[^\W\d_](?:[^\s_|]*[^\W\d_])?")
_WIDE: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_LINK: Final = re.compile(r"https?://|www\.|`")

PLAIN, GREETING, THANKS, YES_NO, GOING_ON, ASKING, CALLING = range(7)
"""The kinds of opening that a text may have."""

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
_STOP: Final = frozenset(_STOPPED.split())


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


def gist(text: str) -> Gist:
    """Return what the linker keeps of a text, from the first 2,000 characters."""
    text = text[:MAX_CHARACTERS].lower()
    found = _WORD.findall(text)
    words: dict[int, None] = {}
    for word in found:
        if word not in _STOP:
            for part in _parts(word):
                words[crc32(part.encode("utf-8", "replace")) % BUCKETS] = None
    return Gist(
        words=tuple(words)[:MAX_WORDS],
        length=len(found),
        opens=_opening(found),
        asks="?" in text or "\uff1f" in text,
        holds=_LINK.search(text) is not None,
        spoken=frozenset(found),
    )


def called(name: str) -> str:
    """Return the first word of a name as people write it in messages, without signs around it."""
    found = _NAME.search(name.lower())
    return found[0] if found else ""


def _opening(found: list[str]) -> int:
    for word in found[:2]:  # the first word may be a person's name
        kind = _OPENS.get(word, PLAIN)
        if kind:
            return kind
    return PLAIN


def _parts(word: str) -> list[str]:
    if word.isascii() or not _WIDE.search(word):
        return [word]
    return [word[at : at + 2] for at in range(max(1, len(word) - 1))]
