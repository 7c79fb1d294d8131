"""Settings: defaults, wrong values with their line, unknown keys kept, one key written without touching the rest."""

from __future__ import annotations

import os
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import VaultError
from crucible.core.settings.session_settings import (
    BriefingSettings,
    CaptureSettings,
    FrictionSettings,
    HistorySettings,
    HookSettings,
    MemorySettings,
    SourceSettings,
    TaskSettings,
)
from crucible.core.settings.settings import (
    AgentSettings,
    EventSettings,
    KnowledgeSettings,
    RecallSettings,
    ResumeSettings,
    SecretSettings,
    UserSettings,
    VaultSettings,
    default_config,
    load_user_settings,
    load_vault_settings,
    read_user_settings,
    read_vault_settings,
)
from crucible.core.settings.toml_scan import read_tidy, user_settings_path
from crucible.vault.notes.init_vault import with_user_settings
from tests.cases import for_each

FILE = "/v/config.toml"
HOME = "/home/me"


def test_the_settings_of_a_new_vault_are_the_defaults() -> None:
    assert read_vault_settings(default_config(), FILE) == VaultSettings()


def test_every_default_is_shown_in_a_new_file() -> None:
    said = "\n".join(
        line.removeprefix("# ")
        for line in default_config().split("\n")
        if (" = " in line or "[" in line) and not line.startswith("#   ")
    )
    assert tomllib.loads(said) == {
        "sessions": {"folder": "sessions", "subagents": "link", "idle_minutes": 60, "details": "none", "tasks": "list"},
        "writing": {"fsync": True, "lock_seconds": 10},
        "events": {
            "track": False,
            "max_value_bytes": 65536,
            "retention_days": 30,
            "after": "archive",
        },
        "hooks": {"save": "phase", "interval_seconds": 60},
        "capture": {
            "prompt_on_end": True,
            "min_confidence": 0.6,
            "silent": True,
            "capacity": {"project_limit": 500, "global_limit": 1000, "warning_percent": 0.8},
            "deduplication": {"enabled": True},
            "friction_budget": {"short_session": 2, "medium_session": 4, "long_session": 6},
        },
        "history": {"retention": {"max_entries": 100, "max_age_days": 365, "prune": "never"}},
        "briefing": {
            "at_start": True,
            "budget": 2000,
            "history_depth": 3,
            "event_days": 7,
            "history_days": 30,
            "recall_auto_query": True,
            "recall_queries": [],
            "include_files": [],
            "sources": dict.fromkeys(("profile", "sessions", "history", "tasks", "recall", "inbox", "memory"), True),
        },
        "tasks": {
            "annotations_dir": ".crucible/tasks",
            "eager_recall_loading": False,
            "capture_on_completion": True,
            "share_parallel_discoveries": True,
            "propagate_decisions": True,
            "auto_propagate_types": ["technology_choice", "api_design", "architecture_pattern"],
            "briefing": {"show_task_status": True, "max_tasks_shown": 10, "show_recall_summary": True},
        },
        "memory": {"max_entries": 200, "max_bytes": 65536},
        "resume": {"window": 15, "budget": 8000, "at_start": "notice"},
        "knowledge": KnowledgeSettings()._asdict(),
        "secrets": {"allow": []},
    }
    assert read_vault_settings(said, FILE) == VaultSettings()


