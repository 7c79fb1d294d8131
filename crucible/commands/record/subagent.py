"""Work that goes to a subagent: a note of its own with links both ways, or a callout that holds all of it.

Owns the three modes.  In `link` and `embed` the child's note comes first and names its parent, then the parent's callout
and properties name the child; what the child counts and comes to is told to the parent when it is known.  `inline` work
is kept in memory until it is done.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import NamedTuple, Self

from crucible.commands.record.entries import Cleaning, Told, Verbs, check_count, told_error
from crucible.commands.record.note_writer import Clock, Writer, aware, in_phase, whole_second
from crucible.core.errors import CrucibleError, NoteExists, SessionNotFound, UsageError
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.append import Addition, NoteState, Plan, SubagentUpdate
from crucible.documents.session.callout_edits import find_subagent
from crucible.documents.session.counted_properties import redacted_lines
from crucible.documents.session.edits import joined
from crucible.documents.session.markup import render_session
from crucible.documents.session.names import slugify
from crucible.documents.session.properties import link_to
from crucible.documents.session.session import AgentRef, Entry, Mode, Prose, Session, Subagent
from crucible.documents.session.session_id import LONGEST_ID
from crucible.documents.session.titles import key_words
from crucible.vault.events.event_summary import Facts

_SLUG = 40
"""Code points of a child's id behind its parent's."""


class Delegated(NamedTuple):
    """A subagent and its task, cleaned.  `tokens` is what it used so far."""

    agent: AgentRef
    model: str | None
    mode: Mode
    title: str
    task: str | None = None
    summary: str | None = None
    tokens: int | None = None


def begin_child(parent: Writer, work: Delegated, clean: Cleaning, now: datetime) -> Writer:
    """Make the child's note, then name it in the parent's; returns what writes to the child's.

    `clean` has cleaned the texts of `work`, whose secrets both notes count.
    """

    def naming(child: str) -> Plan:
        entry = Subagent(work.agent, work.model, work.mode, child, "", work.summary)
        return in_phase(lambda standing: Addition(_named(standing.head, child, work), (entry,)), now)

    # A parent that can take nothing refuses before there is a child that nobody names.
    parent.try_out(naming(parent.id))
    child = Writer(parent.vault, _create(parent, work, clean, now), parent.redact)
    parent.add(naming(child.id), clean)
    project = child.head().project
    child.keep_facts(Facts(started=now, initial_agent=str(work.agent), project=project, ended_cleanly=False))
    return child


def _create(parent: Writer, work: Delegated, clean: Cleaning, now: datetime) -> str:
    head = parent.head()
    base = f"{parent.id[: LONGEST_ID - _SLUG - 6]}-{slugify(key_words(work.title, _SLUG), _SLUG)}"
    wanted = Session(
        id=base,
        started=now,
        project=head.project,
        branch=head.branch,
        participants=(work.agent,),
        model=work.model,
        tokens_used=work.tokens,
        parent=parent.id,
        redactions=clean.counts.total() or None,
        redacted=redacted_lines(clean.counts),
        tags=("session",),
        title=work.title,
        preamble=(Prose(work.task),) if work.task else (),
    )
    name, number = base, 2
    while True:
        try:
            parent.vault.create(name, render_session(replace(wanted, id=name)), parent.folder())
        except NoteExists:
            name, number = f"{base}-{number}", number + 1
        else:
            return name


def _named(head: Session, child: str, work: Delegated) -> dict[str, Value]:
    """`subagents` and `subagent_logs` with one more; what a human made of the others stays."""
    item: dict[str, Value] = {"session": child, "agent": str(work.agent)}
    item |= {"model": work.model} if work.model else {}
    item |= {"tokens": work.tokens} if work.tokens is not None else {}
    logs = _listed(head.properties.get("subagent_logs"))
    return {
        "subagents": [*_listed(head.properties.get("subagents")), item],
        "subagent_logs": [*logs, link_to(child)],
    }


def _listed(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [] if value is None else [value]


def tell_parent(child: Writer, parent_id: str, summary: str | None = None) -> None:
    """Bring the parent's figures, and with a summary its callout, up to what the child's note says.

    Where the parent is gone or cannot be changed, the child has a warning.
    """
    try:
        parent = Writer(child.vault, parent_id, child.redact)

        def plan(standing: NoteState) -> Addition:
            # Read while the parent is locked, so that of two children's tellings the later one knows the later figure.
            keys = _figures(standing.head, child.id, child.head())
            entry = find_subagent(standing.head, child.id) if summary else None
            return Addition(keys, (SubagentUpdate(replace(entry, summary=summary)),) if entry else ())

        parent.amend(plan, whole=bool(summary))
    except SessionNotFound:
        child.warnings.append(f"its parent {parent_id!r} is gone, and was not told")
    except CrucibleError as error:
        child.say(error)


def _figures(parent: Session, child_id: str, child: Session) -> dict[str, Value]:
    items = _listed(parent.properties.get("subagents"))
    news: dict[str, Value] = {"model": child.model, "tokens": child.tokens_used}
    told = {key: value for key, value in news.items() if value is not None}
    changed: list[Value] = [
        {**item, **told} if isinstance(item, dict) and item.get("session") == child_id else item for item in items
    ]
    return {} if changed == items else {"subagents": changed}


# --- inline ----------------------------------------------------------------------------------------------------------


def _inline_text(tokens: int | None) -> str:
    """What only a note of its own has a property for."""
    return "" if tokens is None else f"{tokens} tokens"


class InlineWork(Verbs):
    """A subagent whose whole work stands in its parent's note, as one callout, written when the `with` ends.

    `summary` may be set until then.
    """

    def __init__(self, parent: Writer, work: Delegated, clean: Cleaning, clock: Clock) -> None:
        self.parent = parent
        self.summary = work.summary
        self._tokens = work.tokens
        self._work = work
        self._clean = clean
        self._clock = clock
        self._entries: tuple[Entry, ...] = ()
        self._turn = threading.Lock()

    def phase(self, name: str) -> str:
        """A step of the work: a bold line, since a callout has no headings."""
        said = self._clean.line(name)
        if not said:
            raise UsageError("a phase has no name", "say what it is about")
        return self._tell(Told(Prose(f"**{said}**"), "phase", {"content": said}), self._clean, None)

    def tokens(self, used: int = 0, *, cached: int = 0) -> str:
        """Count what it used; the callout has the sum, and nothing of what was `cached`."""
        check_count(used), check_count(cached)
        self._tokens = (self._tokens or 0) + used
        self.parent.keep("tokens", {"used": used, "cached": cached}, aware(self._clock()), "")
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self.error(told_error(error))
        self.close()

    def close(self, *, at: datetime | None = None) -> str:
        """Write the callout; returns the phase's id."""
        now = whole_second(at or self._clock())
        summary = self._clean.optional(self.summary)
        work = self._work
        entry = Subagent(
            work.agent,
            work.model,
            Mode.INLINE,
            None,
            _inline_text(self._tokens),
            summary,
            work.task,
            self._entries,
        )
        phase = self.parent.add(in_phase(lambda _: Addition(steps=(entry,)), now), self._clean)
        values = {"subagent": str(work.agent), "model": work.model, "mode": "inline", "task": work.task}
        self.parent.keep("subagent", {**values, "summary": summary, "tokens": self._tokens}, now, phase)
        return phase

    def _cleaning(self) -> Cleaning:
        return self._clean

    def _tell(self, told: Told, clean: Cleaning, at: datetime | None) -> str:  # noqa: ARG002  one for all of it
        with self._turn:
            self._entries = joined(self._entries, (told.entry,))
        self.parent.keep(told.kind, told.values, aware(at or self._clock()), "")
        return ""
