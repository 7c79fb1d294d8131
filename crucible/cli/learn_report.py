"""The reports of `cru session learn`: counts, written paths, and recurring corrections as a diff."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from crucible.cli.environment import absolute_path
from crucible.cli.options import Door, is_data
from crucible.cli.output import clean, say, warn, write, write_data
from crucible.cli.table_output import write_rows
from crucible.commands.learn.case import Case, CaseStatus, CaseType, Puzzle
from crucible.commands.learn.case_folder import WrittenCases
from crucible.commands.learn.case_gathering import SessionCases
from crucible.commands.learn.correction_cases import RecurringRule, recurring_corrections, unified_diff_of, with_rules
from crucible.commands.learn.export import Exported
from crucible.commands.learn.puzzle_files import WrittenPuzzles
from crucible.core import files
from crucible.core.errors import CrucibleError, NoteChanged, UsageError
from crucible.core.text import counted
from crucible.documents.session.session import Session
from crucible.vault.notes.vault import Vault

_COLUMNS = ("type", "cases", "verified", "open", "accepted", "rejected", "sessions", "tokens")


@dataclass
class CaseTally:
    """Counts and note paths of the cases gathered so far."""

    exporting: bool
    sessions: int = 0
    rejected: int = 0
    cases: int = 0
    problems: int = 0
    _told: set[str] = field(default_factory=set)
    _places: dict[str, Path] = field(default_factory=dict)
    _edited: set[str] = field(default_factory=set)

    def place(self, case: Case) -> Path | None:
        """Return the note of a gathered case, if it has one."""
        return self._places.get(case.id)

    def is_edited(self, case: Case) -> bool:
        """True if the user edited the note of a gathered case."""
        return case.id in self._edited

    def counted(self, gathered: SessionCases) -> Iterator[Case]:
        """Count a session's cases and yield them; an export skips rejected ones."""
        self.sessions += 1
        self._places.update(gathered.places)
        self._edited |= gathered.edited
        for problem in gathered.problems:
            self.report_problem(problem)
        for case in gathered.cases:
            if case.review is CaseStatus.REJECTED:
                self.rejected += 1
                if self.exporting:
                    continue
            self.cases += 1
            yield case

    def report_problem(self, problem: CrucibleError) -> None:
        """Report a problem, unless it has been reported before."""
        if str(problem) not in self._told:
            self._told.add(str(problem))
            self.problems += 1
            warn(problem)

    def report(self, dropped: int) -> None:
        """Report how many sessions were read and how many cases were skipped."""
        told = [f"{counted(self.sessions, 'session')} read"]
        told += [f"{counted(dropped, 'duplicate')} skipped"] if dropped else []
        told += (
            [f"{counted(self.rejected, 'rejected case')} {'skipped' if self.exporting else 'counted'}"]
            if self.rejected
            else []
        )
        say("; ".join(told))


def count_rows(cases: Iterable[Case]) -> list[dict[str, Any]]:
    """Return a row of counts for each type, and one for all types."""
    names = [*CaseType, "all"]
    counts = {name: Counter[str]() for name in names}
    sessions: dict[str, set[str]] = {name: set() for name in names}
    for case in cases:
        told = {
            "cases": 1,
            "verified": int(bool(case.verification)),
            "open": int(isinstance(case.body, Puzzle) and case.body.is_open),
            case.review: 1,
            "tokens": case.tokens,
        }
        for name in (case.type, "all"):
            counts[name].update(told)
            sessions[name].add(case.place.session)
    return [
        {name: counts[type_][name] for name in _COLUMNS} | {"type": str(type_), "sessions": len(sessions[type_])}
        for type_ in names
    ]


def write_preview(rows: Sequence[Mapping[str, Any]], format_: str, door: Door) -> None:
    """Write the table of counts."""
    write_rows(rows, _COLUMNS, format_, "types", door)
    if format_ == "text" and any(row["cases"] for row in rows):
        say(
            'Nothing was written. Keep the cases as notes with "--export markdown", or export them with "--export jsonl".'
        )


