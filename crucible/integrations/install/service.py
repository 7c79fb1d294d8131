"""A service of the system that follows clients' logs into one vault: a systemd user unit, or a launchd agent.

Its file is written and removed here; nothing is started.  The user gets the commands that do.
"""

from __future__ import annotations

import plistlib
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2s
from pathlib import Path
from xml.parsers.expat import ExpatError

from crucible.clients.registry import DIALECTS
from crucible.core import files
from crucible.core.errors import UsageError, VaultError, reason_of
from crucible.core.named_tuples import NamedTuple

_MADE_BY_US = "Written by `cru install service`, which also removes it"
_OWN_VARIABLES = ("CRUCIBLE_CONFIG", "XDG_CONFIG_HOME")
_RESTART_SECONDS = 30


class Service(NamedTuple):
    """The file of a service, and the commands that start it now and at each login, that stop it, and that show its log."""

    path: Path
    data: bytes
    start: tuple[str, ...]
    stop: str
    show: str


class Machine(NamedTuple):
    """What the service depends on: the environment, the home folder, and `sys.platform`."""

    env: Mapping[str, str]
    home: Path
    platform: str


def service_for(root: Path, command: Sequence[str], machine: Machine) -> Service:
    """Return the service that runs `command` for the vault at `root`.

    Variables that move clients' folders go into the file: a service does not see those of the shell.  Raises
    `UsageError` on a system without such services.
    """
    names = sorted(_variables(machine.env, machine.home))
    variables = {name: machine.env[name] for name in names if machine.env.get(name)}
    if any(not text.isprintable() for text in (*command, *variables.values())):
        raise UsageError("a path contains control characters, which a service cannot have", "")
    name = f"crucible-{_slug(root)}"
    if machine.platform == "darwin":
        return _agent(name, command, variables, machine)
    if machine.platform.startswith("linux"):
        return _unit(name, command, variables, machine)
    raise UsageError("services are only known for systemd and launchd", 'Run "cru watch --clients" at your login.')


def _slug(root: Path) -> str:
    """Return a short name of a vault, which no other vault of this machine has."""
    plain = re.sub(r"[^a-z0-9]+", "-", root.name.lower()).strip("-")[:24]
    return f"{plain or 'vault'}-{blake2s(str(root).encode('utf-8', 'surrogateescape'), digest_size=2).hexdigest()}"


class _Asked(dict[str, str]):
    """Environment variables, and the names of those that were asked for."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__(env)
        self.names: set[str] = set()

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        self.names.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return super().__getitem__(name)


def _variables(env: Mapping[str, str], home: Path) -> set[str]:
    """Return the names of the variables that say where clients and we keep files."""
    asked = _Asked(env)
    for dialect in DIALECTS.values():
        dialect.default_folder(asked, home)
    return {*asked.names, *_OWN_VARIABLES}


# --- systemd ---------------------------------------------------------------------------------------------------------


def _unit(name: str, command: Sequence[str], variables: Mapping[str, str], machine: Machine) -> Service:
    lines = [
        f"# {_MADE_BY_US}.",
        "[Unit]",
        f"Description=Crucible ({name})",
        "",
        "[Service]",
        f"ExecStart={' '.join(map(_quoted, command))}",
        *(f"Environment={_quoted(f'{key}={value}')}" for key, value in variables.items()),
        "Restart=on-failure",
        f"RestartSec={_RESTART_SECONDS}",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return Service(
        _folder(machine) / f"{name}.service",
        "\n".join([*lines, ""]).encode("utf-8", "surrogateescape"),
        ("systemctl --user daemon-reload", f"systemctl --user enable --now {name}"),
        _stop(name, machine),
        f"journalctl --user -u {name} -f",
    )


def _quoted(word: str) -> str:
    """Quote a word as systemd reads it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


# --- launchd ---------------------------------------------------------------------------------------------------------


