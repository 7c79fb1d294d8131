"""Track the state of a recording: phases, agents, tasks, and token counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import NamedTuple

from crucible.clients.events import (
    At,
    CallEnd,
    Faulted,
    Prompted,
    SubagentReturned,
    TaskChanged,
    TaskState,
    UsageCounted,
)
from crucible.core.prices import KINDS
from crucible.core.prices.price_list import load_prices
from crucible.core.text import cut_at_word, long_words, overlap
from crucible.core.zones import in_zone
from crucible.documents.markdown.containment import normal, normal_line
from crucible.documents.recording.call_lines import one_line
from crucible.documents.recording.entry_texts import (
    agent_ref,
    happening_entry,
    intervention,
    switch_callout,
    whole_seconds,
)
from crucible.documents.recording.session_draft import OpenPhase
from crucible.documents.session.import_properties import TokenUsage, total_usage, usage_lines
from crucible.documents.session.properties import format_time
from crucible.documents.session.session import AgentRef, Entry, Prose, Task
from crucible.documents.session.status_rules import CLOSED, Turn
from crucible.documents.session.task_block import PRIORITIES, TASK_STATUSES
from crucible.documents.session.titles import Titles

_DROPPED = frozenset({"deleted", "cancelled"})
"""Statuses that remove a task, since the list has only planned and finished work."""
_HALF = 0.5
_LONG_NUMBER = 9
"""Minimum digits of an id that is not a position in the list."""


class TaskTracker:
    """The agent's tasks by id, in the order of creation, and the last task that was started."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._start = ""
        self._current = ""

    def tasks(self) -> tuple[Task, ...]:
        """The current list."""
        return tuple(self._tasks.values())

    def take_start(self) -> str:
        """Return and clear the content of a started task without entries; "" if there is none."""
        start, self._start = self._start, ""
        self._current = start or self._current
        return start

    def forget_start(self) -> None:
        """Clear the started task, since it continues in a new phase without its own heading."""
        self._start = self._current = ""

    def replace(self, states: tuple[TaskState, ...], time: datetime | None) -> None:
        """Replace the list.  Tasks are matched by content, since an id may only be a position in the client's list.

        Tasks missing from the new list are kept above it, the open ones as cancelled.  A task keeps its first id.
        """
        known = {task.content: task for task in self._tasks.values()}
        contents = {state.id: normal_line(state.content) or f"Task {state.id}" for state in states}
        left = {content: task for content, task in known.items() if content not in contents.values()}
        for new, old in _rephrased(left, [one for one in contents.values() if one not in known]):
            known[new] = left.pop(old)
        taken = {task.id for task in known.values()}
        ids: dict[str, str] = {}
        for state in states:
            before = known.get(contents[state.id])
            ids[state.id] = before.id if before else _free(state.id, taken)
            taken.add(ids[state.id])
        self._tasks = {task.id: _left_out(task) for task in left.values()}
        for task in left.values():
            self._drop(task.content)
        for state in states:
            self._list(state, contents[state.id], known.get(contents[state.id]), ids, time)

    def _list(
        self,
        state: TaskState,
        content: str,
        before: Task | None,
        ids: Mapping[str, str],
        time: datetime | None,
    ) -> None:
        """Add a task from a client's list; `ids` maps the list's ids to ours."""
        if state.status in _DROPPED:
            self._drop(content)
            return
        task = Task(
            ids[state.id],
            content,
            before.status if before else "pending",
            state.priority if state.priority in PRIORITIES else "medium",
            tuple(ids.get(one, one) for one in state.depends_on),
            before.started if before else None,
            before.completed if before else None,
        )
        self._put(task, state.status, time)

    def change(self, event: TaskChanged) -> None:
        """Create, change or remove a task."""
        task = self._tasks.get(event.id)
        if event.status in _DROPPED:
            dropped = self._tasks.pop(event.id, None)
            self._drop(dropped.content if dropped else "")
            return
        content = normal_line(event.content or "")
        if task is None:
            task = Task(event.id, content or f"Task {event.id}")
        elif content:
            task = replace(task, content=content)
        more = tuple(d for d in event.adds_dependencies if d not in task.depends_on)
        self._put(replace(task, depends_on=task.depends_on + more), event.status or task.status, event.at.time)

    def _drop(self, content: str) -> None:
        """Clear the started task if it has this content."""
        if content == self._start:
            self._start = ""

    def _put(self, task: Task, status: str, time: datetime | None) -> None:
        at = format_time(time) if time else None
        status = status if status in TASK_STATUSES and status != "cancelled" else "pending"
        if status == "in_progress" != task.status:
            task = replace(task, started=task.started or at)
            if task.content != self._current:
                self._start = self._start or task.content
        if status == "completed" != task.status:
            task = replace(task, completed=at)
            self._drop(task.content)
        self._tasks[task.id] = replace(task, status=status, completed=task.completed if status == "completed" else None)