def test_every_key_is_read() -> None:
    text = """
    [sessions]
    folder = "Work/Agent logs"
    subagents = "inline"
    idle_minutes = 5
    tasks = "json"
    [writing]
    fsync = false
    lock_seconds = 0.5
    [events]
    track = true
    max_value_bytes = 10
    retention_days = 7
    after = "delete"
    [hooks]
    save = "interval"
    interval_seconds = 2.5
    [capture]
    prompt_on_end = false
    min_confidence = 0.65
    silent = false
    [capture.capacity]
    global_limit = 8
    warning_percent = 0.5
    [capture.deduplication]
    enabled = false
    [capture.friction_budget]
    short_session = 1
    medium_session = 2
    long_session = 3
    [history.retention]
    max_entries = 0
    max_age_days = 9
    prune = "at_end"
    [briefing]
    at_start = false
    budget = 99
    history_depth = 1
    event_days = 2
    history_days = 4
    recall_auto_query = false
    recall_queries = ["architecture overview"]
    include_files = ["docs/adr/"]
    [briefing.sources]
    recall = false
    inbox = false
    [tasks]
    annotations_dir = ".crucible/work/tasks/"
    eager_recall_loading = true
    capture_on_completion = false
    share_parallel_discoveries = false
    propagate_decisions = false
    auto_propagate_types = ["api_design"]
    [tasks.briefing]
    show_task_status = false
    max_tasks_shown = 2
    show_recall_summary = false
    [memory]
    max_entries = 5
    max_bytes = 500
    [resume]
    window = 3
    budget = 900
    at_start = "off"
    [knowledge]
    decision = 0.7
    half_life_days = 30
    project_limit = 9
    alike_words = 0.9
    ask_one_in = 0
    [secrets]
    allow = ["^test_"]
    [secrets.rules]
    acme = "acme_[0-9a-f]{32}"
    """
    assert read_vault_settings(text, FILE, lambda _: True)._replace(asks=()) == VaultSettings(
        "Work/Agent logs",
        "inline",
        5,
        "none",
        "json",
        False,
        0.5,
        HookSettings("interval", 2.5),
        CaptureSettings(False, 0.65, False, deduplicate=False, friction=FrictionSettings(1, 2, 3)),
        HistorySettings(0, 9, "at_end"),
        BriefingSettings(
            False,
            99,
            1,
            2,
            4,
            False,
            ("architecture overview",),
            ("docs/adr/",),
            SourceSettings(recall=False, inbox=False),
        ),
        TaskSettings(".crucible/work/tasks", True, False, False, False, ("api_design",), False, 2, False),
        MemorySettings(5, 500),
        EventSettings(True, 10, 7, "delete"),
        ResumeSettings(3, 900, "off"),
        KnowledgeSettings(
            decision=0.7,
            half_life_days=30,
            project_limit=9,
            global_limit=8,
            warn_at=0.5,
            alike_words=0.9,
            ask_one_in=0,
        ),
        SecretSettings((("acme", "acme_[0-9a-f]{32}"),), ("^test_",)),
    )


def test_a_session_may_be_quiet_for_ever() -> None:
    quiet = read_vault_settings(f"sessions.idle_minutes = {10**18}", FILE).idle_minutes
    assert datetime.now(UTC) - timedelta(minutes=quiet) < datetime(1100, 1, 1, tzinfo=UTC)


@for_each(
    ("text", "message"),
    [
        ('[sessions]\nidle_minutes = "60"', r":2: sessions\.idle_minutes: expected a whole number"),
        ("[sessions]\n\nidle_minutes = true", r":3: sessions\.idle_minutes: expected a whole number"),
        ("sessions.idle_minutes = -1", r":1: sessions\.idle_minutes: expected a whole number, 0 or more"),
        ("[events]\nmax_value_bytes = 0", r":2: events\.max_value_bytes: expected a whole number, 1 or more"),
        ("[events]\ntrack = 1", r":2: events\.track: expected true or false"),
        ('[writing]\nlock_seconds = "1"', r":2: writing\.lock_seconds: expected a number of seconds"),
        ('[sessions]\nsubagents = "links"', r":2: sessions\.subagents: expected one of link, embed, inline"),
        ('[sessions]\nfolder = "../out"', r":2: sessions\.folder: expected a folder inside the vault"),
        ('[sessions]\nfolder = "/abs"', r":2: sessions\.folder: expected a folder inside the vault"),
        ('[sessions]\nfolder = ".hidden"', r":2: sessions\.folder: expected a folder inside the vault"),
        ('[sessions]\nfolder = "a\\\\b"', r":2: sessions\.folder: expected a folder inside the vault"),
        ("[sessions]\nfolder = 3", r":2: sessions\.folder: expected a string"),
        ('[events]\nafter = "keep"', r":2: events\.after: expected one of archive, delete"),
        (
            '[tasks]\nannotations_dir = "notes"',
            r":2: tasks\.annotations_dir: expected a folder inside the vault's",
        ),
        (
            '[tasks]\nannotations_dir = ".crucible/../x"',
            r":2: tasks\.annotations_dir: expected a folder inside",
        ),
        ('[briefing]\nrecall_queries = "x"', r":2: briefing\.recall_queries: expected a list of strings"),
        ('[hooks]\nsave = "never"', r":2: hooks\.save: expected one of phase, tool, interval"),
        ('[resume]\nat_start = "on"', r":2: resume\.at_start: expected one of off, notice, context"),
        ("[resume]\nwindow = 0", r":2: resume\.window: expected a whole number, 1 or more"),
        ("[knowledge]\nalike_words = 80", r":2: knowledge\.alike_words: expected a number from 0 to 1"),
        ("[knowledge]\ndecision = -1", r":2: knowledge\.decision: expected a number, 0 or more"),
        ("[knowledge]\nhalf_life_days = 0", r":2: knowledge\.half_life_days: expected a whole number, 1 or"),
        ('[secrets]\nallow = "x"', r":2: secrets\.allow: expected a list of regular expressions"),
        ('[secrets]\nallow = ["("]', r":2: secrets\.allow: expected a regular expression"),
        ('[secrets]\nallow = ["x*"]', r":2: secrets\.allow: 'x\*' matches the empty string"),
        ('[secrets]\nrules = ["x"]', r":2: secrets\.rules: expected a table"),
        ('[secrets.rules]\n"a b" = "x"', r":1: secrets\.rules: expected names of lower-case letters"),
        ('sessions = "x"', r":1: sessions: expected a table"),
        ("sessions = {idle_minutes = 'x'}", r":1: sessions\.idle_minutes: expected a whole number"),
        ("\"sessions\" = {idle_minutes = 'x'}", r"toml: sessions\.idle_minutes: expected a whole number"),
        ("[sessions\n", r"not valid TOML: .*line 1"),
    ],
)
def test_a_wrong_value_names_file_line_and_key(text: str, message: str) -> None:
    with pytest.raises(VaultError, match=message):
        read_vault_settings(text, FILE, lambda _: True)


