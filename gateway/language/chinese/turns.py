"""What a turn did: its view, its calls, its tools and what was sent, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

TURNS: Final = {
    # its beginning and its end
    "{turn} began": "{turn} 开始",
    "resumed after a crash or a stop, attempt {number}": "崩溃或停止后继续，第 {number} 次尝试",
    "ended: {status}": "结束：{status}",
    ", error {number}: {error}": "，错误 {number}：{error}",
    " ({why})": "（{why}）",
    " ({why}, by {name})": "（{why}，操作者：{name}）",
    "more than {most} entries: the rest is on the tape": "超过 {most} 条记录：其余的在磁带上",
    "{checkpoint} was set: {state}": "已设置检查点 {checkpoint}：{state}",
    # what the model was shown
    "to see its exact prompts: {command}": "查看确切的提示：{command}",
    "takes {entries}": "读取{entries}",
    ", and includes {entries} from elsewhere": "，并包含来自别处的{entries}",
    ", and shows all lanes, because one conversation fills the room": (
        "，并显示所有对话，因为房间里几乎只有一个对话"
    ),
    ", asked while the turn ran": "，在轮次进行中提问",
    "entries none": "零条记录",
    "entry {numbers}|entries {numbers}": "记录 {numbers}",
    "entries {numbers} and {more} more": "记录 {numbers} 以及另外 {more} 条",
    "from here on it also shows {entries}": "从这里起还显示{entries}",
    "entry {number} is shown as a plugin's text: {text}": (
        "第 {number} 条记录以插件的文字显示：{text}"
    ),
    "from here on it also shows a system hint: {text}": "从这里起还显示一条系统提示：{text}",
    "system prompt {sha256}, {length} character|system prompt {sha256}, {length} characters": (
        "系统提示 {sha256}，{length} 个字符"
    ),
    "shown: {view}": "显示：{view}",
    "{count} message, prompt {prompt}|{count} messages, prompt {prompt}": (
        "{count} 条消息，提示 {prompt}"
    ),
    ", system prompt {sha256}": "，系统提示 {sha256}",
    ", {count} token|, {count} tokens": "，{count} 个词元",
    "; tools offered: {tools}": "；提供的工具：{tools}",
    # its calls
    "step {step}: {model}, status {status} after {ms} ms": (
        "第 {step} 步：{model}，{ms} 毫秒后状态为 {status}"
    ),
    ", usage {counts}": "，用量 {counts}",
    ", finish {reason}": "，结束原因 {reason}",
    "{tool} was called with {given}": "调用了 {tool}，参数为 {given}",
    "a tool": "一个工具",
    "{tool} returned, after running for {ms} ms": "{tool} 运行 {ms} 毫秒后返回",
    ", {result}": "：{result}",
    "a tool returned {result}": "一个工具返回{result}",
    # what was said and sent
    "the answer: {text}": "回答：{text}",
    "{count} link lost what could tell its host something of this chat, where \u2026 stands|"
    "{count} links lost what could tell their hosts something of this chat, where \u2026 stands": (
        "有 {count} 个链接在“\u2026”处删去了可能向其主机透露本聊天内容的部分"
    ),
    ": {hosts}": "：{hosts}",
    "text next to its calls: {text}": "调用之外的文字：{text}",
    "partial text was shown{where} and became the answer": "先显示了部分文字{where}，后成为回答",
    "partial text was shown{where} and was not finished": "显示了部分文字{where}，但没有完成",
    " as message {number}": "，消息编号 {number}",
    "{row} to {chat}: {status}{where}": "{row} 发往 {chat}：{status}{where}",
    ", attempted once|, attempted {times} times": "，尝试了 {times} 次",
    "to be sent to {chat}": "将发往 {chat}",
    " as a reply to {number}": "，作为对 {number} 的回复",
    "the platform confirmed {key}": "平台已确认 {key}",
    "somebody": "有人",
    "{name} pressed Allow": "{name} 按下了“允许”",
    "{name} gave the answer a thumb up": "{name} 认为这个回答不错",
    "{name} gave the answer a thumb down": "{name} 认为这个回答不好",
    "{name} took the thumb back": "{name} 撤回了评价",
}
