"""The sections of the gateway's own settings: each setting's default, help text and example."""

from __future__ import annotations

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Final, Literal

from pydantic import SecretStr, ValidationInfo, field_validator

from agent.model_settings import Key, ServerAddress
from gateway.settings.section import Section, setting, split

ALLOWED: Final = re.compile(r"^[a-z][a-z0-9_-]*:-?[A-Za-z0-9_-]+$")
MIN_TOKEN_CHARACTERS: Final = 16  # on addresses that other machines can reach


class HttpSettings(Section):
    """The gateway's own HTTP server."""

    host: str = setting(
        "127.0.0.1",
        "The address to listen on. Addresses other than loopback require a token or a token file.",
    )
    port: int = setting(8787, "The port to listen on.", ge=0, le=65535)
    token: SecretStr = setting(
        SecretStr(""),
        "The page's access token; it needs 16 characters if `host` is not loopback. Without it or a"
        " token file, only the user who runs the gateway has access, on this machine.",
        example="a-long-random-text",
    )
    token_file: Path | None = setting(
        None,
        "A file in the home folder that holds the access token; created on startup if missing."
        " Ignored if a token is set.",
        example="http-token",
    )
    public_url: str = setting(
        "",
        "The address under which browsers reach the gateway, for the links that it gives in chats.",
        example="https://tapeway.example.org/",
    )
    trusted_proxies: str = setting(
        "127.0.0.1",
        "Reverse proxies whose X-Forwarded-Proto and X-Forwarded-For headers are trusted:"
        " addresses and networks, separated by commas, or `*` for all.",
        example="127.0.0.1,10.0.0.0/8",
    )
    metrics_port: int = setting(
        0,
        "A port of its own for `/metrics`, which it serves without a login and with nothing beside"
        " it. 0: none; on the main port, the metrics are for the owner.",
        example="9787",
        ge=0,
        le=65535,
    )
    metrics_host: str = setting(
        "127.0.0.1",
        "The address of that port. Whoever reaches it reads the metrics: on a loopback address, the"
        " users of this machine.",
    )

    @field_validator("public_url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://[^\s/?#@]+/?", value):
            raise ValueError("it must be an address without a path: the page has its own host")
        return f"{value.rstrip('/')}/" if value else ""

    @field_validator("metrics_port")
    @classmethod
    def _is_another_port(cls, value: int, info: ValidationInfo) -> int:
        if value and value == info.data.get("port"):
            raise ValueError("it must be another port than TAPEWAY_HTTP__PORT")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _are_addresses(cls, value: str) -> str:
        for item in split(value):
            if item != "*":
                ip_network(item)
        return ",".join(split(value))


class TapeSettings(Section):
    """Where the tapes are stored, and what is reserved for a full disk."""

    url: str = setting(
        "",
        "Where the tapes are stored: a SQLite database, a folder of JSONL files (file:///folder),"
        " or PostgreSQL (postgresql://user@host/database). Default: tapeway.db in the home folder.",
        example="sqlite:///srv/tapeway/tapeway.db",
    )
    disk_reserve: int = setting(
        16 * 1024 * 1024,
        "Size of a reserve file, in bytes. It is deleted when the disk fills up, so that answers"
        " in progress can still be saved. Not for PostgreSQL.",
        ge=0,
    )
    answer_seconds: float = setting(
        30, "Seconds after which PostgreSQL counts as away if it has not answered.", ge=1, le=3600
    )
    connections: int = setting(
        8, "Maximum connections of this process to PostgreSQL; one more listens.", ge=2, le=100
    )
    ledger_days: int = setting(
        30,
        "Days after which the ledger is emptied of the content of what was answered and sent; the"
        " tapes keep it. 0 keeps it there, too.",
        ge=0,
    )
    keep_days: dict[str, int] = setting(
        {},
        "How many days messages are kept, by chat, as JSON; `*` stands for every other chat. Older"
        " entries are erased once a day. Default: for ever.",
        example='{"telegram:-100123": 30, "*": 365}',
    )

    @field_validator("keep_days")
    @classmethod
    def _are_days(cls, value: dict[str, int]) -> dict[str, int]:
        if any(days < 1 for days in value.values()):
            raise ValueError("each chat is kept for at least one day")
        return value


