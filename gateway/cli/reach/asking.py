"""Run a command beside a running gateway, without settings, plugins, log and event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from gateway.cli.reach.known_home import KnownHome
from gateway.cli.screen import discard_output, finish_output, print_note
from gateway.errors import GatewayError


def run_beside(
    work: Callable[..., Coroutine[Any, Any, int]], home: KnownHome, *arguments: Any
) -> int:
    """Run a coroutine that never suspends, and return its exit code; errors become sentences."""
    try:
        work(home, *arguments).send(None)
    except StopIteration as done:
        finish_output()
        return int(done.value)
    except BrokenPipeError:
        return discard_output()
    except KeyboardInterrupt:
        return 130
    except GatewayError as cause:
        print_note(f"tapeway: {cause}")
        return cause.exit_code
    raise AssertionError("this command waits for more than the gateway: use `run`")
