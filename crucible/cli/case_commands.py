"""`cru case list`, `show`, `accept`, `reject` and `check`: the case notes in `cases/`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from crucible.cli.id_arguments import CASE, PickedId
from crucible.cli.options import NULL_OPTION, Door, check_null, flag, format_option, limit_option, only_option
from crucible.cli.output import PROBLEMS_FOUND, say, say_problems, warn, write_document, write_problems
from crucible.cli.table_output import write_paths, write_rows
from crucible.cli.vault_access import here, open_vault
from crucible.commands.learn.case import Body, Case, CaseStatus, CaseType, Choice, Correction, Delegation
from crucible.commands.learn.case_folder import CaseNote, find_case, load_case, load_cases, review_case
from crucible.core.errors import CrucibleError
from crucible.core.text import counted
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.markdown.source import Problem
from crucible.vault.index.schema import cell_of_path
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import CASES

_TABLE = ("id", "type", "status", "difficulty", "about")
_COLUMNS = (
    *_TABLE,
    "session",
    "phase",
    "line",
    "agent",
    "model",
    "project",
    "started",
    "tags",
    "tokens",
    "verified",
    "fault",
    "category",
    "problems",
    "path",
)
_ABOUT = 200
_CASES = click.argument("cases", cls=PickedId, kind="case", metavar="[ID]...", type=CASE, nargs=-1)


# --- list ------------------------------------------------------------------------------------------------------------


@click.command("list")
@only_option("--status", "statuses", CaseStatus)
@only_option("--type", "types", CaseType)
@click.option("--session", metavar="ID", help="Only cases of sessions with this id prefix.")
@click.option("--agent", metavar="NAME", help="Only cases of this agent.")
@click.option("--project", metavar="NAME", help="Only cases of this project.")
@click.option("--tag", metavar="TAG", help="Only cases with this tag.")
@flag("--verified", "Only cases with a confirmed outcome.")
@limit_option()
@format_option("paths")
@NULL_OPTION
@click.pass_obj
def list_cases(door: Door, /, *, format_: str, null: bool, limit: int | None, **wishes: Any) -> int:
    """List learning cases, newest session first.

    \b
    - A case is a note written by "cru session learn --export markdown". You
      edit, accept or reject it.
    - "cru case check" shows problems in cases.

    Exit code: 3 if cases may be missing because a note or folder could not be read.

    \b
      cru case list --status proposed
      cru case list --type puzzle --verified --format json
      cru case list --status accepted --format paths -0 | xargs -0r git add --
    """
    check_null(format_, null=null)
    vault = open_vault(door)
    wrong: list[CrucibleError] = []
    found = [one for one in load_cases(vault, wrong.append) if _matches(one, wishes)]
    found.sort(key=lambda one: one.note.name)
    found.sort(key=_start_key, reverse=True)
    rows = [_row(vault, one) for one in found[:limit]]
    warn(*wrong)
    complete = not wrong
    if format_ == "paths":
        complete &= write_paths(str(vault.root), CASES, rows, null=null, terminal=door.terminal)
    else:
        write_rows(
            rows,
            _TABLE if format_ == "text" else _COLUMNS,
            format_,
            "cases",
            door,
            texts=("about",),
            names=("id",),
        )
        if format_ == "text" and not rows:
            say('No cases yet. Run "cru session learn --all --export markdown" to create some.')
    return 0 if complete else PROBLEMS_FOUND


def _start_key(one: CaseNote) -> tuple[str, str]:
    """Return the sort key: the start time (or the session's id, which begins with the date), then the session's id."""
    if one.read.case is None:
        return "", ""
    session = one.read.case.place.session
    return one.read.case.started.isoformat() if one.read.case.started else session, session


def _matches(one: CaseNote, wishes: Mapping[str, Any]) -> bool:
    """True if the case matches the filters; a note that cannot be parsed matches only if no filter is set."""
    case = one.read.case
    if case is None:
        return not any(wishes.values())
    session, agent, project, tag = (wishes[name] for name in ("session", "agent", "project", "tag"))
    return (
        (not wishes["statuses"] or case.review.value in wishes["statuses"])
        and (not wishes["types"] or case.type.value in wishes["types"])
        and (session is None or case.place.session.startswith(session))
        and (agent is None or agent in (case.agent, case.agent.partition("@")[0]))
        and (project is None or case.project == project)
        and (tag is None or tag.removeprefix("#") in case.tags)
        and (not wishes["verified"] or bool(case.verification))
    )


def _row(vault: Vault, one: CaseNote) -> dict[str, Any]:
    return {
        "id": one.note.name,
        "problems": len(one.read.problems),
        "path": cell_of_path(vault.relative(one.note.path)),
        "tags": [],
        **(_facts(one.read.case) if one.read.case else {}),
    }


def _facts(case: Case) -> dict[str, Any]:
    why = getattr(case.body, "attribution", None)
    return {
        "type": case.type.value,
        "status": case.review.value,
        "difficulty": case.difficulty.value,
        "about": cut(normal_line(_about(case.body)[:2000]), _ABOUT) or None,
        "session": case.place.session,
        "phase": case.place.phase_name or None,
        "line": case.place.line,
        "agent": case.agent or None,
        "model": case.model or None,
        "project": case.project or None,
        "started": case.started.isoformat() if case.started else None,
        "tags": [*case.tags],
        "tokens": case.tokens,
        "verified": bool(case.verification),
        "fault": case.fault.value,
        "category": why.category.value if why else None,
    }


def _about(body: Body) -> str:
    match body:
        case Correction():
            return body.words or body.rejected or body.goal
        case Choice():
            return body.choice
        case Delegation():
            return body.task
    return getattr(body, "failure", "") or body.goal


# --- show ------------------------------------------------------------------------------------------------------------


@click.command
@click.argument("case", cls=PickedId, kind="case", metavar="[ID]", type=CASE)
@click.pass_obj
def show_case(door: Door, /, case: str) -> None:
    """Show a case's note; problems in it are reported on stderr.

    \b
      cru case show 2026-11-21-add-rate-limiter-project-puzzle
    """
    vault = open_vault(door)
    one = load_case(vault, find_case(vault, case, here()))
    write_document(one.note.data, door)
    say_problems(vault.relative(one.note.path), one.read.problems)


# --- accept and reject -----------------------------------------------------------------------------------------------


@click.command
@_CASES
@click.pass_obj
def accept(door: Door, /, cases: tuple[str, ...]) -> None:
    """Accept cases.

    \b
    - Only the property "status" changes. Exports can be limited to accepted
      cases.
    - ID is a case's id, a unique prefix of it, or the note's path.
    - "cru session learn" never overwrites an accepted or rejected case.

    \b
      cru case accept 2026-11-21-add-rate-limiter-project-puzzle
      cru case list --format paths -0 | xargs -0r cru case accept
    """
    _review(door, cases, CaseStatus.ACCEPTED)


@click.command
@_CASES
@click.pass_obj
def reject(door: Door, /, cases: tuple[str, ...]) -> None:
    """Reject cases.

    \b
    - Only the property "status" changes. Rejected cases are not exported or
      proposed again.
    - ID is a case's id, a unique prefix of it, or the note's path.

    \b
      cru case reject 2026-11-21-add-rate-limiter-project-puzzle
      cru case reject 2026-11-21-try-puzzle 2026-11-21-try-decision
    """
    _review(door, cases, CaseStatus.REJECTED)


def _review(door: Door, refs: tuple[str, ...], review: CaseStatus) -> None:
    """Set the status of cases; all of them are looked up before the first one is written."""
    vault = open_vault(door)
    paths = dict.fromkeys(find_case(vault, ref, here()) for ref in refs)
    for path in paths:
        changed = review_case(vault, path, review)
        say(f"{path.stem}: {review.value}" + ("" if changed else " already"))


# --- check -----------------------------------------------------------------------------------------------------------


@click.command("check")
@click.argument("cases", metavar="[ID]...", type=CASE, nargs=-1)
@format_option()
@click.pass_obj
def check_cases(door: Door, /, cases: tuple[str, ...], format_: str) -> int:
    """Show problems in cases: unknown properties and sections, missing sessions.

    \b
    - Without ID, all cases are checked.
    - Each line is "path:line: code: message".
    - Unknown parts stay in the note but are not exported.

    Exit code: 3 if there is a problem.

    \b
      cru case check
      cru case check 2026-11-21-add-rate-limiter-project-puzzle --format json
    """
    vault = open_vault(door)
    wrong: list[CrucibleError] = []
    if cases:
        found: Iterable[CaseNote] = [load_case(vault, find_case(vault, ref, here())) for ref in cases]
    else:
        found = load_cases(vault, wrong.append)
    sessions, count = vault.session_ids(), 0
    rows: list[dict[str, object]] = []
    for one in found:
        count += 1
        path = cell_of_path(vault.relative(one.note.path))
        rows += [{"path": path, **problem._asdict()} for problem in _problems(one, sessions)]
    write_problems(rows, format_)
    warn(*wrong)
    problems = len(rows) + len(wrong)
    say(f"{counted(problems, 'problem', zero='no')} in {counted(count, 'case')}")
    return PROBLEMS_FOUND if problems else 0


def _problems(one: CaseNote, sessions: set[str]) -> Iterator[Problem]:
    read = one.read
    yield from read.problems
    if read.session not in sessions:
        yield Problem("no-session", 1, f"its session {read.session or '(none)'} is not in the vault")
