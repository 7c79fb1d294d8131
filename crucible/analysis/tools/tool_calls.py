"""Read the acts of tool calls, and the moments of a session.

A call is read from its tool's name and recorded arguments, or from its line in the note if it was not recorded.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

from crucible.analysis.tools.recorded_calls import RecordedCall, RecordedCalls, RecordedPrompt
from crucible.analysis.tools.session_files import Files, as_datum
from crucible.analysis.tools.shell_acts import command_acts, is_command
from crucible.analysis.tools.shell_paths import change_file, patch_acts, write_file
from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.session.session import Entry, Intervention, Outcome, Session, ToolCall, ToolCalls


class _Call(NamedTuple):
    """A call to read.  `arguments` are empty if it was not recorded; `rest` is its line without the tool's name."""

    arguments: Mapping[str, object]
    tool: str
    rest: str
    outcome: Outcome
    folder: str
    files: Files

    def text(self, *names: str) -> str:
        """Return the first of these arguments that is a non-empty string."""
        if not self.arguments:
            return ""
        found = (self.arguments.get(name) for name in names)
        return next((value for value in found if isinstance(value, str) and value), "")

    @property
    def shown(self) -> str:
        return self.files.shown(self.rest)


_ReadActs: TypeAlias = Callable[[_Call], Iterator[Act]]


def acts_of(call: ToolCall, evidence: RecordedCalls, files: Files) -> tuple[Act, ...]:
    """Return the acts of a call, at least one.  For a call that cannot be read, the act has the tool's name.

    Never raises.  Read the calls of a session in order: `files` collects the files that they name.
    """
    files.add_roots(evidence.roots)
    return _acts_of(call, evidence.record_of(call), files)


def _acts_of(call: ToolCall, record: RecordedCall | None, files: Files) -> tuple[Act, ...]:
    name = record.name if record else call.tool
    line = record.line if record and record.arguments else call.call
    seen = _Call(
        record.arguments if record else {},
        name,
        line.partition(" ")[2],
        call.outcome,
        record.folder if record else "",
        files,
    )
    reader = _reader_of(name)
    acts = tuple(reader(seen)) or (_fallback_act(seen, _FALLBACK.get(reader, Deed.OTHER)),)
    return tuple(act if act.outcome is call.outcome else replace(act, outcome=call.outcome) for act in acts)


def _fallback_act(call: _Call, deed: Deed) -> Act:
    """Return the act of a call that has only its line, such as reading a folder, or a tool of an MCP server."""
    text = call.rest if deed is not Deed.OTHER else f"{call.tool} {call.rest}"
    return Act(deed, call.files.shown(text.strip()))


# --- files -----------------------------------------------------------------------------------------------------------

_PATHS = "file_path filePath absolute_path notebook_path path filename file target_file uri".split()  # noqa: SIM905


def _name(call: _Call) -> str:
    """Return the file that a call is about.  Agents that record their own calls may pass it as the command."""
    path = call.text(*_PATHS) or (call.text("command") if call.arguments.keys() == {"command"} else "")
    path = path or ("" if call.arguments else _path_in(call.rest))
    return call.files.path_of(path.removeprefix("file://"), _folder(call))


def _folder(call: _Call) -> str:
    """Return the folder from which a call's relative paths start; "" is the project's folder."""
    return "" if not call.folder or call.files.is_root(call.folder) else call.folder


def _path_in(rest: str) -> str:
    """Return the path in a line with one argument; "" if the line was cut."""
    return "" if rest.endswith("…") else rest


def _read(call: _Call) -> Iterator[Act]:
    many = call.arguments.get("paths", call.arguments.get("include"))
    paths = [path for path in many if isinstance(path, str)] if isinstance(many, list) else []
    names = list(
        dict.fromkeys(filter(None, [call.files.path_of(path, _folder(call)) for path in paths] or [_name(call)]))
    )
    for name in names:
        call.files.learn(name)
        yield Act(Deed.READ, name, (as_datum(name),))


