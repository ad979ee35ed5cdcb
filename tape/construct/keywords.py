"""Choose the words of a task with which to search a tape."""

from __future__ import annotations

from typing import Final

from tape.query import fold
from tape.scripts import CHARACTER, SPACED, characters, compiled, is_unspaced, pairs

MAX_READ_CHARACTERS: Final = 2_000  # maximum characters of a task in which to look for words
MAX_WORD_CHARACTERS: Final = 60
MAX_WORDS: Final = 10

_PIECE: Final = compiled(rf"(?:{CHARACTER})+|{SPACED}(?:_+(?:{SPACED})?)*")
_FUNCTION_WORDS: Final = """
a about after all also am an and any are as at be been before but by can could did do does for
from had has have he her him his how i if in into is it its just me my no not of on or our please
said say says she should so some tell than that the their them then there these they this to up us
was we were what when where which who whom whose why will with would you your
"""
_STOP_WORDS: Final = frozenset(_FUNCTION_WORDS.split())


def words_of_task(task: str) -> list[str]:
    """Return the words to search for, folded, without repetition, the probably rarest first.

    Scripts without spaces give overlapping pairs of characters. Function words are left out, unless
    there are no other words.
    """
    found: dict[str, None] = {}
    for piece in _PIECE.findall(task[:MAX_READ_CHARACTERS]):
        found.update(dict.fromkeys(_units(piece)))
    words = [word for word in found if len(word) <= MAX_WORD_CHARACTERS]
    content = [word for word in words if word not in _STOP_WORDS]
    return sorted(content or words, key=_likely_rare, reverse=True)[:MAX_WORDS]


def _units(piece: str) -> list[str]:
    return pairs(characters(piece)) if is_unspaced(piece[0]) else [fold(piece)]


def _likely_rare(word: str) -> int:
    # Numbers and long words are likely to identify one thing.
    digits = any(character.isdigit() for character in word)
    return len(word) + 6 * digits + 4 * is_unspaced(word[0])
