"""Somebody comes back to what was said before the room's window."""

from __future__ import annotations

import pytest

from tape.linking import LaneLink, Linker
from tape.linking.room import WINDOW
from tape.linking.waking import WOKE
from tests.tape.linking.room_of import Talk

MODEL = Linker.shipped()
DAY = 86_400.0
BACK = "the grafana dashboard leaks memory again"


def others(talk: Talk, count: int = WINDOW) -> None:
    """Have others discuss other subjects until the room's window holds nothing else."""
    for number in range(count):
        person = f"person{number // 3 % 7}"
        talk.say(person, f"item{number // 3} and colour{number // 3}, please?")


def asked(linker: Linker = MODEL, *, calls: bool = False) -> tuple[Talk, list[LaneLink]]:
    """Return a room in which Ann and Bob spoke of a subject and others of theirs, a day ago."""
    talk = Talk(linker)
    others(talk, 30)
    links = [talk.say("ann", "the grafana dashboard leaks memory since the upgrade", calls=calls)]
    if calls:
        links.append(talk.answer("Restart grafana each night until the leak is mended."))
    else:
        links.append(talk.say("bob", "how much memory does grafana take?", "ann"))
        links.append(talk.say("ann", "four gigabytes after a day", "bob"))
    assert len({link.lane for link in links}) == 1
    others(talk)
    assert links[0].lane not in talk.room.lanes
    talk.at += DAY
    return talk, links


@pytest.mark.parametrize("author", ["ann", "bob", "eve"])
def test_whoever_comes_back_to_a_sleeping_subject_joins_its_lane(author: str) -> None:
    talk, links = asked()
    last = talk.room.asleep.outlines
    newest = next(one.key for one in reversed(last) if one.lane == links[0].lane)
    assert talk.say(author, BACK) == LaneLink(links[0].lane, newest, WOKE)
    assert talk.say("person1", "how much does it take now?", author).lane == links[0].lane


@pytest.mark.parametrize(
    "text",
    [
        "does grafana have a logo?",
        "the kettle leaks",
        "who knows a dentist in Leipzig?",
        "what do you think of that?",
        "",
    ],
)
@pytest.mark.parametrize("author", ["ann", "eve"])
def test_one_common_word_wakes_nothing(author: str, text: str) -> None:
    talk, links = asked()
    assert talk.say(author, text).lane != links[0].lane


def test_a_task_for_the_agent_takes_no_part_in_what_others_spoke_of() -> None:
    for calls in (False, True):
        talk, links = asked(calls=calls)
        assert talk.say("eve", BACK, calls=True).lane != links[0].lane


@pytest.mark.parametrize("calls", [False, True])
def test_who_asks_the_agent_goes_on_from_a_conversation_of_their_own(calls: bool) -> None:
    talk, links = asked(calls=calls)
    assert talk.say("ann", BACK, calls=True).lane == links[0].lane


def test_a_thread_is_joined_in_the_thread_alone() -> None:
    talk = Talk(MODEL)
    others(talk, 30)
    for author in ("ann", "bob", "ann"):
        talk.say(author, "the grafana dashboard leaks memory since the upgrade", thread="7")
    others(talk)
    assert talk.say("ann", BACK).lane != "thread:7"


def test_a_reply_is_no_return_to_what_its_words_say() -> None:
    talk, links = asked()
    newest = talk.room.heard[-1]
    assert talk.say("ann", BACK, reply_to=newest.key).lane == newest.lane != links[0].lane
    assert talk.say("ann", BACK, reply_to="unknown", lane="reply:unknown").lane == "reply:unknown"


def test_without_a_model_nothing_wakes() -> None:
    talk, links = asked()
    rules = Talk(Linker())
    for utterance, link in talk.said:
        rules.room.add(utterance, link)
    rules.at = talk.at
    assert links[0].lane in rules.room.asleep.lanes
    assert rules.say("eve", BACK, key="new").lane != links[0].lane


@pytest.mark.parametrize("jump", [-400 * DAY, -DAY, 10_000 * DAY])
def test_a_clock_that_jumps_only_counts_as_no_time_or_much(jump: float) -> None:
    talk, links = asked()
    talk.at += jump
    assert talk.say("ann", BACK).lane == links[0].lane


def test_a_flood_of_the_same_words_wakes_nothing() -> None:
    talk = Talk(MODEL)
    for number in range(3 * WINDOW):
        talk.say(f"bot{number % 2}", "the grafana dashboard leaks memory")
    others(talk)
    assert talk.say("eve", "the grafana dashboard leaks memory").why != WOKE