def _write(call: _Call) -> Iterator[Act]:
    if name := _name(call):
        yield write_file(call.files, name)


def _edit(call: _Call) -> Iterator[Act]:
    if name := _name(call):
        yield change_file(call.files, name)


def _patch(call: _Call) -> Iterator[Act]:
    patch = call.text("input", "patch", "patchText")
    if not patch and not call.arguments:
        for path in _path_in(call.rest).split(", "):
            if name := call.files.path_of(path):
                yield change_file(call.files, name)
        return
    yield from patch_acts(patch, call.files, _folder(call))


def _edit_by_command(call: _Call) -> Iterator[Act]:
    """Read a call of the API's text editor: `view`, `create`, `str_replace`, `insert`."""
    reader = {"view": _read, "create": _write}.get(call.text("command"), _edit)
    return reader(call)


# --- the rest --------------------------------------------------------------------------------------------------------

_CUT_END = late_pattern(r"(?<!\S)\S*…\Z")
_SCRIPTS = ("command", "cmd", "script")


def _shell(call: _Call) -> Iterator[Act]:
    script = _script(call)
    acts = command_acts(script, call.files, call.outcome)
    if script == call.rest or call.arguments or not call.rest.endswith("…"):
        return iter(acts)
    last = acts[-1]
    is_cut = last.deed not in (Deed.READ, Deed.WRITE, Deed.EDIT, Deed.DELETE) and not last.what.endswith("…")
    return iter((*acts[:-1], replace(last, what=f"{last.what}…") if is_cut else last))


def _script(call: _Call) -> str:
    """Return the command as it was typed.  A line that was cut loses its last, incomplete word."""
    for name in _SCRIPTS:
        value = call.arguments.get(name)
        if isinstance(value, str) and value.strip():
            return _in_folder(value, call)
        if isinstance(value, list) and value:
            return _in_folder(_command_line([str(word) for word in value]), call)
    return _CUT_END.sub("", call.rest).replace("⏎", "\n")


def _in_folder(script: str, call: _Call) -> str:
    """Put `cd` before a script that ran outside the roots."""
    folder = call.text("workdir", "cwd", "directory", "dir_path", "working_directory") or _folder(call)
    if not folder or call.files.is_root(folder):
        return script
    return f"cd {shlex.quote(folder)} && {script}"


def _command_line(words: list[str]) -> str:
    is_script = len(words) == 3 and words[1] in ("-lc", "-c", "-Command", "/c")
    return words[2] if is_script else shlex.join(words)


def _search(call: _Call) -> Iterator[Act]:
    """Read a search, which reads the file in its arguments.  Names in its output need not be files."""
    given = call.files.path_of(call.text("path", "dir_path"), _folder(call))
    reads = (as_datum(given),) if given in call.files else ()
    yield Act(Deed.SEARCH, call.shown, reads)


def _list(call: _Call) -> Iterator[Act]:
    yield Act(Deed.SEARCH, call.shown)


def _fetch(call: _Call) -> Iterator[Act]:
    yield Act(Deed.FETCH, call.files.shown(call.text("url", "uri", "query", "prompt") or call.rest))


def _plan(call: _Call) -> Iterator[Act]:
    yield Act(Deed.PLAN, call.shown)


def _delegate(call: _Call) -> Iterator[Act]:
    yield Act(Deed.DELEGATE, call.files.shown(call.text("description", "message", "prompt", "task") or call.rest))


def _stdin(call: _Call) -> Iterator[Act]:
    """Read input for a running command.  Empty input only waits for the command."""
    typed = call.text("chars", "input")
    yield Act(Deed.RUN if typed.strip() else Deed.PLAN, call.files.shown(typed or call.rest))


