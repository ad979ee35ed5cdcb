"""What the linker learns from is true, and what it is measured by is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.irc import Log, logs, read
from bench.linker.limit import CHOSEN, NEW, choose_bounds
from bench.linker.play import gather
from bench.linker.score import score, table
from bench.linker.vary import CHAT_PACE, alone, changed, chatlike, scene, varied
from bench.log_options import refuse_overlap
from tape.linking import Linker
from tape.linking.linker import MIN_KNOWN_MESSAGES
from tape.linking.weights import SHIPPED, from_numbers, load
from tests.kit.needs import needs

HEARD = 1_000
LINES = 60
TRAINED = needs("the extra train", "pip install --require-hashes -r requirements-train.txt")
TOPICS = (
    ("ann", "bob", "how do I get stripes off the printer?", "the printer wants toner, sheet"),
    ("cid", "dan", "which road leads to the harbour?", "then the harbour is near, mile"),
)


def write_log(folder: Path, name: str, lines: int = LINES) -> None:
    """Write a log of two conversations, a line each in turn, after 1 000 lines of the server."""
    rows = ["=== somebody has joined"] * HEARD
    links = []
    for number in range(lines):
        one, two, question, answer = TOPICS[number % 2]
        author, other = (one, two) if number // 2 % 2 else (two, one)
        text = question if number < 2 else f"{other}: {answer} {number}"
        rows.append(f"[10:{number // 4:02}] <{author}> {text}")
        line = HEARD + number
        links.append(f"{max(line - 2, line if number < 2 else 0)} {line} -")
    (folder / f"{name}.ascii.txt").write_text("\n".join(rows))
    (folder / f"{name}.annotation.txt").write_text("\n".join(links))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    write_log(tmp_path, "one")
    return read(tmp_path / "one.ascii.txt")


def test_a_varied_room_is_the_same_for_the_same_seed(log: Log) -> None:
    assert varied(log, 3) == varied(log, 3)
    assert len({len(varied(log, seed).log.lines) for seed in range(9)}) > 1


def test_a_chat_like_room_is_slow_and_has_replies_for_mentions(log: Log) -> None:
    assert chatlike(log, 3) == chatlike(log, 3)
    rooms = [chatlike(log, seed) for seed in range(20)]
    lines = [line for room in rooms for line in room.log.lines]
    assert 0 < sum(bool(line.mentions) for line in lines) < 0.2 * len(lines)
    assert 0.1 * len(lines) < sum(len(room.replies) for room in rooms) < 0.45 * len(lines)
    paces = [line.at / log.lines[line.number - HEARD].at for line in lines if line.at]
    assert CHAT_PACE[0] <= min(paces) < max(paces) <= CHAT_PACE[1]


def test_conversations_are_kept_whole(log: Log) -> None:
    kept = changed(log, kept=0.5, seed=1).log
    conversations = {log.dispatcher[line.number] for line in kept.lines}
    assert len(kept.lines) == LINES // 2 * len(conversations)


def test_the_longest_conversation_stands_alone(log: Log) -> None:
    only = alone(log).log
    assert {line.author for line in only.lines} == {"ann", "bob"}
    assert all(
        parent in {line.number for line in only.lines} for (parent,) in only.parents.values()
    )


def test_a_share_of_the_links_is_given_as_replies(log: Log) -> None:
    assert scene(log).replies == {}
    given = scene(log, 0.5).replies
    assert LINES * 0.3 < len(given) < LINES * 0.7
    assert all(log.parents[line] == (parent,) for line, parent in given.items())


def test_replies_of_the_platform_s_own_are_given_as_far_as_their_lines_are_left(log: Log) -> None:
    told = replace(log, replies={HEARD + 4: HEARD, HEARD + 5: HEARD + 1})
    assert scene(told).replies == told.replies
    assert len(alone(told).replies) == 1
    assert len(scene(told, 1.0).replies) == LINES - 2


def replies_of(log: Log) -> Log:
    replies = {line: to for line, (to,) in log.parents.items()}
    return replace(log, parents={}, dispatcher={}, replies=replies, links="replies")


def test_half_of_the_replies_are_hidden_if_the_links_are_no_conversations(log: Log) -> None:
    told = scene(replies_of(log))
    assert len(told.replies) == len(told.log.parents) == LINES // 2 - 1
    assert told.replies.keys().isdisjoint(told.log.parents)
    assert score(told, Linker()).queries == 0


@pytest.mark.parametrize("seed", range(6))
def test_a_log_of_replies_teaches_what_its_hidden_ones_continue(log: Log, seed: int) -> None:
    told = varied(replies_of(log), seed)
    found = gather(told, load(), "own", ["pair", "lane", "new", "relevance"], seed=1)
    assert sum(found.pair.truth) == len(told.log.parents)
    assert not found.lane.truth
    assert not found.new.truth
    assert not found.relevance.truth


def test_a_log_has_one_use(tmp_path: Path) -> None:
    write_log(tmp_path, "one")
    (path,) = logs(tmp_path)
    refuse_overlap({"data": [path], "choose": [], "measure": [tmp_path / "two.ascii.txt"]})
    with pytest.raises(SystemExit, match="in --data and in --measure"):
        refuse_overlap({"data": [path], "choose": [], "measure": [path]})


def test_the_bounds_are_those_that_score_best_in_each_place(tmp_path: Path) -> None:
    write_log(tmp_path, "one", 130)
    write_log(tmp_path, "two", 110)
    told: list[str] = []
    places = [logs(tmp_path / name) for name in ("one", "two")]
    model = from_numbers(choose_bounds(SHIPPED.read_bytes(), places, told.append, workers=1))
    assert model.least_new in NEW
    assert model.least_chosen in CHOSEN
    assert len(told) == len(NEW) + len(CHOSEN)


def test_bounds_are_not_chosen_on_logs_that_ask_nothing(tmp_path: Path) -> None:
    write_log(tmp_path, "one", 10)
    with pytest.raises(SystemExit, match="can be asked for"):
        choose_bounds(SHIPPED.read_bytes(), [logs(tmp_path)], list[str]().append, workers=1)


def test_names_are_changed_in_the_texts_too(log: Log) -> None:
    lines = changed(log, renamed=True).log.lines
    assert not {"ann", "bob", "cid", "dan"} & {line.author for line in lines}
    assert all(line.mentions[0] in line.text for line in lines if line.mentions)


def test_rows_are_true_of_what_is_annotated(log: Log) -> None:
    found = gather(scene(log), load(), "annotated", ["pair", "lane", "new", "relevance"], seed=1)
    assert sum(found.pair.truth) == LINES - 2
    assert len(found.pair.values) == found.pair.width * len(found.pair.truth)
    assert set(found.lane.truth) == {0.0, 1.0}
    assert sum(found.new.truth) == 1  # of the two that start one, the first came to an empty room
    assert 0 < sum(found.relevance.truth) < len(found.relevance.truth)


def test_two_people_alone_teach_nothing_as_the_model_is_not_asked_there(log: Log) -> None:
    only = alone(log)
    found = gather(only, load(), "own", ["pair", "lane", "new", "relevance"], seed=1)
    assert len(found.new.truth) < MIN_KNOWN_MESSAGES
    assert not found.relevance.truth


def test_a_linker_that_is_right_scores_full_marks(log: Log) -> None:
    found = score(scene(log, 1.0), Linker(), warm=10)
    means = found.means()
    assert found.queries == LINES - 10
    assert (means["lane F1"], means["lane recall"], means["lane precision"]) == (100, 100, 100)
    assert means["parents@10"] == 100
    assert "100.0" in table({"one": found})


def test_the_shipped_numbers_keep_two_interleaved_conversations_apart(log: Log) -> None:
    means = score(scene(log), Linker.shipped(), warm=10).means()
    assert means["set F1"] > 90
    assert means["lane F1"] > 90


def test_training_writes_numbers_that_link(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm", reason=TRAINED)
    from bench.linker.training import train

    for name in ("one", "two", "three", "four"):
        write_log(tmp_path, name)
    found = [read(path) for path in logs(tmp_path)]
    told: list[str] = []
    numbers = train(found, told.append, workers=1)
    assert numbers == train(found, told.append, workers=1)
    assert len(numbers) < SHIPPED.stat().st_size
    written = tmp_path / "numbers.json"
    written.write_bytes(numbers)
    assert score(scene(found[0]), Linker(load(written)), warm=10).means()["lane F1"] > 50
