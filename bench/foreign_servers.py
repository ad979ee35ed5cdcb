"""Model servers that nobody here wrote, from npm and PyPI, and scenarios for them.

docs/reference/benchmarks.md says how to install them into a folder; nothing of
them is in the repository.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import orjson

from bench.tiny_model import write_model
from tests.model_servers.play import KEY, ask
from tests.model_servers.scenario import Outcome, Scenario

START_SECONDS: Final = 90
"""Maximum seconds until a server listens: the one of LiteLLM needs most of a minute."""

Command = Callable[[Path, Path, int], list[str]]
"""Makes a command from the folder of the tools, an empty folder, and the port."""

MOCK: Final = "AGENT__MODEL"
ONCE: Final = MappingProxyType({"AGENT__RETRIES": "1"})


NOTHING: Final = "Sorry.*(too long|broke off|nothing|empty).*"
"""llama-cpp-python ends a stream without a word when the prompt is too long."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A scenario and the command of its server."""

    scenario: Scenario
    command: Command


def aimock(*fixtures: Mapping[str, Any], options: tuple[str, ...] = ()) -> Command:
    """Return the command of aimock with fixtures of our own."""

    def command(tools: Path, folder: Path, port: int) -> list[str]:
        file = folder / "fixtures.json"
        file.write_bytes(orjson.dumps({"fixtures": fixtures}))
        program = tools / "node_modules" / ".bin" / "llmock"
        return [str(program), "-p", str(port), "-f", str(file), *options]

    return command


def mock_ai_api(tools: Path, _folder: Path, port: int) -> list[str]:
    """Return the command of mock-ai-api, which has another API on the next port."""
    program = tools / "mock" / "bin" / "mock-ai-api"
    return [str(program), "--openai-port", str(port), "--anthropic-port", str(_free_port())]


def litellm(response: str) -> Command:
    """Return the command of LiteLLM's proxy, with one model that answers that."""

    def command(tools: Path, folder: Path, port: int) -> list[str]:
        model = {"model": "openai/made-up", "api_key": "none", "mock_response": response}
        file = folder / "litellm.json"  # JSON is YAML
        listed = [{"model_name": "model", "litellm_params": model}]
        config = {"model_list": listed, "general_settings": {"master_key": KEY}}
        file.write_bytes(orjson.dumps(config))
        program = tools / "venv" / "bin" / "litellm"
        return [str(program), "--config", str(file), "--port", str(port), "--host", "127.0.0.1"]

    return command


def llama_cpp(context: int, template: str = "") -> Command:
    """Return the command of llama-cpp-python's server with a tiny made-up model."""

    def command(tools: Path, folder: Path, port: int) -> list[str]:
        file = folder / "tiny.gguf"
        write_model(file, template)
        python = tools / "venv" / "bin" / "python"
        options = {"--model": file, "--n_ctx": context, "--port": port, "--model_alias": "model"}
        given = [str(part) for option in options.items() for part in option]
        return [str(python), "-m", "llama_cpp.server", "--host", "127.0.0.1", *given]

    return command


def _says(text: str, **match: Any) -> dict[str, Any]:
    return {"match": match, "response": {"content": text}}


def _scenario(name: str, *sees: str, **more: Any) -> Scenario:
    return Scenario(name, "foreign", (), sees, **more)


