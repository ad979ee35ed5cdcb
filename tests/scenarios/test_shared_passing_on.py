"""What somebody passed on, where one process hears a platform and another one answers."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of
from tests.kit.images import image
from tests.kit.play import prompt_of
from tests.kit.stages.platform import PlatformStage
from tests.kit.stages.registry import STAGES

pytestmark = pytest.mark.postgresql

HALL = "The hall costs 300."
BARN = "the barn is free"


@pytest.mark.parametrize("channel", ["discord", "slack", "telegram"])
async def test_a6_the_process_that_answers_looks_up_what_another_one_heard(
    model: FakeOpenAI, tmp_path: Path, tape_url: str, channel: str
) -> None:
    async with STAGES[channel]() as stage, AsyncExitStack() as stack:
        assert isinstance(stage, PlatformStage)
        settings: dict[str, Any] = {
            "TAPE__URL": tape_url,
            "WORKSPACE": str(tmp_path / "workspace"),
            "ACCESS__MODE": "open",
            "only": [channel],
            **stage.settings(),
        }
        for role in ("ingress", "worker"):
            own = gateway_of(tmp_path / role, model, SHARING__ROLE=role, **settings)
            await stack.enter_async_context(own)
        group, other = stage.group(), stage.group()
        ann, zed = stage.person("Ann"), stage.person("Zed")
        original = await stage.send_image(other, zed, image(), HALL, mention=False)
        stage.pass_on(group, ann, original)
        text = BARN.encode()
        asked = await stage.send_file(group, ann, text, "notes.txt", "text/plain", "which one?")
        await stage.until(lambda: any(it.reply_to == asked.id for it in stage.answers(group)))
        await stage.taken()
    prompt = prompt_of(model)
    assert (prompt.count(HALL), prompt.count(f">> {BARN}")) == (1, 1)
    assert str(model.requests[-1].body).count("data:image/png;base64,") == 1
    assert len(model.requests) == 1
