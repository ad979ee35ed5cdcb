"""Check the settings: whether they are valid, where they come from, what has no effect."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from agent.models.network import PUBLIC, network_variables, unusable, used_for
from agent.models.offline import OFFLINE
from channels.checkup import CheckResult, State
from gateway.doctor import troubles
from gateway.doctor.results import ill, noted, well
from gateway.doctor.subject import Subject
from gateway.settings import effective_settings, load_with_sources
from gateway.settings.files import SECRETS, ignored
from gateway.settings.sources import PREFIX

CHECK: Final = "settings"
_MISSPELT: Final = re.compile(r" is not a setting\b")
_UNREADABLE: Final = re.compile(r"^(cannot read the settings|--env-file:)")


async def check_settings(subject: Subject) -> list[CheckResult]:
    found: list[CheckResult] = []
    for sentence in subject.wrong.splitlines():
        if _MISSPELT.search(sentence):
            trouble = troubles.SETTINGS_MISSPELT
        elif _UNREADABLE.match(sentence):
            trouble = troubles.SETTINGS_UNREADABLE
        else:
            trouble = troubles.SETTINGS_INVALID
        found.append(ill(CHECK, trouble, sentence))
    if not subject.wrong:
        loaded = load_with_sources(subject.variables)
        places = Counter(
            str(one.path or "the environment")
            for one in effective_settings(loaded)
            if one.origin != "default"
        )
        says = ", ".join(f"{count} from {place}" for place, count in places.items())
        found.append(well(CHECK, f"{says or 'none is set'}; the others are defaults", **places))
        found += [noted(CHECK, sentence) for sentence in loaded.notices()]
    if subject.files is not None:
        found += [
            ill(CHECK, troubles.SETTINGS_IGNORED, sentence, "warning")
            for sentence in ignored(subject.files, subject.home)
        ]
    return [
        *found,
        *_secrets(subject),
        *_django_channels(),
        *_unused(subject),
        *_unpriced(subject),
        *_network(subject),
    ]


def _secrets(subject: Subject) -> Iterator[CheckResult]:
    """Yield what is wrong with files of the secrets folder, which loading skips silently."""
    folder = Path(subject.variables.get(SECRETS) or "/run/secrets").expanduser()
    try:
        paths = sorted(path for path in folder.iterdir() if path.name.upper().startswith(PREFIX))
    except FileNotFoundError:
        return
    except OSError as cause:
        # The usual folder may be another program's; one that is named has something to say.
        state: State = "failure" if subject.variables.get(SECRETS) else "warning"
        yield ill(CHECK, troubles.SETTINGS_SECRET, f"{folder}: {cause.strerror}", state)
        return
    for path in paths:
        if not path.resolve().is_relative_to(folder.resolve()):
            yield ill(CHECK, troubles.SETTINGS_SECRET, f"{path} leads out of its folder")
        elif not os.access(path, os.R_OK):
            yield ill(CHECK, troubles.SETTINGS_SECRET, f"{path} cannot be read")


def _django_channels() -> Iterator[CheckResult]:
    try:
        distribution("channels")
    except PackageNotFoundError:
        return
    says = "Django Channels is installed in this environment"
    yield ill(CHECK, troubles.DJANGO_CHANNELS, says)


def _unused(subject: Subject) -> Iterator[CheckResult]:
    if not subject.known:
        says = "because the settings are wrong, port, search, model and platforms were not checked"
        yield noted(CHECK, says)


def _network(subject: Subject) -> Iterator[CheckResult]:
    """Yield the variables of the network that are set, and what is wrong with them."""
    variables = network_variables(subject.variables)
    public = subject.variables.get("OPENAI_BASE_URL") or PUBLIC
    names = [] if subject.wrong else {*subject.settings.agent.models()} - {OFFLINE}
    servers = [subject.settings.model(name).base_url or public for name in names]
    used = {one for url in servers for one in used_for(url, variables)}
    for one in variables:
        if not (sentence := unusable(one)):
            yield noted(CHECK, f"{one.name}={one.shown()}")
        else:
            state: State = "failure" if one in used or not one.is_proxy() else "warning"
            yield ill(CHECK, troubles.NETWORK_VARIABLE, sentence, state)


def _unpriced(subject: Subject) -> Iterator[CheckResult]:
    """Yield the budgets of money that do not limit what a model in use costs."""
    if subject.wrong or not (unpriced := subject.settings.unpriced()):
        return
    budget, models = subject.settings.budget, ", ".join(unpriced)
    limits = (
        ("MEMBER", budget.member_cost, budget.member_tokens),
        ("STRANGER", budget.stranger_cost, budget.stranger_tokens),
    )
    for who, cost, tokens in limits:
        if cost:
            decides = f"{who}_TOKENS={tokens} decides" if tokens else f"{who}_TOKENS sets no limit"
            says = f"{who}_COST={cost:g} is set, but the price of {models} is unknown: {decides}"
            state: State = "note" if tokens else "warning"
            yield ill(CHECK, troubles.MODEL_PRICE_UNKNOWN, says, state)
