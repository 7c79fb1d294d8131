"""Options that several commands share.  Imports little, for the commands that must be quick."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Any, NamedTuple

import click

from crucible.core.errors import UsageError
from crucible.vault.index.time_filters import parse_when


def format_option(*formats: str) -> Callable[[Any], Any]:
    """`--format`, the first one being the default; anything else is refused."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="How to write it.",
    )


def one_of(kinds: Iterable[StrEnum]) -> click.Choice[str]:
    """The values of an enumeration, as choices."""
    return click.Choice([kind.value for kind in kinds])


def flag(name: str, help_: str, parameter: str | None = None) -> Callable[[Any], Any]:
    """An option without a value."""
    return click.option(*filter(None, (name, parameter)), is_flag=True, help=help_)


def only_option(name: str, parameter: str, kinds: Iterable[StrEnum]) -> Callable[[Any], Any]:
    """A repeatable filter by the values of an enumeration."""
    return click.option(name, parameter, multiple=True, type=one_of(kinds), help="Only these; may be repeated.")


def limit_option(help_: str = "At most so many.", *, least: int = 1) -> Callable[[Any], Any]:
    """`-n`, a number of results."""
    return click.option("-n", "--limit", type=click.IntRange(min=least), metavar="N", help=help_)


def with_options(options: Iterable[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Add options to a command, in the order of its help."""

    def add(command: Any) -> Any:
        # Decorators are applied from the bottom up.
        for option in reversed([*options]):
            command = option(command)
        return command

    return add


NULL_OPTION = click.option("-0", "--null", is_flag=True, help="With --format paths: end each with a NUL, for xargs -0.")


def check_null(format_: str, *, null: bool) -> None:
    """Refuse `--null` with any format but paths."""
    if null and format_ != "paths":
        raise UsageError("--null goes with --format paths", "the other formats are no lists of files")


class _Local(tzinfo):
    """This machine's zone: in summer another offset than in winter."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        try:
            return None if dt is None else dt.replace(tzinfo=None).astimezone().utcoffset()
        except (OverflowError, ValueError, OSError):  # beyond what the system's clock knows
            return timedelta(seconds=-time.timezone)

    def dst(self, dt: datetime | None) -> timedelta | None:
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        return None


def local_now() -> datetime:
    """Now, in this machine's zone."""
    # Through UTC: in the hour that a clock repeats, a local time alone would be ambiguous.
    return datetime.now().astimezone().replace(tzinfo=_Local())


class Moment(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A date, a time or how long ago; what has no zone is in this machine's."""

    name = "when"

    def __init__(self, *, end: bool) -> None:
        self.end = end

    def convert(self, value: str | datetime, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """An aware time; the clock is read here and nowhere below the doors."""
        return value if isinstance(value, datetime) else parse_when(value, local_now(), end=self.end)


BEGIN = Moment(end=False)
END = Moment(end=True)


def since_option(help_: str) -> Callable[[Any], Any]:
    """`--since`, from which time on."""
    return click.option("--since", type=BEGIN, metavar="WHEN", help=help_)


def until_option(help_: str) -> Callable[[Any], Any]:
    """`--until`, up to which time."""
    return click.option("--until", type=END, metavar="WHEN", help=help_)


class _TextOrStdin(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A text; `-` reads it from standard input, which can be read once."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value != "-":
            return value
        if ctx is not None and ctx.meta.setdefault(_READ_FOR, param) is not param:
            self.fail("standard input is another text already: only one can be -", param, ctx)
        return standard_input()


TEXT = _TextOrStdin()
_READ_FOR = f"{__name__}.read_for"


def standard_input() -> str:
    """All of it, without the line end that a shell's `echo` adds."""
    data = sys.stdin.buffer.read() if sys.stdin else b""
    return data.decode("utf-8", "replace").removesuffix("\n")


class Door(NamedTuple):
    """`color` is None when the terminal decides; `terminal` says whether stdout is one."""

    vault: str | None = None
    color: bool | None = None
    terminal: bool = False


class GivenPath(click.Path):
    """Never an empty one: `--vault "$UNSET"` must not mean this folder."""

    def __init__(self, *, file_okay: bool = True, path_type: type | None = None) -> None:
        super().__init__(file_okay=file_okay, path_type=path_type)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click does it, after a look at the text."""
        if value == "":
            self.fail("it is empty; name a folder or a file, or leave it out", param, ctx)
        return super().convert(value, param, ctx)


_MORE = f"{__name__}.more"


class PassingOn(click.Command):
    """A command that hands what stands behind `--` to a client; `client_arguments` has it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Only what stands before the first `--` is parsed."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_MORE] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line says so."""
        return [*super().collect_usage_pieces(ctx), "[-- CLIENT ARGUMENTS...]"]


def client_arguments(ctx: click.Context) -> tuple[str, ...]:
    """What stands behind `--`."""
    more: tuple[str, ...] = ctx.meta[_MORE]
    return more