_CODE_CALL = late_pattern(
    r"""\btools\.(?P<tool>\w+)\(\s*(?:\{\s*(?:\w+\s*:\s*\w+\s*,\s*)?["']?(?:cmd|command|input)["']?\s*:\s*)?"""
    r"""(?P<text>"(?>(?:[^"\\]|\\.)*)(?:"|\\?\Z)|'(?>(?:[^'\\]|\\.)*)(?:'|\\?\Z)|`(?>(?:[^`\\]|\\.)*)(?:`|\\?\Z))""",
    re.DOTALL,
)
_ESCAPED = late_pattern(r"\\(.)", re.DOTALL)
_MEANS = {"n": "\n", "t": "\t", "r": "\r"}


def _program(call: _Call) -> Iterator[Act]:
    """Read a Codex program that calls tools: `await tools.exec_command({cmd: "ls"})`."""
    program = call.text("input", "code", "script") or _CUT_END.sub("", call.rest).replace("⏎", "\n")
    acts: list[Act] = []
    for found in _CODE_CALL.finditer(program):
        text = _ESCAPED.sub(lambda m: _MEANS.get(m[1], m[1]), found["text"][1:].removesuffix(found["text"][0]))
        reader = _READERS.get(found["tool"])
        if reader is _shell:
            acts.extend(command_acts(text, call.files, call.outcome))
        elif reader is _patch:
            acts.extend(_patch(call._replace(arguments={"input": text})))
    return iter(acts) if acts else iter((Act(Deed.RUN, call.shown),))


def _other(call: _Call) -> Iterator[Act]:
    """Read a call of an unknown tool, which is a command if an agent recorded it under that name."""
    if is_command(call.tool) and call.tool != call.tool.upper():
        return iter(command_acts(f"{call.tool} {_script(call)}", call.files, call.outcome))
    return iter(())


_BY_NAME: Mapping[_ReadActs, str] = {
    _read: "read read_file file_read readfile read_many_files view view_image notebookread open_file cat read_text_file read_multiple_files get_file_contents",
    _write: "write write_file file_write create_file create writefile",
    _edit: "edit multiedit replace edit_file file_edit notebookedit str_replace insert search_replace edit_block",
    _edit_by_command: "str_replace_editor str_replace_based_edit_tool text_editor",
    _patch: "apply_patch patch",
    _shell: "bash shell exec_command run_shell_command shell_command local_shell local_shell_call container.exec container_exec powershell execute_command run_command run_in_terminal terminal monitor",
    _search: "grep grep_search search_file_content codebase_search file_search",
    _list: "glob ls list list_dir list_directory find_files directory_tree lsp toolsearch tool_search list_files codesearch",
    _fetch: "webfetch web_fetch websearch web_search web_search_call google_web_search fetch fetch_url",
    _plan: "todowrite todoread taskcreate taskupdate tasklist taskget taskoutput taskstop update_plan write_todos exitplanmode enterplanmode exit_plan_mode enter_plan_mode "
    "plan_exit plan_enter wait_agent close_agent wait bashoutput killshell killbash kill_shell kill_bash askuserquestion question ask_user request_user_input save_memory skill "
    "activate_skill schedulewakeup complete_task invalid agentoutput view_plan list_agents think sendusermessage update_topic tasks_list crucible",
    _delegate: "task agent spawn_agent send_input send_message sendmessage resume_agent invoke_agent delegate_to_agent followup_task",
    _stdin: "write_stdin",
    _program: "exec",
}
_READERS: Mapping[str, _ReadActs] = {name: reader for reader, names in _BY_NAME.items() for name in names.split()}
SHELLS = frozenset(_BY_NAME[_shell].split())
"""The tools that run commands in any client, in lower case."""
_FALLBACK: Mapping[_ReadActs, Deed] = {
    _read: Deed.READ,
    _write: Deed.WRITE,
    _edit: Deed.EDIT,
    _patch: Deed.EDIT,
    _edit_by_command: Deed.EDIT,
}
_FETCHES = "fetch search_web web_search navigate browse crawl scrape get_url http_request".split()  # noqa: SIM905