def test_unknown_keys_are_kept_and_warned_about_with_their_line() -> None:
    read = read_vault_settings('future = 1\n[events]\nspeed = "high"\n[new]\nx = 2\n', FILE)
    assert read.unknown == {"future": 1, "events.speed": "high", "new.x": 2}
    assert read.warnings == (
        "/v/config.toml:1: unknown setting 'future', ignored",
        "/v/config.toml:3: unknown setting 'events.speed', ignored",
        "/v/config.toml:5: unknown setting 'new.x', ignored",
    )


def test_user_settings_are_read_with_home_expanded() -> None:
    text = 'default_vault = "~/notes"\n[projects]\nshop = ["~/work/shop", "/srv/shop"]\nsolo = "/solo"\n[hooks]\nelsewhere = "ignore"\n'
    assert read_user_settings(text, FILE, HOME) == UserSettings(
        FILE,
        "/home/me/notes",
        "ignore",
        {"shop": ("/home/me/work/shop", "/srv/shop"), "solo": ("/solo",)},
    )


def test_who_may_be_asked_to_write_is_the_users_choice_alone() -> None:
    text = """
    [agents]
    command = "claude -p --model haiku"
    model = "small"
    timeout_seconds = 9
    tokenizer = "~/models/tokenizer.json"
    """
    expected = AgentSettings("claude -p --model haiku", "small", 9, "/home/me/models/tokenizer.json")
    assert read_user_settings(text, FILE, HOME).agents == expected
    assert "agents.command" in read_vault_settings(text, FILE).unknown
    assert not any(read_user_settings("", FILE, HOME).agents[:2])


def test_a_relative_default_vault_is_seen_from_its_file() -> None:
    assert read_user_settings('default_vault = "notes"', FILE, HOME).default_vault == "/v/notes"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("default_vault = 3", ":1: default_vault: expected a string"),
        ('default_vault = ""', ":1: default_vault: expected a string"),
        ("[projects]\nshop = 3", ":1: projects: expected a folder or a list of folders for 'shop'"),
        ("[projects]\nshop = [3]", ":1: projects: expected a folder or a list of folders for 'shop'"),
        ("projects = 3", ":1: projects: expected a table of project names"),
    ],
)
def test_a_wrong_user_setting_names_file_line_and_key(text: str, message: str) -> None:
    with pytest.raises(VaultError, match=message):
        read_user_settings(text, FILE, HOME)


