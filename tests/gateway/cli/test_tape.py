"""`tapeway tape`, beside a running gateway and without one."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from subprocess import PIPE

import anyio
import pytest
from anyio.streams.text import TextReceiveStream

from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.cli.said import ROOM, a_tape
from tests.gateway.erasing.stage import ANN, BOB, CHAT, SECRET, hear, holding, said
from tests.kit.gateways import (
    APART,
    clean_environ,
    gateway_of,
    gateway_process,
    make_environ,
    run_tapeway,
)
from tests.kit.plain_channels import Brings, PlainChannel
from tests.kit.visitor import visit


async def test_beside_a_gateway_tapes_are_listed_shown_and_searched(tmp_path: Path) -> None:
    environ = make_environ(tmp_path / "home")
    async with gateway_process(environ, tmp_path / "home") as gateway:
        async with visit(await gateway.url(), "Alice") as (alice,):
            await alice.answer(await alice.say("where are the plums?"))
        _code, listed, _err = await run_tapeway(environ, "tape", "list")
        conditions = ("--kind", "message", "--text", "PLUMS", "--since", "2020", "--limit", "1")
        _code, shown, _err = await run_tapeway(environ, "tape", "show", ROOM, *conditions)
        _code, found, _err = await run_tapeway(environ, "tape", "search", ROOM, "plums", "--json")
    assert listed.splitlines()[1].endswith(f"  {ROOM}        lobby")
    assert " agent [" in shown.splitlines()[1]
    assert "> where are the plums?" in shown
    assert "plums" in json.loads(found.splitlines()[-1])["payload"]["content"]


async def test_beside_a_gateway_a_tape_goes_out_and_comes_in_as_it_was(
    imported: tuple[dict[str, str], Path],
) -> None:
    environ, folder = imported
    target = folder / "out.jsonl"
    _code, _out, told = await run_tapeway(environ, "tape", "export", "telegram:-5", str(target))
    code, _out, refused = await run_tapeway(environ, "tape", "export", "telegram:-5", str(target))
    assert (code, "exists" in refused) == (1, True)
    await run_tapeway(environ, "tape", "import", str(target), "--tape", "copy")
    _code, again, _err = await run_tapeway(environ, "tape", "export", "copy")
    lines = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines] == [1, 2, 3, 4]
    assert all(list(line) == ["id", "kind", "payload", "meta", "date"] for line in lines)
    assert "4 entries of" in told
    assert again == target.read_text("utf-8")
    assert list((folder / "home").glob("import-*")) == []


async def test_the_prompts_of_a_turn_are_printed_again_beside_a_gateway_and_without_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    environ = make_environ(tmp_path / "home", model)
    look = Call("call-1", "tape_info", "{}")
    model.enqueue(ToolCalls((look,), pieces=("I look.",)), Text(("Ripe.",)))
    async with gateway_process(environ, tmp_path / "home") as gateway:
        async with visit(await gateway.url(), "Alice") as (alice,):
            await alice.answer(await alice.say("are the plums\x1b[31m ripe? 你好"))
        shown = ("tape", "show", ROOM)
        _code, told, _err = await run_tapeway(environ, *shown, "--kind", "event", "--json")
        turn = next(json.loads(line)["meta"]["turn"] for line in told.splitlines()[-3:])
        _code, beside, _err = await run_tapeway(environ, *shown, "--view", turn, "--json")
    _code, alone, _err = await run_tapeway(environ, *shown, "--view", turn, "--json")
    _code, read, _err = await run_tapeway(environ, *shown, "--view", turn)
    steps = [json.loads(line) for line in beside.splitlines()]
    assert [step["messages"] for step in steps] == [r.body["messages"] for r in model.requests]
    assert [(step["step"], step["exact"], step["why"]) for step in steps] == [
        (1, True, ""),
        (2, True, ""),
    ]
    assert alone == beside
    assert read.splitlines()[0].endswith("messages; exactly as sent")
    assert "] are the plums\\u001b[31m ripe? 你好\n" in read
    assert "        calls tape_info({})\n  tool of the call call-1:\n" in read


async def test_a_tape_is_rewound_and_its_past_begins_a_room(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    environ = make_environ(tmp_path / "home", model)
    back = ("tape", "rewind", ROOM, "--to", "phase:handoff")
    async with gateway_process(environ, tmp_path / "home") as gateway:
        url = await gateway.url()
        async with visit(url, "Alice") as (alice,):
            await alice.answer(await alice.say("plums"))
            await alice.answer(await alice.say(",handoff the plan"))
            await alice.answer(await alice.say("figs"))
            room = await run_tapeway(environ, *back, "--room", "what-if")
            again = await run_tapeway(environ, *back, "--room", "what-if")
            rewound = await run_tapeway(environ, *back)
            await alice.answer(await alice.say("and pears?"))
        async with visit(url, "Alice", room="what-if") as (elsewhere,):
            assert "plums" in str(elsewhere.events)
            assert "figs" not in str(elsewhere.events)
            await elsewhere.answer(await elsewhere.say("and grapes?"))
    _code, shown, _err = await run_tapeway(environ, "tape", "show", "web:what-if", "--all")
    steps = ("tape", "show", ROOM, "--kind", "event", "--json")
    _code, listed, _err = await run_tapeway(environ, *steps)
    events = [json.loads(line) for line in listed.splitlines()]
    turns = [one["meta"]["turn"] for one in events if one["payload"]["name"] == "loop.step"]
    replayed = [
        await run_tapeway(environ, "tape", "show", ROOM, "--view", turn, "--json") for turn in turns
    ]
    exact = [
        json.loads(line)["exact"] for _code, out, _err in replayed for line in out.splitlines()
    ]
    assert exact == [True] * 3  # before the rewind and behind it
    assert room[0] == 0
    assert "the room what-if begins with" in room[1]
    assert "?room=what-if" in room[1]
    assert (again[0], "has messages already" in again[2]) == (1, True)
    assert "views now go on from phase:handoff" in rewound[1]
    here, there = (str(request.body["messages"]) for request in model.requests[-2:])
    for asked, word in ((here, "and pears?"), (there, "and grapes?")):
        assert word in asked
        assert "the plan" in asked
        assert "figs" not in asked
    assert "tape.branch" in shown


async def test_without_a_gateway_a_tape_comes_in_and_is_the_session_s(tmp_path: Path) -> None:
    environ = make_environ(tmp_path / "home")
    file = a_tape(tmp_path / "in.jsonl", "hello\x1b[31m", "你好")
    where = ("--session", "telegram:-5")
    _code, told, _err = await run_tapeway(environ, "tape", "import", file, *where, "--dry-run")
    assert told == "3 lines, 3 entries: 3 would be imported\n"
    code, told, _err = await run_tapeway(environ, "tape", "import", file, *where)
    assert (code, "3 entries: 3 imported" in told) == (0, True)
    _code, shown, _err = await run_tapeway(environ, "tape", "show", "telegram:-5")
    assert [line[15:] for line in shown.splitlines()[2:]] == [
        "Al [x]: hello\\u001b[31m",
        "Al [x]: 你好",
    ]
    code, _out, refused = await run_tapeway(environ, "tape", "follow", "telegram:-5")
    assert (code, "no gateway is running" in refused) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("show", "telegram:-6"),
            "there is no tape or session 'telegram:-6'; the nearest are telegram:-5",
        ),
        (("show", "telegram:-5", "--since", "soon"), "since is not a date"),
        (("show", "telegram:-5", "--anchor", "session/strt"), "the nearest are session/start"),
        (("show", "telegram:-5", "--limit", "-1"), "use a number of entries"),
        (("show", "telegram:-5", "--lane", "y"), "Nothing on this tape meets the conditions"),
        (("show", "telegram:-5", "--limit", "999999"), "export"),
        (("show", ""), "there is no tape"),
        (("rewind", "telegram:-5", "--to", "session/strt"), "the nearest are session/start"),
        (("show", "telegram:-5", "--view", "t-1"), "this tape has no turn t-1"),
        (("search", "telegram:-5", "a" * 100_000), "at most 4000"),
        (("search", "telegram:-5", ""), "Nothing was found"),
        (("search", "telegram:-5", "text", "--since", "soon"), "since is not a date"),
        (("search", "telegram:-5", "text", "--until", "2026-13-01"), "until is not a date"),
        (("search", "telegram:-5", "text", "--limit", "-1"), "use a number of entries"),
        (("search", "telegram:-5", "text", "--limit", "999999"), "the limit is 10000"),
        (("search", "telegram:-5", "text", "--author", "8"), "Nothing was found"),
        (("search", "telegram:-5", "text", "--lane", "y"), "Nothing was found"),
        (("search", "telegram:-5", "text", "--kind", "anchor"), "Nothing was found"),
        (("search", "telegram:-5", "text", "--until", "2026-01-02"), "Nothing was found"),
        (("search", "telegram:-5", "text", "--since", "2026-01-03"), "Nothing was found"),
        (("reindex",), "the word index is rebuilt"),
        (("import", "{file}", "--session", "telegram:-5"), "there already: 0 imported"),
        (("search", "telegram:-5", "好"), "Nothing was found"),
        (("import", "{file}"), "name the target"),
        (("import", "/no/such/file", "--tape", "x"), "tapeway: /no/such/file: No such file"),
        (("import", "{bad}", "--tape", "x"), "is not a tape"),
        (("import", "{other}", "--session", "telegram:-5"), "differs from this file"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else None,
)
async def test_what_cannot_be_done_is_told_in_a_sentence(
    imported: tuple[dict[str, str], Path], arguments: tuple[str, ...], told: str
) -> None:
    environ, folder = imported
    files = {name: str(folder / f"{name}.jsonl") for name in ("file", "bad", "other")}
    given = [files.get(one.strip("{}"), one) if one.startswith("{") else one for one in arguments]
    _code, out, error = await run_tapeway(environ, "tape", *given)
    assert told in f"{error}{out}"
    assert "Traceback" not in error
    assert len(error.splitlines()) <= 1


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), [4, 3, 2]),
        (("--limit", "2"), [4, 3]),
        (("--limit", "0"), []),
        (("--rank",), [4, 3, 2]),
        (("--since", "2026-01-02T00:00:02", "--until", "2026-01-02T00:00:03"), [3]),
        (("--author", "7", "--lane", "x", "--kind", "message", "--kind", "anchor"), [4, 3, 2]),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
async def test_a_search_goes_by_every_condition(
    imported: tuple[dict[str, str], Path], options: tuple[str, ...], found: list[int]
) -> None:
    environ, _folder = imported
    command = ("tape", "search", "telegram:-5", "text", *options, "--json")
    _code, out, _err = await run_tapeway(environ, *command)
    assert [json.loads(line)["id"] for line in out.splitlines()] == found


async def test_without_a_gateway_a_search_goes_by_its_conditions_and_its_index_is_made_anew(
    tmp_path: Path,
) -> None:
    environ = make_environ(tmp_path / "home")
    file = a_tape(tmp_path / "in.jsonl", "the plums", "plums plums plums", "pears")
    await run_tapeway(environ, "tape", "import", file, "--tape", "t")
    assert await run_tapeway(environ, "tape", "reindex") == (0, "the word index is rebuilt\n", "")
    ranked = ("tape", "search", "t", "plums", "--rank", "--limit", "1", "--json")
    _code, out, _err = await run_tapeway(environ, *ranked)
    assert json.loads(out)["payload"]["content"] == "plums plums plums"
    code, _out, error = await run_tapeway(environ, "tape", "search", "t", "x", "--since", "soon")
    assert (code, "since is not a date" in error) == (1, True)


async def test_tapes_without_an_index_say_so(tmp_path: Path) -> None:
    environ = make_environ(tmp_path / "home", TAPE__URL=f"file://{tmp_path / 'tapes'}")
    code, _out, error = await run_tapeway(environ, "tape", "reindex")
    assert (code, "have no index" in error) == (1, True)


@pytest.fixture(scope="module")
async def imported(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[dict[str, str], Path]]:
    """Run a gateway with one imported tape; gives its environment, and a folder with files."""
    folder = tmp_path_factory.mktemp("tapes")
    environ = make_environ(folder / "home")
    file = a_tape(folder / "file.jsonl", *(f"text {number}" for number in range(3)))
    a_tape(folder / "other.jsonl", "something else")
    (folder / "bad.jsonl").write_text("no\ntape\n")
    async with gateway_process(environ, folder / "home") as gateway:
        await gateway.url()
        where = ("--session", "telegram:-5")
        code, _out, error = await run_tapeway(environ, "tape", "import", file, *where)
        assert (code, error) == (0, "")
        yield environ, folder


async def test_a_reader_that_stops_reading_is_no_error(
    imported: tuple[dict[str, str], Path],
) -> None:
    environ, folder = imported
    a_tape(folder / "long.jsonl", *("long " * 500 for _number in range(300)))
    await run_tapeway(environ, "tape", "import", str(folder / "long.jsonl"), "--tape", "long")
    for arguments in ("export long", "show long --limit 300 --json"):
        piped = f"{sys.executable} -m gateway.cli.main tape {arguments} | head -1"
        command = f"{piped}; echo ${{PIPESTATUS[0]}}"
        shell = ["bash", "-c", command]
        done = await anyio.run_process(shell, env=clean_environ(environ), cwd=APART)
        first, code = done.stdout.splitlines()
        assert json.loads(first)["kind"] in ("anchor", "message")
        assert (code, done.stderr) == (b"0", b"")


async def test_follow_prints_what_comes_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    environ = make_environ(tmp_path / "home")
    command = [sys.executable, "-m", "gateway.cli.main", "tape", "follow", ROOM, "--all"]
    async with gateway_process(environ, tmp_path / "home") as gateway:
        async with visit(await gateway.url(), "Alice") as (alice,):
            await alice.answer(await alice.say("the first"))
            async with await anyio.open_process(
                command, env=clean_environ(environ), cwd=APART, stderr=PIPE
            ) as following:
                assert following.stdout is not None
                lines = TextReceiveStream(following.stdout)
                shown = await lines.receive()
                while "outbound" not in shown:
                    shown += await lines.receive()
                await alice.say("the second")
                while "the second" not in shown:
                    shown += await lines.receive()
                following.send_signal(signal.SIGINT)
                assert await following.wait() == 130
                assert following.stderr is not None
                with pytest.raises(anyio.EndOfStream):
                    await following.stderr.receive()
    assert shown.index("the first") < shown.index("the second")


async def talk(tmp_path: Path, *commands: tuple[str, ...]) -> list[tuple[int, str, str]]:
    """Run commands beside a gateway to which people talk; return what each printed."""
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel), ACCESS__MODE="open") as gateway:
        other = said(2, f"did you see that {SECRET}", BOB)
        await hear(gateway, channel, said(1, SECRET), other)
        return [await run_tapeway(make_environ(tmp_path), *command) for command in commands]


async def test_a_person_is_erased_beside_a_running_gateway(tmp_path: Path) -> None:
    erase = ("tape", "erase", "--person", f"plain:{ANN.id}", "--yes")
    ((code, out, err),) = await talk(tmp_path, erase)
    assert (code, err) == (0, "")
    assert out.startswith("erased: ")
    assert holding(tmp_path, ANN.name) == []


async def test_answers_to_others_that_repeat_it_are_listed_and_can_be_erased(
    tmp_path: Path,
) -> None:
    erase = ("tape", "erase", CHAT, "--message", "1", "--yes")
    (_, out, _), (_, listed, _) = await talk(tmp_path, erase, ("tape", "erase", "--list"))
    assert SECRET in out
    assert SECRET in listed
    tape, entry = listed.splitlines()[-1].split()[:2]
    code, _out, err = await run_tapeway(
        make_environ(tmp_path), "tape", "erase", tape, "--message", entry, "--yes"
    )
    assert (code, err) == (0, "")
    _, listed, _ = await run_tapeway(make_environ(tmp_path), "tape", "erase", "--list")
    assert entry not in listed


async def test_a_chat_is_erased_without_a_gateway(tmp_path: Path) -> None:
    await talk(tmp_path)
    assert holding(tmp_path)
    code, _out, err = await run_tapeway(
        make_environ(tmp_path), "tape", "erase", CHAT, "--chat", "--yes"
    )
    assert (code, err) == (0, "")
    assert holding(tmp_path) == []


async def test_what_cannot_be_erased_is_a_sentence(tmp_path: Path) -> None:
    done = await talk(
        tmp_path,
        ("tape", "erase", CHAT, "--message", "77", "--yes"),
        ("tape", "erase", CHAT, "--yes"),
        ("tape", "erase", "--person", "Ann", "--yes"),
        ("tape", "erase", CHAT, "--chat"),
    )
    assert [code != 0 for code, _out, _err in done] == [True] * 4
    assert "no message 77" in done[0][2]
    assert "channel:id" in done[2][2]
    assert holding(tmp_path)
