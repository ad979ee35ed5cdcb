"""What a delivery lacked is looked up by the process that takes the message in."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of
from tests.kit.kept_databases import kept_database
from tests.kit.plain_channels import MESSAGE, Brings, LookingUp
from tests.scenarios.shared import KEPT, answered, by_holder

pytestmark = pytest.mark.postgresql


async def test_f3_whoever_holds_the_session_looks_it_up_once(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channels = [LookingUp(), LookingUp()]
    async with AsyncExitStack() as stack:
        url = stack.enter_context(kept_database())
        more = {**KEPT, "ACCESS__MODE": "open", "TAPE__URL": url}
        both = []
        for number, channel in enumerate(channels):
            home = tmp_path / str(number)
            one = gateway_of(home, model, Brings(channel), **more)
            both.append(await stack.enter_async_context(one))
        await channels[0].host.accept([MESSAGE])
        await answered(both[0], "-100", 1, "plain")
        holder = by_holder(both, "plain:-100")[0]
        other = channels[1 - both.index(holder)]
        second, third = (replace(MESSAGE, ext_id=f"-100/{n}", message_id=str(n)) for n in (2, 3))
        await other.host.accept([replace(second, incomplete=True), third])
        entries = await answered(both[0], "-100", 2, "plain")
        found = [entry.text for entry in entries if entry.meta.get("author")]
        assert ">> the mail of 2" in found[1]
        assert other.asked == []
        assert channels[both.index(holder)].asked == ["2"]
