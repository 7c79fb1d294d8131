from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crucible.commands.check.check_secrets import found_in_text
from crucible.core.secrets import Scanner
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault
from tests.conftest import ROOT
from tests.journeys.notes import note, write
from tests.running import Cru
from tests.trusting import trust
from tests.unit.clients.building import SESSION, assistant, dump, result, text, use, user

TOKEN = "ghp_" + "vK3xT9mQ2bL7wR5nZ8cJ4hF6dS1gP0yA3eUo"


def git(folder: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *args]
    return subprocess.run(command, cwd=folder, env={**os.environ, **env}, check=False, capture_output=True, text=True)


def commits(folder: Path) -> int:
    return len(git(folder, "log", "--oneline").stdout.splitlines())


@pytest.fixture(autouse=True)
def _a_cru_of_this_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `cru` on the path that runs this tree, as an installed one would."""
    script = tmp_path / "bin" / "cru"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m crucible "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def repository(vault: Vault) -> Path:
    git(vault.root, "init", "-q")
    git(vault.root, "add", ".")
    assert git(vault.root, "commit", "-qm", "vault").returncode == 0
    return vault.root


def test_a_commit_with_a_secret_is_refused_until_it_is_mended(repository: Path, vault: Vault, cru: Cru) -> None:
    result = cru("install", "git-hooks")
    assert result.stdout == f"installed in  {repository}/.git/hooks/pre-commit\n"
    path = write(vault, "a", note("a", f"fine\n{TOKEN}\n"))
    git(repository, "add", ".")
    refused = git(repository, "commit", "-qm", "x")
    assert refused.returncode == 1
    assert "sessions/a.md:11: secret: github-token\n" in refused.stderr
    assert "`allow` under `[secrets]`" in refused.stderr
    assert "nothing was committed" in refused.stderr
    assert TOKEN not in refused.stderr + refused.stdout
    assert commits(repository) == 1
    path.write_text(note("a", "fine\n[REDACTED:github-token]\n"))
    git(repository, "add", ".")
    assert git(repository, "commit", "-qm", "x").returncode == 0
    assert commits(repository) == 2


def test_an_allowed_secret_is_committed(repository: Path, vault: Vault, cru: Cru) -> None:
    cru("install", "git-hooks")
    (repository / ".crucible" / "config.toml").write_text(f'[secrets]\nallow = ["{TOKEN[:9]}"]\n')
    trust(repository)
    (repository / "a.md").write_text(TOKEN)
    git(repository, "add", "a.md")
    assert git(repository, "commit", "-qm", "x").returncode == 0


def test_committing_all_and_committing_a_path_are_looked_at_too(repository: Path, cru: Cru) -> None:
    """Git then works with an index of its own, which it names in the environment."""
    (repository / "a.md").write_text("x")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    cru("install", "git-hooks")
    (repository / "a.md").write_text(TOKEN)
    for where, args in (
        ("", ["-am", "x"]),
        ("", ["-m", "x", "a.md"]),
        ("sessions", ["-m", "x", "../a.md"]),
        ("sessions", ["-am", "x"]),
    ):
        refused = git(repository / where, "commit", "-q", *args)
        assert (refused.returncode, "a.md:1: secret" in refused.stderr) == (1, True), refused.stderr
    assert commits(repository) == 2


def test_the_first_commit_and_an_amended_one_are_looked_at(vault: Vault, cru: Cru) -> None:
    git(vault.root, "init", "-q")
    cru("install", "git-hooks")
    (vault.root / "a.md").write_text(TOKEN)
    git(vault.root, "add", ".")
    assert git(vault.root, "commit", "-qm", "x").returncode == 1
    git(vault.root, "rm", "-q", "--cached", "a.md")
    assert git(vault.root, "commit", "-qm", "x").returncode == 0
    git(vault.root, "add", ".")
    assert git(vault.root, "commit", "-q", "--amend", "-m", "y").returncode == 1


def test_a_vault_outside_git_has_no_hook_to_remove(cru: Cru) -> None:
    done = cru("install", "git-hooks", "--remove")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "The vault is not in a git repository, so there is no hook to remove.\n"


def test_a_vault_in_a_larger_repository_minds_its_own_files(tmp_path: Path) -> None:
    root = tmp_path / "code" / "docs" / "my notes"
    root.mkdir(parents=True)
    git(tmp_path / "code", "init", "-q")
    init_vault(root)
    assert Cru(Vault(root))("install", "git-hooks").exit_code == 0
    (tmp_path / "code" / "main.py").write_text(TOKEN)
    git(tmp_path / "code", "add", ".")
    assert git(tmp_path / "code", "commit", "-qm", "x").returncode == 0
    (root / "a.md").write_text(TOKEN)
    git(tmp_path / "code", "add", ".")
    refused = git(tmp_path / "code", "commit", "-qm", "x")
    assert refused.returncode == 1
    assert "a.md:1: secret: github-token" in refused.stderr


def test_a_worktree_looks_at_its_own_index_and_a_branch_without_a_vault_commits(
    repository: Path, cru: Cru, tmp_path: Path
) -> None:
    cru("install", "git-hooks")
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "tree" / "a.md").write_text(TOKEN)
    git(tmp_path / "tree", "add", ".")
    assert git(tmp_path / "tree", "commit", "-qm", "x").returncode == 1
    git(tmp_path / "tree", "checkout", "-q", "--orphan", "pages")
    git(tmp_path / "tree", "rm", "-rqf", ".")
    (tmp_path / "tree" / "page.html").write_text("<p>")
    git(tmp_path / "tree", "add", ".")
    assert git(tmp_path / "tree", "commit", "-qm", "x").returncode == 0


def test_a_scanner_that_cannot_run_refuses_the_commit(repository: Path, cru: Cru) -> None:
    cru("install", "git-hooks")
    (repository / ".crucible" / "config.toml").write_text('[secrets]\nallow = ["("]\n')
    trust(repository)
    (repository / "a.md").write_text("fine")
    git(repository, "add", "a.md")
    refused = git(repository, "commit", "-qm", "x")
    assert refused.returncode == 1
    assert "secrets could not be checked" in refused.stderr
    assert commits(repository) == 1


def test_another_hook_goes_on_and_gets_its_bytes_back(repository: Path, cru: Cru) -> None:
    path = repository / ".git" / "hooks" / "pre-commit"
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\necho theirs >&2\n")
    path.chmod(0o755)
    cru("install", "git-hooks")
    assert cru("install", "git-hooks").stdout == f"already in  {path}\n"
    (repository / "a.md").write_text("fine")
    git(repository, "add", ".")
    done = git(repository, "commit", "-qm", "x")
    assert done.returncode == 0
    assert "theirs\n" in done.stderr
    assert cru("install", "git-hooks", "--remove").stdout == f"removed from  {path}\n"
    assert path.read_text() == "#!/bin/sh\necho theirs >&2\n"
    assert cru("install", "git-hooks", "--remove").stdout == f"not in  {path}\n"


def test_a_folder_of_hooks_for_several_repositories_is_told(repository: Path, cru: Cru, tmp_path: Path) -> None:
    git(repository, "config", "core.hooksPath", str(tmp_path / "hooks"))
    result = cru("install", "git-hooks")
    assert result.stdout == f"installed in  {tmp_path}/hooks/pre-commit\n"
    assert "other repositories" in result.stderr


def test_a_vault_without_git_is_told_what_to_do(cru: Cru) -> None:
    result = cru("install", "git-hooks")
    assert result.exit_code == 1
    assert "git init" in result.stderr


def test_tracked_whole_events_are_committed_unless_a_value_of_theirs_is_secret(
    repository: Path, vault: Vault, cru: Cru
) -> None:
    cru("install", "git-hooks")
    folder = vault.root / ".crucible" / "flight" / "s"
    folder.mkdir(parents=True)
    head = '{"seq":1,"key":"db5afb8261d4e09c","time":null,"type":"milestone",'
    (folder / "events.jsonl").write_text(f'{head}"content":"done"}}\n')
    git(repository, "add", "-f", ".")
    assert git(repository, "commit", "-qm", "x").returncode == 0
    (folder / "events.jsonl").write_text(f'{head}"content":"done"}}\n{head}"content":"{TOKEN}"}}\n')
    git(repository, "add", "-f", ".")
    refused = git(repository, "commit", "-qm", "x")
    assert ".crucible/flight/s/events.jsonl:2: secret: github-token\n" in refused.stderr


def _transcript(folder: Path) -> Path:
    """A session about passwords in which none is told, and whose calls are named beside their results."""
    rows = [
        user("# Rotate the password\n\nTwo tests that now pass:\n- `TestTokens_RemoveAll`\n\nsession: "),
        assistant(text("Passwords: I look where they are read.\n\n## Secret\n\n--- PASS: TestTokens (0.00s)")),
        assistant(use("Bash", "call-1", command="grep -rn password")),
        result("auth/password_test.go:12:func TestPassword_Reset(t *testing.T) {", "call-1"),
        assistant(use("Bash", "call-2", command="git log -1 --format=%H # token")),
        result("8f3a9c1e2b4d5a6f7081923a4b5c6d7e8f901a2b", "call-2"),
        assistant(use("Bash", "call-3", command="go test ./auth -run Token")),
        result("--- PASS: TestToken/reset (0.00s)\nok  \tshop/auth\t0.4s", "call-3"),
        assistant(text("✅ **PASS** – all of them."), stop="end_turn"),
    ]
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(dump(rows))
    return path


def test_what_import_lets_pass_is_committed_and_what_a_human_adds_is_not(
    repository: Path, vault: Vault, cru: Cru, tmp_path: Path
) -> None:
    cru("install", "git-hooks")
    assert "new         1 session" in cru("import", "claude-code", _transcript(tmp_path)).stdout
    git(repository, "add", ".")
    done = git(repository, "commit", "-qm", "imported")
    assert done.returncode == 0, done.stderr + vault.note_paths()[0].read_text()
    (note_path,) = vault.note_paths()
    assert "REDACTED" not in note_path.read_text()
    for added in (f"\nthe key is {TOKEN}\n", "\nDB_PASSWORD=xzsWEHfBRJRH\n"):
        before = note_path.read_text()
        note_path.write_text(before + added)
        git(repository, "add", ".")
        refused = git(repository, "commit", "-qm", "typed")
        assert refused.returncode == 1
        assert "secret: " in refused.stderr
        note_path.write_text(before)


def test_a_heading_of_ours_is_not_read_with_what_stands_below_it() -> None:
    scanner, value = Scanner(), "aB3dE5gH7jK9mN1pQ3sT5vW7"
    session = f"---\ntype: session\n---\n\n## Rotate the api key\n\n{value}\n\n- `Bash show password` → {value}\n"
    assert not list(found_in_text(scanner, "a.md", session))
    assert list(found_in_text(scanner, "a.md", f"## Api key\n\n{value}\n"))
    ((found, last),) = found_in_text(scanner, "a.md", f"{session}token: {value}\n")
    assert (found.line, last) == (10, 10)
