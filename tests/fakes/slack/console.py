"""Talk to the app through the fake Slack by hand: a typed line is a message."""

from __future__ import annotations

import re
from typing import Final

from tests.fakes.base.console import parser_of, talk
from tests.fakes.slack.server import Call, FakeSlack

USAGE: Final = "Write: #channel Name: text, or @ Name: text"
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


async def main() -> None:
    """Serve until interrupted."""
    parser = parser_of("Slack")
    parser.add_argument("--bot-token", default="xoxb-1-2-test-bot-token")
    parser.add_argument("--app-token", default="xapp-1-A0TAPEWAY0-1-test-app-token")
    parser.add_argument("--signing-secret", default="8f742231b10e8888abcd99yyyzzz85a5")
    parser.add_argument("--events-url", default="", help="deliver there instead of over sockets")
    parser.add_argument("--no-streams", action="store_true", help="a server without streams")
    options = parser.parse_args()
    async with FakeSlack(
        bot_token=options.bot_token,
        app_token=options.app_token,
        signing_secret=options.signing_secret,
        port=options.port,
        limits=not options.no_limits,
        streams=not options.no_streams,
    ) as fake:
        if options.events_url:
            fake.events_at(options.events_url)
        print(f"base_url {fake.base_url}", flush=True)
        await talk(fake, lambda line: act(fake, line), lambda call: shown(fake, call), USAGE)
