"""Settings for capture, history, briefings, tasks and memory."""

# No `from __future__ import annotations`: `toml_values` reads the annotations.
from typing import Annotated, NamedTuple

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
        int | None, Key(positive, "the same as those of [knowledge], which count when both are given", shown="500")
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

    prompt_on_end: Annotated[bool, Key(boolean, "at a session's end, ask on a terminal what is worth keeping")] = True
    min_confidence: Annotated[float, Key(share, "below it nothing is proposed")] = 0.6
    silent: Annotated[
        bool, Key(boolean, "keep without asking: recorded callouts, decision records, evidence, self-corrections")
    ] = True
    capacity: Annotated[CapacitySettings, SettingsSection("capacity")] = CapacitySettings()
    deduplicate: Annotated[bool, Key(boolean, "do not keep what is known already", name="deduplication.enabled")] = True
    friction: Annotated[
        FrictionSettings, SettingsSection("friction_budget", "what questions may cost in a session of")
    ] = FrictionSettings()


class HistorySettings(NamedTuple):
    """Which history entries are kept."""

    max_entries: Annotated[int, Key(count, "0 is no limit")] = 100
    max_age_days: Annotated[int, Key(count)] = 365
    prune: Annotated[
        str,
        Key(one_of("never", "at_end"), "what is beyond them goes when asked (never), or at a session's end (at_end)"),
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

    at_start: Annotated[bool, Key(boolean, "brief a client when it starts")] = True
    budget: Annotated[int, Key(positive, "tokens")] = 2000
    history_depth: Annotated[int, Key(count, "sessions that are told")] = 3
    event_days: Annotated[int, Key(count, "so far back with what happened in them")] = 7
    history_days: Annotated[int, Key(count, "and so far back with what they came to")] = 30
    recall_auto_query: Annotated[bool, Key(boolean, "ask recall with words of the recent work")] = True
    recall_queries: Annotated[tuple[str, ...], Key(text_list, "and always these")] = ()
    include_files: Annotated[
        tuple[str, ...],
        Key(
            text_list,
            "files and folders of the project that are always quoted from; counts once `cru trust` accepts it",
            trust="show these files of a project to agents",
        ),
    ] = ()
    sources: Annotated[SourceSettings, SettingsSection("sources", "each can be left out")] = SourceSettings()


class TaskSettings(NamedTuple):
    """Where task annotations are stored, how they spread, and which tasks a briefing shows."""

    annotations_dir: Annotated[str, Key(folder_of_ours)] = ".crucible/tasks"
    eager_recall_loading: Annotated[
        bool, Key(boolean, "tell what recall found when tasks are listed, not only when one is picked")
    ] = False
    capture_on_completion: Annotated[bool, Key(boolean, "ask at a task's end what is worth keeping")] = True
    share_parallel_discoveries: _Switch = True
    propagate_decisions: Annotated[
        bool, Key(boolean, "a finished task's decisions go to the tasks that depend on it")
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

    max_entries: Annotated[int, Key(positive, "bookmarks are summarised when there are more,")] = 200
    max_bytes: Annotated[int, Key(positive, "or when their file is larger")] = 65536
