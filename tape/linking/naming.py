"""Whether the first word of a text names somebody, or is only a word that is a name, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tape.linking.features_message import UNKNOWN_WORD_WEIGHT
from tape.linking.features_text import STOP_WORDS, gist
from tape.linking.room import LinkerRoom

MAX_CHARACTERS: Final = 100
"""Maximum characters of a name that are looked at."""

MAX_COMMON_WEIGHT: Final = 6.0
"""Maximum weight of a word that people use often, such as "may"."""

MIN_USERS: Final = 5
"""Minimum people who have lately used a word within a text, if it is a common one in a room."""


def first_word(text: str) -> tuple[str, bool]:
    """Return a text's first word without signs, and whether these say that it is a name."""
    found = text[: 2 * MAX_CHARACTERS].split(maxsplit=1)
    first = found[0].casefold() if found else ""
    return first.strip("@,:;.!?"), first.startswith("@") or first.endswith((":", ","))


def is_common(room: LinkerRoom, word: str, weights: Mapping[int, float]) -> bool:
    """Return whether people use a word, in lower case, for something else than a person."""
    if word in STOP_WORDS:
        return True
    known = [weights.get(number, UNKNOWN_WORD_WEIGHT) for number in gist(word).words]
    if known and max(known) < MAX_COMMON_WEIGHT:
        return True
    users = {
        heard.author for heard in room.heard if word in heard.text.casefold().split()[1:]
    }  # a name, too, is used so, but seldom by many at a time
    return len(users) >= MIN_USERS
