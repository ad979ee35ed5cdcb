"""Write down all that a room remembers, and read it back.

A room that was read back links like the one that was written, message by message. What is written
has a column for each thing that is remembered of a message: reading columns takes a fraction of the
time in which the messages would be taken apart once more. Texts stand there as they are.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from struct import Struct
from sys import intern
from typing import Any, Final

import orjson

from tape.linking.asleep import Asleep, Closed, Outline, Outlines
from tape.linking.room import SIGNS, Heard, Lane, LinkerRoom
from tape.linking.utterance import THREAD

FORM: Final = 2
"""The form of what is written; another is to be taken where texts give other words than before."""

SIZES: Final = Struct("<4I")  # of the columns in JSON, of those of outlines, and of two of words
LENGTH: Final = Struct("<I")  # of a block of outlines
MAX_BLOCKS: Final = 6
"""Maximum blocks of outlines: as long as there are fewer, older ones are written unread."""

_SIGN_BYTES: Final = SIGNS // 8
_WHOLE: Final = "\x7f"  # before a key; it takes a byte in JSON
_SHORT: Final = "\x80"  # before a key without the prefix


def written(room: LinkerRoom) -> bytes:
    """Return all that a room remembers; rooms that remember the same are written alike.

    Where outlines were not read since the room was, they stay in the blocks in which they were.

    Raises TypeError for text that UTF-8 cannot hold, ValueError for a key that cannot be written,
    and OverflowError.
    """
    heard, first = room.heard, room.first
    lanes, people = _Table(), _Table()
    prefix = _prefix(heard)
    columns = {
        "form": FORM,
        "most": room.most,
        "reach": room.reach,
        "prefix": prefix,
        "again": {key: number - first for key, number in _by_number(room.again)},
        "numbers": [one.number - first for one in heard],
        "keys": _joined([one.key for one in heard], prefix),
        "minutes": [one.minute for one in heard],
        "authors": [people.place(one.author) for one in heard],
        "called": [people.place(one.called) for one in heard],
        "lanes": [lanes.place(one.lane) for one in heard],
        "parents": _joined([_or_empty(one.parent) for one in heard], prefix),
        "replies": _joined([_or_empty(one.reply_to) for one in heard], prefix),
        "mentions": [
            [at, *map(people.place, one.mentions)] for at, one in enumerate(heard) if one.mentions
        ],
        "flags": [_flags(one) for one in heard],
        "lengths": [one.length for one in heard],
        "opens": [one.opens for one in heard],
        "texts": [one.text for one in heard],
        "words": [len(one.words) for one in heard],
        "people": people.names,
        "lane_names": lanes.names,
    }
    signs = b"".join(one.signs.to_bytes(_SIGN_BYTES, "little") for one in heard)
    words = _little(array("H", [word for one in heard for word in one.words]))
    in_json = orjson.dumps(columns)
    blocks, rest = room.asleep.parts(MAX_BLOCKS)
    if rest.outlines:
        blocks += (_outlined(rest, prefix),)
    outlines = b"".join(LENGTH.pack(len(block)) + block for block in blocks)
    sizes = SIZES.pack(len(in_json), len(signs), len(words), len(outlines))
    return b"".join((sizes, in_json, signs, words, outlines))


def read_back(data: bytes) -> LinkerRoom:
    """Return the room that was written.

    Raises ValueError, TypeError, LookupError, AttributeError or OverflowError if it is unreadable.
    Outlines are read when they are needed: what is read back has to be known to be whole.
    """
    if len(data) < SIZES.size:
        raise ValueError("there is nothing to read")
    parts, end = [], SIZES.size
    for size in SIZES.unpack_from(data):
        start, end = end, end + size
        parts.append(data[start:end])
    if end != len(data):
        raise ValueError(f"there are {len(data)} bytes, not {end}")
    in_json, signs, words, outlines = parts
    found = orjson.loads(in_json)
    if found["form"] != FORM:
        raise ValueError(f"form {found['form']!r} is not {FORM}")
    room = LinkerRoom(int(found["most"]), int(found["reach"]))
    _fill(room, _heard(found, signs, _numbers("H", words)))
    room.number = room.most  # as messages are numbered from the first of the window on
    room.again = {str(key): int(number) for key, number in found["again"].items()}
    room.asleep = Asleep(room.reach, Closed(tuple(_blocks(outlines)), _read_outlines))
    return room


class _Table:
    """Names that are written once; a place stands for each."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, name: str) -> int:
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = len(self.names)
            self.names.append(name)
        return place


