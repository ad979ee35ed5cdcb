"""The model servers that a first start finds: keys in the environment, servers on this machine."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

LOOK_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Provider:
    """A model server.

    name      how flags name it
    title     how people know it
    variable  the environment's variable with its key; empty for a server on this machine
    base_url  its address; empty for the SDK's own
    model     a model that suits a chat; empty if the server's list is asked
    """

    name: str
    title: str
    variable: str
    base_url: str
    model: str


KNOWN: Final = (
    Provider("openai", "OpenAI", "OPENAI_API_KEY", "", "gpt-5-mini"),
    Provider(
        "anthropic",
        "Anthropic",
        "ANTHROPIC_API_KEY",
        "https://api.anthropic.com/v1",
        "claude-haiku-4-5",
    ),
    Provider(
        "openrouter",
        "OpenRouter",
        "OPENROUTER_API_KEY",
        "https://openrouter.ai/api/v1",
        "openai/gpt-5-mini",
    ),
    Provider(
        "deepseek", "DeepSeek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1", "deepseek-chat"
    ),
    Provider(
        "groq", "Groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1", "openai/gpt-oss-20b"
    ),
    Provider(
        "gemini",
        "Gemini",
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "gemini-2.5-flash",
    ),
)
LOCAL: Final = (
    Provider("ollama", "Ollama", "", "http://127.0.0.1:11434/v1", ""),
    Provider("lmstudio", "LM Studio", "", "http://127.0.0.1:1234/v1", ""),
)
BY_NAME: Final = {one.name: one for one in (*KNOWN, *LOCAL)}


@dataclass(frozen=True, slots=True)
class Found:
    """A provider that can be used right away, with its key and the models it lists."""

    provider: Provider
    key: str = ""
    models: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        return self.provider.model or next(iter(self.models), "")

    def __str__(self) -> str:
        if self.provider.variable:
            return f"{self.provider.title}, with the key in {self.provider.variable}"
        shown = ", ".join(self.models[:3]) or "no model yet"
        return f"{self.provider.title} on this machine ({shown})"


def find_providers(environ: Mapping[str, str], here: Sequence[Provider] = LOCAL) -> Iterator[Found]:
    """Yield every provider with a key in the environment, and the servers on this machine."""
    for known in KNOWN:
        if environ.get(known.variable):
            yield Found(known, environ[known.variable])
    for local in here:
        models = _listed(int(local.base_url.rpartition(":")[2].partition("/")[0]))
        if models is not None:
            yield Found(local, models=models)


def _listed(port: int) -> tuple[str, ...] | None:
    """Return the models of a server on this machine, or None if there is no such server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LOOK_SECONDS)
    try:
        connection.request("GET", "/v1/models")
        response = connection.getresponse()
        if response.status != 200:
            return None
        rows = json.loads(response.read(1_000_000)).get("data") or ()
        return tuple(str(row["id"]) for row in rows)
    except (OSError, http.client.HTTPException, ValueError, AttributeError, TypeError, KeyError):
        return None
    finally:
        connection.close()
