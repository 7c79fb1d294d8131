"""Render a tool call as one line, with its most informative arguments (by client) and shortened paths."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from crucible.core.patterns import late_pattern
from crucible.core.text import counted
from crucible.documents.markdown.containment import cut, normal, normal_line
from crucible.documents.session.markup import CALL_LIMIT

_HOME = late_pattern(r"(?:[A-Za-z]:)?[\\/](?:home|Users)[\\/][^\\/]+|/root(?=/|\Z)")
_BEGINS = r"(?:(?<![\w.~/\\-])|(?<=\s-[A-Z]))(?:file://)?"


def shorten_paths(text: str, folder: str) -> str:
    """Shorten the paths in a text.  If `folder` is unknown (""), nothing is shortened."""
    if not folder or ("/" not in text and "\\" not in text):
        return text
    for start, path, replacement in _patterns(folder):
        if start in text:
            text = path.sub(replacement, text)
    return text


@lru_cache(maxsize=64)
def _patterns(folder: str) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """The prefix, pattern and replacement for each path to shorten."""
    top = folder.rstrip("/\\")
    found: list[tuple[str, re.Pattern[str], str]] = []
    if re.search(r"[^\\/:]", top[2:]):
        inside = re.escape(top)
        found.append((top, re.compile(rf"{_BEGINS}{inside}[\\/]+(?=[^\s\\/\"'`,;:)\]}}<>|&])"), ""))
        found.append((top, re.compile(rf"{_BEGINS}{inside}(?:[\\/]+|(?![\w-]|\.\w|[\\/]))"), "."))
    home = _HOME.match(top)
    if home:
        found.append((home[0], re.compile(rf"{_BEGINS}{re.escape(home[0])}(?![\w-]|\.\w)"), "~"))
    return tuple(found)


Arguments: TypeAlias = Mapping[str, object]
_Renderer: TypeAlias = Callable[[Arguments, str], str]

_PATCHED = late_pattern(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)[ \t\r]*$", re.MULTILINE)
_LINE_END = late_pattern(r"[ \t]*\n[ \t]*")

_READ = 8000
"""Maximum code points of the arguments to read."""
_COMMANDS = ("command", "cmd")
_PATHS = ("file_path", "filePath", "absolute_path", "notebook_path", "path", "filename", "file", "dir_path")
_INFORMATIVE = (
    "command", "cmd", "script", "code",
    "file_path", "filePath", "absolute_path", "notebook_path", "path", "filename", "file", "uri", "url",
    "query", "pattern", "search", "question", "prompt", "message", "text", "title", "subject", "name", "skill",
    "description", "input", "expression", "selector", "task_id", "taskId", "bash_id", "shell_id", "id", "dir_path",
)  # fmt: skip
"""The arguments to show for unknown tools, most informative first."""


def one_line(text: str, limit: int) -> str:
    """Normalize text to one line of at most `limit` code points, with newlines as `⏎`."""
    if len(text) <= limit and text.isprintable():  # has no line endings
        return normal_line(text)
    text = normal(text[: 8 * limit + 4000])
    return cut(normal_line(_LINE_END.sub("⏎", text.strip(" \t"))), limit)


def call_line(name: str, arguments: Arguments, cwd: str = "") -> str:
    """Render the tool's name, a space and its arguments.  Paths are relative to `cwd`."""
    tool = re.sub(r"[\s`]+", "_", one_line(name, 80)) or "tool"
    shown = _CALLS.get(name, _main_argument)(arguments, cwd)
    return one_line(f"{tool} {shorten_paths(shown[:_READ], cwd)}", CALL_LIMIT)


def asks_user(tool: str) -> bool:
    """True if a call of this tool waits for the user: a question or a plan."""
    return _CALLS.get(tool) in (_questions, _plan)


def _main_argument(arguments: Arguments, cwd: str) -> str:
    """The most informative argument, or else all arguments as compact JSON."""
    for key in _INFORMATIVE:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return _path(value, cwd) if key in _PATHS else value
        if key in _COMMANDS and isinstance(value, list) and value:
            return _command(value)
    return _compact(arguments) if arguments else ""


def _command(words: list[object]) -> str:
    """A command as typed in a shell.  For `["bash", "-lc", SCRIPT]`, only the script."""
    is_script = len(words) == 3 and str(words[1]) in ("-lc", "-c", "-Command", "/c")
    return str(words[2]) if is_script else " ".join(map(str, words))


def _compact(arguments: Arguments) -> str:
    try:
        return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, RecursionError):
        return ", ".join(arguments)


def _path(path: str, cwd: str) -> str:
    """A path relative to the agent's folder: `src/app.py`, not `/home/me/shop/src/app.py`."""
    base = cwd.rstrip("/\\")
    if base and path.startswith(base) and path[len(base) : len(base) + 1] in ("/", "\\"):
        return path[len(base) + 1 :] or path
    return path


