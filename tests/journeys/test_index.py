"""`cru index show` and `cru index rebuild`."""

from __future__ import annotations

import json
import shutil

import pytest
import toons

from crucible.vault.index.schema import TABLES, split_list
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import CLOCK, LIMITER, note, write
from tests.running import Cru


@pytest.fixture
def three(vault: Vault) -> Vault:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-21-clock", CLOCK)
    write(vault, "2026-10-01-sale", note("2026-10-01-sale", "See [[2026-11-21-limiter|it]].", branch="main"))
    write(vault, "undated", "# Nothing\n\nSee [[nowhere]].\n")
    return vault


def rows(cru: Cru, *args: str) -> list[dict[str, object]]:
    result = cru("index", "show", *args, "--format", "json")
    assert result.exit_code == 0, result.stderr
    found: list[dict[str, object]] = json.loads(result.stdout)[args[0]]
    return found


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_toon_that_reads_back(three: Vault, cru: Cru, table: str) -> None:
    text = cru("index", "show", table, "--format", "toon").stdout
    found = toons.loads(text)[table]
    assert found
    assert all(tuple(row) == TABLES[table] for row in found)
    assert text.startswith(f"schema: 1\n{table}[{len(found)}]{{{','.join(TABLES[table])}}}:\n")


@pytest.mark.parametrize("table", TABLES)
def test_every_format_tells_of_the_same_rows(three: Vault, cru: Cru, table: str) -> None:
    found = rows(cru, table)
    head, *lines = cru("index", "show", table, "--format", "text").stdout.splitlines()
    assert head.split() == list(TABLES[table])
    assert len(lines) == len(found) == len(toons.loads(cru("index", "show", table, "--format", "toon").stdout)[table])


def test_sessions_are_all_of_them_newest_first_with_lists_as_lists(three: Vault, cru: Cru) -> None:
    found = rows(cru, "sessions")
    assert [row["id"] for row in found] == [
        "2026-11-21-clock",
        "2026-11-21-limiter",
        "2026-10-01-sale",
        "undated",
    ]
    assert found[1]["participants"] == ["claude-code@2.1.197", "helper"]
    assert found[1]["tags"] == []
    assert found[3]["started"] is None


