"""What the platform says comes first, then the rules, one after the other."""

from __future__ import annotations

import pytest

from tape.linking import Linker
from tests.tape.linking.room_of import Talk

MINUTES = 60.0


@pytest.fixture
def talk() -> Talk:
    """A room of three people where two talk of two things."""
    talk = Talk(Linker())
    talk.say("eve", "has everybody seen that the windows were cleaned this morning?", key="eve's")
    talk.say("ann", "does the printer in the hall work for somebody today?")
    talk.say("bob", "which road leads from the station to the harbour quickly?")
    return talk


def test_a_first_message_starts_a_conversation_named_after_it() -> None:
    link = Talk(Linker()).say("ann", "hello")
    assert (link.lane, link.parent, link.why) == ("said:0", None, "nothing before")


def test_a_reply_joins_the_lane_of_what_it_replies_to(talk: Talk) -> None:
    link = talk.say("cid", "no, it is broken", "bob", reply_to="0")
    assert (link.lane, link.parent, link.why) == ("said:0", "0", "reply")


def test_a_reply_to_what_was_forgotten_joins_the_lane_that_the_caller_knows(talk: Talk) -> None:
    link = talk.say("cid", "no, it is broken", reply_to="old", lane="said:long ago")
    assert (link.lane, link.parent, link.why) == ("said:long ago", "old", "reply")


def test_a_reply_to_something_unknown_is_linked_like_any_message(talk: Talk) -> None:
    link = talk.say("cid", "the hall one works again", "ann", reply_to="never seen")
    assert (link.lane, link.parent, link.why) == ("said:0", "0", "mention")


def test_a_thread_is_a_lane_and_goes_on_from_its_newest_message(talk: Talk) -> None:
    first = talk.say("cid", "a thread", thread="7")
    second = talk.say("ann", "goes on", "bob", thread="7")
    answer = talk.say("bob", "and answers", thread="7", reply_to="2")
    assert [link.lane for link in (first, second, answer)] == ["thread:7"] * 3
    assert [link.parent for link in (first, second, answer)] == [None, "2", "2"]


def test_what_is_said_outside_a_thread_does_not_join_it(talk: Talk) -> None:
    talk.say("ann", "in the thread", thread="7")
    link = talk.say("cid", "and what of the printer", "ann")
    assert link.lane == "said:0"


def test_a_mention_joins_the_latest_message_that_mentions_the_author(talk: Talk) -> None:
    talk.say("ann", "try the one upstairs", "bob")
    talk.say("ann", "and there is cake in the kitchen for all who want some of it today")
    assert talk.say("bob", "I did", "ann").parent == "2"


def test_a_mention_of_someone_who_did_not_address_the_author_joins_their_latest(talk: Talk) -> None:
    assert talk.say("cid", "down the hill", "bob").parent == "1"


def test_nobody_goes_on_from_what_was_said_hours_ago(talk: Talk) -> None:
    link = talk.say("cid", "was it the hall you meant?", "ann", after=121 * MINUTES)
    assert link.parent is None


def test_someone_goes_on_from_their_own_last_message(talk: Talk) -> None:
    link = talk.say("ann", "because mine prints nothing but stripes since this very morning")
    assert (link.parent, link.why) == ("0", "own last message")


def test_someone_who_was_addressed_since_goes_on_from_that(talk: Talk) -> None:
    talk.say("cid", "it is out of paper, look at the tray", "ann")
    link = talk.say("ann", "there was none, so somebody should really order some more of it")
    assert (link.parent, link.why) == ("2", "was addressed")


def test_a_short_remark_goes_on_from_the_line_before(talk: Talk) -> None:
    assert talk.say("cid", "good question").parent == "1"


def test_a_question_of_someone_new_starts_a_conversation(talk: Talk) -> None:
    assert talk.say("cid", "any plans?").lane == "said:2"


def test_two_people_have_one_conversation_until_a_lull() -> None:
    talk = Talk(Linker())
    for number in range(5):
        talk.say("ann", f"does the printer in the hall work for somebody today? {number}")
        talk.say("bob", f"which road leads from the station to the harbour? {number}")
    link = talk.say("ann", "does nobody know where the keys of the cellar are?")
    assert (link.parent, link.why) == ("9", "the only conversation")
    assert talk.say("bob", "and now?", after=31 * MINUTES).parent is None
