from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import toons

from crucible.documents.session.session import Status
from crucible.vault.index.query import STATUSES
from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.journeys.notes import CLOCK, LIMITER, note, write
from tests.running import Cru

COLUMNS = (  # noqa: SIM905 - as the specification lists them
    "id title project status started ended duration_s participants channel model tokens tokens_cached phases "
    "tool_calls failures decisions errors users parent path problems"
).split()


@pytest.fixture
def two(vault: Vault) -> Vault:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-21-clock", CLOCK)
    write(vault, "old/2026-10-01-sale", note("2026-10-01-sale", started="2026-10-01T08:00:00Z", status="paused"))
    return vault


def test_the_table_shows_id_status_start_and_participants_newest_first(two: Vault, cru: Cru) -> None:
    result = cru("session", "list")
    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["id", "status", "started", "participants"],
        ["2026-11-21-limiter", "completed", "2026-11-21T20:26:47Z", "claude-code@2.1.197,", "helper"],
        ["2026-10-01-sale", "paused", "2026-10-01T08:00:00Z", "-"],
    ]
    assert "\x1b" not in result.stdout


def test_colours_are_asked_for_or_left_out(two: Vault, bare_cru: Cru) -> None:
    assert "\x1b[" in bare_cru("--vault", two.root, "--color", "session", "list").stdout
    assert "\x1b[" not in bare_cru("--vault", two.root, "--no-color", "session", "list").stdout


def test_a_json_row_has_every_column_in_order(two: Vault, cru: Cru) -> None:
    rows = json.loads(cru("session", "list", "--format", "json").stdout)["sessions"]
    assert [list(row) for row in rows] == [COLUMNS, COLUMNS]
    assert rows[0] == {
        "id": "2026-11-21-limiter",
        "title": "Add a rate limiter",
        "project": "shop",
        "status": "completed",
        "started": "2026-11-21T20:26:47Z",
        "ended": "2026-11-21T20:36:52Z",
        "duration_s": 605,
        "participants": ["claude-code@2.1.197", "helper"],
        "channel": "dev",
        "model": "claude-opus-4-8",
        "tokens": 1944,
        "tokens_cached": 6000,
        "phases": 2,
        "tool_calls": 2,
        "failures": 1,
        "decisions": 1,
        "errors": 1,
        "users": 1,
        "parent": None,
        "path": "sessions/2026-11-21-limiter.md",
        "problems": 0,
    }


def test_what_is_asked_about_is_shown_after_the_columns(two: Vault, cru: Cru) -> None:
    asked = ["--where", "branch = null", "--sort", "tags", "--where", "id != x"]
    rows = json.loads(cru("session", "list", *asked, "--format", "json").stdout)["sessions"]
    assert [list(row) for row in rows] == [[*COLUMNS, "tags", "branch"]] * 2
    assert rows[0]["tags"] == []
    toon = cru("session", "list", *asked, "--format", "toon").stdout
    assert toon.startswith(f"schema: 1\nsessions[2]{{{','.join(COLUMNS)},tags,branch}}:\n")


@pytest.mark.parametrize("limit", ["9" * 30, str(2**63)])
def test_a_limit_beyond_all_numbers_is_no_limit(two: Vault, cru: Cru, limit: str) -> None:
    for more in ([], ["--sort", "id"]):
        rows = json.loads(cru("session", "list", "-n", limit, *more, "--format", "json").stdout)["sessions"]
        assert len(rows) == 2
    assert len(toons.loads(cru("index", "show", "sessions", "-n", limit, "--format", "toon").stdout)["sessions"]) == 3


def test_toon_is_one_table_and_reads_back(two: Vault, cru: Cru) -> None:
    text = cru("session", "list", "--format", "toon").stdout
    assert text.startswith("schema: 1\nsessions[2]{id,title,")
    rows = toons.loads(text)["sessions"]
    assert [row["id"] for row in rows] == ["2026-11-21-limiter", "2026-10-01-sale"]


def test_paths_are_files_that_are_there(two: Vault, cru: Cru) -> None:
    paths = cru("session", "list", "--format", "paths").stdout.splitlines()
    assert len(paths) == 2
    assert all(Path(path).is_file() for path in paths)


