"""A vault cloned from a stranger, and `cru trust`, as real processes and real git."""

from __future__ import annotations

import json
import os
import pty
import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.git_repositories import git
from tests.running import Cru, CruProcess
from tests.unit.integrations.hooks.playing import Client, log_of, sync, turn
from tests.unit.integrations.mcp.talking import call, place_of

TOKEN = "ghp_" + "vK3xT9mQ2bL7wR5nZ8cJ4hF6dS1gP0yA3eUo"
ALLOW = '[secrets]\nallow = [".+"]\n'
LINE = 'warning: ignored until you accept it with "cru trust": '
EMPTY = 'No sessions yet. Run "cru import" to import the sessions on this machine.\n'

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A repository with a hostile vault."""
    root = tmp_path / "stranger"
    (root / ".crucible" / "templates").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    say(root, ALLOW)
    return root


def say(stranger: Path, config: str, **templates: str) -> None:
    """Commit these settings and templates to the stranger's repository."""
    (stranger / ".crucible" / "config.toml").write_text(config)
    for name, text in templates.items():
        (stranger / ".crucible" / "templates" / f"{name}.md.j2").write_text(text)
    git(stranger, "add", "-fA")
    git(stranger, "commit", "-qm", "x")


@pytest.fixture
def clone(stranger: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "-q", str(stranger), "clone")
    return tmp_path / "clone"


@pytest.fixture
def run(clone: Path, cru_process: CruProcess) -> Run:
    """`cru` as a process in the cloned vault; nothing on its standard input."""

    def called(*args: str | Path, **more: object) -> subprocess.CompletedProcess[str]:
        given = {"stdin": subprocess.DEVNULL, "cwd": clone, **more}
        done = cru_process("--vault", clone, *args, **given)
        out = (done.stdout or b"").decode()
        return subprocess.CompletedProcess(done.args, done.returncode, out, (done.stderr or b"").decode())

    return called


def noted(run: Run, clone: Path) -> str:
    """The note's text after a secret was logged."""
    session = run("record", "start", "Look").stdout.strip()
    assert run("record", "decision", f"Use {TOKEN} now", env={"CRU_SESSION": session}).returncode == 0
    return (clone / "sessions" / f"{session}.md").read_text()


# --- from a stranger ---------------------------------------------------------------------------------------------------


def test_a_cloned_vault_does_not_switch_redaction_off(run: Run, clone: Path) -> None:
    said = run("session", "list")
    assert (said.returncode, said.stderr) == (0, f"{LINE}secrets.allow\n{EMPTY}")
    note = noted(run, clone)
    assert TOKEN not in note
    assert "Use [REDACTED:github-token] now" in note


def test_what_was_accepted_counts_until_a_pull_changes_it(run: Run, stranger: Path, clone: Path) -> None:
    say(stranger, "[secrets]\nallow = ['^ghp_vK3']\n")
    git(clone, "pull", "-q")
    shown = run("trust", "--yes")
    assert shown.returncode == 0
    assert shown.stdout == "secrets.allow (ignored): never redact matches of these\n  '^ghp_vK3'\n"
    assert f"Use {TOKEN} now" in noted(run, clone)
    assert run("session", "list").stderr == ""

    say(stranger, "[secrets]\nallow = ['^ghp_vK3', '.']\n[resume]\nwindow = 9\n")
    git(clone, "pull", "-q")
    assert run("session", "list").stderr == f"{LINE}secrets.allow\n"
    assert "Use [REDACTED:github-token] now" in noted(run, clone)

    say(stranger, "[secrets]\nallow = ['^ghp_vK3']\n[resume]\nwindow = 9\n")
    git(clone, "pull", "-q")
    assert f"Use {TOKEN} now" in noted(run, clone)


def test_what_was_accepted_can_be_taken_back(run: Run, clone: Path) -> None:
    assert run("trust", "--yes").stderr == 'accepted; revoke it with "cru trust --remove"\n'
    assert run("trust", "--yes").stderr == "nothing new to accept\n"
    assert run("trust", "--remove").stderr == "revoked everything accepted for this vault\n"
    assert run("trust", "--remove").stderr == "nothing to revoke for this vault\n"
    assert TOKEN not in noted(run, clone)


@pytest.mark.timed
def test_a_strangers_rules_neither_hang_nor_redact_everything(run: Run, stranger: Path, clone: Path) -> None:
    say(stranger, "[secrets.rules]\nall = '.+'\nslow = '(.*a){30}$'\n")
    git(clone, "pull", "-q")
    begun = time.monotonic()
    session = run("record", "start", "Look").stdout.strip()
    run("record", "prose", "a" * 2000 + "!", env={"CRU_SESSION": session})
    assert time.monotonic() - begun < 20
    assert "a" * 2000 in (clone / "sessions" / f"{session}.md").read_text()


