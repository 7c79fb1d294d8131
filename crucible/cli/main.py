"""The `cru` command: the table of commands, and the one place where an error becomes a line and an exit code.

Owns what is imported when: `cru --version` imports nothing but this file, `cru --help` only click, and a command its
own module when it is called.  Of the other files only `index/reading.py` imports ours late.  What a command does is in the
module its line in `COMMANDS` names.

Exit codes: 0 done, 1 failed, 2 usage, 3 problems found; 130 interrupted.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from crucible import __version__
from crucible.core.errors import CrucibleError

if TYPE_CHECKING:
    import click


_INTERRUPTED = 130


class Entry(NamedTuple):
    """Where a command is, `module:name`, and its one line of help, known without importing it.

    `completed` takes its place, and imports less, while a shell completes the ids of sessions.
    """

    target: str
    help: str
    completed: str = ""


GROUPS: Mapping[str, str] = {
    "bookmark": "Where sessions stood when they stopped: list, show and add.\n"
    '  cru bookmark add --note "the test still fails" --blocker "no API key"',
    "cases": "What sessions teach, to be reviewed: list, accept, reject, check and play cases.\n"
    "  cru cases list --status proposed",
    "hook": "What agents' hooks call; not for you.",
    "flight": "Whole events beside the notes: show them, and put old ones away.\n"
    "  cru flight show 2026-11-21-add --type error",
    "import": "Bring other agents' logs into the vault.\n  cru import auto --since 7d",
    "history": "What sessions came to: list, show, search and prune.\n"
    '  cru history list --since 30d\n  cru history search "token bucket"',
    "inbox": "What waits for a human, over all sessions: list and answer.\n"
    "  cru inbox\n"
    '  cru inbox answer 3f9a1c "Use UTC."',
    "index": "What the notes say, as tables that every list and figure is made from.\n"
    "  cru index show phases --sort -tokens_used -n 20",
    "knowledge": "What is worth knowing again: add, list, find, verify and retire items.\n"
    '  cru knowledge add decision "Retry with jitter" "At most five times."\n'
    "  cru knowledge list --to-verify",
    "log": "Tell what is being done, in the session that CRU_SESSION names.\n"
    '  cru log decision "Token bucket" --rationale "constant memory per key"',
    "install": "Put our entries into other programs' settings.\n  cru install claude-code",
    "memory": "What a session should begin with, in a dozen lines.\n  cru memory digest --workflow release",
    "recall": "Find what was said, decided and learned, over every session.",
    "session": "Begin, pause, resume, end, list, count, show, codify, learn from, check and rename sessions.\n"
    "  cru session list --since 7d --status failed\n"
    "  cru session resume",
    "task": "Tasks over all sessions: list, show, add, pick, annotate and end them.\n"
    "  cru task\n"
    "  cru task pick 2026-11-21-add.3",
    "workflow": "Workflows: list, show, check, draw and run them, and ask how they went.\n"
    "  cru workflow graph release-checklist\n"
    "  cru workflow sessions --status failed --since 7d",
}
"""Each group's one line of help; the lines below it are examples."""

_ONE, _MANY = "crucible.cli.id_arguments:ONE_SESSION", "crucible.cli.id_arguments:SESSIONS"
_CASES = "crucible.cli.id_arguments:CASES"
_ITEM, _ITEMS = "crucible.cli.id_arguments:ONE_ITEM", "crucible.cli.id_arguments:ITEMS"
_TASK = "crucible.cli.id_arguments:ONE_TASK"
_FLOW, _FLOWS = "crucible.cli.id_arguments:ONE_WORKFLOW", "crucible.cli.id_arguments:WORKFLOWS"

