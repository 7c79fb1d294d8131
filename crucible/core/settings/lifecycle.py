"""What a vault has chosen about the two ends of a session: history, briefing, tasks, capture and memory.

Owns the keys of those tables in `.crucible/config.toml`, under the names that the specification gave them; `settings` says where they stand.
Like it, this module imports little.
"""

from __future__ import annotations

from typing import NamedTuple

from crucible.core.settings.toml_values import (
    boolean,
    count,
    folder_of_ours,
    one_of,
    positive,
    seconds,
    share,
    text_list,
)
from crucible.core.settings.trust import VaultTable

LIFECYCLE_CONFIG = """\
[capture]
# save = "phase"              # when a running session is written down: phase (a turn's end), tool, or interval
# interval_seconds = 60       # with save = "interval"
# prompt_on_end = true        # at a session's end, ask on a terminal what is worth keeping
# min_confidence = 0.6        # below it nothing is proposed
# silent = true               # keep without asking: recorded callouts, decision records, evidence, self-corrections
# [capture.capacity]
# project_limit = 500       # the same as those of [knowledge], which count when both are given
# global_limit = 1000
# warning_percent = 0.8
# [capture.deduplication]
# enabled = true            # do not keep what is known already
# [capture.friction_budget] # what questions may cost in a session of
# short_session = 2         # less than 30 minutes,
# medium_session = 4        # less than 90,
# long_session = 6          # and more

[history]
# [history.retention]
# max_entries = 100         # 0 is no limit
# max_age_days = 365
# prune = "never"           # what is beyond them goes when asked (never), or at a session's end (at_end)

[briefing]
# at_start = true             # brief a client when it starts
# budget = 2000               # tokens
# history_depth = 3           # sessions that are told
# event_days = 7              # so far back with what happened in them
# history_days = 30           # and so far back with what they came to
# recall_auto_query = true    # ask recall with words of the recent work
# recall_queries = []         # and always these
# include_files = []          # files and folders of the project that are always quoted from; counts once `cru trust` accepts it
# [briefing.sources]        # each can be left out
# profile = true
# sessions = true
# history = true
# tasks = true
# recall = true
# inbox = true
# memory = true

[tasks]
# annotations_dir = ".crucible/tasks"
# eager_recall_loading = false      # tell what recall found when tasks are listed, not only when one is picked
# capture_on_completion = true      # ask at a task's end what is worth keeping
# share_parallel_discoveries = true
# propagate_decisions = true        # a finished task's decisions go to the tasks that depend on it
# auto_propagate_types = ["technology_choice", "api_design", "architecture_pattern"]
# [tasks.briefing]
# show_task_status = true
# max_tasks_shown = 10
# show_recall_summary = true

[memory]
# max_entries = 200           # bookmarks are summarised when there are more,
# max_bytes = 65536           # or when their file is larger
"""
"""The part of a new vault's settings that is read here."""


class FrictionSettings(NamedTuple):
    """What the questions of one session may cost, by its length: less than 30 minutes, less than 90, and more."""

    short_session: int = 2
    medium_session: int = 4
    long_session: int = 6


class CaptureSettings(NamedTuple):
    """When a running session is written down: at the end of a `phase` or `tool` call, or each `interval`; and what of it is kept.

    Limits of items stand in `KnowledgeSettings`.
    """

    save: str = "phase"
    interval_seconds: float = 60.0
    prompt_on_end: bool = True
    min_confidence: float = 0.6
    silent: bool = True
    deduplicate: bool = True
    friction: FrictionSettings = FrictionSettings()


class HistorySettings(NamedTuple):
    """How many entries are kept and for how many days (0: no limit), and whether the rest goes `at_end` of a session or `never` unasked."""

    max_entries: int = 100
    max_age_days: int = 365
    prune: str = "never"


class SourceSettings(NamedTuple):
    """Which sources a briefing is made from."""

    profile: bool = True
    sessions: bool = True
    history: bool = True
    tasks: bool = True
    recall: bool = True
    inbox: bool = True
    memory: bool = True


class BriefingSettings(NamedTuple):
    """What a briefing holds: `budget` is in tokens, `event_days` and `history_days` say how far back it looks.

    `include_files` are paths seen from the project's folder, `recall_queries` are asked whatever the recent work was.
    """

    at_start: bool = True
    budget: int = 2000
    history_depth: int = 3
    event_days: int = 7
    history_days: int = 30
    recall_auto_query: bool = True
    recall_queries: tuple[str, ...] = ()
    include_files: tuple[str, ...] = ()
    sources: SourceSettings = SourceSettings()


