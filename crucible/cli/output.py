"""Write data to stdout and messages to stderr, without control characters that affect a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Self

import click

from crucible.cli.options import Door
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern

if TYPE_CHECKING:
    import re

    from crucible.documents.markdown.source import Problem


PROBLEMS_FOUND = 3
"""The exit code of a command that ran and found problems."""

_NARROWEST, _WIDEST = 20, 500
"""Minimum and maximum width in columns: rich shows nothing below the minimum, and wastes memory above the maximum."""

_CONTROLS = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters for terminals and text direction."""
_PICTURES, _DELETE = 0x2400, 0x7F
"""The code points of `␀`, which the pictures of the other C0 controls follow, and of DEL."""
_UNSEEN = late_pattern(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_SURROGATES = late_pattern(r"[\ud800-\udfff]")
_COMMANDS = {"cru", "export", "for", "git"}
"""First words of hints that are commands or examples."""
_ENDS_SENTENCE = late_pattern(r"(^|\s)[^\s=]*[\w\")`']$")
_LINE_ENDS = late_pattern("\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""Everything that some program treats as a line end."""


def clean(text: str) -> str:
    """Make text safe for a terminal, since a note may contain anything.

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
    """Like `clean`, but on one line, so that a line break in a note or file name cannot fake one of our messages."""
    return text if text.isprintable() else clean(_LINE_ENDS.sub("⏎", text))


def write(line: str = "", *, end: bool = True) -> None:
    """Write one line of data to stdout; without `end` it goes on."""
    click.echo(clean_line(line), nl=end)


def write_marked(mark: str, color: str, line: str, door: Door) -> None:
    """Write a line of data that begins with a mark; the mark has the colour if the output is coloured."""
    shown = clean_line(mark)
    click.echo((click.style(shown, fg=color) if color and in_color(door) else shown) + clean_line(line))


def write_facts(facts: Iterable[tuple[str, str]], width: int) -> None:
    """Write indented names and values, with names padded to `width`; empty values are skipped."""
    for name, text in facts:
        if text:
            write(f"  {name:<{width}} {text}")


def write_text(text: str) -> None:
    """Write several lines to stdout, for formats that escape line breaks themselves."""
    click.echo(clean(text))


def write_document(text: str | bytes, door: Door, *, end: bool = False) -> None:
    """Write a document to stdout: unchanged to a file or pipe, cleaned to a terminal.  `end` adds a newline."""
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    click.echo(clean(data.decode("utf-8", "replace")) if door.terminal else data, nl=end)


def write_json_lines(lines: Iterable[bytes]) -> None:
    """Write lines of JSON to stdout as they arrive; on a terminal, control characters are escaped."""
    sys.stdout.buffer.writelines(map(_escaped, lines) if sys.stdout.isatty() else lines)


SCHEMA = 1
"""Version of the objects that commands write as JSON and TOON.  Increase it when a key is renamed or removed."""


def write_data(value: Mapping[str, object], format_: str = "json") -> None:
    """Write one object to stdout as `json` or `toon`, with the schema's version as its first key."""
    if format_ == "toon":
        write_text(data_text(value, format_))
    else:
        click.echo(_escaped(json_bytes({"schema": SCHEMA, **value}, indent=True)))


def data_text(value: Mapping[str, object], format_: str = "json") -> str:
    """Return an object as JSON or TOON, with the schema's version as its first key."""
    data = json_bytes({"schema": SCHEMA, **value}, indent=True)
    if format_ != "toon":
        return data.decode()
    import orjson  # noqa: PLC0415  needed for only one of the formats
    import toons  # noqa: PLC0415  as above

    # By way of JSON, which turns tuples, enumerations and bytes that are not UTF-8 into what TOON knows.
    return toons.dumps(orjson.loads(data))


def write_json_line(value: object) -> None:
    """Write one value as a line of JSON."""
    click.echo(_escaped(json_bytes(value)))


def json_bytes(value: object, *, indent: bool = False) -> bytes:
    """Encode a value as JSON in UTF-8."""
    import orjson  # noqa: PLC0415  needed for only one of the formats

    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else 0)
    except TypeError:  # a byte that is not UTF-8, or a number beyond 64 bits
        import json  # noqa: PLC0415  thirty times slower

        text = json.dumps(value, ensure_ascii=False, indent=2 if indent else None)
        return _SURROGATES.sub("\ufffd", text).encode()


def _escaped(data: bytes) -> bytes:
    """Return equivalent JSON that is safe to show on a terminal."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return _UNSEEN.sub(lambda m: f"\\u{ord(m[0]):04x}", data.decode()).encode()


_HOLDS = f"{__name__}.holds"


class _HeldMessages(NamedTuple):
    """Messages to write later, if `is_late()` when they come."""

    is_late: Callable[[], bool]
    messages: list[Callable[[], None]]


@contextmanager
def hold_messages(is_late: Callable[[], bool]) -> Iterator[None]:
    """Hold messages while `is_late()`, and write them at the end: output that they follow is not written yet."""
    meta = click.get_current_context().meta
    held = meta[_HOLDS] = _HeldMessages(is_late, [])
    try:
        yield
    finally:
        del meta[_HOLDS]
        for write_message in held.messages:
            write_message()


def say(line: str, style: str = "", *, color: bool | None = None) -> None:
    """Write one message line to stderr; `color` is for callers that have no click context."""
    context = click.get_current_context(silent=True)
    held = context.meta.get(_HOLDS) if context else None
    if held and held.is_late():
        held.messages.append(partial(say, line, style, color=color))
        return
    click.secho(clean_line(line), err=True, fg=style or None, reset=bool(style), color=color)


def warn(*lines: object) -> None:
    """Write warnings to stderr; the command continues."""
    for line in lines:
        say(f"warning: {line}", style="yellow")


def say_error(message: object, hint: str = "", *, color: bool | None = None) -> None:
    """Write an error to stderr: what happened, and on a second line what to do."""
    say(f"error: {message}", style="red", color=color)
    if hint:
        say(f"       {_sentence(hint)}")


def _sentence(hint: str) -> str:
    """Return a hint as a sentence; commands and examples stay as they are."""
    first = hint.partition(" ")[0].rstrip(",;:")
    if first in _COMMANDS:
        return hint
    start = hint[0].upper() if first.isalpha() else hint[0]
    end = "." if _ENDS_SENTENCE.search(hint) and ": " not in hint else ""
    return f"{start}{hint[1:]}{end}"


def times(count: int) -> str:
    """Return how often something happened: `once` or `2 times`."""
    return "once" if count == 1 else f"{count:,} times"


def write_problems(rows: Sequence[Mapping[str, object]], format_: str) -> None:
    """Write problems to stdout: JSON, TOON, or lines of the form `path:line: code: message`."""
    if format_ != "text":
        write_data({"problems": rows}, format_)
        return
    for row in rows:
        write(f"{row['path']}:{row['line']}: {row['code']}: {row['message']}")


def say_lines(text: str) -> None:
    """Write several message lines; values in them must already be clean."""
    for line in text.rstrip("\n").split("\n"):
        say(line)


def say_problems(path: str, problems: Iterable[Problem]) -> None:
    """Write problems to stderr as `path:line: code: message`, as compilers do."""
    for problem in problems:
        say(f"{path}:{problem.line}: {problem.code}: {problem.message}", style="yellow")


def in_color(door: Door) -> bool:
    """True if stdout is coloured: by the user's option or, without one, if it is a terminal."""
    return door.terminal if door.color is None else door.color


def given_width() -> int | None:
    """Return the width in `COLUMNS`, kept within sensible limits; None if unset.

    Rich reads the variable too, but accepts 0.
    """
    if "COLUMNS" not in os.environ:
        return None
    import shutil  # noqa: PLC0415  slow, and few commands draw

    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def room_of(door: Door) -> int | None:
    """Return the terminal's width in columns; None for a pipe, which has no limit."""
    if not door.terminal:
        return None
    import shutil  # noqa: PLC0415  slow, and few commands draw

    return given_width() or shutil.get_terminal_size().columns


Show = Callable[..., None]
"""Called with the number of completed items and the total; further arguments are ignored."""


@contextmanager
def bar(label: str) -> Iterator[Show]:
    """Show a progress bar with a `label`; yields the function that updates it."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, *_: None
        return
    # Imported late: scripts get no bar, and rich takes as long to load as everything else.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415  late, as above
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True, width=given_width())
    rate = TextColumn("{task.fields[rate]}")
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=None, rate="")

        def show(done: int, total: int, *_: object) -> None:
            speed = progress.tasks[0].speed
            progress.update(task, completed=done, total=total, rate=f"{speed:.0f}/s" if speed else "")

        yield show


class ReadingLine:
    """A progress line for reading notes, shown only from a minimum number on; fewer are read quickly enough."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)

    def show(self, done: int, total: int) -> None:
        """Update the line, if there are enough notes to show it."""
        if total >= self._least and sys.stderr.isatty():
            self._shown = True
            click.echo(f"\rreading notes: {done:,} of {total:,}", err=True, nl=False)


_EIGHTHS = " ▏▎▍▌▋▊▉█"


def block_bar(value: int, largest: int, length: int) -> str:
    """Draw a bar of blocks, `length` of them for the largest value; values above 0 are always visible."""
    if value <= 0:
        return ""
    eighths = max(1, round(8 * length * value / largest))
    return (_EIGHTHS[8] * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def can_draw_bars() -> bool:
    """True if stdout's encoding can represent the block characters."""
    try:
        _EIGHTHS.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return False
    return True


def short_number(value: float) -> str:
    """Shorten a number for narrow tables, such as `999`, `3.4k`, `120k` or `1.2M`."""
    number, unit = float(round(value)), ""
    for larger in "kMGT":
        if number < 999.5:
            break
        number, unit = number / 1000, larger
    return f"{number:,.0f}{unit}" if not unit or number >= 99.95 else f"{number:.1f}{unit}"
