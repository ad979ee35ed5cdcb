"""What channels say of their connection, and what every platform can lack, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

_STATES: Final = {
    "another process listens": "由另一进程接收",
    "another process listens ({owner})": "由另一进程接收（{owner}）",
    "another process is to listen": "等待另一进程接收",
    "it failed ({error})": "出错（{error}）",
    "its connection shows no sign of life": "连接没有任何活动",
    "not connected": "未连接",
    "the channel ends": "渠道正在结束",
    "the channel {channel} was not started": "渠道 {channel} 没有启动",
    "the server is not ready yet": "服务器尚未就绪",
    "the server's answer to getMe has no id": "服务器对 getMe 的答复中没有编号",
    "Telegram's answer cannot be parsed ({error})": "无法解析 Telegram 的答复（{error}）",
    "Discord rejected the token once (401)": "Discord 拒绝了一次令牌（401）",
    "Discord does not identify the bot": "Discord 没有说明机器人的身份",
    "Discord does not identify the bot: {error}": "Discord 没有说明机器人的身份：{error}",
    "Discord closed the connection ({code}); reconnecting": (
        "Discord 关闭了连接（{code}）；正在重新连接"
    ),
    "the connection to Discord was lost ({error}); reconnecting": (
        "与 Discord 的连接已断开（{error}）；正在重新连接"
    ),
    "Slack keeps asking to wait": "Slack 一再要求等待",
    "Slack rejected a valid token. Retrying.": "Slack 拒绝了有效的令牌。正在重试。",
    "Slack's auth.test does not say who the app is": "Slack 的 auth.test 没有说明应用的身份",
    "the workspace cannot be reached yet": "暂时无法连接该工作区",
    "the platform asks to wait for {seconds} s": "平台要求等待 {seconds} 秒",
    "the file could not be fetched ({error})": "无法取得文件（{error}）",
}

_DETAILS: Final = {
    "no answer": "没有答复",
    "no answer in time": "没有及时答复",
    "no connection": "没有连接",
    "the connection broke": "连接中断",
    "it answered with {status}, to {host}": "答复的状态为 {status}，指向 {host}",
    "it answered with {status}": "答复的状态为 {status}",
    "to wait for {seconds} s": "要等待 {seconds} 秒",
    "the checks took too long": "检查耗时太长",
}
"""What stands in brackets after a sign of a trouble."""

_CONNECTIONS: Final = {
    "{platform} cannot be reached now.": "现在无法连接 {platform}。",
    "There is no way to {host}, or to the server that {setting} names: the network, its name"
    " server, a firewall, or {platform} itself.": (
        "无法到达 {host} 或 {setting} 指定的服务器：可能是网络、域名服务器、防火墙或"
        " {platform} 本身的问题。"
    ),
    "Check that this machine reaches that server; if it needs a proxy, set {proxy}.": (
        "请检查这台机器能否连接该服务器；如果需要代理，请设置 {proxy}。"
    ),
    "The gateway keeps trying.": "网关会继续尝试。",
    "The proxy for {platform} does not let the gateway through.": "{platform} 的代理不让网关通过。",
    "{proxy} names a proxy that is down or refuses the connection.": (
        "{proxy} 指定的代理没有运行，或拒绝连接。"
    ),
    "Check its address, user and password, or leave {proxy} empty.": (
        "请检查其地址、用户名和密码，或将 {proxy} 留空。"
    ),
    "The server for {platform} redirects to another address.": (
        "{platform} 的服务器重定向到另一个地址。"
    ),
    "{setting} names a server that has moved, or a sign-in page of the network answers.": (
        "{setting} 指定的服务器已迁移，或者是网络的登录页面在答复。"
    ),
    "The gateway does not follow: another host would get the token.": (
        "网关不会跟随：否则令牌会交给另一台主机。"
    ),
    "If you trust the new address, set {setting} to it.": (
        "如果信任新地址，请将 {setting} 设为该地址。"
    ),
    "Otherwise, sign in to the network, or leave {setting} empty.": (
        "否则，请登录网络，或将 {setting} 留空。"
    ),
    "The secure connection to {platform} fails.": "与 {platform} 的安全连接失败。",
    "This machine does not trust the certificate: its clock is wrong, its list of authorities is"
    " missing or old, or a firewall reads the traffic.": (
        "这台机器不信任该证书：时钟不准、证书颁发机构列表缺失或过旧，或者防火墙在读取流量。"
    ),
    "Check the clock, and install the package ca-certificates or your company's certificate.": (
        "请检查时钟，并安装 ca-certificates 软件包或贵公司的证书。"
    ),
    "{platform} asks the bot to wait.": "{platform} 要求机器人等待。",
    "The bot sent more requests than {platform} allows.": (
        "机器人发送的请求超过了 {platform} 允许的数量。"
    ),
    "Wait: the gateway goes on by itself.": "请等待：网关会自行继续。",
    "If it happens often, check that no other program uses this token.": (
        "如果经常发生，请检查是否有其他程序使用此令牌。"
    ),
    "Something in front of {platform} refuses the bot's requests.": (
        "{platform} 前面的某个设备拒绝了机器人的请求。"
    ),
    "A proxy, a firewall or a provider's filter answers with a page in the place of {platform}.": (
        "代理、防火墙或运营商的过滤器代替 {platform} 返回了网页。"
    ),
    "Let this machine through to that address, or set {proxy} or {setting}.": (
        "请允许这台机器访问该地址，或设置 {proxy} 或 {setting}。"
    ),
    "Answers wait meanwhile, as long as a question may.": (
        "在此期间回答会等待，最长与问题的时限相同。"
    ),
    "{setting} is not the token of a {platform} bot.": "{setting} 不是 {platform} 机器人的令牌。",
    "It holds something else, such as another platform's token.": (
        "其中是别的内容，例如另一个平台的令牌。"
    ),
    "It was not sent to {platform}.": "它没有发送给 {platform}。",
    "no token is set": "没有设置令牌",
    "The log has no `channel.ready` for {channel}.": "日志中没有 {channel} 的 `channel.ready`。",
    "{platform} is off, since the gateway got no token.": (
        "{platform} 未启用，因为网关没有得到令牌。"
    ),
    "It reads the `.env` of a clone only if you start it there with `make run`.": (
        "只有在克隆的仓库里用 `make run` 启动时，它才会读取那里的 `.env`。"
    ),
    "Run `tapeway init`, paste the token, and restart.": (
        "请运行 `tapeway init`，粘贴令牌，然后重新启动。"
    ),
    "For scripts and Docker, set {setting}.": "在脚本和 Docker 中，请设置 {setting}。",
}
"""The troubles of the way to any platform, and of its token."""

CHANNELS: Final = {**_STATES, **_DETAILS, **_CONNECTIONS}
