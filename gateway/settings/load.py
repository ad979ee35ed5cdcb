"""Load the settings, frozen. If several sources contain a setting, the first source wins.

In order: the environment, `.env`, a secrets folder (one file per variable), `tapeway.toml`. The
module `gateway.settings.files` says where the files are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field, PrivateAttr, ValidationError
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
from pydantic_settings.exceptions import SettingsError as SourceError

from agent.model_settings import ModelSettings
from agent.settings import AgentSettings
from channels.cli.settings import CliSettings
from channels.discord.settings import DiscordSettings
from channels.slack.settings import SlackSettings
from channels.telegram.settings import TelegramSettings
from channels.web.settings import WebSettings
from gateway.errors import SettingsError
from gateway.settings import sections
from gateway.settings.files import CONFIG, DEFAULT_HOME, ENV_FILE, settings_files
from gateway.settings.sections import setting

PREFIX: Final = "TAPEWAY_"


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="ignore"
    )

    home: Path = setting(
        Path(DEFAULT_HOME),
        "The instance directory, which holds the gateway's files, including its database.",
        example="/srv/tapeway",
    )
    workspace: Path | None = setting(
        None,
        "The folder the agent works in, with its AGENTS.md. Each workspace has tapes of its own."
        " Default: `workspace` in the home folder.",
        example="/srv/tapeway/workspace",
    )
    models: dict[str, ModelSettings] = Field(
        {},
        description="Settings of single models, for the one in use and for fallback models. Write"
        " them as sections [models.NAME] of tapeway.toml, or here as JSON.",
        examples=['{"qwen3:8b": {"base_url": "http://127.0.0.1:11434/v1", "window": 8192}}'],
    )
    http: sections.HttpSettings = Field(default_factory=sections.HttpSettings)
    tape: sections.TapeSettings = Field(default_factory=sections.TapeSettings)
    access: sections.AccessSettings = Field(default_factory=sections.AccessSettings)
    buffer: sections.BufferSettings = Field(default_factory=sections.BufferSettings)
    turn: sections.TurnSettings = Field(default_factory=sections.TurnSettings)
    budget: sections.BudgetSettings = Field(default_factory=sections.BudgetSettings)
    context: sections.ContextSettings = Field(default_factory=sections.ContextSettings)
    search: sections.SearchSettings = Field(default_factory=sections.SearchSettings)
    media: sections.MediaSettings = Field(default_factory=sections.MediaSettings)
    delivery: sections.DeliverySettings = Field(default_factory=sections.DeliverySettings)
    agent: AgentSettings = Field(default_factory=AgentSettings)
    slack: SlackSettings = Field(default_factory=SlackSettings)
    telegram: TelegramSettings = Field(default_factory=TelegramSettings)
    discord: DiscordSettings = Field(default_factory=DiscordSettings)
    web: WebSettings = Field(default_factory=WebSettings)
    cli: CliSettings = Field(default_factory=CliSettings)
    log: sections.LogSettings = Field(default_factory=sections.LogSettings)
    _models_in_use: dict[str, ModelSettings] = PrivateAttr(default_factory=dict)

    @property
    def home_path(self) -> Path:
        return self.home.expanduser().absolute()

    @property
    def workspace_path(self) -> Path:
        chosen = self.workspace.expanduser() if self.workspace else self.home_path / "workspace"
        return chosen.absolute()

    def model(self, name: str = "") -> ModelSettings:
        """Return the settings of a model in use: the first one, unless another is named."""
        name = name or self.agent.model
        if name not in self._models_in_use:
            self._models_in_use[name] = self.agent.model_settings(name, self.models)
        return self._models_in_use[name]

    @property
    def tape_url(self) -> str:
        return self.tape.url or f"sqlite://{self.home_path / 'tapeway.db'}"


def load_settings(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Load the settings; `folder` has their files, unless `environ` names them.

    `environ` defaults to the process's own, and `folder` to the instance directory.

    Raises SettingsError, which lists every wrong setting with the problem and an example.
    """
    variables = dict(os.environ if environ is None else environ)
    files = settings_files(variables, folder)

    class Sourced(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the given one is used
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - of another folder
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            secrets = Path(variables.get("TAPEWAY_SECRETS", "/run/secrets"))
            return (
                init_settings,
                _GivenEnvironment(settings_cls, variables),
                DotEnvSettingsSource(settings_cls, env_file=files.env, env_ignore_empty=True),
                NestedSecretsSettingsSource(
                    file_secret_settings, secrets_dir=secrets, secrets_dir_missing="ok"
                ),
                TomlConfigSettingsSource(settings_cls, toml_file=files.toml),
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
            f"cannot read the settings: {cause}: check {files.env} and {files.toml}"
        ) from cause


class _GivenEnvironment(EnvSettingsSource):
    """Reads the given environment, which may differ from the process's own."""

    def __init__(self, settings_cls: type[BaseSettings], variables: Mapping[str, str]) -> None:
        self._variables = variables
        super().__init__(settings_cls)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        # Docker Compose passes an empty string for each variable that .env does not set.
        return {name.lower(): value for name, value in self._variables.items() if value != ""}


def unknown_names(environ: Mapping[str, str]) -> list[str]:
    """Return a sentence for each TAPEWAY_ variable that is not a setting, with the closest name."""
    known = {name for name, _section, _field in fields()} | {"TAPEWAY_SECRETS", CONFIG, ENV_FILE}
    wrong = (name for name in sorted(environ) if name.startswith(PREFIX))
    return [_not_a_setting(name, known) for name in wrong if name.upper() not in known]


def fields() -> Iterator[tuple[str, str, FieldInfo]]:
    """Yield each setting's variable name, section and field."""
    for name, field in Settings.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            for inner, inner_field in annotation.model_fields.items():
                yield f"{PREFIX}{name}__{inner}".upper(), name, inner_field
        else:
            yield f"{PREFIX}{name}".upper(), "", field


def _not_a_setting(name: str, known: Iterable[str], part: str = "") -> str:
    nearest = get_close_matches(part or name, known, n=1)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    return f"{name} is not a setting{hint}"


def _explain(error: ErrorDetails) -> str:
    if error["loc"][0] == "models" and len(error["loc"]) > 2:
        return _explain_model(error)
    name = PREFIX + "__".join(str(part) for part in error["loc"]).upper()
    known = {known: field for known, _section, field in fields()}
    field = known.get(name)
    if field is None:
        return _not_a_setting(name, known)
    example = f"; for example {name}={field.examples[0]}" if field.examples else ""
    return f"{name}: {_problem(error, field)}{example}"


def _explain_model(error: ErrorDetails) -> str:
    _models, model, name = (str(part) for part in error["loc"][:3])
    known = ModelSettings.model_fields
    where = f"{name} in [models.{model}]"
    if name in known:
        example = (known[name].examples or [""])[0]
        return f"{where}: {_problem(error, known[name])}; for example {example}"
    return _not_a_setting(where, known, name)


def _problem(error: ErrorDetails, field: FieldInfo) -> str:
    secret = "SecretStr" in str(field.annotation)
    value = "" if secret else f" (it is {str(error['input'])[:80]!r})"
    message = error["msg"].removeprefix("Value error, ")
    return f"{message[:1].lower()}{message[1:]}{value}"


def describe(settings: Settings) -> dict[str, Any]:
    # These are logged on startup; none of them is secret.
    return {
        "home": str(settings.home_path),
        "model": settings.agent.model,
        "access": settings.access.mode,
        "context": settings.context.mode,
    }
