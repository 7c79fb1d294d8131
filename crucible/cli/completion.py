"""`cru completion`: the script with which a shell asks `cru` itself what can follow."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(short_help="Print the shell's completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell: commands, options, and session ids.

    \b
      bash: cru completion bash > ~/.local/share/bash-completion/completions/cru
      zsh:  cru completion zsh > ~/.zfunc/_cru   (with ~/.zfunc in fpath)
      fish: cru completion fish > ~/.config/fish/completions/cru.fish
    """
    complete = get_completion_class(shell)
    if complete is None:
        raise click.UsageError(f"click has no completion for {shell}", ctx)
    click.echo(complete(ctx.find_root().command, {}, "cru", "_CRU_COMPLETE").source())
