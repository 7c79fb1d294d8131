"""`cru install service`: a service of the system that runs `cru watch --clients` for this vault."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from crucible.cli.environment import human_is_there, vault_place
from crucible.cli.options import Door
from crucible.cli.output import clean_line, say, write
from crucible.core.errors import UsageError
from crucible.integrations.install.service import (
    Machine,
    Service,
    install_service,
    is_service_installed,
    service_for,
    uninstall_service,
)


def change_service(door: Door, program: Sequence[str], *, remove: bool, dry_run: bool, yes: bool) -> tuple[Path, bool]:
    """Add the service of this vault, or remove it; return its file, and whether that changed.

    `program` is the command line of `cru`.
    """
    root, _ = vault_place(door)
    command = [*program, "--vault", root, "watch", "--clients"]
    service = service_for(Path(root), command, Machine(os.environ, Path.home(), sys.platform))
    if remove:
        return service.path, _remove(service, dry_run=dry_run)
    return service.path, _add(door, service, dry_run=dry_run, yes=yes)


def _add(door: Door, service: Service, *, dry_run: bool, yes: bool) -> bool:
    """Show the file and write it after asking; return whether it has changed.  Nothing is started."""
    is_there = is_service_installed(service)
    if not is_there:
        write(f"{clean_line(str(service.path))}:")
        write()
        for line in service.data.decode("utf-8", "replace").split("\n"):
            write(line)
    if dry_run:
        return not is_there
    if not (is_there or yes or human_is_there(door)):
        raise UsageError("no terminal to ask on", "Add --yes, or --dry-run to see the file.")
    if not (is_there or yes or click.confirm("Write this file?", default=False, err=True)):
        raise click.Abort
    is_changed = install_service(service)
    say("Nothing was started. To start it now and at each login:")
    for command in service.start:
        say(f"  {clean_line(command)}")
    say(f"To see what it does: {clean_line(service.show)}")
    return is_changed


def _remove(service: Service, *, dry_run: bool) -> bool:
    if dry_run:
        return service.path.exists()
    is_changed = uninstall_service(service)
    if is_changed:
        say(f"If it still runs, stop it: {clean_line(service.stop)}")
    return is_changed
