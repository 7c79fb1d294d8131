"""Running `cru` in a test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result

from crucible.cli.main import main

if TYPE_CHECKING:
    from crucible.vault.notes.vault import Vault


class _Main:
    """`main` in the shape that click's runner calls, so that tests go through the one real error handler."""

    name = "cru"

    def main(self, args: Sequence[str], **_: Any) -> None:
        sys.exit(main(args))


@dataclass(frozen=True)
class Cru:
    """`cru("session", "list")` runs the command in this process, in the vault when there is one."""

    vault: Vault | None = None

    def __call__(self, *args: str | Path, env: dict[str, str] | None = None) -> Result:
        given = ["--vault", str(self.vault.root), *map(str, args)] if self.vault else [*map(str, args)]
        result = CliRunner().invoke(_Main(), given, env=env)  # type: ignore[arg-type]
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def __truediv__(self, vault: Vault) -> Cru:
        return Cru(vault)


CruProcess = Callable[..., subprocess.CompletedProcess[bytes]]
"""Arguments of `cru`, then keywords of `subprocess.run`."""
