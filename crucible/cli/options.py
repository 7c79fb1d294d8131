"""Options shared by several commands.  Keep imports light, since some commands must start quickly."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from crucible.core.errors import UsageError
from crucible.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from crucible.core.processes import Workers

_AS_JSON = f"{__name__}.as_json"


def format_option(*more: str, default: str | None = "text", help_: str = "Output format.") -> Callable[[Any], Any]:
    """Return the options `--format` (text, json, toon and `more`) and `--json`, its short form."""
    chosen = click.option(
        "--format",
        "format_",
        type=click.Choice(("text", "json", "toon", *more)),
        default=default,
        show_default=True,
        callback=_format_of,
        help=help_,
    )
    return lambda command: chosen(JSON_OPTION(command))


def _note_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_AS_JSON] = True


def _format_of(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return `json` if `--json` was given; refuse a different `--format` beside it."""
    if _AS_JSON not in ctx.meta:
        return value
    if value != "json" and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
        raise UsageError(f"--json and --format {value} cannot be used together", "Remove one of them.")
    return "json"


# Eager, so that it is known when `--format` is processed.
JSON_OPTION = click.option(
    "--json", is_flag=True, is_eager=True, expose_value=False, callback=_note_json, help="Same as --format json."
)


def is_data(format_: str | None) -> bool:
    """True for the formats that programs read: an object with the schema's version."""
    return format_ in ("json", "toon")


def one_of(kinds: Iterable[StrEnum]) -> click.Choice[str]:
    """Return the values of an enumeration as choices."""
    return click.Choice([kind.value for kind in kinds])


def flag(name: str, help_: str, parameter: str | None = None) -> Callable[[Any], Any]:
    """Return an option without a value."""
    return click.option(*filter(None, (name, parameter)), is_flag=True, help=help_)


def yes_option(help_: str = "Do not ask for confirmation.") -> Callable[[Any], Any]:
    """Return the option `--yes`, which answers the command's questions."""
    return click.option("-y", "--yes", is_flag=True, help=help_)


def only_option(name: str, parameter: str, kinds: Iterable[StrEnum]) -> Callable[[Any], Any]:
    """A repeatable option that filters by the values of an enumeration."""
    return click.option(name, parameter, multiple=True, type=one_of(kinds), help="Only this type; repeatable.")


def limit_option(help_: str = "Maximum number of results.", *, least: int = 1) -> Callable[[Any], Any]:
    """Return the option `-n`, the maximum number of results."""
    return click.option("-n", "--limit", type=click.IntRange(min=least), metavar="N", help=help_)


def with_options(options: Iterable[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Add options to a command; its help lists them in this order."""

    def add(command: Any) -> Any:
        # Decorators are applied from the bottom up.
        for option in reversed([*options]):
            command = option(command)
        return command

    return add


NULL_OPTION = click.option(
    "-0", "--null", is_flag=True, help="With --format paths: end each path with NUL, for xargs -0."
)


def check_null(format_: str, *, null: bool) -> None:
    """Refuse `--null` with any format but paths."""
    if null and format_ != "paths":
        raise UsageError("--null requires --format paths", "other formats do not list files")


def user_zone() -> tzinfo:
    """Return the user's time zone: the setting `timezone`, else the system's."""
    # Imported late, as below: help texts need no settings.
    from crucible.core.settings.settings import load_user_settings  # noqa: PLC0415
    from crucible.core.settings.toml_scan import user_settings_path  # noqa: PLC0415  as above

    home = os.path.expanduser("~")
    return load_user_settings(user_settings_path(os.environ, home), home).zone


def local_now() -> datetime:
    """Return the current time in the user's time zone."""
    return datetime.now(user_zone())


class Moment(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A date, a time or an age; times without a zone are in the user's time zone."""

    name = "when"

    def __init__(self, *, end: bool) -> None:
        self.end = end

    def convert(self, value: str | datetime, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return a time with a time zone.  The clock is read here because lower packages must not read it."""
        from crucible.vault.index.time_filters import parse_when  # noqa: PLC0415  late, as above

        return value if isinstance(value, datetime) else parse_when(value, local_now(), end=self.end)


BEGIN = Moment(end=False)
END = Moment(end=True)


def since_option(help_: str) -> Callable[[Any], Any]:
    """Return the option `--since`, the earliest time."""
    return click.option("--since", type=BEGIN, metavar="WHEN", help=help_)


def until_option(help_: str) -> Callable[[Any], Any]:
    """Return the option `--until`, the latest time."""
    return click.option("--until", type=END, metavar="WHEN", help=help_)


class _TextOrStdin(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A string; `-` reads it from standard input, which only one option can use."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value != "-":
            return value
        if ctx is not None and ctx.meta.setdefault(_READ_FOR, param) is not param:
            self.fail("only one option can read standard input (-)", param, ctx)
        return standard_input()


TEXT = _TextOrStdin()
_READ_FOR = f"{__name__}.read_for"


def standard_input() -> str:
    """Read all of standard input, without the final newline that `echo` adds."""
    data = sys.stdin.buffer.read() if sys.stdin else b""
    return data.decode("utf-8", "replace").removesuffix("\n")


class Door(NamedTuple):
    """The global options; `color` is None to let the terminal decide, `terminal` is True if stdout is a terminal."""

    vault: str | None = None
    color: bool | None = None
    terminal: bool = False
    pager: bool = True


class GivenPath(click.Path):
    """A path that must not be empty: `--vault "$UNSET"` must not mean the working directory."""

    def __init__(self, *, file_okay: bool = True, path_type: type | None = None) -> None:
        super().__init__(file_okay=file_okay, path_type=path_type)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Reject an empty path, then convert as click does."""
        if value == "":
            self.fail("it is empty; give a path, or remove it", param, ctx)
        return super().convert(value, param, ctx)


_MORE = f"{__name__}.more"


class PassingOn(click.Command):
    """A command that passes the arguments after `--` to a client; `client_arguments` returns them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse only the arguments before the first `--`."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_MORE] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Add the client's arguments to the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- CLIENT ARGUMENTS...]"]


def client_arguments(ctx: click.Context) -> tuple[str, ...]:
    """Return the arguments after `--`."""
    more: tuple[str, ...] = ctx.meta[_MORE]
    return more


WORKERS = (
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Work in N processes, and continue an interrupted run.",
    ),
    click.option(
        "--on",
        "scheduler",
        metavar="ADDRESS",
        help="Work on the Dask cluster of this scheduler: tls://host:8786.",
    ),
    click.option(
        "--from",
        "copy",
        metavar="ADDRESS",
        help="Let the workers read this copy of the vault: s3://bucket/prefix.",
    ),
)


def workers_of(jobs: int | None, scheduler: str | None, copy: str | None) -> Workers | None:
    """Return where to work, None for the usual way.  Raises `UsageError` for both options or an unsafe address."""
    if jobs is None and scheduler is None:
        if copy is not None:
            raise UsageError("--from requires --jobs or --on", "add one of them")
        return None
    from crucible.core.buckets import check_bucket  # noqa: PLC0415  late, as above
    from crucible.core.cluster import check_scheduler  # noqa: PLC0415  as above
    from crucible.core.processes import Workers  # noqa: PLC0415  as above

    copy = check_bucket(copy) if copy is not None else ""
    if scheduler is None:
        return Workers(jobs or 1, copy=copy)
    if jobs is not None:
        raise UsageError("--jobs and --on cannot be used together", "remove one of them")
    return Workers(scheduler=check_scheduler(scheduler), copy=copy)
