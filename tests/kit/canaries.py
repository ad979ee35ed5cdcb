"""Canaries in every gateway of the suite: no secret, and no reasoning, stands where it must not.

Whatever secrets a gateway has, of the test or of `canaries`, are searched for when it ends: in its
files, in its log, in `/health/ready`, and in what everybody around it heard. Reasoning may stand
in an entry's `meta.wire` only, and in requests to the model that made it.
"""

from __future__ import annotations

import base64
import logging
import re
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import anyio
import orjson
import structlog

from gateway.redaction.known_secrets import secrets_of
from gateway.settings import Settings
from tape.entry import Entry, to_line
from tests.fakes.base.traffic import THOUGHTS, WITNESSES

KEY: Final = "sk-canary+of/the=model?9f2c&more"
SET: Final[Mapping[str, str]] = {
    "SEARCH__API_KEY": "sk-canary-of+the/embeddings=4b1d",
    "TELEGRAM__WEBHOOK_SECRET": "canary-of-the-webhook-8d02",
}
"""What every gateway gets for the secrets that its test does not set."""

TOKENS: Final[Mapping[str, str]] = {
    "TELEGRAM__TOKEN": "987654321:AAcanaryOfTelegramIsNowhere-5e0f_x",
    "DISCORD__TOKEN": "MTIzNDU2Nzg5.canary.of-discord-is-nowhere-3c9a",
    "SLACK__BOT_TOKEN": "xoxb-77-canary-of-slack-s-bot-20fd",
    "SLACK__SIGNING_SECRET": "canary-of-slack-s-signature-61aa",
    "SLACK__CLIENT_SECRET": "canary-of-slack-s-client-c7e3",
    "SLACK__APP_TOKEN": "xapp-1-canary-of-slack-s-app-94be",
}
"""For platforms that a test does not start: with a token, they would be started."""

BY_DESIGN: Final = frozenset({"gateway.json", ".env", "tapeway.toml", "ballast"})
"""Files that hold a secret by design, and one of a gigabyte that holds zeros."""

SHORTEST: Final = 8
HEALTH_SECONDS: Final = 1.0


