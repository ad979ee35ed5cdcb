"""Load the plugins and call their hooks without side effects: `python -m`, run by the doctor."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial

import anyio
import orjson
import typer

from channels.checkup import CheckResult
from gateway.doctor import troubles
from gateway.doctor.checks.plugins import CHECK, MARK
from gateway.doctor.results import ill, noted
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
    answer = {
        "failures": failures,
        "findings": [str(finding) for finding in runtime.findings],
        "channels": anyio.run(_examine_channels, runtime),
    }
    sys.stdout.buffer.write(MARK + orjson.dumps(answer, default=str))
    sys.stdout.flush()
    os._exit(0)  # whatever a plugin has started, such as a thread


async def _examine_channels(runtime: HookRuntime) -> list[CheckResult]:
    """Have each channel of a plugin examine itself, if it has a method for that."""
    found: list[CheckResult] = []
    for channel in [one for some in await runtime.call_many("provide_channels") for one in some]:
        if not hasattr(channel, "examine"):
            found.append(noted(CHECK, f"channel {channel.name}: loaded, not examined"))
            continue
        try:
            found += [replace(one) for one in (await channel.examine()).results]
        except Exception as cause:
            says = f"channel {channel.name}: examine raised {cause!r}"
            found.append(ill(CHECK, troubles.PLUGIN_FAULTY, says, "warning"))
    return found


if __name__ == "__main__":
    main()
