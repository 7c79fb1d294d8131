"""The commands `cru bookmark list`, `show` and `add`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from crucible.cli.environment import cwd_and_projects
from crucible.cli.id_arguments import SESSION
from crucible.cli.options import TEXT, Door, format_option, limit_option
from crucible.cli.output import PROBLEMS_FOUND, clean, clean_line, room_of, say_problems, write, write_facts, write_json
from crucible.cli.session_stop import compact_memory
from crucible.cli.table_output import Tier, table_lines
from crucible.cli.vault_access import find_note, here, load_note, newest_here, open_vault
from crucible.core.errors import AmbiguousSession, SessionNotFound
from crucible.core.secrets.redaction import redact_of
from crucible.documents.session.session import Session
from crucible.memory.bookmarks.bookmark import BOOKMARKS, Bookmark, LoadedBookmarks, StopReason, load_bookmarks
from crucible.memory.bookmarks.make_bookmark import make_bookmark
from crucible.vault.index.time_filters import utc
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

_FILE = f".crucible/memory/{BOOKMARKS}"
_LEAST_ID, _LEAST_TEXT = 20, 12
"""The minimum widths of the id and text columns on a narrow terminal."""
_SHORT_COMMIT = 10
_GOES_ON = ("active", "paused")

_session_argument = click.argument(
    "session", metavar="[ID]", type=SESSION, required=False, envvar="CRU_SESSION", default=None
)


@click.command("list")
@click.argument("session", metavar="[ID]", type=SESSION, required=False)
@limit_option("Only the newest N.", least=0)
@format_option("table", "json")
@click.pass_obj
def list_bookmarks(door: Door, /, session: str | None, limit: int | None, format_: str) -> int:
    """List bookmarks, newest first: where sessions stood when they stopped.

    With ID only that session's. `why` is paused, ended, died, idle, task (one was finished) or manual. In JSON are
    all facts of each. Lines of the file that are no bookmarks are named, and the exit code is 3.

    \b
      cru bookmark list
      cru bookmark list 2026-11-21-add-rate-limiter -n 5 --format json
    """
    vault = open_vault(door)
    loaded = load_bookmarks(vault.root)
    found = list(loaded.found)[::-1]
    if session is not None:
        session_id = _session_named(vault, session, loaded)
        found = [one for one in found if one.session == session_id]
    found = found[:limit]
    if format_ == "json":
        write_json([_export(one) for one in found])
    else:
        _write_table(found, room_of(door))
    say_problems(_FILE, loaded.problems)
    return PROBLEMS_FOUND if loaded.problems else 0


@click.command("show")
@_session_argument
@format_option("text", "json")
@click.pass_obj
def show_bookmark(door: Door, /, session: str | None, format_: str) -> None:
    """Show a session's newest bookmark, or the one with this id: place, task, note, blockers, git and files.

    ID is a session's id, a path, a beginning of an id, or a bookmark's own id. By default it is the session that
    CRU_SESSION names, else the newest active or paused one of this project. A file's digest is the id that git gives
    its bytes; `-` says that it was not there.

    \b
      cru bookmark show
      cru bookmark show b-1f0c9a8e7d6b --format json
    """
    vault = open_vault(door)
    loaded = load_bookmarks(vault.root)
    one = _bookmark_named(vault, session or newest_here(vault, _GOES_ON), loaded)
    if format_ == "json":
        write_json(_export(one))
    else:
        _write_whole(one)
    say_problems(_FILE, loaded.problems)


@click.command("add")
@_session_argument
@click.option("--note", metavar="TEXT", type=TEXT, default="", help="What to know when going on; - for stdin.")
@click.option("--blocker", "blockers", metavar="TEXT", type=TEXT, multiple=True, help="What is in the way; repeatable.")
@format_option("text", "json")
@click.pass_obj
def add_bookmark(door: Door, /, session: str | None, note: str, blockers: Sequence[str], format_: str) -> None:
    """Keep where a session stands, without pausing it; prints the bookmark's id.

    By default it is the session that CRU_SESSION names, else the newest active or paused one of this project. Files
    and git are looked at when the working directory belongs to the session's project. Secrets are taken out before
    anything is written.

    \b
      cru bookmark add --note "its test still fails" --blocker "no API key"
    """
    vault = open_vault(door)
    known = load_note(vault, session or newest_here(vault, _GOES_ON)).session
    one = make_bookmark(
        vault,
        known,
        StopReason.MANUAL,
        now=datetime.now(UTC),
        redact=redact_of(vault.settings.secrets),
        folder=_folder_of(known),
        note=note,
        blockers=blockers,
    )
    if format_ == "json":
        write_json(_export(one))
    else:
        write(one.id)
    compact_memory(vault)


# --- finding sessions and bookmarks -----------------------------------------------------------------------------------


def _session_named(vault: Vault, ref: str, loaded: LoadedBookmarks) -> str:
    """Return the session's id, found by its note or, if the note is gone, by its bookmarks."""
    try:
        return note_name(find_note(vault, ref).name)
    except SessionNotFound:
        ids = sorted({one.session for one in loaded.found})
        found = [ref] if ref in ids else [name for name in ids if name.startswith(ref)]
        if not found:
            raise
        if len(found) > 1:
            raise AmbiguousSession(ref, found) from None
        return found[0]