LINES = st.sampled_from(
    [
        "a = 1", "a= true", "b =false", "c = 'x'", 'd = "x y"', "e = ['a', \"b\"]", "f = [ 'a,b' ]", "[t]", "[ t ]", "[u]",
        "[t]  ", "# c", "\t# c", "# \x01", "", " \t", "a = 01", "a = 0", "a = -1", "a = 9999999999999999", "a = 1 # c",
        "a = 'x' # c", 'a = "\\n"', "a = 'it''s'", 'a = """x"""', "a.b = 1", "'a' = 1", "é = 1", "1 = 2", "a-b_c = 'é'",
        "a = ''", "a = []", "a = ['x',]", "a = [1]", "a = [", "]", "[[t]]", "[t.u]", "[t", "[a]", "a =", "= 1", "a", "a = '",
        "a = 1_0", "a = true\r", "a = 'b'\r\n", "a\t=\t'x\ty'", "a = \u0661", "a = '\u2028'", "[]", "a = {}", "a = 1.0",
    ]
)  # fmt: skip


@given(st.lists(LINES | st.text("a= '\"[]#\\\t\r1", max_size=8), max_size=5).map("\n".join))
def test_what_is_read_by_hand_is_read_as_the_library_reads_it(text: str) -> None:
    tidy = read_tidy(text)
    if tidy is not None:
        assert repr(tidy) == repr(tomllib.loads(text))


OLD = "[flight]\nafter = 'delete'\nretention_days = 7\n[capture]\nsave = 'tool'\ninterval_seconds = 9\nsilent = false\n"
"""The tables as earlier versions wrote them."""


def test_settings_of_an_earlier_version_are_read() -> None:
    found = read_vault_settings(OLD, FILE, lambda _: True)
    assert (found.events, found.hooks, found.capture.silent) == (
        EventSettings(retention_days=7, after="delete"),
        HookSettings("tool", 9),
        False,
    )
    assert found.warnings == ()
    assert [ask.name for ask in found.asks] == ["flight.after"]
    assert read_vault_settings(OLD, FILE).events.after == "archive"


def test_new_names_win_over_those_of_an_earlier_version() -> None:
    found = read_vault_settings(f"{OLD}[events]\nretention_days = 5\n[hooks]\nsave = 'phase'\n", FILE)
    assert (found.events.retention_days, found.hooks) == (5, HookSettings("phase", 9))


def test_tables_in_tables_are_read_by_hand() -> None:
    text = "[capture]\nsave = 'tool'\n[capture.capacity]\nproject_limit = 3\n[briefing.sources]\ninbox = false\n"
    assert read_tidy(text) == tomllib.loads(text)
    for odd in (
        "[a.b]\n[a.b]\n",
        "[a]\nb = 1\n[a.b]\n",
        "[a.]\n",
        "[.a]\n",
        "[a..b]\n",
        "[a.b]\nc = 1\n[a]\n",
    ):
        assert read_tidy(odd) is None


def test_what_cru_writes_and_simple_lines_are_read_by_hand() -> None:
    assert read_tidy(default_config()) == {
        "sessions": {},
        "writing": {},
        "capture": {},
        "history": {},
        "briefing": {},
        "tasks": {},
        "memory": {},
        "events": {},
        "hooks": {},
        "resume": {},
        "knowledge": {},
        "secrets": {},
    }
    text = with_user_settings("[projects]\nshop = ['/a', \"/b\"]\n", FILE, {"default_vault": "/new vault"})
    assert read_tidy(text) == {"default_vault": "/new vault", "projects": {"shop": ["/a", "/b"]}}
    assert read_tidy("a = 1\r\nb = false\r\n") == {"a": 1, "b": False}


def test_missing_files_mean_defaults(tmp_path: Path) -> None:
    assert load_vault_settings(tmp_path) == VaultSettings()
    assert load_user_settings(tmp_path / "no.toml", HOME) == UserSettings(str(tmp_path / "no.toml"))


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(b'\xef\xbb\xbfdefault_vault = "/x"\n')
    assert load_user_settings(path, HOME).default_vault == "/x"


def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(VaultError, match=r"c\.toml: not UTF-8 at byte 5"):
        load_user_settings(tmp_path / "c.toml", HOME)
    (tmp_path / "d.toml").mkdir()
    with pytest.raises(VaultError, match=r"d\.toml: Is a directory"):
        load_user_settings(tmp_path / "d.toml", HOME)


