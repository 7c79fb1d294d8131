"""What a vault and its user have chosen, each as one frozen value.

Owns the TOML files `.crucible/config.toml` (travels with the vault) and the user's own `config.toml` (what is true on
this machine only: the default vault, which folders belong to which project): their keys, types, defaults, and the
text of a new one.  Writing files safely is for `vault`.

An unknown key is kept and warned about, since a newer Crucible may know it; a value of the wrong type is an error that
names the file, the line and the key.  Every command reads both files first, so this module imports little, and paths are strings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from crucible.core.settings.lifecycle import (
    LIFECYCLE_CONFIG,
    BriefingSettings,
    CaptureSettings,
    HistorySettings,
    MemorySettings,
    TaskSettings,
    read_lifecycle,
)
from crucible.core.settings.toml_scan import expand, vault_named
from crucible.core.settings.toml_values import (
    StrPath,
    Table,
    backend,
    boolean,
    count,
    expressions,
    expressions_by_name,
    factor,
    file_text,
    folder,
    folders_by_project,
    one_of,
    positive,
    seconds,
    share,
    text_value,
)
from crucible.core.settings.trust import (
    Accepts,
    Ask,
    TemplateFile,
    VaultTable,
    accepted_in,
    accepts_nothing,
    read_templates,
)

_CONFIG = """\
# Crucible's settings for this vault.  Every line is optional; the values shown are the defaults.
# What is true on one machine only (default vault, folders of projects) stands in the user's own settings:
# ~/.config/crucible/config.toml

[sessions]
# folder = "sessions"         # where session notes live, seen from the vault; any depth of subfolders
# subagents = "link"          # how a subagent's work is kept: link, embed or inline
# idle_minutes = 60           # a session that is quiet for longer is no longer active
# details = "none"            # what notes show of calls besides their lines, folded: none, diffs (of edits), all (outputs too)

[writing]
# fsync = true                # wait for the disk on every write
# lock_seconds = 10           # how long to wait for another process that holds a note

[flight]
# track = false               # keep whole events in git; after a change run `cru init` again
# max_value_bytes = 65536     # a longer argument or result is cut
# retention_days = 30         # older events are put away, once their session has a note
# after = "archive"           # what becomes of them: archive (compressed), or delete, which counts once `cru trust` accepts it

[resume]
# window = 15                 # the newest entries of a session that its context tells in full
# budget = 8000               # tokens of a session's context
# at_start = "notice"         # what a client is told of a paused session when it starts: off, notice or context

[knowledge]
# evidence = 1.0              # what an item weighs by its type
# decision = 0.9
# failure = 0.85
# pattern = 0.75
# observation = 0.5
# verified_bonus = 0.1        # and that much more when it was verified
# half_life_days = 90         # after so many days without a change it weighs half,
# freshness_floor = 0.1       # but never less than that
# recent_days = 30            # used within so many days it counts as fresher,
# recent_boost = 1.2          # by so much
# usefulness_floor = 0.5      # the factor of what was used and never helped,
# usefulness_span = 1.0       # and how much more what always helped has
# verify_after_days = 180     # what is older and was never verified is flagged
# alike_words = 0.8           # the share of words from which a new item is offered to be merged
# alike_text = 0.8            # the same by the index of recall
# project_limit = 500         # active items of one project, of one domain, and of scope global
# domain_limit = 1000
# global_limit = 1000
# warn_at = 0.8               # the share of a limit from which there is a warning
# ask_one_in = 5              # at most one use in so many asks whether it helped; 0 never asks

[secrets]
# What you add below counts once `cru trust` accepts it; in your own settings it always counts.
# allow = []                  # regular expressions; a secret that one of them finds is left in
# Your own rules are a name and a regular expression each, whose first group, if any, is the secret:
#   [secrets.rules]
#   acme = "acme_[0-9a-f]{32}"
"""
DEFAULT_CONFIG = _CONFIG.replace("[flight]\n", LIFECYCLE_CONFIG + "\n[flight]\n", 1)
"""What a new vault's file says."""


_NONE: Mapping[str, object] = {}
_FOREVER = 1000 * 366 * 24 * 60  # minutes; no calendar has room for many more
_NO_PROJECTS: Mapping[str, tuple[str, ...]] = {}


class FlightSettings(NamedTuple):
    """How whole events are kept, for how long, and what becomes of them then (`archive` or `delete`)."""

    track: bool = False
    max_value_bytes: int = 65536
    retention_days: int = 30
    after: str = "archive"


class ResumeSettings(NamedTuple):
    """How a session is picked up again: entries told in full, tokens of the context, and what a client's start is told."""

    window: int = 15
    budget: int = 8000
    at_start: str = "notice"


