"""Logging: named events with keys and values, as text on a terminal and as JSON elsewhere.

Going through structlog's bridge to the standard library would take five times as long.
"""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from gateway.printing import raw, redact_with, redactor_in_use
from gateway.redaction.redactor import Redactor
from gateway.settings import LogSettings
from tape.errors import StoreUnavailable, TapeError

# structlog would load rich, a fifth of a start, for the tracebacks that nobody may print here.
_rich: Final = sys.modules.get("rich")
sys.modules["rich"] = None  # type: ignore[assignment]
try:
    import structlog
finally:
    if _rich is None:
        del sys.modules["rich"]
    else:
        sys.modules["rich"] = _rich

if TYPE_CHECKING:
    from structlog.typing import EventDict, FilteringBoundLogger, WrappedLogger

SELDOM_SECONDS: Final = 60.0
_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def set_up_logs(settings: LogSettings, redactor: Redactor | None = None) -> None:
    """Configure the log, and have all that is printed pass its redactor; when a command starts."""
    redactor = redactor or Redactor()
    redact_with(redactor)
    redact = redactor.line
    as_text = settings.format == "text" or (settings.format == "auto" and sys.stderr.isatty())
    lines = LossyLines(_say_dropped)
    ends: list[Any]
    if as_text:
        # Plain tracebacks only: with local variables, keys and tokens would appear in the log.
        plain = structlog.dev.plain_traceback
        colors = sys.stderr.isatty()
        ends = [
            structlog.dev.ConsoleRenderer(colors=colors, pad_event_to=0, exception_formatter=plain)
        ]
    else:
        ends = [structlog.processors.format_exc_info, _json]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            Seldom(),
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S" if as_text else "iso", utc=not as_text),
            *ends,
            lambda _logger, _method, line: redact(str(line)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[settings.level]),
        logger_factory=lambda *_: _LineLogger(lines),
        cache_logger_on_first_use=False,
    )
    # Libraries log through the standard library; only their warnings matter here.
    handler = logging.StreamHandler(lines)
    handler.setFormatter(_RedactingFormatter(redact))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def hide_in_logs(*secrets: str) -> None:
    """Take these secrets out of all further lines, too."""
    redactor_in_use().learn(*secrets)


class _RedactingFormatter(logging.Formatter):
    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(levelname)s %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def _say_dropped(lines: int) -> None:
    get_log().warning("log.lines_dropped", lines=lines)


class LossyLines:
    """Writes the log's lines to standard error; a line that cannot be written is dropped.

    dropped  how many were, and the log does not say it yet

    `says` logs their number, as soon as a line could be written again.
    """

    def __init__(self, says: Callable[[int], None]) -> None:
        self.dropped = 0
        self._says = says
        self._is_saying = False
        self._is_cut = False
        self._lock = RLock()
        self._stream = raw(sys.stderr)

    def write(self, line: str) -> int:
        with self._lock:
            try:
                self._put("\n" * self._is_cut + line)
            except (OSError, ValueError):  # nobody reads it, the disk is full, it is closed
                self.dropped += 1
            else:
                self._say_dropped()
        return len(line)

    def _say_dropped(self) -> None:
        lost = self.dropped
        if not lost or self._is_saying:
            return
        self._is_saying = True
        try:
            self._says(lost)
        finally:
            self._is_saying = False
        self.dropped = 0 if self.dropped == lost else lost  # or it was dropped, too

    def flush(self) -> None:
        """Do nothing: each line is written at once."""

    def _put(self, text: str) -> None:
        # Without a buffer: one that cannot be written would keep the line, and raise again later.
        self._stream.flush()
        try:
            descriptor = self._stream.fileno()
        except (OSError, ValueError):  # it is no file, as in a test
            self._stream.write(text)
            return
        data = text.encode(self._stream.encoding or "utf-8", "backslashreplace")
        while data:
            written = os.write(descriptor, data)
            self._is_cut = written < len(data)
            data = data[written:]


class Seldom:
    """Lets through one line a minute of all that say that the database is away.

    Whoever waits for it says so each time, hundreds of times a minute in all. A line that is let
    through says with `more` how many were not.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._said_at = -math.inf
        self._more = 0

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        why = event.get("why")
        if not isinstance(why, TapeError):
            return event
        event["why"] = str(why)
        if isinstance(why, StoreUnavailable):
            now = self._monotonic()
            if now - self._said_at < SELDOM_SECONDS:
                self._more += 1
                raise structlog.DropEvent
            if self._more:
                event["more"] = self._more
            self._said_at, self._more = now, 0
        return event


class _LineLogger:
    """Takes lines from structlog."""

    def __init__(self, lines: LossyLines) -> None:
        self._lines = lines

    def msg(self, line: str) -> None:
        self._lines.write(f"{line}\n")

    debug = info = warning = error = critical = msg


def _json(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    try:
        return orjson.dumps(event, default=str).decode()
    except TypeError:  # somebody else's text with half of a surrogate pair, or a huge number
        return json.dumps(event, default=str)


def get_log() -> FilteringBoundLogger:
    return cast("FilteringBoundLogger", structlog.get_logger())


@contextmanager
def logged_with(**values: Any) -> Iterator[None]:
    """Put these values into every line that is logged meanwhile, by this task."""
    with structlog.contextvars.bound_contextvars(**values):
        yield
