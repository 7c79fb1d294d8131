"""What leaves through stdout and stderr: data and talk, cleaned of what could steer a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import click

from crucible.cli.options import Door
from crucible.core.patterns import late_pattern

if TYPE_CHECKING:
    import re

    from crucible.documents.markdown.source import Problem


PROBLEMS_FOUND = 3
"""The exit code of a command that did its work and found something wrong."""

_NARROWEST, _WIDEST = 20, 500
"""Columns.  In fewer rich shows nothing at all; more of them only cost memory."""

_CONTROLS = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What steers a terminal, and what turns the order of letters round."""
_PICTURES, _DELETE = 0x2400, 0x7F
"""The Unicode picture of NUL, which those of the other C0 controls follow, and the code of DEL, whose picture is elsewhere."""
_UNSEEN = late_pattern(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_SURROGATES = late_pattern(r"[\ud800-\udfff]")
_LINE_ENDS = late_pattern("\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""Whatever some program takes for the end of a line."""


def clean(text: str) -> str:
    """Text that is safe to show on a terminal; anybody may have written what a note holds.

    Control characters become visible: `␛` for ESC, `<9b>` and `<202e>` for those without a picture.
    """
    if text.isprintable():
        return text
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(_sign, text.replace("\r\n", "\n")))


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < ord(" "):
        return chr(_PICTURES + code)
    return "\u2421" if code == _DELETE else f"<{code:x}>"


def clean_line(text: str) -> str:
    """The same on one line: a line end in a note or a file's name must not begin a line that looks like ours."""
    return text if text.isprintable() else clean(_LINE_ENDS.sub("⏎", text))


def write(line: str = "") -> None:
    """A line of data on stdout, always one."""
    click.echo(clean_line(line))


def write_facts(facts: Iterable[tuple[str, str]], width: int) -> None:
    """Names in a column of this width and what is known of each, indented; without those of which nothing is."""
    for name, text in facts:
        if text:
            write(f"  {name:<{width}} {text}")


def write_text(text: str) -> None:
    """Several lines on stdout, for a format that quotes line ends itself."""
    click.echo(clean(text))


def write_document(text: str | bytes, door: Door, *, end: bool = False) -> None:
    """Write a document to stdout, and a newline if `end`: its exact bytes into a file or pipe, cleaned text on a terminal."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    click.echo(clean(data.decode("utf-8", "replace")) if door.terminal else data, nl=end)


def write_json_lines(lines: Iterable[bytes]) -> None:
    """Write lines of JSON to stdout as they come; on a terminal, control characters are escaped."""
    sys.stdout.buffer.writelines(map(_escaped, lines) if sys.stdout.isatty() else lines)


def write_json(value: object, *, indent: bool = True) -> None:
    """One JSON document on stdout, on one line unless indented: UTF-8, whatever the terminal's own encoding."""
    import orjson  # noqa: PLC0415  one format of several

    try:
        data = orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else 0)
    except TypeError:  # a byte that was no UTF-8, or a number beyond 64 bits
        import json  # noqa: PLC0415  thirty times as slow

        text = json.dumps(value, ensure_ascii=False, indent=2 if indent else None)
        data = _SURROGATES.sub("\ufffd", text).encode()
    click.echo(_escaped(data))


def _escaped(data: bytes) -> bytes:
    """JSON of the same value that is safe to show on a terminal."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return _UNSEEN.sub(lambda m: f"\\u{ord(m[0]):04x}", data.decode()).encode()


def say(line: str, style: str = "", *, color: bool | None = None) -> None:
    """A line of talk on stderr, always one; `color` says what no command's context says any more."""
    click.secho(clean_line(line), err=True, fg=style or None, reset=bool(style), color=color)


def warn(*lines: object) -> None:
    """Lines of talk that begin with `cru:`: what went wrong, though the command goes on."""
    for line in lines:
        say(f"cru: {line}", style="yellow")


def counted(count: int, noun: str, *, zero: str = "0") -> str:
    """`1 step`, `2 steps`."""
    return f"{count or zero} {noun}{'' if count == 1 else 's'}"


def write_problems(rows: Sequence[Mapping[str, object]], format_: str) -> None:
    """Problems with `path`, `line`, `code` and `message` on stdout: as JSON, else as `path:line: code: message`."""
    if format_ == "json":
        write_json(rows)
        return
    for row in rows:
        write(f"{row['path']}:{row['line']}: {row['code']}: {row['message']}")


def say_lines(text: str) -> None:
    """Several lines of talk; what was filled into them is clean already."""
    for line in text.rstrip("\n").split("\n"):
        say(line)


def say_problems(path: str, problems: Iterable[Problem]) -> None:
    """`path:line: code: message` on stderr, as compilers do."""
    for problem in problems:
        say(f"{path}:{problem.line}: {problem.code}: {problem.message}", style="yellow")


def in_color(door: Door) -> bool:
    """Whether stdout is to have colours: as the user said, else when it is a terminal."""
    return door.terminal if door.color is None else door.color


def given_width() -> int | None:
    """How wide `COLUMNS` says to draw, within reason; None when it says nothing and the terminal is to be asked.

    Rich reads it too and believes 0.
    """
    if "COLUMNS" not in os.environ:
        return None
    import shutil  # noqa: PLC0415  slow, and few commands draw

    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def room_of(door: Door) -> int | None:
    """Columns of the terminal; None for a pipe, which takes what there is."""
    if not door.terminal:
        return None
    import shutil  # noqa: PLC0415  slow, and few commands draw

    return given_width() or shutil.get_terminal_size().columns


Show = Callable[..., None]
"""Called with how much is done and how much there is; what else is told is not shown."""


@contextmanager
def bar(label: str) -> Iterator[Show]:
    """What to call as the work goes on; `label` says what is done."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, *_: None
        return
    # Late: a script has no use for a bar, and rich takes as long to load as all the rest.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415  late, as above
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True, width=given_width())
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=None)

        def show(done: int, total: int, *_: object) -> None:
            progress.update(task, completed=done, total=total)

        yield show


class ReadingLine:
    """Shown for so many notes or more: fewer are read before anybody wonders."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)

    def show(self, done: int, total: int) -> None:
        """Told after each note, or some of them."""
        if total >= self._least and sys.stderr.isatty():
            self._shown = True
            click.echo(f"\rreading notes: {done:,} of {total:,}", err=True, nl=False)
