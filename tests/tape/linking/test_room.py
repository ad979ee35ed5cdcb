"""A room is its last messages and their links, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tape.linking import LaneLink, Linker, LinkerRoom, Utterance
from tape.linking.utterance import AGENT
from tests.kit.examples import examples

Chat: TypeAlias = list[tuple[Utterance, LaneLink]]

PEOPLE = ("ann", "bob", "cid", "dan", "eve")
TEXTS = (
    "does the printer in the hall work?",
    "the printer is out of paper",
    "hello",
    "thanks",
    "which road leads to the harbour?",
    "the road along the river",
    "cid said it was the toner",
    "",
    "https://example.org/road",
)
MOST = 12
LINE = st.tuples(
    st.sampled_from(PEOPLE),
    st.sampled_from(TEXTS),
    st.lists(st.sampled_from(PEOPLE), max_size=2).map(tuple),
    st.one_of(st.none(), st.integers(1, 16)),
    st.sampled_from((None, None, None, "7")),
    st.sampled_from((0.0, 1.0, 70.0, 4000.0, -90.0)),
)
LINES = st.lists(LINE, min_size=1, max_size=40)

LINKER = Linker.shipped()


def play(linker: Linker, lines: list[tuple[object, ...]]) -> tuple[LinkerRoom, Chat]:
    room, chat, at = LinkerRoom(MOST), [], 0.0
    for number, (author, text, mentions, back, thread, after) in enumerate(lines):
        at += after  # type: ignore[operator]
        reply = None if back is None else str(number - back)  # type: ignore[operator]
        calls = number % 3 == 0
        said = Utterance(str(number), at, author, author, text, mentions, reply, thread)  # type: ignore[arg-type]
        said = replace(said, calls=calls)
        link = linker.link(room, said)
        room.add(said, link)
        chat.append((said, link))
        if calls:
            answer = Utterance(f"turn:{number}", at, AGENT, "", "here you are", agent=True)
            chat.append((answer, LaneLink(link.lane, said.key, "an answer")))
            room.add(*chat[-1])
    return room, chat


@pytest.mark.parametrize("linker", [LINKER, Linker()], ids=["model", "rules"])
@examples(60)
@given(LINES, LINE)
def test_a_room_that_was_replayed_links_as_the_one_that_was_kept(
    linker: Linker, lines: list[tuple[object, ...]], last: tuple[object, ...]
) -> None:
    kept, chat = play(linker, lines)
    again = LinkerRoom(MOST)
    for utterance, link in chat[-MOST:]:
        again.add(utterance, link)
    author, text, mentions, _, _, _ = last
    said = Utterance("last", chat[-1][0].at + 30, author, author, text, mentions)  # type: ignore[arg-type]
    link = linker.link(kept, said)
    assert linker.link(again, said) == link
    kept.add(said, link)
    again.add(said, link)
    assert linker.ranked(again, "last", 50) == linker.ranked(kept, "last", 50)
    assert linker.chosen(again, "last") == linker.chosen(kept, "last")


@examples(30)
@given(LINES)
def test_what_a_room_counts_is_of_what_it_remembers(lines: list[tuple[object, ...]]) -> None:
    room, chat = play(LINKER, lines)
    heard = list(room.heard)
    people = [one for one in heard if not one.agent]
    assert len(room) == len(heard) == min(MOST, len(chat))
    assert sum(len(lane.heard) for lane in room.lanes.values()) == len(heard)
    assert sum(sum(lane.authors.values()) for lane in room.lanes.values()) == len(people)
    assert sum(len(said) for said in room.authors.values()) == len(people)
    assert room.by_agent == [one for one in heard if one.agent]
    assert sum(room.frequency.values()) == sum(len(one.words) for one in heard)
    assert sum(room.answers.values()) == sum(one.parent is not None for one in heard)
    assert set(room.by_key) == {one.key for one in heard}


def test_linking_does_not_change_the_room() -> None:
    room, chat = play(LINKER, [("ann", "hello", (), None, None, 1.0)] * 5)
    before = list(room.heard)
    said = Utterance("new", chat[-1][0].at, "bob", "bob", "hello ann", ("ann",))
    assert LINKER.link(room, said) == LINKER.link(room, said)
    assert list(room.heard) == before


def test_a_message_is_remembered_once() -> None:
    room = LinkerRoom()
    said = Utterance("1", 0.0, "ann", "ann", "hello")
    room.add(said, LaneLink("said:1", None, "new"))
    room.add(said, LaneLink("said:1", None, "new"))
    assert len(room) == 1


@pytest.mark.parametrize("ask", [LINKER.ranked, Linker().ranked])
def test_of_an_unknown_message_nothing_is_ranked(ask: Callable[..., list[str]]) -> None:
    assert ask(LinkerRoom(), "none", 5) == []
    assert LINKER.chosen(LinkerRoom(), "none") == []