class SharingSettings(Section):
    """How processes over one PostgreSQL database share the work."""

    role: Literal["all", "ingress", "worker"] = setting(
        "all",
        "What this process does: `ingress` receives messages, `worker` answers them, `all` does"
        " both. `tapeway gateway --role` overrules it.",
        example="worker",
    )
    lease: float = setting(
        10,
        "Seconds after which a session is taken over from a process that no longer answers.",
        gt=0,
        le=3600,
    )
    poller_lease: float = setting(
        6,
        "Seconds after which another process receives a platform's messages in the place of one"
        " that no longer answers.",
        gt=0,
        le=3600,
    )
    keep: float = setting(
        10, "Seconds for which a process keeps a session that has nothing to do.", ge=0, le=3600
    )
    file_bytes: int = setting(
        10_000_000_000,
        "Bytes of images to keep. Beyond that, the oldest go, but none of the last ten minutes.",
        ge=0,
    )
    listen_url: SecretStr = setting(
        SecretStr(""),
        "The database's own address, if TAPEWAY_TAPE__URL is a PgBouncer that cannot LISTEN."
        " Default: the same URL.",
        example="postgresql://tapeway@db.example.com/tapeway",
    )


class AccessSettings(Section):
    """Who may talk to the agent."""

    mode: Literal["paired", "open"] = setting(
        "paired", "`paired`: only the owner, and what the owner opens. `open`: everybody."
    )
    bots: Literal["ignore", "answer"] = setting(
        "ignore",
        "What to do with other bots' questions: `ignore` them, or `answer` up to 20 per minute.",
    )
    allow: str = setting(
        "",
        "Chats and people who may talk to the agent from the first start on, as channel:id,"
        " separated by commas; people in private only. Not needed: the owner opens chats, and"
        " `tapeway access` changes who has access, without a restart.",
        example="telegram:123,discord:456",
    )

    @field_validator("allow")
    @classmethod
    def _are_ids(cls, value: str) -> str:
        for item in split(value):
            if not ALLOWED.match(item):
                raise ValueError(f"{item!r} is not of the form channel:id")
        return value

    def allowed(self) -> frozenset[str]:
        """Return the listed ids, each as `channel:id`."""
        return frozenset(split(self.allow))


class BufferSettings(Section):
    """How several messages from one person become one question."""

    debounce: float = setting(
        1.0, "Seconds to wait after a message for the next one from the same author.", ge=0, le=60
    )
    max_wait: float = setting(
        10.0,
        "Maximum seconds to wait after the first message from the same author.",
        example="10",
        gt=0,
        le=600,
    )


class TurnSettings(Section):
    """How questions are queued and answered."""

    overlap: Literal["follow_up", "steer", "interrupt"] = setting(
        "follow_up",
        "What to do with a question if its conversation is already being answered: let it wait"
        " (`follow_up`), add it to the running answer (`steer`), or stop that answer and start over"
        " (`interrupt`). `steer` and `interrupt` apply only if the author is the same.",
    )
    deadline: float = setting(900, "Maximum seconds for one answer.", gt=0)
    parallel_per_chat: int = setting(
        4, "Maximum conversations per chat that are answered at the same time.", ge=1, le=64
    )
    parallel_total: int = setting(
        64,
        "Maximum answers in progress across all chats; beyond that, chats take turns.",
        ge=1,
        le=10_000,
    )
    queue_per_chat: int = setting(
        200, "Maximum questions waiting per chat; further ones are declined with a notice.", ge=1
    )


class BudgetSettings(Section):
    """What people may use per chat and day (in UTC); the owner has no such limits."""

    member_turns: int = setting(
        300, "Maximum answers to one member or admin per chat and day; 0 sets no limit.", ge=0
    )
    stranger_turns: int = setting(
        100, "Maximum answers to one stranger per chat and day; 0 sets no limit.", ge=0
    )
    member_tokens: int = setting(
        0,
        "Maximum tokens for one member or admin per chat and day; 0 sets no limit.",
        example="2000000",
        ge=0,
    )
    stranger_tokens: int = setting(
        0,
        "Maximum tokens for one stranger per chat and day; 0 sets no limit.",
        example="200000",
        ge=0,
    )
    member_cost: float = setting(
        0,
        "Maximum cost for one member or admin per chat and day, in TAPEWAY_AGENT__CURRENCY;"
        " 0 sets no limit. What has no known price counts by its tokens alone.",
        example="2.50",
        ge=0,
    )
    stranger_cost: float = setting(
        0,
        "Maximum cost for one stranger per chat and day, in TAPEWAY_AGENT__CURRENCY; 0"
        " sets no limit. What has no known price counts by its tokens alone.",
        example="0.25",
        ge=0,
    )
    parallel_per_person: int = setting(
        4,
        "Maximum answers to one person in progress, in all chats; further questions wait. 0 sets"
        " no limit.",
        ge=0,
    )
    model_calls: int = setting(
        40,
        "Maximum model calls for one answer, subagents' calls included; for the owner, too.",
        ge=1,
        le=10_000,
    )


