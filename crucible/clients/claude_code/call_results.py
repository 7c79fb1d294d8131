"""Read the results of tool calls in Claude Code's transcripts: outcome, feedback, details, tasks, moved outputs.

Moved outputs are only opened in the session's own folder: the path in a transcript is untrusted.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from crucible.clients.events import At, CallEnd, TaskChanged, TasksListed
from crucible.clients.log_values import Row, as_dict, as_list, as_str, count, line_count, tasks_of, word

AGENT_TOOLS = frozenset({"Task", "Agent"})
"""Tools that start a subagent; `Task` was renamed to `Agent`."""
TASK_TOOLS = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate"})

_REJECTED = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "Permission for this tool use was denied. The tool use was rejected (eg.",
    "The agent proposed a plan that was rejected by the user.",
)
_FEEDBACK = ("To tell you how to proceed, the user said:\n", ") The user said:\n", ". The user said:\n")
_FEEDBACK_NOTE = "\n\nNote: The user's next message may contain a correction or preference."
_INTERRUPTED = ("[Request interrupted by user", "Sibling tool call errored", "Request interrupted by user")
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d{1,9})\b")
_FOUND = re.compile(r"Found (\d{1,15}) ")
_AGENT_TAIL = re.compile(r"agentId: ([\w-]+)(?: \([^\n]*\))?\s*(?:<usage>(?P<usage>[^<]*)(?:<[^<]*)*</usage>)?\s*\Z")
_TOKENS = re.compile(r"(?:subagent|total)_tokens: (\d{1,15})")


def content_text(content: object) -> tuple[str, int]:
    """Return the text of message content (a string or a list of blocks), and the number of images in it."""
    if isinstance(content, str):
        return content, 0
    if not isinstance(content, list):
        return "", 0
    blocks = [block for block in content if isinstance(block, dict)]
    texts = [b["text"] for b in blocks if b.get("type") == "text" and isinstance(b.get("text"), str)]
    return "\n".join(texts), sum(b.get("type") == "image" for b in blocks)


def call_end(text: str, failed: bool, raw: object) -> tuple[CallEnd, str]:
    """Return how a call ended and, if the user rejected it, their exact words."""
    if failed or text.startswith(_REJECTED):
        text_body = text.removeprefix("<tool_use_error>").lstrip() if text.startswith("<") else text
        if text_body.startswith(_REJECTED) or raw == "User rejected tool use":
            return CallEnd.REJECTED, _feedback(text_body)
        return (CallEnd.INTERRUPTED if text_body.startswith(_INTERRUPTED) else CallEnd.FAILED), ""
    if isinstance(raw, dict) and raw.get("interrupted") is True:
        return CallEnd.INTERRUPTED, ""
    return (CallEnd.INTERRUPTED if text.startswith(_INTERRUPTED[0]) else CallEnd.OK), ""


def _feedback(text: str) -> str:
    for opening in _FEEDBACK:
        _, found, feedback = text.partition(opening)
        if found:
            return feedback.partition(_FEEDBACK_NOTE)[0]
    return ""


# --- small facts -----------------------------------------------------------------------------------------------------


class _Result(NamedTuple):
    """A call's structured result (empty if there is none), its text, and the facts from its arguments."""

    raw: Row
    text: str
    used: Mapping[str, object]


def facts_of_use(name: str, arguments: Mapping[str, Any]) -> dict[str, object]:
    """Return facts from a call's arguments; needed for calls made by subagents, whose results are not structured."""
    if name == "Write":
        return {"lines": line_count(arguments.get("content"))}
    if name == "Edit":
        return {"lines": line_count(arguments.get("new_string"))}
    edits = arguments.get("edits") if name == "MultiEdit" else None
    return {"edits": len(edits)} if isinstance(edits, list) else {}


def details(name: str, raw: object, text: str, used: Mapping[str, object]) -> dict[str, object] | None:
    """Return a few flat facts about a result, or None if the tool is unknown.

    Keys: `lines`, `total_lines`, `kind` (create, update, image, pdf …), `added`, `removed`, `exit_code`, `note`,
    `background`, `matches`, `files`, `code`, `bytes`, `results`, `edits`.
    """
    find = _DETAILS.get(name)
    if find is None:
        return None
    return find(_Result(as_dict(raw), text, used)) or None


def _of_bash(result: _Result) -> dict[str, object]:
    stdout = result.raw.get("stdout")
    code = _EXIT_CODE.match(result.text)
    body = result.text.partition("\n")[2] if code else result.text
    found: dict[str, object] = {"lines": line_count(stdout if isinstance(stdout, str) else body)}
    if isinstance(result.raw.get("returnCodeInterpretation"), str):
        found["note"] = result.raw["returnCodeInterpretation"]
    elif isinstance(result.raw.get("backgroundTaskId"), str):
        found["background"] = result.raw["backgroundTaskId"]
    elif code or not result.raw.get("interrupted"):
        found["exit_code"] = int(code.group(1)) if code else 0
    return found


