"""Find Cursor's agent transcripts, and read their events.

A session is `projects/<project>/agent-transcripts/<id>/<id>.jsonl`, or `<id>.jsonl` in that folder.  Its rows have no
ids, times or token counts.  Not tested with the real client.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from crucible.clients.cursor.client import CLIENT
from crucible.clients.events import (
    Answered,
    At,
    CallEnd,
    ContextSeen,
    Event,
    Injected,
    Prompted,
    PromptKind,
    Reasoned,
    Replied,
    ToolReturned,
    ToolUsed,
    Unknown,
)
from crucible.clients.gemini.texts import row_id
from crucible.clients.log_files import (
    SubagentFile,
    Transcript,
    events_of,
    find_files,
    first_rows,
    reach_of_log,
    read_file,
)
from crucible.clients.log_values import Row, arguments_of, as_dict, as_list, as_str

NAME = CLIENT.name
reach = reach_of_log
_ASKED = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
_AGENTS = "subagents"
_ENDED = "turn_ended"


def sniff(path: Path) -> bool:
    """Return whether a file begins like a transcript; False if it cannot be read."""
    return path.suffix == ".jsonl" and any(_is_row(row) for row in first_rows(path))


def _is_row(row: Row) -> bool:
    content = as_dict(row.get("message")).get("content")
    is_bare = not any(key in row for key in ("uuid", "id", "timestamp", "sessionId"))
    return is_bare and row.get("role") in ("user", "assistant") and isinstance(content, list | str)


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions in a file, in a project's folder or in the client's entire folder."""
    return find_files(path, lambda file: file.parent.name != _AGENTS and sniff(file), _transcript)


def _transcript(path: Path) -> Transcript:
    agents = sorted((path.parent / _AGENTS).glob("*.jsonl")) if path.parent.name == path.stem else []
    return Transcript(NAME, path.stem, path, tuple(SubagentFile(each.stem, each, depth=1) for each in agents))


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:
    """Yield the events of the trunk or of the subagent `agent`, with one row in memory at a time."""
    opening = iter([ContextSeen(At(1, row_id("session", transcript.native_id), agent=agent), transcript.native_id)])
    reader = _Reader(transcript.native_id, agent)
    # A file without any row is another program's.
    yield from events_of(
        read_file(transcript.path_of(agent)), lambda line, row: chain(opening, reader.read(line, row)), agent
    )


class _Reader:
    """Reads the rows of one log in order; a row's id is its line, since rows are only appended."""

    def __init__(self, session: str, agent: str) -> None:
        self._session, self._agent = session, agent
        self._waiting: list[str] = []
        self._answered = False

    def read(self, line: int, row: Row) -> Iterator[Event]:
        at = At(line, row_id(self._session, self._agent, line), agent=self._agent)
        role, kind = row.get("role"), as_str(row.get("type"))
        content = as_dict(row.get("message")).get("content")
        blocks = (
            [{"type": "text", "text": content}] if isinstance(content, str) else list(map(as_dict, as_list(content)))
        )
        if role == "user":
            for block in blocks:
                yield from self._user(at, block)
        elif role == "assistant":
            calls = [block for block in blocks if block.get("type") == "tool_use"]
            for number, block in enumerate(blocks):
                yield from self._assistant(at, block, number, final=not calls)
        elif kind == _ENDED:
            if self._answered:
                yield Answered(at)
            self._answered = False
        else:
            yield Unknown(at, kind or as_str(role))

    def _user(self, at: At, block: Row) -> Iterator[Event]:
        text = as_str(block.get("text"))
        match block.get("type"):
            case "text" if text.strip():
                self._answered = False
                asked = _ASKED.findall(text)
                kind = PromptKind.TASK if self._agent else PromptKind.TYPED
                yield Prompted(at, "\n\n".join(asked) if asked else text, kind)
                around = _ASKED.sub("", text).strip() if asked else ""
                if around:
                    yield Injected(at, around, "attached")
            case "tool_result":
                yield from self._result(at, block)
            case "text" | "image":
                pass
            case kind_of:
                yield Unknown(at, f"block {as_str(kind_of)}".strip())

    def _assistant(self, at: At, block: Row, number: int, *, final: bool) -> Iterator[Event]:
        text = as_str(block.get("text")) or as_str(block.get("thinking"))
        match block.get("type"):
            case "text" if text.strip():
                self._answered = final
                yield Replied(at, text, at.row, final=final)
            case "thinking" if text.strip():
                yield Reasoned(at, text, at.row)
            case "tool_use":
                call = as_str(block.get("id")) or f"{at.row}.{number}"
                self._waiting.append(call)
                yield ToolUsed(at, call, as_str(block.get("name")), arguments_of(block.get("input")), at.row)
            case "tool_result":
                yield from self._result(at, block)
            case "text" | "thinking" | "redacted_thinking":
                pass
            case kind:
                yield Unknown(at, f"block {as_str(kind)}".strip())

    def _result(self, at: At, block: Row) -> Iterator[Event]:
        """Yield a result; without an id, it is that of the oldest call that has none."""
        call = as_str(block.get("tool_use_id")) or (self._waiting[0] if self._waiting else "")
        if call in self._waiting:
            self._waiting.remove(call)
        content = block.get("content")
        texts = (
            [content] if isinstance(content, str) else [as_str(as_dict(part).get("text")) for part in as_list(content)]
        )
        failed = block.get("is_error") is True
        yield ToolReturned(at, call, "\n".join(texts), CallEnd.FAILED if failed else CallEnd.OK)


def beside(transcript: Transcript) -> list[Path]:  # noqa: ARG001  no session uses other files
    """Return the other files that `read` uses."""
    return []
