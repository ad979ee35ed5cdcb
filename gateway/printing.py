"""The one way to standard output and standard error: what is printed passes the redactor.

`print_out` and `print_err` also take out what looks like a secret. `print_words` takes out only the
gateway's own secrets, since it prints what people said; `print_secret` prints what its caller was
asked for. `redact_streams` has everybody else's output pass the redactor, too: the command line's
own errors, tracebacks, and what plugins print.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, Final, TextIO, cast

from gateway.redaction.redactor import Redactor

MAX_HELD_CHARACTERS: Final = 16_384
"""Maximum characters of a line that is held back until it is complete."""

_redactors: Final[list[Redactor]] = [Redactor()]
"""The one in use; before the settings are known, it knows no secret but how they look."""


def redact_with(redactor: Redactor) -> None:
    """Use this redactor for everything that is printed from now on."""
    _redactors[:] = [redactor]


def redactor_in_use() -> Redactor:
    return _redactors[0]


def print_out(text: str = "", *, end: str = "\n", flush: bool = False) -> None:
    """Print to standard output, without secrets and what looks like one."""
    _put(sys.stdout, redactor_in_use().line(text) + end, flush=flush)


def print_words(
    text: str, *, end: str = "\n", flush: bool = False, to: TextIO | None = None
) -> None:
    """Print what people said, without the gateway's own secrets; to standard output by default."""
    _put(to or sys.stdout, redactor_in_use().clean(text) + end, flush=flush)


def print_secret(text: str) -> None:
    """Print a secret to standard output, for whoever asked for it by name."""
    _put(sys.stdout, f"{text}\n")


def print_err(text: str = "", *, end: str = "\n") -> None:
    """Print to standard error, without secrets and what looks like one; raises no OSError."""
    with suppress(OSError, ValueError):  # closed, or a full disk: there is nowhere to say it
        _put(sys.stderr, redactor_in_use().line(text) + end, flush=True)


def redact_streams() -> None:
    """Have everything that this process writes by Python's streams pass the redactor."""
    sys.stdout = cast(TextIO, RedactedFile(sys.stdout))
    sys.stderr = cast(TextIO, RedactedFile(sys.stderr, OSError, ValueError))


class RedactedFile:
    """A standard stream for others: it writes whole lines, without secrets.

    A line is held back until it ends or is flushed, since a secret may come in pieces; so is a
    private key of several lines. Everything else is the stream's own. `ignored` errors are.
    """

    def __init__(self, stream: TextIO, *ignored: type[Exception]) -> None:
        self.stream = stream
        self.buffer = _RedactedBytes(self)
        self._ignored = ignored
        self._held = ""

    def write(self, text: str) -> int:
        if not isinstance(text, str):  # the command line asks so whether it may write bytes
            raise TypeError(f"a string is needed, not {type(text).__name__}")
        self._held += text
        whole = self._held.rfind("\n") + 1
        if _is_open_key(self._held) or not whole:
            whole = len(self._held) if len(self._held) > MAX_HELD_CHARACTERS else 0
        ready, self._held = self._held[:whole], self._held[whole:]
        self._put(ready)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self.release()
        with suppress(*self._ignored):
            self.stream.flush()

    def release(self) -> None:
        """Write what is held back."""
        held, self._held = self._held, ""
        self._put(held)

    def _put(self, text: str) -> None:
        if text:
            with suppress(*self._ignored):
                _write(self.stream, redactor_in_use().line(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _RedactedBytes:
    """The bytes below a stream, which pass the redactor as text."""

    def __init__(self, file: RedactedFile) -> None:
        self._file = file

    def write(self, data: bytes) -> int:
        text = bytes(data).decode("utf-8", "surrogateescape")
        self._file.flush()
        clean = redactor_in_use().line(text).encode("utf-8", "surrogateescape")
        self._file.stream.buffer.write(clean)
        return len(data)

    def flush(self) -> None:
        self._file.stream.buffer.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file.stream.buffer, name)


def raw(stream: TextIO | RedactedFile) -> TextIO:
    """Return the stream below one that passes the redactor."""
    return stream.stream if isinstance(stream, RedactedFile) else stream


def _put(stream: TextIO | RedactedFile, text: str, *, flush: bool = False) -> None:
    if isinstance(stream, RedactedFile):
        stream.release()
        stream = stream.stream
    _write(stream, text)
    if flush:
        stream.flush()


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:  # the terminal's encoding lacks a character
        encoding = stream.encoding
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _is_open_key(text: str) -> bool:
    begun = text.rfind("-----BEGIN ")
    return begun >= 0 and "PRIVATE KEY" in text[begun:] and "-----END " not in text[begun:]
