"""`cru doctor` on a vault that cannot be used: settings, rights, disk, git, and faults that are mended since."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from crucible.core.errors import VaultError
from crucible.integrations.doctor.vault_checks import fix_of_os_error
from crucible.vault.notes.vault import Vault
from tests.running import Cru
from tests.unit.integrations.hooks.playing import SESSION, Client, sync, turn

pytestmark = pytest.mark.usefixtures("home")


def findings(cru: Cru, topic: str) -> list[dict[str, Any]]:
    return [each for each in json.loads(cru("doctor", "--format", "json").stdout)["checks"] if each["topic"] == topic]


def stamp(ago: float = 0.0) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago))


def write_log(vault: Vault, *lines: str) -> Path:
    log = vault.root / ".crucible" / "log" / "hooks.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text("".join(f"{line}\n" for line in lines))
    return log


# --- settings --------------------------------------------------------------------------------------------------------


def test_a_wrong_value_is_one_finding_and_all_else_is_looked_at(cru: Cru, vault: Vault) -> None:
    (vault.root / ".crucible" / "config.toml").write_text('[hooks]\nsave = "sometimes"\n')
    done = cru("doctor", "--format", "json")
    assert done.exit_code == 3
    told = json.loads(done.stdout)["checks"]
    (bad,) = [each for each in told if each["state"] == "bad"]
    assert bad["topic"] == "settings"
    assert "config.toml:2: hooks.save: expected one of" in bad["text"]
    assert "fix or remove that line" in bad["fix"]
    assert {"spool", "sessions", "index", "transcripts"} <= {each["topic"] for each in told}


def test_other_commands_fail_at_a_wrong_value_and_say_what_to_do(cru: Cru, vault: Vault) -> None:
    (vault.root / ".crucible" / "config.toml").write_text('[hooks]\nsave = "sometimes"\n')
    done = cru("session", "list")
    assert done.exit_code == 1
    first, second = done.stderr.splitlines()
    assert "hooks.save" in first
    assert "cru doctor" in second


def test_settings_of_the_user_that_are_no_toml_are_a_finding(cru: Cru, home: Path) -> None:
    path = home / ".config" / "crucible" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[[nonsense")
    (found,) = findings(cru, "settings")
    assert found["text"].startswith(str(path))


def test_an_unknown_setting_is_told_once(cru: Cru, vault: Vault) -> None:
    (vault.root / ".crucible" / "config.toml").write_text("[capture]\nsav = 1\n")
    done = cru("doctor")
    assert (done.stdout + done.stderr).count("capture.sav") == 1


# --- rights and room -------------------------------------------------------------------------------------------------


def test_a_vault_that_may_not_be_written_is_told(cru: Cru, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = os.access

    def access(path: Any, mode: int, **more: Any) -> bool:
        return not (mode & os.W_OK and Path(path) == vault.sessions) and allowed(path, mode, **more)

    monkeypatch.setattr(os, "access", access)
    (found,) = findings(cru, "vault")
    assert (found["state"], found["items"]) == ("bad", [str(vault.sessions)])


def test_a_full_disk_is_told_with_its_mend(cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=4096))
    (found,) = findings(cru, "vault")
    assert (found["state"], found["fix"]) == ("bad", "free some disk space")


@pytest.mark.parametrize(("number", "mend"), [(errno.ENOSPC, "free some disk space"), (errno.EIO, "cru index rebuild")])
def test_what_the_disk_refuses_is_mended_at_the_disk(number: int, mend: str) -> None:
    assert fix_of_os_error(f"index: {os.strerror(number)}", "cru index rebuild") == mend


def test_an_import_that_stops_says_what_is_written(
    cru: Cru, vault: Vault, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        client = Client(vault.root, home, f"{number}{SESSION[1:]}")
        client.say(*turn(f"Fix number {number}", "Fixed."))
    create = Vault.create

    def full(self: Vault, name: str, text: str) -> Any:
        if "number-1" in name:
            raise VaultError(f"{name}: {os.strerror(errno.ENOSPC)}", "free some disk space")
        return create(self, name, text)

    monkeypatch.setattr(Vault, "create", full)
    done = cru("import", "claude-code")
    assert done.exit_code == 1
    first, second, _ = done.stderr.splitlines()
    assert first.startswith("stopped: 2 created, 0 updated")
    assert "No space left" in second


# --- git -------------------------------------------------------------------------------------------------------------


def test_a_vault_in_a_repository_is_told_of_its_hook(cru: Cru, vault: Vault) -> None:
    assert findings(cru, "git-hooks") == []
    subprocess.run(["git", "init", "-q", str(vault.root)], check=True)
    (found,) = findings(cru, "git-hooks")
    assert (found["state"], found["fix"]) == ("note", "cru install git-hooks")
    assert cru(*found["fix"].split()[1:]).exit_code == 0
    (found,) = findings(cru, "git-hooks")
    assert (found["state"], found["fix"]) == ("good", None)


# --- faults of hooks that are over -----------------------------------------------------------------------------------


def test_a_fault_is_history_when_something_ran_after_it(cru: Cru, vault: Vault) -> None:
    write_log(vault, f"{stamp(60)} sync: VaultError: broken settings (toml.py:103)")
    (found,) = [each for each in findings(cru, "hooks") if each["state"] == "bad"]
    assert found["items"][0].endswith("sync: VaultError: broken settings")
    lock = vault.root / ".crucible" / "spool" / "lock"
    lock.parent.mkdir()
    lock.touch()
    assert not [each for each in findings(cru, "hooks") if each["state"] == "bad"]


def test_a_fault_of_a_session_is_history_when_it_is_written_down(cru: Cru, vault: Vault, home: Path) -> None:
    client = Client(vault.root, home)
    client.say(*turn("Fix it", "Fixed."))
    client.call("Stop", said="Fixed.")
    write_log(vault, f"{stamp()} sync claude-code {SESSION}: OSError: full (store.py:1)")
    (found,) = [each for each in findings(cru, "hooks") if each["state"] == "bad"]
    assert found["items"][0].endswith("OSError: full")
    sync(client)
    assert not [each for each in findings(cru, "hooks") if each["state"] == "bad"]


def test_hooks_are_told_once_when_we_are_asked_at_home(cru: Cru, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cru("install", "claude-code")
    monkeypatch.chdir(home)
    told = [each["text"] for each in findings(cru, "hooks")]
    assert len(told) == len(set(told))


def test_installing_for_the_user_and_the_project_at_once_is_refused(cru: Cru, home: Path) -> None:
    done = cru("install", "claude-code", "--user", "--project")
    assert done.exit_code == 2
    assert not (home / ".claude").exists()


# --- the spool -------------------------------------------------------------------------------------------------------


def test_a_spool_that_leads_out_of_the_vault_is_a_finding(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    (vault.root / ".crucible" / "spool").mkdir(exist_ok=True)
    (vault.root / ".crucible" / "spool" / "claude-code").symlink_to(tmp_path)
    (bad,) = findings(cru, "spool")
    assert bad["state"] == "bad"
    assert "points outside the vault" in bad["text"]
    assert bad["fix"] == "remove the symlink"


def test_an_import_reads_no_spool_outside_the_vault(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    (vault.root / ".crucible" / "spool").mkdir(exist_ok=True)
    (vault.root / ".crucible" / "spool" / "claude-code").symlink_to(tmp_path)
    done = cru("import")
    assert done.exit_code == 1
    assert "points outside the vault" in done.stderr
