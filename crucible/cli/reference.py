"""`cru completion`, and `python -m crucible.cli.reference [--check] FILE`, which writes `docs/cli.md` from the help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from crucible.cli.command_table import SECTIONS
from crucible.cli.group import build_root
from crucible.core.templates import render_template

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Described:
    """A command's full name, such as `cru session list`, and its help."""

    name: str
    help: str


def describe(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[Described]:
    """Yield the command and its subcommands, in the order of the help."""
    asked: dict[str, Any] = {**command.context_settings, "terminal_width": _WIDTH, "color": False}
    context = click.Context(command, info_name=name, parent=parent, **asked)
    yield Described(context.command_path, "\n".join(line.rstrip() for line in command.get_help(context).split("\n")))
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from describe(found, child, context)


def _reference_text() -> str:
    """Return the text of `docs/cli.md`."""
    return render_template("cli-reference.md.j2", sections=SECTIONS, commands=list(describe(build_root(), "cru")))


@click.command
@click.argument("page", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--check", is_flag=True, help="Write nothing; fail if the page is not current.")
def reference(page: Path, check: bool) -> None:
    """Write the page, or compare it."""
    text = _reference_text()
    if not check:
        page.write_text(text, encoding="utf-8")
    elif not page.is_file() or page.read_text(encoding="utf-8") != text:
        raise click.ClickException(f"{page} is not current; run: make docs")


if __name__ == "__main__":
    reference()


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
