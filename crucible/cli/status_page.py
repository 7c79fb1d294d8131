"""`cru` alone: the status of this project, and the next command to type."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from crucible.cli.environment import cwd_and_projects, user_settings, vault_place
from crucible.cli.index_access import query_index
from crucible.cli.options import Door, is_data
from crucible.cli.output import clean_line, in_color, room_of, write_data
from crucible.cli.table_output import cut_to
from crucible.commands.status.project_status import MOST_CASES, ProjectStatus, SessionLine, project_status, with_notes
from crucible.core.errors import VaultNotFound
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.text import age_words, counted
from crucible.vault.index.index import Index, quick_answer
from crucible.vault.index.schema import View
from crucible.vault.index.time_filters import utc
from crucible.vault.notes.projects import project_of

_HOOK = late_pattern(rb"(?:cru(?:\.exe)?[\\\"']*|-m crucible) hook claude-code")
_COLORS = {"active": "cyan", "paused": "yellow", "completed": "green", "failed": "red"}
_AGE, _STATUS, _COMMAND = 6, 9, 23
"""Widths of the columns."""


def show_status(door: Door, format_: str) -> int:
    """Write the status page of the working directory's project, or its JSON."""
    try:
        root, settings = vault_place(door)
    except VaultNotFound:
        if door.vault or os.environ.get("CRUCIBLE_VAULT") or user_settings().default_vault:
            raise  # the one that was named is wrong
        # Imported late: it knows every client.
        from crucible.cli.first_vault import make_first_vault  # noqa: PLC0415

        make_first_vault(door, may_ask=not is_data(format_))
        root, settings = vault_place(door)
    cwd, projects = cwd_and_projects(root)
    project, now = project_of(cwd, projects), datetime.now(UTC)
    index = Index(root, settings)

    def question(view: View) -> ProjectStatus:
        return project_status(view, project, now)

    # With an index, nothing is written; without one, it is built as any list does.
    kept = index.token()
    found = (
        quick_answer(root, settings.sessions, question, only_newest=True) if kept else query_index(index, question)[0]
    )
    page = _Page(with_notes(found, root), root, project, now, _captures(root, cwd))
    if is_data(format_):
        write_data(_exported(page), format_)
    else:
        click.echo("\n".join(_page_lines(page, room_of(door), color=in_color(door))))
    return 0


class _Page(NamedTuple):
    """What the page shows.  `captures` is True if Claude Code's sessions are recorded as they run."""

    status: ProjectStatus
    root: str
    project: str
    now: datetime
    captures: bool

    @property
    def next_commands(self) -> dict[str, str]:
        """Up to three commands with their purposes, the most useful first."""
        status, waiting = self.status, self.status.waiting
        commands = {
            "cru session resume": ("continue a paused session", bool(status.paused)),
            "cru inbox": ("answer questions", waiting.inbox > 0),
            "cru case": ("review cases", waiting.cases > 0),
            "cru task": ("list open tasks", waiting.tasks > 0),
            "cru import": ("import your agents' sessions", not status.sessions),
            "cru install claude-code": ("record sessions as they run", not self.captures),
            "cru session show": ("choose a session to read", bool(status.sessions)),
            "cru recall WORDS": ("search all sessions", bool(status.sessions)),
            "cru briefing": ("what to know before work begins", bool(status.sessions)),
        }
        return dict([(name, purpose) for name, (purpose, is_useful) in commands.items() if is_useful][:3])


# --- facts -----------------------------------------------------------------------------------------------------------


def _captures(root: str, cwd: str) -> bool:
    """True if Claude Code's hooks are installed for the user, this folder or the vault."""
    own = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    return any(_has_hook(os.path.join(folder, "settings.json")) for folder in (own, *_claude_folders(root, cwd)))


def _claude_folders(root: str, cwd: str) -> Iterator[str]:
    yield os.path.join(root, ".claude")
    folder = cwd
    while folder:
        yield os.path.join(folder, ".claude")
        above = os.path.dirname(folder)
        folder = above if above != folder and not os.path.exists(os.path.join(folder, ".git")) else ""


