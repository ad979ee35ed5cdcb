"""A process that has loaded what `tapeway gateway` loads, and becomes one for each request.

A fork of it is as good as a new interpreter, without the second that the imports take. A request
comes over a socket with four descriptors: standard input, output and error, and one to which the
exit code goes in the end (negative for a signal). The answer is the process id.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import select
import signal
import socket
import sys
import termios
import threading
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


def serve(control: socket.socket) -> bool:
    """Fork until the other end closes; return True in a process that is a gateway now."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of whoever interrupts the tests
    signal.set_wakeup_fd(wake)
    ends: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _report(ends)
        if control.fileno() in ready:
            found, given, _, _ = socket.recv_fds(control, 1 << 20, 4)
            if not found:
                for pid in ends:
                    os.kill(pid, signal.SIGKILL)
                return False
            pid = os.fork()
            if not pid:
                for own in (control.detach(), woken, wake, *ends.values()):
                    os.close(own)
                _become(json.loads(found), given)
                return True
            for descriptor in given[:3]:
                os.close(descriptor)
            ends[pid] = given[3]
            control.send(str(pid).encode())


def _report(ends: dict[int, int]) -> None:
    for pid in list(ends):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            end = ends.pop(pid)
            os.write(end, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(end)


def _become(request: dict[str, Any], given: list[int]) -> None:
    """Be what the entry point of a new interpreter would find."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(given[:3]):
        os.dup2(descriptor, number)
    for descriptor in given:
        os.close(descriptor)
    if request.get("at_terminal"):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(request["environ"])
    sys.path[1:1] = filter(None, request["environ"].get("PYTHONPATH", "").split(os.pathsep))
    invalidate_caches()
    sys.argv = ["tapeway", *request["arguments"]]


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
    if serve(socket.socket(fileno=int(sys.argv[1]))):
        main()