def _of_read(result: _Result) -> dict[str, object]:
    file = result.raw.get("file")
    if not isinstance(file, dict):
        return {"lines": line_count(result.text)}
    kind = result.raw.get("type")
    if kind != "text":
        return {"kind": kind} if isinstance(kind, str) else {}
    found: dict[str, object] = {"lines": count(file.get("numLines"))}
    total = count(file.get("totalLines"))
    return {**found, "total_lines": total} if total else found


def _of_write(result: _Result) -> dict[str, object]:
    kind = result.raw.get("type") if result.raw.get("type") in ("create", "update") else None
    written = result.raw.get("content")
    lines = line_count(written) if isinstance(written, str) else result.used.get("lines", 0)
    return {
        "kind": kind or ("create" if result.text.startswith("File created") else "update"),
        "lines": lines,
    }


def _of_edit(result: _Result) -> dict[str, object]:
    found: dict[str, object] = {"kind": "update", **result.used}
    hunks = result.raw.get("structuredPatch")
    if isinstance(hunks, list) and hunks:
        lines = [line for hunk in hunks if isinstance(hunk, dict) for line in _strings(hunk.get("lines"))]
        found["added"] = sum(line.startswith("+") for line in lines)
        found["removed"] = sum(line.startswith("-") for line in lines)
    return found


def _of_search(result: _Result) -> dict[str, object]:
    files = result.raw.get("numFiles")
    for key in ("numMatches", "numLines", "numFiles"):
        if isinstance(result.raw.get(key), int) and (result.raw[key] or key == "numFiles"):
            found: dict[str, object] = {"matches": count(result.raw[key])}
            return {**found, "files": count(files)} if count(files) else found
    if result.text.startswith(("No files found", "No matches found")):
        return {"matches": 0}
    text_body = _FOUND.match(result.text)
    return {"matches": int(text_body.group(1)) if text_body else line_count(result.text)}


def _of_fetch(result: _Result) -> dict[str, object]:
    return {key: result.raw[key] for key in ("code", "bytes") if isinstance(result.raw.get(key), int)}


def _of_web_search(result: _Result) -> dict[str, object]:
    results = result.raw.get("results")
    return {"results": len(results)} if isinstance(results, list) else {}


_DETAILS: dict[str, Callable[[_Result], dict[str, object]]] = {
    "Bash": _of_bash,
    "Read": _of_read,
    "Write": _of_write,
    "Edit": _of_edit,
    "MultiEdit": _of_edit,
    "NotebookEdit": _of_edit,
    "Grep": _of_search,
    "Glob": _of_search,
    "WebFetch": _of_fetch,
    "WebSearch": _of_web_search,
}


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


# --- subagents' reports ----------------------------------------------------------------------------------------------


def peel_agent_tail(text: str) -> tuple[str, str, int | None]:
    """Return a subagent's report without the client's trailer, and the agent's id and token count from the trailer."""
    at = text.rfind("agentId: ")
    found = _AGENT_TAIL.match(text, at) if at == 0 or (at > 0 and text[at - 1] in "\n ") else None
    if found is None:
        return text, "", None
    tokens = _TOKENS.search(found.group("usage") or "")
    return text[:at].rstrip(), found.group(1), int(tokens.group(1)) if tokens else None


# --- tasks -----------------------------------------------------------------------------------------------------------


def task_events(
    at: At, name: str, arguments: Mapping[str, Any], raw: object, text: str
) -> Iterator[TasksListed | TaskChanged]:
    """Yield the changes to the task list made by a successful call of a task tool.

    `TaskCreate` has the task's id only in its result.
    """
    given = as_dict(raw)
    if name == "TodoWrite":
        yield TasksListed(at, tasks_of(arguments.get("todos", given.get("newTodos"))))
    elif name == "TaskCreate":
        yield from _task_created(at, arguments, given, text)
    elif given.get("success") is not False:
        yield from _task_updated(at, arguments)


def _task_created(at: At, arguments: Mapping[str, Any], given: Row, text: str) -> Iterator[TaskChanged]:
    task = given.get("task")
    found = re.match(r"Task #(\S+) created", text)
    ident = word(task.get("id")) if isinstance(task, dict) else found.group(1) if found else ""
    if ident:
        yield TaskChanged(at, ident, word(arguments.get("subject")), "pending")