def _prefix(heard: Sequence[Heard]) -> str:
    """Return what stands before the numbers in most keys: the id of the chat."""
    found = Counter(head for one in heard for head, _, end in (one.key.rpartition("/"),) if end)
    return next((f"{head}/" for head, _ in found.most_common(1) if head), "")


def _joined(keys: Sequence[str], prefix: str) -> str:
    """Return keys as one text, each behind a sign that says whether the prefix is left out.

    Raises ValueError for a key with such a sign.
    """
    whole = _WHOLE + _WHOLE.join(keys) if keys else ""
    if whole.count(_WHOLE) != len(keys) or _SHORT in whole:
        raise ValueError("a key has a sign that stands between keys")
    return whole.replace(_WHOLE + prefix, _SHORT) if prefix else whole


def _split(joined: Any, prefix: str) -> list[str]:
    whole: str = _of(str, joined)
    return whole.replace(_SHORT, _WHOLE + prefix).split(_WHOLE)[1:]


def _by_number(numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(numbers.items(), key=lambda one: (one[1], one[0]))


def _or_empty(key: str | None) -> str:
    if key == "":
        raise ValueError("a key is empty")
    return key or ""


def _flags(one: Heard) -> int:
    return one.agent + one.calls * 2 + one.alone * 4 + one.asks * 8 + one.holds * 16


def _heard(found: Any, signs: bytes, words: array[int]) -> list[Heard]:
    prefix = str(found["prefix"])
    people = [intern(_of(str, name)) for name in found["people"]]
    lanes = [intern(_of(str, name)) for name in found["lane_names"]]
    threaded = [name.startswith(THREAD) for name in lanes]
    mentions = {at: tuple([people[one] for one in who]) for at, *who in found["mentions"]}
    texts = [_of(str, text) for text in found["texts"]]
    minutes, numbers, lengths, opens = (
        array("q", found[name]) for name in ("minutes", "numbers", "lengths", "opens")
    )
    columns = zip(
        _split(found["keys"], prefix),
        minutes,
        found["authors"],
        found["called"],
        found["lanes"],
        _split(found["parents"], prefix),
        _split(found["replies"], prefix),
        found["flags"],
        lengths,
        opens,
        texts,
        numbers,
        found["words"],
        strict=True,
    )
    heard, end = list[Heard](), 0
    for at, (
        key, minute, author, called, lane, parent, reply, flags, length, opening, text, number, size
    ) in enumerate(columns):  # fmt: skip
        one = object.__new__(Heard)
        one.key, one.minute = key, minute
        one.author, one.called, one.mentions = people[author], people[called], mentions.get(at, ())
        one.agent, one.calls, one.alone = flags & 1 == 1, flags & 2 == 2, flags & 4 == 4
        one.asks, one.holds = flags & 8 == 8, flags & 16 == 16
        one.reply_to, one.replied = reply or None, reply != ""
        one.lane, one.threaded, one.parent = lanes[lane], threaded[lane], parent or None
        start, end = end, end + size
        one.words = words[start:end]
        one.signs = int.from_bytes(signs[at * _SIGN_BYTES : (at + 1) * _SIGN_BYTES], "little")
        one.length, one.opens, one.text, one.number = length, opening, text, number
        heard.append(one)
    if end != len(words) or len(signs) != len(heard) * _SIGN_BYTES:
        raise ValueError("there are other words than those of the messages")
    return heard


def _fill(room: LinkerRoom, heard: list[Heard]) -> None:
    """Do for all messages what `LinkerRoom.remember` does for each."""
    room.heard = heard
    room.by_key = {one.key: one for one in heard}
    if len(room.by_key) != len(heard):
        raise ValueError("a message is there twice")
    room.by_agent = [one for one in heard if one.agent]
    room.answers = dict(Counter(one.parent for one in heard if one.parent is not None))
    words = array("H")
    lanes, authors, mentioning = room.lanes, room.authors, room.mentioning
    for one in heard:
        words += one.words
        lane = lanes.get(one.lane)
        if lane is None:
            lane = lanes[one.lane] = Lane()
        lane.heard.append(one)
        if not one.agent:
            author = one.author
            lane.authors[author] = lane.authors.get(author, 0) + 1
            if author in authors:
                authors[author].append(one)
            else:
                authors[author] = [one]
            for person in set(one.mentions):
                mentioning.setdefault(person, []).append(one)
    room.frequency = dict(Counter(words))


def _outlined(kept: Outlines, prefix: str) -> bytes:
    lanes, people = _Table(), _Table()
    outlines = kept.outlines
    columns = {
        "prefix": prefix,
        "keys": _joined(_newest_keys(outlines), prefix),
        "lanes": [lanes.place(one.lane) for one in outlines],
        "authors": [people.place(one.author) for one in outlines],
        "minutes": _steps([one.minute for one in outlines]),
        "people": people.names,
        "lane_names": lanes.names,
    }
    in_json, sizes = orjson.dumps(columns), kept.sizes.tobytes()
    # Two bytes a word; UTF-16 would read some pairs of words as one character.
    row = _little(array("H", array("I", kept.row.encode("utf-32", "surrogatepass")[4:])))
    return b"".join((SIZES.pack(len(in_json), len(sizes), len(row), 0), in_json, sizes, row))


def _newest_keys(outlines: Sequence[Outline]) -> list[str]:
    """Return the key of each lane's newest outline, by which it is woken, and "" for the others."""
    newest = {one.lane: at for at, one in enumerate(outlines)}
    return [one.key if newest[one.lane] == at else "" for at, one in enumerate(outlines)]


def _blocks(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        (size,) = LENGTH.unpack_from(data, at)
        at += LENGTH.size + size
        yield data[at - size : at]
    if at != len(data):
        raise ValueError("a block of outlines is cut")


def _read_outlines(data: bytes) -> Outlines:
    of_json, of_sizes, of_row, _none = SIZES.unpack_from(data)
    at = SIZES.size
    found = orjson.loads(data[at : at + of_json])
    at += of_json
    sizes = array("B", data[at : at + of_sizes])
    at += of_sizes
    words = array("I", _numbers("H", data[at : at + of_row]))
    row = words.tobytes().decode(f"utf-32-{sys.byteorder[0]}e", "surrogatepass")
    people, lanes = list(map(intern, found["people"])), list(map(intern, found["lane_names"]))
    columns = zip(
        [lanes[place] for place in found["lanes"]],
        _split(found["keys"], str(found["prefix"])),
        [people[place] for place in found["authors"]],
        _summed(found["minutes"]),
        strict=True,
    )
    outlines = list(map(Outline._make, columns))
    if len(sizes) != len(outlines) or sum(sizes) != len(row):
        raise ValueError("there are other words than those of the outlines")
    return Outlines(outlines, row, sizes)


def _steps(numbers: list[int]) -> list[int]:
    """Return the first number, and the difference of each to the one before."""
    return [number - before for number, before in zip(numbers, [0, *numbers], strict=False)]


def _summed(steps: Iterable[int]) -> list[int]:
    total, found = 0, []
    for step in steps:
        total += step
        found.append(total)
    return found


def _little(numbers: array[int]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _numbers(kind: str, data: bytes) -> array[int]:
    found = array(kind)
    found.frombytes(data)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def _of(kind: type, value: Any) -> Any:
    """Return a value; raises TypeError if it is of another kind."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.40} is not of {kind}")
    return value
