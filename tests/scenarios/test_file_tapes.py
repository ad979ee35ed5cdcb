"""A gateway whose tapes are files, with the ledger in a database beside them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tape.errors import StoreUnavailable
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, gateway_process, make_environ
from tests.kit.visitor import visit


async def test_it_answers_is_killed_and_answers_once_what_it_was_asked(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home, tapes = tmp_path / "home", tmp_path / "tapes"
    environ = make_environ(home, model, TAPE__URL=f"file://{tapes}")
    model.enqueue(Text(("fine",)), Text(("half of ", "it"), gate=asyncio.Event()))
    async with gateway_process(environ, home) as first:
        async with visit(await first.url(), "Alice") as (alice,):
            before = await alice.answer(await alice.say("how are you?"))
            asked = await alice.say("what is it?")
            await alice.draft(asked)
            await first.kill()
    model.enqueue(Text(("the whole of it",)))
    async with gateway_process(environ, home) as second:
        async with visit(await second.url(), "Alice") as (alice,):
            history = alice.of_type("history")[0]["messages"]
            alice.events += [{"type": "message", "message": message} for message in history]
            answer = await alice.answer(asked)
    assert (before["text"], answer["text"]) == ("fine", "the whole of it")
    assert (home / "ledger.db").exists()
    assert not (home / "tapeway.db").exists()
    (path,) = tapes.glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines] == list(range(1, len(lines) + 1))
    names = [line["payload"].get("name") for line in lines]
    assert names.count("turn.start") == names.count("turn.end") == 2
    assert names.count("session/start") == 1


async def test_another_gateway_on_the_same_files_is_refused(tmp_path: Path) -> None:
    url = f"file://{tmp_path / 'tapes'}"
    async with gateway_of(tmp_path / "one", TAPE__URL=url):
        with pytest.raises(StoreUnavailable, match="another process uses the tapes"):
            async with gateway_of(tmp_path / "two", TAPE__URL=url):
                pass
