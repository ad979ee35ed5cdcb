"""The trees are told which kind of room it is, and what of a message the room knows already."""

from __future__ import annotations

import pytest

from tape.linking import Linker, Utterance
from tape.linking.features_message import KIND_MESSAGES, LONG_AGO, MIN_PACE, MessageFeatures
from tests.tape.linking.room_of import Talk


@pytest.fixture
def talk() -> Talk:
    return Talk(Linker())


def features(talk: Talk, author: str, text: str, after: float = 60.0) -> MessageFeatures:
    said = Utterance("new", talk.at + after, author, author, text)
    return MessageFeatures(talk.room, said, {})


def test_an_empty_room_is_of_no_kind(talk: Talk) -> None:
    new = features(talk, "ann", "does the printer work?")
    assert list(new.kind) == [0.0, 0.0, 0.0, 0.0, LONG_AGO, LONG_AGO]
    assert new.pace == MIN_PACE


def test_a_room_is_known_by_its_mentions_replies_minutes_and_words(talk: Talk) -> None:
    talk.say("ann", "the printer prints nothing at all", after=0)
    talk.say("bob", "is it on?", "ann", after=120)
    talk.say("ann", "of course", reply_to="1", after=120)
    talk.say("cid", "who goes for lunch?", "ann", "bob", after=120)
    new = features(talk, "ann", "me", after=180)
    mentions, replies, minutes, words, since, since_own = new.kind
    assert (mentions, replies, minutes, words) == (0.5, 0.25, 1.5, 15 / 4)
    assert (since, since_own) == (3 / 1.5, 5 / 1.5)


def test_what_the_agent_says_is_of_no_kind(talk: Talk) -> None:
    talk.say("ann", "which road leads to the harbour?", calls=True)
    before = features(talk, "bob", "and to the station?").kind[:4]
    talk.answer("The road along the river, and then left at the bridge, and on to the end.")
    assert features(talk, "bob", "and to the station?").kind[:4] == before


def test_only_the_last_messages_say_which_kind_it_is(talk: Talk) -> None:
    for _ in range(20):
        talk.say("ann", "bob: look", "bob")
    for _ in range(KIND_MESSAGES):
        talk.say("bob", "there is nothing to see")
    assert features(talk, "ann", "oh").kind[0] == 0


def test_a_word_that_the_room_knows_is_told_from_one_that_it_does_not(talk: Talk) -> None:
    talk.say("ann", "the printer prints nothing")
    known, share, _, unknown, _, recent = features(talk, "bob", "which printer").words
    assert (known, unknown) == (1, 0)
    assert 0 < share < 1 < recent
    known, share, most, unknown, rarest, recent = features(talk, "bob", "harbour bridge").words
    assert (known, share, most, recent) == (0, 0, 0, 0)
    assert unknown == 2
    assert rarest > 0


def test_a_clock_that_goes_back_stops_nothing(talk: Talk) -> None:
    talk.say("ann", "the printer prints nothing")
    talk.say("bob", "is it on?", after=-36_000)
    assert features(talk, "ann", "yes").pace == MIN_PACE