def _task_updated(at: At, arguments: Mapping[str, Any]) -> Iterator[TaskChanged]:
    ident = word(arguments.get("taskId"))
    if not ident:
        return
    needs = tuple(filter(None, map(word, as_list(arguments.get("addBlockedBy")))))
    content = word(arguments.get("subject")) or None
    status = word(arguments.get("status")) or None
    if content or status or needs:
        yield TaskChanged(at, ident, content, status, needs)
    for other in filter(None, map(word, as_list(arguments.get("addBlocks")))):
        yield TaskChanged(at, other, adds_dependencies=(ident,))


LONGEST_OUTPUT = 65_000
"""Maximum size of a restored output in bytes; the default limit of the event log is the same."""
_MARK = "<persisted-output>"
_END = "</persisted-output>"
_FOLDER = "tool-results"
_NAMED = re.compile(rf"[^\n]*\b{_FOLDER}[/\\]([^\n]+)")
_SIZE = re.compile(r"\(([\d.]+ ?[A-Za-z]+)\)")
_HALF = LONGEST_OUTPUT // 2 - 50
_LARGEST_JSON = 4 << 20


def outputs_folder(path: Path, session: str = "") -> Path:
    """Return the folder that holds a transcript's moved outputs.

    `session` is the parent's id if this is a subagent's transcript stored next to its parent's.
    """
    folder = path.with_name(session) if session else path.with_suffix("")
    for parent in path.parents:
        if parent.name == "subagents":
            folder = parent.parent
    return Path(os.path.realpath(folder.parent), folder.name, _FOLDER)


def is_moved(text: str) -> bool:
    """Return whether a result is the placeholder for a moved output, and not text that quotes a placeholder."""
    return text.startswith(_MARK)


def restored(note: str, raw: object, folder: Path | None) -> str:
    """Return the output that a placeholder stands for, shortened in the middle if it is long.

    Reads the file; if that fails, uses the structured result (older versions store the full output there) or the
    preview in the placeholder.
    """
    head, _, rest = note.removeprefix(_MARK).strip("\n").partition("\n\n")
    named = _NAMED.search(head)
    found = _read(folder, named[1].strip()) if named and folder else None
    if found is not None:
        return found
    shown = (rest.partition("\n")[2] if rest else head).removesuffix(_END).rstrip("\n").removesuffix("\n...")
    given = as_dict(raw)
    parts = (as_str(given.get("content")), as_str(given.get("stdout")), as_str(given.get("stderr")))
    whole = "\n".join(part.strip("\n") for part in parts if part.strip("\n"))
    if len(whole) > len(shown):
        return _bounded(whole.encode("utf-8", "replace"))
    size = _SIZE.search(head)
    return f"{shown}\n[… {size[1]} in all; the rest was not kept …]" if size else shown


def _read(folder: Path, name: str) -> str | None:
    """Return the text of a file in the folder; None if the file does not exist or is outside the folder."""
    try:
        path = folder.joinpath(*re.split(r"[/\\]", name))
        if not Path(os.path.realpath(path)).is_relative_to(folder):
            return None
        # Do not block on a pipe, and do not follow a symlink that replaced the file after the check.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            if path.suffix == ".json" and status.st_size <= _LARGEST_JSON:
                return _bounded(_of_blocks(file.read()))
            if status.st_size <= LONGEST_OUTPUT:
                return _bounded(file.read(LONGEST_OUTPUT))
            start = file.read(_HALF)
            file.seek(status.st_size - _HALF)
            return _joined(start, file.read(_HALF), status.st_size)
    except (OSError, ValueError):
        return None


def _of_blocks(data: bytes) -> bytes:
    """Return the text of a result stored as JSON blocks; other data is returned unchanged."""
    try:
        text, _ = content_text(orjson.loads(data))
    except ValueError:
        return data
    return text.encode("utf-8", "replace") or data


def _bounded(data: bytes) -> str:
    if len(data) <= LONGEST_OUTPUT:
        return data.decode("utf-8", "replace")
    return _joined(data[:_HALF], data[-_HALF:], len(data))


def _joined(head: bytes, tail: bytes, size: int) -> str:
    """Join both ends at line breaks, with a mark that gives the number of bytes left out.  Overlong lines are cut."""
    head = head[: head.rfind(b"\n") + 1].removesuffix(b"\n") or head
    tail = tail[tail.find(b"\n") + 1 :] or tail
    start, end = head.decode("utf-8", "ignore"), tail.decode("utf-8", "ignore")
    # Do not count the two line breaks at the cut: the mark has its own.
    left = size - len(start.encode()) - len(end.encode()) - 2
    return f"{start}\n[… {left:,} bytes left out …]\n{end}"
