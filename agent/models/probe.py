"""Ask a server whether it is there and its model answers, and say what to change if not."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Literal, Protocol

import anyio
import orjson

from agent.errors import (
    AccountEmpty,
    AnswerBroken,
    ContextOverflow,
    KeyRefused,
    ModelBusy,
    ModelDown,
    ModelError,
    ModelSlow,
    ModelUnreachable,
    ProxyDown,
    RequestRejected,
    ServerMoved,
    UnknownModel,
    WrongAddress,
)
from agent.model import ModelRequest
from agent.models.wired import ServedModel

NO_ANSWER: Final = (
    AccountEmpty,
    ContextOverflow,
    KeyRefused,
    ModelBusy,
    ModelDown,
    ModelSlow,
    ModelUnreachable,
    RequestRejected,
    ServerMoved,
    UnknownModel,
)
LOOK_SECONDS: Final = 5.0
MAX_DETAIL_CHARACTERS: Final = 200
PING: Final = ModelRequest([{"role": "user", "content": "Answer with the word ok."}])
_TLS: Final = re.compile(r"\[SSL|certificate|wrong version number", re.IGNORECASE)
_VERSION: Final = re.compile(r"/v\d")


ProbedKind = Literal[
    "address", "broken", "busy", "empty", "fails", "key", "moved", "overflow", "proxy",
    "slow", "tls", "unknown", "unreachable"
]  # fmt: skip
WINDOWS: Final = ("max_model_len", "context_length", "context_window", "max_context_length")
"""What servers call the size of a model's context in their lists."""


class ProbedModel(ServedModel, Protocol):
    """A model whose server can be looked at.

    has_key   whether the server gets an API key
    identity  a digest of server, model and key
    date      the `Date` header of the last answer to `get`
    """

    has_key: bool
    identity: str
    date: str

    async def get(self, path: str) -> bytes:
        """Return the body at a path of the server; raises ModelError."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What a probe saw.

    sentence  one line for the operator, with the remedy if the model does not answer
    well      whether the model answered
    free      whether the probe certainly cost nothing
    kind      what kind of trouble it is, for programs
    """

    sentence: str
    well: bool = False
    free: bool = True
    kind: ProbedKind = "fails"


