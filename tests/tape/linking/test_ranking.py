"""What a view shows beside a lane: what is likely, what is in doubt, and the last messages."""

from __future__ import annotations

import pytest

from tape.linking import LaneLink, Linker, LinkerRoom, Utterance
from tape.linking.ranking import MIN_DOUBTED, MIN_RECENT, Beside, in_doubt
from tape.linking.room import Heard
from tests.tape.linking.room_of import Talk

PEOPLE = ("ann", "bob", "cid", "dan", "eve")
TRAVELLERS = ("bob", "cid", "dan")
TRIP = (
    "the trip to Rome needs a plan, who books the train?",
    "the train to Rome is cheap on Tuesdays",
    "then Tuesday, and the hotel by the river",
)
TEXTS = (
    "does the printer in the hall print on both sides?",
    "which road leads to the harbour?",
    "the printer needs paper first",
    "I think so, yes",
    "the harbour is closed on Sundays",
)


def heard(number: int) -> Heard:
    said = Utterance(str(number), number * 60.0, "ann", "ann", "words")
    return Heard(said, LaneLink("said:0", None, ""), number)


def likeliest(*chances: float) -> list[tuple[float, Heard]]:
    """Return messages with their chances, given oldest first, as the model gives them."""
    pairs = [(chance, heard(number)) for number, chance in enumerate(chances)]
    return sorted(pairs, key=lambda pair: -pair[0])


def numbers(found: list[Heard]) -> list[int]:
    return [one.number for one in found]


def test_the_last_messages_are_shown_if_more_is_expected_of_them() -> None:
    known = likeliest(0.9, *[0.0] * MIN_DOUBTED, 0.5, 0.05, 0.6)
    first = [one for chance, one in known if chance == 0.9]
    assert numbers(in_doubt(known, first, 0.1)) == [MIN_DOUBTED + 1, MIN_DOUBTED + 3]


def test_nothing_is_in_doubt_if_what_is_shown_promises_as_much() -> None:
    known = likeliest(0.9, 0.9, *[0.0] * MIN_DOUBTED, 0.5, 0.05, 0.6)
    shown = [one for chance, one in known if chance == 0.9]
    assert in_doubt(known, shown, 0.1) == []


def test_what_has_hardly_a_chance_is_not_shown_in_doubt_nor_what_is_shown_already() -> None:
    known = likeliest(0.1, 0.2, 0.8)
    assert numbers(in_doubt(known, [], 0.2)) == [1, 2]
    assert numbers(in_doubt(known, [one for chance, one in known if chance == 0.8], 0.2)) == [1]


def test_a_selection_is_compared_with_as_many_last_messages() -> None:
    known = likeliest(*[0.3] * 60)
    shown = [one for _chance, one in known if one.number < 2 * MIN_DOUBTED]
    assert in_doubt(known, shown, 0.1) == []
    assert len(in_doubt(known, shown[:1], 0.1)) == MIN_DOUBTED


@pytest.fixture(scope="module")
def talk() -> Talk:
    """A room in which five people talk about two things at once, and nobody says to whom."""
    talk = Talk(Linker.shipped())
    for number in range(60):
        talk.say(PEOPLE[number * 7 % 5], f"{TEXTS[number * 3 % 5]} {number}", after=300)
    return talk


def test_a_view_shows_nothing_twice(talk: Talk) -> None:
    for said, link in talk.said:
        lane = {one.key for one in talk.room.lanes[link.lane].heard}
        near = talk.linker.beside(talk.room, said.key)
        assert lane.isdisjoint(near.likely)
        assert lane.isdisjoint(near.doubted)
        assert set(near.likely).isdisjoint(near.doubted)
        assert list(near.likely) == sorted(near.likely, key=int)
        assert list(near.doubted) == sorted(near.doubted, key=int)


def test_what_begins_a_conversation_and_stands_alone_is_never_in_doubt(talk: Talk) -> None:
    begun = [one for one in talk.room.heard if one.alone and talk.room.begins(one)]
    others = [one for one in talk.room.heard if one not in begun]
    assert begun
    assert {talk.linker.beside(talk.room, one.key).doubted for one in begun} == {()}
    assert any(talk.linker.beside(talk.room, one.key).doubted for one in others)


