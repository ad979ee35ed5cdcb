"""Homes with a past, and what was said in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.kit.gateways import gateway_process
from tests.kit.waiting import Patience


async def said(tmp_path: Path, environ: dict[str, str], words: str) -> str:
    """Run a gateway until it has said some words; return their line."""
    home, log = tmp_path / "home", tmp_path / "gateway.log"
    async with gateway_process(environ, home):
        patience = Patience("the gateway has said the words")
        while not log.exists() or words not in log.read_text():
            await patience.pause()
    assert "Traceback" not in log.read_text()
    return next(line for line in log.read_text().splitlines() if words in line)


OLD = Path(__file__).parents[2] / "fixtures" / "version_12be65b" / "home"


ROOM = "web:lobby"


def a_tape(path: Path, *texts: str) -> str:
    """Write a file to be imported, and return its name."""
    start = {"name": "session/start", "state": {}}
    lines: list[dict[str, Any]] = [{"id": 1, "kind": "anchor", "payload": start}]
    for number, text in enumerate(texts, start=2):
        payload = {"role": "user", "content": text}
        meta = {"author": "7", "name": "Al", "lane": "x"}
        lines.append({"id": number, "kind": "message", "payload": payload, "meta": meta})
    dated = [{**line, "date": f"2026-01-02T00:00:{n:02}Z"} for n, line in enumerate(lines)]
    path.write_text("".join(json.dumps(line) + "\n" for line in dated), "utf-8")
    return str(path)
