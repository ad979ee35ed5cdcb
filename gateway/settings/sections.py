"""The gateway's own sections of the settings: name, default, help and example of each."""

from __future__ import annotations

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from agent.settings import fits_a_header

_ALLOWED: Final = re.compile(r"^[a-z][a-z0-9_-]*:-?[A-Za-z0-9_-]+$")


class Section(BaseModel):
    """The base of a section: an unknown name in it is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HttpSettings(Section):
    """The gateway's own HTTP server."""

    host: str = Field(
        "127.0.0.1",
        description="The address to listen on. Any other than loopback requires a token or a token"
        " file.",
        examples=["127.0.0.1"],
    )
    port: int = Field(8787, ge=0, le=65535, description="The port to listen on.", examples=["8787"])
    token: SecretStr = Field(
        SecretStr(""),
        description="The access token of the page. If empty, anyone on this machine can open it.",
        examples=["a-long-random-text"],
    )
    token_file: Path | None = Field(
        None,
        description="A file in the home folder that holds the access token; the first start"
        " creates it. Ignored if a token is set.",
        examples=["http-token"],
    )
    trusted_proxies: str = Field(
        "127.0.0.1",
        description="Reverse proxies whose X-Forwarded-Proto and X-Forwarded-For headers are"
        " trusted: addresses and networks, separated by commas, or `*` for all.",
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
    """Where the tapes are stored."""

    url: str = Field(
        "",
        description="Where the tapes are stored: a SQLite database, or a folder of JSONL files"
        " (file:///folder). Default: tapeway.db in the home folder.",
        examples=["sqlite:///srv/tapeway/tapeway.db"],
    )

    ballast: int = Field(
        16 * 1024 * 1024,
        ge=0,
        description="Size of a reserve file, in bytes. It is deleted when the disk fills up, so"
        " that answers in progress can still be saved.",
        examples=["16777216"],
    )


class AccessSettings(Section):
    """Who may talk to the agent."""

    mode: Literal["paired", "open"] = Field(
        "paired",
        description="`paired`: only the owner and the IDs in ACCESS__ALLOW. `open`: everybody.",
        examples=["paired"],
    )
    bots: Literal["ignore", "answer"] = Field(
        "ignore",
        description="What to do with questions from other bots: `ignore` them, or `answer` up to"
        " 20 a minute.",
        examples=["ignore"],
    )
    allow: str = Field(
        "",
        description="Chats and people who may talk to the agent, as channel:id, separated by"
        " commas.",
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
    """How several messages of one person become one question."""

    debounce: float = Field(
        1.0,
        ge=0,
        le=60,
        description="Seconds to wait after a message for the next one from the same author.",
        examples=["1.0"],
    )
    longest: float = Field(
        10.0,
        gt=0,
        le=600,
        description="Maximum seconds to wait after the first of these messages.",
        examples=["10"],
    )


class TurnSettings(Section):
    """From a question to its answer."""

    overlap: Literal["follow_up", "steer", "interrupt"] = Field(
        "follow_up",
        description="What to do with a new message while its conversation is being answered:"
        " `follow_up` (wait), `steer` (add it to the running answer), or `interrupt` (stop"
        " that answer and start over). Steering and interrupting need the same author.",
        examples=["follow_up"],
    )
    deadline: float = Field(
        900, gt=0, description="Maximum seconds for one answer.", examples=["900"]
    )
    lanes: int = Field(
        4,
        ge=1,
        le=64,
        description="Maximum conversations of one chat answered at the same time.",
        examples=["4"],
    )
    running: int = Field(
        64,
        ge=1,
        le=10_000,
        description="Maximum answers in progress across all chats; chats take turns when it is"
        " reached.",
        examples=["64"],
    )
    waiting: int = Field(
        200,
        ge=1,
        description="Maximum questions waiting in one chat; further ones are declined with a"
        " notice.",
        examples=["200"],
    )


class ContextSettings(Section):
    """What the model sees."""

    mode: Literal["auto", "anchor", "lane"] = Field(
        "auto",
        description="What the model sees of a chat. `anchor`: everything since the last anchor."
        " `lane`: one conversation at a time. `auto`: `anchor` in private chats, `lane` in"
        " groups.",
        examples=["auto"],
    )
    budget: int = Field(
        32_000, ge=500, description="Maximum tokens in a prompt.", examples=["32000"]
    )
    takes: int = Field(
        4_000,
        ge=100,
        description="Maximum tokens of new messages that a turn adds to the conversation.",
        examples=["4000"],
    )
    evidence: int = Field(
        3,
        ge=0,
        le=20,
        description="Maximum older messages of a group shown with a question because they contain"
        " its rarest words; 0 shows none.",
        examples=["3"],
    )
    handoff: Literal["suggest", "auto", "off"] = Field(
        "suggest",
        description="What to do when a task looks finished or the budget is nearly used up:"
        " `suggest` an anchor to the model, set one if the model does not (`auto`), or nothing"
        " (`off`).",
        examples=["suggest"],
    )


class SearchSettings(Section):
    """Search by meaning, in addition to the search by words."""

    embedder: Literal["", "openai", "local"] = Field(
        "",
        description="What computes the embeddings: `openai` (any OpenAI-compatible server, which"
        " is sent the messages) or `local` (a model on this machine; needs tapeway[semantic])."
        " If empty, searches use words only.",
        examples=["openai"],
    )
    model: str = Field(
        "",
        description="The embedding model: its name on the server, or a folder for `local`."
        " Default: text-embedding-3-small, or minishlab/potion-multilingual-128M for `local`.",
        examples=["nomic-embed-text"],
    )
    base_url: str = Field(
        "",
        description="The base URL of the embedding server. Default: TAPEWAY_AGENT__BASE_URL.",
        examples=["http://127.0.0.1:11434/v1"],
    )
    api_key: SecretStr = Field(
        SecretStr(""),
        description="The API key for that server. Default: TAPEWAY_AGENT__API_KEY if it is the"
        " agent's own server, otherwise none.",
        examples=["sk-..."],
    )
    dimensions: int = Field(
        0,
        ge=0,
        le=8192,
        description="The length of the vectors, if the model offers a choice; 0 uses its default.",
        examples=["256"],
    )

    @field_validator("api_key")
    @classmethod
    def _fits_a_header(cls, value: SecretStr) -> SecretStr:
        key = value.get_secret_value().strip()
        if not fits_a_header(key):
            raise ValueError("a key contains letters, digits and punctuation only, no spaces")
        return SecretStr(key)


class MediaSettings(Section):
    """Images that people send."""

    images: bool = Field(
        True,
        description="Show images to the model. A model without vision gets a description instead.",
        examples=["false"],
    )
    bytes: int = Field(
        8_000_000,
        ge=1_000,
        description="Maximum size of an image, in bytes.",
        examples=["8000000"],
    )
    pixels: int = Field(
        40_000_000,
        ge=1_000,
        description="Maximum number of pixels in an image.",
        examples=["40000000"],
    )
    seconds: float = Field(
        20, gt=0, le=600, description="Maximum seconds to download an image.", examples=["20"]
    )


class DeliverySettings(Section):
    """How answers go out."""

    replay_hours: float = Field(
        24,
        gt=0,
        description="Maximum age, in hours, of questions that are still answered when they arrived"
        " while the gateway was down. Older ones are only remembered, and one notice says so.",
        examples=["24"],
    )

    ambiguous: Literal["resend", "hold"] = Field(
        "resend",
        description="What to do with a message that may or may not have been delivered: `resend`"
        " it with a note, or `hold` it for the operator.",
        examples=["resend"],
    )


class LogSettings(Section):
    """The log on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The lowest level that is logged.", examples=["info"]
    )
    format: Literal["auto", "text", "json"] = Field(
        "auto", description="`auto`: text on a terminal, JSON otherwise.", examples=["json"]
    )


def split(value: str) -> list[str]:
    """Return the items of a comma-separated list."""
    return [item.strip() for item in value.split(",") if item.strip()]