class TaskSettings(NamedTuple):
    """Where annotations of tasks are, what happens to them, and what a briefing tells of tasks."""

    annotations_dir: str = ".crucible/tasks"
    eager_recall_loading: bool = False
    capture_on_completion: bool = True
    share_parallel_discoveries: bool = True
    propagate_decisions: bool = True
    auto_propagate_types: tuple[str, ...] = ("technology_choice", "api_design", "architecture_pattern")
    show_task_status: bool = True
    max_tasks_shown: int = 10
    show_recall_summary: bool = True


class MemorySettings(NamedTuple):
    """From how many entries, or bytes, on a memory file's bookmarks are summarised."""

    max_entries: int = 200
    max_bytes: int = 65536


class Lifecycle(NamedTuple):
    """All of these, and what a limit of knowledge is by `[capture.capacity]` where `[knowledge]` does not say."""

    capture: CaptureSettings
    history: HistorySettings
    briefing: BriefingSettings
    tasks: TaskSettings
    memory: MemorySettings
    capacity: dict[str, float]


def read_lifecycle(table: VaultTable) -> Lifecycle:
    """Take our keys from the table."""
    return Lifecycle(
        _capture(table),
        _history(table),
        _briefing(table),
        _tasks(table),
        MemorySettings(
            table.free("memory.max_entries", 200, positive), table.free("memory.max_bytes", 65536, positive)
        ),
        _capacity(table),
    )


def _capture(table: VaultTable) -> CaptureSettings:
    budget = {
        key: table.free(f"capture.friction_budget.{key}", default, count)
        for key, default in FrictionSettings()._asdict().items()
    }
    return CaptureSettings(
        save=table.free("capture.save", "phase", one_of("phase", "tool", "interval")),
        interval_seconds=table.free("capture.interval_seconds", 60.0, seconds),
        prompt_on_end=table.free("capture.prompt_on_end", True, boolean),
        min_confidence=table.free("capture.min_confidence", 0.6, share),
        silent=table.free("capture.silent", True, boolean),
        deduplicate=table.free("capture.deduplication.enabled", True, boolean),
        friction=FrictionSettings(**budget),
    )


def _capacity(table: VaultTable) -> dict[str, float]:
    given: dict[str, float | None] = {
        "project_limit": table.free("capture.capacity.project_limit", None, positive),
        "global_limit": table.free("capture.capacity.global_limit", None, positive),
        "warn_at": table.free("capture.capacity.warning_percent", None, share),
    }
    return {key: value for key, value in given.items() if value is not None}


def _history(table: VaultTable) -> HistorySettings:
    return HistorySettings(
        table.free("history.retention.max_entries", 100, count),
        table.free("history.retention.max_age_days", 365, count),
        table.free("history.retention.prune", "never", one_of("never", "at_end")),
    )


def _briefing(table: VaultTable) -> BriefingSettings:
    sources = {key: table.free(f"briefing.sources.{key}", True, boolean) for key in SourceSettings._fields}
    return BriefingSettings(
        at_start=table.free("briefing.at_start", True, boolean),
        budget=table.free("briefing.budget", 2000, positive),
        history_depth=table.free("briefing.history_depth", 3, count),
        event_days=table.free("briefing.event_days", 7, count),
        history_days=table.free("briefing.history_days", 30, count),
        recall_auto_query=table.free("briefing.recall_auto_query", True, boolean),
        recall_queries=table.free("briefing.recall_queries", (), text_list),
        include_files=table.asked("briefing.include_files", (), text_list, "show these files of a project to agents"),
        sources=SourceSettings(**sources),
    )


def _tasks(table: VaultTable) -> TaskSettings:
    defaults = TaskSettings()
    switches = {
        key: table.free(f"tasks.{key}", getattr(defaults, key), boolean)
        for key in (
            "eager_recall_loading",
            "capture_on_completion",
            "share_parallel_discoveries",
            "propagate_decisions",
        )
    }
    shown = {
        key: table.free(f"tasks.briefing.{key}", True, boolean) for key in ("show_task_status", "show_recall_summary")
    }
    return TaskSettings(
        annotations_dir=table.free("tasks.annotations_dir", defaults.annotations_dir, folder_of_ours),
        auto_propagate_types=table.free("tasks.auto_propagate_types", defaults.auto_propagate_types, text_list),
        max_tasks_shown=table.free("tasks.briefing.max_tasks_shown", 10, count),
        **switches,
        **shown,
    )