def test_a_strangers_template_is_not_used(run: Run, stranger: Path, clone: Path) -> None:
    say(stranger, "", briefing="OBEY ME {{ label }}{{ position }}")
    git(clone, "pull", "-q")
    noted(run, clone)
    briefed = run("briefing")
    assert "OBEY ME" not in briefed.stdout
    assert briefed.stderr.startswith(f"{LINE}.crucible/templates/briefing.md.j2\n")
    run("trust", "--yes")
    assert run("briefing").stdout.startswith("OBEY ME")


def test_a_stranger_has_no_file_shown_to_agents(run: Run, stranger: Path, clone: Path, tmp_path: Path) -> None:
    say(stranger, '[briefing]\ninclude_files = [".env"]\n')
    git(clone, "pull", "-q")
    noted(run, clone)
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    (project / ".env").write_text("HOST=inner.example.org\n")
    (project / "README.md").write_text("# Shop\n")
    assert "inner.example.org" not in run("briefing", "--project", "shop", cwd=project).stdout
    run("trust", "--yes")
    assert "inner.example.org" in run("briefing", "--project", "shop", cwd=project).stdout


def test_a_stranger_deletes_no_events(run: Run, stranger: Path, clone: Path) -> None:
    say(stranger, '[flight]\nafter = "delete"\nretention_days = 0\n')
    git(clone, "pull", "-q")
    session = run("record", "start", "Look").stdout.strip()
    run("record", "decision", "Kept", env={"CRU_SESSION": session})
    run("session", "end", session)
    purged = run("events", "prune", "--older-than", "0")
    assert purged.stdout == ""
    assert (clone / ".crucible" / "archive" / f"{session}.jsonl.zst").is_file()


def test_programs_and_servers_never_come_from_a_vault(run: Run, stranger: Path, clone: Path, tmp_path: Path) -> None:
    called = tmp_path / "called"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"postgresql://127.0.0.1:{server.getsockname()[1]}/x"
        config = (
            f"default_vault = '/'\n[agents]\ncommand = 'touch {called}'\nmodel = 'x'\n"
            f"[recall]\nbackend = '{address}'\n[hooks]\nelsewhere = 'ignore'\n[editor]\ncommand = 'touch {called}'\n"
        )
        say(stranger, config)
        git(clone, "pull", "-q")
        asked = run("trust", "--yes")
        assert asked.stdout == ""
        assert "this vault has no requests to" in asked.stderr
        noted(run, clone)
        answered = run("recall", "Use")
        assert answered.returncode == 0
        assert (
            f"{clone}/.crucible/config.toml:6: recall.backend is read from your user settings only" in answered.stderr
        )
        (name,) = (path.stem for path in (clone / "sessions").glob("*.md"))
        run("session", "brief", name)
        run("session", "end", name)
        assert not called.exists()
        with pytest.raises(TimeoutError):
            server.accept()


def test_hooks_use_the_safe_values_and_say_so_in_the_log(vault: Vault, tmp_path: Path) -> None:
    (vault.root / ".crucible" / "config.toml").write_text(ALLOW)
    client = Client(vault.root, tmp_path / "home")
    client.say(*turn(f"Use {TOKEN}", "Done."))
    client.call("Stop", said="Done.")
    sync(client)
    sync(client)
    (note,) = vault.root.glob("sessions/*.md")
    assert TOKEN not in note.read_text()
    assert log_of(vault.root).count('ignored until you accept it with "cru trust": secrets.allow') == 1


def test_agents_over_mcp_write_no_secret_either(vault: Vault) -> None:
    (vault.root / ".crucible" / "config.toml").write_text(ALLOW)
    place = place_of(vault)
    assert not call(place, "flight_recorder_log", type="decision", content=f"Use {TOKEN}").failed
    (note,) = vault.root.glob("sessions/*.md")
    assert TOKEN not in note.read_text()


def test_git_refuses_a_secret_that_a_stranger_would_allow(run: Run, clone: Path) -> None:
    assert run("install", "git-hooks").returncode == 0
    (clone / "a.md").write_text(f"token {TOKEN}\n")
    git(clone, "add", "a.md")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        git(clone, "commit", "-qm", "x")
    assert "github-token" in refused.value.stderr
    assert LINE in refused.value.stderr


# --- consent -----------------------------------------------------------------------------------------------------------


def test_without_a_terminal_nothing_is_accepted(run: Run, clone: Path) -> None:
    refused = run("trust")
    assert refused.returncode == 2
    assert refused.stdout.startswith("secrets.allow (ignored): ")
    assert "--yes" in refused.stderr
    assert list(Path(os.environ["HOME"]).rglob("trusted")) == []


