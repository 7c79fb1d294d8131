"""Convert the entries of Pi's sessions to events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import ClassVar, TypeAlias

from crucible.clients.events import (
    Answered,
    At,
    CallEnd,
    Compacted,
    ContextSeen,
    Event,
    Faulted,
    Injected,
    Interrupted,
    Prompted,
    PromptKind,
    Reasoned,
    Replied,
    Rewound,
    Titled,
    ToolReturned,
    ToolUsed,
    Unknown,
    UsageCounted,
)
from crucible.clients.log_values import Row, arguments_of, as_dict, as_list, as_str, as_time, count, line_count, number

_EXIT = re.compile(r"\n*Command exited with code (-?\d{1,9})\s*\Z")
_ABORTED = re.compile(r"(?:Command|Operation) aborted\s*\Z")
_CHANGED = re.compile(r"^([+-]) *\d+ ", re.MULTILINE)
_ANSWERS = ("stop", "length")
SILENT = frozenset({"model_change", "thinking_level_change", "label", "custom"})
"""Entries without anything that a user said, saw or decided."""
_Reader: TypeAlias = "Callable[[EntryReader, At, Row], Iterator[Event]]"


class EntryReader:
    """Reads the entries of one session in order.  Messages before `forked_at` are the parent's and skipped."""

    def __init__(self, forked_at: datetime | None = None) -> None:
        self._forked_at = forked_at
        self._last = ""
        self._messages: list[str] = []
        """The ids of all messages, in the order of the file."""

    def read(self, line: int, row: Row) -> Iterator[Event]:
        """Yield the events of one entry.  Entries of the first version have no ids."""
        kind, ident = as_str(row.get("type")), as_str(row.get("id"))
        at = At(line, ident or f"{line:08x}", as_time(row.get("timestamp")))
        if kind == "session":
            yield ContextSeen(at, ident, as_str(row.get("cwd")))
            return
        if self._forked_at and at.time and at.time < self._forked_at:
            self._last = ident
            return
        yield from self._branched(at, as_str(row.get("parentId")), kind)
        self._last = ident
        if kind == "message":
            self._messages.append(ident)
            yield from self._message(at, as_dict(row.get("message")))
        elif kind in self._entries:
            yield from self._entries[kind](self, at, row)
        elif kind not in SILENT:
            yield Unknown(at, kind)

    def _branched(self, at: At, parent: str, kind: str) -> Iterator[Event]:
        """Yield that the user went back to an earlier message, whose later ones stay in the file."""
        if not parent or not self._last or parent == self._last or kind in SILENT:
            return
        undone = self._messages[self._messages.index(parent) + 1 :] if parent in self._messages else []
        if undone:
            self._messages = self._messages[: -len(undone)]
            yield Rewound(at, None, "1 message" if len(undone) == 1 else f"{len(undone)} messages")

    # --- messages ----------------------------------------------------------------------------------------------------

    def _message(self, at: At, message: Row) -> Iterator[Event]:
        role = as_str(message.get("role"))
        if role in self._roles:
            yield from self._roles[role](self, at, message)
        else:
            yield Unknown(at, f"message {role}".strip())

    def _user(self, at: At, message: Row) -> Iterator[Event]:
        text, images = _text(message.get("content")), _images(message.get("content"))
        if text.strip() or images:
            yield Prompted(at, text, PromptKind.TYPED, images)

    def _assistant(self, at: At, message: Row) -> Iterator[Event]:
        ident, model = as_str(message.get("responseId")) or at.row, as_str(message.get("model"))
        blocks = [as_dict(block) for block in as_list(message.get("content"))]
        stop = as_str(message.get("stopReason"))
        text = _text(message.get("content"))
        for block in blocks:
            if block.get("type") == "thinking" and as_str(block.get("thinking")).strip():
                yield Reasoned(at, block["thinking"], ident)
        if text.strip():
            yield Replied(at, text, ident, model, stop in _ANSWERS)
        for block in blocks:
            if block.get("type") == "toolCall":
                name, given = as_str(block.get("name")), arguments_of(block.get("arguments"))
                yield ToolUsed(at, as_str(block.get("id")), name, given, ident, model)
        yield from _usage(at, message, ident, model)
        if stop == "aborted":
            yield Interrupted(at)
        elif stop == "error":
            yield Faulted(at, as_str(message.get("errorMessage")))
        elif stop in _ANSWERS:
            yield Answered(at)

    def _result(self, at: At, message: Row) -> Iterator[Event]:
        text, details = _text(message.get("content")), as_dict(message.get("details"))
        end, facts = CallEnd.OK, _changed(as_str(details.get("diff")))
        code = _EXIT.search(text)
        if message.get("isError") is True:
            end = CallEnd.INTERRUPTED if _ABORTED.search(text) else CallEnd.FAILED
        if code and end is CallEnd.FAILED:
            text = text[: code.start()]
            facts = {"exit_code": int(code[1]), "lines": line_count(text)}
            text = f"Exit code {code[1]}\n{text}"
        if images := _images(message.get("content")):
            facts = {**(facts or {}), "images": images}
        yield ToolReturned(at, as_str(message.get("toolCallId")), text, end, "", facts)

    def _shell(self, at: At, message: Row) -> Iterator[Event]:
        yield Prompted(at, f"!{as_str(message.get('command'))}", PromptKind.SHELL)
        if as_str(message.get("output")).strip():
            yield Injected(at, message["output"], "shell")

    def _added(self, at: At, message: Row) -> Iterator[Event]:
        """Yield what the client or an extension added to the conversation."""
        text = _text(message.get("content")) or as_str(message.get("summary"))
        if text.strip():
            yield Injected(at, text, as_str(message.get("customType")) or as_str(message.get("role")))

    # --- other entries -----------------------------------------------------------------------------------------------

    def _compaction(self, at: At, entry: Row) -> Iterator[Event]:
        yield Compacted(at, "", number(entry.get("tokensBefore")), as_str(entry.get("summary")))

    def _named(self, at: At, entry: Row) -> Iterator[Event]:
        if as_str(entry.get("name")).strip():
            yield Titled(at, entry["name"], by_user=True)

    def _summary(self, at: At, entry: Row) -> Iterator[Event]:
        if as_str(entry.get("summary")).strip():
            yield Injected(at, entry["summary"], "branch")

    _roles: ClassVar[Mapping[str, _Reader]] = {
        "user": _user,
        "assistant": _assistant,
        "toolResult": _result,
        "bashExecution": _shell,
        "custom": _added,
        "hookMessage": _added,
        "branchSummary": _added,
        "compactionSummary": _added,
    }
    _entries: ClassVar[Mapping[str, _Reader]] = {
        "compaction": _compaction,
        "branch_summary": _summary,
        "custom_message": _added,
        "session_info": _named,
    }


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = (as_dict(block) for block in as_list(content))
    return "\n\n".join(text for block in blocks if block.get("type") == "text" and (text := as_str(block.get("text"))))


def _images(content: object) -> int:
    return sum(as_dict(block).get("type") == "image" for block in as_list(content))


def _usage(at: At, message: Row, ident: str, model: str) -> Iterator[Event]:
    """Yield a message's token counts; `input` includes neither cache reads nor writes."""
    usage = message.get("usage")
    if isinstance(usage, dict):
        sent, cached, said, written = (count(usage.get(key)) for key in ("input", "cacheRead", "output", "cacheWrite"))
        yield UsageCounted(at, ident, model, sent + written, cached, said, written)


def _changed(diff: str) -> dict[str, object] | None:
    """Return how many lines an edit changed, from the diff that the client shows."""
    signs = _CHANGED.findall(diff)
    return {"kind": "update", "added": signs.count("+"), "removed": signs.count("-")} if signs else None
