"""Summarize the result of a tool call in one short line, by client."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import normal
from crucible.documents.recording.call_lines import one_line
from crucible.documents.recording.command_output import Printed, bare, is_partial, printed, unframed
from crucible.documents.recording.verdicts import Verdict, many, verdict
from crucible.documents.session.markup import RESULT_LIMIT
from crucible.documents.session.session import Outcome

Details: TypeAlias = Mapping[str, object]
_Renderer: TypeAlias = Callable[[str, Details], str]


def result_line(
    call: str,
    text: str,
    outcome: Outcome = Outcome.OK,
    details: Details | None = None,
    limit: int = RESULT_LIMIT,
) -> str:
    """Summarize a result.

    `call` is the call's line, `details` has counts reported by the client (`lines`, `files` …).
    """
    name, _, command = call.partition(" ")
    match outcome:
        case Outcome.FAILED:
            summary = _failure(command if name in _SHELLS else None, text, details or {})
        case Outcome.OK if name in _SHELLS:
            summary = _ran(command, text, details or {})
        case Outcome.OK:
            summary = _RESULTS.get(name, _first)(text, details or {})
        case _:
            summary = _first(text, {})
    return one_line(summary, limit)


# --- commands --------------------------------------------------------------------------------------------------------

_READER = (
    r"(?:sudo )?(?:cat|head|tail|sed -n|nl|ls|find|tree|fd|grep|rg|ag|awk|jq|sort|uniq|cut|diff|env|ps"
    r"|git(?: -C \S+)? (?:log|diff|show|status|blame|branch|ls-files))\b"
)
_READERS = late_pattern(_READER)
_SHOWS = late_pattern(rf"{_READER}|(?:cd|echo|printf|export|pwd|wc|which)\b|\Z")
_CHAIN = late_pattern(r"&&|\|\||;|⏎")


def _reads(command: str) -> bool:
    """True if the last command of a chain only shows text, which no single line can summarize."""
    return bool(_READERS.match(re.split(r"&&|\|\|?|;|⏎", command)[-1].strip(" ")))


def _only_shows(command: str) -> bool:
    """True if all commands of a chain only show text, so that an apparent verdict is part of a file."""
    return all(_SHOWS.match(part.strip(" ")) for part in _CHAIN.split(command))


def _judged(command: str, output: Printed) -> Verdict:
    """The verdict printed by test runners and similar tools.  In incomplete output, only failures count."""
    if _only_shows(command):
        return Verdict("")
    text = bare(output.text)
    is_whole = not (output.is_cut or output.moved or is_partial(command, text))
    return verdict(text, is_whole=is_whole, failed=bool(output.code))


_DOCUMENT = late_pattern(r"\s*[\[{]\n(?:.*\n)*[\]}]\s*\Z")  # multi-line JSON
_COMMIT = late_pattern(r"^\[[^\[\]\n]*\b([0-9a-f]{7,40})\] (\S.*)$", re.MULTILINE)


def _ran(command: str, text: str, details: Details) -> str:
    """The verdict of a command, else its last output line, else the client's note."""
    background, note = details.get("background"), details.get("note")
    if isinstance(background, str):
        return f"in the background as {background}"
    output = printed(text)
    found = _judged(command, output)
    if output.last_words and not found.is_red:  # a filter after the task hid the exit code
        return f"failed: {found.text or _last(bare(output.text))}".removesuffix(": ")
    if found.text and (found.is_red or not output.moved):
        return found.text
    if output.moved:
        return f"{output.moved} of output"
    lines = output.text.strip("\n").count("\n") + 1
    if lines > 2 and (_reads(command) or _DOCUMENT.match(output.text)):
        return many(lines, "line")
    commit = _COMMIT.search(output.text)
    if commit and "git " in command:
        return f"{commit[1]} {commit[2]}"
    return _last(output.text) or (note if isinstance(note, str) else "") or "ok"


_USAGE = late_pattern(r"(?<=\n)[Uu]sage:.*", re.DOTALL)
_CAUSES = tuple(
    late_pattern(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:FAILED|ERROR) \S.*$",
        r"^(?:[\w.]+\.)*\w*(?:Error|Exception|Interrupt)(?:: .*)?$",
        r"^(?:error(?:\[\w+\])?|fatal|panic|E {2,})[: ].*$",
        r"^.*?\b(?:error|failed|failure|cannot|not found|denied|No such file)\b.*$",
    )
)


def _failure(command: str | None, text: str, details: Details) -> str:
    """The verdict of a failed run, else the most likely cause, else the exit code."""
    output = printed(text)
    found = _judged(command, output._replace(code=output.code or "1")) if command is not None else Verdict("")
    if found.is_red:
        return found.text
    message, cause = normal(output.text), ""
    for pattern in _CAUSES:
        causes = pattern.findall(message)
        if causes:
            cause = str(causes[-1] if pattern is not _CAUSES[0] else causes[0])
            break
    exit_code = output.code or details.get("exit_code")
    cause = (
        cause
        or ("" if found.text else _last(_USAGE.sub("", message), indented=False))
        or (f"exit code {exit_code}" if exit_code is not None else "failed")
    )
    return f"{cause}; {found.text}" if found.text else cause