SCENARIOS: Final = (
    Foreign(
        _scenario("aimock: two questions, answered in pieces", "Noon\\.", "At one, I think\\.",
                  asks=("When is lunch?", "And dinner?")),
        aimock(_says("Noon.", userMessage="lunch"), _says("At one, I think.", userMessage="dinner"),
               options=("--chunk-size", "3")),
    ),
    Foreign(
        _scenario("aimock: a tool call before the text, then an answer",
                  "Let me look\\.\\s+The tape is short\\."),
        aimock(
            _says("The tape is short.", hasToolResult=True),
            {"match": {"userMessage": "new"}, "response": {"blocks": [
                {"type": "toolCall", "name": "tape_info", "arguments": "{}"},
                {"type": "text", "text": "Let me look."}]}},
        ),
    ),
    Foreign(
        _scenario("aimock: two tool calls at once", "Found\\."),
        aimock(
            _says("Found.", hasToolResult=True),
            {"match": {"userMessage": "new"}, "response": {"toolCalls": [
                {"name": "tape_info", "arguments": {}},
                {"name": "tape_search", "arguments": {"query": "lunch"}}]}},
        ),
    ),
    Foreign(
        _scenario("aimock: reasoning beside the text", "Noon\\.", never=("a secret thought",),
                  settings={MOCK: "deepseek-reasoner"}),
        aimock({"match": {"userMessage": "new"}, "response": {
            "content": "Noon.", "reasoning": "a secret thought"}}),
    ),
    Foreign(
        _scenario("aimock: too long, then an answer", "Noon\\."),
        aimock(
            {"match": {"userMessage": "new", "sequenceIndex": 0}, "response": {
                "status": 400, "error": {
                    "message": "This model's maximum context length is 8192 tokens.",
                    "type": "invalid_request_error", "code": "context_length_exceeded"}}},
            _says("Noon.", userMessage="new"),
        ),
    ),
    Foreign(
        _scenario("aimock: always over the limits", "Sorry.*busy.*", ends="failed"),
        aimock(_says("Noon.", userMessage="new"), options=("--chaos-ratelimit", "1")),
    ),
    Foreign(
        _scenario("aimock: malformed JSON", "Sorry.*(broke|rejected|trouble|understand).*",
                  ends="failed"),
        aimock(_says("Noon.", userMessage="new"), options=("--chaos-malformed", "1")),
    ),
    Foreign(
        _scenario("aimock: the connection is cut", "Sorry.*(broke off|reach).*", ends="failed"),
        aimock(_says("Noon.", userMessage="new"), options=("--chaos-disconnect", "1")),
    ),
    Foreign(
        _scenario("mock-ai-api: a greeting", ".+", settings={MOCK: "gpt-4.1:mock-text"}),
        mock_ai_api,
    ),
    Foreign(
        _scenario("mock-ai-api: streamed calls of a tool that is not there, on and on",
                  ".*Sorry.*steps.*", ends="failed",
                  settings={MOCK: "gpt-4.1:mock-tool-stream", "AGENT__STEPS": "3"}),
        mock_ai_api,
    ),
    Foreign(
        _scenario("mock-ai-api: an answer that repeats the prompt", "Mock stream for: .+",
                  settings={MOCK: "gpt-4.1:mock-bad-tool-json"}),
        mock_ai_api,
    ),
    Foreign(
        _scenario("mock-ai-api: a wrong key", "Sorry.*key.*", ends="failed",
                  settings={MOCK: "gpt-4.1:mock-401"}),
        mock_ai_api,
    ),
    Foreign(
        _scenario("mock-ai-api: the service is unavailable", "Sorry.*trouble.*", ends="failed",
                  settings={MOCK: "gpt-4.1:mock-503", **ONCE}),
        mock_ai_api,
    ),
    Foreign(_scenario("LiteLLM's proxy: an answer", "Noon\\."), litellm("Noon.")),
    Foreign(
        _scenario("LiteLLM's proxy: over the limits", "Sorry.*busy.*", ends="failed"),
        litellm("litellm.RateLimitError"),
    ),
    Foreign(_scenario("llama-cpp-python: a tiny made-up model", ".+"), llama_cpp(16384)),
    Foreign(
        _scenario("llama-cpp-python: too long for its context", NOTHING, ends="failed"),
        llama_cpp(512),
    ),
    Foreign(
        _scenario("llama-cpp-python: Mistral's template, after talk that asked nothing", ".+", ".+",
                  asks=("~lunch at noon?", "~or later", "When is lunch?", "And dinner?"),
                  settings={"AGENT__STRICT_ROLES": "true"}),
        llama_cpp(16384, "mistral"),
    ),
)  # fmt: skip


async def play_foreign(foreign: Foreign, home: Path, tools: Path) -> Outcome:
    """Play a scenario with a server of its own, and return what came of it."""
    folder = home / "server"
    folder.mkdir(parents=True)
    async with _listening(foreign.command, tools, folder) as url:
        seen, drafts, entries = await ask(foreign.scenario, url, home / "home")
    return Outcome(seen, drafts, entries, (), (), 0)


@asynccontextmanager
async def _listening(command: Command, tools: Path, folder: Path) -> AsyncIterator[str]:
    port = _free_port()
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *command(tools, folder, port), cwd=folder, stdout=log, stderr=log, env=_environ()
        )
    try:
        await _wait_for(process, port, folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _wait_for(process: asyncio.subprocess.Process, port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.returncode is None:
        try:
            _reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
    said = await asyncio.to_thread(log.read_text)
    raise RuntimeError(f"the server did not start: {said[-2000:]}")


def _environ() -> dict[str, str]:
    # A key of this machine's must reach no foreign server.
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
