"""A click group that reads command names and help from a table, and imports a command only when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from crucible import __version__
from crucible.cli.command_table import COMMANDS, GROUPS, PAGED, SECTIONS, SEE_ALSO, Group
from crucible.cli.options import Door, GivenPath
from crucible.core.errors import CrucibleError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


_ABOUT = """Keep coding agents' sessions as Obsidian notes.

\b
  cru init ~/notes --default       create a vault and use it everywhere
  cru import                       import all agents' sessions
  cru install claude-code          record Claude Code's sessions from now on
  cru doctor                       check the setup
  cru session list --since 7d      list the last week's sessions
  cru session show 2026-11-21-add  show one; a prefix of its id is enough
  cru recall how are retries done  search what was said and decided
  cru briefing                     show what to know before work begins
  cru inbox                        list questions that wait for you
  cru session resume               continue the last paused session
  cru session codify 2026-11-21    turn a session into a workflow
  cru session learn --all          count learning cases; --export writes them

The vault is set by --vault or CRUCIBLE_VAULT; else it is the nearest folder with a .crucible, else your default vault.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 problems found.
"""


def load_command(target: str) -> Any:
    """Import a command by its target, `module:function`."""
    module, _, name = target.partition(":")
    return getattr(import_module(f"crucible.cli.{module}"), name)


class LazyGroup(click.Group):
    """A group whose commands are those in the table with names that begin with `prefix`."""

    def __init__(self, name: str, prefix: str, **settings: Any) -> None:
        super().__init__(name, **settings)
        self.prefix = prefix

    def _full(self, name: str) -> str:
        return f"{self.prefix} {name}".strip()

    def _help_of(self, name: str) -> str:
        full = self._full(name)
        return (GROUPS.get(full) or COMMANDS[full]).help

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of subcommands and subgroups, in the order of the table."""
        depth = len(self.prefix.split())
        names = (key.split() for key in COMMANDS)
        return list(dict.fromkeys(n[depth] for n in names if n[:depth] == self.prefix.split()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command after importing its module; a group needs no import."""
        full = self._full(cmd_name)
        if full in COMMANDS:
            entry = COMMANDS[full]
            light = ctx.resilient_parsing and entry.completion and not _option_typed_after(cmd_name)
            command: click.Command = load_command(entry.completion if light else entry.target)
            if (see_also := _see_also(full)) not in (command.epilog or ""):
                command.epilog = "\n\n".join(filter(None, (command.epilog, see_also)))
            return _paged(command) if full in PAGED and not light else command
        if full in GROUPS:
            kind = _ListingGroup if f"{full} list" in COMMANDS else LazyGroup
            return kind(cmd_name, full, help=_with_examples(GROUPS[full]), epilog=_see_also(full))
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in the help, using only the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._help_of(name)) for name in self.list_commands(ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names, using only the table, then options."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  only needed for shell completion

        names = [n for n in self.list_commands(ctx) if n.startswith(incomplete)]
        found = [CompletionItem(n, help=self._help_of(n)) for n in names]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Include the command's name in usage errors; click's parser does not."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            name = ctx.invoked_subcommand
            if error.ctx is None and name:
                command = self.get_command(ctx, name) or self
                error.ctx = click.Context(command, parent=ctx, info_name=name)
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest similar names if the command is unknown."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            self._suggest(ctx, name)
            raise click.UsageError(f"no command {name!r}", ctx)
        return super().resolve_command(ctx, args)

    def _suggest(self, ctx: click.Context, name: str) -> None:
        """Raise an error that names the commands of this name in other groups, or those with similar names, if there are any."""
        import difflib  # noqa: PLC0415  slow, and only needed for a wrong name

        elsewhere = [f'"cru {full}"' for full in COMMANDS if full.split()[-1] == name]
        if near := elsewhere[:2] or difflib.get_close_matches(name, self.list_commands(ctx)):
            raise click.UsageError(f"no command {name!r}; did you mean {' or '.join(near)}?", ctx)


_READ_AS_ID = f"{__name__}.read_as_id"


class _ListingGroup(LazyGroup):
    """A group that runs `list` if no command is named, and shows what an id names: `cru inbox --all`, `cru task ID`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `list` if the arguments begin with an option or are empty."""
        bare = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        if bare and not ctx.resilient_parsing:
            args = ["list", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Read a word that is no command as an id, for `show`, or for `list` in a group without it."""
        name = "show" if f"{self.prefix} show" in COMMANDS else "list"
        if ctx.resilient_parsing or args[0].startswith("-") or self.get_command(ctx, args[0]) is not None:
            return super().resolve_command(ctx, args)
        ctx.meta[_READ_AS_ID] = args[0]
        return name, self.get_command(ctx, name), args

    def invoke(self, ctx: click.Context) -> Any:
        """Suggest similar commands if a word was read as an id and matches none."""
        try:
            return super().invoke(ctx)
        except (CrucibleError, click.UsageError):
            if word := ctx.meta.get(_READ_AS_ID):
                self._suggest(ctx, word)
            raise


class _Root(LazyGroup):
    """`cru` itself: its help lists the commands in sections, without hidden ones."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the sections with their names aligned."""
        sections = [section for section in SECTIONS if not section.hidden]
        width = max(len(name) for section in sections for name in section.commands)
        for section in sections:
            with formatter.section(section.title):
                formatter.write_dl([(name.ljust(width), self._help_of(name)) for name in section.commands])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer hidden commands only after their first letter."""
        hidden = {name for section in SECTIONS if section.hidden and not incomplete for name in section.commands}
        return [item for item in super().shell_complete(ctx, incomplete) if item.value not in hidden]


def _paged(command: click.Command) -> click.Command:
    """Return the command with a pager for long output on a terminal."""
    from copy import copy  # noqa: PLC0415  the help of `cru` needs none

    called = command.callback

    def call(*args: Any, **given: Any) -> Any:
        door = click.get_current_context().ensure_object(Door)
        if called is None or not door.terminal:
            return called and called(*args, **given)
        return load_command("pager:run_paged")(door, lambda: called(*args, **given))

    paged = copy(command)
    paged.callback = call
    return paged


def _see_also(full: str) -> str:
    """Return the last line of a command's help."""
    return f"See also: {', '.join(f'cru {name}' for name in SEE_ALSO[full])}"


def _with_examples(group: Group) -> str:
    """Return a group's help and examples; the backspace mark keeps click from wrapping the examples."""
    return "\n".join((group.help, "\n\b", *(f"  {line}" for line in group.examples))) if group.examples else group.help


def _option_typed_after(name: str) -> bool:
    """True if the command line to complete has an option after the command `name`."""
    line = os.environ.get("COMP_WORDS", "")
    return any(word.startswith("-") for word in line.rpartition(f" {name} ")[2].split())


def build_root() -> click.Group:
    """Build the `cru` group with its global options, without importing any command."""
    return _Root(
        "cru",
        "",
        help=_ABOUT,
        callback=_enter,
        params=_root_options(),
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _root_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--vault"],
            type=GivenPath(),
            metavar="DIR",
            help="The vault to use [environment: CRUCIBLE_VAULT].",
        ),
        click.Option(
            ["--color/--no-color"],
            default=None,
            help="Use colors; by default on a terminal, unless NO_COLOR is set.",
        ),
        click.Option(
            ["--no-pager"],
            is_flag=True,
            help="Print long output without a pager [environment: CRU_PAGER, PAGER].",
        ),
        click.Option(
            ["--json", "format_"],
            flag_value="json",
            help="Without a command: write the status as JSON.",
        ),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Show the version.",
        ),
    ]


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"cru {__version__}")
        ctx.exit()


@click.pass_context
def _enter(ctx: click.Context, vault: str | None, color: bool | None, no_pager: bool, format_: str | None) -> int:
    """Set up the global options, and show the status page if no command is named."""
    if color is None and os.environ.get("NO_COLOR"):
        color = False
    ctx.color = color
    door = ctx.obj = Door(vault=vault, color=color, terminal=sys.stdout.isatty(), pager=not no_pager)
    if ctx.invoked_subcommand is not None:
        if format_:
            raise click.UsageError(
                "--json before the command applies to the status page; put it after the command", ctx
            )
        return 0
    status: Callable[[Door, str], int] = load_command("status_page:show_status")
    return status(door, format_ or "text")
