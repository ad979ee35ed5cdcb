"""What looks for canaries in every gateway of the suite finds each, wherever it got out."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import orjson
import pytest
import structlog

from agent.tool import Tool
from agent.tool_decorator import tool
from gateway.hooks.specs import hookimpl
from gateway.redaction.known_secrets import secrets_of
from tape.entry import message
from tests.fakes.base.traffic import WITNESSES, Asked, dumped, think
from tests.fakes.openai.script import Call, Failure, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.canaries import KEY, SET, TOKENS, Canaries, LeakFound
from tests.kit.gateways import gateway_of, gateway_process, make_environ, make_settings, tape_of
from tests.kit.visitor import visit

FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "in JSON": lambda secret: orjson.dumps({"a": secret}).decode(),
    "URL-encoded": lambda secret: quote(secret, safe=""),
    "URL-encoded as a path": quote,
    "URL-encoded in lower case": lambda secret: "".join(
        char if char.isalnum() or char in "-_.~" else f"%{ord(char):02x}" for char in secret
    ),
    **{
        f"base64 after {n}": lambda secret, n=n: base64.b64encode(  # type: ignore[misc]
            b"x" * n + secret.encode() + b"yz"
        ).decode()
        for n in range(4)
    },
    "base64 of a URL": lambda secret: base64.urlsafe_b64encode(b"a:" + secret.encode()).decode(),
}


@pytest.mark.parametrize("secret", [KEY, *SET.values(), *TOKENS.values()])
@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_found_in_every_form(secret: str, form: str) -> None:
    canaries = Canaries([secret])
    canaries.search("there", f"before {FORMS[form](secret)} after".encode())
    with pytest.raises(LeakFound, match="there: the secret"):
        canaries.check()
    other = Canaries([secret])
    other.search("there", FORMS[form](secret[::-1]).encode())
    other.check()


def test_every_gateway_has_a_canary_for_each_secret(tmp_path: Path) -> None:
    settings = make_settings(tmp_path, None, **TOKENS)
    assert {*SET.values(), *TOKENS.values()} <= {*secrets_of(settings)}


class Talkative:
    """A plugin that puts the key into each prompt."""

    @hookimpl
    def system_prompt(self) -> str:
        return f"The key is {KEY}."


async def leaks(home: Path, where: str) -> None:
    """Run a gateway out of which its key gets."""
    plugins = [Talkative()] if where == "model" else []
    async with FakeOpenAI() as server, gateway_of(home, server, *plugins) as gateway:
        if where == "log":
            structlog.get_logger().info("started", key=KEY)
        elif where == "file":
            (home / "notes.txt").write_text(quote(KEY))
        elif where == "tape":
            gateway.services.store.prepare = lambda entry: entry
            await tape_of(gateway).append(message("user", f"is it {KEY}?"))
        elif where == "model":
            async with visit(gateway.url, "Alice") as people:
                await people[0].answer(await people[0].say("what do you know?"))


@pytest.mark.parametrize("where", ["log", "file", "tape", "model"])
async def test_a_gateway_whose_key_gets_out_fails_its_test(tmp_path: Path, where: str) -> None:
    with pytest.raises(LeakFound, match="the secret"):
        await leaks(tmp_path, where)


async def process_leaks(home: Path) -> None:
    """Run a process in whose home its key is written down."""
    async with FakeOpenAI() as server:
        async with gateway_process(make_environ(home, server), home) as process:
            await process.url()
            (home / "notes.txt").write_text(KEY)


async def test_a_process_whose_key_gets_out_fails_its_test(tmp_path: Path) -> None:
    with pytest.raises(LeakFound, match=r"notes\.txt: the secret"):
        await process_leaks(tmp_path / "home")


def test_reasoning_is_found_in_a_database_beside_what_the_provider_needs(tmp_path: Path) -> None:
    canary = think("http://127.0.0.1:1/v1", "model")
    with closing(sqlite3.connect(tmp_path / "tapeway.db")) as database:
        database.execute("CREATE TABLE entry (meta TEXT, text TEXT)")
        kept = orjson.dumps({"wire": {"reasoning_content": canary}, "lane": "1"}).decode()
        database.execute("INSERT INTO entry VALUES (?, 'plums')", (kept,))
        database.commit()
        fine = Canaries([])
        fine.search_home(tmp_path)
        fine.check()
        database.execute("INSERT INTO entry VALUES ('{}', ?)", (f"so {canary}",))
        database.commit()
    leaked = Canaries([])
    leaked.search_home(tmp_path)
    with pytest.raises(LeakFound, match=r"beside meta\.wire: the reasoning"):
        leaked.check()


class Overheard:
    """Another server, which is sent something."""

    base_url = "http://127.0.0.1:2/v1"

    def __init__(self, body: str) -> None:
        self.body = body
        WITNESSES.append(self)

    def heard(self) -> bytes:
        return b""

    def asked(self) -> list[Asked]:
        return [Asked(self.base_url, "model", dumped(self.body))]


def test_reasoning_that_is_sent_to_another_server_is_found() -> None:
    own = think(Overheard.base_url, "model")
    Overheard(own)
    canaries = Canaries([])
    canaries.search_traffic()
    canaries.check()
    Overheard(think("http://127.0.0.1:1/v1", "model"))
    canaries.search_traffic()
    with pytest.raises(LeakFound, match="was sent the reasoning"):
        canaries.check()


class Bell:
    """A plugin with a harmless tool."""

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        @tool(name="bell.ring", first=True)
        async def bell_ring() -> str:
            """Ring the bell."""
            return "it rang"

        return [bell_ring]


async def test_a_model_that_stands_in_is_not_sent_the_reasoning_of_the_first(
    tmp_path: Path,
) -> None:
    async with FakeOpenAI() as first, FakeOpenAI() as second:
        models = orjson.dumps({"second": {"base_url": second.base_url}}).decode()
        settings = {"AGENT__FALLBACK_MODELS": "second", "MODELS": models}
        ring = ToolCalls((Call("a", "bell_ring", "{}"),), reasoning=("They want a bell.",))
        first.enqueue(ring, Failure(500, "broken"), ring, Text(("Rung.",), reasoning=("Hm.",)))
        first.default = lambda _request: Failure(500, "broken")
        second.default = lambda _request: Text(("Rung.",), reasoning=("So it is.",))
        async with (
            gateway_of(tmp_path, first, Bell(), **settings) as gateway,
            visit(gateway.url, "Alice") as people,
        ):
            alice = people[0]
            for text in ("ring", "again", "and again"):
                assert (await alice.answer(await alice.say(text)))["text"] == "Rung."
        assert len(second.requests) >= 2
        assert any("They want a bell" in str(one.body) for one in first.requests)
