"""Record a subagent's work: in its own note with links both ways, or in a callout of the parent's note.

The child's note is written before its link from the parent. `inline` work is kept in memory until it is done.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from types import TracebackType
from typing import NamedTuple, Self

from crucible.commands.record.entries import Cleaning, RecordedEntry, Verbs, check_count, error_text
from crucible.commands.record.note_writer import Clock, Writer, aware, in_phase, whole_second
from crucible.core.errors import CrucibleError, NoteExists, SessionNotFound, UsageError
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.append import Addition, NoteState, Plan, SubagentUpdate
from crucible.documents.session.callout_edits import find_subagent
from crucible.documents.session.edits import join_entries
from crucible.documents.session.import_properties import redaction_lines
from crucible.documents.session.markup import render_session
from crucible.documents.session.property_values import link_to
from crucible.documents.session.session import AgentRef, Entry, Mode, Prose, Session, Subagent
from crucible.documents.session.session_id import LONGEST_ID, slugify
from crucible.documents.session.titles import key_words
from crucible.vault.events.event_summary import Facts
from crucible.vault.notes.note_homes import folder_of_session, note_home

_SLUG = 40
"""Maximum code points that a child's id adds to its parent's."""


class SubagentWork(NamedTuple):
    """A subagent and its task, redacted. `tokens` is the number of tokens used so far."""

    agent: AgentRef
    model: str | None
    mode: Mode
    title: str
    task: str | None = None
    summary: str | None = None
    tokens: int | None = None


def begin_child(parent: Writer, work: SubagentWork, clean: Cleaning, begun: datetime) -> Writer:
    """Create the child's note, then link it from the parent's; returns the child's writer.

    `begun` is in the user's time zone. `clean` has redacted the text of `work`. Its secrets are counted in both notes.
    """
    now, zone = whole_second(begun), begun.tzinfo or UTC

    def link_child(child: str) -> Plan:
        folder = folder_of_session(parent.vault, child)
        entry = Subagent(work.agent, work.model, work.mode, child, "", work.summary, folder=folder)
        return in_phase(lambda state: Addition(_child_properties(state.head, child, folder, work), (entry,)), now)

    # If the parent refuses the link, no child is created.
    parent.try_out(link_child(parent.id))
    child = Writer(parent.vault, _create(parent, work, clean, now, zone), parent.redact)
    parent.add(link_child(child.id), clean)
    project = child.head().project
    child.keep_facts(Facts(started=now, initial_agent=str(work.agent), project=project, ended_cleanly=False))
    return child


def _create(parent: Writer, work: SubagentWork, clean: Cleaning, now: datetime, zone: tzinfo | None) -> str:
    head = parent.head()
    base = f"{parent.id[: LONGEST_ID - _SLUG - 6]}-{slugify(key_words(work.title, _SLUG), _SLUG)}"
    new = Session(
        id=base,
        started=now,
        project=head.project,
        branch=head.branch,
        participants=(work.agent,),
        model=work.model,
        tokens_used=work.tokens,
        parent=parent.id,
        redactions=clean.counts.total() or None,
        redacted=redaction_lines(clean.counts),
        tags=("session",),
        home=replace(note_home(parent.vault, head.project, zone), folder=folder_of_session(parent.vault, parent.id)),
        title=work.title,
        preamble=(Prose(work.task),) if work.task else (),
    )
    name, number = base, 2
    while True:
        try:
            parent.vault.create(name, render_session(replace(new, id=name)), parent.folder())
        except NoteExists:
            name, number = f"{base}-{number}", number + 1
        else:
            return name


def _child_properties(head: Session, child: str, folder: str, work: SubagentWork) -> dict[str, Value]:
    """Return the properties `subagents` and `subagent_logs` with one more item; the user's edits to others stay."""
    item: dict[str, Value] = {"session": child, "agent": str(work.agent)}
    item |= {"model": work.model} if work.model else {}
    item |= {"tokens": work.tokens} if work.tokens is not None else {}
    logs = _listed(head.properties.get("subagent_logs"))
    return {
        "subagents": [*_listed(head.properties.get("subagents")), item],
        "subagent_logs": [*logs, link_to(child, folder)],
    }


def _listed(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [] if value is None else [value]


def update_parent(child: Writer, parent_id: str, summary: str | None = None) -> None:
    """Update the parent's properties from the child's note and, if there is a summary, the callout.

    If the parent no longer exists or cannot be changed, the child's writer gets a warning.
    """
    try:
        parent = Writer(child.vault, parent_id, child.redact)

        def plan(state: NoteState) -> Addition:
            # Read the child under the parent's lock, so that of two updates the later one has the newer numbers.
            keys = _child_usage(state.head, child.id, child.head())
            entry = find_subagent(state.head, child.id) if summary else None
            return Addition(keys, (SubagentUpdate(replace(entry, summary=summary)),) if entry else ())

        parent.amend(plan, whole=bool(summary))
    except SessionNotFound:
        child.warnings.append(f"its parent {parent_id!r} is missing, so it was not updated")
    except CrucibleError as error:
        child.warn(error)


def _child_usage(parent: Session, child_id: str, child: Session) -> dict[str, Value]:
    items = _listed(parent.properties.get("subagents"))
    news: dict[str, Value] = {"model": child.model, "tokens": child.tokens_used}
    known = {key: value for key, value in news.items() if value is not None}
    changed: list[Value] = [
        {**item, **known} if isinstance(item, dict) and item.get("session") == child_id else item for item in items
    ]
    return {} if changed == items else {"subagents": changed}


# --- inline ----------------------------------------------------------------------------------------------------------


def _inline_text(tokens: int | None) -> str:
    """Return the tokens as text, since only a subagent's own note has a property for them."""
    return "" if tokens is None else f"{tokens} tokens"


class InlineWork(Verbs):
    """A subagent whose work becomes one callout in its parent's note, written when the `with` block ends.

    `summary` can be set until then.
    """

    def __init__(self, parent: Writer, work: SubagentWork, clean: Cleaning, clock: Clock) -> None:
        self.parent = parent
        self.summary = work.summary
        self._tokens = work.tokens
        self._work = work
        self._clean = clean
        self._clock = clock
        self._entries: tuple[Entry, ...] = ()
        self._turn = threading.Lock()

    def phase(self, name: str) -> str:
        """Begin a step of the work, shown as a bold line, since callouts have no headings."""
        title = self._clean.line(name)
        if not title:
            raise UsageError("a phase needs a name", "name its topic")
        return self._record(RecordedEntry(Prose(f"**{title}**"), "phase", {"content": title}), self._clean, None)

    def tokens(self, used: int = 0, *, cached: int = 0) -> str:
        """Count tokens; the callout shows the sum of `used`, without `cached`."""
        check_count(used), check_count(cached)
        self._tokens = (self._tokens or 0) + used
        self.parent.keep("tokens", {"used": used, "cached": cached}, aware(self._clock()), "")
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self.error(error_text(error))
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

    def _record(self, entry: RecordedEntry, clean: Cleaning, at: datetime | None) -> str:  # noqa: ARG002  one for all
        with self._turn:
            self._entries = join_entries(self._entries, (entry.entry,))
        self.parent.keep(entry.kind, entry.values, aware(at or self._clock()), "")
        return ""