def _has_hook(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _HOOK.search(file.read(1_000_000)) is not None
    except OSError:
        return False


# --- output ----------------------------------------------------------------------------------------------------------


def _page_lines(page: _Page, room: int | None, *, color: bool) -> Iterator[str]:
    """Yield the lines of the page, at most `room` columns wide; None for no limit."""

    def heading(text: str) -> str:
        return click.style(text, bold=True) if color else text

    def fit(text: str, indent: str = "  ") -> str:
        shown = indent + clean_line(text)
        return shown if room is None else cut_to(shown, room)

    status, waiting = page.status, page.status.waiting
    yield fit(f"project {page.project}" if page.project else "no project", "")
    yield fit(f"vault   {_short_path(page.root)}", "")
    yield fit(
        "capture " + ("on (Claude Code's hooks)" if page.captures else "off (Claude Code's hooks are not installed)"),
        "",
    )
    yield ""
    yield from map(heading, _wrapped(_sessions_heading(page), room))
    for one in status.sessions:
        name = f"{one.project}: {one.title}" if status.others and one.project else one.title
        front = f"  {_age(one, page.now):<{_AGE}}  "
        word = f"{one.status:<{_STATUS}}"
        line = fit(f"{word}  {name}", front)
        yield (
            line.replace(word, click.style(word, fg=_COLORS[one.status]), 1)
            if color and one.status in _COLORS
            else line
        )
    if status.paused:
        of = f", {len(status.paused)} of {len(status.paused) + status.more_paused}" if status.more_paused else ""
        yield from ("", heading(f"Paused{of}"))
        for one in status.paused:
            yield fit(f"{_age(one, page.now):<{_AGE}}  {one.title}")
            if one.why:
                yield fit(one.why, " " * (_AGE + 4))
    counts = [
        counted(waiting.inbox, "question") if waiting.inbox else "",
        counted(waiting.tasks, "open task") if waiting.tasks else "",
        _cases_to_review(waiting.cases),
    ]
    if any(counts):
        yield ""
        yield from _wrapped(f"Waiting for you: {', '.join(filter(None, counts))}", room)
    yield from ("", heading("Next"))
    for command, purpose in page.next_commands.items():
        line = f"{command:<{_COMMAND}}  {purpose}"
        # Half a purpose says nothing.
        yield fit(line if room is None or len(line) + 2 <= room else command)


def _cases_to_review(count: int) -> str:
    if count >= MOST_CASES:
        return f"{count}+ cases to review"
    return f"{counted(count, 'case')} to review" if count else ""


def _sessions_heading(page: _Page) -> str:
    status = page.status
    if not status.sessions:
        return "The vault has no sessions yet"
    if not status.others:
        return "Last sessions"
    sessions = counted(status.others, "session")
    of = f"Project {page.project} has no sessions yet" if page.project else "This folder has no project"
    return clean_line(f"{of}. The vault has {sessions}, the newest first:")


def _wrapped(text: str, room: int | None) -> list[str]:
    return [text] if room is None else click.wrap_text(text, room).split("\n")


def _age(one: SessionLine, now: datetime) -> str:
    """Return the session's age without "ago": `2 h`, `now`, `-` if unknown."""
    return age_words(now - one.active).removesuffix(" ago").removeprefix("just ") if one.active else "-"


def _short_path(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + os.sep) else path


def _exported(page: _Page) -> dict[str, object]:
    status = page.status
    return {
        "vault": page.root,
        "project": page.project or None,
        "sessions": [_exported_line(one) for one in status.sessions],
        "paused": [{**_exported_line(one), "pause_reason": one.why or None} for one in status.paused],
        "paused_count": len(status.paused) + status.more_paused,
        "waiting": status.waiting._asdict(),
        "vault_sessions": status.others or None,
        "capture": page.captures,
        "next": [*page.next_commands],
    }


def _exported_line(one: SessionLine) -> dict[str, object]:
    return {
        "id": one.id,
        "title": one.title,
        "project": one.project or None,
        "status": one.status,
        "last_active": utc(one.active) if one.active else None,
        "path": one.path,
    }