def _bookmark_named(vault: Vault, ref: str, loaded: LoadedBookmarks) -> Bookmark:
    """Return the bookmark with this id, or the newest one of the session with this name."""
    own = [one for one in loaded.found if one.id == ref]
    if not own:
        session = _session_named(vault, ref, loaded)
        own = [one for one in loaded.found if one.session == session]
        if not own:
            raise SessionNotFound(f"{session}: has no bookmark", f"cru bookmark add {session} makes one")
    return own[-1]


def _folder_of(session: Session) -> Path | None:
    """Return the working directory if it belongs to the session's project."""
    return here() if session.project and project_of(*cwd_and_projects()) == session.project else None


# --- writing ----------------------------------------------------------------------------------------------------------


def _export(one: Bookmark) -> dict[str, object]:
    return asdict(one) | {"at": utc(one.at), "why": str(one.why)}


def _write_table(found: Sequence[Bookmark], room: int | None) -> None:
    """Write one line per bookmark; on a narrow terminal, cut notes first, then phases, then sessions."""
    headings = ["id", "at", "why", "session", "phase", "task", "note"]
    rows = [headings, *map(_cells, found)]
    columns = [[clean_line(cell) or "-" for cell in column] for column in zip(*rows, strict=True)]
    tiers = [Tier([6], _LEAST_TEXT), Tier([4], _LEAST_TEXT), Tier([3], _LEAST_ID, in_middle=True)]
    for line in table_lines(columns, room, tiers):
        write(line)


def _cells(one: Bookmark) -> list[str]:
    notes = (one.compacted, one.note.replace("\n", "⏎"), *(f"blocked: {text}" for text in one.blockers))
    phase = f"{one.phase.removeprefix('phase-')} {one.phase_name}".strip()
    task = f"{one.task_number or '-'}/{one.task_count}" if one.task_count else ""
    return [one.id, utc(one.at), str(one.why), one.session, phase, task, "; ".join(filter(None, notes))]


def _write_whole(one: Bookmark) -> None:
    """Write one field per line; unknown ones are skipped."""
    task = f"{one.task_number} of {one.task_count}: {one.task_name} ({one.task})" if one.task_number else ""
    facts = [
        ("session", one.session),
        ("at", utc(one.at)),
        ("why", str(one.why)),
        ("phase", f"{one.phase} {one.phase_name}".strip()),
        ("task", task),
        ("project", one.project),
        ("branch", one.branch),
        ("head", one.head[:_SHORT_COMMIT]),
        *(("note", line) for line in clean(one.note).split("\n")),
        ("was", one.compacted),
        *(("blocker", text) for text in one.blockers),
        *(("file", f"{blob[:_SHORT_COMMIT] or '-':<{_SHORT_COMMIT}} {path}") for path, blob in one.files.items()),
        ("files", f"{one.more_files} more, touched earlier" if one.more_files else ""),
    ]
    write(one.id)
    write_facts(facts, 8)
