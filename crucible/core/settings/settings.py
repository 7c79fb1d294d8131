"""The settings of a vault and of its user, each as one frozen value.

`.crucible/config.toml` is shared with the vault; the user's `config.toml` applies to one machine.  Unknown keys are
kept and reported: a newer Crucible may use them.  Every command imports this module, so it imports little.
"""

# No `from __future__ import annotations`: `toml_values` reads the annotations.
import os
from collections.abc import Mapping
from datetime import tzinfo
from typing import Annotated

from crucible.core.named_tuples import NamedTuple
from crucible.core.settings.session_settings import (
    BriefingSettings,
    CapacitySettings,
    CaptureSettings,
    HistorySettings,
    HookSettings,
    MemorySettings,
    TaskSettings,
)
from crucible.core.settings.toml_scan import expand, vault_named
from crucible.core.settings.toml_values import (
    Key,
    SettingsSection,
    StrPath,
    Table,
    boolean,
    config_lines,
    count,
    expressions,
    expressions_by_name,
    factor,
    file_text,
    folder,
    folders_by_project,
    minutes,
    one_of,
    positive,
    read_settings,
    recall_backend,
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
from crucible.core.zones import SYSTEM, find_zone

_NONE: Mapping[str, object] = {}
_NO_PROJECTS: Mapping[str, tuple[str, ...]] = {}
_CONFIG_HEAD = """\
# Crucible's settings for this vault.  Every line is optional; the values shown are the defaults.
# What applies to one machine only (default vault, project folders) is in your user settings:
# ~/.config/crucible/config.toml
"""
_SECRETS_HEAD = '# What you add below takes effect after "cru trust"; in your user settings it always takes effect.'
_SECRETS_FOOT = """\
# A rule of your own is a name and a regular expression; its first group, if any, is the secret:
#   [secrets.rules]
#   acme = "acme_[0-9a-f]{32}\""""


class EventSettings(NamedTuple):
    """Whether and how long event logs are kept, and what happens to them afterwards."""

    track: Annotated[bool, Key(boolean, 'keep event logs in git; run "cru init" again after a change')] = False
    max_value_bytes: Annotated[int, Key(positive, "cut longer arguments and results")] = 65536
    retention_days: Annotated[int, Key(count, "prune older events, once their session has a note")] = 30
    after: Annotated[
        str,
        Key(
            one_of("archive", "delete"),
            'archive (compress) old events, or delete them; delete takes effect after "cru trust"',
            trust="delete old events, keep no archive",
        ),
    ] = "archive"


class ResumeSettings(NamedTuple):
    """How sessions are resumed."""

    window: Annotated[int, Key(positive, "number of newest entries that a resume context includes in full")] = 15
    budget: Annotated[int, Key(positive, "maximum tokens of a resume context")] = 8000
    at_start: Annotated[
        str,
        Key(
            one_of("off", "notice", "context"),
            "what a client learns about a paused session when it starts: off, notice or context",
        ),
    ] = "notice"


class KnowledgeSettings(NamedTuple):
    """Weights of knowledge items, similarity thresholds and limits.  Shares are from 0 to 1."""

    evidence: Annotated[float, Key(factor, "weight of an item by type")] = 1.0
    decision: Annotated[float, Key(factor)] = 0.9
    failure: Annotated[float, Key(factor)] = 0.85
    pattern: Annotated[float, Key(factor)] = 0.75
    observation: Annotated[float, Key(factor)] = 0.5
    verified_bonus: Annotated[float, Key(factor, "weight added to a verified item")] = 0.1
    half_life_days: Annotated[int, Key(positive, "days without a change after which the weight halves")] = 90
    freshness_floor: Annotated[float, Key(share, "lower limit of the weight")] = 0.1
    recent_days: Annotated[int, Key(count, "an item used within this many days gets")] = 30
    recent_boost: Annotated[float, Key(factor, "this much more weight")] = 1.2
    usefulness_floor: Annotated[float, Key(factor, "factor for an item that was used and never helped")] = 0.5
    usefulness_span: Annotated[float, Key(factor, "weight added to an item that always helped")] = 1.0
    verify_after_days: Annotated[int, Key(count, "flag unverified items older than this")] = 180
    alike_words: Annotated[
        float, Key(share, "offer to merge a new item that shares this fraction of words with another")
    ] = 0.8
    alike_text: Annotated[float, Key(share, "the same, measured by the recall index")] = 0.8
    project_limit: Annotated[
        int, Key(positive, "limits of active items per project, per domain, and with scope global")
    ] = 500
    domain_limit: Annotated[int, Key(positive)] = 1000
    global_limit: Annotated[int, Key(positive)] = 1000
    warn_at: Annotated[float, Key(share, "warn when this fraction of a limit is reached")] = 0.8
    ask_one_in: Annotated[int, Key(count, "ask after every N-th use whether an item helped; 0 never asks")] = 5


class SecretSettings(NamedTuple):
    """The user's own rules for secrets, by name, and exceptions.  All are uncompiled regular expressions."""

    rules: Annotated[
        tuple[tuple[str, str], ...],
        Key(expressions_by_name, trust="always redact matches of these; cannot be undone", shown=""),
    ] = ()
    allow: Annotated[
        tuple[str, ...],
        Key(
            expressions,
            "regular expressions; secrets that match one of them are not redacted",
            trust="never redact matches of these",
        ),
    ] = ()


class VaultSettings(NamedTuple):
    """The settings in `.crucible/config.toml`.  `sessions` is a folder relative to the vault, with `/`.

    `templates` are the vault's own templates that the user accepted; `asks` lists everything that needs acceptance.
    """

    sessions: Annotated[
        str,
        Key(folder, "folder of session notes, relative to the vault; subfolders are allowed", name="sessions.folder"),
    ] = "sessions"
    subagents: Annotated[
        str,
        Key(
            one_of("link", "embed", "inline"),
            "how a subagent's work appears: link, embed or inline",
            name="sessions.subagents",
        ),
    ] = "link"
    idle_minutes: Annotated[
        int, Key(minutes, "a session without events for longer than this is not active", name="sessions.idle_minutes")
    ] = 60
    details: Annotated[
        str,
        Key(
            one_of("none", "diffs", "all"),
            "details of tool calls to show, folded: none, diffs (of edits), all (outputs too)",
            name="sessions.details",
        ),
    ] = "none"
    task_form: Annotated[
        str,
        Key(
            one_of("list", "json"),
            "how new notes keep tasks: list (checkboxes), or json",
            name="sessions.tasks",
        ),
    ] = "list"
    fsync: Annotated[bool, Key(boolean, "sync every write to disk", name="writing.fsync")] = True
    lock_seconds: Annotated[
        float,
        Key(
            seconds,
            "how long to wait for another process that has locked a note",
            name="writing.lock_seconds",
            shown="10",
        ),
    ] = 10.0
    hooks: Annotated[HookSettings, SettingsSection("hooks")] = HookSettings()
    capture: Annotated[CaptureSettings, SettingsSection("capture")] = CaptureSettings()
    history: Annotated[HistorySettings, SettingsSection("history.retention")] = HistorySettings()
    briefing: Annotated[BriefingSettings, SettingsSection("briefing")] = BriefingSettings()
    tasks: Annotated[TaskSettings, SettingsSection("tasks", width=36)] = TaskSettings()
    memory: Annotated[MemorySettings, SettingsSection("memory")] = MemorySettings()
    events: Annotated[EventSettings, SettingsSection("events")] = EventSettings()
    resume: Annotated[ResumeSettings, SettingsSection("resume")] = ResumeSettings()
    knowledge: Annotated[KnowledgeSettings, SettingsSection("knowledge")] = KnowledgeSettings()
    secrets: Annotated[SecretSettings, SettingsSection("secrets", head=_SECRETS_HEAD, foot=_SECRETS_FOOT)] = (
        SecretSettings()
    )
    templates: tuple[TemplateFile, ...] = ()
    asks: tuple[Ask, ...] = ()
    unknown: Mapping[str, object] = _NONE
    warnings: tuple[str, ...] = ()


class AgentSettings(NamedTuple):
    """The user's agent: a command that reads a prompt and prints an answer, or a model of the `llm` library.

    Both are "" if there is none.  `tokenizer` is the path of a `tokenizer.json` for counting tokens, or "" to estimate.
    A prompt contains at most `budget_tokens` of quoted text.  With `at_end` the agent is asked when each session ends,
    else only on demand.  These are user settings because a vault must not choose programs to run.
    """

    command: Annotated[str, Key(text_value)] = ""
    model: Annotated[str, Key(text_value)] = ""
    timeout_seconds: Annotated[float, Key(seconds)] = 120.0
    tokenizer: Annotated[str, Key(text_value)] = ""
    budget_tokens: Annotated[int, Key(positive)] = 6000
    at_end: Annotated[bool, Key(boolean)] = False


class RecallSettings(NamedTuple):
    """The backend of `cru recall`: the vault's own index (`embedded`) or a team's server, and its time limit.

    With `background`, the own index is updated after an import and at a session's end, not only by the next query.
    `near` is the folder of the word vectors that near words are found with, or "" for none.

    This is a user setting because a vault may be untrusted, and must not send queries to a server of its choice.
    """

    backend: Annotated[str, Key(recall_backend)] = "embedded"
    timeout_seconds: Annotated[float, Key(seconds)] = 10.0
    background: Annotated[bool, Key(boolean)] = True
    near: Annotated[str, Key(text_value)] = ""

    def __repr__(self) -> str:
        # The URL may contain a password.
        shown = self.backend if self.backend == "embedded" else f"{self.backend.partition('://')[0]}://…"
        return (
            f"RecallSettings(backend={shown!r}, timeout_seconds={self.timeout_seconds}, background={self.background}, "
            f"near={self.near!r})"
        )


class UserSettings(NamedTuple):
    """The user's own settings.

    `projects` maps names to their folders.  `elsewhere` is what hooks do in folders outside any vault: record sessions
    in the `default` vault, or `ignore` them.  `timezone` is an IANA name that this machine knows, or "" for the
    system's.  `pager` is the command line that shows long output, or "" for that of the environment.
    """

    path: str | None = None
    default_vault: str | None = None
    elsewhere: str = "default"
    projects: Mapping[str, tuple[str, ...]] = _NO_PROJECTS
    agents: AgentSettings = AgentSettings()
    recall: RecallSettings = RecallSettings()
    secrets: SecretSettings = SecretSettings()
    timezone: str = ""
    pager: str = ""
    unknown: Mapping[str, object] = _NONE
    warnings: tuple[str, ...] = ()

    @property
    def zone(self) -> tzinfo:
        """The user's time zone."""
        return find_zone(self.timezone) or SYSTEM

    @property
    def trusted(self) -> str:
        """The path of the record of `cru trust`, next to the user's settings; "" without a settings file."""
        return self._beside("trusted")

    @property
    def prices(self) -> str:
        """The path of the user's own prices, next to the settings; "" without a settings file."""
        return self._beside("prices.toml")

    def _beside(self, name: str) -> str:
        path = os.path.abspath(self.path or os.devnull)
        nowhere = os.path.realpath(path) == os.devnull
        return "" if nowhere else os.path.join(os.path.dirname(path), name)


def load_vault_settings(
    root: StrPath, user: UserSettings | None = None, accepts: Accepts | None = None
) -> VaultSettings:
    """Load the settings of the vault at `root`, combined with the user's own `[secrets]`.

    Settings that need acceptance apply if `accepts` allows them; by default it looks them up in the record of `user`.
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
    """Load the user's settings.  Without a file, all are defaults."""
    text = file_text(path)
    return UserSettings(str(path)) if text is None else read_user_settings(text, path, home)


def read_vault_settings(text: str, path: StrPath, accepts: Accepts = accepts_nothing) -> VaultSettings:
    """Parse a vault's settings.  `path` is for messages.  A setting that `accepts` rejects keeps its default."""
    table = VaultTable(text, path, accepts)
    # Vaults of earlier versions have `[flight]`, and the hooks' settings in `[capture]`.
    defaults = VaultSettings(
        hooks=read_settings(table, HookSettings(), "capture."),
        events=read_settings(table, EventSettings(), "flight."),
        knowledge=_knowledge(table),
    )
    settings = read_settings(table, defaults)
    table.refuse(
        "recall.backend",
        "recall.backend is read from your user settings only: a vault must not choose which server is queried",
    )
    return settings._replace(unknown=table.rest(), asks=tuple(table.asks), warnings=table.warnings())


def _knowledge(table: VaultTable) -> KnowledgeSettings:
    """Return the defaults, as changed by `[capture.capacity]`."""
    usual, given = KnowledgeSettings(), read_settings(table, CapacitySettings(), "capture.capacity.")
    return usual._replace(
        project_limit=usual.project_limit if given.project_limit is None else given.project_limit,
        global_limit=usual.global_limit if given.global_limit is None else given.global_limit,
        warn_at=usual.warn_at if given.warning_percent is None else given.warning_percent,
    )


def read_user_settings(text: str, path: StrPath, home: StrPath) -> UserSettings:
    """Parse the user's settings.  A leading `~` becomes `home`; other relative paths start at the file's folder."""
    table = Table(text, path)
    nothing: dict[str, list[str]] = {}
    named = table.take("default_vault", "", text_value)
    timezone = table.take("timezone", "", text_value)
    is_known = find_zone(timezone) is not None
    unknown_zone = f"{path}: timezone = {timezone!r} is not a known time zone; the system's is used"
    elsewhere = table.take("hooks.elsewhere", "default", one_of("default", "ignore"))
    projects = table.take("projects", nothing, folders_by_project)
    agents = read_settings(table, AgentSettings(), "agents.")
    recall = read_settings(table, RecallSettings(), "recall.")
    return UserSettings(
        path=str(path),
        default_vault=vault_named(named, path, home) if named else None,
        timezone=timezone if is_known else "",
        pager=table.take("pager", "", text_value),
        elsewhere=elsewhere,
        projects={name: tuple(expand(f, home) for f in folders) for name, folders in projects.items()},
        agents=agents._replace(tokenizer=agents.tokenizer and vault_named(agents.tokenizer, path, home)),
        recall=recall._replace(near=recall.near and vault_named(recall.near, path, home)),
        secrets=read_settings(table, SecretSettings(), "secrets."),
        unknown=table.rest(),
        warnings=table.warnings() if is_known else (*table.warnings(), unknown_zone),
    )


def default_config() -> str:
    """Return the content of a new vault's settings file."""
    return _CONFIG_HEAD + "\n".join(config_lines(VaultSettings())) + "\n"