def forms(secret: str) -> Iterator[bytes]:
    """Yield a secret plain, as a part of base64 text wherever it begins, and URL-encoded."""
    yield from {secret.encode(), orjson.dumps(secret)[1:-1]}
    for safe in ("", "/"):
        encoded = quote(secret, safe=safe)
        lower = re.sub("%..", lambda found: found[0].lower(), encoded)
        yield from {encoded.encode(), lower.encode()}
    for skipped in range(3):
        raw = b"\0" * skipped + secret.encode()
        whole = raw[: len(raw) // 3 * 3]
        text = base64.b64encode(whole)[4 if skipped else 0 :]
        yield from {text, text.translate(bytes.maketrans(b"+/", b"-_"))}


class LeakFound(AssertionError):
    """A canary stood where it must not."""


@dataclass
class Canaries:
    """The canaries of one gateway, and where they were found."""

    secrets: Iterable[str]
    found: list[str] = field(default_factory=list)
    _forms: dict[bytes, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        fit = {secret for secret in self.secrets if len(secret) >= SHORTEST}
        self._forms = {form: secret for secret in fit for form in forms(secret)}

    def search(self, where: str, data: bytes, *, thoughts: bool = True) -> None:
        """Search some bytes for secrets, and for reasoning."""
        self.found += [
            f"{where}: the secret {secret!r} as {form!r}"
            for form, secret in self._forms.items()
            if form in data
        ]
        if thoughts:
            self.found += [f"{where}: the reasoning {c!r}" for c in THOUGHTS if c.encode() in data]

    def search_home(self, home: Path, design: Iterable[Path] = ()) -> None:
        """Search the files of an instance."""
        exempt = {path.absolute() for path in design}
        for path in sorted(home.rglob("*")) if home.is_dir() else ():
            if path.name in BY_DESIGN or path.absolute() in exempt or not path.is_file():
                continue
            with suppress(OSError):
                data = path.read_bytes()
                self.search(path.name, data, thoughts=False)
                if any(canary.encode() in data for canary in THOUGHTS):
                    self.search(f"{path.name} beside meta.wire", b"\n".join(_without_wire(path)))

    def search_traffic(self) -> None:
        """Search what everybody around the gateway heard."""
        for witness in WITNESSES:
            name = type(witness).__name__
            self.search(name, witness.heard())
            for asked in witness.asked():
                self.search(name, asked.body, thoughts=False)
                self.found += [
                    f"{name}: {asked.model} was sent the reasoning {canary!r} of {makers}"
                    for canary, makers in THOUGHTS.items()
                    if canary.encode() in asked.body and (asked.server, asked.model) not in makers
                ]

    def check(self) -> None:
        """Fail the test if anything was found."""
        if self.found:
            raise LeakFound("\n".join(dict.fromkeys(self.found)))


def by_design(settings: Settings) -> list[Path]:
    """Return the files of the settings that hold a secret by design."""
    files = (Path(".env"), settings.http.token_file, settings.slack.installations)
    return [settings.home_path / file.expanduser() for file in files if file]


def without_wire(entries: Iterable[Entry]) -> bytes:
    """Return the lines of entries, without what is kept for the provider."""
    lines = (orjson.loads(to_line(entry)) for entry in entries)
    return b"\n".join(orjson.dumps(_cut(line)) for line in lines)


def _cut(line: dict[str, Any]) -> dict[str, Any]:
    meta = {name: value for name, value in line.get("meta", {}).items() if name != "wire"}
    return {**line, "meta": meta}


def _without_wire(path: Path) -> Iterator[bytes]:
    """Yield the content of a file: the cells of a database, or lines."""
    if path.suffix == ".jsonl":
        yield from (orjson.dumps(_cut(orjson.loads(it))) for it in path.read_bytes().splitlines())
    elif path.read_bytes()[:15] == b"SQLite format 3":
        yield from _cells(path)
    elif not path.name.endswith(("-wal", "-shm")):  # of a database that is read as a whole
        yield path.read_bytes()


def _cells(path: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.text_factory = bytes
        tables = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        for name, sql in tables.fetchall():
            if b"VIRTUAL" in (sql or b"").upper():
                continue  # its own tables are listed too
            for row in database.execute(f'SELECT * FROM "{name.decode()}"'):
                yield from map(_cell, row)


def _cell(value: object) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode()
    with suppress(ValueError, AttributeError, TypeError):
        found = orjson.loads(value)
        return orjson.dumps(_cut({"meta": found}) if "wire" in found else found)
    return value


class _Kept(logging.Handler):
    """Keeps the lines of libraries, and is the last of structlog's processors for ours."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def __call__(self, _logger: Any, _method: str, line: Any) -> Any:
        self.lines.append(str(line))
        return line


@contextmanager
def _logged() -> Iterator[list[str]]:
    """Keep what is logged, where it leaves for the terminal."""
    kept = _Kept()
    processors = structlog.get_config()["processors"]
    processors.append(kept)
    logging.getLogger().addHandler(kept)
    try:
        yield kept.lines
    finally:
        logging.getLogger().removeHandler(kept)
        if kept in processors:
            processors.remove(kept)


class Watch:
    """Watches one gateway while it runs in this process."""

    def __init__(self, settings: Settings) -> None:
        self.canaries = Canaries(secrets_of(settings))
        self._token = settings.http.token.get_secret_value()

    async def ask_health(self, url: str) -> None:
        """Search what `/health/ready` says, in full."""
        login = f"Authorization: Bearer {self._token}\r\n" if self._token else ""
        with suppress(OSError, anyio.EndOfStream, anyio.BrokenResourceError):
            with anyio.move_on_after(HEALTH_SECONDS):
                place = urlsplit(url)
                stream = await anyio.connect_tcp(place.hostname or "", place.port or 0)
                async with stream:
                    await stream.send(
                        f"GET /health/ready HTTP/1.1\r\nHost: {place.netloc}\r\n{login}"
                        "Connection: close\r\n\r\n".encode()
                    )
                    async for data in stream:
                        self.canaries.search("health", data)


@asynccontextmanager
async def watched(settings: Settings) -> AsyncIterator[Watch]:
    """Watch a gateway with these settings; a canary that got out fails the test in the end."""
    watch = Watch(settings)
    with _logged() as lines:
        yield watch
    watch.canaries.search("log", "\n".join(lines).encode())
    watch.canaries.search_home(settings.home_path, by_design(settings))
    watch.canaries.search_traffic()
    watch.canaries.check()
