"""Load the plugins and call their hooks without side effects: `python -m`, run by the doctor."""

from __future__ import annotations

import os
import sys
from functools import partial

import anyio
import orjson
import typer

from gateway.doctor.checks.plugins import MARK
from gateway.hooks.check import check_plugins
from gateway.hooks.loader import load_plugins
from gateway.hooks.runtime import HookRuntime
from gateway.logs import set_up_logs
from gateway.settings import LogSettings


def main() -> None:
    set_up_logs(LogSettings(level="error", format="text"))
    runtime = HookRuntime()
    failures = [(one.name, one.error) for one in load_plugins(runtime)]
    # A tape store would be opened, perhaps next to the one of a gateway that starts just now.
    anyio.run(partial(check_plugins, runtime, typer.Typer(), with_store=False))
    findings = [str(finding) for finding in runtime.findings]
    sys.stdout.buffer.write(MARK + orjson.dumps({"failures": failures, "findings": findings}))
    sys.stdout.flush()
    os._exit(0)  # whatever a plugin has started, such as a thread


if __name__ == "__main__":
    main()
