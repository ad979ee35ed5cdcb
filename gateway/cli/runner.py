"""Run a command: load the settings, set up the log, and print errors as sentences."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from traceback import format_exception
from typing import Any, Concatenate, ParamSpec

import anyio

from agent.errors import AgentError, KeyMissing
from gateway.cli.screen import discard_output, print_note
from gateway.doctor.troubles import DISK_FULL
from gateway.errors import GatewayError, SettingsError
from gateway.logs import get_log, set_up_logs
from gateway.printing import print_err, redact_with
from gateway.redaction.known_secrets import secrets_as_written, secrets_of
from gateway.redaction.redactor import Redactor
from gateway.settings import LogSettings, Settings, load_with_sources
from gateway.settings.files import (
    combined,
    ignored,
    open_files,
    remember,
    settings_files,
    with_remembered,
)
from tape.errors import TapeError

P = ParamSpec("P")


def run_command(
    work: Callable[Concatenate[Settings, P], int | Coroutine[Any, Any, int]],
    *arguments: P.args,
    **options: P.kwargs,
) -> int:
    """Run a sync or async command with the settings, and return its exit code."""
    # Except for the gateway, commands print for people, so they log only warnings and errors.
    quiet = work.__name__ != "serve"
    try:
        refuse_django_channels()
        variables = with_remembered(os.environ) if quiet else dict(os.environ)
        loaded = load_with_sources(variables)
        settings = loaded.settings
        log = _quiet(settings.log) if quiet else settings.log
        set_up_logs(log, Redactor(secrets_of(settings)))
        _name_files(settings, variables, quiet=quiet)
        for sentence in loaded.notices():
            get_log().warning("settings.renamed", what=sentence)
        code = _run(partial(work, settings, *arguments, **options))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except Exception as group:
        cause = _single(group)
        if isinstance(cause, SettingsError):  # so no secret is known yet
            redact_with(Redactor(secrets_as_written(os.environ)))
        if quiet and isinstance(cause, BrokenPipeError):
            return discard_output()
        return _print_error(cause)


def set_up_for_plugins() -> None:
    """Set up the log before a plugin's code runs for a command; what is wrong is not said here."""
    variables = with_remembered(os.environ)
    secrets, log = secrets_as_written(variables), LogSettings()
    with suppress(GatewayError):
        settings = load_with_sources(variables).settings
        secrets, log = [*secrets, *secrets_of(settings)], settings.log
    set_up_logs(_quiet(log), Redactor(secrets))


def _name_files(settings: Settings, variables: Mapping[str, str], *, quiet: bool) -> None:
    """Name the settings' files that are ignored; a gateway also names those open to others."""
    files = settings_files(variables)
    for sentence in ignored(files, settings.home_path):
        print_note(f"tapeway: {sentence}")
    if not quiet:
        if sentence := combined(files):
            print_note(f"tapeway: {sentence}")
        remember(variables)
        for sentence in open_files(settings.home_path, files):
            get_log().warning("files.open", what=sentence)


def _run(work: Callable[[], int | Coroutine[Any, Any, int]]) -> int:
    result = work()
    if isinstance(result, int):
        return result

    async def finish() -> int:
        return await result

    return anyio.run(finish)


def _single(cause: BaseException) -> BaseException:
    while isinstance(cause, BaseExceptionGroup) and len(cause.exceptions) == 1:
        cause = cause.exceptions[0]
    return cause


def _print_error(cause: BaseException) -> int:
    # Any other error is a bug in Tapeway, so its traceback is printed.
    if not isinstance(cause, (GatewayError, TapeError, AgentError, OSError)):
        print_err("".join(format_exception(cause)), end="")
        return 1
    sentence = str(cause)
    if isinstance(cause, OSError) and cause.errno in (ENOSPC, EDQUOT):
        sentence = f"the disk is full: {DISK_FULL.cause} {DISK_FULL.remedy}"
    elif isinstance(cause, OSError) and cause.filename:  # without Python's [Errno 2]
        sentence = f"{cause.filename}: {cause.strerror}"
    print_note(f"tapeway: {sentence}")
    if isinstance(cause, GatewayError):
        return cause.exit_code
    return 2 if isinstance(cause, KeyMissing) else 1


def _quiet(settings: LogSettings) -> LogSettings:
    level = "error" if settings.level == "error" else "warning"
    return settings.model_copy(update={"level": level})


def refuse_django_channels() -> None:
    """Raise GatewayError if Django Channels is installed: its package is also called `channels`."""
    try:
        distribution("channels")
    except PackageNotFoundError:
        return
    raise GatewayError(
        "Django Channels is installed in this environment and shares the import name `channels`:"
        " install Tapeway in a virtual environment of its own"
    )
