"""What the settings of the gateway and its platforms mean, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

_HOME: Final = {
    "The home folder, which holds the gateway's files, including its database.": (
        "主目录，存放网关的文件，包括数据库。"
    ),
    "The folder the agent works in, with its AGENTS.md. Each workspace has tapes of its own."
    " Default: `workspace` in the home folder.": (
        "助手工作的文件夹，其中有 AGENTS.md。每个工作区有自己的磁带。默认：主目录中的 `workspace`。"
    ),
    "Settings of single models, for the one in use and for fallback models. Write them as"
    " sections [models.NAME] of tapeway.toml, or here as JSON.": (
        "各个模型的设置，用于正在使用的模型和备用模型。请写在 tapeway.toml 的 [models.NAME]"
        " 部分，或在这里写成 JSON。"
    ),
    "The lowest level that is logged.": "写入日志的最低级别。",
    "The log's format. `auto`: text on a terminal, JSON otherwise.": (
        "日志的格式。`auto`：终端上为文本，其他情况为 JSON。"
    ),
}

_HTTP: Final = {
    "The address to listen on. Addresses other than loopback require a token or a token file.": (
        "监听的地址。回环地址以外的地址需要令牌或令牌文件。"
    ),
    "The port to listen on.": "监听的端口。",
    "The page's access token; it needs 16 characters if `host` is not loopback. Without it or"
    " a token file, only the user who runs the gateway has access, on this machine.": (
        "页面的访问令牌；如果 `host` 不是回环地址，至少需要 16 个字符。"
        "没有令牌也没有令牌文件时，只有在这台机器上运行网关的用户可以访问。"
    ),
    "A file in the home folder that holds the access token; created on startup if missing."
    " Ignored if a token is set.": (
        "主目录中存放访问令牌的文件；如果没有，启动时会创建。设置了令牌时忽略。"
    ),
    "The address under which browsers reach the gateway, for the links that it gives in chats.": (
        "浏览器访问网关的地址，用于网关在聊天中给出的链接。"
    ),
    "Reverse proxies whose X-Forwarded-Proto and X-Forwarded-For headers are trusted:"
    " addresses and networks, separated by commas, or `*` for all.": (
        "信任其 X-Forwarded-Proto 和 X-Forwarded-For 标头的反向代理：以逗号分隔的地址和网段，"
        "`*` 表示全部。"
    ),
    "A port of its own for `/metrics`, which it serves without a login and with nothing"
    " beside it. 0: none; on the main port, the metrics are for the owner.": (
        "`/metrics` 的专用端口，无需登录，也不提供其他内容。0：没有；在主端口上，"
        "指标仅供所有者查看。"
    ),
    "The address of that port. Whoever reaches it reads the metrics: on a loopback address,"
    " the users of this machine.": (
        "该端口的地址。能访问它的人都能读取指标：如果是回环地址，就是这台机器的用户。"
    ),
    "Serve the chat page at the gateway's address.": "在网关的地址上提供聊天页面。",
    "Show the model's reasoning on the page, folded, to the owner, but not to invited members.": (
        "在页面上向所有者显示模型的思考过程（折叠），但不向受邀成员显示。"
    ),
    "Allow `tapeway chat` to connect to this gateway.": "允许 `tapeway chat` 连接此网关。",
    "Show the model's reasoning and its tools in `tapeway chat`, to the owner.": (
        "在 `tapeway chat` 中向所有者显示模型的思考过程和工具。"
    ),
}

_TAPES: Final = {
    "Where the tapes are stored: a SQLite database, a folder of JSONL files (file:///folder),"
    " or PostgreSQL (postgresql://user@host/database). Default: tapeway.db in the home folder.": (
        "磁带的存放位置：SQLite 数据库、JSONL 文件的文件夹（file:///folder）或 PostgreSQL"
        "（postgresql://user@host/database）。默认：主目录中的 tapeway.db。"
    ),
    "Size of a reserve file, in bytes. It is deleted when the disk fills up, so that answers"
    " in progress can still be saved. Not for PostgreSQL.": (
        "预留文件的大小（字节）。磁盘将满时会删除它，使正在进行的回答仍能保存。不适用于"
        " PostgreSQL。"
    ),
    "Seconds after which PostgreSQL counts as away if it has not answered.": (
        "PostgreSQL 多少秒没有回应就视为不在。"
    ),
    "Maximum connections of this process to PostgreSQL; one more listens.": (
        "此进程到 PostgreSQL 的最大连接数；另有一个用于监听。"
    ),
    "Days after which the ledger is emptied of the content of what was answered and sent; the"
    " tapes keep it. 0 keeps it there, too.": (
        "多少天后从账本中移除已回答和已发送的内容；磁带会保留它。0 表示账本中也保留。"
    ),
    "How many days messages are kept, by chat, as JSON; `*` stands for every other chat."
    " Older entries are erased once a day. Default: for ever.": (
        "各聊天的消息保留多少天，写成 JSON；`*` 代表其他所有聊天。更早的记录每天清除一次。"
        "默认：永久保留。"
    ),
    "What this process does: `ingress` receives messages, `worker` answers them, `all` does"
    " both. `tapeway gateway --role` overrules it.": (
        "此进程的职责：`ingress` 接收消息，`worker` 回答消息，`all` 两者都做。`tapeway"
        " gateway --role` 优先于它。"
    ),
    "Seconds after which a session is taken over from a process that no longer answers.": (
        "进程不再应答多少秒后，由其他进程接手其会话。"
    ),
    "Seconds after which another process receives a platform's messages in the place of one"
    " that no longer answers.": ("进程不再应答多少秒后，由另一进程代替它接收平台的消息。"),
    "Seconds for which a process keeps a session that has nothing to do.": (
        "进程保留空闲会话的秒数。"
    ),
    "Bytes of images to keep. Beyond that, the oldest go, but none of the last ten minutes.": (
        "保留图片的字节数。超出时移除最早的，但不移除最近十分钟的。"
    ),
    "The database's own address, if TAPEWAY_TAPE__URL is a PgBouncer that cannot LISTEN."
    " Default: the same URL.": (
        "数据库本身的地址，用于 TAPEWAY_TAPE__URL 是不支持 LISTEN 的 PgBouncer 的情况。默认："
        "同一地址。"
    ),
}

_CHATS: Final = {
    "`paired`: only the owner, and what the owner opens. `open`: everybody.": (
        "`paired`：仅所有者以及所有者开放的聊天和人。`open`：所有人。"
    ),
    "What to do with other bots' questions: `ignore` them, or `answer` up to 20 per minute.": (
        "如何处理其他机器人的问题：`ignore` 为忽略，`answer` 为每分钟最多回答 20 个。"
    ),
    "Chats and people who may talk to the agent from the first start on, as channel:id,"
    " separated by commas; people in private only. Not needed: the owner opens chats, and"
    " `tapeway access` changes who has access, without a restart.": (
        "从首次启动起就可与助手对话的聊天和人，写成“渠道:编号”，以逗号分隔；人员仅限私聊。"
        "可以不填：所有者可以开放聊天，`tapeway access` 可以更改权限，无需重新启动。"
    ),
    "Seconds to wait after a message for the next one from the same author.": (
        "收到消息后等待同一作者下一条消息的秒数。"
    ),
    "Maximum seconds to wait after the first message from the same author.": (
        "从同一作者的第一条消息起最多等待的秒数。"
    ),
    "What to do with a question if its conversation is already being answered: let it wait"
    " (`follow_up`), add it to the running answer (`steer`), or stop that answer and start"
    " over (`interrupt`). `steer` and `interrupt` apply only if the author is the same.": (
        "对话正在被回答时如何处理新问题：让它等待（`follow_up`）、加入正在进行的回答"
        "（`steer`），或停止该回答并重新开始（`interrupt`）。`steer` 和 `interrupt`"
        " 仅在作者相同时适用。"
    ),
    "Maximum seconds for one answer.": "一个回答最多用时的秒数。",
    "Maximum conversations per chat that are answered at the same time.": (
        "每个聊天同时回答的对话数上限。"
    ),
    "Maximum answers in progress across all chats; beyond that, chats take turns.": (
        "所有聊天中同时进行的回答数上限；超出时各聊天轮流进行。"
    ),
    "Maximum questions waiting per chat; further ones are declined with a notice.": (
        "每个聊天中等待的问题数上限；超出的会被谢绝并收到通知。"
    ),
    "Maximum age, in hours, at which questions asked while the gateway was down are still"
    " answered. Older ones are only recorded, and a notice says so.": (
        "网关停机期间提出的问题在多少小时内仍会回答。更早的只作记录，并有通知说明。"
    ),
    "What to do with a message that may or may not have been delivered: `resend` it with a"
    " note, or `hold` it for the operator.": (
        "如何处理不确定是否已送达的消息：`resend` 为附上说明重新发送，`hold` 为保留给运维者处理。"
    ),
}

_BUDGETS: Final = {
    "Maximum answers to one member or admin per chat and day; 0 sets no limit.": (
        "每个聊天每天对一名成员或管理员的回答数上限；0 表示不限。"
    ),
    "Maximum answers to one stranger per chat and day; 0 sets no limit.": (
        "每个聊天每天对一名陌生人的回答数上限；0 表示不限。"
    ),
    "Maximum tokens for one member or admin per chat and day; 0 sets no limit.": (
        "每个聊天每天一名成员或管理员的词元数上限；0 表示不限。"
    ),
    "Maximum tokens for one stranger per chat and day; 0 sets no limit.": (
        "每个聊天每天一名陌生人的词元数上限；0 表示不限。"
    ),
    "Maximum cost for one member or admin per chat and day, in TAPEWAY_AGENT__CURRENCY; 0"
    " sets no limit. What has no known price counts by its tokens alone.": (
        "每个聊天每天一名成员或管理员的费用上限，以 TAPEWAY_AGENT__CURRENCY 计；0 表示不限。"
        "价格未知的用量只按词元数计。"
    ),
    "Maximum cost for one stranger per chat and day, in TAPEWAY_AGENT__CURRENCY; 0 sets no"
    " limit. What has no known price counts by its tokens alone.": (
        "每个聊天每天一名陌生人的费用上限，以 TAPEWAY_AGENT__CURRENCY 计；0 表示不限。"
        "价格未知的用量只按词元数计。"
    ),
    "Maximum answers to one person in progress, in all chats; further questions wait. 0 sets"
    " no limit.": ("所有聊天中对一个人同时进行的回答数上限；其余问题等待。0 表示不限。"),
    "Maximum model calls for one answer, subagents' calls included; for the owner, too.": (
        "一个回答的模型调用次数上限，包括子助手的调用；对所有者同样适用。"
    ),
}

_PLATFORMS: Final = {
    "Proxy for requests to {platform}.": "向 {platform} 发送请求时使用的代理。",
    "Maximum messages per second over all chats; 0: no maximum.": (
        "所有聊天每秒的消息数上限；0：不限。"
    ),
}

_SLACK: Final = {
    "The app's bot token (OAuth & Permissions, Bot User OAuth Token). Slack is off unless a"
    " token, a signing secret or a file of installations is set.": (
        "应用的机器人令牌（OAuth & Permissions，Bot User OAuth Token）。没有设置令牌、"
        "签名密钥或安装记录文件时，Slack 不启用。"
    ),
    "The app-level token with connections:write (Basic Information). With it, events come"
    " over Socket Mode, which needs no public address.": (
        "带有 connections:write 权限的应用级令牌（Basic Information）。有了它，事件通过"
        " Socket Mode 到达，无需公开地址。"
    ),
    "The app's signing secret (Basic Information). With it, and without an app-level token,"
    " events come to this gateway's /slack/events.": (
        "应用的签名密钥（Basic Information）。有签名密钥而没有应用级令牌时，"
        "事件发送到此网关的 /slack/events。"
    ),
    "The address of Slack's Web API.": "Slack Web API 的地址。",
    "The only address to fetch files from. Empty: files.slack.com, or the host of BASE_URL if"
    " that is set.": (
        "唯一可以从中取得文件的地址。留空：files.slack.com，或 BASE_URL 的主机（如已设置）。"
    ),
    "The messages that the agent answers: direct messages (private); in channels, those that"
    " mention it (mention), reply in the thread of one of its messages (reply), call it by"
    " name (name), or continue a thread in which it was addressed (thread).": (
        "助手回答哪些消息：私聊消息（private）；在频道中，提及它的（mention）、在它的消息的话题中回复的（reply）、叫它名字的（name），或在曾向它提问的话题中继续的（thread）。"
    ),
    "Seconds that a message waits for earlier ones, because Slack does not deliver events in"
    " order.": ("一条消息等待更早消息的秒数，因为 Slack 不按顺序发送事件。"),
    "A JSON file (readable by its owner only) with the bot tokens of more workspaces."
    " /slack/install writes it.": (
        "存放其他工作区机器人令牌的 JSON 文件（仅其所有者可读）。由 /slack/install 写入。"
    ),
    "The app's client ID (Basic Information). With it, the client secret, a file of"
    " installations and a public address, /slack/install adds the app to a workspace.": (
        "应用的客户端 ID（Basic Information）。有了它、客户端密钥、安装记录文件和公开地址，"
        "/slack/install 就能把应用加入工作区。"
    ),
    "The app's client secret (Basic Information).": "应用的客户端密钥（Basic Information）。",
}

_TELEGRAM: Final = {
    "The bot's token from @BotFather. Leave empty to disable Telegram.": (
        "来自 @BotFather 的机器人令牌。留空则不启用 Telegram。"
    ),
    "Address of the Bot API. Change it to use your own Bot API server.": (
        "Bot API 的地址。使用自己的 Bot API 服务器时请更改。"
    ),
    "What the agent answers: private chats; in groups, mentions, replies to it and its name;"
    " with `topic` every message in a forum topic where it was asked before.": (
        "助手回答什么：私聊；在群组中，提及它、回复它和叫它名字的消息；有 `topic` 时，"
        "还有曾向它提问的论坛话题中的每条消息。"
    ),
    "Ids of the chats where answers are rich messages, with headings, lists, tables and formulas as"
    " Telegram draws them, separated by commas; leave empty for none. Older apps show only a"
    " placeholder in their place.": (
        "在哪些聊天中以富文本消息回答（由 Telegram 绘制标题、列表、表格和公式）：填写聊天的 id，"
        "用逗号分隔；留空则都不用。较旧的应用只会显示一个占位提示。"
    ),
    "Public https address at which Telegram reaches this gateway's /webhooks/telegram. Leave"
    " empty to poll Telegram for updates.": (
        "Telegram 访问此网关 /webhooks/telegram 的公开 https 地址。留空则轮询 Telegram 的更新。"
    ),
    "Secret that Telegram sends with each update. Leave empty to generate one at each start.": (
        "Telegram 随每个更新发送的密钥。留空则每次启动时生成。"
    ),
    "Seconds that a poll waits for an update.": "一次轮询等待更新的秒数。",
    "Maximum messages and edits per minute in a group; 0: no maximum.": (
        "一个群组每分钟的消息和编辑数上限；0：不限。"
    ),
}

_DISCORD: Final = {
    "The bot's token, from the developer portal (Bot, Reset Token). Leave empty to disable"
    " Discord.": ("来自开发者门户（Bot，Reset Token）的机器人令牌。留空则不启用 Discord。"),
    "Base URL of Discord's API.": "Discord API 的基础地址。",
    "URL of Discord's gateway, which sends events.": "发送事件的 Discord 网关的地址。",
    "Hosts that attachments may be downloaded from, separated by commas. The host of BASE_URL"
    " is always allowed.": ("可以从中下载附件的主机，以逗号分隔。BASE_URL 的主机始终允许。"),
    "Messages that the agent answers, separated by commas: private messages, and in a server"
    " a mention, a reply to it, its name, or any message in a thread where it was addressed"
    " before (`thread`).": (
        "助手回答哪些消息，以逗号分隔：私聊消息；在服务器中，提及它、回复它、叫它名字的消息，或曾向它提问的话题中的任何消息（`thread`）。"
    ),
    "Number of gateway connections (shards). 0 means a single one, which Discord allows for"
    " up to 2500 servers.": (
        "网关连接（分片）的数量。0 表示一个，Discord 允许它最多对应 2500 个服务器。"
    ),
}

SETTINGS_OF_GATEWAY: Final = {
    **_HOME,
    **_HTTP,
    **_TAPES,
    **_CHATS,
    **_BUDGETS,
    **_PLATFORMS,
    **_SLACK,
    **_TELEGRAM,
    **_DISCORD,
}