def test_an_item_with_a_comma_is_told_from_two(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", tags='["a, b", c]'))
    write(vault, "b", note("b", tags="[a, b, c]"))
    for command in (["index", "show", "sessions"], ["session", "list", "--where", "tags != null"]):
        shown = toons.loads(cru(*command, "--format", "toon").stdout)["sessions"]
        assert [split_list(row["tags"]) for row in shown] == [("a, b", "c"), ("a", "b", "c")]
        assert [row["tags"] for row in json.loads(cru(*command, "--json").stdout)["sessions"]] == [
            ["a, b", "c"],
            ["a", "b", "c"],
        ]


def test_callouts_say_where_they_stand(three: Vault, cru: Cru) -> None:
    (error,) = rows(cru, "callouts", "--where", "kind = error")
    assert error["path"] == "sessions/2026-11-21-limiter.md"
    assert LIMITER.split("\n")[int(str(error["line"])) - 1] == "> [!error]"
    assert error["text"] == "It failed."


def test_a_span_of_time_is_about_the_session(three: Vault, cru: Cru) -> None:
    november = rows(cru, "phases", "--since", "2026-11-01")
    assert {row["path"] for row in november} == {
        "sessions/2026-11-21-limiter.md",
        "sessions/2026-11-21-clock.md",
    }
    assert rows(cru, "phases", "--until", "2026-01-01") == []
    assert [row["target"] for row in rows(cru, "links", "--until", "2026-11-20")] == ["2026-11-21-limiter"]


def test_one_session_is_named_by_a_beginning(three: Vault, cru: Cru) -> None:
    assert [row["target"] for row in rows(cru, "links", "--session", "2026-10")] == ["2026-11-21-limiter"]
    assert [row["target"] for row in rows(cru, "links", "--session", "undated")] == ["nowhere"]
    assert [row["id"] for row in rows(cru, "sessions", "--session", "2026-11-21-c")] == ["2026-11-21-clock"]
    missing = cru("index", "show", "links", "--session", "x")
    assert (missing.exit_code, missing.stdout) == (1, "")
    assert cru("index", "show", "links", "--session", "2026").exit_code == 2


def test_conditions_order_and_limit_are_about_the_tables_own_columns(three: Vault, cru: Cru) -> None:
    found = rows(cru, "phases", "--where", "agent ~ claude", "--sort", "-line", "-n", "1")
    assert [row["agent"] for row in found] == ["claude-code@2.1.197"]
    lines = [row["line"] for row in rows(cru, "phases", "--sort", "-line")]
    assert lines == sorted(lines, key=lambda line: -int(str(line)))
    for wrong in (["--where", "title = x"], ["--sort", "title"]):
        refused = cru("index", "show", "phases", *wrong)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "phases: no column 'title'" in refused.stderr
        assert "tokens" in refused.stderr


def test_an_unknown_table_or_format_is_refused(three: Vault, cru: Cru) -> None:
    for wrong in (["tools"], ["links", "--format", "paths"], []):
        assert cru("index", "show", *wrong).exit_code == 2


def test_a_note_cannot_forge_a_row_or_steer_the_terminal(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", "> [!error]\n> one\n> two \x1b[31mred\x1b[0m\u2028three\n"))
    _, line = cru("index", "show", "callouts", "--format", "text").stdout.splitlines()
    assert "one⏎two" in line
    for format_ in ("text", "toon"):
        assert "\x1b" not in cru("index", "show", "callouts", "--format", format_).stdout


def test_what_could_not_be_read_is_said_whatever_the_table(three: Vault, cru: Cru) -> None:
    (three.root / "sessions" / "gone.md").symlink_to(three.root / "nowhere.md")
    for table in TABLES:
        assert "sessions/gone.md:1: unreadable-note: " in cru("index", "show", table, "--since", "1d").stderr
    (gone,) = rows_saying(cru, "unreadable != null")
    assert gone["id"] == "gone"


def rows_saying(cru: Cru, condition: str) -> list[dict[str, object]]:
    return rows(cru, "sessions", "--where", condition)


def test_rebuilding_says_how_many_and_changes_no_answer(three: Vault, cru: Cru) -> None:
    before = {table: cru("index", "show", table).stdout for table in TABLES}
    again = cru("index", "rebuild")
    assert (again.exit_code, again.stdout, again.stderr) == (0, "4 sessions\n", "")
    shutil.rmtree(three.root / ".crucible" / "index")
    assert cru("index", "rebuild").stdout == "4 sessions\n"
    assert {table: cru("index", "show", table).stdout for table in TABLES} == before


def test_rebuilding_reads_every_note_anew(three: Vault, cru: Cru) -> None:
    cru("session", "list")
    index = three.root / ".crucible" / "index"
    for shard in index.rglob("*"):
        if shard.is_file() and b"2026-10-01-sale" in shard.read_bytes():
            shard.write_bytes(shard.read_bytes().replace(b"2026-10-01-sale", b"2026-10-01-lies"))
    assert cru("index", "rebuild").stdout == "4 sessions\n"
    assert "2026-10-01-sale" in cru("session", "list").stdout
    assert "2026-10-01-lies" not in cru("index", "show", "sessions").stdout


def test_a_folder_that_cannot_be_walked_exits_3(
    three: Vault, cru: Cru, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shutil.rmtree(three.root / "sessions")
    (three.root / "sessions").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    for command in (["rebuild"], ["show", "links"]):
        result = cru("index", *command)
        assert result.exit_code == 3
        assert "points outside the vault" in result.stderr