@for_each(
    ("options", "found"),
    [
        (["--status", "paused"], ["2026-10-01-sale"]),
        (["--agent", "claude-code"], ["2026-11-21-limiter"]),
        (["--agent", "claude-code@2.1.197"], ["2026-11-21-limiter"]),
        (["--agent", "claude-code@1"], []),
        (["--channel", "ops"], ["2026-11-21-limiter"]),
        (["--channel", "none"], []),
        (["--model", "opus"], ["2026-11-21-limiter"]),
        (["--project", "shop"], ["2026-11-21-limiter"]),
        (["--since", "2026-11-21"], ["2026-11-21-limiter"]),
        (["--until", "2026-11-01"], ["2026-10-01-sale"]),
        (["--limit", "1"], ["2026-11-21-limiter"]),
        (["-n", "1"], ["2026-11-21-limiter"]),
        (["--where", "tokens > 1_900"], ["2026-11-21-limiter"]),
        (["--where", "tokens = null"], ["2026-10-01-sale"]),
        (["--where", "status != paused", "--where", "id ~ sale"], []),
        (["--where", "participants = helper"], ["2026-11-21-limiter"]),
        (["--where", "started < 2026-11-01"], ["2026-10-01-sale"]),
        (["--sort", "started"], ["2026-10-01-sale", "2026-11-21-limiter"]),
        (["--sort", "-Tokens", "-n", "1"], ["2026-11-21-limiter"]),
        (["--children"], ["2026-11-21-clock", "2026-11-21-limiter", "2026-10-01-sale"]),
    ],
)
def test_a_filter_narrows_the_list(two: Vault, cru: Cru, options: list[str], found: list[str]) -> None:
    rows = json.loads(cru("session", "list", *options, "--format", "json").stdout)["sessions"]
    assert [row["id"] for row in rows] == found


def test_a_limit_of_nothing_is_refused(vault: Vault, cru: Cru) -> None:
    done = cru("session", "list", "--limit", "0")
    assert done.exit_code == 2
    assert "0 is not in the range x>=1" in done.stderr


def test_an_unknown_format_or_status_is_refused(vault: Vault, cru: Cru) -> None:
    for wrong in (
        ["--format", "yaml"],
        ["--status", "done"],
        ["--since", "soon"],
        ["--limit", "-1"],
        ["--sort", "size"],
        ["--where", "size > 1"],
        ["--where", "tokens > many"],
        ["--null"],
    ):
        result = cru("session", "list", *wrong)
        assert result.exit_code == 2, wrong
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")


def test_an_unknown_column_is_answered_with_the_near_ones_and_all(two: Vault, cru: Cru) -> None:
    for wrong in (["--sort", "-token_used"], ["--where", "token_used > 5"]):
        said = cru("session", "list", *wrong).stderr
        assert "sessions: no column 'token_used'; did you mean tokens" in said
        assert "started, id, path, title" in said


def test_the_table_shows_what_it_was_sorted_and_filtered_by(two: Vault, cru: Cru) -> None:
    shown = cru("session", "list", "--sort", "-tokens", "--where", "title ~ a", "--where", "id != x").stdout
    assert [line.split()[:2] + line.split()[-1:] for line in shown.splitlines()] == [
        ["id", "status", "title"],
        ["2026-11-21-limiter", "completed", "limiter"],
        ["2026-10-01-sale", "paused", "2026-10-01-sale"],
    ]
    assert shown.splitlines()[0].split() == [
        "id",
        "status",
        "started",
        "participants",
        "tokens",
        "title",
    ]
    assert shown.splitlines()[1].split()[5] == "1944"
    assert shown.splitlines()[2].split()[4] == "-"


def test_the_statuses_that_can_be_asked_for_are_those_of_a_session() -> None:
    assert list(STATUSES) == [status.value for status in Status]


def test_what_started_in_the_same_second_comes_by_id(vault: Vault, cru: Cru) -> None:
    for name in ("b", "c", "a"):
        write(vault, name, note(name))
    write(vault, "n", "no start")
    write(vault, "m", "no start either")
    rows = json.loads(cru("session", "list", "--format", "json").stdout)["sessions"]
    assert [row["id"] for row in rows] == ["a", "b", "c", "m", "n"]


