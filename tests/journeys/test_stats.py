from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import toons
from rich.cells import cell_len

from crucible.cli.output import block_bar, short_number
from crucible.core.text import short_duration
from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.journeys.notes import CLOCK, LIMITER, note, write
from tests.journeys.terminals import on_a_terminal
from tests.running import Cru, CruProcess

EMPTY = {
    "sessions": 0,
    "tokens": 0,
    "tokens_average": None,
    "duration_average_s": None,
    "duration_median_s": None,
    "failure_rate": None,
    "tool_failure_rate": None,
    "decisions": 0,
    "errors": 0,
    "users": 0,
}


@pytest.fixture
def some(vault: Vault) -> Vault:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-21-clock", CLOCK.replace("project:", "tokens_used: 56\nproject:"))
    sale = note("x", started="2026-10-01T08:00:00Z", status="failed", tokens_used="1234567", channel="dev")
    write(vault, "old/2026-10-01-sale", sale)
    return vault


def test_json_has_raw_numbers(some: Vault, cru: Cru) -> None:
    result = cru("session", "stats", "--by", "channel", "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = json.loads(result.stdout)
    total = {
        "sessions": 2,
        "tokens": 1236567,
        "tokens_average": 618283.5,
        "duration_average_s": 605.0,
        "duration_median_s": 605.0,
        "failure_rate": 0.5,
        "tool_failure_rate": 0.5,
        "decisions": 1,
        "errors": 1,
        "users": 1,
    }
    ops = {"tokens": 2000, "tokens_average": 2000.0, "failure_rate": 0.0}
    assert shown == {
        "schema": 1,
        "by": "channel",
        "groups": [{"name": "dev", **total}, {"name": "ops", **total, "sessions": 1, **ops}],
        "total": total,
    }
    assert isinstance(shown["total"]["tokens"], int)


def test_toon_says_what_json_says(some: Vault, cru: Cru) -> None:
    for by in ([], ["--by", "phase"]):
        text = cru("session", "stats", *by, "--format", "toon").stdout
        assert toons.loads(text) == json.loads(cru("session", "stats", *by, "--format", "json").stdout)
    assert "groups[2]{name,sessions," in text


def test_the_table_is_aligned_and_readable_with_a_total(some: Vault, cru: Cru) -> None:
    result = cru("session", "stats", "--by", "agent")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [re.split(r"\s{2,}", line) for line in lines] == [
        ["agent", *HEADINGS],
        ["-", "2", "1,234,891", "617,446", "10m 5s", "10m 5s", "50.0 %", "50.0 %", "1", "1", "1"],
        ["claude-code", "1", "1,620", "1,620", "10m 5s", "10m 5s", "0.0 %", "50.0 %", "1", "1", "1"],
        ["general-purpose", "1", "56", "56", "10m 5s", "10m 5s", "0.0 %", "50.0 %", "1", "1", "1"],
        ["helper", "1", "0", "-", "10m 5s", "10m 5s", "0.0 %", "50.0 %", "1", "1", "1"],
        ["total", "2", "1,236,567", "618,284", "10m 5s", "10m 5s", "50.0 %", "50.0 %", "1", "1", "1"],
    ]
    assert len({len(line) for line in lines}) == 1
    assert not re.search(r"[\x1b\u2580-\u259f]", result.stdout)


HEADINGS = [
    "sessions",
    "tokens",
    "avg tokens",
    "avg time",
    "median",
    "failed",
    "tools",
    "decisions",
    "errors",
    "users",
]


def test_without_by_there_is_the_total_alone(some: Vault, cru: Cru) -> None:
    head, total = cru("session", "stats").stdout.splitlines()
    assert re.split(r"\s{2,}", head.strip()) == HEADINGS
    assert total.split()[:3] == ["total", "2", "1,236,567"]


@pytest.mark.parametrize("by", [None, "agent", "channel", "status", "model", "month", "phase"])
def test_an_empty_vault_has_a_heading_and_zeros(vault: Vault, cru: Cru, by: str | None) -> None:
    given = ["--by", by] if by else []
    table = cru("session", "stats", *given)
    assert table.exit_code == 0
    head, total = table.stdout.splitlines()
    assert head.split() == [*([by] if by else []), *" ".join(HEADINGS).split()]
    assert total.split() == ["total", "0", "0", "-", "-", "-", "-", "-", "0", "0", "0"]
    shown = json.loads(cru("session", "stats", *given, "--format", "json").stdout)
    assert shown == {"schema": 1, "by": by, "groups": [], "total": EMPTY}


@pytest.mark.parametrize(
    ("options", "sessions", "tokens"),
    [
        ([], 2, 1236567),
        (["--status", "failed"], 1, 1234567),
        (["--agent", "claude-code"], 1, 2000),
        (["--channel", "ops"], 1, 2000),
        (["--model", "opus"], 1, 2000),
        (["--project", "shop"], 1, 2000),
        (["--since", "2026-11-01"], 1, 2000),
        (["--until", "2026-11-01"], 1, 1234567),
        (["--where", "tokens < 5000"], 1, 2000),
        (["--children"], 3, 1236567),
        (["--children", "--project", "shop", "--where", "parent != null"], 1, 56),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else None,
)
def test_the_filters_of_list_narrow_it(some: Vault, cru: Cru, options: list[str], sessions: int, tokens: int) -> None:
    total = json.loads(cru("session", "stats", *options, "--format", "json").stdout)["total"]
    assert (total["sessions"], total["tokens"]) == (sessions, tokens)


@pytest.mark.parametrize(
    "wrong", [["--by", "moon"], ["--format", "paths"], ["--where", "nothing > 1"], ["--status", "done"]]
)
def test_what_makes_no_sense_is_refused(vault: Vault, cru: Cru, wrong: list[str]) -> None:
    result = cru("session", "stats", *wrong)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")


def test_a_note_that_cannot_be_read_counts_and_is_named(some: Vault, cru: Cru) -> None:
    (some.root / "sessions" / "gone.md").symlink_to(some.root / "nowhere.md")
    result = cru("session", "stats", "--format", "json")
    assert json.loads(result.stdout)["total"]["sessions"] == 3
    assert result.stderr.startswith("sessions/gone.md:1: unreadable-note: ")
    assert result.exit_code == 0


def test_sessions_that_cannot_be_walked_are_exit_code_3(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    (vault.root / "sessions").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (vault.root / "sessions").symlink_to(tmp_path / "elsewhere")
    for format_ in ("text", "json", "toon"):
        result = cru("session", "stats", "--format", format_)
        assert result.exit_code == 3
        assert result.stdout
        assert "points outside the vault" in result.stderr


def test_names_keep_the_columns_aligned_and_cannot_steer_the_terminal(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", "## 時計を直す\n\n## One\x1b[31m\x07 two\n", model='"x\\ny"'))
    shown = cru("session", "stats", "--by", "phase").stdout
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)
    assert len({cell_len(line) for line in shown.splitlines()}) == 1
    assert "x⏎y" in cru("session", "stats", "--by", "model").stdout


def test_a_terminal_gets_bars_of_sessions_and_of_tokens(some: Vault, cru_process: CruProcess) -> None:
    lines = on_a_terminal(cru_process, some, 160, "session", "stats", "--by", "status")
    failed = next(line for line in lines if line.startswith("failed"))
    completed = next(line for line in lines if line.startswith("completed"))
    full, none = "█" * 16, "▏"
    assert failed.count(full) == 2
    assert completed.count(full) == 1
    assert none in completed
    assert "█" not in lines[0] + lines[-1]
    assert all(len(line) <= 160 for line in lines)


ALL = ("tokens", "avg tok", "avg time", "median", "failed", "tools", "decided", "errors", "users")


@pytest.mark.parametrize(("columns", "shown"), [(80, ALL[:-3]), (100, ALL), (120, HEADINGS[1:]), (200, HEADINGS[1:])])
def test_a_terminal_gets_as_many_columns_as_it_has_room_for(
    some: Vault, cru_process: CruProcess, columns: int, shown: list[str]
) -> None:
    lines = on_a_terminal(cru_process, some, columns, "session", "stats", "--by", "status")
    heads = re.split(r"\s{2,}", lines[0])
    assert heads == ["status", "sessions", *shown]
    assert all(cell_len(line) <= columns for line in lines)
    for line in lines[1:3]:
        assert len(re.findall("[▏▎▍▌▋▊▉█]+", line)) == 2
    assert re.search("█{6,16} ", lines[1] + lines[2])
    total = {80: "1.2M", 100: "1.2M"}.get(columns, "1,236,567")
    assert lines[3].split()[:3] == ["total", "2", total]
    assert lines[4:] == (["… columns omitted: decisions, errors, users; see --format json"] if columns == 80 else [])


def test_a_pipe_gets_every_column_and_digit_whatever_its_width(some: Vault, cru_process: CruProcess) -> None:
    write(some, "a", note("a", f"## {'Long ' * 20}\n"))
    shown = []
    for columns in ("20", "80", "200"):
        done = cru_process(
            "--vault",
            some.root,
            "session",
            "stats",
            "--by",
            "phase",
            env={"COLUMNS": columns, "PYTHONIOENCODING": "utf-8"},
        )
        shown.append(done.stdout.decode().splitlines())
    assert shown[0] == shown[1] == shown[2]
    assert ("Long " * 20).rstrip() in "\n".join(shown[0])
    assert shown[0][0].split() == ["phase", *" ".join(HEADINGS).split()]
    assert not re.search("[…▏▎▍▌▋▊▉█]", "\n".join(shown[0]))


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
@pytest.mark.parametrize("name", ["Long " * 40, "時計" * 40], ids=["narrow", "wide"])
def test_long_names_are_cut_and_the_bars_stay(vault: Vault, cru_process: CruProcess, columns: int, name: str) -> None:
    write(vault, "a", note("a", f"## {name}\n"))
    lines = on_a_terminal(cru_process, vault, columns, "session", "stats", "--by", "phase")
    assert lines[1].startswith(name[:7])
    assert cell_len(lines[1].partition("…")[0]) >= 14
    assert "…" in lines[1]
    assert "██████" in lines[1]
    assert len({cell_len(line) for line in lines[:3]}) == 1
    assert all(cell_len(line) <= columns for line in lines)


def test_names_are_whole_rather_than_every_column_there(vault: Vault, cru_process: CruProcess) -> None:
    write(vault, "a", note("a", model="claude-sonnet-4-5-20250929"))
    lines = on_a_terminal(cru_process, vault, 80, "session", "stats", "--by", "model")
    assert lines[1].startswith("claude-sonnet-4-5-20250929  1 ██████")
    assert "omitted: avg" in lines[3]


def test_a_very_narrow_terminal_gets_no_bars_and_still_the_sessions(some: Vault, cru_process: CruProcess) -> None:
    lines = on_a_terminal(cru_process, some, 30, "session", "stats", "--by", "status")
    assert lines[0].split()[:3] == ["status", "sessions", "tokens"]
    assert not any("█" in line for line in lines)
    assert all(cell_len(line) <= 30 for line in lines)
    assert " ".join(lines[4:]).endswith("; see --format json")


def test_a_terminal_that_lacks_blocks_gets_none(some: Vault, cru_process: CruProcess) -> None:
    lines = on_a_terminal(cru_process, some, 160, "session", "stats", "--by", "status", PYTHONIOENCODING="ascii")
    assert not any("?" in line for line in lines)


def test_colours_are_for_a_terminal_or_who_asks(some: Vault, cru_process: CruProcess, bare_cru: Cru) -> None:
    assert any(
        "\x1b[" in line
        for line in on_a_terminal(cru_process, some, 160, "session", "stats", "--by", "status", NO_COLOR="")
    )
    assert not any("\x1b" in line for line in on_a_terminal(cru_process, some, 160, "session", "stats"))
    lines = on_a_terminal(cru_process, some, 80, "session", "stats", "--by", "status", NO_COLOR="")
    assert "\x1b[36m█" in lines[1] + lines[2]
    for line in (lines[0], lines[3]):  # bold to its end
        assert re.fullmatch(r"\x1b\[1m[^\x1b]*\x1b\[0m", line)
    assert lines[4].startswith("\x1b[2m… columns omitted")
    piped = bare_cru("--vault", some.root, "--color", "session", "stats", "--by", "status").stdout
    assert "\x1b[" in piped
    assert "█" not in piped


def test_a_bar_is_scaled_to_the_largest_and_what_is_not_nothing_shows() -> None:
    assert block_bar(100, 100, 8) == "█" * 8
    assert block_bar(50, 100, 8) == "█" * 4
    assert block_bar(55, 100, 8) == "████▍"
    assert block_bar(1, 10**9, 8) == "▏"
    assert block_bar(0, 100, 8) == ""
    assert block_bar(0, 0, 8) == ""


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (59.4, "59s"),
        (59.6, "1m 0s"),
        (605, "10m 5s"),
        (4980, "1h 23m"),
        (273_600, "3d 4h"),
        (86_400 * 2000, "2,000d 0h"),
    ],
)
def test_a_duration_has_its_two_largest_parts(seconds: float, shown: str) -> None:
    assert short_duration(seconds) == shown


@for_each(
    ("number", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (999.4, "999"),
        (1000, "1.0k"),
        (3_449, "3.4k"),
        (99_949, "99.9k"),
        (99_951, "100k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_234_567, "1.2M"),
        (5 * 10**9, "5.0G"),
        (2 * 10**15, "2,000T"),
    ],
)
def test_a_narrow_table_has_two_or_three_digits_of_a_number(number: float, shown: str) -> None:
    assert short_number(number) == shown


def test_the_index_of_stats_is_the_index_of_list(some: Vault, cru: Cru) -> None:
    cru("session", "list")
    assert json.loads(cru("session", "stats", "--format", "json").stdout)["total"]["sessions"] == 2
    Path(some.root / "sessions" / "old" / "2026-10-01-sale.md").unlink()
    assert json.loads(cru("session", "stats", "--format", "json").stdout)["total"]["sessions"] == 1
