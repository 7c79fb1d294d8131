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


class Section(NamedTuple):
    """A section of the help of `cru`; the help leaves out a hidden one, docs/cli.md does not."""

    title: str
    commands: tuple[str, ...]
    hidden: bool = False


SECTIONS = (
    Section("Every day", ("session", "recall", "inbox", "briefing", "report", "launch")),
    Section("Review", ("task", "knowledge", "case", "history", "workflow")),
    Section("Set up", ("init", "trust", "import", "install", "doctor", "team", "completion")),
    Section("Plumbing", ("hook", "mcp", "watch", "index", "events", "record"), hidden=True),
)

GROUPS: Mapping[str, Group] = {
    "session": Group(
        "Begin, pause, resume, end, list, count, show, codify, learn from, check and rename sessions.",
        (
            "cru session list --since 7d --status failed",
            "cru session resume",
        ),
    ),
    "inbox": Group(
        "What waits for a human, over all sessions: list and answer.",
        (
            "cru inbox",
            'cru inbox answer 3f9a1c "Use UTC."',
        ),
    ),
    "knowledge": Group(
        "What is worth knowing again: add, list, find, verify and retire items.",
        (
            'cru knowledge add decision "Retry with jitter" "At most five times."',
            "cru knowledge list --to-verify",
        ),
    ),
    "case": Group(
        "What sessions teach, to be reviewed: list, show, accept, reject, check and play cases.",
        ("cru case list --status proposed",),
    ),
    "history": Group(
        "What sessions came to: list, show, search and prune.",
        (
            "cru history list --since 30d",
            'cru history search "token bucket"',
        ),
    ),
    "workflow": Group(
        "Workflows: list, show, check, draw and run them, and ask how they went.",
        (
            "cru workflow graph release-checklist",
            "cru workflow sessions --status failed --since 7d",
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
    "hook": Group("What agents' hooks call; not for you."),
    "index": Group(
        "What the notes say, as tables that every list and figure is made from.",
        ("cru index show phases --sort -tokens -n 20",),
    ),
    "events": Group(
        "Whole events beside the notes: show them, and put old ones away.",
        ("cru events show 2026-11-21-add --type error",),
    ),
    "record": Group(
        "Tell what is being done, in the session that CRU_SESSION names.",
        ('cru record decision "Token bucket" --rationale "constant memory per key"',),
    ),
}

COMMANDS: Mapping[str, Entry] = {
    "session list": Entry("session_list:list_sessions", "List sessions, newest first."),
    "session show": Entry("session_show:show", "Show sessions.", "id_arguments:SESSIONS"),
    "session stats": Entry("session_list:stats", "Count sessions, tokens, time and failures."),
    "session resume": Entry(
        "session_resume:resume", "Go on with a session, in any client.", "id_arguments:ONE_SESSION"
    ),
    "session pause": Entry("session_end:pause", "Stop a session for now."),
    "session end": Entry("session_end:end", "End a session.", "id_arguments:ONE_SESSION"),
    "session codify": Entry(
        "codify_command:codify_sessions", "Turn sessions into a workflow.", "id_arguments:SESSIONS"
    ),
    "session learn": Entry("learn_command:learn", "Extract what sessions teach.", "id_arguments:SESSIONS"),
    "session brief": Entry(
        "session_brief:brief", "Bring a session's brief up to date, and show it.", "id_arguments:ONE_SESSION"
    ),
    "session check": Entry("session_check:check", "Name every problem of the session notes.", "id_arguments:SESSIONS"),
    "session rename": Entry(
        "session_rename:rename", "Give a session another id, and mend every link.", "id_arguments:ONE_SESSION"
    ),
    "session delete": Entry(
        "session_delete:delete", "Delete sessions, or restore deleted ones.", "id_arguments:SESSIONS"
    ),
    "session archive": Entry(
        "session_archive:archive", "Put finished sessions out of the way, or bring them back.", "id_arguments:SESSIONS"
    ),
    "recall": Entry("recall_command:recall", "Find what was said, decided and learned."),
    "inbox list": Entry("inbox:list_inbox", "List what waits for a human."),
    "inbox answer": Entry("inbox:answer", "Write an answer into the session's note."),
    "briefing": Entry("briefing_commands:briefing", "Say what to know before work begins."),
    "report": Entry("report:report", "Report outcomes, decisions and open ends since a day."),
    "launch": Entry("launch_command:launch", "Brief a client, and launch it."),
    "task list": Entry("task_commands:list_tasks", "List tasks: in progress, ready, blocked, done."),
    "task show": Entry("task_commands:show_task", "Show a task and what is noted of it.", "id_arguments:ONE_TASK"),
    "task add": Entry("task_add:add", "Add a task, or have a description broken into some."),
    "task pick": Entry("task_changes:pick", "Begin a task, with all that is known for it.", "id_arguments:ONE_TASK"),
    "task annotate": Entry("task_changes:annotate", "Note what a task needs or found.", "id_arguments:ONE_TASK"),
    "task done": Entry(
        "task_changes:done", "End a task; its decisions go to those that wait.", "id_arguments:ONE_TASK"
    ),
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
    "case list": Entry("case_commands:list_cases", "List cases, the newest session's first."),
    "case show": Entry("case_commands:show_case", "Show a case.", "id_arguments:CASES"),
    "case accept": Entry("case_commands:accept", "Accept cases.", "id_arguments:CASES"),
    "case reject": Entry("case_commands:reject", "Reject cases.", "id_arguments:CASES"),
    "case check": Entry("case_commands:check_cases", "Name what is wrong with cases.", "id_arguments:CASES"),
    "case play": Entry("case_play:play", "Ask a puzzle, and judge the answer."),
    "history list": Entry("history_commands:list_history", "List what sessions came to, newest first."),
    "history show": Entry("history_commands:show_history", "Show what a session came to.", "id_arguments:ONE_SESSION"),
    "history search": Entry("history_commands:search", "Find sessions' histories by words."),
    "history prune": Entry("history_commands:prune", "Put away what is old or too much."),
    "workflow list": Entry("workflow_list:list_workflows", "List workflows by name."),
    "workflow show": Entry("workflow_show:show_workflow", "Show a workflow.", "id_arguments:ONE_WORKFLOW"),
    "workflow check": Entry("workflow_list:check", "Name what is wrong with workflows.", "id_arguments:WORKFLOWS"),
    "workflow graph": Entry("workflow_show:graph", "Draw a workflow's steps.", "id_arguments:ONE_WORKFLOW"),
    "workflow run": Entry("workflow_run:run", "Carry a workflow out.", "id_arguments:ONE_WORKFLOW"),
    "workflow history": Entry(
        "workflow_runs:history", "List a workflow's runs, newest first.", "id_arguments:ONE_WORKFLOW"
    ),
    "workflow sessions": Entry("workflow_runs:marker_rows", "Ask how steps went, across all workflows."),
    "init": Entry("vault_setup:init", "Make a vault, or complete one."),
    "trust": Entry("vault_setup:trust", "Show what the vault asks for, and accept it."),
    "import": Entry("import_command:import_sessions", "Import the sessions of every agent found here, or of one."),
    "install": Entry("install_command:install", "Connect agents, or git, to the vault."),
    "doctor": Entry("doctor_command:doctor", "Look after hooks, transcripts, sessions and the index."),
    "team push": Entry("team_commands:push", "Send what is new to the team's server."),
    "team sync": Entry("team_commands:sync", "Push, and remove what is gone."),
    "team status": Entry("team_commands:status", "Say what you may see on the server."),
    "team setup": Entry("team_commands:setup", "Make the server's tables."),
    "completion": Entry("reference:completion", "Print the shell's completion script."),
    "hook claude-code": Entry("client_entry:claude_code", "Take one of Claude Code's hook payloads."),
    "mcp": Entry("client_entry:mcp", "Answer an agent's client over the Model Context Protocol."),
    "watch": Entry("vault_watch:follow", "Follow the vault, and print a line for every change."),
    "index show": Entry("index_tables:show_table", "Print a table of the index."),
    "index rebuild": Entry("index_tables:rebuild", "Make the index anew."),
    "events list": Entry("events_commands:list_events", "List the sessions that have whole events."),
    "events show": Entry(
        "events_commands:show_events", "Show the whole events of a session.", "id_arguments:ONE_SESSION"
    ),
    "events prune": Entry("events_commands:prune", "Put old whole events away, or delete them."),
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
}
"""Commands by full name, in the order of the help."""

PAGED = frozenset(
    (
        *("session list", "session show", "session stats", "session brief", "recall", "inbox list", "briefing"),
        *("report", "task list", "task show", "knowledge list", "knowledge show", "knowledge search"),
        *("knowledge stats", "case list", "history list", "history show", "history search", "workflow list"),
        *("workflow show", "workflow history", "workflow sessions", "index show", "events list", "events show"),
    )
)
"""Commands whose output a pager shows if it is longer than the screen."""

SEE_ALSO: Mapping[str, tuple[str, ...]] = {
    "session": ("recall", "history", "record"),
    "session list": ("session show", "session stats", "recall"),
    "session show": ("session list", "history show", "events show"),
    "session stats": ("session list", "workflow sessions"),
    "session resume": ("session pause", "launch", "briefing"),
    "session pause": ("session resume", "session end", "record bookmark"),
    "session end": ("session pause", "history show", "knowledge capture"),
    "session codify": ("workflow check", "workflow run"),
    "session learn": ("case list", "case play"),
    "session brief": ("briefing", "history show"),
    "session check": ("session rename", "doctor"),
    "session rename": ("session check", "session list"),
    "session delete": ("session archive", "session list", "history prune"),
    "session archive": ("session list", "session delete"),
    "recall": ("session list", "knowledge search", "history search"),
    "inbox": ("task", "session resume"),
    "inbox list": ("inbox answer", "task list"),
    "inbox answer": ("inbox list", "session resume"),
    "briefing": ("report", "launch", "session resume"),
    "report": ("briefing", "history list", "session stats"),
    "launch": ("briefing", "session resume"),
    "task": ("inbox", "session"),
    "task list": ("task show", "task pick", "inbox list"),
    "task show": ("task list", "task pick"),
    "task add": ("task list", "task pick"),
    "task pick": ("task show", "task annotate", "task done"),
    "task annotate": ("task show", "task done"),
    "task done": ("task pick", "knowledge capture"),
    "knowledge": ("recall", "case"),
    "knowledge add": ("knowledge capture", "knowledge list"),
    "knowledge list": ("knowledge show", "knowledge search"),
    "knowledge show": ("knowledge list", "knowledge verify"),
    "knowledge search": ("recall", "knowledge list"),
    "knowledge retire": ("knowledge merge", "knowledge verify"),
    "knowledge merge": ("knowledge retire", "knowledge list"),
    "knowledge verify": ("knowledge list", "knowledge retire"),
    "knowledge feedback": ("knowledge stats", "recall"),
    "knowledge capture": ("knowledge add", "session end"),
    "knowledge stats": ("knowledge list", "knowledge feedback"),
    "knowledge check": ("knowledge list", "doctor"),
    "case": ("session learn", "knowledge"),
    "case list": ("case accept", "session learn"),
    "case show": ("case accept", "session show"),
    "case accept": ("case list", "case reject"),
    "case reject": ("case list", "case accept"),
    "case check": ("case list", "session learn"),
    "case play": ("session learn", "case list"),
    "history": ("session", "report"),
    "history list": ("history show", "session list"),
    "history show": ("history list", "session show"),
    "history search": ("recall", "history list"),
    "history prune": ("history list", "events prune", "session delete"),
    "workflow": ("session codify", "launch"),
    "workflow list": ("workflow show", "workflow check"),
    "workflow show": ("workflow list", "workflow graph"),
    "workflow check": ("workflow show", "session codify"),
    "workflow graph": ("workflow show", "workflow run"),
    "workflow run": ("workflow history", "workflow check"),
    "workflow history": ("workflow run", "workflow sessions"),
    "workflow sessions": ("workflow history", "session stats"),
    "init": ("import", "install", "trust"),
    "trust": ("init", "doctor"),
    "import": ("install", "session list", "doctor"),
    "install": ("import", "doctor", "mcp"),
    "doctor": ("install", "session check", "index rebuild"),
    "team": ("recall", "init"),
    "team push": ("team sync", "team status"),
    "team sync": ("team push", "team status"),
    "team status": ("team push", "team setup"),
    "team setup": ("team push", "team status"),
    "completion": ("install", "doctor"),
    "hook": ("install", "mcp"),
    "hook claude-code": ("install", "doctor"),
    "mcp": ("install", "doctor"),
    "watch": ("index", "session list"),
    "index": ("session list", "watch"),
    "index show": ("session list", "index rebuild"),
    "index rebuild": ("index show", "doctor"),
    "events": ("session show", "history"),
    "events list": ("events show", "session list"),
    "events show": ("events list", "session show"),
    "events prune": ("events list", "history prune"),
    "record": ("session", "mcp"),
    "record start": ("session end", "session resume"),
    "record phase": ("record milestone", "record agent-switch"),
    "record prose": ("record observation", "record user"),
    "record tool": ("record error", "record subagent"),
    "record decision": ("record decision-needed", "record observation"),
    "record error": ("record tool", "record observation"),
    "record user": ("record prose", "record decision"),
    "record subagent": ("record tool", "record start"),
    "record milestone": ("record task-complete", "record phase"),
    "record observation": ("record decision", "knowledge add"),
    "record agent-switch": ("record phase", "session resume"),
    "record checkpoint": ("record bookmark", "record milestone"),
    "record tasks": ("record task-complete", "task add"),
    "record tokens": ("record phase", "session stats"),
    "record decision-needed": ("record approval-required", "inbox list"),
    "record approval-required": ("record decision-needed", "inbox list"),
    "record task-complete": ("record tasks", "task done"),
    "record bookmark": ("session pause", "session show"),
}
"""Related commands, by full name; the last line of a command's help."""
