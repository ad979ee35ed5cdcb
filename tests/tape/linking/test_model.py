"""What was learned keeps conversations apart that rules do not."""

from __future__ import annotations

import pytest

from tape.linking import Linker
from tests.tape.linking.room_of import Talk

PRINTER = ("0", "2", "4", "7", "9", "11")
HARBOUR = ("1", "3", "5", "6", "8", "10")


@pytest.fixture
def talk() -> Talk:
    """Two conversations of four people, one line each in turn or nearly so."""
    talk = Talk(Linker.shipped())
    talk.say("ann", "how do I get the printer in the hall to print on both sides?")
    talk.say("cid", "does someone know which road leads from the station to the harbour?")
    talk.say("bob", "ann: there is a switch for both sides in the settings of the printer", "ann")
    talk.say("dan", "cid: the road along the river, then left at the bridge", "cid")
    talk.say("ann", "bob: I looked there and found no switch", "bob")
    talk.say("cid", "dan: is that road open for bicycles?", "dan")
    talk.say("dan", "cid: it is, but the bridge has stairs", "cid")
    talk.say("bob", "ann: which printer is it, the old one?", "ann")
    talk.say("cid", "stairs are fine, I can carry the bicycle")
    talk.say("ann", "bob: yes, the old grey one", "bob")
    talk.say("dan", "cid: then it takes you ten minutes to the harbour", "cid")
    talk.say("bob", "ann: that one cannot print on both sides", "ann")
    return talk


def test_two_conversations_are_kept_apart(talk: Talk) -> None:
    lanes = {said.key: link.lane for said, link in talk.said}
    assert {lanes[key] for key in PRINTER} == {"said:0"}
    assert {lanes[key] for key in HARBOUR} == {"said:1"}


def test_the_conversation_of_a_message_is_ranked_first_and_chosen(talk: Talk) -> None:
    room = talk.room
    assert set(talk.linker.ranked(room, "11", 5)) == set(PRINTER) - {"11"}
    assert set(talk.linker.chosen(room, "10")) == set(HARBOUR) - {"10"}
    assert talk.linker.chosen(room, "10") == sorted(set(HARBOUR) - {"10"}, key=int)


def test_a_link_says_how_sure_the_model_is(talk: Talk) -> None:
    _, link = talk.said[-1]
    assert link.why.startswith("model 0.")
    assert link.parent in PRINTER


def test_an_answer_of_the_agent_is_gone_on_from_like_any_message(talk: Talk) -> None:
    lane = "said:1"
    talk.say("cid", "is there a ferry to the harbour?", reply_to="10", calls=True)
    assert talk.answer("There is a ferry too.").lane == lane
    assert talk.say("cid", "bot: when does the ferry leave?", calls=True).lane == lane


def test_two_people_who_both_ask_the_agent_may_have_two_conversations() -> None:
    talk = Talk(Linker.shipped())
    for _ in range(3):
        for person, text in (("ann", "the printer prints nothing"), ("bob", "tea or coffee")):
            talk.say(person, f"{text}?", calls=True)
            talk.answer(f"About {text}: it depends.")
    assert (
        talk.say("ann", "and the printer of the hall?", calls=True).why != "the only conversation"
    )


def test_two_people_have_one_conversation_beside_an_agent_that_one_of_them_asks() -> None:
    talk = Talk(Linker.shipped())
    for _ in range(4):
        talk.say("ann", "the printer prints nothing", calls=True)
        talk.answer("Is it switched on?")
        talk.say("bob", "tea or coffee?")
    assert talk.say("bob", "so?").why == "the only conversation"


def test_a_platform_s_thread_is_chosen_whole_and_alone(talk: Talk) -> None:
    for number in range(4):
        talk.say("ann", f"line {number} of a thread", thread="7", key=f"t{number}")
    assert talk.linker.chosen(talk.room, "t3") == ["t0", "t1", "t2"]


def test_where_two_people_talk_the_last_messages_are_chosen() -> None:
    talk = Talk(Linker.shipped())
    for number in range(60):
        talk.say(("ann", "bob")[number % 2], f"one thing and another, {number}", after=600)
    assert talk.linker.chosen(talk.room, "59") == [str(at) for at in range(9, 59)]


def test_one_conversation_of_many_without_mentions_is_chosen_nearly_whole() -> None:
    talk = Talk(Linker.shipped())
    for number in range(60):
        talk.say("abcde"[number * 7 % 5], f"the plan for the trip, part {number}", after=15)
    assert len(talk.linker.chosen(talk.room, "59")) >= 45


def test_a_short_talk_of_one_thing_is_chosen_whole() -> None:
    talk = Talk(Linker.shipped())
    for number in range(20):
        talk.say(
            "abc"[number % 3], f"the plan for the trip, part {number}", "abc"[(number + 1) % 3]
        )
    assert talk.linker.chosen(talk.room, "19") == [str(at) for at in range(19)]