def _first(text: str, _details: Details) -> str:
    """The first line that contains words."""
    printed_text = printed(text).text
    return next((line for line in printed_text.split("\n") if re.search(r"\w", line)), printed_text.strip()[:1000])


def _last(text: str, *, indented: bool = True) -> str:
    """The last line that contains words, without its frame.

    If `indented` is false, prefer a line of at least four words that is not indented.
    """
    lines = [line for line in text.split("\n") if re.search(r"\w", line)]
    at_margin = [] if indented else [line for line in lines if re.match(r"\S+(?: \S+){3}", line)]
    return unframed((at_margin or lines or [text.strip(" \n=-_*~")[:1000]])[-1])


# --- other tools -----------------------------------------------------------------------------------------------------


def _count(details: Details, key: str) -> int | None:
    value = details.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _written(text: str, details: Details) -> str:
    lines = _count(details, "lines")
    done = "created" if details.get("kind") == "create" or "created successfully" in text[:400] else "updated"
    return done if lines is None else f"{done}, {many(lines, 'line')}"


def _edited(_said: str, details: Details) -> str:
    added, removed = _count(details, "added"), _count(details, "removed")
    return "updated" if added is None or removed is None else f"updated, +{added} −{removed}"


def _patched(text: str, details: Details) -> str:
    """The numbers of lines that a patch added and removed."""
    if _count(details, "added") is None:
        return _first(text, {})
    new = details.get("kind") == "create"
    return f"created, {many(_count(details, 'added') or 0, 'line')}" if new else _edited(text, details)


def _read(text: str, details: Details) -> str:
    lines, kind = _count(details, "lines"), details.get("kind")
    if lines is None:
        if isinstance(kind, str):
            return kind
        if not text.strip() or text.lstrip().startswith("<system-reminder>"):
            return "empty" if not text.strip() or "empty" in text[:300] else "no lines"
        lines = text.rstrip("\n").count("\n") + 1
    return many(lines, "line")


def _matches(text: str, details: Details) -> str:
    matches, files = _count(details, "matches"), _count(details, "files")
    if matches is not None:
        return many(matches, "match") + (f" in {many(files, 'file')}" if files else "")
    count = re.match(r"\s*Found (\d+) (?:total )?(file|match|line|occurrence)", text)
    if count:
        return many(int(count[1]), "match" if count[2] == "occurrence" else count[2])
    if not text.strip() or re.match(r"\s*No (?:files|matches)\b", text):
        return "no files" if re.match(r"\s*No files", text) else "no matches"
    return many(text.strip("\n").count("\n") + 1, "match")


def _files(text: str, details: Details) -> str:
    return (
        _matches(text, {k: v for k, v in details.items() if k == "matches"})
        .replace("matches", "files")
        .replace("match", "file")
    )


def _shell(text: str, details: Details) -> str:
    return _ran("", text, details)


def _found_pages(text: str, details: Details) -> str:
    results = _count(details, "results")
    return _first(text, {}) if results is None else many(results, "result")


def _searched(text: str, _details: Details) -> str:
    return _last(text) or "ok"


def _created_task(text: str, _details: Details) -> str:
    number = re.match(r"Task #(\S+) created", text)
    return f"task {number[1]}" if number else _first(text, {})


def _waited(text: str, _details: Details) -> str:
    return "timed out" if re.search(r'"timed_out":\s*true', text) else "ok"


def _done(_said: str, _details: Details) -> str:
    return "ok"


_CLAUDE_CODE: Mapping[str, _Renderer] = {
    "Bash": _shell,
    "BashOutput": _shell,
    "TaskOutput": _shell,
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
_CODEX: Mapping[str, _Renderer] = {
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
    "web_search": _searched,
}
_GEMINI: Mapping[str, _Renderer] = {
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
_OPENCODE: Mapping[str, _Renderer] = {
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
_COPILOT: Mapping[str, _Renderer] = {"view": _read, "create": _written}
_QWEN_CODE: Mapping[str, _Renderer] = {"todo_write": _done}
_CLINE: Mapping[str, _Renderer] = {"run_commands": _shell, "read_files": _read}
_RESULTS: Mapping[str, _Renderer] = {
    **_CLAUDE_CODE,
    **_CODEX,
    **_GEMINI,
    **_OPENCODE,
    **_COPILOT,
    **_QWEN_CODE,
    **_CLINE,
}
_SHELLS = frozenset(name for name, told in _RESULTS.items() if told is _shell)