@lru_cache(maxsize=256)
def _reader_of(name: str) -> _ReadActs:
    """Return the function that reads calls of this tool.

    Of MCP tools, only those that fetch are known (`mcp__fetch__get`).
    """
    tool = name.casefold().replace("-", "_")
    if (found := _READERS.get(tool)) is not None:
        return found
    if (found := _READERS.get("_".join(reversed(tool.split("_"))))) is not None:  # `file_write`
        return found
    if tool.startswith("mcp__"):
        return _fetch if any(word in tool for word in _FETCHES) else _other
    return _other


def deed_of_tool(name: str) -> Deed:
    """Return what a tool usually does, by its name only.  A shell, whatever its commands do, runs."""
    return _USUAL.get(_reader_of(name), Deed.OTHER)


_USUAL: Mapping[_ReadActs, Deed] = {
    **_FALLBACK,
    _shell: Deed.RUN,
    _stdin: Deed.RUN,
    _program: Deed.RUN,
    _search: Deed.SEARCH,
    _list: Deed.SEARCH,
    _fetch: Deed.FETCH,
    _plan: Deed.PLAN,
    _delegate: Deed.DELEGATE,
}


RUNS = frozenset((Deed.RUN, Deed.TEST, Deed.CHECK, Deed.BUILD))
CHANGES = frozenset((Deed.WRITE, Deed.EDIT, Deed.DELETE))


class Moment(NamedTuple):
    """An entry, or one call in a list of calls.

    `at` is its index in the session, from 0; `phase` is the id of its phase or sub-phase; `line` is its line in the
    note, from 1.  For a call, `arguments` is None if they were not recorded, `result` is the full text if recorded, and
    `tool` is its name as the client writes it.  `row` is the id of the transcript row with the result or the user's
    words, and `expansion` is the text to which a slash command expands; both are "" if not recorded.
    """

    at: int
    phase: str
    phase_name: str
    line: int
    entry: Entry
    call: ToolCall | None = None
    acts: tuple[Act, ...] = ()
    arguments: Mapping[str, object] | None = None
    result: str = ""
    tool: str = ""
    row: str = ""
    expansion: str = ""

    @property
    def outcome(self) -> Outcome | None:
        """Return the outcome of a call; None for other moments."""
        return self.call.outcome if self.call else None

    @property
    def passed(self) -> bool:
        """True for a call that succeeded."""
        return self.outcome is Outcome.OK

    @property
    def commands(self) -> tuple[str, ...]:
        """Return the commands that the call ran."""
        return tuple(act.what for act in self.acts if act.deed in RUNS)

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the files that the call changed."""
        return tuple(act.what for act in self.acts if act.deed in CHANGES and act.what) if self.passed else ()


def moments_of(session: Session, evidence: RecordedCalls) -> list[Moment]:
    """Return all moments of a session in the order of its note, except the preamble and the work of inline subagents.

    `evidence` is used up in order, so pass a new one each time.
    """
    files = Files(evidence.roots)
    found: list[Moment] = []
    for phase in session.all_phases():
        for entry in phase.entries:
            for call in entry.calls if isinstance(entry, ToolCalls) else [None]:
                place = (len(found), phase.id, phase.name, (call or entry).lines.first + 1, entry, call)
                found.append(Moment(*place, **_recorded(entry, call, evidence, files)))
    return found


def _recorded(entry: Entry, call: ToolCall | None, evidence: RecordedCalls, files: Files) -> dict[str, Any]:
    """Return the data of a moment that is in the event log."""
    if call is None:
        prompt = evidence.prompt(entry.words) if isinstance(entry, Intervention) else RecordedPrompt()
        return {"row": prompt.row, "expansion": prompt.expansion}
    record = evidence.record_of(call)
    acts = _acts_of(call, record, files)
    if record is None:
        return {"acts": acts, "result": call.result, "tool": call.tool}
    return {
        "acts": acts,
        "arguments": record.arguments,
        "result": call.result if record.result is None else record.result,
        "tool": record.name,
        "row": record.row,
    }
