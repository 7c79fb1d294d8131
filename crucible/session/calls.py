"""A tool call in one line, and its result in one shorter line: what a person would look for, nothing else.

Owns the choice and the cuts of `format.md` section 4.  The whole arguments and results are the flight recorder's; marks,
code spans and arrows are `session.markup`'s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from crucible.note.contain import cut, normal, normal_line
from crucible.patterns import late_pattern
from crucible.session.markup import CALL_LIMIT, RESULT_LIMIT
from crucible.session.model import Outcome

__all__ = ["call_line", "one_line", "result_line"]

Arguments: TypeAlias = Mapping[str, object]

_PATCHED = late_pattern(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)[ \t\r]*$", re.MULTILINE)
_LINE_END = late_pattern(r"[ \t]*\n[ \t]*")

# Read in order: the first of these that an unknown tool was given tells most.
_TELLING = (
    *(
        "command",
        "cmd",
        "script",
        "code",
        "file_path",
        "filePath",
        "absolute_path",
        "notebook_path",
        "path",
        "filename",
        "file",
        "uri",
        "url",
    ),
    *(
        "query",
        "pattern",
        "search",
        "question",
        "prompt",
        "message",
        "text",
        "title",
        "subject",
        "name",
        "skill",
    ),
    *("description", "input", "expression", "selector", "task_id", "taskId", "bash_id", "shell_id", "id"),
    "dir_path",
)
_PATHS = {"file_path", "filePath", "absolute_path", "dir_path", "notebook_path", "path", "filename", "file"}
_COMMANDS = {"command", "cmd"}
_SHELLS = ("Bash", "bash", "exec_command", "shell", "shell_command", "local_shell", "run_shell_command")


def one_line(text: str, limit: int) -> str:
    """The normal form of a text as one line with newlines as `⏎`, at most `limit` code points long."""
    text = normal(text[: 8 * limit + 4000])
    return cut(normal_line(_LINE_END.sub("⏎", text.strip(" \t"))), limit)


def call_line(name: str, arguments: Arguments, cwd: str = "") -> str:
    """The tool's name, a blank and its arguments; a path below `cwd` is told from there on."""
    tool = re.sub(r"[\s`]+", "_", one_line(name, 80)) or "tool"
    told = _CALLS.get(name, _told)(arguments, cwd)
    return one_line(f"{tool} {told}", CALL_LIMIT)


def _told(arguments: Arguments, cwd: str) -> str:
    """The most telling argument, or all of them as compact JSON."""
    for key in _TELLING:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return _path(value, cwd) if key in _PATHS else value
        if key in _COMMANDS and isinstance(value, list) and value:
            return _command(value)
    return _compact(arguments) if arguments else ""


def _command(words: list[object]) -> str:
    """A command as one would type it: of `["bash", "-lc", SCRIPT]` the script."""
    is_script = len(words) == 3 and str(words[1]) in ("-lc", "-c", "-Command", "/c")
    return str(words[2]) if is_script else " ".join(map(str, words))


def _compact(arguments: Arguments) -> str:
    try:
        return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, RecursionError):
        return ", ".join(arguments)


def _path(path: str, cwd: str) -> str:
    """As one would type it where the agent stood: `src/app.py`, not `/home/me/shop/src/app.py`."""
    base = cwd.rstrip("/\\")
    if base and path.startswith(base) and path[len(base) : len(base) + 1] in ("/", "\\"):
        return path[len(base) + 1 :] or path
    return path


def _text(arguments: Arguments, *keys: str) -> str:
    """The given arguments that are there, joined by blanks."""
    found = (arguments.get(key) for key in keys)
    return " ".join(
        str(v) for v in found if isinstance(v, str | int) and not isinstance(v, bool) and str(v).strip()
    )


def _search(arguments: Arguments, cwd: str) -> str:
    """A pattern, and where it was looked for."""
    where = _path(_text(arguments, "path") or _text(arguments, "dir_path"), cwd)
    pattern = _text(arguments, "pattern")
    return " ".join(part for part in (pattern, where, _text(arguments, "glob", "type")) if part) or _compact(
        arguments
    )


