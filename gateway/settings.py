"""The settings: frozen, built once at the edge, from an injected environment.

Sources, the first that names a setting wins: the environment, `.env`, a secrets folder (one file a
setting, named like its variable), `tapeway.toml`. Name, default, help and example stand here, or in
the slice of the package whose they are; the docs and `.env.example` are made from them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NestedSecretsSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import (
    SettingsError as SourceError,
)

from agent.settings import AgentSettings, fits_a_header
from channels.cli.settings import CliSettings
from channels.discord.settings import DiscordSettings
from channels.slack.settings import SlackSettings
from channels.telegram.settings import TelegramSettings
from channels.web.settings import WebSettings
from gateway.errors import SettingsError

PREFIX: Final = "TAPEWAY_"

_ALLOWED: Final = re.compile(r"^[a-z][a-z0-9_-]*:-?[A-Za-z0-9_-]+$")


class Section(BaseModel):
    """The base of a section: what it does not know is an error, not ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HttpSettings(Section):
    """The gateway's own HTTP server."""

    host: str = Field(
        "127.0.0.1",
        description="The address to listen on; any but loopback needs a token or a token file.",
        examples=["127.0.0.1"],
    )
    port: int = Field(8787, ge=0, le=65535, description="The port to listen on.", examples=["8787"])
    token: SecretStr = Field(
        SecretStr(""),
        description="Who opens the page must know this; empty: whoever reaches loopback may.",
        examples=["a-long-random-text"],
    )
    token_file: Path | None = Field(
        None,
        description="The file with the token, in the home folder; the first start makes it. Not"
        " used where a token is set.",
        examples=["http-token"],
    )
    trusted_proxies: str = Field(
        "127.0.0.1",
        description="Reverse proxies whose X-Forwarded-Proto and X-Forwarded-For are believed:"
        " addresses and networks, separated by commas; `*` for all.",
        examples=["127.0.0.1,10.0.0.0/8"],
    )

    @field_validator("trusted_proxies")
    @classmethod
    def _are_addresses(cls, value: str) -> str:
        for item in split(value):
            if item != "*":
                ip_network(item)
        return ",".join(split(value))


class TapeSettings(Section):
    """Where the tapes are."""

    url: str = Field(
        "",
        description="Where the tapes are: a database, or a folder of JSONL files (file:///folder);"
        " empty: tapeway.db in the home folder.",
        examples=["sqlite:///srv/tapeway/tapeway.db"],
    )

    ballast: int = Field(
        16 * 1024 * 1024,
        ge=0,
        description="How large a file is kept to be given up when the disk is full, in bytes: what"
        " is under way can then still be written down.",
        examples=["16777216"],
    )


class AccessSettings(Section):
    """Who may talk to the agent."""

    mode: Literal["paired", "open"] = Field(
        "paired",
        description="`paired`: the owner and whom ACCESS__ALLOW lists. `open`: everybody.",
        examples=["paired"],
    )
    bots: Literal["ignore", "answer"] = Field(
        "ignore",
        description="What to do when another bot asks: ignore it, or answer it (up to 20 times a"
        " minute).",
        examples=["ignore"],
    )
    allow: str = Field(
        "",
        description="Chats and people by their platform's numeric ids, separated by commas.",
        examples=["telegram:123,discord:456"],
    )

    @field_validator("allow")
    @classmethod
    def _are_ids(cls, value: str) -> str:
        for item in split(value):
            if not _ALLOWED.match(item):
                raise ValueError(f"{item!r} is not of the form channel:id")
        return value

    def allowed(self) -> frozenset[str]:
        """Return the listed ids, each as `channel:id`."""
        return frozenset(split(self.allow))


class BufferSettings(Section):
    """Several messages of one person as one question."""

    debounce: float = Field(
        1.0,
        ge=0,
        le=60,
        description="How long to wait after a message for the next one of its author, in seconds.",
        examples=["1.0"],
    )
    longest: float = Field(
        10.0,
        gt=0,
        le=600,
        description="How long to wait at most after the first of them, in seconds.",
        examples=["10"],
    )


class TurnSettings(Section):
    """From a question to its answer."""

    overlap: Literal["follow_up", "steer", "interrupt"] = Field(
        "follow_up",
        description="What a message does whose conversation is being answered: wait for its own"
        " turn; or, where the running one answers its author, go into that one or end it.",
        examples=["follow_up"],
    )
    deadline: float = Field(
        900, gt=0, description="How long one turn may take, in seconds.", examples=["900"]
    )
    lanes: int = Field(
        4,
        ge=1,
        le=64,
        description="Conversations of one chat answered side by side.",
        examples=["4"],
    )
    running: int = Field(
        64,
        ge=1,
        le=10_000,
        description="Turns that run at once in all chats; chats take their places in turn.",
        examples=["64"],
    )
    waiting: int = Field(
        200,
        ge=1,
        description="How many questions of one chat may wait; more are refused, and told so.",
        examples=["200"],
    )