class KnowledgeSettings(NamedTuple):
    """What items of knowledge weigh, when two are alike, and how many there may be.

    Weights, factors and bonuses are multiplied or added as `knowledge.weighing` says; shares go from 0 to 1.
    """

    evidence: float = 1.0
    decision: float = 0.9
    failure: float = 0.85
    pattern: float = 0.75
    observation: float = 0.5
    verified_bonus: float = 0.1
    half_life_days: int = 90
    freshness_floor: float = 0.1
    recent_days: int = 30
    recent_boost: float = 1.2
    usefulness_floor: float = 0.5
    usefulness_span: float = 1.0
    verify_after_days: int = 180
    alike_words: float = 0.8
    alike_text: float = 0.8
    project_limit: int = 500
    domain_limit: int = 1000
    global_limit: int = 1000
    warn_at: float = 0.8
    ask_one_in: int = 5


class SecretSettings(NamedTuple):
    """What else is a secret, by the name of a rule, and what is none: regular expressions, not compiled."""

    rules: tuple[tuple[str, str], ...] = ()
    allow: tuple[str, ...] = ()


class VaultSettings(NamedTuple):
    """What `.crucible/config.toml` says.  `sessions` is a folder relative to the vault, with `/`.

    `templates` are the vault's own that the user accepted; `asks` is everything that needs to be accepted.
    """

    sessions: str = "sessions"
    subagents: str = "link"
    idle_minutes: int = 60
    fsync: bool = True
    lock_seconds: float = 10.0
    capture: CaptureSettings = CaptureSettings()
    history: HistorySettings = HistorySettings()
    briefing: BriefingSettings = BriefingSettings()
    tasks: TaskSettings = TaskSettings()
    memory: MemorySettings = MemorySettings()
    flight: FlightSettings = FlightSettings()
    resume: ResumeSettings = ResumeSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    secrets: SecretSettings = SecretSettings()
    templates: tuple[TemplateFile, ...] = ()
    asks: tuple[Ask, ...] = ()
    unknown: Mapping[str, object] = _NONE
    warnings: tuple[str, ...] = ()
    details: str = "none"


class AgentSettings(NamedTuple):
    """The user's agent: a command that reads a prompt and prints an answer, or a model of the `llm` library; both empty if there is none.

    `tokenizer` is the path of a `tokenizer.json` for counting tokens, "" for an estimate; a prompt shows at most `budget_tokens` of foreign text.  With `at_end` the
    agent is asked at each session's end, else only on demand.  These are user settings: a vault must not name programs to run.
    """

    command: str = ""
    model: str = ""
    timeout_seconds: float = 120.0
    tokenizer: str = ""
    budget_tokens: int = 6000
    at_end: bool = False


class RecallSettings(NamedTuple):
    """What answers `cru recall`: the vault's own index (`embedded`) or a team's server, and how long that may take.

    Only a user settles this: a vault comes from elsewhere, and must not have what is asked sent to a server of its choice.
    """

    backend: str = "embedded"
    timeout_seconds: float = 10.0

    def __repr__(self) -> str:
        # The address may hold a password.
        shown = self.backend if self.backend == "embedded" else "postgresql://…"
        return f"RecallSettings(backend={shown!r}, timeout_seconds={self.timeout_seconds})"


class UserSettings(NamedTuple):
    """What the user's own settings say.

    `projects` maps a name to the folders that belong to it.  `elsewhere` says what hooks do in a folder that is in no
    vault: its sessions go to the `default` vault, or hooks `ignore` it.
    """

    path: str | None = None
    default_vault: str | None = None
    elsewhere: str = "default"
    projects: Mapping[str, tuple[str, ...]] = _NO_PROJECTS
    agents: AgentSettings = AgentSettings()
    recall: RecallSettings = RecallSettings()
    secrets: SecretSettings = SecretSettings()
    unknown: Mapping[str, object] = _NONE
    warnings: tuple[str, ...] = ()

    @property
    def trusted(self) -> str:
        """The path of the record of `cru trust`, beside the user's settings; "" if there is no place for them."""
        path = os.path.abspath(self.path or os.devnull)
        nowhere = os.path.realpath(path) == os.devnull
        return "" if nowhere else os.path.join(os.path.dirname(path), "trusted")


def load_vault_settings(
    root: StrPath, user: UserSettings | None = None, accepts: Accepts | None = None
) -> VaultSettings:
    """The settings of the vault at `root` with the user's own `[secrets]`.

    Settings that need acceptance count if `accepts` says so, by default from the record of `user`.
    """
    real = os.path.realpath(root)
    accepts = accepts or (accepted_in(user.trusted, real) if user else accepts_nothing)
    path = os.path.join(root, ".crucible", "config.toml")
    settings = read_vault_settings(file_text(path) or "", path, accepts)
    own = user.secrets if user else SecretSettings()
    found = list(read_templates(real, accepts))
    return settings._replace(
        secrets=SecretSettings(own.rules + settings.secrets.rules, own.allow + settings.secrets.allow),
        templates=tuple(file for ask, file in found if ask.accepted),
        asks=(*settings.asks, *(ask for ask, _ in found)),
    )


