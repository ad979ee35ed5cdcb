"""The one question of the first `make run`, as a person at a terminal sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.settings import load_settings
from tests.gateway.cli.setup.person import Person, at_terminal

KEY = "sk-canary-key-of-a-model"
ASKED = "Model? Enter starts offline"


def environ(home: Path, **more: str) -> dict[str, str]:
    own = {"HOME": str(home), "TAPEWAY_SECRETS": str(home / "none"), "TERM": "dumb"}
    return {**own, "TAPEWAY_HTTP__PORT": "0", **more}


async def runs_and_ends(person: Person) -> None:
    await person.sees("Starting ...")
    await person.sees("Tapeway is running.")
    await person.interrupts()
    assert await person.ends() == 0


@pytest.mark.parametrize("answer", ["", "No"])
async def test_enter_starts_offline_and_is_not_asked_for_again(tmp_path: Path, answer: str) -> None:
    async with at_terminal(environ(tmp_path), "gateway", "--ask") as person:
        await person.sees(ASKED)
        await person.types(answer)
        await person.sees(f"Saved in {tmp_path}/.tapeway/tapeway.toml")
        await runs_and_ends(person)
    assert person.seen.count("?") == 1
    assert 'model = "offline"' in (tmp_path / ".tapeway" / "tapeway.toml").read_text()
    async with at_terminal(environ(tmp_path), "gateway", "--ask") as person:
        await runs_and_ends(person)
    assert ASKED not in person.seen


async def test_a_home_that_was_used_waits_for_nobody(tmp_path: Path) -> None:
    (tmp_path / ".tapeway").mkdir(mode=0o700)
    (tmp_path / ".tapeway" / "tapeway.db").touch(0o600)
    async with at_terminal(environ(tmp_path), "gateway", "--ask") as person:
        await runs_and_ends(person)
    assert ASKED not in person.seen


async def test_what_cannot_be_used_is_asked_for_again(tmp_path: Path) -> None:
    async with at_terminal(environ(tmp_path), "gateway", "--ask") as person:
        for answer, why in (
            ("?", "? is no model's name"),
            ("gpt 5", "gpt 5 is no model's name"),
            ("gpt-5-mini", "No server here has gpt-5-mini, and no key was"),
        ):
            await person.sees(ASKED)
            await person.types(answer)
            await person.sees(why)
        await person.sees(ASKED)
        await person.types("")
        await runs_and_ends(person)


async def test_the_server_that_will_answer_is_named_and_saved_with_the_model(
    tmp_path: Path,
) -> None:
    given = environ(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    async with at_terminal(given, "gateway", "--ask") as person:
        await person.sees(f"{ASKED}, y takes gpt-5-mini of OpenAI: ")
        await person.types("gpt-5")
        await person.sees("gpt-5 of OpenAI will answer (http://127.0.0.1:9/v1)")
        await runs_and_ends(person)
    assert KEY not in person.seen
    agent = load_settings({"TAPEWAY_SECRETS": "none"}, tmp_path / ".tapeway").agent
    assert (agent.model, agent.key()) == ("gpt-5", KEY)
