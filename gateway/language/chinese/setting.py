"""What the console says of what it has done and tried, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

DONE: Final = {
    "The session of {person} has ended.": "{person} 的会话已结束。",
    "{found}: {cause}": "{found}：{cause}",
    "{count} message since {moment}|{count} messages since {moment}": (
        "自 {moment} 起的 {count} 条消息"
    ),
    "The first {count} message since {moment}|The first {count} messages since {moment}": (
        "自 {moment} 起的前 {count} 条消息"
    ),
}

SETTING: Final = {
    "This gateway was started without the means to change its settings.": (
        "此网关启动时没有更改设置的能力。"
    ),
    "the request has no values": "请求中没有值",
    "Several processes share this database, and each has settings of its own: set"
    " TAPEWAY_AGENT__MODEL, TAPEWAY_AGENT__API_KEY and the tokens for all of them, and"
    " restart them": (
        "多个进程共用此数据库，各有自己的设置：请为所有进程设置 TAPEWAY_AGENT__MODEL、"
        "TAPEWAY_AGENT__API_KEY 和令牌，并重新启动它们"
    ),
    "A plugin brings this channel: its settings are the plugin's": (
        "此渠道由插件提供：其设置属于该插件"
    ),
    "The settings have changed meanwhile: look at them, and save once more": (
        "设置在此期间已被更改：请查看后再次保存"
    ),
    "Name a model, such as gpt-5-mini": "请填写模型名称，例如 gpt-5-mini",
    "Enter the key for this address, or say that the server needs none: a stored key is sent to no"
    " other address than its own": (
        "请输入此地址的密钥，或说明服务器不需要密钥：已保存的密钥不会发往其他地址"
    ),
    "{name} is set in {place}, so it cannot be changed here: change it there": (
        "{name} 在 {place} 中设置，因此不能在这里更改：请在那里更改"
    ),
    "The key is set in {place} ({name}), and is sent to no other address: change both there": (
        "密钥在 {place} 中设置（{name}），不会发往其他地址：请在那里一并更改"
    ),
    "This home has the messages of another {platform} bot: its id is {known}, and this one's is"
    " {given}": "此主目录中有另一个 {platform} 机器人的消息：其编号为 {known}，而这一个为 {given}",
    "Enter a token of the former bot. A new bot belongs into a home of its own: start a second"
    " gateway for it, with TAPEWAY_HOME=another-folder.": (
        "请输入原来那个机器人的令牌。新机器人应有自己的主目录：请用 TAPEWAY_HOME=another-folder"
        " 为它启动第二个网关。"
    ),
    "Only {names} can be set here": "这里只能设置 {names}",
    "A value is too long, or has characters that no setting has": (
        "某个值太长，或含有设置不允许的字符"
    ),
    "Enter the whole value: {dots} stands for what is not shown": (
        "请输入完整的值：{dots} 代表未显示的部分"
    ),
    "Enter the token that is to be set": "请输入要设置的令牌",
    "Only the tokens of a channel can be removed here": "这里只能移除渠道的令牌",
    "No token of this channel is saved": "此渠道没有已保存的令牌",
    "Whose messages this home has cannot be read: {cause}": "无法读取此主目录中是谁的消息：{cause}",
    "It is saved, but not in use before a restart: {cause}": (
        "已保存，但重新启动后才会生效：{cause}"
    ),
    "There is nothing of that name to set": "没有这个名称的设置项",
    "The settings cannot be written: {cause}": "无法写入设置：{cause}",
    "an address begins with http:// or https://, so write http://{address}": (
        "地址应以 http:// 或 https:// 开头，请写成 http://{address}"
    ),
    "{path} has changed meanwhile, so nothing was written: run again": (
        "{path} 在此期间已被更改，因此没有写入：请再试一次"
    ),
    "{platform} knows this bot as {bot}": "{platform} 认识这个机器人：{bot}",
}
