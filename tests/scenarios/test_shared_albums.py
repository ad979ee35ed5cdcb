"""An album whose parts are heard by several processes over one database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import Media
from tape.turn_events import is_take, read_take
from tests.fakes.openai.server import FakeOpenAI
from tests.scenarios.shared import KEPT, answered, by_holder, gateways, said

pytestmark = pytest.mark.postgresql
PICTURE = Media("image", "photo")


async def test_a_late_part_that_another_process_hears_belongs_to_the_same_album(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        part = replace(said("what is this?", 1), joins="album:1", media=(PICTURE,))
        await both[0].channels["web"].host.accept([part])
        await answered(both[0], "lobby", 1)
        holder, other = by_holder(both)
        late = replace(part, text="", message_id="m2", ext_id="lobby/m2")
        await other.channels["web"].host.accept([late])
        await other.channels["web"].host.accept([said("and that?", 3)])
        entries = await answered(holder, "lobby", 2)
    (found,) = [entry for entry in entries if "part_of" in entry.meta]
    assert [entry.name for entry in entries].count("turn.start") == 2
    shown = [number for entry in entries if is_take(entry) for number in read_take(entry).takes]
    assert shown.count(found.id) == 1
