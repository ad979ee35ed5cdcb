"""What people's talk with the agent implies where the model is in doubt.

Whoever calls the agent with a task that stands alone, and that has no rare word in common with
somebody else's talk with the agent, takes no part in that. If nobody has said anything but to the
agent since its last answer to a person, that person goes on from there. And a call that does not
stand alone, behind what people say to each other, is about that. A model that is sure of something
else is followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from tape.linking.features_message import RECENT_MESSAGES, UNKNOWN_WORD_WEIGHT
from tape.linking.features_text import gist
from tape.linking.room import Heard, Lane, LinkerRoom
from tape.linking.standing import stands_alone
from tape.linking.utterance import SHORT_REMARK, LaneLink, Utterance, starts

MIN_SHARED_WEIGHT: Final = 7.0
"""Minimum weight of the words that two messages have in common if they are of one subject.

A word that the model's table does not have weighs more, and two common ones do together.
"""

SURELY_NEW: Final = 0.85
"""The chance above which a message starts a conversation if its author may go on from an answer."""

OWN_SUBJECT: Final = 0.5
"""The same if it stands alone: join-ins are rarer than tasks, but a false beginning costs more."""

OF_ONE_SUBJECT: Final = 0.7
"""The same if it stands alone, and has rare words in common with what others ask the agent.

In bot rooms made of `data/irc/train`, `*-15.train-c`, and `data/zulip`, `*.7` and `*.8`, 0.5 keeps
94 of 100 tasks apart and 74 of 100 join-ins together; 0.7 has 92 and 76, and 0.9 has 83 and 78.
`OWN_SUBJECT` and `LIKELY_NEW` from 0.25 and 0.1 on change tasks by less than one in 100 there.
"""

JOINS: Final = 0.9
"""The same if it does not stand alone, and follows an answer: it may join in, or go on."""

LIKELY_NEW: Final = 0.2
"""The chance from which on a task that stands alone takes no part in others' talk.

Where people have lately said nothing but to the agent, no chance is asked for: the trees have seen
few such rooms.
"""

OWN_TASK: Final = "a task of its own"
"""Why a message starts a conversation: it asks the agent something that others did not speak of."""

GOES_ON: Final = "goes on with the agent"
"""Why a message is in a conversation: its author goes on from the agent's answer there."""


def raised_bound(room: LinkerRoom, new: Utterance, weights: Mapping[int, float]) -> float:
    """Return the chance above which a message starts a conversation, or 0 if the model knows."""
    if not new.calls:
        return 0.0
    if _last_answer(room, new.author) is not None:
        return SURELY_NEW
    if stands_alone(new.text):
        words = gist(new.text).words
        said = (one for heard in room.by_agent for one in room.lanes[heard.lane].heard)
        shares = any(of_one_subject(words, heard, weights) for heard in said)
        return OF_ONE_SUBJECT if shares else OWN_SUBJECT
    follows = bool(room.heard) and room.heard[-1].agent
    return JOINS if follows or _was_answered(room, new.author) else 0.0


def _was_answered(room: LinkerRoom, author: str) -> bool:
    return any(room.asker(heard) == author for heard in room.by_agent)


def with_talk(
    room: LinkerRoom,
    new: Utterance,
    link: LaneLink,
    weights: Mapping[int, float],
    chance: float = 1.0,
) -> LaneLink:
    """Return the link of a message to the agent, or the one given if nothing else is implied.

    `chance` is how likely the message starts a conversation, as far as that is known.
    """
    if not new.calls:
        return link
    said = Heard(new, link, room.number)
    begins = link.parent is None
    if not (begins or _is_others(room, link.lane, said, weights)):
        return link
    answer = _last_answer(room, new.author)
    if answer is not None and not (begins and said.alone):
        return LaneLink(answer.lane, answer.key, GOES_ON)
    if begins:
        return link
    if not said.alone:
        last = room.heard[-1]
        to_people = not (last.agent or last.calls or last.threaded)
        return LaneLink(last.lane, last.key, SHORT_REMARK) if to_people else link
    recent = islice(reversed(room.heard), RECENT_MESSAGES)
    own = all(heard.agent or heard.calls for heard in recent) or chance >= LIKELY_NEW
    return starts(new, OWN_TASK) if own else link


def others_talk(room: LinkerRoom, message: Heard, weights: Mapping[int, float]) -> frozenset[str]:
    """Return the lanes in which others talk with the agent, and which a message leaves alone.

    Whoever asks it talks with it, answered or not.
    """
    talk = {heard.lane for heard in room.heard if heard.agent or heard.calls} - {message.lane}
    return frozenset(lane for lane in talk if _is_apart(room.lanes[lane], message, weights))


def _is_others(room: LinkerRoom, lane: str, message: Heard, weights: Mapping[int, float]) -> bool:
    """Return whether the agent has answered others in a lane, who speak of something else."""
    known = room.lanes.get(lane)
    if known is None or not any(heard.agent for heard in known.heard):
        return False
    return _is_apart(known, message, weights)


def _is_apart(known: Lane, message: Heard, weights: Mapping[int, float]) -> bool:
    """Return whether a message has neither people nor a rare word in common with a lane.

    It does not matter how many wrote there: whoever is near may say something behind an answer.
    """
    if not known.authors.keys().isdisjoint((message.author, *message.mentions)):
        return False
    return not any(of_one_subject(message.words, heard, weights) for heard in known.heard)


def of_one_subject(words: Iterable[int], heard: Heard, weights: Mapping[int, float]) -> bool:
    """Return whether words and a message are of one subject, by rare words in common."""
    common = set(heard.words).intersection(words)
    return sum(weights.get(word, UNKNOWN_WORD_WEIGHT) for word in common) >= MIN_SHARED_WEIGHT


def _last_answer(room: LinkerRoom, author: str) -> Heard | None:
    """Return the agent's last answer to an author if all said since is to the agent, or by it."""
    for heard in reversed(room.heard):
        if heard.agent:
            if room.asker(heard) == author:
                return None if heard.threaded else heard
        elif not heard.calls:
            return None
    return None
