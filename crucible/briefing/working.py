"""The section on tasks: how many there are, and which are at work, ready, blocked and done, as section 9.9 of the specification has it.

Owns that what recall found for a task is told by its count alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crucible.briefing.model import Item, Rank, Section
from crucible.briefing.quoting import Quoter, whole_words
from crucible.tasks.model import OpenTask, Ref
from crucible.tasks.overview import Overview
from crucible.tasks.picking import RecallCounts
from crucible.tasks.readiness import Standing, Status

__all__ = ["tasks_section"]

_NAME = 160
_WAITS = 4
_CIRCLES, _IN_CIRCLE = 3, 8


def tasks_section(found: Overview, quoter: Quoter, *, counts: bool) -> Section:
    """The tasks that the overview shows, with what is annotated where `counts` are wanted; no items without a task."""
    status = found.status
    if not (status.completed or status.in_progress_count or status.pending or found.older):
        return Section("tasks", "Current tasks")
    items = [*_counts(status), *_items(status, found.recall if counts else {}, quoter)]
    if more := status.left_out + found.older:
        told = f"{more} {'more ' if items else ''}open task{'' if more == 1 else 's'}: cru task list"
        items.append(Item(told, Rank.TODO))
    for circle in status.circles[:_CIRCLES]:
        names = " → ".join(quoter.line(task.ref.id, 40) for task in circle[:_IN_CIRCLE])
        items.append(Item(f"these wait for each other: {names}", Rank.TODO))
    return Section("tasks", "Current tasks", tuple(items))


def _counts(status: Status) -> Iterator[Item]:
    """How many tasks there are; nothing if all of them are older."""
    counts = (status.completed, status.in_progress_count, status.pending)
    if any(counts):
        yield Item("{} completed, {} in progress, {} pending".format(*counts), Rank.TODO)


def _items(status: Status, counts: Mapping[Ref, RecallCounts], quoter: Quoter) -> Iterator[Item]:
    for label, standings in (
        ("in progress", status.in_progress),
        ("ready to start", status.ready),
        ("blocked", status.blocked),
    ):
        yield from (Item(_standing(one, counts, quoter), Rank.TODO, label) for one in standings)
    for task in status.recent:
        yield Item(_name(task, quoter), Rank.LESSON, "recently completed")


def _standing(one: Standing, counts: Mapping[Ref, RecallCounts], quoter: Quoter) -> str:
    told = [_name(one.task, quoter)]
    if one.waits_for:
        ids = [quoter.line(task.ref.id, 40) for task in one.waits_for[:_WAITS]]
        more = len(one.waits_for) - len(ids)
        told.append(f"waits for {', '.join(ids)}{f' and {more} more' if more > 0 else ''}")
    if recalled := _recalled(counts.get(one.task.ref)):
        told.append(f"recall: {recalled}; `cru task pick` loads them")
    return "; ".join(told)


def _name(task: OpenTask, quoter: Quoter) -> str:
    return f"{quoter.line(str(task.ref), 180)}: {quoter.line(whole_words(task.content), _NAME)}"


def _recalled(found: RecallCounts | None) -> str:
    """`2 patterns, 1 failure`."""
    if found is None:
        return ""
    counts = {"pattern": found.patterns, "failure": found.failures, "decision": found.decisions}
    return ", ".join(f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items() if count)