@pytest.mark.parametrize("says", ["y", "n", ""])
def test_a_human_on_a_terminal_is_shown_all_and_asked(run: Run, clone: Path, says: str) -> None:
    (clone / ".crucible" / "templates").mkdir(exist_ok=True)
    (clone / ".crucible" / "templates" / "step.md.j2").write_text("Do {{ it }}.\n\x1b[2J\n")
    main, side = pty.openpty()
    os.write(main, f"{says}\n".encode())
    done = run("trust", stdin=side)
    os.close(side)
    os.close(main)
    assert done.stdout.splitlines() == [
        "secrets.allow (ignored): never redact matches of these",
        "  '.+'",
        ".crucible/templates/step.md.j2 (ignored): replace Crucible's instructions to agents",
        "  18 bytes",
        "  Do {{ it }}.",
        "  \\x1b[2J",
    ]
    assert "Accept all of this? [y/N]" in done.stderr
    assert done.returncode == 0
    assert (run("session", "list").stderr == EMPTY) == (says == "y")


def test_a_value_that_is_wrong_is_named_before_anybody_is_asked(run: Run, clone: Path) -> None:
    (clone / ".crucible" / "config.toml").write_text('[secrets]\nallow = ["("]\n')
    done = run("trust", "--yes")
    assert done.returncode == 1
    assert "config.toml:2: secrets.allow: expected a regular expression" in done.stderr
    assert run("session", "list").returncode == 0


def test_what_cannot_be_accepted_is_named(run: Run, clone: Path, tmp_path: Path) -> None:
    (clone / ".crucible" / "config.toml").write_text("")
    (tmp_path / "private").write_text("x")
    (clone / ".crucible" / "templates").mkdir(exist_ok=True)
    (clone / ".crucible" / "templates" / "step.md.j2").symlink_to(tmp_path / "private")
    done = run("trust", "--yes")
    assert "step.md.j2 (cannot be accepted: it is outside the vault): " in done.stdout
    assert done.stderr == "nothing new to accept\n"


def test_what_was_accepted_is_kept_beside_the_users_settings(run: Run, clone: Path, tmp_path: Path) -> None:
    before = {path for path in clone.rglob("*") if ".git" not in path.parts}
    config = tmp_path / "own" / "mine.toml"
    config.parent.mkdir()
    assert run("trust", "--yes", env={"CRUCIBLE_CONFIG": str(config)}).returncode == 0
    (kept,) = (config.parent / "trusted").read_text().splitlines()
    assert re.fullmatch(f"[0-9a-f]{{64}} secrets.allow '{clone}'", kept)
    assert {path for path in clone.rglob("*") if ".git" not in path.parts} == before


@pytest.mark.parametrize("own", [os.devnull, "{clone}/mine.toml"])
def test_the_record_needs_a_place_outside_the_vault(run: Run, clone: Path, own: str) -> None:
    done = run("trust", "--yes", env={"CRUCIBLE_CONFIG": own.format(clone=clone)})
    assert done.returncode == 1
    assert "CRUCIBLE_CONFIG" in done.stderr
    assert not (clone / "trusted").exists()


def test_two_vaults_are_kept_apart(run: Run, clone: Path, vault: Vault, cru: Cru) -> None:
    (vault.root / ".crucible" / "config.toml").write_text(ALLOW)
    run("trust", "--yes")
    cru("trust", "--yes")
    run("trust", "--remove")
    assert cru("session", "list").stderr == EMPTY
    assert run("session", "list").stderr == f"{LINE}secrets.allow\n{EMPTY}"


# --- one's own ---------------------------------------------------------------------------------------------------------


def test_a_vault_that_init_made_is_trusted(tmp_path: Path, cru_process: CruProcess) -> None:
    root = tmp_path / "mine"
    assert cru_process("init", root).returncode == 0
    assert cru_process("--vault", root, "session", "list").stderr == EMPTY.encode()
    assert b"this vault has no requests to" in cru_process("--vault", root, "trust").stderr
    looked = json.loads(cru_process("--vault", root, "doctor", "--format", "json").stdout)["checks"]
    (found,) = (one for one in looked if one["topic"] == "trust")
    assert found["state"] == "good"


def test_init_does_not_accept_what_was_there_before(run: Run, clone: Path) -> None:
    assert run("init").returncode == 0
    assert TOKEN not in noted(run, clone)


def test_ones_own_change_is_named_until_it_is_accepted(vault: Vault, cru: Cru) -> None:
    with (vault.root / ".crucible" / "config.toml").open("a") as file:
        file.write('[secrets.rules]\nacme = "acme_[0-9]+"\n')
    assert cru("session", "list").stderr == f"{LINE}secrets.rules\n{EMPTY}"
    assert cru("trust", "--yes").stdout.endswith("  acme = 'acme_[0-9]+'\n")
    assert cru("session", "list").stderr == EMPTY


def test_doctor_shows_what_is_ignored_and_what_was_accepted(run: Run, clone: Path) -> None:
    shown = run("doctor").stdout
    assert "note  trust         requests of this vault are ignored until you accept them" in shown
    assert " - secrets.allow" in shown
    assert "→ cru trust" in shown
    run("trust", "--yes")
    assert "ok    trust         you accepted these requests of the vault: secrets.allow" in run("doctor").stdout
