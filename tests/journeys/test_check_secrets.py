from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from crucible.commands.check.check_secrets import check_secrets
from crucible.core.errors import SecretsError
from crucible.core.settings.settings import load_vault_settings
from crucible.vault.events.event_files import archive_folder
from crucible.vault.notes.vault import Vault
from tests.git_repositories import git
from tests.journeys.notes import LIMITER, note, write
from tests.running import Cru
from tests.trusting import trust
from tests.unit.commands.imports.places import DATA
from tests.unit.integrations.hooks.playing import Client

TRANSCRIPTS = DATA / "transcripts"

GITHUB = "ghp_" + "vK3xT9mQ2bL7wR5nZ8cJ4hF6dS1gP0yA3eUo"
"""No token of anybody's; written in two parts, so that no scanner of repositories takes it for one."""
KEY = (
    "-----BEGIN PRIVATE"
    " KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"
    "-----END PRIVATE KEY-----"
)


def _found(cru: Cru, *args: str) -> list[str]:
    result = cru("session", "check", "--secrets", *args)
    assert result.exit_code == (3 if result.stdout else 0)
    assert GITHUB not in result.output
    return result.stdout.splitlines()


def test_a_vault_without_a_secret_has_no_finding(vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    result = cru("session", "check", "--secrets")
    assert (result.stdout, result.stderr, result.exit_code) == ("", "no secrets\n", 0)


def test_a_secret_is_named_by_line_and_rule_and_never_told(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", f"one\n\ntwo {GITHUB} three\n"))
    result = cru("session", "check", "--secrets")
    assert result.stdout == "sessions/a.md:12: secret: github-token\n"
    assert result.stderr == "1 secret\n"
    assert result.exit_code == 3


def test_frontmatter_titles_and_bytes_that_are_no_text_are_looked_at(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", channel=f'"{GITHUB}"'))
    write(vault, "b", f"\ufeff# {GITHUB}\r\n".encode() + b"\xff\xfe\r\n" + GITHUB.encode())
    write(vault, "c", f"x\n{GITHUB}\n".encode("utf-16"))
    assert _found(cru) == [
        "sessions/a.md:6: secret: github-token",
        "sessions/b.md:1: secret: github-token",
        "sessions/b.md:3: secret: github-token",
        "sessions/c.md:2: secret: github-token",
    ]


def test_a_secret_in_a_files_name_is_named_without_it(vault: Vault, cru: Cru) -> None:
    write(vault, f"use-{GITHUB}-now", note("a"))
    assert _found(cru) == ["sessions/use-[REDACTED:github-token]-now.md:1: secret-in-name: github-token"]


def test_a_private_key_of_several_lines_is_one_finding_where_it_begins(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", f"text\n{KEY}\nmore\n"))
    assert _found(cru) == ["sessions/a.md:11: secret: private-key"]


def test_what_crucible_keeps_beside_the_notes_is_looked_at(vault: Vault, cru: Cru) -> None:
    own = vault.root / ".crucible"
    line = json.dumps({"type": "tool", "text": f"say {GITHUB}"}) + "\n"
    for name in ("flight/s/events.jsonl", "memory/deep/er.jsonl", "tasks/t.jsonl", "spool/x/y.jsonl"):
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text("{}\n" + line)
    (own / "templates" / "t.md").write_text(GITHUB)
    (vault.root / "elsewhere.md").write_text(GITHUB)
    (own / "cache").mkdir(exist_ok=True)
    (own / "cache" / "x").write_text(GITHUB)
    assert [line.partition(": ")[0] for line in _found(cru)] == [
        ".crucible/flight/s/events.jsonl:2",
        ".crucible/memory/deep/er.jsonl:2",
        ".crucible/spool/x/y.jsonl:2",
        ".crucible/tasks/t.jsonl:2",
        ".crucible/templates/t.md:1",
        "elsewhere.md:1",
    ]


def test_an_archive_is_looked_at_too(vault: Vault, cru: Cru) -> None:
    from crucible.core import zstd

    lines = [{"archive": 1, "records": 1, "name": GITHUB}, {"seq": 1, "key": "0" * 16, "text": GITHUB}]
    data = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    folder = archive_folder(vault.root)
    folder.mkdir(parents=True)
    (folder / "s.jsonl.zst").write_bytes(zstd.compress(data))
    (folder / "torn.jsonl.zst").write_bytes(b"(\xb5/\xfdnothing")
    named = [line.split(": ")[:2] for line in _found(cru)]
    assert named == [
        [".crucible/archive/s.jsonl.zst:1", "secret"],
        [".crucible/archive/s.jsonl.zst:2", "secret"],
        [".crucible/archive/torn.jsonl.zst:1", "unreadable"],
    ]


def test_with_an_id_only_that_session_and_its_events_are_looked_at(vault: Vault, cru: Cru) -> None:
    for name in ("a", "b"):
        write(vault, name, note(name, GITHUB))
        (vault.root / ".crucible" / "flight" / name).mkdir(parents=True)
        (vault.root / ".crucible" / "flight" / name / "events.jsonl").write_text(GITHUB)
    assert _found(cru, "b") == [
        ".crucible/flight/b/events.jsonl:1: secret: github-token",
        "sessions/b.md:10: secret: github-token",
    ]


def test_json_gives_the_same_facts(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", GITHUB))
    result = cru("session", "check", "--secrets", "--format", "json")
    fact = {"path": "sessions/a.md", "line": 10, "code": "secret", "message": "github-token"}
    assert json.loads(result.stdout)["problems"] == [fact]
    assert result.exit_code == 3
    problems = cru("session", "check", "--format", "json")
    assert json.loads(problems.stdout)["problems"] == []


def test_a_mark_is_no_finding(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", "password: [REDACTED:named-password] and [REDACTED:github-token]\n"))
    assert _found(cru) == []


def test_allowed_secrets_stay_and_own_rules_count(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", f"{GITHUB}\nacme-1234\n"))
    config = vault.root / ".crucible" / "config.toml"
    config.write_text(f'[secrets]\nallow = ["^{GITHUB[:12]}"]\n[secrets.rules]\nacme = "acme-[0-9]+"\n')
    trust(vault.root)
    assert [line for line in _found(cru) if line.startswith("sessions")] == ["sessions/a.md:11: secret: acme"]


def test_a_rule_that_cannot_be_used_ends_the_check_as_failed(vault: Vault, cru: Cru) -> None:
    (vault.root / ".crucible" / "config.toml").write_text('[secrets]\nallow = ["("]\n')
    trust(vault.root)
    assert cru("session", "check", "--secrets").exit_code == 1


def test_a_note_that_cannot_be_read_is_a_finding(vault: Vault, cru: Cru) -> None:
    (vault.root / "sessions" / "gone.md").symlink_to(vault.root / "nowhere.md")
    (vault.root / "sessions" / "out.md").symlink_to("/etc/passwd")
    result = cru("session", "check", "--secrets")
    assert [line.split(": ")[:2] for line in result.stdout.splitlines()] == [
        ["sessions/gone.md:1", "unreadable"],
        ["sessions/out.md:1", "unreadable"],
    ]
    assert result.stderr == "no secrets, 2 unreadable\n"
    assert result.exit_code == 3


def test_progress_counts_every_file(vault: Vault) -> None:
    write(vault, "a", note("a"))
    told: list[tuple[int, int]] = []
    check_secrets(vault, progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == list(range(len(told)))
    assert {total for _, total in told} == {len(told) - 1}


def test_looking_for_secrets_changes_nothing(vault: Vault, cru: Cru) -> None:
    path = write(vault, "a", note("a", GITHUB))
    before = path.read_bytes()
    _found(cru)
    assert path.read_bytes() == before


@pytest.mark.parametrize("args", [["--staged"], ["--secrets", "--staged", "a"]])
def test_staged_goes_only_with_secrets_and_without_an_id(cru: Cru, args: list[str]) -> None:
    assert cru("session", "check", *args).exit_code == 2


# --- what is staged --------------------------------------------------------------------------------------------------


def _staged(cru: Cru) -> list[str]:
    result = cru("session", "check", "--secrets", "--staged")
    assert result.exit_code == (3 if result.stdout else 0), result.stderr
    assert GITHUB not in result.output
    return result.stdout.splitlines()


@pytest.fixture
def repository(vault: Vault) -> Path:
    git(vault.root, "init", "-q")
    git(vault.root, "add", ".")
    git(vault.root, "commit", "-qm", "vault")
    return vault.root


def test_the_staged_bytes_count_and_not_the_files(repository: Path, cru: Cru) -> None:
    path = repository / "sessions" / "a.md"
    path.write_text(f"one\n{GITHUB}\n")
    git(repository, "add", ".")
    path.write_text("clean\n")
    assert _staged(cru) == ["sessions/a.md:2: secret: github-token"]
    git(repository, "add", ".")
    path.write_text(f"{GITHUB}\n")
    assert _staged(cru) == []


def test_only_added_lines_count(repository: Path, cru: Cru) -> None:
    path = repository / "a.txt"
    path.write_text(f"one\n{GITHUB}\nthree\nfour\nfive\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "too late")
    path.write_text(f"zero\none\n{GITHUB}\nthree\n--- a/x\n+++ b/x\n@@ -1 +1 @@\nfive\n{GITHUB}")
    git(repository, "add", ".")
    assert _staged(cru) == ["a.txt:9: secret: github-token"]


def test_a_line_without_an_end_is_an_added_line_when_it_gets_one(repository: Path, cru: Cru) -> None:
    for name in ("a", "b"):
        (repository / name).write_text("x")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    (repository / "a").write_text(f"x\ny {GITHUB}")
    (repository / "b").write_text(f"x {GITHUB}\n")
    git(repository, "add", ".")
    assert _staged(cru) == ["a:2: secret: github-token", "b:1: secret: github-token"]


def test_a_key_counts_when_only_lines_of_its_middle_are_new(repository: Path, cru: Cru) -> None:
    path = repository / "key.txt"
    path.write_text(KEY)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    lines = KEY.split("\n")
    path.write_text("\n".join([*lines[:2], lines[1][::-1], *lines[2:]]))
    git(repository, "add", ".")
    assert _staged(cru) == ["key.txt:3: secret: private-key"]


def test_odd_names_kinds_of_files_and_the_users_own_settings_change_nothing(repository: Path, cru: Cru) -> None:
    (repository / "plain.bin").write_text("a\nb\n")
    (repository / "turns").write_text("x")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    for name in ("ä ö.txt", "tab\there", 'quote"d', "new\nline"):
        (repository / name).write_text(GITHUB)
    (repository / "wide.txt").write_bytes(f"a\n{GITHUB}".encode("utf-16"))
    (repository / "plain.bin").write_bytes(b"a\nb\n\0\1\2" + GITHUB.encode() + b"\n")
    (repository / "turns").unlink()
    (repository / "turns").symlink_to(GITHUB)
    (repository / ".gitattributes").write_text("plain.bin -diff\n*.txt diff=x\n")
    for key, value in (
        ("diff.x.textconv", "true"),
        ("diff.external", "true"),
        ("diff.noprefix", "true"),
        ("diff.context", "9"),
        ("color.ui", "always"),
        ("diff.orderFile", "order"),
        ("diff.relative", "true"),
        ("diff.submodule", "log"),
    ):
        git(repository, "config", key, value)
    (repository / "order").write_text("wide*\n*.bin\n")
    git(repository, "add", ".")
    assert sorted(line.partition(": ")[0] for line in _staged(cru)) == [
        "new⏎line:1",
        "plain.bin:3",
        'quote"d:1',
        "tab\there:1",
        "turns:1",
        "wide.txt:2",
        "ä ö.txt:1",
    ]


def test_a_staged_name_that_holds_a_secret_counts(repository: Path, cru: Cru) -> None:
    (repository / f"{GITHUB}.txt").write_text("x")
    git(repository, "add", ".")
    assert _staged(cru) == ["[REDACTED:github-token].txt:1: secret-in-name: github-token"]


def test_of_a_larger_repository_only_the_vaults_files_count(tmp_path: Path) -> None:
    from crucible.vault.notes.init_vault import init_vault

    root = tmp_path / "code" / "notes[1]"
    root.mkdir(parents=True)
    git(tmp_path / "code", "init", "-q")
    init_vault(root)
    cru = Cru(Vault(root))
    (tmp_path / "code" / "main.py").write_text(GITHUB)
    (tmp_path / "code" / "notes1").write_text(GITHUB)
    (root / "a.md").write_text(GITHUB)
    git(tmp_path / "code", "add", ".")
    assert _staged(cru) == ["a.md:1: secret: github-token"]


def test_a_submodule_and_a_removed_file_are_no_text(repository: Path, cru: Cru, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-qm", "x", "--allow-empty")
    (repository / "bad").write_text(GITHUB)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    (repository / "bad").unlink()
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
    (repository / "z").write_text(GITHUB)
    git(repository, "add", ".")
    assert _staged(cru) == ["z:1: secret: github-token"]


def test_without_a_repository_the_check_fails_and_says_so(vault: Vault, cru: Cru) -> None:
    result = cru("session", "check", "--secrets", "--staged")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "git rev-parse" in result.stderr


def test_without_git_the_check_fails(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from crucible.commands.check.check_secrets import check_staged

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SecretsError, match="git: "):
        check_staged(Vault(vault.root, load_vault_settings(vault.root)), vault.root)


def test_a_repository_that_the_vault_is_not_in_is_refused(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    git(other, "init", "-q")
    result = cru(
        "session",
        "check",
        "--secrets",
        "--staged",
        env={"GIT_DIR": os.fspath(other / ".git"), "GIT_WORK_TREE": os.fspath(other)},
    )
    assert result.exit_code == 1
    assert "not in the git repository" in result.stderr


def test_what_to_do_is_said(repository: Path, cru: Cru) -> None:
    (repository / "a").write_text(GITHUB)
    git(repository, "add", ".")
    said = cru("session", "check", "--secrets", "--staged").stderr
    assert "`allow` under `[secrets]`" in said
    assert "replace the secret" in said


def test_whole_events_archives_and_spools_of_imported_sessions_have_no_finding(vault: Vault, cru: Cru) -> None:
    assert cru("import", str(TRANSCRIPTS)).exit_code == 0
    Client(vault.root, vault.root / "home").call("Stop", said="Done.", call="toolu_01A7bQ9xLk3mNp5RsTu8vWxY")
    assert [*archive_folder(vault.root).iterdir()]
    assert _found(cru) == []


def test_a_record_is_looked_at_value_by_value(vault: Vault, cru: Cru) -> None:
    folder = vault.root / ".crucible" / "flight" / "s"
    folder.mkdir(parents=True)
    hexed = "db5afb8261d4e09c"
    records = [
        {"key": hexed, "type": "x", "text": "one"},
        {"seq": 2, "key": hexed, "arguments": {"env": {"API_KEY": "x9Kq2mVtR7wPz4Lc"}}},
        {"seq": 3, "key": hexed, "password": "hunter2-and-more"},
        {"seq": 4, "key": GITHUB},
    ]
    lines = [json.dumps(record) for record in records] + ['{"text": "' + GITHUB]
    (folder / "events.jsonl").write_text("\n".join(lines))
    told = [line.removeprefix(".crucible/flight/s/events.jsonl:") for line in _found(cru)]
    assert told == [
        "2: secret: named-secret",
        "3: secret: named-secret",
        "4: secret: github-token",
        "5: secret: github-token",
    ]
