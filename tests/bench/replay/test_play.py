"""A room is played to the real gateway, on its own time, and asked of as a turn would be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from bench.replay.gateway import frame_tokens, playing
from bench.replay.play import Replay, Seen
from bench.replay.policies import SUMMARY, Rivals
from bench.replay.room import PlayedRoom, Said, said_as
from channels.message import Author
from tape.entry import MESSAGE, Entry

THEN = datetime(2011, 5, 29, 19, tzinfo=UTC)
MOST_FRAME_TOKENS = 700
ANN, BOB, CID, DAN = (Author(name.lower(), name) for name in ("Ann", "Bob", "Cid", "Dan"))
TALK = (
    (ANN, "does the printer in the hall take toner?", None),
    (CID, "which road leads to the harbour?", None),
    (BOB, "the printer takes toner of any kind", 0),
    (DAN, "the road along the river leads to the harbour", 1),
    (ANN, "and sheets of card in the printer?", 2),
)


def room(*asking: int) -> PlayedRoom:
    said = tuple(
        said_as(
            "hall",
            number,
            THEN + timedelta(minutes=number),
            author,
            text,
            reply=reply,
            answer="perhaps" if number in asking else "",
        )
        for number, (author, text, reply) in enumerate(TALK)
    )
    return PlayedRoom("hall", said, {2: 0, 3: 1, 4: 2})


async def play(told: PlayedRoom, calls: Sequence[int]) -> tuple[list[Seen], list[Entry]]:
    seen: list[Seen] = []
    async with playing() as gateway:
        rivals = Rivals(500, 4_000)
        replay = Replay(gateway, told, budget=4_000, frame=500, rivals=rivals)
        for said in told.said:
            await replay.hear(said)
            seen.append(await replay.ask(said, call=said.number in calls))
        tape = gateway.gateway.services.tapes.session_tape("irc:hall")
        return seen, await tape.find(kinds=(MESSAGE,))


def by_number(told: PlayedRoom) -> dict[int, Said]:
    return {said.number: said for said in told.said}


async def test_a_lane_is_shown_and_the_last_messages_are_known_beside_it() -> None:
    seen, _tape = await play(room(), calls=(4,))
    last = seen[-1]
    assert last.call is not None
    assert {0, 2} <= set(last.call.shown)
    assert last.last == (0, 1, 2, 3)
    assert last.call.tokens > 500
    assert last.call.cached == (0, 0)
    assert last.rivals[SUMMARY].shown == (0, 1, 2, 3)
    assert [one.call for one in seen[:-1]] == [None] * 4


async def test_with_an_answer_the_view_is_what_was_sent_and_the_answer_has_the_room_s_time() -> (
    None
):
    told = room(2, 4)
    seen, tape = await play(told, calls=(2, 4))
    answers = [entry for entry in tape if entry.meta.get("final")]
    assert [answer.text for answer in answers] == ["perhaps", "perhaps"]
    dates = [datetime.fromisoformat(answer.date) for answer in answers]
    assert dates == [by_number(told)[number].at for number in (2, 4)]
    first, second = seen[2].call, seen[4].call
    assert first is not None
    assert second is not None
    assert 0 in first.shown
    assert {0, 2} <= set(second.shown)
    assert second.cached[0] > 500  # the second prompt begins as the first
    # The answer to the question before is shown by every window; the one to this is not.
    assert seen[4].rivals["last 20"].shown == (0, 1, 2, 3)
    assert seen[4].rivals["last 20"].tokens > seen[2].rivals["last 20"].tokens


async def test_what_stands_before_a_question_in_a_group_is_short() -> None:
    """A group is asked often, with little to say: the frame must not outweigh the view."""
    frame = await frame_tokens()
    assert 100 < frame < MOST_FRAME_TOKENS


async def test_the_frame_is_the_system_prompt_and_the_tools() -> None:
    async with playing() as gateway:
        replay = Replay(gateway, told := room(4), budget=4_000, frame=0)
        for said in told.said:
            await replay.hear(said)
        (body,) = gateway.asked
    assert [one["role"] for one in body["messages"]].count("system") == 1
    assert body["messages"][0]["role"] == "system"
    assert body["tools"]
