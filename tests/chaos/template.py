"""A process that has loaded what a gateway loads, and becomes one as often as it is told to.

It has neither a thread nor an event loop, so that a fork of it is as good as a new interpreter,
without the second or two that the imports take. It reads a line of JSON for each gateway to start
(`environ`, `log`) and writes one when it has started (`pid`) and one when it has ended (`code`);
a gateway's number is its own again only once the reader has said so (`reap`). Where the reader is
gone, what still runs is killed.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import threading
from contextlib import suppress
from importlib import import_module, invalidate_caches
from typing import Any, Final

from agent.models.registry import MODELS
from channels.registry import CHANNELS
from gateway.cli.main import main

_LATER: Final = (
    "anyio._backends._asyncio",
    "tests.chaos.tool",
    "gateway.cli.plugin_commands",
    "gateway.cli.service.serve",
    "gateway.cli.runner",
    "truststore",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)
"""What a gateway loads only as it starts, beside its channels and its model."""

_CONTROL: Final = 0
_TOLD: Final = 1


class _Template:
    """The gateways that were started and have not been reaped."""

    def __init__(self) -> None:
        self._children: set[int] = set()
        self._ended: set[int] = set()
        self._woken, self._wake = os.pipe()
        self._read = b""

    def serve(self) -> bool:
        """Do what is told until nobody tells anything; True in a process that is a gateway now."""
        os.set_blocking(self._wake, False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._wake)
        while True:
            ready, _, _ = select.select([_CONTROL, self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
                self._tell_ends()
            if _CONTROL in ready:
                found = os.read(_CONTROL, 65536)
                if not found:
                    self._end()
                    return False
                if any(self._do(order) for order in self._orders(found)):
                    return True

    def _orders(self, found: bytes) -> list[dict[str, Any]]:
        *whole, self._read = (self._read + found).split(b"\n")
        return [json.loads(order) for order in whole]

    def _do(self, order: dict[str, Any]) -> bool:
        if "reap" in order:
            self._children.discard(order["reap"])
            self._ended.discard(order["reap"])
            os.waitpid(order["reap"], 0)
            return False
        pid = os.fork()
        if not pid:
            self._become(order)
            return True
        self._children.add(pid)
        _tell({"id": order["id"], "pid": pid})
        return False

    def _become(self, order: dict[str, Any]) -> None:
        """Be what the entry point of a new interpreter would find."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(self._woken)
        os.close(self._wake)
        os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for own, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(own, target)
        os.close(nothing)
        os.close(log)
        os.environ.clear()
        os.environ.update(order["environ"])
        sys.path[1:1] = filter(None, order["environ"].get("PYTHONPATH", "").split(os.pathsep))
        invalidate_caches()
        sys.argv = ["tapeway", "gateway"]

    def _tell_ends(self) -> None:
        for pid in self._children - self._ended:
            flags = os.WEXITED | os.WNOWAIT | os.WNOHANG
            ended = os.waitid(os.P_PID, pid, flags)
            if ended is not None:
                self._ended.add(pid)
                killed = ended.si_code != os.CLD_EXITED
                code = -ended.si_status if killed else ended.si_status
                _tell({"ended": pid, "code": code})

    def _end(self) -> None:
        for pid in self._children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _tell(what: dict[str, Any]) -> None:
    os.write(_TOLD, json.dumps(what).encode() + b"\n")


def load() -> None:
    """Load all that a gateway does, and leave it out of every collection of garbage."""
    targets = [*MODELS.values(), *(each.target for each in CHANNELS.values())]
    for name in [*_LATER, *(target.partition(":")[0] for target in targets)]:
        import_module(name)
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, threading.enumerate()


if __name__ == "__main__":
    load()
    _tell({"loaded": len(sys.modules)})
    if _Template().serve():
        main()
