"""Save a gateway while messages pour in, restore it elsewhere, and count: `make backup-soak`.

The gateway, the backup and the restore are processes of their own, between a Telegram and a model
of ours. Five groups talk, and ask now and then; the gateway is killed after the backup, while some
of its answers are on their way.
"""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import anyio
import apsw

from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Chat, User
from tests.kit.gateways import Process, gateway_process, make_environ, run_process
from tests.kit.waiting import Patience

GROUPS: Final = 5
ASKS: Final = 26  # one message of so many is a question
MISSING: Final = """
SELECT count(*) FROM old.inbox AS old
LEFT JOIN main.inbox AS own ON own.account_id = old.account_id AND own.ext_id = old.ext_id
LEFT JOIN entry ON entry.pos = (
    SELECT tape.tape FROM tape JOIN session ON session.tape = tape.name
    WHERE session.session_id = own.session_id) * 4294967296 + own.entry_id
WHERE old.id <= :until
  AND (own.id IS NULL OR (own.entry_id IS NOT NULL AND entry.pos IS NULL))
"""


@dataclass(frozen=True, slots=True)
class Soaked:
    """What came of it.

    accepted  messages that the old gateway accepted, and those committed before the backup began
    missing   those of the latter that are not in the restored home, or not on their tapes
    held      messages and sends that were open in the backup
    again     messages that the restored gateway sent by itself, before it was asked anything
    twice     questions with more than one answer
    answered  whether the next question was answered
    """

    accepted: tuple[int, int]
    missing: int
    held: int
    again: int
    twice: int
    answered: bool


async def soak(folder: Path, messages: int, pause: float) -> Soaked:
    """Say so many messages, with a pause between them, and save the gateway in the middle."""
    async with FakeTelegram() as telegram, FakeOpenAI() as model:
        bob = telegram.user(8, "Bob", "bob")
        groups = [telegram.group(-1001000000001 - n, f"Group {n}") for n in range(GROUPS)]
        environs = [_environ(folder / name, telegram, model) for name in ("old", "new")]
        file = folder / "saved.zip"
        async with gateway_process(environs[0], folder / "old") as old:
            await old.url()
            async with anyio.create_task_group() as tasks:
                busy = anyio.Event()
                tasks.start_soon(_chatter, telegram, groups, bob, _Pace(messages, pause, busy))
                await busy.wait()
                until = await _newest(folder / "old")
                await _succeeds(environs[0], "backup", str(file))
            await old.kill()
        await _succeeds(environs[1], "restore", str(file))
        before = _sent(telegram, groups)
        async with gateway_process(environs[1], folder / "new") as new:
            answered, again = await _next_question(telegram, new, groups[0], bob, before)
        accepted, missing, held = _counted(folder, until)
    answers = Counter(
        (group.id, message.reply_to)
        for group in groups
        for message in telegram.messages(group.id)
        if message.reply_to
    )
    twice = sum(count > 1 for count in answers.values())
    return Soaked(accepted, missing, held, again, twice, answered)


def _environ(home: Path, telegram: FakeTelegram, model: FakeOpenAI) -> dict[str, str]:
    more = {"ACCESS__MODE": "open", "BUDGET__STRANGER_TURNS": "0"}
    addresses = {"TELEGRAM__TOKEN": telegram.token, "TELEGRAM__BASE_URL": telegram.base_url}
    return make_environ(home, model, **more, **addresses)


@dataclass(frozen=True, slots=True)
class _Pace:
    messages: int
    pause: float
    busy: anyio.Event  # set when a third of the messages is said


async def _chatter(telegram: FakeTelegram, groups: list[Chat], bob: User, pace: _Pace) -> None:
    for number in range(pace.messages):
        asks = "" if number % ASKS else "@tapeway_bot "
        telegram.say(groups[number % GROUPS], bob, f"{asks}message {number} of many")
        if number == pace.messages // 3:
            pace.busy.set()
        await anyio.sleep(pace.pause)


def _sent(telegram: FakeTelegram, groups: list[Chat]) -> int:
    return sum(len(telegram.messages(group.id)) for group in groups)


async def _succeeds(environ: dict[str, str], *command: str) -> None:
    code, out, err = await run_process(environ, *command)
    assert code == 0, f"{command}: {out} {err}"


async def _next_question(
    telegram: FakeTelegram, gateway: Process, group: Chat, bob: User, before: int
) -> tuple[bool, int]:
    """Ask the restored gateway; return whether it answered, and what it sent besides."""
    await gateway.url()
    asked = telegram.say(group, bob, "@tapeway_bot are you back?")["message_id"]
    await telegram.wait_for(lambda it: any(one.reply_to == asked for one in it.messages(group.id)))
    groups = [telegram.chat(group.id - n) for n in range(GROUPS)]
    return True, _sent(telegram, groups) - before - 1


async def _newest(home: Path) -> int:
    """The newest message that is committed; waits for the first."""
    patience = Patience("the first message is committed")
    while True:
        with closing(apsw.Connection(str(home / "tapeway.db"))) as connection:
            newest: int = connection.execute("SELECT coalesce(max(id), 0) FROM inbox").get
        if newest:
            return newest
        await patience.pause()


def _counted(folder: Path, until: int) -> tuple[tuple[int, int], int, int]:
    with closing(apsw.Connection(str(folder / "new" / "tapeway.db"))) as connection:
        connection.execute("ATTACH ? AS old", (str(folder / "old" / "tapeway.db"),))
        accepted = connection.execute("SELECT count(*) FROM old.inbox").get
        early = "SELECT count(*) FROM old.inbox WHERE id <= ?"
        missing = connection.execute(MISSING, {"until": until}).get
        held = "SELECT count(*) FROM {} WHERE status = 'held'"
        rows = [connection.execute(held.format(box)).get for box in ("main.inbox", "main.outbox")]
        return (accepted, connection.execute(early, (until,)).get), missing, sum(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=100, help="messages per second")
    wanted = parser.parse_args()
    with TemporaryDirectory() as folder:
        found = anyio.run(soak, Path(folder), wanted.seconds * wanted.rate, 1 / wanted.rate)
    print(found)
    if found.missing or found.again or found.twice or not found.answered:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
