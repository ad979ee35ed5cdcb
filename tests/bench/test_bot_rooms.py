"""Rooms with the agent are made of real lines, and what they say of themselves is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.bot_rooms import judge, sum_up, table
from bench.irc import Log, logs, read
from bench.linker.bot_bank import Bank
from bench.linker.bot_rooms import BEGINNINGS, BotRoom, bot_room, varied_bot_room, without_agent
from bench.linker.play import gather, linked
from bench.linker.score import score
from tape.linking import LaneLink, Linker, Utterance
from tape.linking.weights import load

FIRST = 100
CONVERSATIONS = 40
SEEDS = range(1, 7)


def write_log(folder: Path, name: str) -> None:
    """Write a log of many conversations, each of a question, its answers and a second asker."""
    rows = ["=== somebody has joined"] * FIRST
    links: list[tuple[int, int]] = []
    for number in range(CONVERSATIONS):
        thing = f"{name}{number}thing"
        first = len(rows)
        said = (
            (f"{name}asker{number}", f"how do I get the {thing} to work again?"),
            (
                f"{name}helper{number}",
                f"{name}asker{number}: look behind the {thing} first, please",
            ),
            (f"{name}other{number}", f"and does that {thing} have a handle?"),
            (f"{name}asker{number}", f"the {thing} still makes a strange noise"),
            (f"{name}helper{number}", f"then oil the {thing} once a week at least"),
        )
        for author, text in said:
            links.append((max(first, len(rows) - 1), len(rows)))
            rows.append(f"[{10 + number // 10}:{number * 5 % 60:02}] <{author}> {text}")
    (folder / f"{name}.ascii.txt").write_text("\n".join(rows))
    pairs = "\n".join(f"{earlier} {later} -" for earlier, later in links)
    (folder / f"{name}.annotation.txt").write_text(pairs)


@pytest.fixture
def found(tmp_path: Path) -> list[Log]:
    for name in ("a", "b", "c"):
        write_log(tmp_path, name)
    return [read(path) for path in logs(tmp_path)]


@pytest.fixture
def rooms(found: list[Log]) -> list[BotRoom]:
    bank = Bank(found)
    return [bot_room(found[0], bank, seed) for seed in SEEDS]


def test_a_room_is_the_same_for_the_same_seed(found: list[Log], rooms: list[BotRoom]) -> None:
    assert bot_room(found[0], Bank(found), 1) == rooms[0]
    assert rooms[0] != rooms[1]


def test_everything_that_happens_in_life_happens(rooms: list[BotRoom]) -> None:
    kinds = {moment.kind for room in rooms for moment in room.moments.values()}
    assert kinds >= BEGINNINGS
    assert kinds >= {"join", "reply join", "follow", "bare follow", "reply"}
    gaps = {moment.gap for room in rooms for moment in room.moments.values()}
    assert {0.0, 3600.0} <= gaps


def test_people_say_real_lines_and_those_added_are_of_other_logs(
    found: list[Log], rooms: list[BotRoom]
) -> None:
    own, others = ({line.text for line in log.lines} for log in (found[0], found[1]))
    others |= {line.text for line in found[2].lines}
    for room in rooms:
        for line in room.scene.log.lines:
            if line.number in room.moments:
                assert line.text in others
            elif line.number not in room.scene.answers:
                assert line.text in own


def test_of_the_added_lines_to_learn_from_a_tenth_at_most_is_the_generator_s_own(
    found: list[Log],
) -> None:
    bank = Bank(found)
    real = {line.text for log in found for line in log.lines}
    added = [
        line.text
        for log in found
        for seed in SEEDS
        for room in (varied_bot_room(log, bank, seed),)
        for line in room.scene.log.lines
        if line.number in room.moments
    ]
    assert 0 < sum(text not in real for text in added) < len(added) / 10


def test_an_answer_stands_behind_its_question_and_in_its_conversation(rooms: list[BotRoom]) -> None:
    for room in rooms:
        scene = room.scene
        for answer, question in scene.answers.items():
            assert question < answer
            assert question in scene.calls
            assert scene.log.parents[answer] == (question,)
            assert scene.log.dispatcher[answer] == scene.log.dispatcher[question]


def test_a_task_begins_a_conversation_right_behind_an_answer_to_somebody_else(
    rooms: list[BotRoom],
) -> None:
    for room in rooms:
        scene = room.scene
        lines = {line.number: line for line in scene.log.lines}
        for number, moment in room.moments.items():
            if moment.kind in BEGINNINGS:
                assert scene.log.dispatcher[number] == number
            if moment.kind in ("task", "reply task"):
                question = scene.answers[number - 1]
                assert lines[question].author != lines[number].author
                assert lines[number].at - lines[number - 1].at == moment.gap
                assert (scene.replies.get(number) == number - 1) == (moment.kind == "reply task")


def test_others_join_in_right_behind_an_answer(rooms: list[BotRoom]) -> None:
    for room in rooms:
        scene = room.scene
        lines = {line.number: line for line in scene.log.lines}
        for number, moment in room.moments.items():
            if moment.kind in ("join", "reply join"):
                assert 5 <= moment.gap <= 120
                assert scene.log.parents[number] == (number - 1,)
                question = scene.answers[number - 1]
                assert lines[question].author != lines[number].author
                assert number in scene.calls


def test_the_same_room_without_the_agent_has_the_same_people(rooms: list[BotRoom]) -> None:
    scene = rooms[0].scene
    bare = without_agent(rooms[0])
    kept = [line for line in scene.log.lines if line.number not in scene.answers]
    assert list(bare.log.lines) == kept
    assert not bare.calls
    assert not bare.answers
    numbers = {line.number for line in kept}
    assert all(set(parents) <= numbers for parents in bare.log.parents.values())


def test_an_answer_has_the_lane_of_its_question_mistakes_included(rooms: list[BotRoom]) -> None:
    scene = rooms[0].scene
    links = linked(scene, Linker.shipped())
    assert set(links) == {line.number for line in scene.log.lines}
    assert all(links[one].lane == links[question].lane for one, question in scene.answers.items())


class Knowing(Linker):
    """A linker that knows each line's conversation."""

    def __init__(self, room: BotRoom) -> None:
        super().__init__()
        self.known = room.scene.log.dispatcher

    def link(
        self,
        room: object,
        utterance: Utterance,
        replied_lane: str | None = None,
        judged: object = None,
    ) -> LaneLink:
        return LaneLink(f"said:{self.known.get(int(utterance.key), 0)}", None, "known")


