"""What became of a message, and the joints of its way, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

MESSAGES: Final = {
    # how texts are quoted
    '"{text}"': "“{text}”",
    "{text}... ({more} more character)|{text}... ({more} more characters)": (
        "{text}……（还有 {more} 个字符）"
    ),
    ": {text}": "：{text}",
    ": {why}": "：{why}",
    # seen
    "accepted by {account} as {key}": "{account} 已收到，编号为 {key}",
    " (delivery {number})": "（投递编号 {number}）",
    ", after waiting on the platform": "，此前在平台上等待过",
    "; {who}": "；{who}",
    ", since emptied here of its content": "，其内容此后已从账本中移出",
    ", at {moment} UTC by the platform's clock": "，平台时间为 {moment} UTC",
    ", in {chat}": "，在{chat}中",
    ", thread {thread}": "，话题 {thread}",
    "author unknown": "作者不明",
    "edited by {name}": "由{name}编辑",
    "deleted by {name}": "由{name}删除",
    "changed by {name}": "由{name}更改",
    "written by {name}": "由{name}写下",
    " (id {id})": "（编号 {id}）",
    " (id {id}, a bot)": "（编号 {id}，机器人）",
    # addressed, access
    "yes: {why}": "是：{why}",
    "no: {why}": "否：{why}",
    "the platform says so": "平台这样标明",
    "it does not ask the agent": "它没有向助手提问",
    "refused: {rule}": "未获准：{rule}",
    "the rule was not recorded": "没有记录规则",
    "allowed as {role}: {rule}": "获准，角色为{role}：{rule}",
    "a command that a closed chat understands; its author's role decided": (
        "已关闭的聊天也接受的命令；由其作者的角色决定"
    ),
    "not decided yet, or never put on a tape": "尚未决定，或从未写入磁带",
    "allowed; the rule was not recorded at that time": "获准；当时没有记录规则",
    # its place on the tape, and what changed it
    "{conversation}. It is entry {number}": "{conversation}。它是第 {number} 条记录",
    " in the lane {lane}": "，所属对话为 {lane}",
    " ({link})": "（{link}）",
    "the agent": "助手",
    ", addressed to {people}": "，写给：{people}",
    "edited": "已编辑",
    "edited; its new text: {text}": "已编辑；新内容：{text}",
    "edited; other than before: {what}; it reads now: {text}": (
        "已编辑；有变化的是：{what}；现在的内容：{text}"
    ),
    "; the edit asked nothing: {why}": "；这次编辑没有提问：{why}",
    "judged as a new message: its author edited it within five minutes, and it had asked nothing,"
    " or it waited still": ("按新消息处理：作者在五分钟内编辑了它，而它此前没有提问，或仍在等待"),
    "deleted on its platform": "已在平台上删除",
    "asked together with {rows}, and answered at once with it": (
        "与 {rows} 一起提问，并一次得到回答"
    ),
    "shown to the turn {turn}, as context": "作为上下文显示给轮次 {turn}",
    # how it ended
    "{why}: only its ids, its kind and its date are left": "{why}：仅保留编号、种类和日期",
    "recorded": "已记录",
    "accepted, but not on its tape yet": "已收到，但尚未写入磁带",
    ": it has waited for {seconds} s": "：已等待 {seconds} 秒",
    ", and {before} message of its session stands before it"
    "|, and {before} messages of its session stand before it": (
        "，其会话中还有 {before} 条消息排在前面"
    ),
    "waiting for its turn": "正在等待处理",
    "being answered by the turn {turn}": "轮次 {turn} 正在回答",
    "not answered: not addressed ({why})": "未回答：不是对助手说的（{why}）",
    "not answered: {why}": "未回答：{why}",
    "being run without the model, as a command": "正在作为命令运行，未使用模型",
    "answered without the model, as a command": "作为命令回答，未使用模型",
    "answered by the turn {turn}": "已由轮次 {turn} 回答",
    "the turn {turn} failed, and its author got a notice{because}": (
        "轮次 {turn} 失败，其作者已收到通知{because}"
    ),
    "stopped{because}": "已停止{because}",
    "given up{because}": "已放弃{because}",
    "not answered: dropped{because}": "未回答：已丢弃{because}",
    "held since a restore{because}; `tapeway ledger resume` lets it go on": (
        "恢复备份后保留{because}；用 `tapeway ledger resume` 让它继续"
    ),
    "part of another message, and answered there": "属于另一条消息，已在那里回答",
    # what a report is about
    "message {number}": "消息 {number}",
    "a message": "一条消息",
    "an edit of {message}": "编辑（{message}）",
    "the deletion of {message}": "删除（{message}）",
    "a change of the chat": "聊天的更改",
    "{row} is {what} in {where}": "{row} 是 {where} 中的{what}",
    # the joints
    "{what} {ms} ms": "{what} {ms} 毫秒",
    ", ": "，",
    ", waited on the platform": "，曾在平台上等待",
    "entry {number}": "第 {number} 条记录",
    "the lane {lane}": "对话 {lane}",
    "the chat is one conversation": "整个聊天是一个对话",
    ", the turn {turn}": "，轮次 {turn}",
    "a command, answered without the model": "命令，未使用模型即已回答",
    "no model answered": "没有模型回答",
    "{model}, {calls} call|{model}, {calls} calls": "{model}，{calls} 次调用",
    "no model call is recorded": "没有记录模型调用",
    "{what}; {status}": "{what}；{status}",
    "the turn runs": "轮次正在进行",
    "; {tool} waits for a person to allow it": "；{tool} 正在等待有人允许",
    "{rows}: {status}": "{rows}：{status}",
    "confirmed": "已确认",
    ", after {tries} attempts": "，共尝试 {tries} 次",
    "{status} {why}": "{status}：{why}",
    "on its way to the tape": "正在写入磁带",
    "waits for its turn": "正在等待处理",
    "held since a restore": "恢复备份后保留",
    "given up": "已放弃",
    "not addressed: {why}": "不是对助手说的：{why}",
    "; a pairing code stood in it without `/pair` before it, and is void now": (
        "；其中有一个前面没有 `/pair` 的配对码，该配对码现已失效"
    ),
}