def _agent(name: str, command: Sequence[str], variables: Mapping[str, str], machine: Machine) -> Service:
    label, home = f"local.{name}", machine.home
    path = _folder(machine) / f"{label}.plist"
    log = home / "Library" / "Logs" / f"{name}.log"
    agent = {
        "Label": label,
        # Agents in this folder start at the next login, unless they are disabled.
        "Disabled": True,
        "ProgramArguments": [*command],
        "EnvironmentVariables": {**variables},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": _RESTART_SECONDS,
        "ProcessType": "Background",
        "StandardOutPath": str(log),
        "StandardErrorPath": str(log),
    }
    head, line, rest = plistlib.dumps(agent, sort_keys=False).partition(b"<plist")
    return Service(
        path,
        head + f"<!-- {_MADE_BY_US}. -->\n".encode() + line + rest,
        (f"launchctl enable gui/$(id -u)/{label}", f"launchctl bootstrap gui/$(id -u) '{path}'"),
        _stop(label, machine),
        f"tail -f '{log}'",
    )


# --- what is installed -----------------------------------------------------------------------------------------------


class InstalledService(NamedTuple):
    """A service's file that we wrote, the command that it runs ([] if it cannot be read), and the one that stops it."""

    path: Path
    command: list[str]
    stop: str


def installed_services(machine: Machine) -> Iterator[InstalledService]:
    """Yield the services of all vaults; files that cannot be read, or that we did not write, are skipped."""
    pattern = "local.crucible-*.plist" if machine.platform == "darwin" else "crucible-*.service"
    for path in sorted(_folder(machine).glob(pattern)):
        try:
            data = _content(path) or b""
        except VaultError:
            continue
        yield InstalledService(path, _command(data), _stop(path.stem, machine))


def _folder(machine: Machine) -> Path:
    """Return the folder of the user's services."""
    if machine.platform == "darwin":
        return machine.home / "Library" / "LaunchAgents"
    return Path(machine.env.get("XDG_CONFIG_HOME") or machine.home / ".config") / "systemd" / "user"


def _stop(name: str, machine: Machine) -> str:
    is_agent = machine.platform == "darwin"
    return f"launchctl bootout gui/$(id -u)/{name}" if is_agent else f"systemctl --user disable --now {name}"


def _command(data: bytes) -> list[str]:
    """Return the command line in a service's file."""
    if b"<plist" in data:
        try:
            return [str(word) for word in plistlib.loads(data)["ProgramArguments"]]
        except (ValueError, KeyError, TypeError, ExpatError):
            return []
    text = data.decode("utf-8", "surrogateescape")
    line = next((line for line in text.split("\n") if line.startswith("ExecStart=")), "")
    words = re.findall(r'"((?:\\.|[^"\\])*)"', line)
    return [re.sub(r"\\(.)|([%$])\2", r"\1\2", word) for word in words]


# --- files -----------------------------------------------------------------------------------------------------------


def is_service_installed(service: Service) -> bool:
    """Return whether the file is there, as this version writes it.  Raises `VaultError` if it is another's."""
    return _content(service.path) == service.data


def install_service(service: Service) -> bool:
    """Write the file; return whether anything has changed."""
    old = _content(service.path)
    if old == service.data:
        return False
    if old is not None:
        files.write_atomic(service.path, service.data, expected=old)
        return True
    try:
        service.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VaultError(f"{service.path.parent}: cannot be created: {reason_of(error)}") from error
    files.create_exclusive(service.path, service.data)
    return True


def uninstall_service(service: Service) -> bool:
    """Remove the file; return whether it was there."""
    if _content(service.path) is None:
        return False
    try:
        service.path.unlink()
    except OSError as error:
        raise VaultError(f"{service.path}: cannot be removed: {reason_of(error)}") from error
    return True


def _content(path: Path) -> bytes | None:
    """Return what is in the file, None if there is none.  Raises `VaultError` if we did not write it."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VaultError(f"{path}: {reason_of(error)}") from error
    if _MADE_BY_US.encode() not in data:
        raise VaultError(f"{path}: not made by cru", "move it away, then run the command again")
    return data
