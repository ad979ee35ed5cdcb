"""The outlines that a room keeps of what its window has forgotten."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tape.linking import LaneLink, Linker, LinkerRoom, Utterance
from tape.linking.asleep import MAX_LANES, REACH, Asleep, Outline
from tape.linking.room import WINDOW
from tests.kit.examples import examples
from tests.tape.linking.room_of import Talk

REACHED = 30
MOST = 12
WORDS = st.lists(st.integers(0, 65_535), max_size=6, unique=True)
OUTLINES = st.lists(st.tuples(st.sampled_from("abcdef"), WORDS), max_size=2 * REACHED)


def kept(lines: list[tuple[str, list[int]]], reach: int) -> Asleep:
    asleep = Asleep(reach)
    for number, (lane, words) in enumerate(lines):
        asleep.add(Outline(lane, str(number), "ann", number), words)
    return asleep


def told(asleep: Asleep) -> list[tuple[Outline, list[int]]]:
    return [(outline, words.tolist()) for outline, words in asleep]


@examples(100)
@given(OUTLINES, st.integers(1, 4))
def test_a_word_is_found_in_the_outlines_that_have_it_unless_they_are_too_many(
    lines: list[tuple[str, list[int]]], most: int
) -> None:
    asleep = kept(lines, REACHED)
    outlines = told(asleep)
    assert [words for _, words in outlines] == [words for _, words in lines[-REACHED:]]
    everything = {word for _, words in lines for word in words} | {7}
    expected = {
        word: places
        for word in everything
        if (places := [at for at, (_, words) in enumerate(outlines) if word in words])
        and len(places) <= most
    }
    assert asleep.holders(everything, most) == expected


@examples(60)
@given(st.lists(st.tuples(st.sampled_from("abcdefghij"), WORDS), max_size=80), st.data())
def test_outlines_are_of_the_last_messages_alone(
    lines: list[tuple[str, list[int]]], data: st.DataObject
) -> None:
    reach = data.draw(st.integers(1, REACHED))
    last = kept(lines, reach)
    again = Asleep(reach)
    for number, (lane, words) in enumerate(lines):
        if number >= len(lines) - reach:
            again.add(Outline(lane, str(number), "ann", number), words)
    assert told(again) == told(last)
    assert again.lanes == last.lanes
    assert sum(last.lanes.values()) == len(last) == min(reach, len(lines))


def test_where_each_line_is_a_new_subject_the_lanes_that_slept_longest_are_dropped() -> None:
    room = LinkerRoom()
    for number in range(5_000):
        text = f"what is subject{number} about?"
        said = Utterance(str(number), 60.0 * number, f"person {number}", "", text)
        room.add(said, LaneLink(f"said:{number}", None, "new"))
    assert len(room.asleep) == len(room.asleep.lanes) == MAX_LANES
    newest = 5_000 - WINDOW - 1
    assert list(room.asleep.lanes)[-1] == f"said:{newest}"
    assert room.asleep.outlines[0].lane == f"said:{newest - MAX_LANES + 1}"


def test_few_long_lanes_are_kept_as_far_back_as_outlines_reach() -> None:
    room = LinkerRoom()
    for number in range(WINDOW + REACH + 50):
        said = Utterance(str(number), 60.0 * number, "ann", "", "words")
        room.add(said, LaneLink(f"lane {number % 3}", None, "new"))
    assert len(room.asleep) == REACH
    assert room.asleep.outlines[0].key == "50"


def test_a_room_that_was_replayed_has_the_same_outlines() -> None:
    talk = Talk(Linker.shipped(), most=MOST)
    talk.room = LinkerRoom(MOST, REACHED)
    for number in range(100):
        author = ("ann", "bob", "cid", "dan")[number * number % 4]
        said = talk.say(
            author, f"subject{number % 17} and thing{number % 5}?", calls=number % 9 == 0
        )
        if number % 9 == 0:
            talk.answer(f"{said.lane} is fine")
    again = LinkerRoom(MOST, REACHED)
    for utterance, link in talk.said[-MOST - REACHED :]:
        again.add(utterance, link)
    assert told(again.asleep) == told(talk.room.asleep)
    assert len(again.asleep) == REACHED


def test_outlines_that_are_read_later_stand_before_the_others() -> None:
    talk = Talk(Linker.shipped(), most=MOST)
    for number in range(60):
        talk.say(("ann", "bob", "cid")[number % 3], f"subject{number} and more?")
    whole, late = LinkerRoom(MOST), LinkerRoom(MOST)
    for utterance, link in talk.said:
        whole.add(utterance, link)
    for utterance, link in talk.said[-30:]:
        late.add(utterance, link)
    late.recall(late.outlines_of(talk.said[:30]))
    assert told(late.asleep) == told(whole.asleep)
