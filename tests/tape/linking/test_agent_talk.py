"""Talk with the agent: tasks of one's own, going on, joining in, and what a call is shown."""

from __future__ import annotations

import pytest

from tape.linking import Linker
from tape.linking.agent_talk import GOES_ON, OWN_TASK
from tests.kit.tasks import CHINESE, ENGLISH, Triple
from tests.tape.linking.room_of import Talk

PEOPLE = ("ann", "bob", "eve")
GAPS = (0.0, 3.0, 30.0, 180.0, 3600.0)
LONGEST_FOLLOW_UP = 180.0
LINKERS = {"model": Linker.shipped(), "rules": Linker()}


@pytest.fixture(params=LINKERS)
def talk(request: pytest.FixtureRequest) -> Talk:
    return Talk(LINKERS[request.param])


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("triple", [*ENGLISH, *CHINESE], ids=lambda triple: triple[0].asks[:20])
def test_three_people_s_tasks_are_three_conversations_and_show_nothing_of_each_other(
    triple: Triple, gap: float
) -> None:
    talk = Talk(Linker.shipped())
    lanes = {}
    for who, task in zip(PEOPLE, triple, strict=True):
        lanes[who] = talk.say(who, task.asks, key=who, calls=True, after=gap).lane
        if who != "ann":
            assert talk.linker.chosen(talk.room, who) == []
        talk.answer(task.answer)
    assert len(set(lanes.values())) == 3
    for who, task in zip(PEOPLE, triple, strict=True):
        key, after = f"{who} then", min(gap, LONGEST_FOLLOW_UP)
        assert talk.say(who, task.then, key=key, calls=True, after=after).lane == lanes[who]
        assert set(talk.linker.chosen(talk.room, key)) <= {who, f"turn:{who}"}
        talk.answer("Yes.")


def test_a_person_who_joins_in_is_in_the_conversation(talk: Talk) -> None:
    lane = talk.say("ann", "which Linux desktop is good for an old laptop?", calls=True).lane
    talk.answer("Xfce needs little memory.")
    assert talk.say("bob", "and with Debian?", calls=True, reply_to="turn:0").lane == lane


def test_a_task_that_shares_a_rare_word_may_be_of_the_conversation() -> None:
    talk = Talk(Linker.shipped())
    lane = talk.say("ann", "how long do I boil quail eggs?", calls=True).lane
    talk.answer("Two minutes and a half for soft quail eggs.")
    assert talk.say("bob", "where can I buy quail eggs in winter?", calls=True).lane == lane


def test_a_reply_to_an_answer_to_somebody_else_is_placed_by_its_words(talk: Talk) -> None:
    lane = talk.say("ann", "which Linux desktop is good for an old laptop?", calls=True).lane
    talk.answer("Xfce needs little memory.")
    reply = "what could I cook for dinner with leeks and potatoes?"
    assert talk.say("bob", reply, reply_to="turn:0", calls=True).lane == "said:1"
    talk.answer("A soup.")
    later = talk.say("ann", "which wallpaper would you choose?", reply_to="turn:0", calls=True)
    assert (later.lane, later.why) == (lane, "reply")


def test_a_reply_to_a_person_joins_whatever_it_says(talk: Talk) -> None:
    lane = talk.say("ann", "which Linux desktop is good for an old laptop?", calls=True).lane
    talk.answer("Xfce needs little memory.")
    reply = "what could I cook for dinner with leeks and potatoes?"
    assert talk.say("bob", reply, reply_to="0", calls=True).lane == lane


def test_a_task_begins_its_own_conversation_and_says_why(talk: Talk) -> None:
    talk.say("ann", "which Linux desktop is good for an old laptop?", calls=True)
    talk.answer("Xfce needs little memory.")
    link = talk.say("bob", "translate good night into Italian", calls=True)
    assert link.parent is None
    assert link.why in (OWN_TASK, "no sign") or link.why.startswith("new ")


def test_who_goes_on_after_hours_of_others_tasks_goes_on_from_the_agent_s_answer(
    talk: Talk,
) -> None:
    lane = talk.say("ann", "convert 350 fahrenheit to celsius", calls=True).lane
    talk.answer("About 177 degrees.")
    for who, text in (("bob", "define entropy please"), ("eve", "recommend a thriller")):
        talk.say(who, text, calls=True, after=7200)
        talk.answer("Here you are.")
    link = talk.say("ann", "and 400?", calls=True, after=7200)
    assert link.lane == lane
    assert link.why == GOES_ON or link.why.startswith("model ")


@pytest.mark.parametrize("who", ["bob", "eve", "ann", "zoe"])
def test_who_refers_to_what_people_said_is_shown_that(who: str) -> None:
    talk = Talk(Linker.shipped())
    others = talk.say("dan", "convert 350 fahrenheit to celsius", calls=True).lane
    talk.answer("About 177 degrees.")
    talk.say("bob", "we should move the whole team to the harbour office", after=600)
    talk.say("eve", "the harbour office has no canteen at all", "bob")
    assert talk.say(who, "what do you think of that?", calls=True, key="asks").lane != others
    assert set(talk.linker.chosen(talk.room, "asks")) == {"1", "2"}
    near = talk.linker.beside(talk.room, "asks")
    assert {"0", "turn:0"}.isdisjoint((*near.likely, *near.doubted))
