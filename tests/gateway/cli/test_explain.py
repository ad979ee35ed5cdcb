"""`tapeway explain`, beside a running gateway and without one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import open_group
from tests.kit.doors import Door, held, talk
from tests.kit.gateways import gateway_process, make_environ, run_tapeway
from tests.kit.plain_channels import MESSAGE
from tests.kit.visitor import visit


async def test_a_message_is_explained_beside_a_gateway_and_without_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    environ = make_environ(tmp_path, model)
    code, _out, missing = await run_tapeway(environ, "explain", "in-1")
    assert (code, "cannot be read" in missing) == (1, True)
    async with gateway_process(environ, tmp_path) as gateway:
        async with visit(await gateway.url(), "Alice") as (alice,):
            told = await alice.answer(await alice.say("what is\x1b[2J it?"))
        beside = ""
        while "answered by the turn t-" not in beside:  # the page has it before the receipt
            _code, beside, _err = await run_tapeway(environ, "explain", told["id"])
    code, alone, err = await run_tapeway(environ, "explain", told["id"])
    assert (code, err) == (0, "")
    assert alone == beside
    assert "answered by the turn t-" in alone
    assert "\x1b" not in alone
    _code, whole, _err = await run_tapeway(environ, "explain", "in-1", "--json")
    assert json.loads(whole)["lines"][0]["about"] == "seen"
    code, out, err = await run_tapeway(environ, "explain", "never-said")
    assert (code, out) == (1, "")
    assert "was ever received" in err


async def test_tapes_in_memory_have_nothing_to_explain(tmp_path: Path) -> None:
    environ = make_environ(tmp_path, TAPE__URL="memory:")
    code, _out, err = await run_tapeway(environ, "explain", "in-1")
    assert code == 1
    assert "kept in memory" in err


async def test_a_message_that_waits_to_be_placed_is_explained_beside_a_gateway_and_without_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    environ, door = make_environ(tmp_path, model), Door()
    asked = replace(MESSAGE, chat_id="-3", ext_id="-3/9", message_id="9", text="who is right?")
    async with open_group(tmp_path, model, door) as group:
        await held(group, door, *talk("-2", [1]), *talk("-3", [1, 2]), asked)
        _code, beside, _err = await run_tapeway(environ, "explain", "-3/9")
        _code, first, _err = await run_tapeway(environ, "explain", "-2/1")
    code, alone, err = await run_tapeway(environ, "explain", "-3/9", "--json")
    waits = json.loads(alone)["lines"][-1]
    assert (code, err, waits["about"], waits["data"]["before"]) == (0, "", "outcome", 2)
    says = r"accepted, but not on its tape yet: it has waited for \d+ s"
    assert re.fullmatch(rf"{says}, and 2 messages of its session stand before it", waits["says"])
    assert re.search(rf"{says}, and 2 messages of its session stand before it", joined(beside))
    assert re.search(rf"{says}$", joined(first))


def joined(report: str) -> str:
    return " ".join(report.split())
