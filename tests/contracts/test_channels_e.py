"""E: what arrives; on every channel that has what a line needs."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, Final

import pytest
from structlog.testing import capture_logs

from agent.tool import Arguments, Role, Tool, ToolContext
from gateway.hooks.specs import hookimpl
from tests.fakes.openai.script import Call, CutStream, Failure, Text, ToolCalls, Usage
from tests.kit.play import Play, playing, prompt_of
from tests.kit.promised import promises

DOWN: Final = Failure(500, "canary-answer", None, "server_error")
LOOK: Final = Call("look", "tape_info", "{}")

MIXED: Final = """\
# Heading one

| name | value |
|------|-------|
| left | right |

![an image](https://example.org/image.png) and <b>bold html</b> with <script>alert(1)</script>

- [x] finished task
- [ ] open task

A footnote[^1], math $a^q$, a ==highlight== and an odd ~~strike~~ with &amp; entity.

[^1]: The note below.
"""
READABLE: Final = (
    "Heading one name value left right an image bold html script alert(1) finished task open"
    " A footnote math a^q highlight odd strike with & entity. The note below."
)


class Words(Arguments):
    """What the tool of these tests takes."""

    text: str


class Secretive:
    """A plugin whose tools tell what is nobody's business."""

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        async def tells(arguments: Words, context: ToolContext) -> str:
            return "canary-output"

        async def fails(arguments: Words, context: ToolContext) -> str:
            raise RuntimeError("canary-internals")

        return [
            Tool("canary.tells", "It tells.", Words, tells, Role.STRANGER, first=True),
            Tool("canary.fails", "It fails.", Words, fails, Role.STRANGER, first=True),
        ]


@promises("E1")
async def test_e1_an_answer_says_which_message_it_answers(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice, bob = play.chat(), play.person(), play.person("Bob")
        people = (alice, bob, alice) if play.has("groups") else (alice, alice)
        said = [await play.stage.say(chat, person, "hello") for person in people]
        await play.settle()
        answered = [answer.reply_to for answer in play.stage.answers(chat)]
        assert sorted(map(str, answered)) == sorted(one.id for one in said)


@promises("E1", "threads")
async def test_e1_an_answer_in_a_thread_stays_there(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        group = play.stage.group()
        threads = [play.stage.thread(group), play.stage.thread(group)]
        play.model.default = lambda _request: Text(("fine, " * 2000,))
        for thread in threads:
            await play.ask(thread, play.person(), "tell me all")
        for thread in threads:
            assert len(play.stage.answers(thread)) > 1
            assert {answer.thread for answer in play.stage.answers(thread)} == {thread.thread}
        assert len(play.stage.answers(group)) == sum(
            len(play.stage.answers(thread)) for thread in threads
        )


@promises("E3")
async def test_e3_what_cannot_be_drawn_is_its_text(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        chat = play.chat()
        play.model.enqueue(Text((MIXED,)))
        await play.ask(chat, play.person(), "show me")
        shown = "\n".join(play.texts(chat))
        assert [word for word in READABLE.split() if word not in shown] == []


@promises("E4")
async def test_e4_reasoning_and_what_tools_are_told_and_tell_reach_no_chat(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, Secretive(), CLI__REASONING="false") as play:
        chat = play.chat()
        calls = tuple(
            Call(f"canary-{name}", f"canary_{name}", '{"text": "canary-arguments"}')
            for name in ("tells", "fails", "unknown")
        )
        thoughts = ("canary-thought", " and canary-doubt")
        numbers = Usage(7_654_321, 8_765_432, 6_543_210)
        play.model.enqueue(
            ToolCalls(calls, ("Let me see.",), reasoning=thoughts, usage=numbers),
            Text(("Fine.",), reasoning=thoughts, usage=numbers),
        )
        await play.ask(chat, play.person(), "go")
        assert "Fine." in play.texts(chat)[-1]
        for secret in (b"canary", b"7654321", b"8765432", b"6543210"):
            assert secret not in play.stage.outbound()


@promises("E4")
@pytest.mark.parametrize("broken", [DOWN, CutStream(("canary-half",))], ids=["down", "cut"])
async def test_e4_the_inside_of_an_error_reaches_no_chat(
    channel: str, tmp_path: Path, broken: Failure | CutStream
) -> None:
    async with playing(channel, tmp_path) as play:
        chat = play.chat()
        play.model.enqueue(broken)
        await play.ask(chat, play.person(), "go")
        assert "canary" not in "".join(play.texts(chat))
        assert b"canary-answer" not in play.stage.outbound()
        assert b"Traceback" not in play.stage.outbound()


@promises("E5")
async def test_e5_nobody_can_make_the_agent_ping_everybody(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        group, bob = play.stage.group(), play.person("Bob")
        play.model.enqueue(
            Text(
                (
                    "@everyone @here @channel <!everyone> <!here> <!channel> <@&42> <!subteam^S1>",
                    f" [all of you](tg://user?id={bob.id}) <tg://user?id={bob.id}>",
                    f" [and you](tg:user?id={bob.id})",
                )
            )
        )
        await play.ask(group, play.person(), "call them all")
        assert play.stage.pinged(group) == []
        assert all(word in play.texts(group)[0] for word in ("everyone", "here", "all of you"))


@promises("E6")
async def test_e6_typing_shows_within_a_second_and_ends_with_the_answer(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        await typing_while(play, Text(("done",)))


@promises("E6")
async def test_e6_typing_ends_with_a_turn_that_fails(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        await typing_while(play, DOWN)


async def typing_while(play: Play, reply: Text | Failure) -> None:
    """Ask something that takes half a minute and ends with a reply."""
    chat, gate = play.chat(), asyncio.Event()
    play.model.enqueue(ToolCalls((LOOK,), gate=gate), reply)
    asked = await play.stage.say(chat, play.person(), "look")
    await play.taken()
    for _second in range(30):
        await play.clock.advance(1)
        await play.stage.seen()
        assert play.stage.typing(chat)
    gate.set()
    await play.settle()
    play.answer(asked)
    assert not play.stage.typing(chat)
    shown = play.stage.typed(chat)
    await play.clock.advance(60)
    assert play.stage.typed(chat) == shown


@promises("E7")
@pytest.mark.parametrize(
    "broken", [DOWN, Failure(401, "no", "invalid_api_key"), CutStream(("half of it",))]
)
async def test_e7_an_error_is_one_plain_sentence_with_an_id_that_the_log_has(
    channel: str, tmp_path: Path, broken: Failure | CutStream
) -> None:
    async with playing(channel, tmp_path) as play:
        chat = play.chat()
        play.model.enqueue(broken)
        with capture_logs() as logs:
            asked = await play.ask(chat, play.person(), "go")
        told = play.answer(asked).text
        assert play.texts(chat) == [told]
        assert re.fullmatch(r"Sorry, [^.\n]+\. \(Ref (E-\w+)\)", told)
        number = told.partition("(Ref ")[2].partition(")")[0]
        assert [log["event"] for log in logs if log.get("error_id") == number] == ["turn.failed"]
        await play.clock.advance(3600)
        assert play.texts(chat) == [told]


@promises("E7")
async def test_e7_an_error_of_our_own_tells_nothing_of_itself(channel: str, tmp_path: Path) -> None:
    class Broken:
        @hookimpl
        def build_prompt(self, message: Any) -> str:
            raise KeyError("canary")

    async with playing(channel, tmp_path, Broken()) as play:
        chat = play.chat()
        await play.ask(chat, play.person(), "go")
        (told,) = play.texts(chat)
        assert told.startswith("Sorry, I couldn't answer: something went wrong on my side.")
        assert b"canary" not in play.stage.outbound()
        assert b"KeyError" not in play.stage.outbound()


@promises("E7")
async def test_e7_a_tool_that_fails_is_the_model_s_to_tell(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path, Secretive()) as play:
        chat = play.chat()
        call = Call("a", "canary_fails", '{"text": "x"}')
        play.model.enqueue(ToolCalls((call,)), Text(("It did not work.",)))
        await play.ask(chat, play.person(), "go")
        assert play.texts(chat) == ["It did not work."]
        assert "canary-internals" in prompt_of(play.model)
