"""The commands of `cru`, listed without importing their modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Group(NamedTuple):
    """A group of commands: its help line and its examples."""

    help: str
    examples: tuple[str, ...] = ()


class Entry(NamedTuple):
    """A command: its location, `module:function` in `crucible.cli`, and its help line.

    `completion` is a lighter command that replaces it when a shell completes ids.
    """

    target: str
    help: str
    completion: str = ""


GROUPS: Mapping[str, Group] = {
    "case": Group(
        "What sessions teach, to be reviewed: list, accept, reject, check and play cases.",
        ("cru case list --status proposed",),
    ),
    "hook": Group("What agents' hooks call; not for you."),
    "events": Group(
        "Whole events beside the notes: show them, and put old ones away.",
        ("cru events show 2026-11-21-add --type error",),
    ),
    "history": Group(
        "What sessions came to: list, show, search and prune.",
        (
            "cru history list --since 30d",
            'cru history search "token bucket"',
        ),
    ),
    "inbox": Group(
        "What waits for a human, over all sessions: list and answer.",
        (
            "cru inbox",
            'cru inbox answer 3f9a1c "Use UTC."',
        ),
    ),
    "index": Group(
        "What the notes say, as tables that every list and figure is made from.",
        ("cru index show phases --sort -tokens -n 20",),
    ),
    "knowledge": Group(
        "What is worth knowing again: add, list, find, verify and retire items.",
        (
            'cru knowledge add decision "Retry with jitter" "At most five times."',
            "cru knowledge list --to-verify",
        ),
    ),
    "record": Group(
        "Tell what is being done, in the session that CRU_SESSION names.",
        ('cru record decision "Token bucket" --rationale "constant memory per key"',),
    ),
    "session": Group(
        "Begin, pause, resume, end, list, count, show, codify, learn from, check and rename sessions.",
        (
            "cru session list --since 7d --status failed",
            "cru session resume",
        ),
    ),
    "team": Group("Share recall through a team's server.", ("cru team push",)),
    "task": Group(
        "Tasks over all sessions: list, show, add, pick, annotate and end them.",
        (
            "cru task",
            "cru task pick 2026-11-21-add.3",
        ),
    ),
    "workflow": Group(
        "Workflows: list, show, check, draw and run them, and ask how they went.",
        (
            "cru workflow graph release-checklist",
            "cru workflow sessions --status failed --since 7d",
        ),
    ),
}

COMMANDS: Mapping[str, Entry] = {
    "init": Entry("vault_setup:init", "Make a vault, or complete one."),
    "trust": Entry("vault_setup:trust", "Show what the vault asks for, and accept it."),
    "import": Entry("import_command:import_sessions", "Import the sessions of every agent found here, or of one."),
    "install": Entry("install_command:install", "Connect agents, or git, to the vault."),
    "hook claude-code": Entry("client_entry:claude_code", "Take one of Claude Code's hook payloads."),
    "session pause": Entry("session_end:pause", "Stop a session for now."),
    "session resume": Entry(
        "session_resume:resume", "Go on with a session, in any client.", "id_arguments:ONE_SESSION"
    ),
    "session end": Entry("session_end:end", "End a session.", "id_arguments:ONE_SESSION"),
    "record start": Entry("record_start:start", "Begin a session and print its id."),
    "record phase": Entry("record_commands:phase", "Begin a phase."),
    "record prose": Entry("record_commands:prose", "What the agent said."),
    "record tool": Entry("record_commands:tool", "A tool call and its result."),
    "record decision": Entry("record_commands:decision", "What was chosen, and why."),
    "record error": Entry("record_commands:error", "What went wrong and how it was fixed."),
    "record user": Entry("record_commands:user", "A human's exact words."),
    "record subagent": Entry("record_commands:subagent", "Work that goes to a subagent."),
    "record milestone": Entry("record_commands:milestone", "Significant progress."),
    "record observation": Entry("record_commands:observation", "Something worth remembering."),
    "record agent-switch": Entry("record_commands:agent_switch", "Another agent goes on."),
    "record checkpoint": Entry("record_commands:checkpoint", "A mark to come back to."),
    "record tasks": Entry("record_commands:tasks", "The task list, or a change to it."),
    "record tokens": Entry("record_commands:tokens", "Count tokens."),
    "record decision-needed": Entry("record_commands:decision_needed", "A human is to choose."),
    "record approval-required": Entry("record_commands:approval_required", "Something waits for a human's yes."),
    "record task-complete": Entry("record_commands:task_complete", "A task is done."),
    "record bookmark": Entry("session_bookmarks:add", "Keep where a session stands.", "id_arguments:ONE_SESSION"),
    "session list": Entry("session_list:list_sessions", "List sessions, newest first."),
    "session stats": Entry("session_list:stats", "Count sessions, tokens, time and failures."),
    "session show": Entry("session_show:show", "Show sessions.", "id_arguments:SESSIONS"),
    "session brief": Entry(
        "session_brief:brief", "Bring a session's brief up to date, and show it.", "id_arguments:ONE_SESSION"
    ),
    "session codify": Entry(
        "codify_command:codify_sessions", "Turn sessions into a workflow.", "id_arguments:SESSIONS"
    ),
    "session learn": Entry("learn_command:learn", "Extract what sessions teach.", "id_arguments:SESSIONS"),
    "session check": Entry("session_check:check", "Name every problem of the session notes.", "id_arguments:SESSIONS"),
    "session rename": Entry(
        "session_rename:rename", "Give a session another id, and mend every link.", "id_arguments:ONE_SESSION"
    ),
    "session delete": Entry(
        "session_delete:delete", "Delete sessions, or restore deleted ones.", "id_arguments:SESSIONS"
    ),
    "launch": Entry("launch_command:launch", "Brief a client, and launch it."),
    "briefing": Entry("briefing_commands:briefing", "Say what to know before work begins."),
    "history list": Entry("history_commands:list_history", "List what sessions came to, newest first."),
    "history show": Entry("history_commands:show_history", "Show what a session came to.", "id_arguments:ONE_SESSION"),
    "history search": Entry("history_commands:search", "Find sessions' histories by words."),
    "report": Entry("report:report", "Report outcomes, decisions and open ends since a day."),
    "history prune": Entry("history_commands:prune", "Put away what is old or too much."),
    "task list": Entry("task_commands:list_tasks", "List tasks: in progress, ready, blocked, done."),
    "task show": Entry("task_commands:show_task", "Show a task and what is noted of it.", "id_arguments:ONE_TASK"),
    "task add": Entry("task_add:add", "Add a task, or have a description broken into some."),
    "task pick": Entry("task_changes:pick", "Begin a task, with all that is known for it.", "id_arguments:ONE_TASK"),
    "task annotate": Entry("task_changes:annotate", "Note what a task needs or found.", "id_arguments:ONE_TASK"),
    "task done": Entry(
        "task_changes:done", "End a task; its decisions go to those that wait.", "id_arguments:ONE_TASK"
    ),
    "inbox list": Entry("inbox:list_inbox", "List what waits for a human."),
    "inbox answer": Entry("inbox:answer", "Write an answer into the session's note."),
    "case list": Entry("case_commands:list_cases", "List cases, the newest session's first."),
    "case accept": Entry("case_commands:accept", "Accept cases.", "id_arguments:CASES"),
    "case reject": Entry("case_commands:reject", "Reject cases.", "id_arguments:CASES"),
    "case check": Entry("case_commands:check_cases", "Name what is wrong with cases.", "id_arguments:CASES"),
    "case play": Entry("case_play:play", "Ask a puzzle, and judge the answer."),
    "recall": Entry("recall_command:recall", "Find what was said, decided and learned."),
    "team push": Entry("team_commands:push", "Send what is new to the team's server."),
    "team sync": Entry("team_commands:sync", "Push, and remove what is gone."),
    "team status": Entry("team_commands:status", "Say what you may see on the server."),
    "team setup": Entry("team_commands:setup", "Make the server's tables."),
    "knowledge add": Entry("knowledge_changes:add", "Keep something worth knowing again."),
    "knowledge list": Entry("knowledge:list_knowledge", "List items, the weightiest first."),
    "knowledge show": Entry("knowledge:show_knowledge", "Show an item's note.", "id_arguments:ONE_ITEM"),
    "knowledge search": Entry("knowledge:search", "Find items by words."),
    "knowledge retire": Entry("knowledge_changes:retire", "Take items out of recall.", "id_arguments:ITEMS"),
    "knowledge merge": Entry("knowledge_changes:merge", "Make one of two items.", "id_arguments:ITEMS"),
    "knowledge verify": Entry("knowledge_changes:verify", "Note that an item holds.", "id_arguments:ONE_ITEM"),
    "knowledge feedback": Entry("knowledge_changes:feedback", "Tell whether an item helped.", "id_arguments:ONE_ITEM"),
    "knowledge capture": Entry(
        "knowledge_capture:capture", "Find what is worth keeping of a session.", "id_arguments:ONE_SESSION"
    ),
    "knowledge stats": Entry("knowledge:stats", "Say what is used, and what never helped."),
    "knowledge check": Entry("knowledge:check_knowledge", "Name what is wrong with items."),
    "events list": Entry("events_commands:list_events", "List the sessions that have whole events."),
    "events show": Entry(
        "events_commands:show_events", "Show the whole events of a session.", "id_arguments:ONE_SESSION"
    ),
    "events prune": Entry("events_commands:prune", "Put old whole events away, or delete them."),
    "workflow list": Entry("workflow_list:list_workflows", "List workflows by name."),
    "workflow show": Entry("workflow_show:show_workflow", "Show a workflow.", "id_arguments:ONE_WORKFLOW"),
    "workflow check": Entry("workflow_list:check", "Name what is wrong with workflows.", "id_arguments:WORKFLOWS"),
    "workflow graph": Entry("workflow_show:graph", "Draw a workflow's steps.", "id_arguments:ONE_WORKFLOW"),
    "workflow run": Entry("workflow_run:run", "Carry a workflow out.", "id_arguments:ONE_WORKFLOW"),
    "workflow history": Entry(
        "workflow_runs:history", "List a workflow's runs, newest first.", "id_arguments:ONE_WORKFLOW"
    ),
    "workflow sessions": Entry("workflow_runs:marker_rows", "Ask how steps went, across all workflows."),
    "index show": Entry("index_tables:show_table", "Print a table of the index."),
    "index rebuild": Entry("index_tables:rebuild", "Make the index anew."),
    "watch": Entry("vault_watch:follow", "Follow the vault, and print a line for every change."),
    "mcp": Entry("client_entry:mcp", "Answer an agent's client over the Model Context Protocol."),
    "doctor": Entry("doctor_command:doctor", "Look after hooks, transcripts, sessions and the index."),
    "completion": Entry("reference:completion", "Print the shell's completion script."),
}
"""Commands by full name, in the order of the help."""
