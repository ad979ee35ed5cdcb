"""Ask each model in use one short question, through the client that answers use."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final

import anyio

from agent.errors import KeyMissing, ModelError, NetworkUnusable
from agent.model import ModelReply, ModelRequest
from agent.models.learned import Learned
from agent.models.offline import OFFLINE
from agent.models.probe import Probe, Probed, ProbedKind, ProbedModel
from agent.models.registry import make_probed
from agent.models.request_body import TOOLS
from channels.checkup import CheckResult, State, Trouble
from channels.clock import seconds_ahead
from gateway.doctor import troubles
from gateway.doctor.results import SECONDS_AHEAD, ill, well
from gateway.doctor.subject import Subject
from gateway.settings import Settings

CHECK: Final = "model"
MAX_SECONDS: Final = 50.0
REQUEST: Final = ModelRequest(
    [{"role": "user", "content": "Answer with the word ok."}],
    tools=[
        {
            "type": "function",
            "function": {
                "name": "nothing",
                "description": "Does nothing; never call it.",
                "parameters": {"type": "object", "properties": {}},
            },
        }
    ],
)
TROUBLES: Final[Mapping[ProbedKind, Trouble]] = {
    "address": troubles.MODEL_ADDRESS,
    "broken": troubles.MODEL_NO_API,
    "busy": troubles.MODEL_BUSY,
    "empty": troubles.MODEL_EMPTY_ACCOUNT,
    "fails": troubles.MODEL_FAILS,
    "key": troubles.MODEL_KEY_REFUSED,
    "moved": troubles.MODEL_MOVED,
    "overflow": troubles.MODEL_WINDOW_TOO_SMALL,
    "proxy": troubles.NETWORK_PROXY_DOWN,
    "slow": troubles.MODEL_SLOW,
    "tls": troubles.MODEL_TLS,
    "unknown": troubles.MODEL_UNKNOWN,
    "unreachable": troubles.MODEL_UNREACHABLE,
}
_LATE: Final = re.compile(r"timed out|timeout|stopped for \d", re.IGNORECASE)


async def check_model(subject: Subject) -> list[CheckResult]:
    settings = subject.settings
    if settings.agent.model == OFFLINE:
        given = ("OPENAI_API_KEY", "TAPEWAY_AGENT__API_KEY", "TAPEWAY_AGENT__BASE_URL")
        named = next((name for name in given if subject.variables.get(name)), "")
        says = f"{named} is set, but TAPEWAY_AGENT__MODEL is not" if named else "offline"
        return [ill(CHECK, troubles.MODEL_OFFLINE, says, "note")]
    found: dict[str, list[CheckResult]] = {name: [] for name in settings.agent.models()}

    async def check(name: str) -> None:
        found[name] = await _check(settings, name)

    async with anyio.create_task_group() as group:
        for name in found.keys() - {OFFLINE}:
            group.start_soon(check, name)
    return [one for results in found.values() for one in results]


async def _check(settings: Settings, name: str) -> list[CheckResult]:
    agent, learned = settings.agent.model_copy(update={"model": name}), Learned()
    try:
        model = make_probed(agent, settings.model(name), learned)
    except NetworkUnusable:
        return []  # the check of the settings names the variable
    except KeyMissing as cause:
        return [ill(CHECK, troubles.MODEL_KEY_MISSING, str(cause))]
    try:
        found = await _ask(settings, model, learned)
    finally:
        with anyio.CancelScope(shield=True):
            await model.aclose()
    if name == settings.agent.model:
        return found
    # The first model answers without it.
    return [
        replace(
            one, state="warning" if one.trouble else one.state, says=f"fallback {name}: {one.says}"
        )
        for one in found
    ]


async def _ask(settings: Settings, model: ProbedModel, learned: Learned) -> list[CheckResult]:
    probe = Probe(model, time.monotonic)
    seen = await probe.look()
    ahead = seconds_ahead(model.date)
    facts: dict[str, Any] = {} if ahead is None else {SECONDS_AHEAD: ahead}
    started = time.monotonic()
    asked = seen or await _answer(settings, probe, model)
    if asked is not None:
        state: State = "warning" if asked.kind == "busy" else "failure"
        return [ill(CHECK, TROUBLES[asked.kind], asked.sentence, state, **facts)]
    seconds = time.monotonic() - started
    facts |= {"seconds": round(seconds, 2), "server": model.server}
    says = f"{model.name} at {model.server.rstrip('/')} answered in {seconds:.1f} s"
    return [well(CHECK, says, **facts), *_limits(settings, probe, model, learned)]


async def _answer(settings: Settings, probe: Probe, model: ProbedModel) -> Probed | None:
    """Ask for a whole answer; return what went wrong, or None."""
    seconds = min(MAX_SECONDS, settings.model(model.name).read_timeout)
    late = Probed(f"{model.name} did not answer within {seconds:g} s", kind="slow")
    try:
        with anyio.fail_after(seconds + 1):
            async with aclosing(model.stream(REQUEST)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, ModelReply):
                        return None
    except TimeoutError:
        return late
    except ModelError as cause:
        found = probe.remedy(cause)
        is_late = found.kind in ("unreachable", "broken") and _LATE.search(str(cause))
        return late if is_late or found.kind == "slow" else found
    return Probed(f"{model.name} ended its answer without one", kind="broken")


def _limits(
    settings: Settings, probe: Probe, model: ProbedModel, learned: Learned
) -> list[CheckResult]:
    found = []
    if any(lesson.what == TOOLS for lesson in learned.lessons()):
        says = f"{model.name} refuses tools, so it gets none"
        found.append(ill(CHECK, troubles.MODEL_NO_TOOLS, says, "warning"))
    budget = settings.model(model.name).prompt_budget(settings.context.prompt_tokens)
    if 0 < probe.window < budget:
        says = f"{model.name} has a context of {probe.window} tokens, prompts may have {budget}"
        found.append(ill(CHECK, troubles.MODEL_WINDOW_UNSET, says, "warning"))
    return found
