"""`cru install git-hooks`: a pre-commit hook that refuses secrets, and out again."""

from __future__ import annotations

from pathlib import Path

import click

from crucible.cli.door import Door
from crucible.cli.output import clean_line, say, write
from crucible.cli.programs import own_program
from crucible.cli.surroundings import vault_place
from crucible.integrations.install.git_hooks import find_hook, install, uninstall


@click.command("git-hooks")
@click.option("--remove", is_flag=True, help="Take our lines out again; what was there before has its bytes again.")
@click.pass_obj
def git_hooks(door: Door, *, remove: bool) -> None:
    """Refuse to commit a secret: adds a pre-commit hook to the repository around the vault.

    The hook looks at the staged lines of the vault's files (`cru session check --secrets --staged`) and names the file,
    the line and the rule. Without cru, or when secrets cannot be looked for, it refuses the commit. A hook that is there
    already goes on as before; ours runs first. `git commit --no-verify` commits without looking.

    \b
      cru install git-hooks
      cru install git-hooks --remove
    """
    root, _ = vault_place(door)
    hook = find_hook(Path(root))
    if remove:
        write(f"{'removed from' if uninstall(hook) else 'not in'}  {clean_line(str(hook.path))}")
        return
    write(f"{'installed in' if install(hook, own_program()) else 'already in'}  {clean_line(str(hook.path))}")
    if hook.is_shared:
        say(
            "core.hooksPath names this folder for other repositories too; where there is no vault the hook does nothing"
        )
