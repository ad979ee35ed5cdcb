"""Play a scenario: a real gateway between a person in a room and the scripted server."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import anyio

from tape.entry import Entry
from tests.kit.gateways import gateway_of, settled
from tests.kit.visitor import Visitor, visit
from tests.model_servers.scenario import Outcome, Scenario
from tests.model_servers.server import ScriptedServer

LONGEST_SECONDS = 60
KEY = "sk-key"
"""The made-up key that every server here accepts."""

SAID = "~"
"""Before a message to the room, which asks nothing."""


async def play(scenario: Scenario, home: Path) -> Outcome:
    """Play a scenario in a new home, and return what came of it."""
    server = ScriptedServer(scenario.answers, scenario.demands)
    async with server.listening():
        url = _dead_url() if scenario.dead else server.url
        seen, drafts, entries = await ask(scenario, url, home)
    return Outcome(seen, drafts, entries, server.requests, server.unmet, server.unplanned)


async def ask(
    scenario: Scenario, origin: str, home: Path
) -> tuple[list[str], list[str], list[Entry]]:
    """Have a person ask; return what they saw, the drafts before it, and the tape."""
    settings = {
        "AGENT__BASE_URL": f"{origin}{scenario.path}",
        "AGENT__API_KEY": KEY,
        "AGENT__MODEL": "model",
        "AGENT__RETRIES": "0",
        "AGENT__PROBE": "false",
        **{name: text.replace("{url}", origin) for name, text in scenario.settings.items()},
    }
    seen: list[str] = []
    entries: list[Entry] = []
    async with gateway_of(home, None, **settings) as gateway, visit(gateway.url, "Alice") as people:
        alice = people[0]
        with contextlib.suppress(TimeoutError):
            for text in scenario.asks:
                if text.startswith(SAID):
                    await alice.say(text[1:], to_agent=False)
                    continue
                with anyio.fail_after(LONGEST_SECONDS):
                    seen.append(await _answer(alice, text))
                    await settled(gateway)
        with anyio.move_on_after(LONGEST_SECONDS):
            entries = await settled(gateway)
        drafts = [str(one["message"]["text"]) for one in alice.of_type("draft")]
        return seen, drafts, entries


async def _answer(alice: Visitor, text: str) -> str:
    answer = await alice.answer(await alice.say(text))
    return str(answer["text"])


def _dead_url() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"
