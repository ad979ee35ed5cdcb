"""Topics of a private chat, and what was passed on in them, go on in another home."""

from __future__ import annotations

import json
from pathlib import Path

from tape.entry import dump
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.backup.topics import ROSES, SESSION, begin, go_on, same
from tests.kit.gateways import make_environ, run_tapeway

PICTURE = '{"type":"image_url"'


async def test_topics_go_on_from_a_backup_as_they_were(model: FakeOpenAI, tmp_path: Path) -> None:
    old, new, file = tmp_path / "old", tmp_path / "new", str(tmp_path / "saved.zip")
    begun = await begin(old, model)
    assert dump(begun[0]).count(PICTURE) == 2
    await run_tapeway(make_environ(old), "backup", file)
    await run_tapeway(make_environ(new), "restore", file)
    assert same(begun, await go_on(new, model))


async def test_topics_go_on_from_a_tape_that_was_exported_without_its_pictures(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    old, new, file = tmp_path / "old", tmp_path / "new", tmp_path / "out.jsonl"
    begun = await begin(old, model)
    await run_tapeway(make_environ(old), "tape", "export", SESSION, str(file))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    (said,) = [line for line in lines if line["meta"].get("message_id") == "1"]
    assert said["meta"]["lane"] == f"topic:{ROSES}"
    assert said["meta"]["excerpts"][0]["author"] == "8"
    assert said["meta"]["quote"]["media"][0]["label"] == "photo"
    assert ">> Rumpel grows roses" in said["payload"]["content"]
    await run_tapeway(make_environ(new), "tape", "import", str(file), "--session", SESSION)
    roses, trains = await go_on(new, model)
    assert same(begun[1:], [trains])
    text = begun[0][-1]["content"][0]["text"]
    assert roses[len(begun[0]) - 1]["content"] == text + "\n[an image that you cannot see]" * 2
