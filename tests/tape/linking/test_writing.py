"""All that a room remembers, written down and read back."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any
from zlib import crc32

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tape.linking import LaneLink, Linker, LinkerRoom
from tape.linking.features_text import gist
from tape.linking.standing import stands_alone
from tape.linking.waking import WOKE
from tape.linking.writing import FORM, SIZES, read_back, written
from tests.kit.examples import examples
from tests.tape.linking.room_of import Talk

MODEL = Linker.shipped()
MOST, REACHED = 20, 60
PEOPLE = ("ann", "bob", "cid", "dan", "eve")
SUBJECTS = (
    ("grafana", "dashboard", "memory"),
    ("dentist", "leipzig", "weber"),
    ("tent", "tunnel", "norway"),
    ("sourdough", "acetone", "rye"),
    ("printer", "toner", "tray"),
    ("路由器", "固件", "重启"),
)


def speak(talk: Talk, random: Random, count: int) -> list[LaneLink]:
    """Say things of which some reply, call the agent, stand in threads, or come back."""
    links = []
    for _ in range(count):
        author, *others = random.sample(PEOPLE, 3)
        words = random.sample(random.choice(SUBJECTS), random.randint(0, 3))
        text = " ".join((*words, random.choice(("", "?", "and that one?", "thanks", "is broken"))))
        before = [heard.key for heard in talk.room.heard]
        link = talk.say(
            author,
            text,
            *others[: random.randint(0, 2)],
            reply_to=random.choice(before) if before and random.random() < 0.1 else None,
            thread="7" if random.random() < 0.05 else None,
            after=random.choice((0.0, 5.0, 90.0, 4_000.0, 200_000.0, -500.0)),
            calls=random.random() < 0.2,
        )
        links.append(link)
        if random.random() < 0.2:
            links.append(talk.answer(" ".join(words) + " is fine"))
    return links


def opened(room: LinkerRoom) -> bytes:
    """Return what is written of a room whose outlines were read."""
    assert len(room.asleep) <= room.reach
    return written(room)


def again(talk: Talk) -> Talk:
    """Return the same talk in the room that was written and read back."""
    copy = Talk(talk.linker)
    copy.room = read_back(written(talk.room))
    copy.said, copy.at, copy.keys = list(talk.said), talk.at, iter(range(10_000, 20_000))  # type: ignore[assignment]
    talk.keys = iter(range(10_000, 20_000))  # type: ignore[assignment]
    return copy


@examples(12)
@given(st.integers(0, 10_000), st.integers(0, 120))
def test_a_room_that_was_read_back_links_as_the_one_that_was_kept(seed: int, said: int) -> None:
    talk = Talk(MODEL)
    talk.room = LinkerRoom(MOST, REACHED)
    speak(talk, Random(seed), said)
    copy = again(talk)
    assert opened(copy.room) == opened(talk.room)
    assert speak(copy, Random(seed + 1), 40) == speak(talk, Random(seed + 1), 40)
    newest = talk.room.heard[-1].key
    assert MODEL.ranked(copy.room, newest, 50) == MODEL.ranked(talk.room, newest, 50)
    assert MODEL.chosen(copy.room, newest) == MODEL.chosen(talk.room, newest)
    assert opened(copy.room) == opened(talk.room)


def test_a_lane_that_slept_when_the_room_was_written_wakes_hundreds_of_messages_later() -> None:
    text = "the lighthouse keeper repaints his staircase railings"
    talk = Talk(MODEL)
    talk.room = LinkerRoom(MOST, 1_000)
    slept = talk.say("fay", text)
    speak(talk, Random(1), 60)
    copy = again(talk)
    links = speak(talk, Random(2), 300)
    assert speak(copy, Random(2), 300) == links
    assert {"reply", "thread"} <= {link.why for link in links}
    back = talk.say("fay", text + " again")
    assert copy.say("fay", text + " again") == back
    assert (back.lane, back.why) == (slept.lane, WOKE)
    assert opened(copy.room) == opened(talk.room)


def test_a_piece_is_bounded_and_small() -> None:
    talk = Talk(Linker())
    for number in range(2_000):
        text = f"subject{number} " + "word " * 2_000
        talk.say(f"person {number}", text, key=f"-100123456789/{number}")
    assert len(written(talk.room)) < 250_000


def changed(change: Callable[[Any], object]) -> bytes:
    """Return what is written of a room, with a change of what stands in it as JSON."""
    talk = Talk(Linker(), most=MOST)
    speak(talk, Random(3), 40)
    data = written(talk.room)
    size, *others = SIZES.unpack_from(data)
    found = orjson.loads(data[SIZES.size : SIZES.size + size])
    change(found)
    in_json = orjson.dumps(found)
    return SIZES.pack(len(in_json), *others) + in_json + data[SIZES.size + size :]


def test_what_was_changed_back_is_read() -> None:
    assert len(read_back(changed(lambda found: found.update(form=FORM)))) == MOST


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.update(form=FORM + 1),
        lambda found: found.pop("keys"),
        lambda found: found.pop("most"),
        lambda found: found["minutes"].append(1),
        lambda found: found["minutes"].__setitem__(3, "9"),
        lambda found: found["texts"].pop(),
        lambda found: found["texts"].__setitem__(3, None),
        lambda found: found["authors"].__setitem__(3, 1_000),
        lambda found: found["lanes"].__setitem__(3, None),
        lambda found: found["words"].__setitem__(3, 70_000),
        lambda found: found["words"].__setitem__(3, None),
        lambda found: found["mentions"].append([1, 1_000]),
        lambda found: found["people"].__setitem__(0, None),
        lambda found: found.update(keys=None),
        lambda found: found.update(keys=""),
    ],
)
def test_what_is_no_room_is_not_read(change: Callable[[Any], object]) -> None:
    with pytest.raises((ValueError, TypeError, LookupError, OverflowError)):
        read_back(changed(change))


@pytest.mark.parametrize("cut", [0, 3, 15, 16, 100, -1])
def test_what_is_cut_is_not_read(cut: int) -> None:
    talk = Talk(Linker(), most=MOST)
    speak(talk, Random(3), 40)
    with pytest.raises(ValueError, match=r"nothing to read|bytes, not"):
        read_back(written(talk.room)[:cut])


@pytest.mark.parametrize("key", ["a\x7fb", "a\x80b", "lone \ud800"])
def test_a_key_or_text_that_cannot_be_read_back_is_not_written(key: str) -> None:
    talk = Talk(Linker(), most=MOST)
    talk.say("ann", "hello", key=key)
    with pytest.raises((ValueError, TypeError)):
        written(talk.room)


def test_the_form_is_raised_where_texts_are_taken_apart_in_another_way() -> None:
    """The words in a piece are compared with those of messages that came after it was written."""
    texts = (
        "Does the printer in the hall work? It's out of toner, see https://example.org/a",
        "路由器的固件怎么升级",
        "プリンターの電源が入りません",
        "프린터가 종이를 먹어요",
        "เครื่องพิมพ์เปิดไม่ติดครับ",
    )
    taken = [(gist(text).words, gist(text).opens, stands_alone(text)) for text in texts]
    assert (FORM, crc32(str(taken).encode())) == (2, 2784727399)