def test_an_item_with_a_comma_is_one_item(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", participants='["Ada, Countess", helper]'))
    (row,) = json.loads(cru("session", "list", "--format", "json").stdout)["sessions"]
    assert row["participants"] == ["Ada, Countess", "helper"]
    assert cru("session", "list").stdout.splitlines()[1].endswith("Ada, Countess, helper")


def test_an_empty_vault_is_an_empty_list(vault: Vault, cru: Cru) -> None:
    assert json.loads(cru("session", "list", "--json").stdout) == {"schema": 1, "sessions": []}
    assert cru("session", "list").exit_code == 0


def test_what_cannot_be_read_is_a_row_with_a_problem(vault: Vault, cru: Cru) -> None:
    (vault.root / "sessions" / "2026-01-01-gone.md").symlink_to(vault.root / "nowhere.md")
    write(vault, "2026-01-02-bytes", b"---\nstatus: \xff\n")
    write(vault, "2026-01-03-bare", "no frontmatter")
    result = cru("session", "list", "--format", "json")
    rows = {row["id"]: row["problems"] for row in json.loads(result.stdout)["sessions"]}
    assert set(rows) == {"2026-01-01-gone", "2026-01-02-bytes", "2026-01-03-bare"}
    assert all(rows.values())
    assert "2026-01-01-gone" in result.stderr


@pytest.mark.parametrize("options", [["--status", "failed"], ["-n", "1"], ["--since", "2026-11-01"]])
def test_no_filter_hides_a_note_that_cannot_be_read(two: Vault, cru: Cru, options: list[str]) -> None:
    (two.root / "sessions" / "gone.md").symlink_to(two.root / "nowhere.md")
    for _ in range(2):
        said, *rest = cru("session", "list", *options).stderr.splitlines()
        assert said.startswith("sessions/gone.md:1: unreadable-note: ")
        assert rest in ([], ["No sessions match."])


def test_a_note_cannot_steer_the_terminal(vault: Vault, cru: Cru) -> None:
    write(
        vault,
        "2026-01-02-evil",
        note("2026-01-02-evil", participants='["a\\e[2Jb\\a"]', status='"\\e[31mred"'),
    )
    for format_ in ("text", "toon", "paths"):
        assert "\x1b" not in cru("session", "list", "--format", format_).stdout
    assert "\\u001b[2J" in cru("session", "list", "--format", "json").stdout


def test_no_vault_says_how_to_get_one(bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = bare_cru("session", "list")
    assert result.exit_code == 1
    assert "cru init" in result.stderr


def test_the_vault_is_named_by_the_environment_or_found_above(
    two: Vault, bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_environment = bare_cru("session", "list", env={"CRUCIBLE_VAULT": str(two.root)})
    assert "2026-11-21-limiter" in by_environment.stdout
    monkeypatch.chdir(two.root / "sessions" / "old")
    assert bare_cru("session", "list").stdout == by_environment.stdout


def test_an_unknown_setting_is_named_and_harmless(two: Vault, bare_cru: Cru) -> None:
    (two.root / ".crucible" / "config.toml").write_text("colour = 1\n")
    result = bare_cru("--vault", two.root, "session", "list")
    assert result.exit_code == 0
    assert "config.toml:1: unknown setting 'colour'" in result.stderr


_FORGED = "x\\n2026-01-01-fake  completed\\u2028y\\u0085z\\rw"


def test_a_note_cannot_forge_a_row_of_the_table(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", status=f'"{_FORGED}"', participants=f'["{_FORGED}"]'))
    shown = cru("session", "list").stdout
    assert len(shown.splitlines()) == 2
    assert "x⏎2026-01-01-fake" in shown


@pytest.mark.skipif(os.name == "nt", reason="no such file names")
def test_a_file_name_with_a_newline_forges_neither_a_row_nor_a_path(vault: Vault, cru: Cru) -> None:
    write(vault, "a\n2026-01-01-fake", note("a"))
    write(vault, "b", note("b"))
    assert len(cru("session", "list").stdout.splitlines()) == 3
    paths = cru("session", "list", "--format", "paths")
    assert paths.stdout == f"{vault.root / 'sessions' / 'b.md'}\n"
    assert paths.stderr == "sessions/a⏎2026-01-01-fake.md:1: unprintable-path: skipped, it contains a line break\n"
    assert paths.exit_code == 3


ODD = ["a b", "it's", '"q"', "new\nline", "$(x)", "\x1b[31mred", "ü☃", "-n"]


def pipe(output: bytes, *command: str | Path, cwd: Path) -> bytes:
    """What a real program prints when it is given this."""
    return subprocess.run([*map(str, command)], input=output, cwd=cwd, capture_output=True, check=True).stdout


def files_of(nul_ended: bytes) -> list[str]:
    *paths, rest = nul_ended.split(b"\0")
    assert rest == b""
    return sorted(map(os.fsdecode, paths))


@pytest.fixture
def odd(vault: Vault) -> Vault:
    for name in ODD:
        write(vault, name, note("x", "the needle"))
    return vault


@pytest.mark.skipif(os.name == "nt", reason="no such file names")
def test_paths_ended_by_nul_go_whole_through_xargs(odd: Vault, cru: Cru) -> None:
    listed = cru("session", "list", "--format", "paths", "-0")
    assert (listed.exit_code, listed.stderr) == (0, "")
    whole = sorted(str(odd.root / "sessions" / f"{name}.md") for name in ODD)
    assert files_of(listed.stdout_bytes) == whole
    found = pipe(listed.stdout_bytes, "xargs", "-0", "grep", "-lZ", "needle", "--", cwd=odd.root)
    assert files_of(found) == whole


@pytest.mark.skipif(os.name == "nt", reason="no such file names")
def test_a_path_that_is_no_utf8_is_whole_between_nuls(vault: Vault, cru: Cru) -> None:
    path = os.path.join(os.fsencode(vault.root), b"sessions", b"by\xffte.md")
    with open(path, "wb") as file:
        file.write(note("x").encode())
    assert cru("session", "list", "--format", "paths", "--null").stdout_bytes == path + b"\0"
    lines = cru("session", "list", "--format", "paths")
    assert (lines.exit_code, lines.stdout) == (3, "")
    for format_ in ("json", "toon", "text"):
        assert cru("session", "list", "--format", format_).exit_code == 0


@pytest.mark.skipif(os.name == "nt", reason="no xargs")
def test_no_session_is_no_path(two: Vault, cru: Cru) -> None:
    for more in ([], ["-0"]):
        listed = cru("session", "list", "--project", "none", "--format", "paths", *more)
        assert (listed.exit_code, listed.stdout_bytes, listed.stderr) == (0, b"", "")


@pytest.mark.skipif(os.name == "nt", reason="no xargs")
def test_lines_of_paths_go_through_xargs(two: Vault, cru: Cru) -> None:
    listed = cru("session", "list", "--format", "paths").stdout_bytes
    found = pipe(listed, "xargs", "grep", "-lZ", "Token bucket", cwd=two.root)
    assert files_of(found) == [str(two.root / "sessions" / "2026-11-21-limiter.md")]


@pytest.mark.skipif(shutil.which("rg") is None, reason="no ripgrep")
def test_paths_go_through_xargs_to_ripgrep(odd: Vault, cru: Cru) -> None:
    listed = cru("session", "list", "--format", "paths", "-0").stdout_bytes
    found = pipe(listed, "xargs", "-0", "rg", "--files-with-matches", "-0", "needle", "--", cwd=odd.root)
    assert files_of(found) == files_of(listed)


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_paths_go_to_git_add(odd: Vault, cru: Cru) -> None:
    write(odd, "older", note("older", started="2020-01-01T00:00:00Z"))
    pipe(b"", "git", "init", "-q", cwd=odd.root)
    listed = cru("session", "list", "--since", "2026-01-01", "--format", "paths", "-0").stdout_bytes
    pipe(listed, "git", "add", "--pathspec-from-file=-", "--pathspec-file-nul", cwd=odd.root)
    staged = pipe(b"", "git", "diff", "--cached", "--name-only", "-z", cwd=odd.root)
    assert files_of(staged) == sorted(f"sessions/{name}.md" for name in ODD)


@pytest.mark.parametrize("format_", ["text", "json", "paths"])
def test_a_sessions_folder_that_cannot_be_walked_is_named_and_exits_3(
    vault: Vault, cru: Cru, tmp_path: Path, format_: str
) -> None:
    (vault.root / "sessions").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (vault.root / "sessions").symlink_to(tmp_path / "elsewhere")
    result = cru("session", "list", "--format", format_)
    assert result.exit_code == 3
    assert "points outside the vault" in result.stderr
    (vault.root / "sessions").unlink()
    (vault.root / "sessions").write_text("a file")
    assert cru("session", "list", "--format", format_).exit_code == 3


def test_a_note_that_cannot_be_read_leaves_the_exit_code_0(vault: Vault, cru: Cru) -> None:
    (vault.root / "sessions" / "gone.md").symlink_to(vault.root / "nowhere.md")
    assert cru("session", "list").exit_code == 0


def test_asking_for_colours_wins_over_no_color(two: Vault, bare_cru: Cru) -> None:
    for command in (["list"], ["show", "2026-11-21-limiter"]):
        result = bare_cru("--vault", two.root, "--color", "session", *command, env={"NO_COLOR": "1"})
        assert "\x1b[" in result.stdout


def test_an_empty_vault_option_is_refused(two: Vault, bare_cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(two.root)
    result = bare_cru("--vault", "", "session", "list")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'--vault': it is empty" in result.stderr


def test_a_file_is_no_vault_and_init_is_not_the_way_out(bare_cru: Cru, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    result = bare_cru("--vault", tmp_path / "file", "session", "list")
    assert result.exit_code == 1
    assert "cru init" not in result.stderr
