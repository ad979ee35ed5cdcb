"""H: what became of a message, and that no secret is shown; on every channel."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from channels.testing import Chat
from gateway.cli.explain.way import way_of
from gateway.explain.explainer import Explainer
from gateway.explain.report import Report
from gateway.logs import set_up_logs
from gateway.redaction.known_secrets import secrets_of
from gateway.settings import LogSettings
from gateway.storage.ledger.rows import account_id
from tests.fakes.openai.script import Call, Failure, Text, ToolCalls
from tests.kit.play import Play, opened, playing
from tests.kit.promised import promises

API_KEY = "sk-canary-of-the-model-9f2c"
HTTP_TOKEN = "canary-of-the-page-77e1"


async def explained(play: Play, asked: str) -> Report:
    services = play.gateway.services
    return await Explainer(services.store, services.redactor).explain(asked)


def told(story: Report, about: str) -> str:
    return "\n".join(line.says for line in story.lines if line.about == about)


@promises("H1")
async def test_h1_of_a_question_all_is_told_from_its_arrival_to_its_receipt(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        search = Call("call-1", "tape_search", '{"query": "plum"}')
        play.model.enqueue(ToolCalls((search,)), Text(("It is ", "dead.")))
        said = await play.ask(chat, alice, "is the plum tree dead?")
        answer = play.answer(said)
        story = await explained(play, said.id)
        assert story.head.endswith(f"is message {said.id} in {channel} {chat.id}")
        assert "plum tree" in told(story, "seen")
        assert f"(id {alice.id})" in told(story, "seen")
        assert told(story, "addressed").startswith("yes: ")
        assert told(story, "access").startswith("allowed as ")
        assert "entry 3" in told(story, "lane")
        assert re.search(r"t-\w+ began", told(story, "turn"))
        assert "takes entry 3" in told(story, "view")
        assert re.search(r"shown: 3 messages, prompt \w{16}", told(story, "view"))
        model = told(story, "model")
        assert re.search(r"step 1: .* status tools after \d+ ms", model)
        assert re.search(r"step 2: .* status ok after \d+ ms, usage .*, finish stop", model)
        assert "tape.search was called" in told(story, "tool")
        assert "tape.search returned, after" in told(story, "tool")
        abouts = [line.about for line in story.lines]
        assert abouts.index("model") < abouts.index("tool") < abouts.index("said")
        assert 'the answer: "It is dead."' in told(story, "said")
        assert f"sent as message {answer.id}" in told(story, "send")
        assert answer.id in told(story, "receipt")
        assert told(story, "outcome").startswith("answered by the turn t-")
        moments = [line.at for line in story.lines if line.at]
        assert moments == sorted(moments)


@promises("H1")
async def test_h1_of_the_agent_s_answer_the_question_is_told(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        said = await play.ask(play.chat(), play.person(), "is the plum tree dead?")
        answer = play.answer(said)
        story = await explained(play, answer.id)
        assert said.id in story.head
        assert "is an answer" in told(story, "asked")
        assert "plum tree" in told(story, "seen")
        turn = re.search(r"t-\w+", told(story, "turn"))
        assert turn is not None
        for asked in (turn[0], "in-1", "out-1", f"{channel}:{said.chat.id}#3"):
            assert said.id in (await explained(play, asked)).head


@promises("H1")
async def test_h1_of_a_command_its_answer_is_told(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        said = await play.ask_command(play.chat(), play.person(), "help")
        story = await explained(play, play.answer(said).id)
        assert "is a notice" in told(story, "asked")
        assert told(story, "outcome") == "answered without the model, as a command"
        assert ": sent as message" in told(story, "send")


@promises("H1", "groups")
async def test_h1_of_what_nobody_asked_it_is_told_that_and_who_was_shown_it(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        group = play.stage.group()
        said = await play.ask(group, play.person("Bob"), "lunch at noon?", mention=False)
        await play.ask(group, play.person(), "when is lunch?")
        story = await explained(play, said.id)
        assert told(story, "addressed").startswith("no: ")
        assert told(story, "outcome").startswith("not answered: not addressed")
        assert re.search(r"shown to the turn t-\w+", told(story, "view"))


@promises("H1", "strangers", "groups")
async def test_h1_of_who_was_not_let_in_the_rule_is_told_and_no_word(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, ACCESS__MODE="paired") as play:
        said = await play.ask(play.stage.group(), play.person(), "tell me of the canary")
        story = await explained(play, said.id)
        assert told(story, "access") == ("refused: the chat was not on the allowlist")
        assert told(story, "outcome").startswith("not answered")
        assert "sent" in told(story, "send")
        assert "canary" not in json.dumps(story.to_json())


@promises("H1")
async def test_h1_of_a_turn_that_failed_the_error_that_people_read_is_told(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        play.model.enqueue(Failure(400, "the soup is cold", None, "invalid_request_error"))
        said = await play.ask(play.chat(), play.person(), "is there soup?")
        number = re.search(r"E-\w{6}", play.answer(said).text)
        assert number is not None
        story = await explained(play, said.id)
        assert number[0] in told(story, "error")
        assert "the soup is cold" in told(story, "error")
        assert "failed" in told(story, "outcome")


@promises("H1", "edits")
async def test_h1_of_an_edited_message_both_texts_are_told(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        said = await play.ask(play.chat(), play.person(), "is the plum tree dead?")
        await play.stage.edit(said, "is the pear tree dead?")
        await play.settle()
        story = await explained(play, said.id)
        assert "plum" in told(story, "seen")
        assert "pear" in told(story, "changed")
        # A server may skip numbers: one that was drawn in vain is not given out again.
        rows = [await explained(play, f"in-{number}") for number in range(2, 9)]
        assert any("an edit" in told(row, "asked") for row in rows)


@promises("H1")
async def test_h1_of_what_was_never_heard_it_is_told_what_that_means(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        said = await play.ask(play.chat(), play.person(), "hello")
        for asked in ("123456789", f"{said.chat.id}/123456789", "in-99", "t-" + "0" * 20, ""):
            story = await explained(play, asked)
            assert (story.head, list(story.lines)) == ("", [])
            assert story.missing.endswith(".")
        found = await explained(play, f"{channel}:{said.chat.id}/{said.id}")
        assert said.id in found.head


LINKS: dict[str, Callable[[str, str], str]] = {
    "discord": lambda chat, number: f"https://discord.com/channels/1/{chat}/{number}",
    "slack": lambda chat, number: f"https://t.slack.com/archives/{chat}/p{number.replace('.', '')}",
    "telegram": lambda chat, number: f"https://t.me/c/{chat.removeprefix('-100')}/{number}",
}


@promises("H1", "remote")
async def test_h1_the_platform_s_own_link_leads_to_question_and_answer(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        said = await play.ask(play.stage.group(), play.person(), "is the plum tree dead?")
        link = LINKS[channel]
        for number in (said.id, play.answer(said).id):
            assert said.id in (await explained(play, link(said.chat.id, number))).head
        story = await explained(play, link(said.chat.id, "1700000000.000001"))
        assert (story.head, bool(story.missing)) == ("", True)


@promises("H1")
async def test_h1_of_a_question_that_did_not_fit_the_queue_that_is_told(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, TURN__QUEUE_PER_CHAT="1") as play:
        chat, alice, gate = play.chat(), play.person(), asyncio.Event()
        play.model.enqueue(Text(("at ", "last"), gate=gate))
        for number in range(3):
            said = await play.stage.say(chat, alice, f"number {number}")
            await play.taken()
        await play.run(
            play.stage.until(lambda: any("more questions" in t for t in play.texts(chat)))
        )
        gate.set()
        await play.settle()
        story = await explained(play, said.id)
        assert told(story, "access").startswith("allowed as ")
        assert told(story, "outcome") == "not answered: too many questions wait"


@promises("H1")
async def test_h1_of_an_id_in_two_chats_both_are_named(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        here = await play.ask(play.chat(), play.person(), "here")
        there = await play.stage.say(play.chat(play.person("Bob")), play.person("Bob"), "there")
        await play.settle()
        if here.id == there.id and here.chat.id != there.chat.id:
            story = await explained(play, here.id)
            assert [option.write for option in story.options] == ["in-1", "in-2"]
            assert "Write instead:" in way_of(story.to_json())
        story = await explained(play, f"{there.chat.id}/{there.id}")
        assert "there" in told(story, "seen")


@promises("H2")
async def test_h2_no_secret_is_in_what_is_kept_logged_shown_or_explained(
    channel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up_logs(LogSettings(level="debug", format="json"))
    home = tmp_path / "home"
    async with opened(channel, lasts=True) as house:
        settings = {"AGENT__API_KEY": API_KEY, "HTTP__TOKEN": HTTP_TOKEN}
        if channel in ("cli", "web"):  # their people come over loopback, where no token is asked
            del settings["HTTP__TOKEN"]
        async with house.playing(home, **settings) as play:
            found = secrets_of(play.gateway.services.settings)
            secrets = [secret for secret in found if len(secret) >= 8]
            assert set(settings.values()) <= set(secrets)
            shown = await everything_of(play)
        assert house.lasting is not None
        kept = house.lasting.everything()
    kept += b"\n".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    logged = "".join(capsys.readouterr())
    assert b"Incorrect API key provided: ***" in kept
    assert "gateway.ready" in logged
    for secret in (*secrets, "Bearer "):
        assert secret.encode() not in kept, f"{secret} is kept"
        assert secret not in logged, f"{secret} is logged"
        assert secret not in shown, f"{secret} is shown"


async def everything_of(play: Play) -> str:
    """Have things go well and wrong; return all that an operator, a page and a chat can read."""
    chat, alice = play.chat(), play.person()
    play.model.enqueue(
        Failure(401, f"Incorrect API key provided: {API_KEY}", None, "invalid_request_error"),
        Failure(500, f"Authorization: {API_KEY}", None, "server_error"),
    )
    asked = [await play.ask(chat, alice, text) for text in ("one", "two", "three")]
    await play.ask_command(chat, alice, "help")
    if play.has("remote"):
        play.stage.revoke()
        await play.stage.say(chat, alice, "is anybody there?")
        await play.clock.advance(60)
    stories = [await explained(play, one.id) for one in asked]
    shown = [way_of(story.to_json()) + json.dumps(story.to_json()) for story in stories]
    shown += [str(play.stage.answers(chat)), *await pages_of(play, chat)]
    return "\n".join(shown)


async def pages_of(play: Play, chat: Chat) -> list[str]:
    """Return what the gateway serves to whoever may come in, and to whoever may not."""
    paths = ["", "login", "health/ready", "metrics", "api/ledger", "api/ledger/in-1"]
    paths += ["api/ledger/out-1", "api/explain?message=in-1", f"api/explain?message={quote('x')}"]
    paths.append(f"api/explain?message={quote(account_id(play.channel) + chat.id)}")
    found = []
    for headers in ({}, {"Authorization": f"Bearer {HTTP_TOKEN}"}, {"Authorization": "Bearer no"}):
        async with httpx2.AsyncClient(trust_env=False, headers=headers, timeout=60) as client:
            for path in paths:
                response = await client.get(f"{play.gateway.url}{path}")
                found.append(f"{response.headers} {response.text}")
    return found