def say_exported(done: Exported, format_: str | None, sides: Sequence[str] = ()) -> None:
    """Write the paths of the files and the card, or JSON; a stream (`format_` None) is reported on stderr only.

    `sides` are the names of all splits; empty splits are reported.
    """
    tally = done.tally
    left_out = sorted(tally.left_out.items())
    exported: dict[str, object] = {
        "files": [
            {"path": str(one.path), "split": one.split, "rows": one.rows, "bytes": one.size} for one in done.files
        ],
        "card": str(done.card) if done.card else None,
        "rows": tally.rows,
        "left_out": dict(left_out),
        "redactions": dict(sorted(tally.redactions.items())),
    }
    if format_ is not None:
        _write_files(exported, filter(None, (*(one.path for one in done.files), done.card)), format_)
    left = ", ".join(f"{count} {name}" for name, count in left_out)
    say(f"{counted(tally.rows, 'row')}" + (f"; without content in this shape: {left}" if left else ""))
    if not tally.rows and format_ is not None:
        say("nothing was written")
    bare = [side for side in sides if not tally.by["split"][side]]
    if bare and tally.rows:
        say(
            f"no rows in {', '.join(bare)}: related sessions stay together, so few sessions split unevenly",
            style="yellow",
        )
    _say_redactions(tally.redactions)


def say_kept(vault: Vault, kept: WrittenCases, format_: str) -> None:
    """Write the paths of new and replaced notes, or JSON, and report the counts."""
    exported: dict[str, object] = {
        name: [vault.relative(path) for path in paths] for name, paths in kept._asdict().items()
    }
    _write_files(exported, (*kept.new, *kept.replaced), format_)
    say(
        f"{counted(len(kept.new), 'case')} new, {len(kept.replaced)} replaced, {len(kept.same)} unchanged, "
        f"{len(kept.left)} kept because you reviewed or changed them"
    )
    if kept.new or kept.replaced:
        say('list them with "cru case list --status proposed", or open Cases.base in Obsidian')


def say_puzzles(put: WrittenPuzzles, format_: str) -> None:
    """Write the paths of the puzzles' files, or JSON, and report the counts."""
    exported: dict[str, object] = {name: [*map(str, getattr(put, name))] for name in ("written", "same", "left")}
    exported["redactions"] = dict(sorted(put.redactions.items()))
    _write_files(exported, (*put.written, *put.same), format_)
    say(f"{counted(len(put.written), 'file')} written, {len(put.same)} unchanged")
    if put.left:
        say(
            f"{counted(len(put.left), 'file')} kept because they were changed; overwrite them with --force",
            style="yellow",
        )
        for path in put.left:
            say(f"  {path}" + (": was changed" if path in put.changed else ""))
    if not (put.written or put.same or put.left):
        say("no puzzles among the cases, so no files were written")
    _say_redactions(put.redactions)


def _say_redactions(redactions: Mapping[str, int]) -> None:
    if redactions:
        say(f"redacted: {', '.join(f'{count} {rule}' for rule, count in sorted(redactions.items()))}")


def _write_files(exported: Mapping[str, object], paths: Iterable[object], format_: str) -> None:
    if is_data(format_):
        write_data(exported, format_)
        return
    for path in paths:
        write(str(path))


_NAMES = ("AGENTS.md", "CLAUDE.md")


def propose_rules(
    vault: Vault,
    paths: Sequence[Path],
    redact: Callable[[str], tuple[str, object]],
    file: str,
    format_: str,
    *,
    write_file: bool,
    yes: bool,
) -> bool:
    """Print a diff, or all corrections as JSON; write the file if asked.  Returns False if a note was unreadable."""
    wrong: list[CrucibleError] = []
    rules = recurring_corrections(_sessions(vault, paths, wrong), redact)
    place = Path(absolute_path(file))
    place = _place(place.resolve()) if place.is_dir() else place
    old = _text(place)
    new = with_rules(old, rules)
    if is_data(format_):
        write_data({"rules": [_row(rule) for rule in rules]}, format_)
    elif new != old:
        for line in unified_diff_of(place.name, old, new).rstrip("\n").split("\n"):
            write(clean(line))
    warn(*wrong)
    recurring = sum(rule.recurs for rule in rules)
    say(f"{recurring} of {len(rules)} corrections recur across sessions; --format json lists all")
    if new == old:
        say(f"{place.name}: nothing to add")
    elif write_file and _is_agreed(place, yes=yes):
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
    """Return the nearest AGENTS.md or CLAUDE.md up to the repository's root, or else where to create AGENTS.md."""
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
        raise UsageError(f"{place}: not UTF-8", "choose another file: --rules FILE") from error


def _is_agreed(place: Path, *, yes: bool) -> bool:
    if not yes and not sys.stdin.isatty():
        raise UsageError("--write needs a confirmation, and there is no terminal", "add --yes")
    return yes or click.confirm(f"Write this to {clean(str(place))}?", err=True)


def _row(rule: RecurringRule) -> dict[str, object]:
    return {
        "rule": rule.text,
        "recurs": rule.recurs,
        "count": len(rule.findings),
        "sessions": rule.sessions,
        "findings": rule.findings,
    }