class Probe:
    """Looks at a server for free, then asks its model for a word; `monotonic` measures how long.

    window  the size of the model's context in the server's list; 0 if it is not there
    """

    def __init__(
        self, model: ProbedModel, monotonic: Callable[[], float], look_seconds: float = LOOK_SECONDS
    ) -> None:
        self._model = model
        self._look_seconds = look_seconds
        self._monotonic = monotonic
        self._listed: frozenset[str] = frozenset()
        self.window = 0

    async def look(self) -> Probed | None:
        """Read the server's list of models; return what is wrong, or None if nothing is seen."""
        server = self._model.server.rstrip("/")
        try:
            with anyio.fail_after(self._look_seconds):
                listed = await self._list("/models")
                unversioned = listed is None and not _VERSION.search(server)
                if unversioned and await self._list("/v1/models") is not None:
                    return Probed(
                        f"{server} has no model API, but {server}/v1 has: set"
                        f" TAPEWAY_AGENT__BASE_URL={server}/v1",
                        kind="address",
                    )
        except TimeoutError:
            return Probed(
                f"{server} does not answer within {self._look_seconds:g} s: start the server, or"
                " set TAPEWAY_AGENT__BASE_URL to another one",
                kind="slow",
            )
        except (AccountEmpty, ModelUnreachable, ServerMoved) as cause:
            return self.remedy(cause)
        except KeyRefused as cause:
            # A key may be allowed to chat, but not to list models.
            return None if str(cause).startswith("Error code: 403") else self.remedy(cause)
        except ModelError:
            return None
        self._listed = listed or frozenset()
        return None

    async def ask(self) -> Probed:
        """Ask the model for a word; any answer with status 200 counts."""
        started = self._monotonic()
        try:
            async with aclosing(self._model.stream(PING)) as pieces:
                await anext(pieces)
        except ModelError as cause:
            # Other errors are about what an answer with status 200 says.
            if isinstance(cause, NO_ANSWER) or type(cause) is ModelError:
                return self.remedy(cause)
        seconds = self._monotonic() - started
        return Probed(f"{self._model.name} answered in {seconds:.1f} s", well=True, free=False)

    async def listed(self) -> frozenset[str]:
        """Return the names of the server's models; raises ModelError."""
        return await self._list("/models") or frozenset()

    async def _list(self, path: str) -> frozenset[str] | None:
        """Return the names of the server's models, None if there is no list at a path."""
        try:
            found: Any = orjson.loads(await self._model.get(path))
        except (UnknownModel, orjson.JSONDecodeError):
            return None
        rows = found.get("data", found.get("models")) if isinstance(found, dict) else found
        if not isinstance(rows, list):
            return None
        named = [row for row in rows if isinstance(row, dict)]
        ids = [row.get("id", row.get("name")) for row in named]
        if self._model.name in ids:
            row = named[ids.index(self._model.name)]
            sizes = [row[key] for key in WINDOWS if isinstance(row.get(key), int)]
            self.window = min(sizes, default=0)
        return frozenset(one for one in ids if isinstance(one, str))

    def remedy(self, cause: ModelError) -> Probed:
        """Return what an error of the model means, with its remedy."""
        kind: ProbedKind
        server, name = self._model.server.rstrip("/"), self._model.name
        if type(cause) is ModelUnreachable and _TLS.search(str(cause)):
            kind = "tls"
            sentence = (
                f"no secure connection to {server}: correct its certificate, or http and https in"
                " TAPEWAY_AGENT__BASE_URL"
            )
        elif isinstance(cause, ModelSlow):
            kind = "slow"
            sentence = (
                f"{name} at {server} takes too long: raise TAPEWAY_AGENT__READ_TIMEOUT, or choose a"
                " smaller model"
            )
        elif isinstance(cause, ProxyDown):
            kind, sentence = "proxy", str(cause)
        elif isinstance(cause, ModelUnreachable):
            kind = "unreachable"
            sentence = (
                f"nothing answers at {server}: start the server, or set TAPEWAY_AGENT__BASE_URL to"
                " another one"
            )
        elif isinstance(cause, ServerMoved):
            kind, sentence = "moved", _moved(cause)
        elif isinstance(cause, KeyRefused):
            refusal = "refuses the API key" if self._model.has_key else "requires an API key"
            kind = "key"
            sentence = f"{server} {refusal}: set TAPEWAY_AGENT__API_KEY to a valid one"
        elif isinstance(cause, AccountEmpty):
            kind = "empty"
            sentence = (
                f"the account at {server} is empty: add credit at the provider, or set another"
                " TAPEWAY_AGENT__API_KEY"
            )
        elif isinstance(cause, ModelBusy):
            kind = "busy"
            sentence = f"{server} is over its limits: answers may have to wait"
        elif isinstance(cause, WrongAddress) or (
            isinstance(cause, UnknownModel) and not (self._listed or _VERSION.search(server))
        ):
            kind = "address"
            sentence = f"{server} answers 404: set TAPEWAY_AGENT__BASE_URL={server}/v1"
        elif isinstance(cause, UnknownModel) or (self._listed and name not in self._listed):
            known = sorted(self._listed)
            nearest = get_close_matches(name, known, n=1, cutoff=0.3) or known[:1]
            example = f", for example TAPEWAY_AGENT__MODEL={nearest[0]}" if nearest else ""
            kind = "unknown"
            sentence = f"{server} has no model {name}: set TAPEWAY_AGENT__MODEL{example}"
        else:
            kind = "overflow" if isinstance(cause, ContextOverflow) else "fails"
            kind = "broken" if isinstance(cause, AnswerBroken) else kind
            detail = " ".join(str(cause).split())[:MAX_DETAIL_CHARACTERS]
            sentence = f"{server} gives no answer from {name}: {detail}"
        free = not isinstance(cause, (ModelDown, ModelSlow, ModelUnreachable))
        return Probed(sentence, free=free, kind=kind)


def _moved(cause: ServerMoved) -> str:
    server, address = cause.args
    if not address:
        return f"{server} redirects elsewhere: set TAPEWAY_AGENT__BASE_URL to its new address"
    return (
        f"{server} redirects to {address}, which is not followed: if you trust it, set"
        f" TAPEWAY_AGENT__BASE_URL={address}"
    )