COMMANDS: Mapping[str, Entry] = {
    "init": Entry("crucible.cli.vault_setup:init", "Make a vault, or complete one."),
    "trust": Entry("crucible.cli.vault_setup:trust", "Show what the vault asks for, and accept it."),
    "import claude-code": Entry("crucible.cli.import_clients:claude_code", "Import Claude Code's transcripts."),
    "import codex": Entry("crucible.cli.import_clients:codex", "Import Codex's transcripts."),
    "import opencode": Entry("crucible.cli.import_clients:opencode", "Import OpenCode's sessions."),
    "import gemini": Entry("crucible.cli.import_clients:gemini", "Import Gemini CLI's transcripts."),
    "import auto": Entry("crucible.cli.import_clients:auto", "Find every client's sessions and import them."),
    "install claude-code": Entry(
        "crucible.cli.install_clients:claude_code", "Have Claude Code's sessions written down while they run."
    ),
    "install codex": Entry("crucible.cli.install_clients:codex", "Have Codex's agent recall and tell."),
    "install opencode": Entry("crucible.cli.install_clients:opencode", "Have OpenCode's agent recall and tell."),
    "install git-hooks": Entry("crucible.cli.install_clients:git_hooks", "Refuse to commit a secret."),
    "hook claude-code": Entry("crucible.cli.client_entry:claude_code", "Take one of Claude Code's hook payloads."),
    "session start": Entry("crucible.cli.session_record:start", "Begin a session; prints its id."),
    "session pause": Entry("crucible.cli.session_record:pause", "Stop a session for now."),
    "session resume": Entry("crucible.cli.session_resume:resume", "Go on with a session, in any client.", _ONE),
    "session end": Entry("crucible.cli.session_record:end", "End a session.", _ONE),
    "log phase": Entry("crucible.cli.log_commands:phase", "Begin a phase."),
    "log prose": Entry("crucible.cli.log_commands:prose", "What the agent said."),
    "log tool": Entry("crucible.cli.log_commands:tool", "A tool call and its result."),
    "log decision": Entry("crucible.cli.log_commands:decision", "What was chosen, and why."),
    "log error": Entry("crucible.cli.log_commands:error", "What went wrong and how it was fixed."),
    "log user": Entry("crucible.cli.log_commands:user", "A human's exact words."),
    "log subagent": Entry("crucible.cli.log_commands:subagent", "Work that goes to a subagent."),
    "log milestone": Entry("crucible.cli.log_commands:milestone", "Significant progress."),
    "log observation": Entry("crucible.cli.log_commands:observation", "Something worth remembering."),
    "log agent_switch": Entry("crucible.cli.log_commands:agent_switch", "Another agent goes on."),
    "log checkpoint": Entry("crucible.cli.log_commands:checkpoint", "A mark to come back to."),
    "log tasks": Entry("crucible.cli.log_commands:tasks", "The task list, or a change to it."),
    "log tokens": Entry("crucible.cli.log_commands:tokens", "Count tokens."),
    "log decision_needed": Entry("crucible.cli.log_commands:decision_needed", "A human is to choose."),
    "log approval_required": Entry("crucible.cli.log_commands:approval_required", "Something waits for a human's yes."),
    "log task_complete": Entry("crucible.cli.log_commands:task_complete", "A task is done."),
    "session list": Entry("crucible.cli.session_list:list_sessions", "List sessions, newest first."),
    "session stats": Entry("crucible.cli.session_list:stats", "Count sessions, tokens, time and failures."),
    "session show": Entry("crucible.cli.session_show:show", "Show sessions.", _MANY),
    "session brief": Entry(
        "crucible.cli.session_brief:brief", "Bring a session's brief up to date, and show it.", _ONE
    ),
    "session codify": Entry("crucible.cli.codify_command:codify_sessions", "Turn sessions into a workflow.", _MANY),
    "session learn": Entry("crucible.cli.learn_command:learn", "Extract what sessions teach.", _MANY),
    "session check": Entry("crucible.cli.session_check:check", "Name every problem of the session notes.", _MANY),
    "session rename": Entry(
        "crucible.cli.session_rename:rename", "Give a session another id, and mend every link.", _ONE
    ),
    "start": Entry("crucible.cli.client_start:start", "Brief a client, and launch it."),
    "briefing": Entry("crucible.cli.briefing_commands:briefing", "Say what to know before work begins."),
    "history list": Entry("crucible.cli.history_commands:list_history", "List what sessions came to, newest first."),
    "history show": Entry("crucible.cli.history_commands:show_history", "Show what a session came to.", _ONE),
    "history search": Entry("crucible.cli.history_commands:search", "Find sessions' histories by words."),
    "report": Entry("crucible.cli.report:report", "Report outcomes, decisions and open ends since a day."),
    "history prune": Entry("crucible.cli.history_commands:prune", "Put away what is old or too much."),
    "task list": Entry("crucible.cli.task_commands:list_tasks", "List tasks: in progress, ready, blocked, done."),
    "task show": Entry("crucible.cli.task_commands:show_task", "Show a task and what is noted of it.", _TASK),
    "task add": Entry("crucible.cli.task_add:add", "Add a task, or have a description broken into some."),
    "task pick": Entry("crucible.cli.task_changes:pick", "Begin a task, with all that is known for it.", _TASK),
    "task annotate": Entry("crucible.cli.task_changes:annotate", "Note what a task needs or found.", _TASK),
    "task done": Entry("crucible.cli.task_changes:done", "End a task; its decisions go to those that wait.", _TASK),
    "inbox list": Entry("crucible.cli.inbox:list_inbox", "List what waits for a human."),
    "inbox answer": Entry("crucible.cli.inbox:answer", "Write an answer into the session's note."),
    "capture": Entry("crucible.cli.capture_command:capture", "Find what is worth keeping of a session.", _ONE),
    "memory digest": Entry("crucible.cli.briefing_commands:digest", "Show decisions, lessons and where work stands."),
    "bookmark list": Entry("crucible.cli.bookmarks:list_bookmarks", "List bookmarks, newest first.", _ONE),
    "bookmark show": Entry("crucible.cli.bookmarks:show_bookmark", "Show where a session stood.", _ONE),
    "bookmark add": Entry("crucible.cli.bookmarks:add_bookmark", "Keep where a session stands.", _ONE),
    "cases list": Entry("crucible.cli.cases:list_cases", "List cases, the newest session's first."),
    "cases accept": Entry("crucible.cli.cases:accept", "Accept cases.", _CASES),
    "cases reject": Entry("crucible.cli.cases:reject", "Reject cases.", _CASES),
    "cases check": Entry("crucible.cli.cases:check_cases", "Name what is wrong with cases.", _CASES),
    "cases play": Entry("crucible.cli.case_play:play", "Ask a puzzle, and judge the answer."),
    "recall ask": Entry("crucible.cli.recall_ask:recall", "Find what was said, decided and learned."),
    "recall feedback": Entry("crucible.cli.knowledge_changes:feedback", "Tell whether an item helped.", _ITEM),
    "recall push": Entry("crucible.cli.recall_team:push", "Send what is new to the team's server."),
    "recall sync": Entry("crucible.cli.recall_team:sync", "Push, and remove what is gone."),
    "recall status": Entry("crucible.cli.recall_team:status", "Say what you may see on the server."),
    "recall set-up": Entry("crucible.cli.recall_team:set_up", "Make the server's tables."),
    "knowledge add": Entry("crucible.cli.knowledge_changes:add", "Keep something worth knowing again."),
    "knowledge list": Entry("crucible.cli.knowledge:list_knowledge", "List items, the weightiest first."),
    "knowledge show": Entry("crucible.cli.knowledge:show_knowledge", "Show an item's note.", _ITEM),
    "knowledge search": Entry("crucible.cli.knowledge:search", "Find items by words."),
    "knowledge retire": Entry("crucible.cli.knowledge_changes:retire", "Take items out of recall.", _ITEMS),
    "knowledge merge": Entry("crucible.cli.knowledge_changes:merge", "Make one of two items.", _ITEMS),
    "knowledge verify": Entry("crucible.cli.knowledge_changes:verify", "Note that an item holds.", _ITEM),
    "knowledge stats": Entry("crucible.cli.knowledge:stats", "Say what is used, and what never helped."),
    "knowledge check": Entry("crucible.cli.knowledge:check_knowledge", "Name what is wrong with items."),
    "flight list": Entry("crucible.cli.event_log:list_flights", "List the sessions that have whole events."),
    "flight show": Entry("crucible.cli.event_log:show_flight", "Show the whole events of a session.", _ONE),
    "flight purge": Entry("crucible.cli.event_log:purge_flights", "Put old whole events away, or delete them."),
    "workflow list": Entry("crucible.cli.workflow_list:list_workflows", "List workflows by name."),
    "workflow show": Entry("crucible.cli.workflow_show:show_workflow", "Show a workflow.", _FLOW),
    "workflow validate": Entry("crucible.cli.workflow_list:validate", "Name what is wrong with workflows.", _FLOWS),
    "workflow graph": Entry("crucible.cli.workflow_show:graph", "Draw a workflow's steps.", _FLOW),
    "workflow run": Entry("crucible.cli.workflow_run:run", "Carry a workflow out.", _FLOW),
    "workflow history": Entry("crucible.cli.workflow_runs:history", "List a workflow's runs, newest first.", _FLOW),
    "workflow sessions": Entry("crucible.cli.workflow_runs:marker_rows", "Ask how steps went, across all workflows."),
    "index show": Entry("crucible.cli.index_tables:show_table", "Print a table of the index."),
    "index rebuild": Entry("crucible.cli.index_tables:rebuild", "Make the index anew."),
    "watch": Entry("crucible.cli.vault_watch:follow", "Follow the vault, and print a line for every change."),
    "mcp": Entry("crucible.cli.client_entry:mcp", "Answer an agent's client over the Model Context Protocol."),
    "doctor": Entry("crucible.cli.doctor_command:doctor", "Look after hooks, transcripts, sessions and the index."),
    "completion": Entry("crucible.cli.reference:completion", "Print the shell's completion script."),
}