def test_the_last_messages_are_as_many_as_a_view_and_leave_out_what_is_apart(talk: Talk) -> None:
    for said, _link in talk.said[30:]:
        before = [one.key for one in talk.room.before(said.key).heard]
        apart = talk.linker.apart(talk.room, said.key)
        last = talk.linker.recent(talk.room, said.key)
        assert MIN_RECENT <= len(last) <= 50
        assert last == [key for key in before if key not in apart][-len(last) :]


@pytest.fixture
def trip() -> Talk:
    """A room in which Ann asks the agent one thing, and three people plan something else."""
    talk = Talk(Linker.shipped())
    talk.say("ann", "how do I mount an encrypted disk on Linux?", calls=True)
    talk.answer("With cryptsetup, and then mount.")
    for number in range(9):
        before = (TRAVELLERS[(number + 2) % 3],) if number else ()
        talk.say(TRAVELLERS[number % 3], f"{TRIP[number % 3]} {number}", *before, after=60)
    return talk


def test_somebody_else_s_task_is_apart_from_a_call(trip: Talk) -> None:
    trip.say("eve", "which wine goes with grilled salmon?", calls=True, key="wine")
    trip.say("eve", "and which wine with that?", calls=True, key="more")
    for key in ("wine", "more"):
        assert {"0", "turn:0"} <= trip.linker.apart(trip.room, key)
    assert "9" in trip.linker.recent(trip.room, "more")
    assert {"0", "turn:0"}.isdisjoint(trip.linker.recent(trip.room, "more"))


@pytest.mark.parametrize("answered", [False, True])
def test_what_somebody_else_asks_is_apart_from_a_call_also_before_it_is_answered(
    trip: Talk, answered: bool
) -> None:
    trip.say("eve", "write me a script that renames all my photos", calls=True, key="script")
    trip.answer("Here you are: exiftool does that, by date.")
    trip.say("fay", "which Linux desktop is good for an old laptop?", calls=True, key="desktop")
    if answered:
        trip.answer("Xfce needs little memory.")
    trip.say("eve", "can it keep the old name at the end?", calls=True, key="more")
    assert trip.room.by_key["more"].lane == "said:script"
    assert "desktop" in trip.linker.apart(trip.room, "more")
    shown = trip.linker.beside(trip.room, "more")
    assert "desktop" not in {*trip.linker.recent(trip.room, "more"), *shown.likely, *shown.doubted}


def test_a_call_that_begins_a_conversation_and_stands_alone_is_not_shown_the_last_messages(
    trip: Talk,
) -> None:
    trip.say("eve", "which wine goes with grilled salmon?", calls=True, key="wine")
    assert trip.linker.recent(trip.room, "wine") == []


def test_by_rules_or_in_a_thread_there_is_nothing_beside_the_lane() -> None:
    by_rules = Talk(Linker())
    for number in range(12):
        by_rules.say(PEOPLE[number % 5], f"{TEXTS[number % 5]} {number}")
    assert by_rules.linker.beside(by_rules.room, "11") == Beside()
    assert by_rules.linker.apart(by_rules.room, "11") == frozenset()
    assert len(by_rules.linker.recent(by_rules.room, "11")) == 11
    assert Linker.shipped().beside(LinkerRoom(), "nothing") == Beside()


def test_a_reply_says_whether_its_message_would_have_been_found_without_it() -> None:
    talk = Talk(Linker.shipped())
    for number in range(12):
        talk.say(PEOPLE[number % 5], f"the plan for the trip, part {number}")
    reply = Utterance("new", talk.at + 20, "ann", "ann", "which part?", reply_to="11")
    found = talk.linker.judge_reply(talk.room, reply)
    assert found is not None
    assert found.in_set
    assert found.in_last
    assert "new" not in talk.room.by_key
    assert (
        talk.linker.judge_reply(talk.room, Utterance("n", 0, "ann", "ann", "x", reply_to="?"))
        is None
    )
    assert talk.linker.judge_reply(talk.room, Utterance("n", 0, "ann", "ann", "x")) is None
    assert Linker().judge_reply(talk.room, reply) is None