def _todos(arguments: Arguments, cwd: str) -> str:
    """How long the list is, and what is being done."""
    todos = arguments.get("todos", arguments.get("plan"))
    if not isinstance(todos, list):
        return _told(arguments, cwd)
    active = (t for t in todos if isinstance(t, Mapping) and t.get("status") == "in_progress")
    doing = [t.get("content", t.get("step", t.get("description"))) for t in active]
    count = f"{len(todos)} task{'' if len(todos) == 1 else 's'}"
    return f"{count}, now: {doing[0]}" if doing else count


def _patch(arguments: Arguments, cwd: str) -> str:
    """The files that a patch touches."""
    paths = _PATCHED.findall(_text(arguments, "input", "patch"))
    return ", ".join(_path(path, cwd) for path in dict.fromkeys(paths)) or _told(arguments, cwd)


def _agents(arguments: Arguments, cwd: str) -> str:
    """How many subagents were waited for; a single one's id is told short."""
    targets = arguments.get("targets", arguments.get("ids"))
    named = targets if isinstance(targets, list) else [arguments.get("target", arguments.get("id"))]
    if len(named) == 1:
        return str(named[0])[-12:] if isinstance(named[0], str) else _told(arguments, cwd)
    return f"{len(named)} agents"


def _task_update(arguments: Arguments, cwd: str) -> str:
    """`2 in_progress`."""
    return _text(arguments, "taskId", "status", "subject") or _told(arguments, cwd)


def _questions(arguments: Arguments, cwd: str) -> str:
    """What was asked."""
    asked = arguments.get("questions")
    texts = [q.get("question") for q in asked if isinstance(q, Mapping)] if isinstance(asked, list) else []
    return " / ".join(t for t in texts if isinstance(t, str)) or _told(arguments, cwd)


def _plan(arguments: Arguments, cwd: str) -> str:
    """A plan's first line."""
    lines = [line.strip("# \t") for line in _text(arguments, "plan").split("\n")]
    return next((line for line in lines if line), "") or _told(arguments, cwd)


_CALLS: Mapping[str, Callable[[Arguments, str], str]] = {
    "Grep": _search,
    "grep": _search,
    "Glob": _search,
    "TodoWrite": _todos,
    "todowrite": _todos,
    "write_todos": _todos,
    "grep_search": _search,
    "search_file_content": _search,
    "glob": _search,
    "update_plan": _todos,
    "apply_patch": _patch,
    "wait_agent": _agents,
    "close_agent": _agents,
    "TaskCreate": lambda arguments, cwd: _text(arguments, "subject") or _told(arguments, cwd),
    "TaskUpdate": _task_update,
    "AskUserQuestion": _questions,
    "ExitPlanMode": _plan,
    "Skill": lambda arguments, cwd: _text(arguments, "skill", "command", "args") or _told(arguments, cwd),
    "Agent": lambda arguments, cwd: _text(arguments, "description") or _told(arguments, cwd),
    "Task": lambda arguments, cwd: _text(arguments, "description") or _told(arguments, cwd),
}


def result_line(
    call: str, text: str, outcome: Outcome = Outcome.OK, details: Mapping[str, object] | None = None
) -> str:
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


def _failure(text: str, details: Mapping[str, object]) -> str:
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


def _count(details: Mapping[str, object], key: str) -> int | None:
    value = details.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _many(count: int, noun: str) -> str:
    if count == 0:
        return f"no {noun}{'es' if noun.endswith('ch') else 's'}"
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{'es' if noun.endswith('ch') else 's'}"


def _first(text: str, _details: Mapping[str, object]) -> str:
    """The first line that says something."""
    return next(
        (line for line in text[:_ENDS].split("\n") if re.search(r"\w", line)), text[:_ENDS].strip()[:1000]
    )


