"""A fake Telegram to try a bot on by hand."""

from __future__ import annotations

import re
from typing import Final

from tests.fakes.base.console import parser_of, talk
from tests.fakes.telegram.calls import Call
from tests.fakes.telegram.server import FakeTelegram

USAGE: Final = "Write: CHAT_ID USER_NAME: text"
_LINE: Final = re.compile(r"\s*(-?\d+)\s+([^:]+?)\s*:\s*(.*?)\s*")


def act(fake: FakeTelegram, line: str) -> bool:
    """Do what a line `CHAT_ID USER_NAME: text` says; False when it is not of that form.

    A positive id is the private chat with that user, another one a group.
    """
    found = _LINE.fullmatch(line)
    if found is None or not found[3]:
        return False
    chat_id, name, text = int(found[1]), found[2], found[3]
    if chat_id > 0:
        user = fake.world.users.get(chat_id) or fake.user(chat_id, name)
        fake.say(fake.private_chat(user), user, text)
        return True
    if chat_id not in fake.world.chats:
        fake.group(chat_id, kind="supergroup" if chat_id < -1_000_000_000_000 else "group")
    known = (user for user in fake.world.users.values() if user.first_name == name)
    user = next(known, None) or fake.user(1000 + len(fake.world.users), name)
    fake.say(chat_id, user, text)
    return True


def shown(call: Call) -> str:
    """Return a line on a call, "" for one that nobody in a chat would notice."""
    if call.method.lower().startswith("get") or "chat_id" not in call.params:
        return ""
    place = str(call.params["chat_id"]) + (f" #{call.message_id}" if call.message_id else "")
    said = f": {call.params['text']}" if "text" in call.params else ""
    refused = f" [{call.error_code} {call.description}]" if call.error_code else ""
    return f"{call.method} {place}{said}{refused}"


async def main() -> None:
    """Serve until interrupted."""
    parser = parser_of("Telegram")
    parser.add_argument("--token", default="123456:test-token")
    parser.add_argument("--privacy", action="store_true", help="hide what is not for the bot")
    options = parser.parse_args()
    async with FakeTelegram(
        token=options.token,
        port=options.port,
        limits=not options.no_limits,
        can_read_all_group_messages=not options.privacy,
    ) as fake:
        print(f"base_url {fake.base_url}\nbase_file_url {fake.base_file_url}", flush=True)
        await talk(fake, lambda line: act(fake, line), shown, USAGE)
