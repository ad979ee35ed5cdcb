"""A database and file tapes of commit 12be65b, opened by this version (see their README)."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Chat
from tests.kit.clock import QuickClock
from tests.kit.gateways import gateway_of, make_environ, run_tapeway
from tests.kit.visitor import visit

MADE = Path(__file__).resolve().parent.parent / "fixtures" / "version_12be65b"
THEN = datetime(2026, 11, 22, 13, 24, tzinfo=UTC)
"""Minutes after the end of that gateway: later, its question would be too old to be answered."""

GROUP = -1001000000001
OPEN_QUESTION = 11
SESSIONS = {f"telegram:{GROUP}", "telegram:8", "slack:C000000005", "web:lobby"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MADE / "home", tmp_path / "home"))


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    tapes = shutil.copytree(MADE / "tapes", tmp_path / "tapes")
    return make_environ(tmp_path / "home", WORKSPACE="/", TAPE__URL=f"file://{tapes}")


def same_chats(telegram: FakeTelegram) -> tuple[Chat, Chat]:
    """Make the group and the private chat that the old gateway knew, up to the open question."""
    people = [
        telegram.user(number, name, name.lower()) for number, name in ((7, "Ann"), (8, "Bob"))
    ]
    group, private = telegram.group(GROUP, "Orchard"), telegram.private_chat(people[1])
    telegram.say(private, people[1], "and the pears?")
    while telegram.say(group, people[1], "before")["message_id"] < OPEN_QUESTION:
        pass
    telegram.updates.drop()
    return group, private


async def test_the_open_question_is_answered_once_what_waited_is_sent_and_it_goes_on(
    model: FakeOpenAI, home: Path
) -> None:
    clock = QuickClock()
    clock.jump(THEN - clock.now())
    async with FakeTelegram() as telegram:
        group, private = same_chats(telegram)
        model.enqueue(Text(("On Monday.",)), Text(("Bring gloves.",)))
        settings = {
            "WORKSPACE": "/",
            "ACCESS__MODE": "open",
            "TELEGRAM__TOKEN": telegram.token,
            "TELEGRAM__BASE_URL": telegram.base_url,
        }
        for _start in range(2):
            async with gateway_of(home, model, clock=clock, **settings) as gateway:
                await telegram.wait_for(lambda it: "On Monday." in it.text_of(group.id))
                await telegram.wait_for(lambda it: "pears" in it.text_of(private.id))
                await gateway.idle()
        async with gateway_of(home, model, clock=clock, **settings) as gateway:
            bob = telegram.world.users[8]
            telegram.say(group, bob, "@tapeway_bot and what do I bring?")
            await telegram.wait_for(lambda it: "Bring gloves." in it.text_of(group.id))
            await gateway.idle()
    answers = [(m.reply_to, m.text) for m in telegram.messages(group.id)]
    assert answers == [(OPEN_QUESTION, "On Monday."), (OPEN_QUESTION + 2, "Bring gloves.")]
    assert telegram.text_of(private.id) == "The pears come after the plums."
    assert len(model.requests) == 2
    shown = str(model.requests[0].body["messages"])
    assert "when do we begin?" in shown
    assert "The battery and the glow plugs." in shown


async def test_the_page_shows_what_was_said_before(home: Path) -> None:
    async with gateway_of(home, WORKSPACE="/") as gateway, visit(gateway.url, "Alice") as (alice,):
        texts = [message["text"] for message in alice.of_type("history")[0]["messages"]]
    assert texts == ["good morning", "Good morning, Alice."]


async def test_the_tapes_of_the_database_are_listed_and_searched_once_it_is_migrated(
    home: Path,
) -> None:
    environ = make_environ(home, WORKSPACE="/")
    code, listed, err = await run_tapeway(environ, "tape", "list")
    assert (code, listed, "was written by an older version" in err) == (1, "", True)
    async with gateway_of(home, WORKSPACE="/"):
        pass
    code, listed, err = await run_tapeway(environ, "tape", "list")
    assert (code, err) == (0, "")
    assert set(listed.split()) >= SESSIONS
    await searched(environ, f"telegram:{GROUP}")
    _code, shown, _err = await run_tapeway(
        environ, "tape", "show", "slack:C000000005", "--kind", "event", "--json"
    )
    assert "message.delete" in shown


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (f"{GROUP}/2", "answered by the turn t-"),
        (f"{GROUP}/{OPEN_QUESTION}", "when do we begin?"),
        ("out-7", "The pears come after the plums."),
    ],
)
async def test_a_message_of_then_is_explained(home: Path, asked: str, told: str) -> None:
    environ = make_environ(home, WORKSPACE="/")
    code, story, err = await run_tapeway(environ, "explain", asked)
    assert (code, "start the gateway once to migrate it" in err) == (1, True)
    await run_tapeway(environ, "run", "hello", "--session", "later")
    code, story, err = await run_tapeway(environ, "explain", asked)
    assert (code, err) == (0, "")
    assert told in story


async def test_file_tapes_are_searched_shown_and_written_on(files: dict[str, str]) -> None:
    session = f"telegram:{GROUP}"
    await searched(files, session)
    code, out, err = await run_tapeway(files, "run", "hello", "--session", "later")
    assert (code, "offline model" in out, err) == (0, True, "")
    _code, anchors, _err = await run_tapeway(
        files, "tape", "show", session, "--kind", "anchor", "--json"
    )
    names = [json.loads(line)["payload"]["name"] for line in anchors.splitlines()]
    assert names == ["session/start", "harvest/planned"]


async def searched(environ: dict[str, str], session: str) -> None:
    """Check that a search finds the edited question and the answer about the plums."""
    code, found, _err = await run_tapeway(environ, "tape", "search", session, "plums", "--json")
    texts = [json.loads(line)["payload"].get("content") for line in found.splitlines()]
    assert code == 0
    assert any("when are the yellow plums ripe?" in str(text) for text in texts)
    assert "The plums are ripe in August." in texts
