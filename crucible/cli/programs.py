"""How other programs call us, and for which folder: what every `cru install` asks."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from crucible.cli.door import Door
from crucible.cli.output import clean_line, say
from crucible.cli.surroundings import from_here, user_settings, vault_root
from crucible.core.errors import VaultNotFound


def own_program() -> list[str]:
    """How hooks call us: the `cru` that runs now, by its whole path, or this interpreter."""
    own = sys.argv[0] if os.path.basename(sys.argv[0]).startswith("cru") else "cru"
    found = shutil.which(own)
    return [os.path.abspath(found)] if found else [sys.executable, "-P", "-m", "crucible"]


def project_folder() -> Path:
    """The folder that the client would be started in: the nearest with `.claude` or `.git`, else this one."""
    here = Path(from_here("."))
    near = (folder for folder in (here, *here.parents) if folder != Path.home())
    return next((f for f in near if (f / ".claude").is_dir() or (f / ".git").exists()), here).resolve()


def say_where(door: Door) -> None:
    """Where sessions of the working directory go."""
    user = user_settings()
    try:
        say(f"sessions from here go to {clean_line(vault_root(door, user))}")
    except VaultNotFound:
        say("there is no vault here and no default vault, so nothing is written down yet", style="yellow")
        say("     `cru init DIR --default` makes one for every project, `cru init` one here")
