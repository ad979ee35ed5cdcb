"""What the settings of the agent, its models and its context mean, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

_CONTEXT: Final = {
    "What the model sees of a chat. `anchor`: everything since the last anchor. `lane`: one"
    " conversation at a time. `auto`: `anchor` in private chats, `lane` in groups.": (
        "模型看到聊天的哪些内容。`anchor`：上一个检查点以来的全部内容。`lane`：一次一个对话。"
        "`auto`：私聊中为 `anchor`，群组中为 `lane`。"
    ),
    "Maximum tokens in a prompt.": "提示的词元数上限。",
    "Maximum tokens of new messages that a turn adds to the conversation.": (
        "一个轮次加入对话的新消息的词元数上限。"
    ),
    "Maximum older group messages shown with a question because they contain the question's"
    " rarest words; 0 shows none.": (
        "因含有问题中最罕见的词而随问题显示的较早群组消息数上限；0 表示不显示。"
    ),
    "Maximum bytes of memory for what is remembered of the groups that were active last, up to"
    " half a million each; others are read from the database again.": (
        "记住最近活跃的群组所用的内存字节数上限，每个群组最多五十万；其余的会再从数据库读取。"
    ),
    "What chooses the entries that the tool `tape.context` returns: fixed rules, or the model"
    " (one more request for each call; the rules choose if it fails).": (
        "由什么选择工具 `tape.context` 返回的记录：固定规则，或模型（每次调用多一个请求；"
        "失败时由规则选择）。"
    ),
    "What to do when a task looks finished or the budget is nearly used up: suggest an anchor"
    " to the model (`suggest`), also set one if none is set (`auto`), or do nothing (`off`).": (
        "任务似乎已完成或额度将用完时怎么做：向模型建议设置检查点（`suggest`）、没有设置时自动设置（`auto`），或什么也不做（`off`）。"
    ),
    "What computes the embeddings: `openai` (any OpenAI-compatible server; the messages are"
    " sent there) or `local` (a model on this machine; needs tapeway[semantic]). If empty,"
    " searches use words only.": (
        "由什么计算嵌入向量：`openai`（任何与 OpenAI 兼容的服务器；消息会发送到那里）或"
        " `local`（这台机器上的模型；需要 tapeway[semantic]）。留空则只按词搜索。"
    ),
    "The embedding model: its name on the server, or a folder for `local`. Default:"
    " text-embedding-3-small, or minishlab/potion-multilingual-128M for `local`.": (
        "嵌入模型：它在服务器上的名称，`local` 时为文件夹。默认：text-embedding-3-small，"
        "`local` 时为 minishlab/potion-multilingual-128M。"
    ),
    "The base URL of the embedding server. Default: TAPEWAY_AGENT__BASE_URL.": (
        "嵌入服务器的基础地址。默认：TAPEWAY_AGENT__BASE_URL。"
    ),
    "The API key for the embedding server. Default: TAPEWAY_AGENT__API_KEY if the agent uses"
    " the same server, otherwise none.": (
        "嵌入服务器的 API 密钥。默认：如果助手使用同一服务器，则为 TAPEWAY_AGENT__API_KEY，"
        "否则没有。"
    ),
    "The vectors' number of dimensions, if the model offers a choice; 0 uses the default.": (
        "向量的维数，如果模型允许选择；0 表示使用默认值。"
    ),
    "Show images to the model. A model without vision gets a description instead.": (
        "向模型显示图片。不支持图片的模型会得到说明文字。"
    ),
    "Maximum size of an image, in bytes.": "一张图片的大小上限（字节）。",
    "Maximum number of pixels in an image.": "一张图片的像素数上限。",
    "Maximum seconds to download an image.": "下载一张图片最多用时的秒数。",
}

_SERVER: Final = {
    "Address of an OpenAI-compatible server. Empty means OPENAI_BASE_URL, or OpenAI itself.": (
        "与 OpenAI 兼容的服务器的地址。留空表示 OPENAI_BASE_URL，或 OpenAI 本身。"
    ),
    "API key for that server. Empty means OPENAI_API_KEY.": (
        "该服务器的 API 密钥。留空表示 OPENAI_API_KEY。"
    ),
    "Seconds to wait for a connection.": "等待连接的秒数。",
    "Maximum seconds of silence from the model, before or during an answer.": (
        "回答之前或期间，模型最多可以没有动静的秒数。"
    ),
    "How many times to repeat a call that fails, or whose answer breaks off.": (
        "调用失败或回答中断时重复的次数。"
    ),
    "Sampling temperature. Empty: the server's.": "采样温度。留空：使用服务器的值。",
    "Maximum tokens of one answer. Empty: the server's.": (
        "一个回答的词元数上限。留空：使用服务器的值。"
    ),
    "How much the model reasons. Empty: the server's.": "模型的推理强度。留空：使用服务器的值。",
    "More HTTP headers, as JSON.": "更多 HTTP 标头，写成 JSON。",
    "More fields of every request, as JSON.": "每个请求的更多字段，写成 JSON。",
    "Offer tools to the model.": "向模型提供工具。",
    "Send images to the model.": "向模型发送图片。",
    "Ask for token counts at the end of a stream.": "请求在流的末尾给出词元数。",
    "Merge consecutive messages of the same role, for servers whose chat template requires"
    " user and assistant to alternate.": (
        "合并同一角色的连续消息，用于聊天模板要求用户与助手交替的服务器。"
    ),
    "IDs of tool calls: `any`, or `nine` letters and digits, as Mistral requires.": (
        "工具调用的编号：`any` 为任意，`nine` 为九个字母和数字，如 Mistral 所要求。"
    ),
    "Put a short answer between a tool's result and a person's message, as Mistral requires.": (
        "在工具结果与人的消息之间插入简短的回答，如 Mistral 所要求。"
    ),
    "How reasoning inside the text is recognized: by its tags (`auto`), as begun before the"
    " first word (`open`), or not at all (`off`).": (
        "如何识别文字中的思考过程：按标记（`auto`）、视为在第一个词之前已开始（`open`），或不识别（`off`）。"
    ),
    "Tags around such reasoning, separated by commas.": "思考过程前后的标记，以逗号分隔。",
    "Size of the context window, in tokens; 0: unknown.": "上下文窗口的大小（词元）；0：未知。",
    "Price of a million prompt tokens, in TAPEWAY_AGENT__CURRENCY. While no price is set, those"
    " of common models are known in USD.": (
        "一百万个提示词元的价格，以 TAPEWAY_AGENT__CURRENCY 计。"
        "未设置任何价格时，常见模型的美元价格是已知的。"
    ),
    "Price of a million cached prompt tokens, in TAPEWAY_AGENT__CURRENCY. Empty: as other"
    " prompt tokens.": (
        "一百万个缓存提示词元的价格，以 TAPEWAY_AGENT__CURRENCY 计。留空：与其他提示词元相同。"
    ),
    "Price of a million tokens of answers, in TAPEWAY_AGENT__CURRENCY. Empty: 0, if another"
    " price is set.": (
        "一百万个回答词元的价格，以 TAPEWAY_AGENT__CURRENCY 计。留空：如已设置其他价格，则为 0。"
    ),
    "Model server of your own that is used while no model is set, from the moment on when it"
    " has the model. Compose's profile `local-model` brings one along.": (
        "没有设置模型时使用的您自己的模型服务器，从它有了该模型起使用。Compose 的"
        " `local-model` 配置自带一个。"
    ),
    "The model there. It must support tool calls.": "那里的模型。它必须支持工具调用。",
    "Size of its context window, in tokens; what is longer, Ollama cuts silently.": (
        "其上下文窗口的大小（词元）；更长的内容会被 Ollama 悄悄截断。"
    ),
    "Maximum seconds of its silence: without a graphics card, a word may take minutes.": (
        "它最多可以没有动静的秒数：没有显卡时，一个词可能需要几分钟。"
    ),
}

_AGENT: Final = {
    "Name of the model, as its server knows it. `offline` needs no network.": (
        "模型在服务器上的名称。`offline` 无需网络。"
    ),
    "Models to try, in order, when the first one fails; separated by commas. A"
    " `[models.NAME]` section of tapeway.toml may give one a server of its own.": (
        "第一个模型失败时依次尝试的模型，以逗号分隔。tapeway.toml 的 `[models.NAME]`"
        " 部分可以为其指定自己的服务器。"
    ),
    "Name of the agent in the chats.": "助手在聊天中的名字。",
    "More names for the agent in groups, separated by commas.": (
        "助手在群组中的其他名字，以逗号分隔。"
    ),
    "Currency of all prices, costs and budgets, as its three letters (ISO 4217). It names the"
    " amounts; nothing is converted.": (
        "所有价格、费用和额度的货币，写成三个字母（ISO 4217）。它只用于标示金额，不作换算。"
    ),
    "Maximum model calls in one turn.": "一个轮次的模型调用次数上限。",
    "Maximum seconds for one tool call.": "一次工具调用最多用时的秒数。",
    "Ask the model for a word after the start, at most hourly, to see that it answers.": (
        "启动后请模型说一个词，最多每小时一次，以确认它会作答。"
    ),
    "Maximum subagents that work on one answer at the same time; 0 turns them off.": (
        "同时为一个回答工作的子助手数上限；0 表示不使用。"
    ),
    "Maximum model calls of one subagent.": "一个子助手的模型调用次数上限。",
    "More hosts whose links stay whole in answers where text of others is in view, separated"
    " by commas; `*.` stands for one or two labels before a host. List only hosts that tell"
    " nobody else what they are asked for.": (
        "更多主机：在能看到他人文字的回答中，这些主机的链接保持完整；以逗号分隔，`*.` 表示主机名前"
        "的一级或两级名称。只列出不会把收到的请求内容告诉他人的主机。"
    ),
    "How to count the tokens of a prompt before sending it: `estimate` (corrected by the"
    " usage that the server reports), or `exact` (with the model's own vocabulary, if it is"
    " known; needs `tapeway[exact]`).": (
        "发送前如何计算提示的词元数：`estimate`（估算，按服务器报告的用量修正），或 `exact`"
        "（用模型自己的词表，如果已知；需要 `tapeway[exact]`）。"
    ),
}

SETTINGS_OF_AGENT: Final = {**_CONTEXT, **_SERVER, **_AGENT}
