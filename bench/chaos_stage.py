"""One schedule played: the real gateway, killed and started again between fakes that stay."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import apsw
import orjson

from bench.chaos_plan import (
    GROUPS,
    LASTS,
    LINES,
    MODEL,
    PRIVATE,
    REDELIVER,
    TELEGRAM,
    TRAPS,
    Kind,
    Plan,
    Question,
    Trouble,
)
from bench.chaos_tool import MARKS
from bench.stage import USERNAME, distribution
from tests.fakes.openai_script import (
    Call as ToolCall,
)
from tests.fakes.openai_script import (
    CutStream,
    Failure,
    RateLimited,
    Reply,
    Request,
    Text,
    ToolCalls,
)
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_faults import (
    Fault,
    Faults,
    LostAnswer,
    Reset,
    RetryAfter,
    ServerError,
    Slow,
)
from tests.fakes.telegram_http import Outcome
from tests.fakes.telegram_methods import Call
from tests.fakes.telegram_server import FakeTelegram
from tests.fakes.telegram_world import Chat, User
from tests.gateways import ROOT, clean_environ, make_environ

PATIENCE: Final = 90.0
"""So long the gateway may take to be idle once nothing goes wrong any more, seconds."""

RETRIES: Final = 2
_TOKEN: Final = "123456:chaos"
_ASKED: Final = re.compile(r"\b(Q\d{4}) (short|long|tool)\b")
LINE: Final = re.compile(r"\b(Q\d{4})-(\d+)/(\d+)\b")
_ENDS: Final = (0, 130, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)
"""With these a gateway ends that was told to, also while it starts."""

_SENDS: Final = ("sendmessage", "editmessagetext", "sendmessagedraft")


def line(token: str, number: int, count: int) -> str:
    """Return a line of an answer, which names its question and its place."""
    return f"{token}-{number}/{count} the deploy of the billing service went through.\n\n"


def is_final(text: str) -> bool:
    """Tell whether a text has the last line of an answer."""
    return any(number == count for _token, number, count in LINE.findall(text))


@dataclass(slots=True)
class Sent:
    """A message of the bot as it was made; `heard`: its answer was given to the gateway."""

    message_id: int
    chat_id: int
    called_at: float
    applied_at: float
    heard: bool


@dataclass(slots=True)
class Row:
    """What the ledger says of a question, and of what was sent for it."""

    status: str
    lane: str
    sends: list[tuple[str, str, str]]
    """Status, text, and the platform's id of each."""


@dataclass(slots=True)
class Record:
    """What was asked and what came of it."""

    plan: Plan
    home: Path
    chats: list[Chat] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    kills: list[float] = field(default_factory=list)
    texts: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    may_fail: set[str] = field(default_factory=set)
    acts: Counter[str] = field(default_factory=Counter)
    drafts: int = 0
    exits: list[int] = field(default_factory=list)
    stuck: str = ""
    seconds: float = 0.0


class Supervisor:
    """Keeps a gateway running on one home, whatever ends it."""

    def __init__(self, environ: dict[str, str], record: Record) -> None:
        self._environ = clean_environ(environ)
        self.record = record
        self._process: Process | None = None
        self._expected = False
        self._ending = False

    async def run(self) -> None:
        """Start it, again and again, until `end`."""
        with (self.record.home.parent / "gateway.log").open("ab") as log:
            while not self._ending:
                self._expected = False
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "gateway.cli.main",
                    "gateway",
                    env=self._environ,
                    cwd=ROOT,
                    stdout=log,
                    stderr=log,
                )
                try:
                    code = await self._process.wait()
                except asyncio.CancelledError:
                    self._process.kill()
                    raise
                if not self._expected or code not in _ENDS:
                    self.record.exits.append(code)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process that runs now."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        if number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            self._expected = True
        if number == signal.SIGKILL:
            self.record.kills.append(time.monotonic())
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)

    def kill(self) -> None:
        """End it with `kill -9`, at once."""
        self.signal(signal.SIGKILL)

    async def pause(self, seconds: float) -> None:
        """Stop it for a while."""
        self.signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self.signal(signal.SIGCONT)

    async def end(self, running: asyncio.Task[None]) -> None:
        """End it for good."""
        self._ending = True
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGINT)
        try:
            async with asyncio.timeout(15):
                await asyncio.shield(running)
        except TimeoutError:
            self.record.stuck = self.record.stuck or "it does not end"
            self.kill()
            await running


