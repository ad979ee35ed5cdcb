"""Stop after the model's last word, while a plugin still works on the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.hooks.specs import hookimpl
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, settled
from tests.kit.visitor import visit

STOPPED = "All of it.\n\n*Stopped by Alice.*"


class SlowPlugin:
    """Works without an end in one hook."""

    def __init__(self, hook: str) -> None:
        self.reached = anyio.Event()
        self._hook = hook

    @hookimpl
    async def render_outbound(self, **_values: Any) -> None:
        await self._work("render_outbound")

    @hookimpl
    async def dispatch_outbound(self, **_values: Any) -> None:
        await self._work("dispatch_outbound")

    async def _work(self, hook: str) -> None:
        if hook == self._hook:
            self.reached.set()
            await anyio.sleep_forever()


@pytest.mark.parametrize("hook", ["render_outbound", "dispatch_outbound"])
async def test_a_stop_while_a_plugin_works_on_the_answer_keeps_all_of_it(
    model: FakeOpenAI, tmp_path: Path, hook: str
) -> None:
    slow = SlowPlugin(hook)
    async with gateway_of(tmp_path, model, slow) as gateway:
        model.enqueue(Text(("All of it.",)))
        async with visit(gateway.url, "Alice") as (alice,):
            asked = await alice.say("what is it?")
            await slow.reached.wait()
            await alice.stop()
            assert (await alice.answer(asked))["text"] == STOPPED
        entries = await settled(gateway)
    assert [entry.text for entry in entries if entry.payload.get("role") == "assistant"] == [
        STOPPED
    ]