def load_command(target: str) -> click.Command:
    """Import `module:name`."""
    from importlib import import_module

    module, _, name = target.partition(":")
    command: click.Command = getattr(import_module(module), name)
    return command


def build_root() -> click.Group:
    """The `cru` group; its commands are not loaded yet."""
    from crucible.cli.group import build_group

    return build_group(GROUPS, COMMANDS, load_command)


def main(args: Sequence[str] | None = None, **_: Any) -> int:
    """Run `cru` and say how it ended; further keywords, as click's own runner passes them, mean nothing here."""
    given = list(sys.argv[1:] if args is None else args)
    if sys.stderr is None:
        # Closed by the shell.  The next file to be opened, a note perhaps, would be taken for it.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  as long as the process
    if sys.stdout is None:
        return _complain("standard output: closed", "", 1)
    try:
        code = _say_version() if given == ["--version"] else _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        return _complain(f"standard output: {error.strerror or error}", "", 1)
    return code


def run() -> NoReturn:
    """The console script: `main`, without what a process that lives for a moment need not do.

    Looking for cycles among what was just made, and taking down an interpreter object by object, took a quarter of a
    query's time.
    """
    gc.set_threshold(100_000, 10, 10)
    code = main()
    threading = sys.modules.get("threading")
    # Whoever registered something for the end, or works in another thread, is waited for.
    if atexit._ncallbacks() == 0 and (threading is None or threading.active_count() == 1):  # noqa: SLF001
        with suppress(OSError, AttributeError):  # stderr may be closed
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _say_version() -> int:
    sys.stdout.write(f"cru {__version__}\n")
    return 0


