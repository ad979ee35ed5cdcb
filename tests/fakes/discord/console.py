"""A fake Discord to try a bot on by hand: typed lines become messages, its answers are shown."""

from __future__ import annotations

import re
from typing import Final

from tests.fakes.base.console import parser_of, talk
from tests.fakes.discord.requests import Call
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel, User

USAGE: Final = "Write: CHANNEL NAME: text, where CHANNEL is dm, or a channel's or thread's name"
_LINE: Final = re.compile(r"\s*(\S+)\s+([^:]+?)\s*:\s*(.*?)\s*")
_SAYING: Final = frozenset({"post", "edit", "delete", "callback", "followup", "edit_original"})


def act(fake: FakeDiscord, line: str) -> bool:
    """Do what a line `CHANNEL NAME: text` says; False when it is not of that form.

    `@bot` becomes a mention of the bot, and `/name` a slash command that it has registered.
    """
    found = _LINE.fullmatch(line)
    if found is None or not found[3]:
        return False
    user = _user(fake, found[2])
    channel = fake.dm(user) if found[1] == "dm" else _channel(fake, found[1])
    name = found[3].removeprefix("/").partition(" ")[0]
    if found[3].startswith("/") and fake.commands.find(name, channel.guild_id) is not None:
        fake.slash(channel, user, name)
    else:
        fake.say(channel, user, found[3].replace("@bot", f"<@{fake.bot.id}>"))
    return True


def shown(fake: FakeDiscord, call: Call) -> str:
    """Return a line on a request, "" for one that nobody in a chat would notice."""
    if call.kind not in _SAYING:
        return ""
    channel = fake.world.channels.get(call.channel_id or 0)
    place = (channel.name or "dm") if channel is not None else "-"
    said = str(call.params.get("content") or "")
    refused = f" [{call.status} {call.error_code} {call.description}]" if not call.ok else ""
    return f"{call.kind} {place} #{call.message_id}: {said}{refused}"


def _user(fake: FakeDiscord, name: str) -> User:
    known = (user for user in fake.world.users.values() if user.global_name == name)
    return next(known, None) or fake.user(name)


def _channel(fake: FakeDiscord, name: str) -> Channel:
    known = (channel for channel in fake.world.channels.values() if channel.name == name)
    found = next(known, None)
    if found is not None:
        return found
    guild = next(iter(fake.world.guilds.values()), None) or fake.guild("Team")
    return fake.text_channel(guild, name)


async def main() -> None:
    """Serve until interrupted."""
    parser = parser_of("Discord")
    parser.add_argument("--token", default="MTAw.test.discord-token")
    parser.add_argument("--no-content", action="store_true", help="no message content intent")
    options = parser.parse_args()
    async with FakeDiscord(
        token=options.token,
        port=options.port,
        limits=not options.no_limits,
        message_content=not options.no_content,
    ) as fake:
        fake.text_channel(fake.guild("Team"), "general")
        print(f"base_url {fake.base_url}\ngateway_url {fake.gateway_url}\n{USAGE}", flush=True)
        await talk(fake, lambda line: act(fake, line), lambda call: shown(fake, call), USAGE)
