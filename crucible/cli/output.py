"""What leaves through stdout and stderr: data and talk, cleaned of what could steer a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import click

from crucible.note.source import Problem

__all__ = ["clean", "say", "say_problems", "write", "write_json"]

# A whole escape sequence goes: dropping only its first character would leave "[31m" in the text.
_ESCAPES = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> str:
    """Text that a terminal shows and does not obey: what a note holds was written by anybody."""
    if text.isprintable():
        return text
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", _ESCAPES.sub("", text)))


def write(line: str = "") -> None:
    """A line of data on stdout."""
    click.echo(clean(line))


def write_json(value: object) -> None:
    """One JSON document on stdout: UTF-8, whatever the terminal's own encoding."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(_SURROGATES.sub("\ufffd", text).encode())


def say(line: str, style: str = "") -> None:
    """A line of talk on stderr."""
    click.secho(clean(line), err=True, fg=style or None)


def say_problems(path: str, problems: Iterable[Problem]) -> None:
    """`path:line: code: message` on stderr, as compilers do."""
    for problem in problems:
        say(f"{path}:{problem.line}: {problem.code}: {problem.message}", style="yellow")
