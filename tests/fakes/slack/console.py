"""Talk to the app through the fake Slack by hand: a typed line is a message."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.fakes.slack.server import Call, FakeSlack

_LINE: Final = re.compile(r"\s*([#@]\S*)\s+([^:]+?)\s*:\s*(.*?)\s*")


def act(fake: FakeSlack, line: str) -> bool:
    """Do what a line `#channel Name: text` or `@ Name: text` says; False for another form.

    `@` is the conversation of that person with the bot. A text that begins with /tapeway is the
    command.
    """
    found = _LINE.fullmatch(line)
    if found is None or not found[3]:
        return False
    place, name, text = found[1], found[2], found[3]
    known = (it for it in fake.workspace.users.values() if it.real_name == name)
    user = next(known, None) or fake.user(name)
    if place.startswith("@"):
        channel = fake.im(user)
    else:
        named = (it for it in fake.workspace.channels.values() if it.name == place[1:])
        channel = next(named, None) or fake.channel(place[1:])
    if text.startswith("/tapeway"):
        fake.slash(channel, user, text.removeprefix("/tapeway").strip())
    else:
        fake.say(channel, user, text)
    return True


def shown(fake: FakeSlack, call: Call) -> str:
    """Return a line on a call, "" for one that nobody in a channel would notice."""
    channel = fake.world.channels.get(call.channel or "")
    if channel is None or call.method.startswith("conversations."):
        return ""
    place = f"#{channel.name}" if channel.kind != "im" else "@"
    said = call.params.get("markdown_text") or call.params.get("text") or call.params.get("status")
    chunks = call.params.get("chunks") or []
    said = said or "".join(it.get("text", "") for it in chunks if isinstance(it, dict))
    refused = f" [{call.error}]" if call.error else ""
    return f"{call.method} {place}{f' {call.ts}' if call.ts else ''}{refused}: {said or ''}"


async def _show(fake: FakeSlack) -> None:
    position = 0
    while True:
        await fake.wait_for_call(position)
        # In a later turn the call has had its effect.
        await asyncio.sleep(0)
        for call in fake.calls[position:]:
            position += 1
            if line := shown(fake, call):
                print(line, flush=True)


def _listen(fake: FakeSlack, loop: asyncio.AbstractEventLoop) -> None:
    """Act on the lines of standard input, from a thread: not every input can be waited for."""
    for line in sys.stdin:
        if line.strip():
            loop.call_soon_threadsafe(_obey, fake, line)


def _obey(fake: FakeSlack, line: str) -> None:
    if not act(fake, line):
        print("Write: #channel Name: text, or @ Name: text", flush=True)


async def talk(fake: FakeSlack, stop: asyncio.Event) -> None:
    """Act on typed lines and print what the app does, until told to stop."""
    loop = asyncio.get_running_loop()
    threading.Thread(target=_listen, args=(fake, loop), daemon=True).start()
    showing = asyncio.create_task(_show(fake))
    await stop.wait()
    showing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await showing