def load_user_settings(path: StrPath, home: StrPath) -> UserSettings:
    """The user's settings; all defaults when there is no such file."""
    text = file_text(path)
    return UserSettings(str(path)) if text is None else read_user_settings(text, path, home)


def read_vault_settings(text: str, path: StrPath, accepts: Accepts = accepts_nothing) -> VaultSettings:
    """Read `text`; `path` is for messages.  A setting that `accepts` refuses keeps its default."""
    table = VaultTable(text, path, accepts)
    flight = FlightSettings(
        track=table.free("flight.track", False, boolean),
        max_value_bytes=table.free("flight.max_value_bytes", 65536, positive),
        retention_days=table.free("flight.retention_days", 30, count),
        after=table.asked("flight.after", "archive", one_of("archive", "delete"), "delete old events, keep no archive"),
    )
    lifecycle = read_lifecycle(table)
    resume = ResumeSettings(
        window=table.free("resume.window", 15, positive),
        budget=table.free("resume.budget", 8000, positive),
        at_start=table.free("resume.at_start", "notice", one_of("off", "notice", "context")),
    )
    secrets = SecretSettings(
        rules=table.asked("secrets.rules", (), expressions_by_name, "redact what these match, permanently"),
        allow=table.asked("secrets.allow", (), expressions, "never redact what one of these matches"),
    )
    table.refused("recall.backend", _NOT_HERE)
    return VaultSettings(
        sessions=table.free("sessions.folder", "sessions", folder),
        subagents=table.free("sessions.subagents", "link", one_of("link", "embed", "inline")),
        idle_minutes=min(table.free("sessions.idle_minutes", 60, count), _FOREVER),
        fsync=table.free("writing.fsync", True, boolean),
        lock_seconds=table.free("writing.lock_seconds", 10.0, seconds),
        capture=lifecycle.capture,
        history=lifecycle.history,
        briefing=lifecycle.briefing,
        tasks=lifecycle.tasks,
        memory=lifecycle.memory,
        flight=flight,
        resume=resume,
        knowledge=_knowledge(table, lifecycle.capacity),
        secrets=secrets,
        details=table.free("sessions.details", "none", one_of("none", "diffs", "all")),
        unknown=table.rest(),
        asks=tuple(table.asks),
        warnings=table.warnings(),
    )


_NOT_HERE = "recall.backend counts in your own settings only: a vault never chooses what server is asked"


def _knowledge(table: VaultTable, capacity: Mapping[str, float]) -> KnowledgeSettings:
    readers = {
        "half_life_days": positive,
        "recent_days": count,
        "verify_after_days": count,
        "ask_one_in": count,
    }
    readers |= dict.fromkeys(("project_limit", "domain_limit", "global_limit"), positive)
    shares = ("freshness_floor", "alike_words", "alike_text", "warn_at")
    defaults = {**KnowledgeSettings()._asdict(), **capacity}
    return KnowledgeSettings(
        **{
            key: table.free(f"knowledge.{key}", default, readers.get(key) or (share if key in shares else factor))
            for key, default in defaults.items()
        }
    )


def read_user_settings(text: str, path: StrPath, home: StrPath) -> UserSettings:
    """Read `text`; a leading `~` becomes `home`, other relative paths start at the file's folder."""
    table = Table(text, path)
    named = table.take("default_vault", None, text_value)
    nothing: dict[str, list[str]] = {}
    projects = table.take("projects", nothing, folders_by_project)
    return UserSettings(
        path=str(path),
        default_vault=None if named is None else vault_named(named, path, home),
        elsewhere=table.take("hooks.elsewhere", "default", one_of("default", "ignore")),
        projects={name: tuple(expand(f, home) for f in folders) for name, folders in projects.items()},
        agents=_agents(table, path, home),
        recall=RecallSettings(
            backend=table.take("recall.backend", "embedded", backend),
            timeout_seconds=table.take("recall.timeout_seconds", 10.0, seconds),
        ),
        secrets=SecretSettings(
            rules=table.take("secrets.rules", (), expressions_by_name),
            allow=table.take("secrets.allow", (), expressions),
        ),
        unknown=table.rest(),
        warnings=table.warnings(),
    )


def _agents(table: Table, path: StrPath, home: StrPath) -> AgentSettings:
    tokenizer = table.take("agents.tokenizer", None, text_value)
    return AgentSettings(
        command=table.take("agents.command", "", text_value),
        model=table.take("agents.model", "", text_value),
        timeout_seconds=table.take("agents.timeout_seconds", 120.0, seconds),
        tokenizer="" if tokenizer is None else vault_named(tokenizer, path, home),
        budget_tokens=table.take("agents.budget_tokens", 6000, positive),
        at_end=table.take("agents.at_end", False, boolean),
    )