class Traps:
    """Kill points: which are set, and whether a moment is one."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._set: list[list[Any]] = []

    def add(self, trouble: Trouble) -> None:
        """Set one, for the next moment of its kind but `much`."""
        self._set.append([trouble.name, int(trouble.much)])

    def clear(self) -> None:
        """Take all away."""
        self._set.clear()

    def has(self, name: str) -> bool:
        """Tell whether this moment is one; the trap is used up."""
        for trap in self._set:
            if trap[0] == name:
                trap[1] -= 1
                if trap[1] < 0:
                    self._set.remove(trap)
                    return True
        return False

    def springs(self, name: str) -> bool:
        """Kill the gateway where this moment is one, and tell so."""
        sprung = self.has(name)
        if sprung:
            self._supervisor.kill()
        return sprung

    def kill_soon(self, seconds: float) -> None:
        """Kill the gateway a moment later."""
        asyncio.get_running_loop().call_later(seconds, self._supervisor.kill)


class ChaosTelegram(FakeTelegram):
    """A Telegram with kill points, which keeps what the gateway was told of."""

    def __init__(self, record: Record) -> None:
        super().__init__(token=_TOKEN, username=USERNAME)
        self.record = record
        self.traps: Traps | None = None

    def heal(self) -> None:
        """Let nothing go wrong any more."""
        self._faults = Faults()

    def _answer(self, call: Call) -> Outcome | Coroutine[Any, Any, Outcome]:
        name = call.method.lower()
        if name == "getupdates":
            return self._updates(call)
        if name not in _SENDS or self.traps is None:
            return super()._answer(call)
        text = str(call.params.get("text", ""))
        moment = self._moment(name, text)
        if moment == "final" and self.traps.springs("kill-before-final"):
            return None
        mid = moment == "mid" and self.traps.has("kill-mid-long")
        way = len(self.record.kills) % 3
        if mid and way == 0:
            self.traps.kill_soon(0)
            return None
        outcome = super()._answer(call)
        heard = not (
            (moment == "final" and self.traps.springs("kill-after-final"))
            or (moment == "draft" and self.traps.springs("kill-draft"))
        )
        if mid and way == 1:
            self.traps.kill_soon(0)
            heard = False
        if (mid and way == 2) or (moment == "final" and self.traps.has("kill-told-final")):
            self.traps.kill_soon(0.002 + 0.01 * len(self.record.sent) % 0.05)
        self._keep(name, call, heard)
        return outcome if heard else None

    def _keep(self, name: str, call: Call, heard: bool) -> None:
        if name == "sendmessage" and call.ok and call.message_id is not None:
            chat_id = int(call.params["chat_id"])
            now = time.monotonic()
            self.record.sent.append(Sent(call.message_id, chat_id, call.at, now, heard))

    async def _spoilt(self, call: Call, fault: Fault) -> Outcome:
        outcome = await super()._spoilt(call, fault)
        if outcome is None:
            for sent in self.record.sent:
                if sent.called_at == call.at and sent.message_id == call.message_id:
                    sent.heard = False
        return outcome

    def _moment(self, name: str, text: str) -> str:
        found = LINE.findall(text)
        if not found or name == "sendmessagedraft":
            return "draft" if found else ""
        if is_final(text):
            return "final"
        long = int(found[0][2]) == LINES["long"]
        return ("mid" if len(text) > 3_820 else "") if long else "draft"

    async def _updates(self, call: Call) -> Outcome:
        offset = int(call.params.get("offset") or 0)
        confirms = any(update.update_id < offset for update in self.updates.pending)
        if self.traps is not None and confirms:
            if self.traps.springs("kill-accept"):
                return None
            if self.traps.has("kill-confirmed"):
                self.updates.confirm(offset)
                self.traps.kill_soon(0)
                return None
        answer = await self._get_updates(call)
        if self.traps is not None and b'"message"' in answer.body and self.traps.has("kill-handed"):
            self.traps.kill_soon(0.001 * (len(self.record.kills) % 3) ** 3)
        return answer


class Model:
    """What the model says: the lines of an answer, after a tool where it was asked for one."""

    def __init__(self, record: Record, traps: Traps) -> None:
        self.record = record
        self._traps = traps
        self._failures: Counter[str] = Counter()
        self.troubles: list[str] = []

    def __call__(self, request: Request) -> Reply:
        """Answer a request."""
        token, kind = _asked_in(request)
        after_tool = _is_after_tool(request)
        self._traps.springs("kill-tool" if after_tool else "kill-model")
        count = LINES[kind]
        lines = [line(token, number, count) for number in range(1, count + 1)]
        if self.troubles:
            return self._trouble(self.troubles.pop(0), token, lines)
        if kind == "tool" and not after_tool:
            calls = (ToolCall(f"call_{token}", "act", orjson.dumps({"token": token}).decode()),)
            return ToolCalls(calls)
        step = max(1, count // 7)
        pieces = tuple("".join(lines[at : at + step]) for at in range(0, count, step))
        return Text(pieces, delay=0.2)

    def _trouble(self, name: str, token: str, lines: list[str]) -> Reply:
        self._failures[token] += 1
        # A call is tried again only before its stream has begun.
        if "cut" in name or self._failures[token] > RETRIES:
            self.record.may_fail.add(token)
        if name == "model-cut":
            return CutStream(tuple(lines[:2]))
        if name == "model-empty-cut":
            return CutStream()
        if name == "model-rate":
            return RateLimited(0.2)
        return Failure(500, "The server had an error.", type="server_error")


def _asked_in(request: Request) -> tuple[str, Kind]:
    for message in reversed(request.body["messages"]):
        found = _ASKED.findall(str(message["content"])) if message["role"] == "user" else []
        if found:
            return found[-1]  # type: ignore[no-any-return]
    raise RuntimeError(f"no question in {request.body['messages']}")


def _is_after_tool(request: Request) -> bool:
    for message in reversed(request.body["messages"]):
        if message["role"] == "user" and _ASKED.search(str(message["content"])):
            return False
        if message["role"] == "tool":
            return True
    return False


async def play(plans: list[Plan], folder: Path, good: Callable[[Record], bool]) -> list[Record]:
    """Play schedules one after the other on a home in a folder, until one is not good.

    After each the gateway is waited for until it is idle.
    """
    records: list[Record] = []
    first = Record(plans[0], folder / "home")
    telegram = ChaosTelegram(first)
    model = FakeOpenAI()
    async with telegram, model:
        supervisor = Supervisor(_environ(plans[0], folder, telegram, model), first)
        traps = telegram.traps = Traps(supervisor)
        says = model.default = Model(first, traps)
        chats, people = _people(telegram)
        running = asyncio.create_task(supervisor.run())
        await telegram.wait_for(lambda fake: bool(fake.calls_of("getUpdates")))
        for plan in plans:
            record = Record(plan, folder / "home", chats)
            telegram.record = supervisor.record = says.record = record
            records.append(record)
            begun = time.monotonic()
            await _Acting(record, telegram, says, supervisor, people).all()
            telegram.heal()
            traps.clear()
            says.troubles.clear()
            await _idle(record)
            await asyncio.sleep(0.3)
            _read(record, telegram)
            record.seconds = time.monotonic() - begun
            if not good(record):
                break
        await supervisor.end(running)
    return records


class _Acting:
    """Lets the plan happen."""

    def __init__(
        self,
        record: Record,
        telegram: ChaosTelegram,
        model: Model,
        supervisor: Supervisor,
        people: list[User],
    ) -> None:
        self._record = record
        self._telegram = telegram
        self._model = model
        self._supervisor = supervisor
        self._people = people

    async def all(self) -> None:
        """Let everything happen at its moment; returns a moment after the last."""
        begun = time.monotonic()
        plan = self._record.plan
        async with asyncio.TaskGroup() as group:
            for each in plan.happens():
                await asyncio.sleep(max(0.0, begun + each.at - time.monotonic()))
                if isinstance(each, Question):
                    self._ask(each)
                else:
                    self._happen(each, group)
            # What waits for a moment of its own gets time for it.
            left = LASTS + 1.5 - (time.monotonic() - begun)
            await asyncio.sleep(max(0.3, left) if plan.troubles else 0.0)

    def _ask(self, question: Question) -> None:
        chat = self._record.chats[question.place]
        private = question.place < PRIVATE
        user = self._people[question.place if private else PRIVATE + question.person]
        called = "" if private else f"@{USERNAME} "
        self._telegram.say(chat, user, f"{called}{question.token} {question.kind} please")
        self._record.asked.append(question)

    def _happen(self, trouble: Trouble, group: asyncio.TaskGroup) -> None:
        name = trouble.name
        if name in TRAPS:
            assert self._telegram.traps is not None
            self._telegram.traps.add(trouble)
        elif name in TELEGRAM:
            self._telegram.fail(trouble.where, _fault(trouble))
        elif name in MODEL:
            self._model.troubles += [name] * int(trouble.much)
        elif name in REDELIVER:
            made = self._telegram.updates.all
            for update in made[-int(trouble.much) :]:
                self._telegram.updates.redeliver(update.update_id, new_id=name != "redeliver")
        elif name == "pause":
            group.create_task(self._supervisor.pause(trouble.much))
        else:
            number = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "interrupt": signal.SIGINT}
            self._supervisor.signal(number[name])


def _fault(trouble: Trouble) -> Fault:
    name = trouble.name
    if name.startswith("server-"):
        return ServerError(int(name.removeprefix("server-")))
    if name == "retry-after":
        return RetryAfter(int(trouble.much))
    if name == "slow":
        return Slow(trouble.much)
    return LostAnswer() if name == "lost-answer" else Reset()


def _environ(plan: Plan, folder: Path, telegram: FakeTelegram, model: FakeOpenAI) -> dict[str, str]:
    home = folder / "home"
    environ = make_environ(
        home,
        model,
        TELEGRAM__TOKEN=_TOKEN,
        TELEGRAM__BASE_URL=telegram.base_url,
        TELEGRAM__PER_SECOND="0",
        TELEGRAM__GROUP_PER_MINUTE="0",
        ACCESS__MODE="open",
        DELIVERY__AMBIGUOUS=plan.policy,
        AGENT__RETRIES=str(RETRIES),
    )
    environ["PYTHONPATH"] = str(distribution(folder / "plugins", "bench.chaos_tool:Acting"))
    environ[MARKS] = str(folder / "marks.txt")
    return environ


def _people(telegram: FakeTelegram) -> tuple[list[Chat], list[User]]:
    own = [telegram.user(5000 + number, f"Friend {number}") for number in range(PRIVATE)]
    others = [telegram.user(6000 + number, f"Person {number}") for number in range(3)]
    groups = [telegram.group(-1_001_000_000_000 - n, f"Group {n}") for n in range(GROUPS)]
    return [*map(telegram.private_chat, own), *groups], [*own, *others]


async def _idle(record: Record) -> None:
    """Wait until every question and every send is at its end."""
    until = time.monotonic() + PATIENCE
    wanted = {question.token for question in record.asked}
    why = "there is no database"
    while time.monotonic() < until:
        with suppress(apsw.Error):
            rows, still_open = _ledger(record.home)
            left = wanted - rows.keys()
            left |= {token for token in rows if rows[token].status in _OPEN}
            if not left and not still_open:
                return
            why = f"open: questions {sorted(left)}, sends {still_open}"
        await asyncio.sleep(0.1)
    record.stuck = why


_OPEN: Final = ("accepted", "waiting", "taken")


def _ledger(home: Path) -> tuple[dict[str, Row], list[str]]:
    """Return what the ledger says of every question, and the sends that are not at their end."""
    connection = apsw.Connection(
        str(home / "tapeway.db"), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    try:
        rows: dict[str, Row] = {}
        turns: dict[str, str] = {}
        sql = "SELECT payload, status, lane, turn_id FROM inbox ORDER BY id"
        for payload, status, lane, turn_id in connection.execute(sql):
            found = _ASKED.search(str(payload))
            if found:
                rows[found[1]] = Row(str(status), str(lane), [])
                turns[str(turn_id)] = found[1]
        still_open: list[str] = []
        sql = "SELECT payload, status, turn_id, platform_id, idem FROM outbox ORDER BY id"
        for payload, status, turn_id, platform_id, idem in connection.execute(sql):
            if status in ("draft", "pending", "sending"):
                still_open.append(f"{idem} {status}")
            if str(turn_id) in turns:
                sends = rows[turns[str(turn_id)]].sends
                sends.append((str(status), str(payload), str(platform_id)))
        return rows, still_open
    finally:
        connection.close()


def _read(record: Record, telegram: ChaosTelegram) -> None:
    """Keep the end state."""
    own = {question.token for question in record.asked}
    for chat in record.chats:
        messages = telegram.messages(chat.id)
        record.texts[chat.id] = [(message.message_id, message.text) for message in messages]
    with suppress(apsw.Error):
        record.rows = _ledger(record.home)[0]
    marks = record.home.parent / "marks.txt"
    if marks.exists():
        done = marks.read_text().split()
        record.acts.update(token for token in done if token in own)
    shown = telegram.drafts.values()
    record.drafts = sum(any(name in own for name, *_ in LINE.findall(text)) for text in shown)