def test_a_linker_that_knows_is_right_and_one_that_joins_everything_begins_nothing(
    rooms: list[BotRoom],
) -> None:
    room = rooms[0]
    right = judge(room, linked(room.scene, Knowing(room)))
    assert right.right == right.all
    one_lane = {line.number: LaneLink("said:0", None, "") for line in room.scene.log.lines}
    joined = judge(room, one_lane)
    assert joined.right["task"] == 0
    assert joined.right["follow"] == joined.all["follow"] > 0
    assert f"{right.all['task']:5} of" in table(sum_up([right]))


def test_the_same_lines_are_asked_for_with_the_agent_and_without_it(rooms: list[BotRoom]) -> None:
    linker = Linker.shipped()
    both = (rooms[0].scene, without_agent(rooms[0]))
    scores = [score(scene, linker, warm=0, every=5) for scene in both]
    assert scores[0].queries == scores[1].queries > 0


def test_rows_are_of_people_s_lines_and_what_follows_an_answer_is_true_of_it(
    rooms: list[BotRoom],
) -> None:
    scene = rooms[0].scene
    found = gather(scene, load(), "annotated", ["pair", "new"], seed=1)
    people = [line for line in scene.log.lines if line.number not in scene.answers]
    assert len(found.new.truth) <= len(people)
    behind = [
        one for one in people if set(scene.log.parents.get(one.number, ())) & set(scene.answers)
    ]
    assert behind
    assert sum(found.pair.truth) >= len(behind)
