"""`cru session learn --rules`: corrections that recur, as a diff to AGENTS.md or CLAUDE.md; written only with `--write`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from crucible.cli.output import clean, say, write, write_json
from crucible.cli.surroundings import from_here
from crucible.commands.learn.recurring_rules import Rule, diff_of, rules_of, with_rules
from crucible.core import files
from crucible.core.errors import CrucibleError, NoteChanged, UsageError
from crucible.documents.session.session import Session
from crucible.vault.notes.vault import Vault

_NAMES = ("AGENTS.md", "CLAUDE.md")


class Target(NamedTuple):
    """The file, or the folder whose project has it; whether to write it, and without a question."""

    file: str
    write: bool
    yes: bool


def propose_rules(
    vault: Vault,
    paths: Sequence[Path],
    redact: Callable[[str], tuple[str, object]],
    target: Target,
    format_: str,
) -> bool:
    """Print the diff, or all corrections as JSON, and write the file if that was asked for; False if a note could not be read."""
    wrong: list[CrucibleError] = []
    rules = rules_of(_sessions(vault, paths, wrong), redact)
    place = Path(from_here(target.file))
    place = _place(place.resolve()) if place.is_dir() else place
    old = _text(place)
    new = with_rules(old, rules)
    if format_ == "json":
        write_json([_row(rule) for rule in rules])
    elif new != old:
        for line in diff_of(place.name, old, new).rstrip("\n").split("\n"):
            write(clean(line))
    for error in wrong:
        say(f"cru: {error}", style="yellow")
    recurring = sum(rule.recurs for rule in rules)
    say(f"{recurring} of {len(rules)} corrections recur over sessions; `--format json` lists all")
    if new == old:
        say(f"{place.name}: nothing to add")
    elif target.write and _is_agreed(place, yes=target.yes):
        if _text(place) != old:
            raise NoteChanged(f"{place}: changed in the meantime", "run it again")
        files.write_atomic(place.resolve(), new.encode())
        say(f"{place}: written")
    return not wrong


def _sessions(vault: Vault, paths: Sequence[Path], wrong: list[CrucibleError]) -> Iterator[Session]:
    for path in paths:
        try:
            yield vault.read(path).session
        except CrucibleError as error:
            wrong.append(error)


def _place(folder: Path) -> Path:
    """The nearest AGENTS.md, or CLAUDE.md, up to the repository's root; AGENTS.md there if there is none."""
    for above in (folder, *folder.parents):
        found = next((above / name for name in _NAMES if (above / name).is_file()), None)
        if found or (above / ".git").exists():
            return found or above / _NAMES[0]
    return folder / _NAMES[0]


def _text(place: Path) -> str:
    if not place.exists():
        return ""
    try:
        return files.read_bytes(place)[0].decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{place}: not UTF-8", "name another file: --rules FILE") from error


def _is_agreed(place: Path, *, yes: bool) -> bool:
    if not yes and not sys.stdin.isatty():
        raise UsageError("--write asks before it writes, and nobody is at a terminal", "add --yes")
    return yes or click.confirm(f"Write this to {clean(str(place))}?", err=True)


def _row(rule: Rule) -> dict[str, object]:
    return {
        "rule": rule.text,
        "recurs": rule.recurs,
        "count": len(rule.findings),
        "sessions": rule.sessions,
        "findings": rule.findings,
    }
