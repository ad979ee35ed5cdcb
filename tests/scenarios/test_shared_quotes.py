"""What a reply points at is known to whoever takes the reply in."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import Quote
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of
from tests.kit.kept_databases import kept_database
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel
from tests.scenarios.shared import KEPT, answered

pytestmark = pytest.mark.postgresql


async def test_g1_a_reply_is_quoted_as_far_as_is_needed_whichever_process_has_it(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(*(Text((text,)) for text in ("at nine", "at ten", "well", "well")))
    channels = [PlainChannel(), PlainChannel()]
    async with AsyncExitStack() as stack:
        url = stack.enter_context(kept_database())
        more = {**KEPT, "ACCESS__MODE": "open", "TAPE__URL": url}
        both = []
        for number, channel in enumerate(channels):
            one = gateway_of(tmp_path / str(number), model, Brings(channel), **more)
            both.append(await stack.enter_async_context(one))
        asked = replace(MESSAGE, ext_id="-100/p1", message_id="p1")
        ours = Quote("Tapeway", "0", "at nine", ours=True)
        for number, to in enumerate((None, "p1", "1", "p3"), start=1):
            said = replace(asked, ext_id=f"-100/p{number}", message_id=f"p{number}", reply_to=to)
            quote = ours if to == "1" else Quote("x", "7", "a secret question") if to else None
            await channels[number % 2].host.accept([replace(said, quote=quote)])
            entries = await answered(both[0], "-100", number, "plain")
        headers = [one.text.partition("]")[0] for one in entries if one.meta.get("author")]
    own = ', replying to #1 x: "a secret question"'
    assert [one.partition("123456789")[2] for one in headers] == [
        "",
        own,
        ', replying to you: "at nine"',
        own,
    ]
