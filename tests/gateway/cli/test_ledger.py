"""`tapeway ledger`, beside a running gateway and without one."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.fakes.openai.script import Failure
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_process, make_environ, run_tapeway
from tests.kit.visitor import visit


async def test_the_ledger_is_listed_shown_and_tried_again(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    environ = make_environ(tmp_path, model)
    model.enqueue(Failure(500, "boom", None, "server_error"))
    async with gateway_process(environ, tmp_path) as gateway:
        async with visit(await gateway.url(), "Alice") as (alice,):
            told = await alice.answer(await alice.say("what is it?"))
            assert told["text"].startswith("Sorry")
        _code, listed, _err = await run_tapeway(environ, "ledger", "list", "--status", "failed")
        assert re.search(r"in-1 .* Alice in lobby +failed  .*what is it\?", listed)
        _code, shown, _err = await run_tapeway(environ, "ledger", "show", "in-1")
        assert json.loads(shown)["payload"]["text"] == "what is it?"
        _code, again, _err = await run_tapeway(environ, "ledger", "retry", "in-1")
        assert again == "in-1 will be answered again in web:lobby\n"
        await model.wait_for_requests(2)
    _code, listed, _err = await run_tapeway(environ, "ledger", "list")
    code, _out, refused = await run_tapeway(environ, "ledger", "drop", "in-99")
    assert "in-1" in listed
    assert code == 1
    assert "there is no row in-99" in refused