class ContextSettings(Section):
    """What the model sees."""

    mode: Literal["auto", "anchor", "lane"] = Field(
        "auto",
        description="`auto`: private chats whole since the last anchor, groups by conversation."
        " `anchor`: every chat whole since its last anchor. `lane`: every chat by conversation.",
        examples=["auto"],
    )
    budget: int = Field(
        32_000, ge=500, description="How many tokens a prompt may have.", examples=["32000"]
    )
    takes: int = Field(
        4_000,
        ge=100,
        description="How many tokens of what was said since the last turn a new turn takes along.",
        examples=["4000"],
    )
    evidence: int = Field(
        3,
        ge=0,
        le=20,
        description="In groups: how many old messages that say a question's rarest words are shown"
        " with it; 0: none.",
        examples=["3"],
    )
    handoff: Literal["suggest", "auto", "off"] = Field(
        "suggest",
        description="When a task looks finished or the budget is near: suggest an anchor to the"
        " model (`suggest`), set one also where the model does not (`auto`), or neither (`off`).",
        examples=["suggest"],
    )


class SearchSettings(Section):
    """Search by meaning, beside the search by words."""

    embedder: Literal["", "openai", "local"] = Field(
        "",
        description="What makes vectors of what is said: `openai` (any OpenAI-compatible server,"
        " which then gets the texts), `local` (a model on this machine, with the extra `semantic`);"
        " empty: searches go by words alone.",
        examples=["openai"],
    )
    model: str = Field(
        "",
        description="The embedding model: its name on the server, or a folder for `local`; empty:"
        " text-embedding-3-small, or minishlab/potion-multilingual-128M for `local`.",
        examples=["nomic-embed-text"],
    )
    base_url: str = Field(
        "",
        description="The address of the server of embeddings; empty: TAPEWAY_AGENT__BASE_URL.",
        examples=["http://127.0.0.1:11434/v1"],
    )
    api_key: SecretStr = Field(
        SecretStr(""),
        description="The key for that server; empty: TAPEWAY_AGENT__API_KEY where the server is the"
        " agent's own, else none.",
        examples=["sk-..."],
    )
    dimensions: int = Field(
        0,
        ge=0,
        le=8192,
        description="How long a vector is, where the model lets one choose; 0: as it comes.",
        examples=["256"],
    )

    @field_validator("api_key")
    @classmethod
    def _fits_a_header(cls, value: SecretStr) -> SecretStr:
        key = value.get_secret_value().strip()
        if not fits_a_header(key):
            raise ValueError("a key has letters, digits and signs only, no blanks or line ends")
        return SecretStr(key)


class MediaSettings(Section):
    """Images that people send."""

    images: bool = Field(
        True,
        description="Show images to the model. One that cannot see is told of them instead.",
        examples=["false"],
    )
    bytes: int = Field(
        8_000_000,
        ge=1_000,
        description="How large an image may be, in bytes.",
        examples=["8000000"],
    )
    pixels: int = Field(
        40_000_000, ge=1_000, description="How many pixels it may have.", examples=["40000000"]
    )
    seconds: float = Field(
        20, gt=0, le=600, description="How long it may take to fetch, in seconds.", examples=["20"]
    )


class DeliverySettings(Section):
    """How answers go out."""

    replay_hours: float = Field(
        24,
        gt=0,
        description="Questions that came while the gateway was away are answered when they are"
        " younger than this, in hours; older ones are only remembered, and one notice says so.",
        examples=["24"],
    )

    ambiguous: Literal["resend", "hold"] = Field(
        "resend",
        description="What to do with a send of which nobody knows whether it arrived: send it"
        " again, marked, or hold it for the operator.",
        examples=["resend"],
    )


