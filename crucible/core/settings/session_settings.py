"""Settings for capture, history, briefings, tasks and memory."""

# No `from __future__ import annotations`: `toml_values` reads the annotations.
from typing import Annotated

from crucible.core.named_tuples import NamedTuple
from crucible.core.settings.toml_values import (
    Key,
    SettingsSection,
    boolean,
    count,
    folder_of_ours,
    one_of,
    positive,
    seconds,
    share,
    text_list,
)

_Switch = Annotated[bool, Key(boolean)]


class CapacitySettings(NamedTuple):
    """Alternative names for limits in `KnowledgeSettings`.  If both are given, these take precedence."""

    project_limit: Annotated[
        int | None, Key(positive, "aliases of the [knowledge] settings, which win if both are set", shown="500")
    ] = None
    global_limit: Annotated[int | None, Key(positive, shown="1000")] = None
    warning_percent: Annotated[float | None, Key(share, shown="0.8")] = None


class FrictionSettings(NamedTuple):
    """Maximum number of questions for a session, by its length."""

    short_session: Annotated[int, Key(count, "less than 30 minutes,")] = 2
    medium_session: Annotated[int, Key(count, "less than 90,")] = 4
    long_session: Annotated[int, Key(count, "and more")] = 6


class HookSettings(NamedTuple):
    """When the hooks save a running session."""

    save: Annotated[
        str,
        Key(
            one_of("phase", "tool", "interval"),
            "when to save a running session: phase (a turn's end), tool (every call), or interval",
        ),
    ] = "phase"
    interval_seconds: Annotated[float, Key(seconds, 'with save = "interval"', shown="60")] = 60.0


class CaptureSettings(NamedTuple):
    """What is captured, and when the user is asked."""

    prompt_on_end: Annotated[bool, Key(boolean, "when a session ends, ask on a terminal what to keep")] = True
    min_confidence: Annotated[float, Key(share, "propose nothing below this confidence")] = 0.6
    silent: Annotated[
        bool, Key(boolean, "keep these without asking: recorded callouts, decision records, evidence, self-corrections")
    ] = True
    capacity: Annotated[CapacitySettings, SettingsSection("capacity")] = CapacitySettings()
    deduplicate: Annotated[bool, Key(boolean, "skip what is already known", name="deduplication.enabled")] = True
    friction: Annotated[FrictionSettings, SettingsSection("friction_budget", "limits on questions in one session")] = (
        FrictionSettings()
    )


class HistorySettings(NamedTuple):
    """Which history entries are kept."""

    max_entries: Annotated[int, Key(count, "0 means no limit")] = 100
    max_age_days: Annotated[int, Key(count)] = 365
    prune: Annotated[
        str,
        Key(
            one_of("never", "at_end"),
            "when to prune what exceeds the limits: only when asked (never), or when a session ends (at_end)",
        ),
    ] = "never"


class SourceSettings(NamedTuple):
    """The sources of a briefing."""

    profile: _Switch = True
    sessions: _Switch = True
    history: _Switch = True
    tasks: _Switch = True
    recall: _Switch = True
    inbox: _Switch = True
    memory: _Switch = True


class BriefingSettings(NamedTuple):
    """The contents of a briefing.  `include_files` are paths in the project's folder."""

    at_start: Annotated[bool, Key(boolean, "send a client a briefing when it starts")] = True
    budget: Annotated[int, Key(positive, "tokens")] = 2000
    history_depth: Annotated[int, Key(count, "number of sessions to include")] = 3
    event_days: Annotated[int, Key(count, "how far back to include what happened")] = 7
    history_days: Annotated[int, Key(count, "how far back to include outcomes")] = 30
    recall_auto_query: Annotated[bool, Key(boolean, "search recall with words from recent work")] = True
    recall_queries: Annotated[tuple[str, ...], Key(text_list, "and always with these words")] = ()
    include_files: Annotated[
        tuple[str, ...],
        Key(
            text_list,
            'project files and folders to always quote from; takes effect after "cru trust"',
            trust="show these project files to agents",
        ),
    ] = ()
    sources: Annotated[SourceSettings, SettingsSection("sources", "remove what you do not want")] = SourceSettings()


class TaskSettings(NamedTuple):
    """Where task annotations are stored, how they spread, and which tasks a briefing shows."""

    annotations_dir: Annotated[str, Key(folder_of_ours)] = ".crucible/tasks"
    eager_recall_loading: Annotated[
        bool, Key(boolean, "show recall results when tasks are listed, not only when one is picked")
    ] = False
    capture_on_completion: Annotated[bool, Key(boolean, "when a task ends, ask what to keep")] = True
    share_parallel_discoveries: _Switch = True
    propagate_decisions: Annotated[
        bool, Key(boolean, "copy a finished task's decisions to the tasks that depend on it")
    ] = True
    auto_propagate_types: Annotated[tuple[str, ...], Key(text_list)] = (
        "technology_choice",
        "api_design",
        "architecture_pattern",
    )
    show_task_status: Annotated[bool, Key(boolean, name="briefing.show_task_status")] = True
    max_tasks_shown: Annotated[int, Key(count, name="briefing.max_tasks_shown")] = 10
    show_recall_summary: Annotated[bool, Key(boolean, name="briefing.show_recall_summary")] = True


class MemorySettings(NamedTuple):
    """When the bookmarks of a memory file are summarised."""

    max_entries: Annotated[int, Key(positive, "summarize bookmarks when there are more than this")] = 200
    max_bytes: Annotated[int, Key(positive, "or when their file is larger than this")] = 65536