def _text(arguments: Arguments, *keys: str) -> str:
    """The present arguments among `keys`, joined by spaces."""
    found = (arguments.get(key) for key in keys)
    return " ".join(str(v) for v in found if isinstance(v, str | int) and not isinstance(v, bool) and str(v).strip())


def _search(arguments: Arguments, cwd: str) -> str:
    """A search's pattern and folder."""
    where = _path(_text(arguments, "path") or _text(arguments, "dir_path"), cwd)
    pattern = _text(arguments, "pattern")
    return " ".join(part for part in (pattern, where, _text(arguments, "glob", "type")) if part) or _compact(arguments)


def _todos(arguments: Arguments, cwd: str) -> str:
    """The number of tasks, and the task in progress."""
    todos = arguments.get("todos", arguments.get("plan"))
    if not isinstance(todos, list):
        return _main_argument(arguments, cwd)
    active = (t for t in todos if isinstance(t, Mapping) and t.get("status") == "in_progress")
    doing = [t.get("content", t.get("step", t.get("description"))) for t in active]
    count = counted(len(todos), "task")
    return f"{count}, now: {doing[0]}" if doing else count


def _patch(arguments: Arguments, cwd: str) -> str:
    """The files that a patch changes."""
    paths = _PATCHED.findall(_text(arguments, "input", "patch", "patchText"))
    return ", ".join(_path(path, cwd) for path in dict.fromkeys(paths)) or _main_argument(arguments, cwd)


def _agents(arguments: Arguments, cwd: str) -> str:
    """The number of subagents, or the shortened id if there is only one."""
    targets = arguments.get("targets", arguments.get("ids"))
    named = targets if isinstance(targets, list) else [arguments.get("target", arguments.get("id"))]
    if len(named) == 1:
        return str(named[0])[-12:] if isinstance(named[0], str) else _main_argument(arguments, cwd)
    return f"{len(named)} agents"


def _commands(arguments: Arguments, cwd: str) -> str:
    """The commands of a call that runs several."""
    given = arguments.get("commands")
    return "; ".join(map(str, given)) if isinstance(given, list) else _main_argument(arguments, cwd)


def _file_list(arguments: Arguments, cwd: str) -> str:
    """The files of a call that reads several."""
    given = arguments.get("files")
    paths = [_text(file, "path") for file in given if isinstance(file, Mapping)] if isinstance(given, list) else []
    return ", ".join(_path(path, cwd) for path in paths) or _main_argument(arguments, cwd)


def _questions(arguments: Arguments, cwd: str) -> str:
    """The questions that a call asks."""
    asked = arguments.get("questions")
    texts = [q.get("question") for q in asked if isinstance(q, Mapping)] if isinstance(asked, list) else []
    return " / ".join(t for t in texts if isinstance(t, str)) or _main_argument(arguments, cwd)


def _plan(arguments: Arguments, cwd: str) -> str:
    """A plan's first line."""
    lines = [line.strip("# \t") for line in _text(arguments, "plan").split("\n")]
    return next((line for line in lines if line), "") or _main_argument(arguments, cwd)


def _given(*keys: str) -> _Renderer:
    """Return a renderer that shows these arguments in this order."""
    return lambda arguments, cwd: _text(arguments, *keys) or _main_argument(arguments, cwd)


_CLAUDE_CODE: Mapping[str, _Renderer] = {
    "Grep": _search,
    "Glob": _search,
    "TodoWrite": _todos,
    "TaskCreate": _given("subject"),
    "TaskUpdate": _given("taskId", "status", "subject"),
    "AskUserQuestion": _questions,
    "ExitPlanMode": _plan,
    "Skill": _given("skill", "command", "args"),
    "Agent": _given("description"),
    "Task": _given("description"),
}
_CODEX: Mapping[str, _Renderer] = {
    "update_plan": _todos,
    "apply_patch": _patch,
    "wait_agent": _agents,
    "close_agent": _agents,
}
_GEMINI: Mapping[str, _Renderer] = {
    "grep_search": _search,
    "search_file_content": _search,
    "glob": _search,
    "write_todos": _todos,
}
_OPENCODE: Mapping[str, _Renderer] = {
    "grep": _search,
    "glob": _search,
    "todowrite": _todos,
    "apply_patch": _patch,
}
_QWEN_CODE: Mapping[str, _Renderer] = {"todo_write": _todos}
_CLINE: Mapping[str, _Renderer] = {"run_commands": _commands, "read_files": _file_list}
_CALLS: Mapping[str, _Renderer] = {**_CLAUDE_CODE, **_CODEX, **_GEMINI, **_OPENCODE, **_QWEN_CODE, **_CLINE}
"""The renderers by tool name.  So far, no two clients use one name for different tools."""
