"""Words with their entities: mentions, code, and labels with an address behind them.

Offsets and lengths count UTF-16 units. https://core.telegram.org/bots/api#messageentity
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from channels.telegram.fields import Raw, covered, string, utf16_length


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text as the model reads it, and the entities of that text."""

    text: str = ""
    entities: Sequence[Raw] = ()


def with_addresses(text: str, entities: object) -> MarkedText:
    """Return a text in which each label with an address behind it is `[label](address)`.

    The other words stay as they are; malformed entities are left out.
    """
    found = [one for one in entities if _is_sound(one)] if isinstance(entities, list) else []
    links = _links(text, found)
    return _Insertion(text, links).words(found) if links else MarkedText(text, found)


def link(label: str, address: str) -> str:
    """Return a label with its address, or the label alone if it is the address."""
    return label if not address or says(label, address) else f"[{label}]({address})"


def says(label: str, address: str) -> bool:
    """Return whether a label already shows its whole address."""
    bare = address.rstrip("/")
    shown = label.strip().rstrip("/")
    return shown in (bare, *(bare.removeprefix(scheme) for scheme in _SCHEMES))


_SCHEMES = ("https://", "http://", "mailto:", "tel:")


def _is_sound(entity: Any) -> bool:
    if not isinstance(entity, Mapping):
        return False
    offset, length = entity.get("offset"), entity.get("length")
    return isinstance(offset, int) and isinstance(length, int) and offset >= 0 and length >= 0


def _links(text: str, entities: Iterable[Raw]) -> list[Raw]:
    """Return the labels that hide an address, in order; those that overlap are left out."""
    hidden = (one for one in entities if one.get("type") == "text_link" and string(one, "url"))
    end, last = utf16_length(text), 0
    found = []
    for one in sorted(hidden, key=lambda it: int(it["offset"])):
        start, stop = int(one["offset"]), int(one["offset"]) + int(one["length"])
        if last <= start and stop <= end and not says(covered(text, one), string(one, "url")):
            found.append(one)
            last = stop
    return found


class _Insertion:
    """The brackets and addresses that are put into a text, each at a place of the old text."""

    def __init__(self, text: str, links: Sequence[Raw]) -> None:
        self._text = text.encode("utf-16-le", "surrogatepass")
        self._links = {id(one): f"]({string(one, 'url')})" for one in links}
        self._places: list[int] = []
        self._pieces: list[str] = []
        for one in links:
            start = int(one["offset"])
            self._places += [start, start + int(one["length"])]
            self._pieces += ["[", self._links[id(one)]]
        self._grown = [0, *accumulate(map(utf16_length, self._pieces))]

    def words(self, entities: Sequence[Raw]) -> MarkedText:
        made, at = bytearray(), 0
        for place, piece in zip(self._places, self._pieces, strict=True):
            made += self._text[at * 2 : place * 2] + piece.encode("utf-16-le", "surrogatepass")
            at = place
        made += self._text[at * 2 :]
        text = made.decode("utf-16-le", "replace")
        return MarkedText(text, [self._moved(one) for one in entities])

    def _moved(self, entity: Raw) -> Raw:
        start, stop = int(entity["offset"]), int(entity["offset"]) + int(entity["length"])
        start += self._grown[bisect_right(self._places, start)]
        stop += self._grown[bisect_left(self._places, stop)]
        if id(entity) in self._links:  # it covers its brackets and its address, too
            start -= 1
            stop += utf16_length(self._links[id(entity)])
        return {**entity, "offset": start, "length": max(0, stop - start)}