def _last(text: str, _details: Mapping[str, object], otherwise: str = "ok") -> str:
    """The last line that says something, without a frame of `=` or `-`."""
    for line in reversed(text[-_ENDS:].split("\n")):
        if re.search(r"\w", line):
            return re.sub(r"^\s*[=-]{3,}\s+|\s+[=-]{3,}\s*$", "", line)
    return text.strip()[:1000] or otherwise


def _written(text: str, details: Mapping[str, object]) -> str:
    lines = _count(details, "lines")
    done = "created" if details.get("kind") == "create" or "created successfully" in text[:400] else "updated"
    return done if lines is None else f"{done}, {_many(lines, 'line')}"


def _edited(_said: str, details: Mapping[str, object]) -> str:
    added, removed = _count(details, "added"), _count(details, "removed")
    return "updated" if added is None or removed is None else f"updated, +{added} −{removed}"


def _patched(text: str, details: Mapping[str, object]) -> str:
    """What a patch of one or more files did."""
    if _count(details, "added") is None:
        return _first(text, {})
    new = details.get("kind") == "create"
    return f"created, {_many(_count(details, 'added') or 0, 'line')}" if new else _edited(text, details)


def _read(text: str, details: Mapping[str, object]) -> str:
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


def _matches(text: str, details: Mapping[str, object]) -> str:
    matches, files = _count(details, "matches"), _count(details, "files")
    if matches is not None:
        return _many(matches, "match") + (f" in {_many(files, 'file')}" if files else "")
    told = re.match(r"\s*Found (\d+) (?:total )?(file|match|line|occurrence)", text)
    if told:
        return _many(int(told[1]), "match" if told[2] == "occurrence" else told[2])
    if not text.strip() or re.match(r"\s*No (?:files|matches)\b", text):
        return "no files" if re.match(r"\s*No files", text) else "no matches"
    return _many(text.strip("\n").count("\n") + 1, "match")


def _files(text: str, details: Mapping[str, object]) -> str:
    return (
        _matches(text, {k: v for k, v in details.items() if k == "matches"})
        .replace("matches", "files")
        .replace("match", "file")
    )


def _shell(text: str, details: Mapping[str, object]) -> str:
    """The last line of what a command printed; what the client made of it when it printed nothing."""
    background, note = details.get("background"), details.get("note")
    if isinstance(background, str):
        return f"in the background as {background}"
    return _last(text, {}, note if isinstance(note, str) else "ok")


def _found_pages(text: str, details: Mapping[str, object]) -> str:
    results = _count(details, "results")
    return _first(text, {}) if results is None else _many(results, "result")


def _created_task(text: str, _details: Mapping[str, object]) -> str:
    number = re.match(r"Task #(\S+) created", text)
    return f"task {number[1]}" if number else _first(text, {})


def _waited(text: str, _details: Mapping[str, object]) -> str:
    return "timed out" if re.search(r'"timed_out":\s*true', text) else "ok"


def _done(_said: str, _details: Mapping[str, object]) -> str:
    return "ok"


_RESULTS: Mapping[str, Callable[[str, Mapping[str, object]], str]] = {
    **dict.fromkeys(_SHELLS, _shell),
    "apply_patch": _patched,
    "update_plan": _done,
    "wait_agent": _waited,
    **dict.fromkeys(("send_input", "send_message", "followup_task", "close_agent"), _done),
    "web_search": _last,
    "BashOutput": _last,
    "WebSearch": _found_pages,
    "Write": _written,
    "Edit": _edited,
    "MultiEdit": _edited,
    "NotebookEdit": _edited,
    "Read": _read,
    "Grep": _matches,
    "Glob": _files,
    "TaskCreate": _created_task,
    "TaskUpdate": _done,
    "TodoWrite": _done,
    "write_file": _written,
    "replace": _edited,
    "read_file": _read,
    "grep_search": _matches,
    "search_file_content": _matches,
    "glob": _files,
    "list_directory": _found_pages,
    "write_todos": _done,
    "read": _read,
    **dict.fromkeys(("edit", "multiedit"), _edited),
    "write": _written,
    "grep": _matches,
    "todowrite": _done,
}
