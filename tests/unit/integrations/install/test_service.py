from __future__ import annotations

import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from crucible.core.errors import UsageError, VaultError
from crucible.integrations.doctor import CheckState
from crucible.integrations.doctor.client_checks import check_services
from crucible.integrations.install.service import (
    Machine,
    install_service,
    installed_services,
    service_for,
    uninstall_service,
)

ROOT = Path("/home/me/my notes")
COMMAND = ["/home/me/.local/bin/cru", "--vault", str(ROOT), "watch", "--clients"]


def machine(home: Path, platform: str = "linux", **env: str) -> Machine:
    return Machine(env, home, platform)


def test_a_unit_runs_the_watcher_with_the_variables_that_move_clients(tmp_path: Path) -> None:
    service = service_for(ROOT, COMMAND, machine(tmp_path, CODEX_HOME='/a "b" $c %d', EDITOR="vi"))
    lines = service.data.decode().split("\n")
    assert 'ExecStart="/home/me/.local/bin/cru" "--vault" "/home/me/my notes" "watch" "--clients"' in lines
    assert [line for line in lines if line.startswith("Environment")] == ['Environment="CODEX_HOME=/a \\"b\\" $$c %%d"']
    assert service.path.parent == tmp_path / ".config" / "systemd" / "user"
    assert service.start[-1] == f"systemctl --user enable --now {service.path.stem}"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    service = service_for(ROOT, ["/bin/true", *COMMAND[1:]], machine(tmp_path, CODEX_HOME="/a b"))
    install_service(service)
    ran = subprocess.run(
        ["systemd-analyze", "--user", "verify", service.path], capture_output=True, text=True, check=False
    )
    assert service.path.name not in ran.stderr


def test_an_agent_of_launchd_is_disabled_until_the_user_enables_it(tmp_path: Path) -> None:
    service = service_for(ROOT, COMMAND, machine(tmp_path, "darwin", CLAUDE_CONFIG_DIR="/elsewhere"))
    agent = plistlib.loads(service.data)
    assert agent["Disabled"] is True
    assert agent["ProgramArguments"] == COMMAND
    assert agent["EnvironmentVariables"] == {"CLAUDE_CONFIG_DIR": "/elsewhere"}
    assert service.path == tmp_path / "Library" / "LaunchAgents" / f"{agent['Label']}.plist"
    assert service.start[0] == f"launchctl enable gui/$(id -u)/{agent['Label']}"


def test_two_vaults_of_one_name_have_two_services(tmp_path: Path) -> None:
    names = {service_for(root, COMMAND, machine(tmp_path)).path.name for root in (Path("/a/notes"), Path("/b/notes"))}
    assert len(names) == 2


def test_a_service_is_written_renewed_and_removed(tmp_path: Path) -> None:
    old = service_for(ROOT, ["/old/cru", *COMMAND[1:]], machine(tmp_path))
    new = service_for(ROOT, COMMAND, machine(tmp_path))
    assert [install_service(old), install_service(old), install_service(new)] == [True, False, True]
    assert new.path.read_bytes() == new.data
    assert [uninstall_service(new), uninstall_service(new)] == [True, False]
    assert not new.path.exists()


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    service = service_for(ROOT, COMMAND, machine(tmp_path))
    service.path.parent.mkdir(parents=True)
    service.path.write_text("[Unit]\n")
    for change in (install_service, uninstall_service):
        with pytest.raises(VaultError, match="not made by cru"):
            change(service)
    assert service.path.read_text() == "[Unit]\n"


def test_other_systems_have_no_service(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="only known for systemd and launchd"):
        service_for(ROOT, COMMAND, machine(tmp_path, "win32"))
    with pytest.raises(UsageError, match="control characters"):
        service_for(ROOT, ["cru\n"], machine(tmp_path))


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_command_of_an_installed_service_is_read_back(tmp_path: Path, platform: str) -> None:
    command = ['/o p/c"ru', "--vault", r"/my \ 100% $notes", "watch", "--clients"]
    service = service_for(ROOT, command, machine(tmp_path, platform))
    install_service(service)
    service.path.with_name("crucible-mine.service").write_text("[Service]\n")  # not ours
    assert [*installed_services(machine(tmp_path, platform))] == [(service.path, command, service.stop)]


def test_doctor_names_a_service_whose_program_or_vault_is_gone(tmp_path: Path) -> None:
    vault = tmp_path / "my notes"
    vault.mkdir()
    program = tmp_path / "cru"
    program.touch(mode=0o755)
    service = service_for(vault, [str(program), "-P", "--vault", str(vault), "watch"], machine(tmp_path))
    install_service(service)

    def check() -> tuple[CheckState, str, tuple[str, ...]]:
        (found,) = check_services(machine(tmp_path))
        return found.state, found.fix, found.items

    assert check()[0] is CheckState.GOOD
    program.unlink()
    fix = f"cru --vault '{vault}' install service, and start it again as it says"
    assert check() == (CheckState.BAD, fix, (str(program),))
    vault.rmdir()
    assert check() == (CheckState.BAD, f"{service.stop}; rm {service.path}", (str(vault),))
    service.path.write_text(service.data.decode().replace("ExecStart", "Exec"))
    assert check()[:2] == (CheckState.BAD, "cru install service")
