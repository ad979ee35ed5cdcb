"""`tapeway explain`, beside a running gateway and without one."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_process, make_environ, run_tapeway
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