def test_user_settings_lie_where_the_environment_says() -> None:
    usual = "/home/me/.config/crucible/config.toml"
    assert user_settings_path({}, HOME) == usual
    assert user_settings_path({"XDG_CONFIG_HOME": "/x"}, HOME) == "/x/crucible/config.toml"
    assert user_settings_path({"XDG_CONFIG_HOME": "relative"}, HOME) == usual
    assert user_settings_path({"XDG_CONFIG_HOME": "/x", "CRUCIBLE_CONFIG": "/c.toml"}, HOME) == "/c.toml"


def test_setting_the_default_vault_keeps_comments_order_and_other_keys() -> None:
    text = '# mine\ndefault_vault = "/old"  # was\nfuture = 1\n\n[projects] # p\nshop = ["/a",\n  "/b"]\n'
    changed = with_user_settings(text, FILE, {"default_vault": "/new"})
    assert changed == text.replace('"/old"', '"/new"')


def test_the_default_vault_is_written_above_the_tables() -> None:
    changed = with_user_settings("\ufeff# mine\n[projects]\na = ['/x']\n", FILE, {"default_vault": "/new"})
    assert changed.startswith("\ufeff# mine\n")
    read = read_user_settings(changed, FILE, HOME)
    assert (read.default_vault, read.projects) == ("/new", {"a": ("/x",)})


def test_broken_settings_are_not_overwritten() -> None:
    with pytest.raises(VaultError, match="not valid TOML"):
        with_user_settings("[projects", FILE, {"default_vault": "/new"})


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


@given(vault=TEXT, names=st.dictionaries(TEXT, st.lists(TEXT, max_size=3), max_size=3), future=TEXT)
def test_any_default_vault_is_read_back_and_the_rest_stays(
    vault: str, names: dict[str, list[str]], future: str
) -> None:
    import tomlkit

    text = tomlkit.dumps({"future": future, "projects": names})
    changed = with_user_settings(text, FILE, {"default_vault": "/" + vault})
    before, after = tomllib.loads(text), tomllib.loads(changed)
    assert after.pop("default_vault") == "/" + vault
    assert after == before


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "9" * 5000, "a = " + "{x=" * 5000])
def test_a_file_made_to_overflow_the_parser_is_one_clear_error(text: str) -> None:
    with pytest.raises(VaultError, match=r"^/v/config\.toml: not valid TOML: "):
        read_vault_settings(text, FILE)


def test_what_tomlkit_cannot_follow_is_one_clear_error() -> None:
    for depth in range(100, 500, 20):
        text = f"a = {'[' * depth}{']' * depth}\n"
        try:
            changed = with_user_settings(text, FILE, {"default_vault": "/notes"})
        except VaultError as error:
            assert str(error).startswith("/v/config.toml: not valid TOML")  # noqa: PT017  either is right
        else:
            assert changed.startswith(text)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_in_the_place_of_a_file_is_refused_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".crucible").mkdir()
    os.mkfifo(tmp_path / ".crucible" / "config.toml")
    with pytest.raises(VaultError, match="not a regular file"):
        load_vault_settings(tmp_path)


def test_the_null_device_means_no_settings() -> None:
    assert load_user_settings(os.devnull, HOME) == UserSettings(os.devnull)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "config.toml").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(VaultError, match="larger than"):
        load_user_settings(tmp_path / "config.toml", HOME)


def test_a_team_s_server_is_the_user_s_choice_and_never_shown() -> None:
    text = '[recall]\nbackend = "postgresql://me:hunter2@db.example.org/team"\ntimeout_seconds = 2'
    settings = read_user_settings(text, FILE, HOME)
    assert settings.recall == RecallSettings("postgresql://me:hunter2@db.example.org/team", 2.0)
    assert "hunter2" not in repr(settings)
    vault = read_vault_settings(text, FILE)
    assert "hunter2" not in repr(vault)
    assert any("recall.backend is read from your user settings only" in line for line in vault.warnings)


@pytest.mark.parametrize("backend", ['"mysql://hunter2"', '"hunter2"', '["hunter2"]', "2"])
def test_another_backend_is_refused_and_not_shown(backend: str) -> None:
    with pytest.raises(VaultError, match=r":2: recall\.backend: expected .embedded. or") as failed:
        read_user_settings(f"[recall]\nbackend = {backend}", FILE, HOME)
    assert "hunter2" not in str(failed.value)
