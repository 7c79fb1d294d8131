"""Find later sessions of a project, which may have resolved the open ends of an earlier session."""

from __future__ import annotations

from collections.abc import Iterator

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.session.findings import Kind
from crucible.documents.session.waiting import words_of
from crucible.vault.index.query import SessionQuery, matching
from crucible.vault.index.schema import View, shard_of
from crucible.vault.index.time_filters import begun, time_of

_TICKET = late_pattern(r"\b[A-Z][A-Z0-9]+-\d+\b")
_LABEL = late_pattern(r"\A[^:]{1,40}: ")
"""The label in an open end's summary, such as `Planned, not carried out: `."""


class LaterSessions(NamedTuple):
    """The number of later sessions, and lines with their titles, outcomes, decisions and completed tasks."""

    sessions: int = 0
    lines: tuple[str, ...] = ()

    def settles(self, text: str) -> bool:
        """Return whether a line names a ticket in the text, or contains two thirds of its words, and at least two."""
        tickets, words = {*_TICKET.findall(text)}, words_of(_LABEL.sub("", text))
        shared = max(2, -(-2 * len(words) // 3))
        return any(
            not tickets.isdisjoint(_TICKET.findall(line)) or len(words & words_of(line)) >= shared
            for line in self.lines
        )


NOTHING = LaterSessions()


class ProjectWork(NamedTuple):
    """The start, project and lines of each session in the vault, oldest first."""

    sessions: tuple[tuple[str, str, tuple[str, ...]], ...]

    def after(self, project: str, began: str) -> LaterSessions:
        """Return the project's later sessions.  `began` is a time in the index's format."""
        later = [lines for at, of, lines in self.sessions if at > began and of == project.casefold()]
        return LaterSessions(len(later), tuple(line for lines in later for line in lines))


def work_in(view: View, since: str = "") -> ProjectWork:
    """Return the work of all sessions, or of those that began at `since` or later, without subagents."""
    rows = {row["path"]: row for row in matching(view, SessionQuery(since=time_of(since), archived=True))}
    lines: dict[object, list[str]] = {path: [str(row["title"] or "")] for path, row in rows.items()}
    for path, line in _lines(view, {shard_of(str(row["started"] or "")) for row in rows.values()}):
        if path in lines:
            lines[path].append(line)
    found = ((begun(row), str(row["project"] or "").casefold(), tuple(lines[path])) for path, row in rows.items())
    return ProjectWork(tuple(sorted(found)))


def _lines(view: View, shards: set[str]) -> Iterator[tuple[object, str]]:
    for one in view.rows("callouts", sorted(shards)):
        if one["finding"] and one["kind"] in (Kind.OUTCOME, Kind.DECISION):
            yield one["path"], str(one["text"])
    for task in view.rows("tasks", sorted(shards)):
        if task["status"] == "completed":
            yield task["path"], str(task["content"] or "")