class ContextSettings(Section):
    """What the model sees of a conversation."""

    mode: Literal["auto", "anchor", "lane"] = setting(
        "auto",
        "What the model sees of a chat. `anchor`: everything since the last anchor. `lane`: one"
        " conversation at a time. `auto`: `anchor` in private chats, `lane` in groups.",
    )
    prompt_tokens: int = setting(32_000, "Maximum tokens in a prompt.", ge=500)
    new_tokens: int = setting(
        4_000, "Maximum tokens of new messages that a turn adds to the conversation.", ge=100
    )
    older_messages: int = setting(
        3,
        "Maximum older group messages shown with a question because they contain the question's"
        " rarest words; 0 shows none.",
        ge=0,
        le=20,
    )
    memory_bytes: int = setting(
        32_000_000,
        "Maximum bytes of memory for what is remembered of the groups that were active last, up to"
        " half a million each; others are read from the database again.",
        ge=1_000_000,
    )
    selection: Literal["rules", "model"] = setting(
        "rules",
        "What chooses the entries that the tool `tape.context` returns: fixed rules, or the model"
        " (one more request for each call; the rules choose if it fails).",
    )
    handoff: Literal["suggest", "auto", "off"] = setting(
        "suggest",
        "What to do when a task looks finished or the budget is nearly used up: suggest an anchor"
        " to the model (`suggest`), also set one if none is set (`auto`), or do nothing (`off`).",
    )


class SearchSettings(Section):
    """Search by meaning, in addition to search by words."""

    embedder: Literal["", "openai", "local"] = setting(
        "",
        "What computes the embeddings: `openai` (any OpenAI-compatible server; the messages are"
        " sent there) or `local` (a model on this machine; needs tapeway[semantic]). If empty,"
        " searches use words only.",
        example="openai",
    )
    model: str = setting(
        "",
        "The embedding model: its name on the server, or a folder for `local`. Default:"
        " text-embedding-3-small, or minishlab/potion-multilingual-128M for `local`.",
        example="nomic-embed-text",
    )
    base_url: ServerAddress = setting(
        "",
        "The base URL of the embedding server. Default: TAPEWAY_AGENT__BASE_URL.",
        example="http://127.0.0.1:11434/v1",
    )
    api_key: Key = setting(
        SecretStr(""),
        "The API key for the embedding server. Default: TAPEWAY_AGENT__API_KEY if the agent"
        " uses the same server, otherwise none.",
        example="sk-...",
    )
    dimensions: int = setting(
        0,
        "The vectors' number of dimensions, if the model offers a choice; 0 uses the default.",
        example="256",
        ge=0,
        le=8192,
    )


class MediaSettings(Section):
    """Images that people send."""

    images: bool = setting(
        True,
        "Show images to the model. A model without vision gets a description instead.",
        example="false",
    )
    max_bytes: int = setting(8_000_000, "Maximum size of an image, in bytes.", ge=1_000)
    max_pixels: int = setting(40_000_000, "Maximum number of pixels in an image.", ge=1_000)
    download_seconds: float = setting(20, "Maximum seconds to download an image.", gt=0, le=600)


class DeliverySettings(Section):
    """How answers are sent."""

    replay_hours: float = setting(
        24,
        "Maximum age, in hours, at which questions asked while the gateway was down are still"
        " answered. Older ones are only recorded, and a notice says so.",
        gt=0,
    )
    ambiguous: Literal["resend", "hold"] = setting(
        "resend",
        "What to do with a message that may or may not have been delivered: `resend` it with a"
        " note, or `hold` it for the operator.",
    )


class LogSettings(Section):
    """The log on standard error."""

    level: Literal["debug", "info", "warning", "error"] = setting(
        "info", "The lowest level that is logged."
    )
    format: Literal["auto", "text", "json"] = setting(
        "auto", "The log's format. `auto`: text on a terminal, JSON otherwise.", example="json"
    )
