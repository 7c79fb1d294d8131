"""The commands of `cru`, listed without importing their modules."""

from __future__ import annotations

from collections.abc import Mapping

from crucible.core.named_tuples import NamedTuple


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
    Section("Every day", ("session", "recall", "inbox", "briefing", "report", "launch", "web", "share")),
    Section("Review", ("task", "knowledge", "case", "history", "workflow")),
    Section("Set up", ("init", "trust", "import", "install", "doctor", "team", "lake", "completion")),
    Section("Plumbing", ("hook", "statusline", "mcp", "watch", "index", "events", "record"), hidden=True),
)

GROUPS: Mapping[str, Group] = {
    "session": Group(
        "List, show, resume, pause, end and manage sessions.",
        (
            "cru session list --since 7d --status failed",
            "cru session resume",
        ),
    ),
    "inbox": Group(
        "List and answer questions that wait for you.",
        (
            "cru inbox",
            'cru inbox answer 3f9a1c "Use UTC."',
        ),
    ),
    "knowledge": Group(
        "Add, list, find, verify and retire knowledge items.",
        (
            'cru knowledge add decision "Retry with jitter" "At most five times."',
            "cru knowledge list --to-verify",
        ),
    ),
    "case": Group(
        "Review learning cases: list, show, accept, reject, check and play them.",
        ("cru case list --status proposed",),
    ),
    "history": Group(
        "List, show, search and prune histories of sessions.",
        (
            "cru history list --since 30d",
            'cru history search "token bucket"',
        ),
    ),
    "workflow": Group(
        "List, show, check, draw and run workflows, and list their runs.",
        (
            "cru workflow graph release-checklist",
            "cru workflow sessions --status failed --since 7d",
        ),
    ),
    "team": Group("Share recall through a team's server.", ("cru team push",)),
    "lake": Group(
        "Export sessions as Parquet files, and query them in SQL.",
        (
            "cru lake export ~/lake",
            "cru lake query --lake ~/lake --question failures-by-tool",
        ),
    ),
    "task": Group(
        "List, show, add, pick, annotate and complete tasks of all sessions.",
        (
            "cru task",
            "cru task pick 2026-11-21-add.3",
        ),
    ),
    "index": Group(
        "Show or rebuild the index of the notes.",
        ("cru index show phases --sort -tokens -n 20",),
    ),
    "events": Group(
        "List, show and prune sessions' event logs.",
        ("cru events show 2026-11-21-add --type error",),
    ),
    "record": Group(
        "Record work in the session that CRU_SESSION names.",
        ('cru record decision "Token bucket" --rationale "constant memory per key"',),
    ),
}

