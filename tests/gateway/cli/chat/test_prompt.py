"""`tapeway chat` on a terminal, as its user sees it, and with its input from a pipe."""

from __future__ import annotations

import asyncio
import os
import pty
import termios
import tty
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from gateway.cli.chat.prompt import COMMANDS, CommandCompleter, eof_as_typed
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.cli.chat.window import chat_window
from tests.kit.gateways import gateway_process, make_environ, run_tapeway


async def test_two_people_talk_in_one_chat_and_the_gateway_dies_in_the_middle(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    gate = asyncio.Event()
    answer = "First *part*.\n\nSecond part, long enough to be wrapped between words.\n\nThe end."
    model.enqueue(Text((answer[:30], answer[30:]), gate=gate), Text((answer,)), Text(("Ok.",)))
    environ = {**make_environ(home, model), "LOGNAME": "Ann"}
    async with gateway_process(environ, home) as gateway:
        await gateway.url()
        async with (
            chat_window(environ, columns=40) as ann,
            chat_window({**environ, "LOGNAME": "Bob"}) as bob,
        ):
            await ann.presses("What now?\r")
            await ann.shows("First part.")
            await bob.shows("Ann\nWhat now?\n\nTapeway\nFirst part.")
            await gateway.kill()
            await ann.shows("the gateway has stopped")
            ann.resizes(24, 60)
            async with gateway_process(environ, home):
                gate.set()
                await ann.shows("The end.")
                await ann.presses("And then?\r\x04")
                await bob.shows("Ok.")
                assert await ann.ends() == 0
    for window in (ann, bob):
        words = window.text.split()
        assert [words.count(word) for word in ("First", "Second", "end.")] == [1, 1, 1]


async def test_an_answer_longer_than_the_screen_is_stopped_by_ctrl_c_and_nothing_is_repeated(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    lines = "\n\n".join(f"Line {n} of it." for n in range(60))
    calls = ToolCalls((Call("1", "tape.info", "{}"),), reasoning=("Let me look.",))
    model.enqueue(calls, Text((lines, " more"), gate=gate), Text(("Ok.",)))
    async with chat_window(make_environ(tmp_path, model)) as window:
        await window.presses("Tell me.\r")
        await window.shows("Line 58 of it.")
        await window.presses("typed meanwhile\x03")
        await window.shows("Stopped")
        await window.presses("\r")
        await window.shows("Ok.")
    assert window.text.count("tape.info") == 1
    assert [n for n in range(59) if window.text.count(f"Line {n} of it.") != 1] == []
    assert "> typed meanwhile" in window.text


async def test_without_colours_a_terminal_gets_plain_text(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    calls = ToolCalls((Call("1", "tape.info", "{}"),))
    model.enqueue(calls, Text(("**bold** \x1b[2J\u202e`x`\n\n", "- a")))
    environ = {**make_environ(tmp_path, model), "NO_COLOR": "1"}
    async with chat_window(environ) as window:
        await window.types("Hi.")
        await window.shows("- a")
        await window.presses("\x04")
        assert await window.ends() == 0
    assert b"\x1b" not in window.raw
    assert "[tape.info {}]\nTapeway: **bold** \\u202e`x`\n\n- a\n> " in window.seen


async def test_under_an_answer_that_was_cut_off_it_says_how_to_get_the_rest(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(Text(("half",), finish_reason="length"), Text(("whole",)))
    environ = make_environ(tmp_path, model)
    code, out, _err = await run_tapeway(environ, "chat", given=b"everything\ngo on\n")
    assert code == 0
    assert out.count("(Write `go on` to get the rest.)") == 1
    assert out.index("half") < out.index("(Write `go on`") < out.index("whole")


def test_tab_completes_a_command_with_its_own_sign() -> None:
    def completed(typed: str) -> list[str]:
        found = CommandCompleter().get_completions(Document(typed), CompleteEvent())
        return [one.text for one in found]

    assert completed("/he") == ["/help"]
    assert completed(",tape.s") == [",tape.search"]
    assert completed("/Sto") == ["/stop"]
    assert completed("") == [f"/{name}" for name in COMMANDS]
    assert completed("he") == []
    assert len(COMMANDS) == len({*COMMANDS})


def test_ctrl_d_that_is_typed_while_lines_are_printed_is_not_lost() -> None:
    master, slave = pty.openpty()
    with os.fdopen(master, "r+b", buffering=0) as person, os.fdopen(slave) as terminal:
        before = termios.tcgetattr(terminal)
        with eof_as_typed(terminal):
            person.write(b"And then?\r\x04")
            echoed = b""
            while b"^D" not in echoed:  # the terminal reads by lines, as while we print
                echoed += person.read(100)
            tty.setraw(terminal, termios.TCSANOW)
            assert os.read(terminal.fileno(), 100) == b"And then?\n\x04"
        assert termios.tcgetattr(terminal)[6] == before[6]
