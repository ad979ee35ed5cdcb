"""Write a tiny made-up model in the format of llama.cpp: it knows bytes and says any of them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

WIDTH: Final = 32
HEADS: Final = 2
ALIGNMENT: Final = 32
UINT32, FLOAT32, BOOL, STRING, ARRAY, INT32 = 4, 6, 7, 8, 9, 5
"""The types of values in the format."""

NORMAL, CONTROL, UNKNOWN, BYTE = 1, 3, 2, 6
"""The types of tokens."""

MISTRAL: Final = """\
{%- if messages[0].role == 'system' %}{% set system = messages[0].content %}
{%- set rest = messages[1:] %}{% else %}{% set system = '' %}{% set rest = messages %}{% endif %}
{%- set ns = namespace(index=0) %}
{%- for one in rest %}
{%- if one.role == 'user' or (one.role == 'assistant' and not one.tool_calls) %}
{%- if (one.role == 'user') != (ns.index % 2 == 0) %}
{{- raise_exception('After the optional system message, conversation roles must alternate') }}
{%- endif %}{% set ns.index = ns.index + 1 %}{% endif %}{% endfor %}
{{- bos_token + system }}{% for one in rest %}
{%- if one.role == 'user' %}{{ '[INST] ' + one.content + '[/INST]' }}
{%- elif one.role == 'assistant' %}{{ ' ' + (one.content or '') + eos_token }}
{%- endif %}{% endfor %}"""
"""The rules of Mistral's template, in our words: roles alternate after the system message."""

TEMPLATES: Final[Mapping[str, str]] = MappingProxyType({"mistral": MISTRAL})


def write_model(file: Path, template: str = "") -> None:
    """Write a model of one layer whose weights are all zero: every next token is as likely."""
    names, kinds = _vocabulary()
    values: dict[str, tuple[int, Any]] = {
        "general.architecture": (STRING, "llama"),
        "general.name": (STRING, "tiny"),
        "llama.context_length": (UINT32, 32768),
        "llama.embedding_length": (UINT32, WIDTH),
        "llama.block_count": (UINT32, 1),
        "llama.feed_forward_length": (UINT32, WIDTH),
        "llama.attention.head_count": (UINT32, HEADS),
        "llama.attention.head_count_kv": (UINT32, HEADS),
        "llama.attention.layer_norm_rms_epsilon": (FLOAT32, 1e-5),
        "llama.rope.dimension_count": (UINT32, WIDTH // HEADS),
        "tokenizer.ggml.model": (STRING, "llama"),
        "tokenizer.ggml.tokens": (ARRAY, (STRING, names)),
        "tokenizer.ggml.scores": (ARRAY, (FLOAT32, [0.0] * len(names))),
        "tokenizer.ggml.token_type": (ARRAY, (INT32, kinds)),
        "tokenizer.ggml.unknown_token_id": (UINT32, 0),
        "tokenizer.ggml.bos_token_id": (UINT32, 1),
        "tokenizer.ggml.eos_token_id": (UINT32, 2),
        "tokenizer.ggml.add_bos_token": (BOOL, True),
    }
    if template:
        values["tokenizer.chat_template"] = (STRING, TEMPLATES[template])
    tensors = _tensors(len(names))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    body = b"".join(_string(name) + _value(*value) for name, value in values.items())
    infos, data = b"", b""
    for name, shape in tensors.items():
        infos += _string(name) + struct.pack("<I", len(shape))
        infos += struct.pack(f"<{len(shape)}QIQ", *shape, 0, len(data))
        data += _padded(bytes(4 * _product(shape)))
    file.write_bytes(_padded(head + body + infos) + data)


def _vocabulary() -> tuple[list[str], list[int]]:
    letters = [f"<0x{number:02X}>" for number in range(256)]
    words = ["▁", *(chr(letter) for letter in range(ord("a"), ord("z") + 1))]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * len(words)]
    return ["<unk>", "<s>", "</s>", *letters, *words], kinds


def _tensors(words: int) -> dict[str, Sequence[int]]:
    square = (WIDTH, WIDTH)
    layer = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    return {
        "token_embd.weight": (WIDTH, words),
        "output_norm.weight": (WIDTH,),
        "output.weight": (WIDTH, words),
        "blk.0.attn_norm.weight": (WIDTH,),
        "blk.0.ffn_norm.weight": (WIDTH,),
        **{f"blk.0.{name}.weight": square for name in layer},
    }


def _value(kind: int, value: Any) -> bytes:
    return struct.pack("<I", kind) + _payload(kind, value)


def _payload(kind: int, value: Any) -> bytes:
    if kind == STRING:
        return _string(value)
    if kind == ARRAY:
        inner, items = value
        found = b"".join(_payload(inner, item) for item in items)
        return struct.pack("<IQ", inner, len(items)) + found
    return struct.pack({UINT32: "<I", FLOAT32: "<f", BOOL: "<?", INT32: "<i"}[kind], value)


def _string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)


def _product(shape: Sequence[int]) -> int:
    found = 1
    for one in shape:
        found *= one
    return found
