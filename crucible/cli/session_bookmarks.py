"""`cru session show --bookmarks` and `cru record bookmark`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from crucible.cli.environment import cwd_and_projects
from crucible.cli.id_arguments import SESSION
from crucible.cli.options import TEXT, Door, format_option, is_data
from crucible.cli.output import PROBLEMS_FOUND, clean, say_problems, write, write_data, write_facts
from crucible.cli.session_stop import compact_memory
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


def show_bookmarks(vault: Vault, refs: Sequence[str], format_: str) -> int:
    """Write the bookmarks of these sessions, each session's newest first; `b-…` is the id of one bookmark.

    Without `refs`, the session is the newest active or paused one of this project.  Returns the exit code, 3 if lines
    of the file are no bookmarks.
    """
    loaded = load_bookmarks(vault.root)
    found = [one for ref in refs or [newest_here(vault, _GOES_ON)] for one in _bookmarks_of(vault, ref, loaded)]
    found = [*{one.id: one for one in found}.values()]
    if is_data(format_):
        write_data({"bookmarks": [_export(one) for one in found]}, format_)
    else:
        for number, one in enumerate(found):
            if number:
                write("")
            _write_whole(one)
    say_problems(_FILE, loaded.problems)
    return PROBLEMS_FOUND if loaded.problems else 0


@click.command("bookmark")
@_session_argument
@click.option(
    "--note", metavar="TEXT", type=TEXT, default="", help="A note for the person or agent who continues; - for stdin."
)
@click.option(
    "--blocker", "blockers", metavar="TEXT", type=TEXT, multiple=True, help="What blocks the work; repeatable."
)
@format_option()
@click.pass_obj
def add(door: Door, /, session: str | None, note: str, blockers: Sequence[str], format_: str) -> None:
    """Save a bookmark of a session's state without pausing it, and print its id.

    \b
    - Without --session, uses the session in CRU_SESSION, else the newest
      active or paused one of this project.
    - Files and git are recorded if the current directory belongs to the
      session's project.
    - Secrets are redacted.

    \b
      cru record bookmark --note "its test still fails" --blocker "no API key"
    """
    vault = open_vault(door)
    known = load_note(vault, session or newest_here(vault, _GOES_ON)).session
    one = make_bookmark(
        vault,
        known,
        StopReason.MANUAL,
        now=datetime.now(UTC),
        redact=redact_of(vault.settings.secrets),
        folder=_folder_of(vault, known),
        note=note,
        blockers=blockers,
    )
    if is_data(format_):
        write_data(_export(one), format_)
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


def _bookmarks_of(vault: Vault, ref: str, loaded: LoadedBookmarks) -> list[Bookmark]:
    """Return the bookmark with this id, or all of the session with this name, newest first."""
    own = [one for one in loaded.found if one.id == ref]
    if not own:
        session = _session_named(vault, ref, loaded)
        own = [one for one in loaded.found if one.session == session]
        if not own:
            raise SessionNotFound(f"{session} has no bookmark", f'Run "cru record bookmark {session}" to add one.')
    return own[::-1]


def _folder_of(vault: Vault, session: Session) -> Path | None:
    """Return the working directory if it belongs to the session's project."""
    return here() if session.project and project_of(*cwd_and_projects(vault.root)) == session.project else None


# --- writing ----------------------------------------------------------------------------------------------------------


def _export(one: Bookmark) -> dict[str, object]:
    return asdict(one) | {"at": utc(one.at), "why": str(one.why)}


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
        ("files", f"{one.more_files} more, changed earlier" if one.more_files else ""),
    ]
    write(one.id)
    write_facts(facts, 8)