def _drop_output() -> None:
    """As click and rich end it, quietly.  Python flushes once more on its way out; let that go nowhere."""
    with suppress(OSError):  # no file under it, in a test
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(args: list[str]) -> int:
    import click

    _never_fail_to_print()
    color = _color_wished(args)
    try:
        return build_root().main(args, prog_name="cru", standalone_mode=False) or 0
    except CrucibleError as error:
        return _complain(str(error), error.hint, error.exit_code, color)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "cru"
        # Click lists choices on lines of their own.
        message = " ".join(error.format_message().split())
        return _complain(message, f"see: {path} --help", error.exit_code, color)
    except click.ClickException as error:
        return _complain(error.format_message(), "", error.exit_code, color)
    except click.Abort:
        return _INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _complain(f"{place}{error.strerror or error}", "", 1, color)


def _color_wished(args: Sequence[str]) -> bool | None:
    """As the root's options and NO_COLOR say; an error is told when no context knows of them any more."""
    if "--no-color" in args or "--color" in args:
        return "--color" in args
    return False if os.environ.get("NO_COLOR") else None


def _complain(message: str, hint: str, code: int, color: bool | None = None) -> int:
    from crucible.cli.output import say

    say(f"cru: {message}", style="red", color=color)
    if hint:
        say(f"     {hint}")
    return code


def _never_fail_to_print() -> None:
    """A terminal that lacks a character gets a `?` for it, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")


if __name__ == "__main__":
    run()