def _rephrased(old: Mapping[str, Task], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pair each new content with an open task that it rephrases.

    They must share more than half the words of the longer one.
    """
    free = {content: long_words(content) for content, task in old.items() if task.status != "completed"}
    for content in new:
        words = long_words(content)
        shares = {one: overlap(words, known, "larger") for one, known in free.items()}
        best = max(shares, key=lambda one: shares[one], default="")
        if best and shares[best] > _HALF:
            del free[best]
            yield content, best


def _left_out(task: Task) -> Task:
    return task if task.status == "completed" else replace(task, status="cancelled")


def _free(ident: str, taken: set[str]) -> str:
    """The id if it is free, else the next free number."""
    if ident not in taken:
        return ident
    return str(1 + max((int(one) for one in taken if one.isdecimal() and len(one) < _LONG_NUMBER), default=0))


class Speakers:
    """The agents of a recording; `kind` is the type of the recorded subagent, "" for the main session."""

    def __init__(self, client: str, kind: str = "") -> None:
        self._client = client
        self._kind = kind
        self._speaking = AgentRef(client)
        self._seen: list[AgentRef] = [agent_ref(kind)] if kind else []

    @property
    def now(self) -> AgentRef:
        """The agent for a phase that begins now."""
        return agent_ref(self._kind) if self._kind else self._speaking

    def all(self) -> tuple[AgentRef, ...]:
        """All agents with an entry in the note, in order of appearance."""
        return tuple(self._seen)

    def change(self, version: str) -> None:
        """Set the client's version."""
        self._speaking = agent_ref(self._client, version)

    def add_current(self) -> None:
        """Record that the note has an entry by the current agent."""
        if self._speaking not in self._seen:
            self._seen.append(self._speaking)


class Switch:
    """The callout at the start of a phase that another agent continues.  The model is added once it is known.

    The session's own `model` stays the first one.
    """

    def __init__(self, phase: OpenPhase, before: str, now: AgentRef) -> None:
        self._phase = phase
        self._callout = switch_callout(before, now)
        self._place = len(phase.entries)
        self._is_open = True
        phase.entries.append(self._callout)

    def name_model(self, model: str | None) -> None:
        """Set the model unless it is already set."""
        if model and self._is_open:
            self._phase.entries[self._place] = replace(self._callout, text=f"Model: {model}")
            self._is_open = False


class PhaseTracker:
    """The part of a `Recorder` that manages phases.

    `_held` has commands that become part of the next phase; `work_name` names a phase without a prompt.
    """

    work_name: str
    _phases: list[OpenPhase]
    _held: list[Prompted]
    _plan: TaskTracker
    _speakers: Speakers
    _titles: Titles
    started: datetime | None
    _turn: Turn

    @property
    def place(self) -> str:
        """The id of the current phase or sub-phase, such as `phase-2.1`; "" before the first phase."""
        if not self._phases:
            return ""
        parts = self._phases[-1].parts
        return f"phase-{len(self._phases)}" + (f".{len(parts)}" if parts else "")

    def _open_phase(self, *prompts: Prompted) -> OpenPhase:
        """Open a phase for the last prompt; held commands precede it."""
        all_prompts = [*self._held, *prompts]
        self._held = []
        named = prompts[-1] if prompts else all_prompts[0]
        phase = self._new_phase(self._titles.prompted(named.text), all_prompts[0].at)
        self.started = self.started or phase.started
        phase.entries.extend(intervention(p) for p in all_prompts)
        return phase

    def _new_phase(self, name: str, at: At) -> OpenPhase:
        phase = OpenPhase(name, self._speakers.now, whole_seconds(at.time))
        self._plan.forget_start()
        self._phases.append(phase)
        return phase

    def _work(self, at: At) -> OpenPhase:
        """The phase in which the agent is working.  Opens one if needed."""
        self._turn = Turn.OPEN
        if self._held:
            return self._open_phase()
        if self._phases:
            return self._phases[-1]
        return self._new_phase(self.work_name, at)

    def _stretch(self, at: At) -> OpenPhase:
        """The current phase or its last sub-phase.  Opens a sub-phase for a task that was just started."""
        phase = self._phases[-1] if self._phases and not self._held else self._work(at)
        started = self._plan.take_start()
        if started:
            phase.parts.append(OpenPhase(cut_at_word(one_line(started, 400), 80), None, whole_seconds(at.time)))
        return phase.parts[-1] if phase.parts else phase

    def _add_callouts(self, at: At, entries: Iterable[Entry]) -> bool:
        """Add callouts; return True if there were any."""
        callouts = list(entries)
        for entry in callouts:
            self._stretch(at).add(entry)
        return bool(callouts)


def turn_after(
    event: SubagentReturned, turn: Turn, phases: Iterable[OpenPhase], place: Callable[[], OpenPhase]
) -> Turn | None:
    """Return the state of a subagent's last turn according to its parent's transcript; None if nothing changes.

    Adds a result that the subagent's own transcript lacks.
    """
    if turn in CLOSED or event.end is CallEnd.REJECTED:
        return None
    text = normal(event.text)
    if event.end is CallEnd.FAILED:
        place().add(happening_entry(Faulted(event.at, text)))
        return Turn.FAULTED
    if event.end is CallEnd.INTERRUPTED:
        return Turn.INTERRUPTED
    if text and not any(phase.contains_prose(text) for phase in phases):
        place().add(Prose(text))
    return Turn.ANSWERED


class _Message(NamedTuple):
    """The tokens of a message, and the phase in which it first appeared.  `used` is uncached input plus output."""

    spent: TokenUsage
    phase: OpenPhase
    used: int = 0

    @property
    def cached(self) -> int:
        return self.spent.tokens["cache_read"]


class TokenCounts:
    """Token counts.  A message reported by several rows counts once, with the values of the last row.

    `used` is uncached input plus output; `cached` was read from the cache.
    """

    def __init__(self) -> None:
        self.used = 0
        self.cached = 0
        # Stays the same even if later rows assign its message to another model.
        self.first_model: str | None = None
        self._messages: dict[str, _Message] = {}
        self._settled: list[TokenUsage] = []
        """The tokens of messages whose phases are closed."""
        self._settled_keys: set[str] = set()
        self.is_stale = False
        """True if one of these messages was counted again."""
        self._models: dict[str, str] = {}

    @property
    def model(self) -> str | None:
        """The model that sent the most messages."""
        return Counter(self._models.values()).most_common(1)[0][0] if self._models else None

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the property `usage`."""
        return usage_lines([*self._settled, *(message.spent for message in self._messages.values())])

    def settled(self, is_open: Callable[[OpenPhase], bool]) -> TokenCounts:
        """Return these counts with one sum for the messages of all other phases."""
        new = copy(self)
        new._messages = {key: message for key, message in self._messages.items() if is_open(message.phase)}  # noqa: SLF001
        closed = {key: message for key, message in self._messages.items() if key not in new._messages}  # noqa: SLF001
        new._settled = total_usage([*self._settled, *(message.spent for message in closed.values())])  # noqa: SLF001
        new._settled_keys = self._settled_keys | closed.keys()  # noqa: SLF001
        return new

    def count(self, event: UsageCounted, phase: OpenPhase, zone: tzinfo = UTC) -> None:
        """Count a message in the phase in which it first appeared, on its day in `zone`."""
        key = event.message or event.at.row or f"#{event.at.line}"
        self.name_model(key, event.model)
        before = self._messages.get(key)
        if before is None:
            self.is_stale |= key in self._settled_keys
            day = in_zone(event.at.time, zone).date().isoformat() if event.at.time else ""
            before = _Message(TokenUsage(day, "", dict.fromkeys(KINDS, 0)), phase)
        model = self._models.get(key, "")
        spent = TokenUsage(before.spent.day, model, _tokens(event), _step(model, event.fresh + event.cached))
        now = self._messages[key] = _Message(spent, before.phase, event.fresh + event.said)
        self.used += now.used - before.used
        self.cached += now.cached - before.cached
        now.phase.tokens += now.used - before.used

    def name_model(self, message: str, model: str) -> None:
        """Assign a message to a model.  A name in angle brackets is not a model."""
        name = normal_line(model)[:100]
        if name and not name.startswith("<"):
            self._models[message or f"#{len(self._models)}"] = name
            self.first_model = self.first_model or name


def _tokens(event: UsageCounted) -> dict[str, int]:
    """Tokens by kind; the kinds do not overlap."""
    written = min(event.written, event.fresh)
    for_an_hour = min(event.written_1h, written)
    counts = (event.fresh - written, event.said, written - for_an_hour, for_an_hour, event.cached, event.searches)
    return dict(zip(KINDS, counts, strict=True))


def _step(model: str, prompt: int) -> int:
    """The last length below the prompt's at which the model's price changes; 0 if there is none."""
    return max((step for step in _prices().steps(model) if prompt > step), default=0)


_prices = cache(load_prices)