COMMANDS: Mapping[str, Entry] = {
    "session list": Entry("session_list:list_sessions", "List sessions, newest first."),
    "session show": Entry("session_show:show", "Show sessions.", "id_arguments:SESSIONS"),
    "session stats": Entry("session_stats:stats", "Count sessions, tokens, time and failures."),
    "session resume": Entry("session_resume:resume", "Resume a session, in any client.", "id_arguments:ONE_SESSION"),
    "session pause": Entry("session_end:pause", "Pause a session."),
    "session end": Entry("session_end:end", "End a session.", "id_arguments:ONE_SESSION"),
    "session codify": Entry(
        "codify_command:codify_sessions", "Turn sessions into a workflow.", "id_arguments:SESSIONS"
    ),
    "session learn": Entry("learn_command:learn", "Extract what sessions teach.", "id_arguments:SESSIONS"),
    "session brief": Entry("session_brief:brief", "Update a session's brief and show it.", "id_arguments:ONE_SESSION"),
    "session check": Entry("session_check:check", "Check session notes.", "id_arguments:SESSIONS"),
    "session rename": Entry(
        "session_rename:rename", "Rename a session and fix every link to it.", "id_arguments:ONE_SESSION"
    ),
    "session delete": Entry(
        "session_delete:delete", "Delete sessions, or restore deleted ones.", "id_arguments:SESSIONS"
    ),
    "session archive": Entry(
        "session_delete:archive", "Archive finished sessions, or restore archived ones.", "id_arguments:SESSIONS"
    ),
    "recall": Entry("recall_command:recall", "Search what was said, decided and learned."),
    "inbox list": Entry("inbox:list_inbox", "List questions that wait for you."),
    "inbox answer": Entry("inbox:answer", "Write an answer into a session's note."),
    "briefing": Entry("briefing_commands:briefing", "Show what to know before work begins."),
    "report": Entry("report:report", "Report outcomes, decisions and open ends."),
    "launch": Entry("launch_command:launch", "Start a client with a briefing."),
    "web": Entry("web_command:web", "Show the vault in your browser."),
    "share": Entry("share_command:share", "Write a session to a file for somebody else."),
    "task list": Entry("task_commands:list_tasks", "List tasks: in progress, ready, blocked, done."),
    "task show": Entry("task_commands:show_task", "Show a task and its annotations.", "id_arguments:ONE_TASK"),
    "task add": Entry("task_add:add", "Add a task, or break a description into tasks."),
    "task pick": Entry("task_changes:pick", "Start a task, and show what is known about it.", "id_arguments:ONE_TASK"),
    "task annotate": Entry("task_changes:annotate", "Record a task's decision or discovery.", "id_arguments:ONE_TASK"),
    "task done": Entry("task_changes:done", "Complete a task, and pass its decisions on.", "id_arguments:ONE_TASK"),
    "knowledge add": Entry("knowledge_changes:add", "Add a knowledge item."),
    "knowledge list": Entry("knowledge:list_knowledge", "List knowledge items, highest weight first."),
    "knowledge show": Entry("knowledge:show_knowledge", "Show a knowledge item.", "id_arguments:ONE_ITEM"),
    "knowledge search": Entry("knowledge:search", "Find knowledge items by words."),
    "knowledge retire": Entry("knowledge_changes:retire", "Retire knowledge items.", "id_arguments:ITEMS"),
    "knowledge merge": Entry("knowledge_changes:merge", "Merge two knowledge items.", "id_arguments:ITEMS"),
    "knowledge verify": Entry("knowledge_changes:verify", "Record that you checked an item.", "id_arguments:ONE_ITEM"),
    "knowledge feedback": Entry(
        "knowledge_changes:feedback", "Record whether an item helped.", "id_arguments:ONE_ITEM"
    ),
    "knowledge capture": Entry("knowledge_capture:capture", "Find knowledge in a session.", "id_arguments:ONE_SESSION"),
    "knowledge stats": Entry("knowledge:stats", "Show which items are used or unhelpful."),
    "knowledge check": Entry("knowledge:check_knowledge", "Show problems in knowledge items."),
    "case list": Entry("case_commands:list_cases", "List cases, newest session first."),
    "case show": Entry("case_commands:show_case", "Show a case.", "id_arguments:CASES"),
    "case accept": Entry("case_commands:accept", "Accept cases.", "id_arguments:CASES"),
    "case reject": Entry("case_commands:reject", "Reject cases.", "id_arguments:CASES"),
    "case check": Entry("case_commands:check_cases", "Show problems in cases.", "id_arguments:CASES"),
    "case play": Entry("case_play:play", "Play a puzzle and judge the answer."),
    "history list": Entry("history_commands:list_history", "List histories, newest first."),
    "history show": Entry("history_commands:show_history", "Show a session's history.", "id_arguments:ONE_SESSION"),
    "history search": Entry("history_commands:search", "Find histories by words."),
    "history prune": Entry("history_commands:prune", "Remove old or excess histories."),
    "workflow list": Entry("workflow_list:list_workflows", "List workflows by name."),
    "workflow show": Entry("workflow_show:show_workflow", "Show a workflow.", "id_arguments:ONE_WORKFLOW"),
    "workflow check": Entry("workflow_list:check", "Check workflows.", "id_arguments:WORKFLOWS"),
    "workflow graph": Entry("workflow_show:graph", "Draw a workflow's steps.", "id_arguments:ONE_WORKFLOW"),
    "workflow run": Entry("workflow_run:run", "Run a workflow.", "id_arguments:ONE_WORKFLOW"),
    "workflow history": Entry(
        "workflow_runs:history", "List a workflow's runs, newest first.", "id_arguments:ONE_WORKFLOW"
    ),
    "workflow sessions": Entry("workflow_runs:marker_rows", "List runs of steps across all workflows."),
    "init": Entry("vault_setup:init", "Create a vault, or complete one."),
    "trust": Entry("vault_setup:trust", "Review what a vault requests, and accept it."),
    "import": Entry("import_command:import_sessions", "Import sessions of all clients, or of one."),
    "install": Entry("install_command:install", "Connect agents or git to the vault."),
    "doctor": Entry("doctor_command:doctor", "Check the setup, and fix problems."),
    "team push": Entry("team_commands:push", "Send new notes to the team's server."),
    "team sync": Entry("team_commands:sync", "Push, and remove deleted notes."),
    "team status": Entry("team_commands:status", "Show your permissions on the server."),
    "team setup": Entry("team_commands:setup", "Create the server's tables."),
    "team prune": Entry("team_commands:prune", "Remove old months from the server."),
    "lake export": Entry("lake_commands:export", "Export sessions as Parquet files."),
    "lake query": Entry("lake_commands:query", "Ask a lake a question in SQL."),
    "completion": Entry("reference:completion", "Print the shell's completion script."),
    "hook": Entry("client_entry:hook", "Internal: called by agents' hooks."),
    "statusline": Entry("client_entry:statusline", "Print costs for Claude Code's status line."),
    "mcp": Entry("client_entry:mcp", "Serve agents over the Model Context Protocol."),
    "watch": Entry("vault_watch:follow", "Watch the vault, and print every change."),
    "index show": Entry("index_tables:show_table", "Print a table of the index."),
    "index rebuild": Entry("index_tables:rebuild", "Rebuild the index."),
    "events list": Entry("events_commands:list_events", "List sessions with an event log."),
    "events show": Entry("events_commands:show_events", "Show a session's event log.", "id_arguments:ONE_SESSION"),
    "events prune": Entry("events_commands:prune", "Archive or delete old event logs."),
    "record start": Entry("record_start:start", "Start a session and print its id."),
    "record phase": Entry("record_commands:phase", "Begin a phase."),
    "record prose": Entry("record_commands:prose", "Record the agent's words."),
    "record tool": Entry("record_commands:tool", "Record a tool call and its result."),
    "record decision": Entry("record_commands:decision", "Record a decision and its reason."),
    "record error": Entry("record_commands:error", "Record an error and its fix."),
    "record user": Entry("record_commands:user", "Record the user's exact words."),
    "record subagent": Entry("record_commands:subagent", "Record work given to a subagent."),
    "record milestone": Entry("record_commands:milestone", "Record significant progress."),
    "record observation": Entry("record_commands:observation", "Record an observation."),
    "record agent-switch": Entry("record_commands:agent_switch", "Record that another agent continues."),
    "record checkpoint": Entry("record_commands:checkpoint", "Record a checkpoint to return to."),
    "record tasks": Entry("record_commands:tasks", "Set or change the task list."),
    "record tokens": Entry("record_commands:tokens", "Record tokens."),
    "record decision-needed": Entry("record_commands:decision_needed", "Ask the user to choose."),
    "record approval-required": Entry("record_commands:approval_required", "Ask the user for approval."),
    "record task-complete": Entry("record_commands:task_complete", "Record that a task is ready for review."),
    "record bookmark": Entry(
        "session_bookmarks:add", "Save a bookmark of a session's state.", "id_arguments:ONE_SESSION"
    ),
}
"""Commands by full name, in the order of the help."""

PAGED = frozenset(
    (
        *("session list", "session show", "session stats", "session brief", "recall", "inbox list", "briefing"),
        *("report", "task list", "task show", "knowledge list", "knowledge show", "knowledge search"),
        *(
            "knowledge stats",
            "case list",
            "history list",
            "history show",
            "history search",
            "workflow list",
            "lake query",
        ),
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
    "web": ("session list", "session show", "share"),
    "share": ("web", "session show"),
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
    "team prune": ("team setup", "team status"),
    "lake": ("team", "session stats"),
    "lake export": ("lake query", "session delete"),
    "lake query": ("lake export", "session stats"),
    "completion": ("install", "doctor"),
    "hook": ("install", "doctor"),
    "statusline": ("install", "session stats"),
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
