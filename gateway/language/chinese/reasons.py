"""Why something happened, as the ledger and the tapes have it, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

_STATUSES: Final = {
    "accepted": "已收到",
    "waiting": "等待",
    "taken": "正在回答",
    "taped": "不是对助手说的",
    "refused": "未获准",
    "done": "已回答",
    "failed": "失败",
    "stopped": "已停止",
    "dead": "已放弃",
    "dropped": "已丢弃",
    "held": "保留",
    "joined": "属于另一条消息",
    "draft": "草稿",
    "pending": "待发送",
    "sending": "正在发送",
    "sent": "已发送",
    "ambiguous": "可能已发送",
}
"""How messages, sends and turns stand; `screens/statuses.js` has the same words."""

_SPANS: Final = {
    "arrived": "到达",
    "written": "写入",
    "waited": "等待",
    "first text": "首段文字",
    "turn": "至结束",
    "ran": "运行",
    "ready": "完整回答",
    "queued": "排队",
    "confirmed": "确认",
}
"""What took a while on a message's way; `screens/why.js` has the same words."""

_ADDRESSED: Final = {
    "private chat": "私聊",
    "command": "命令",
    "mention": "提及了助手",
    "reply": "回复了助手",
    "only the bot sees it": "只有助手能看到",
    "name": "叫了助手的名字",
    "asked on the page": "在页面上提问",
    "asked by a command": "用命令提问",
    "a thread that I was asked in": "曾在此话题中向助手提问",
    "the Stop of a draft": "草稿的停止按钮",
    "the Stop of an answer": "回答的停止按钮",
    "forwarded": "从别处转发",
    "said to the group": "是对群组说的",
    "said to the channel": "是对频道说的",
    "said to the room": "是对房间说的",
    "a mention of somebody else": "以别人的名字开头",
    "a command for another bot": "给另一个机器人的命令",
    "said by a bot": "由机器人说出",
    "said by a bot, too often in a minute": "由机器人说出，一分钟内次数过多",
    "asked too long ago, while I was away": "提问太久以前，当时助手不在线",
    "a late part of an album": "是相册中较晚到达的一部分",
    "recorded only": "仅作记录",
}

_ACCESS: Final = {
    "owner": "所有者",
    "admin": "管理员",
    "member": "成员",
    "stranger": "陌生人",
    "the owner's own page or terminal": "所有者自己的页面或终端",
    "the owner invited the person to this room": "所有者邀请此人进入这个房间",
    "the person is on the allowlist": "此人在允许名单上",
    "the chat is on the allowlist": "此聊天在允许名单上",
    "open to everybody": "所有人都可访问",
    "the chat was closed": "此聊天已关闭",
    "neither the chat nor the person is on the allowlist": "此聊天和此人都不在允许名单上",
    "the chat is not on the allowlist": "此聊天不在允许名单上",
    "a pairing code: paired": "配对码：配对成功",
    "a pairing code: wrong": "配对码：错误",
    "a pairing code: not in private": "配对码：不是在私聊中发送",
    "a pairing code: too many tries": "配对码：尝试次数过多",
}

_LINKS: Final = {
    "the only conversation": "唯一的对话",
    "short remark": "简短插话",
    "own last message": "自己的上一条消息",
    "was addressed": "刚被提到",
    "said at once with others": "与其他消息同时说出",
    "thread": "话题",
    "nothing before": "之前没有消息",
    "no sign": "没有迹象",
    "silence": "安静",
    "silence {minutes}": "安静 {minutes} 分钟",
    "model": "模型",
    "model {chance}": "模型 {chance}",
    "new": "新对话",
    "new {chance}": "新对话 {chance}",
    "asked while another's question is answered": "在回答别人的问题时提问",
    "the linker failed": "链接器出错",
}
"""Why a message belongs to its conversation, in the short words of the record."""

_ENDED: Final = {
    "stop": "停止",
    "stop, by {person}": "停止，操作者：{person}",
    "interrupted": "被中断",
    "lost": "由另一进程接手",
    "erased": "已抹除",
    "erased on {day}": "已于 {day} 抹除",
    "it was deleted": "已被删除",
    "it was edited, and the edit was taken in its place": "已被编辑，编辑后的内容取代了它",
    "it was edited more than five minutes after it was written": "写下五分钟以后才被编辑",
    "its message has asked already, and no edit asks it again": (
        "这条消息已经提过问，编辑不会再次提问"
    ),
    "its message was deleted": "这条消息已被删除",
    "somebody else than its author edited it": "编辑者不是作者本人",
    "its channel does not say when it was edited": "其渠道没有说明编辑的时间",
    "an edit of it came first, and was taken in its place": "它的编辑先到，并已代替它收录",
    "too many questions wait": "等待的问题太多",
    "the day's budget is used up": "今日额度已用完",
    "a person allowed a call": "有人允许了一次调用",
    "a message of the question was erased": "问题中的一条消息已被抹除",
    "it could not be taken in": "无法收录",
    "it could not be taken in ({error})": "无法收录（{error}）",
    "it was running in {crashes} crashes": "运行中崩溃了 {crashes} 次",
    "this version cannot read it ({error})": "此版本无法读取（{error}）",
    "it was open in the backup, and may have been answered or sent since": (
        "备份时尚未完成，此后可能已经回答或发送"
    ),
    "it is older than the restore, and may have been answered before": (
        "早于此次恢复，可能已经回答过"
    ),
    "it is unknown whether it arrived": "不知道是否已送达",
    "the context was too long": "上下文太长",
    "the database was unavailable": "数据库不可用",
}

_REFUSED_SENDS: Final = {
    "the group moves in circles": "群组的迁移循环往复",
    "the press was answered too long ago": "按钮的回应已经过期",
    "Discord does not name the private chat": "Discord 没有给出私聊",
    "Discord's answer has no message id": "Discord 的答复中没有消息编号",
    "Slack did not return the stream's stamp, so that it cannot be ended": (
        "Slack 没有返回消息流的时间戳，因此无法结束它"
    ),
    "the app is no longer installed in this workspace": "应用已不再安装于此工作区",
    "the server did not return the message's id, so it cannot be edited": (
        "服务器没有返回消息编号，因此无法编辑"
    ),
    "the app lacks the scope {scope}: add it and reinstall": (
        "应用缺少权限 {scope}：请添加后重新安装"
    ),
    "{channel} has no private chat with {person} of {account}": (
        "{channel} 与 {account} 的 {person} 没有私聊"
    ),
}
"""Why a send was refused, as far as we say it: other reasons are the platforms' own words."""

REASONS: Final = {
    **_STATUSES,
    **_SPANS,
    **_ADDRESSED,
    **_ACCESS,
    **_LINKS,
    **_ENDED,
    **_REFUSED_SENDS,
}
