"""What is known about the models and their servers, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

_ANSWERS: Final = {
    "something went wrong while I was working on it": "处理时出错了",
    "the model service failed": "模型服务出错",
    "this conversation has become too long for the model; `,reset` starts a new one": (
        "这个对话对模型来说太长了；`,reset` 可以开始新的对话"
    ),
    "the model service rejected the API key (the operator can set TAPEWAY_AGENT__API_KEY)": (
        "模型服务拒绝了 API 密钥（运维者可设置 TAPEWAY_AGENT__API_KEY）"
    ),
    "the model service doesn't know the model (the operator can set TAPEWAY_AGENT__MODEL)": (
        "模型服务不认识该模型（运维者可设置 TAPEWAY_AGENT__MODEL）"
    ),
    "the model service isn't at its address (the operator can set TAPEWAY_AGENT__BASE_URL, which"
    " mostly ends with /v1)": (
        "模型服务不在其地址上（运维者可设置 TAPEWAY_AGENT__BASE_URL，通常以 /v1 结尾）"
    ),
    "the model service has another address now (the operator can set TAPEWAY_AGENT__BASE_URL)": (
        "模型服务现在有另一个地址（运维者可设置 TAPEWAY_AGENT__BASE_URL）"
    ),
    "the model took too long; please ask again, or for less at once (the operator can raise"
    " TAPEWAY_AGENT__READ_TIMEOUT)": (
        "模型用时太长，请重试，或一次少问一些（运维者可调大 TAPEWAY_AGENT__READ_TIMEOUT）"
    ),
    "the model service is busy; please try again in a moment": "模型服务繁忙，请稍后再试",
    "the account's token limit at the model service is used up for now; please try again later (the"
    " operator can raise the plan's limit)": (
        "模型服务账户的词元限额暂时已用完，请稍后再试（运维者可提高套餐限额）"
    ),
    "the account at the model service is empty (the operator can add credit at the provider, or set"
    " another TAPEWAY_AGENT__API_KEY)": (
        "模型服务的账户余额已用完（运维者可向提供方充值，或设置另一个 TAPEWAY_AGENT__API_KEY）"
    ),
    "I can't reach the model service; please try again later": "无法连接模型服务，请稍后再试",
    "the model service is having trouble; please try again later": "模型服务出现故障，请稍后再试",
    "the model service rejected the request": "模型服务拒绝了请求",
    "the model service allows fewer output tokens than are configured (the operator can lower the"
    " maximum of output tokens)": (
        "模型服务允许的输出词元少于设置值（运维者可降低输出词元的上限）"
    ),
    "the model's answer broke off; please ask again": "模型的回答中断了，请再问一次",
    "the model said nothing; please ask again": "模型什么也没说，请再问一次",
    "the model thought about it, but gave no answer; please ask again": (
        "模型思考了，但没有给出回答，请再问一次"
    ),
    "the model reached its limit for one answer before it said anything (the operator can raise the"
    " maximum of output tokens, or lower the reasoning effort)": (
        "模型在说出任何内容之前就达到了单次回答的上限（运维者可提高输出词元的上限，或降低推理强度）"
    ),
    "the model service's content filter withheld the answer; please ask differently": (
        "模型服务的内容过滤器拦下了回答，请换一种问法"
    ),
    "the model refused to answer that": "模型拒绝回答这个问题",
    "I took too many steps without reaching an answer; please ask for less at once": (
        "走了太多步仍没有得出回答，请一次少问一些"
    ),
}
"""Why an answer failed."""

_PROBED: Final = {
    "{model} answered in {seconds} s": "{model} 在 {seconds} 秒内作答",
    "{why} (asked at {moment} UTC)": "{why}（询问时间 {moment} UTC）",
    "{server} has no model API, but {versioned} has: set TAPEWAY_AGENT__BASE_URL={address}": (
        "{server} 没有模型接口，但 {versioned} 有：请设置 TAPEWAY_AGENT__BASE_URL={address}"
    ),
    "{server} does not answer within {seconds} s: start the server, or set TAPEWAY_AGENT__BASE_URL"
    " to another one": (
        "{server} 在 {seconds} 秒内没有答复：请启动该服务器，或将 TAPEWAY_AGENT__BASE_URL"
        " 设为另一个"
    ),
    "no secure connection to {server}: correct its certificate, or http and https in"
    " TAPEWAY_AGENT__BASE_URL": (
        "无法与 {server} 建立安全连接：请更正其证书，或 TAPEWAY_AGENT__BASE_URL 中的 http 与 https"
    ),
    "nothing answers at {server}: start the server, or set TAPEWAY_AGENT__BASE_URL to another"
    " one": ("{server} 没有任何答复：请启动该服务器，或将 TAPEWAY_AGENT__BASE_URL 设为另一个"),
    "{server} redirects to {target}, which is not followed: if you trust it, set"
    " TAPEWAY_AGENT__BASE_URL={address}": (
        "{server} 重定向到 {target}，网关不会跟随：如果信任该地址，请设置"
        " TAPEWAY_AGENT__BASE_URL={address}"
    ),
    "{server} redirects elsewhere: set TAPEWAY_AGENT__BASE_URL to its new address": (
        "{server} 重定向到别处：请将 TAPEWAY_AGENT__BASE_URL 设为其新地址"
    ),
    "{model} at {server} takes too long: raise TAPEWAY_AGENT__READ_TIMEOUT, or choose a smaller"
    " model": (
        "{server} 的 {model} 用时太长：请调大 TAPEWAY_AGENT__READ_TIMEOUT，或选择较小的模型"
    ),
    "the proxy {proxy} is not there: correct {variable}, or remove it; NO_PROXY may name {host},"
    " which is then reached without it": (
        "代理 {proxy} 没有运行：请更正或删除 {variable}；NO_PROXY 中可写入 {host}，即可不经代理连接"
    ),
    "the proxy {proxy} answers with {status}: correct {variable}, or remove it; NO_PROXY may name"
    " {host}, which is then reached without it": (
        "代理 {proxy} 的答复状态为 {status}：请更正或删除 {variable}；NO_PROXY 中可写入 {host}，"
        "即可不经代理连接"
    ),
    "{server} refuses the API key: set TAPEWAY_AGENT__API_KEY to a valid one": (
        "{server} 拒绝 API 密钥：请将 TAPEWAY_AGENT__API_KEY 设为有效的密钥"
    ),
    "{server} requires an API key: set TAPEWAY_AGENT__API_KEY to a valid one": (
        "{server} 需要 API 密钥：请将 TAPEWAY_AGENT__API_KEY 设为有效的密钥"
    ),
    "the account at {server} is empty: add credit at the provider, or set another"
    " TAPEWAY_AGENT__API_KEY": (
        "{server} 的账户余额已用完：请向提供方充值，或设置另一个 TAPEWAY_AGENT__API_KEY"
    ),
    "{server} is over its limits: answers may have to wait": "{server} 超出限额：回答可能需要等待",
    "{server} answers 404: set TAPEWAY_AGENT__BASE_URL={address}": (
        "{server} 答复 404：请设置 TAPEWAY_AGENT__BASE_URL={address}"
    ),
    "{server} has no model {model}: set TAPEWAY_AGENT__MODEL": (
        "{server} 没有模型 {model}：请设置 TAPEWAY_AGENT__MODEL"
    ),
    "{server} has no model {model}: set TAPEWAY_AGENT__MODEL, for example"
    " TAPEWAY_AGENT__MODEL={example}": (
        "{server} 没有模型 {model}：请设置 TAPEWAY_AGENT__MODEL，例如"
        " TAPEWAY_AGENT__MODEL={example}"
    ),
    "{server} gives no answer from {model}: {detail}": "{server} 没有给出 {model} 的回答：{detail}",
    "{model} on {server} refuses {what}, so requests go without it for a day (since {moment}"
    " UTC)": ("{server} 上的 {model} 拒绝 {what}，因此一天内的请求都不带它（自 {moment} UTC）"),
    "{model} on {server} begins its answers inside reasoning, so text is held back until the"
    " closing"
    ' tag; set `reasoning = "open"` to have that from the first answer (since {moment} UTC)': (
        "{server} 上的 {model} 以推理内容开始回答，因此在结束标记之前不显示文字；设置"
        ' `reasoning = "open"` 可从第一个回答起就这样处理（自 {moment} UTC）'
    ),
}
"""What a probe of the model saw, and what was learned from refusals."""

_REMEDIES: Final = {
    "Create a key at the provider, and set TAPEWAY_AGENT__API_KEY to it.": (
        "请在提供方创建密钥，并将 TAPEWAY_AGENT__API_KEY 设为该密钥。"
    ),
    "Set TAPEWAY_AGENT__MODEL to a name from the server's list of models.": (
        "请将 TAPEWAY_AGENT__MODEL 设为服务器模型列表中的名称。"
    ),
    "Correct TAPEWAY_AGENT__BASE_URL.": "请更正 TAPEWAY_AGENT__BASE_URL。",
    "Start the server, or correct TAPEWAY_AGENT__BASE_URL. In a container, 127.0.0.1 is the"
    " container itself: use host.docker.internal for a server on the host.": (
        "请启动服务器，或更正 TAPEWAY_AGENT__BASE_URL。在容器中，127.0.0.1 指容器本身："
        "主机上的服务器"
        "请用 host.docker.internal。"
    ),
    "If you trust the new address, set TAPEWAY_AGENT__BASE_URL to it. If it is a sign-in page of"
    " your network, sign in.": (
        "如果信任新地址，请将 TAPEWAY_AGENT__BASE_URL 设为该地址。如果是网络的登录页面，请登录。"
    ),
    "Correct the named variable, or remove it. NO_PROXY lists the hosts that need no proxy.": (
        "请更正或删除所指的变量。NO_PROXY 列出不需要代理的主机。"
    ),
    "Correct http or https in TAPEWAY_AGENT__BASE_URL, or install the server's certificate.": (
        "请更正 TAPEWAY_AGENT__BASE_URL 中的 http 或 https，或安装服务器的证书。"
    ),
    "Ask again when it is loaded, choose a smaller model, or raise TAPEWAY_AGENT__READ_TIMEOUT.": (
        "请待模型加载后再问，选择较小的模型，或调大 TAPEWAY_AGENT__READ_TIMEOUT。"
    ),
    "Add credit at the provider, or set another TAPEWAY_AGENT__API_KEY.": (
        "请向提供方充值，或设置另一个 TAPEWAY_AGENT__API_KEY。"
    ),
    "Wait, raise the plan's limits, or name TAPEWAY_AGENT__FALLBACK_MODELS.": (
        "请等待、提高套餐限额，或指定 TAPEWAY_AGENT__FALLBACK_MODELS。"
    ),
    "Set TAPEWAY_AGENT__BASE_URL to the address of the API, which mostly ends with /v1.": (
        "请将 TAPEWAY_AGENT__BASE_URL 设为接口的地址，通常以 /v1 结尾。"
    ),
    "Load the model with a larger context (Ollama: num_ctx, llama.cpp: --ctx-size), or choose"
    " another one.": (
        "请用更大的上下文加载模型（Ollama：num_ctx，llama.cpp：--ctx-size），或选择另一个模型。"
    ),
    "Look at the server's words above and at its own log or status page.": (
        "请查看上面服务器的原话，以及它自己的日志或状态页。"
    ),
}
"""What to do about a model that does not answer."""

MODELS: Final = {**_ANSWERS, **_PROBED, **_REMEDIES}