class LogSettings(Section):
    """The log on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least level that is written.", examples=["info"]
    )
    format: Literal["auto", "text", "json"] = Field(
        "auto", description="`auto`: text on a terminal, JSON otherwise.", examples=["json"]
    )


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="ignore"
    )

    home: Path = Field(
        Path("~/.tapeway"),
        description="The folder of the gateway's own files, its database among them.",
        examples=["/srv/tapeway"],
    )
    workspace: Path | None = Field(
        None,
        description="The folder that the agent works for, with its AGENTS.md; it names the tapes."
        " Empty: `workspace` in the home folder.",
        examples=["/srv/tapeway/workspace"],
    )
    http: HttpSettings = Field(default_factory=HttpSettings)
    tape: TapeSettings = Field(default_factory=TapeSettings)
    access: AccessSettings = Field(default_factory=AccessSettings)
    buffer: BufferSettings = Field(default_factory=BufferSettings)
    turn: TurnSettings = Field(default_factory=TurnSettings)
    context: ContextSettings = Field(default_factory=ContextSettings)
    search: SearchSettings = Field(default_factory=SearchSettings)
    media: MediaSettings = Field(default_factory=MediaSettings)
    delivery: DeliverySettings = Field(default_factory=DeliverySettings)
    agent: AgentSettings = Field(default_factory=AgentSettings)
    slack: SlackSettings = Field(default_factory=SlackSettings)
    telegram: TelegramSettings = Field(default_factory=TelegramSettings)
    discord: DiscordSettings = Field(default_factory=DiscordSettings)
    web: WebSettings = Field(default_factory=WebSettings)
    cli: CliSettings = Field(default_factory=CliSettings)
    log: LogSettings = Field(default_factory=LogSettings)

    @property
    def home_path(self) -> Path:
        """The home folder, absolute."""
        return self.home.expanduser().absolute()

    @property
    def workspace_path(self) -> Path:
        """The workspace, absolute."""
        chosen = self.workspace.expanduser() if self.workspace else self.home_path / "workspace"
        return chosen.absolute()

    @property
    def tape_url(self) -> str:
        """The URL of the tape store."""
        return self.tape.url or f"sqlite://{self.home_path / 'tapeway.db'}"


def load_settings(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Read the settings from an environment (the process's own) and a folder (the current one).

    Raises SettingsError, which names every wrong setting, what is wrong with it, and an example.
    """
    variables = dict(os.environ if environ is None else environ)
    place = folder or Path.cwd()

    class Sourced(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced by the given one
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - of another folder
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            secrets = Path(variables.get("TAPEWAY_SECRETS", "/run/secrets"))
            toml = Path(variables.get("TAPEWAY_CONFIG", place / "tapeway.toml"))
            return (
                init_settings,
                _GivenEnvironment(settings_cls, variables),
                DotEnvSettingsSource(settings_cls, env_file=place / ".env", env_ignore_empty=True),
                NestedSecretsSettingsSource(
                    file_secret_settings, secrets_dir=secrets, secrets_dir_missing="ok"
                ),
                TomlConfigSettingsSource(settings_cls, toml_file=toml),
            )

    try:
        found = Sourced()
        return Settings.model_construct(
            **{name: getattr(found, name) for name in Settings.model_fields}
        )
    except ValidationError as cause:
        lines = [_explain(error) for error in cause.errors(include_url=False)]
        raise SettingsError("\n".join(lines)) from None
    except (SourceError, ValueError, OSError) as cause:
        raise SettingsError(
            f"the settings cannot be read: {cause}: check .env and tapeway.toml"
        ) from cause


class _GivenEnvironment(EnvSettingsSource):
    """The environment as it was given, which need not be the process's own."""

    def __init__(self, settings_cls: type[BaseSettings], variables: Mapping[str, str]) -> None:
        self._variables = variables
        super().__init__(settings_cls)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        # An empty variable is one that is not set: Compose passes those for what .env leaves out.
        return {name.lower(): value for name, value in self._variables.items() if value != ""}


def unknown_names(environ: Mapping[str, str]) -> list[str]:
    """Say which TAPEWAY_ variables of an environment are no settings, with the nearest that is."""
    known = {name for name, _section, _field in fields()} | {"TAPEWAY_SECRETS", "TAPEWAY_CONFIG"}
    found = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name.upper() in known:
            continue
        nearest = get_close_matches(name, known, n=1)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        found.append(f"{name} is not a setting{hint}")
    return found


def fields() -> Iterator[tuple[str, str, FieldInfo]]:
    """Give every setting: the name of its variable, its section, and its field."""
    for name, field in Settings.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            for inner, inner_field in annotation.model_fields.items():
                yield f"{PREFIX}{name}__{inner}".upper(), name, inner_field
        else:
            yield f"{PREFIX}{name}".upper(), "", field


def split(value: str) -> list[str]:
    """Return the items of a list that is written with commas."""
    return [item.strip() for item in value.split(",") if item.strip()]


def _explain(error: ErrorDetails) -> str:
    name = PREFIX + "__".join(str(part) for part in error["loc"]).upper()
    known = {known: field for known, _section, field in fields()}
    field = known.get(name)
    if field is None:
        nearest = get_close_matches(name, known, n=1)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        return f"{name} is not a setting{hint}"
    secret = field.annotation is SecretStr
    value = "" if secret else f" (it is {str(error['input'])[:80]!r})"
    example = f"; for example {name}={field.examples[0]}" if field.examples else ""
    message = error["msg"].removeprefix("Value error, ")
    return f"{name}: {message[:1].lower()}{message[1:]}{value}{example}"


def describe(settings: Settings) -> dict[str, Any]:
    """Return what the log may say of the settings: no secrets."""
    return {
        "home": str(settings.home_path),
        "model": settings.agent.model,
        "access": settings.access.mode,
        "context": settings.context.mode,
    }
