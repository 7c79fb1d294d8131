"""What came of a tool call, in one short line: what a person would look for, nothing else.

Owns which line of a result tells most, client by client, and the cuts of `format.md` section 4.  The call itself is `calls`';
the whole results are the flight recorder's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from crucible.note.contain import normal
from crucible.patterns import late_pattern
from crucible.session.calls import one_line
from crucible.session.markup import RESULT_LIMIT
from crucible.session.model import Outcome

__all__ = ["result_line"]

Details: TypeAlias = Mapping[str, object]
_Teller: TypeAlias = Callable[[str, Details], str]


def result_line(call: str, text: str, outcome: Outcome = Outcome.OK, details: Details | None = None) -> str:
    """What came of a call; `call` is its line, `details` what the client counted (`lines`, `files` …)."""
    name, _, command = call.partition(" ")
    match outcome:
        case Outcome.FAILED:
            told = _failure(text, details or {})
        case Outcome.OK:
            told = _printed(text) if name in _SHELLS and _reads(command) else ""
            told = told or _RESULTS.get(name, _first)(text, details or {})
        case _:
            told = _first(text, {})
    return one_line(told, RESULT_LIMIT)


_READERS = late_pattern(
    r"(?:sudo )?(?:cat|head|tail|sed -n|nl|ls|find|tree|fd|grep|rg|ag|awk|jq|sort|uniq|cut|diff|env|ps"
    r"|git(?: -C \S+)? (?:log|diff|show|status|blame|branch|ls-files))\b"
)


def _reads(command: str) -> bool:
    """Whether the last of a chain of commands only shows something: then no single line of it tells most."""
    return bool(_READERS.match(re.split(r"&&|\|\|?|;|⏎", command)[-1].strip(" ")))


def _printed(text: str) -> str:
    """How long an output of several lines is; "" for a shorter one, which is told itself."""
    lines = text.strip("\n").count("\n") + 1
    return _many(lines, "line") if lines > 2 else ""


_ENDS = 20_000
"""Code points of a long output that are looked at, at either end."""

_EXIT = late_pattern(r"\A\s*(?:Error:\s*)?Exit code (-?\d+)\s*")
_WRAPPED = late_pattern(r"</?(?:tool_use_error|error|stderr|stdout)>")
_CAUSES = tuple(
    late_pattern(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:FAILED|ERROR) \S.*$",
        r"^(?:[\w.]+\.)*\w*(?:Error|Exception|Interrupt)(?:: .*)?$",
        r"^(?:error(?:\[\w+\])?|fatal|panic|npm ERR!|E {2,})[: ].*$",
        r"^.*?\b(?:error|failed|failure|cannot|not found|denied|No such file)\b.*$",
    )
)


def _failure(text: str, details: Details) -> str:
    """The line that names the cause, best guess first; the exit code when nothing else was said."""
    text = text if len(text) <= 2 * _ENDS else text[:_ENDS] + "\n" + text[-_ENDS:]
    code = _EXIT.match(text)
    said = _WRAPPED.sub("", normal(text[code.end() :] if code else text))
    for cause in _CAUSES:
        found = cause.findall(said)
        if found:
            return str(found[-1] if cause is not _CAUSES[0] else found[0])
    exit_code = code[1] if code else details.get("exit_code")
    return _last(said, {}, "") or (f"exit code {exit_code}" if exit_code is not None else "failed")


def _count(details: Details, key: str) -> int | None:
    value = details.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _many(count: int, noun: str) -> str:
    if count == 0:
        return f"no {noun}{'es' if noun.endswith('ch') else 's'}"
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{'es' if noun.endswith('ch') else 's'}"


def _first(text: str, _details: Details) -> str:
    """The first line that says something."""
    return next(
        (line for line in text[:_ENDS].split("\n") if re.search(r"\w", line)), text[:_ENDS].strip()[:1000]
    )


def _last(text: str, _details: Details, otherwise: str = "ok") -> str:
    """The last line that says something, without a frame of `=` or `-`."""
    for line in reversed(text[-_ENDS:].split("\n")):
        if re.search(r"\w", line):
            return re.sub(r"^\s*[=-]{3,}\s+|\s+[=-]{3,}\s*$", "", line)
    return text.strip()[:1000] or otherwise


def _written(text: str, details: Details) -> str:
    lines = _count(details, "lines")
    done = "created" if details.get("kind") == "create" or "created successfully" in text[:400] else "updated"
    return done if lines is None else f"{done}, {_many(lines, 'line')}"


def _edited(_said: str, details: Details) -> str:
    added, removed = _count(details, "added"), _count(details, "removed")
    return "updated" if added is None or removed is None else f"updated, +{added} −{removed}"


def _patched(text: str, details: Details) -> str:
    """What a patch of one or more files did."""
    if _count(details, "added") is None:
        return _first(text, {})
    new = details.get("kind") == "create"
    return f"created, {_many(_count(details, 'added') or 0, 'line')}" if new else _edited(text, details)


def _read(text: str, details: Details) -> str:
    lines, kind = _count(details, "lines"), details.get("kind")
    if lines is None:
        if isinstance(kind, str):
            return kind
        if not text.strip() or text.lstrip().startswith("<system-reminder>"):
            return (
                "empty" if not text.strip() or "empty" in text[:300] else _first(_WRAPPED.sub("", text), {})
            )
        lines = text.rstrip("\n").count("\n") + 1
    return _many(lines, "line")


def _matches(text: str, details: Details) -> str:
    matches, files = _count(details, "matches"), _count(details, "files")
    if matches is not None:
        return _many(matches, "match") + (f" in {_many(files, 'file')}" if files else "")
    told = re.match(r"\s*Found (\d+) (?:total )?(file|match|line|occurrence)", text)
    if told:
        return _many(int(told[1]), "match" if told[2] == "occurrence" else told[2])
    if not text.strip() or re.match(r"\s*No (?:files|matches)\b", text):
        return "no files" if re.match(r"\s*No files", text) else "no matches"
    return _many(text.strip("\n").count("\n") + 1, "match")


def _files(text: str, details: Details) -> str:
    return (
        _matches(text, {k: v for k, v in details.items() if k == "matches"})
        .replace("matches", "files")
        .replace("match", "file")
    )


def _shell(text: str, details: Details) -> str:
    """The last line of what a command printed; what the client made of it when it printed nothing."""
    background, note = details.get("background"), details.get("note")
    if isinstance(background, str):
        return f"in the background as {background}"
    return _last(text, {}, note if isinstance(note, str) else "ok")


def _found_pages(text: str, details: Details) -> str:
    results = _count(details, "results")
    return _first(text, {}) if results is None else _many(results, "result")


def _created_task(text: str, _details: Details) -> str:
    number = re.match(r"Task #(\S+) created", text)
    return f"task {number[1]}" if number else _first(text, {})


def _waited(text: str, _details: Details) -> str:
    return "timed out" if re.search(r'"timed_out":\s*true', text) else "ok"


def _done(_said: str, _details: Details) -> str:
    return "ok"


_CLAUDE_CODE: Mapping[str, _Teller] = {
    "Bash": _shell,
    "BashOutput": _last,
    "Read": _read,
    "Write": _written,
    "Edit": _edited,
    "MultiEdit": _edited,
    "NotebookEdit": _edited,
    "Grep": _matches,
    "Glob": _files,
    "WebSearch": _found_pages,
    "TaskCreate": _created_task,
    "TaskUpdate": _done,
    "TodoWrite": _done,
}
_CODEX: Mapping[str, _Teller] = {
    "exec_command": _shell,
    "shell": _shell,
    "shell_command": _shell,
    "local_shell": _shell,
    "apply_patch": _patched,
    "update_plan": _done,
    "wait_agent": _waited,
    "close_agent": _done,
    "send_input": _done,
    "send_message": _done,
    "followup_task": _done,
    "web_search": _last,
}
_GEMINI: Mapping[str, _Teller] = {
    "run_shell_command": _shell,
    "read_file": _read,
    "write_file": _written,
    "replace": _edited,
    "list_directory": _found_pages,
    "grep_search": _matches,
    "search_file_content": _matches,
    "glob": _files,
    "write_todos": _done,
}
_OPENCODE: Mapping[str, _Teller] = {
    "bash": _shell,
    "read": _read,
    "write": _written,
    "edit": _edited,
    "multiedit": _edited,
    "grep": _matches,
    "glob": _files,
    "apply_patch": _patched,
    "todowrite": _done,
}
_RESULTS: Mapping[str, _Teller] = {**_CLAUDE_CODE, **_CODEX, **_GEMINI, **_OPENCODE}
_SHELLS = frozenset(name for name, told in _RESULTS.items() if told is _shell)
