"""The tools `session_list`, `session_show` and `session_resume_context`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from crucible.commands.resume.material_gathering import Workplace, find_folder, find_material
from crucible.commands.resume.resume_context import context_from_settings
from crucible.core.errors import AmbiguousSession, SessionNotFound, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.documents.session.session import Phase, Prose, Session
from crucible.documents.session.session_id import check_session_id
from crucible.integrations.mcp.opened_vault import index_of, now, vault_of
from crucible.integrations.mcp.replies import UNKNOWN, Quoting, answer, bounded, checked, day_of, is_session_id, page
from crucible.integrations.mcp.server_context import ServerContext
from crucible.vault.index.query import STATUSES, SessionQuery, select
from crucible.vault.index.schema import Row
from crucible.vault.index.time_filters import parse_when
from crucible.vault.notes.session_notes import find_phase
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import is_markdown

_MOST, _DEEPEST = 50, 100_000
_PART = 8_000
"""Maximum characters of a phase in one answer."""
_PHASES, _TASKS = 40, 10
"""Maximum phases and open tasks of a session in one answer."""
_LEAST_BUDGET, _MOST_BUDGET = 500, 60_000
_LOOKUP = "Related tools: session_show(id, phase), recall_search, recall_get."


# --- listing ---------------------------------------------------------------------------------------------------------


def newest(context: ServerContext, limit: int = 20) -> list[Row]:
    """Return the newest sessions as rows of the index."""
    rows, _ = index_of(vault_of(context)).ask(lambda view: select(view, SessionQuery(limit=limit)))
    return rows


def list_sessions(context: ServerContext, limit: int, offset: int, **narrowed: str) -> str:
    """Return one line per session; `narrowed` holds `status`, `project`, `agent`, `since` and `until`, "" for any."""
    bounded("limit", limit, 1, _MOST), bounded("offset", offset, 0, _DEEPEST)
    vault = vault_of(context)
    query = _query(narrowed, context.now())._replace(limit=offset + limit + 1)
    rows, _ = index_of(vault).ask(lambda view: select(view, query))
    quoting = Quoting(redact_of(vault.settings.secrets))
    lines = [_row(quoting, row) for row in rows[offset : offset + limit]]
    headline = f"{len(lines)} sessions, newest first" if lines else "No session matches."
    more = page(len(rows), offset, limit, _DEEPEST)
    return answer([headline], lines, [more, "To show one: session_show(id)." if lines else ""])


def _query(narrowed: dict[str, str], now: datetime) -> SessionQuery:
    given = {name: checked(name, text.strip(), 200) for name, text in narrowed.items()}
    status = given["status"].lower()
    if status and status not in STATUSES:
        raise UsageError(f"status {status!r}: unknown", "one of " + ", ".join(STATUSES))
    return SessionQuery(
        status=status or None,
        agent=given["agent"] or None,
        project=given["project"] or None,
        since=parse_when(given["since"], now) if given["since"] else None,
        until=parse_when(given["until"], now, end=True) if given["until"] else None,
    )


def _row(quoting: Quoting, row: Row) -> str:
    words = [f"session {row['id']}", row["status"], row["started"], row["project"], row["participants"]]
    return quoting.labelled([str(word) for word in words if word], str(row["title"] or ""), 160)


# --- showing ---------------------------------------------------------------------------------------------------------


def load_session(context: ServerContext, ref: str) -> tuple[Vault, Note]:
    """Load a session by its id or a unique prefix; paths are rejected.

    Raises `SessionNotFound`, `UsageError` for an ambiguous prefix, or `BadSessionId`.
    """
    vault = vault_of(context)
    try:
        return vault, vault.read(_find(vault, ref))
    except AmbiguousSession as error:
        # Files may have any name, so only valid ids are offered.
        fits = [each for each in error.candidates if is_session_id(each)]
        raise UsageError(str(error), f"one of: {', '.join(fits[:10])}" if fits else UNKNOWN) from None


def check_session(context: ServerContext, ref: str) -> None:
    """Raise `SessionNotFound` if no session has this id or prefix."""
    with suppress(AmbiguousSession):
        _find(vault_of(context), ref)


def _find(vault: Vault, ref: str) -> Path:
    name = check_session_id(checked("id", ref.strip(), 400).removesuffix(".md"))
    with suppress(SessionNotFound):
        if not is_markdown(name):
            return vault.find(name)
    raise SessionNotFound(f"no session {name!r}", UNKNOWN)


def show_session(context: ServerContext, ref: str, phase: str, offset: int) -> str:
    """Return a session's overview and its phases from index `offset` on, or a phase's text from that character on."""
    bounded("offset", offset, 0, 1_000_000_000)
    vault, note = load_session(context, ref)
    quoting = Quoting(redact_of(vault.settings.secrets))
    if phase.strip():
        return _phase(quoting, note, checked("phase", phase.strip(), 40), offset)
    phases = list(note.session.all_phases())
    shown = phases[offset : offset + _PHASES]
    blocks = [
        *(_head(quoting, note.session) if not offset else ()),
        *(_line_of(quoting, each) for each in shown),
    ]
    left = len(phases) - offset - len(shown)
    more = f"{left} more phases: repeat with offset={offset + len(shown)}." if left > 0 else ""
    pages = "To show a phase: session_show(id, phase='2'). To continue: session_resume_context(id)."
    return answer([] if blocks else ["No phases at this offset."], blocks, [more, pages])


def _head(quoting: Quoting, session: Session) -> Iterator[str]:
    facts = {
        "status": session.status,
        "project": session.project,
        "branch": session.branch,
        "started": day_of(session.started),
        "ended": day_of(session.ended),
        "agents": " ".join(map(str, session.participants)),
        "parent": session.parent,
        "continues": session.continues,
        "stopped at": session.resume_point,
    }
    words = [f"session {session.id}", *(f"{name} {value}" for name, value in facts.items() if value)]
    yield quoting.labelled(words, session.title, 200)
    goal = "\n\n".join(entry.text for entry in session.preamble if isinstance(entry, Prose))
    for name, text in (("goal", goal), ("summary", session.summary or "")):
        if text.strip():
            yield f"[{name}]\n{quoting.block(text, 1500)}"
    open_ = [task for task in session.tasks if task.status != "completed"]
    for task in open_[:_TASKS]:
        yield quoting.labelled(["open task", task.id], task.content, 160)
    if len(open_) > _TASKS:
        yield f"[{len(open_) - _TASKS} more open tasks: session_resume_context(id) shows all]"


def _line_of(quoting: Quoting, phase: Phase) -> str:
    words = [
        phase.id,
        day_of(phase.started),
        str(phase.agent or ""),
        phase.status or "",
        f"{len(phase.entries)} entries",
    ]
    return quoting.labelled(words, phase.name, 120)


def _phase(quoting: Quoting, note: Note, wanted: str, offset: int) -> str:
    found = find_phase(note, wanted)
    text, left = quoting.part(note.source.slice(note.source.span_of(found.lines)), offset, _PART)
    label = quoting.labelled([f"session {note.name}", found.id, day_of(found.started)], found.name, 120)
    more = f"{left:,} more characters: session_show(id, phase, offset={offset + _PART})." if left else ""
    return answer([], [label, text], [more])


# --- resuming --------------------------------------------------------------------------------------------------------


def context_of(context: ServerContext, ref: str, budget: int) -> str:
    """Return a session's resume context of at most `budget` tokens; 0 means the vault's setting."""
    vault, note = load_session(context, ref)
    tokens = bounded("budget", budget, _LEAST_BUDGET, _MOST_BUDGET) if budget else None
    folder = find_folder(note.session, Workplace(context.env, context.home, context.here, context.user))
    material = find_material(vault, note.session, folder, now(), recall=_LOOKUP)
    return context_from_settings(vault.settings, material, budget=tokens, tokenizer=context.user.agents.tokenizer).text
