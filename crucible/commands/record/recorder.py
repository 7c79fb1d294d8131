"""`Recorder`: records one session, with a method for each kind of entry.

Each call writes the note once and adds one event to the event log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from crucible.commands.record.entries import Cleaning, RecordedEntry, Verbs, check_count, error_text
from crucible.commands.record.note_writer import (
    Clock,
    Writer,
    add_participants,
    aware,
    end_phase_steps,
    in_phase,
    new_phase,
    token_properties,
    utc_now,
    whole_second,
)
from crucible.commands.record.stop import clean_remark, completes_task, end_session, keep_bookmark, pause_session
from crucible.commands.record.subagent import InlineWork, SubagentWork, begin_child, update_parent
from crucible.commands.record.tasks import (
    Change,
    append_tasks,
    change_tasks,
    read_items,
    replace_tasks,
    set_task_status,
)
from crucible.core.errors import CrucibleError, UsageError
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.append import Addition, NoteState, PhaseField, Step, TaskList
from crucible.documents.session.session import Mode, Session, Status, Task
from crucible.documents.session.titles import prompt_name
from crucible.memory.bookmarks.bookmark import StopReason


class Recorder(Verbs):
    """Records one session. Create it with `record.session`, `record.open` or `record.resume`.

    When a method returns, its text is on disk. Leaving a `with` block ends the session: completed without an exception,
    paused after an interruption by the user, otherwise failed with the error recorded. Exceptions always propagate.
    """

    def __init__(self, writer: Writer, clock: Clock = utc_now) -> None:
        self._writer = writer
        self._clock = clock
        self.summary: str | None = None
        """The default summary for `end`, also used when a `with` block ends."""

    @property
    def id(self) -> str:
        """The session's id."""
        return self._writer.id

    @property
    def path(self) -> Path:
        """The path of the note."""
        return self._writer.path

    @property
    def warnings(self) -> list[str]:
        """Failures to write the event log or the parent's note, oldest first."""
        return self._writer.warnings

    # --- phases and tokens -------------------------------------------------------------------------------------------

    def phase(
        self,
        name: str,
        *,
        agent: str = "",
        model: str = "",
        channel: str = "",
        tokens: int | None = None,
        at: datetime | None = None,
    ) -> str:
        """Begin a phase and end the previous one; returns the new phase's id (`phase-3`).

        `agent` is `name` or `name@version`, by default the current agent; a new agent is added to the participants.
        `model` and `channel` also apply to the session if it has none. `tokens` is the number of tokens used in the
        phase.
        """
        when, clean = self._when(at), self._cleaning()
        title, speaker = clean.line(name), clean.agent(agent)
        if not title:
            raise UsageError("a phase needs a name", "name its topic")
        clean_model, clean_channel = clean.word(model, "model"), clean.word(channel, "channel")
        plan = new_phase(title, speaker, clean_model, clean_channel, check_count(tokens), now=whole_second(when))
        phase = self._writer.add(plan, clean)
        values = {"content": title, "subject": speaker and str(speaker), "model": clean_model}
        self._writer.keep("phase", {**values, "channel": clean_channel, "tokens": tokens}, when, phase)
        self._report(tokens)
        return phase

    def end_phase(self, *, at: datetime | None = None) -> str:
        """End the last phase before a break; returns the phase's id. Does nothing if the phase has already ended.

        Entries recorded before the next phase begins still go into it. Raises `UsageError` if there is no phase yet.
        """
        when, clean = self._when(at), self._cleaning()

        def plan(state: NoteState) -> Addition:
            if state.phase is None:
                raise UsageError("there is no phase to end", "begin a phase first")
            return Addition(steps=end_phase_steps(state.phase, whole_second(when)))

        phase = self._writer.add(plan, clean)
        self._writer.keep("end_phase", {}, when, phase)
        return phase

    def tokens(
        self, used: int = 0, *, cached: int = 0, output: int = 0, model: str = "", at: datetime | None = None
    ) -> str:
        """Add token counts. `used` is the number sent uncached or generated, `output` the generated part of it.

        `cached` is the number read from the cache. All counts are added to the session, `used` also to the phase, and a
        subagent's counts also to the parent's note.
        """
        when, clean = self._when(at), self._cleaning()
        check_count(used), check_count(cached), check_count(output)
        if output > used:
            raise UsageError(f"{output} of {used} tokens", "`output` cannot be more than `used`")
        name = clean.word(model, "model")

        def plan(state: NoteState) -> Addition:
            head, phase = state.head, state.phase
            keys: dict[str, Value] = {"model": name} if name and not head.model else {}
            keys |= token_properties(head, used, cached=cached, output=output, model=name, now=when)
            steps = (PhaseField("tokens", (phase.tokens or 0) + used),) if phase and used else ()
            return Addition(keys, steps)

        phase = self._writer.add(plan, clean)
        values = {"used": used, "cached": cached, "output": output or None, "model": name}
        self._writer.keep("tokens", values, when, phase)
        self._report(used)
        return phase

    # --- tasks -------------------------------------------------------------------------------------------------------

    def tasks(self, items: Iterable[Task | Mapping[str, object]], *, at: datetime | None = None) -> str:
        """Replace the tasks. Items have `content`, and optionally `id`, `status`, `priority`, `depends_on`."""
        clean = self._cleaning()
        return self._change(replace_tasks(read_items(items, clean)), clean, at)

    def add_tasks(self, *items: Task | Mapping[str, object] | str, at: datetime | None = None) -> str:
        """Add tasks; a string becomes a pending task."""
        clean = self._cleaning()
        given = [{"content": item} if isinstance(item, str) else item for item in items]
        return self._change(append_tasks(read_items(given, clean)), clean, at)

    def start_task(self, task: str, *, at: datetime | None = None) -> str:
        """Set a task to in progress."""
        return self._move(task, "in_progress", at)

    def finish_task(self, task: str, *, at: datetime | None = None) -> str:
        """Set a task to completed."""
        return self._move(task, "completed", at)

    def _move(self, task: str, status: str, at: datetime | None) -> str:
        # The note has the redacted id; the secrets in it were counted when it was added.
        return self._change(set_task_status(self._cleaning().line(task), status), self._cleaning(), at)

    def _change(self, change: Change, clean: Cleaning, at: datetime | None) -> str:
        phase, _ = change_tasks(
            self._writer, change, self._when(at), lambda plan: self._writer.add(plan, clean, whole=True)
        )
        return phase

    # --- subagents ---------------------------------------------------------------------------------------------------

    def subagent(
        self,
        name: str,
        *,
        model: str = "",
        mode: str = "",
        task: str = "",
        summary: str = "",
        tokens: int | None = None,
        at: datetime | None = None,
    ) -> Recorder | InlineWork:
        """Begin a subagent's work; returns the recorder of its own session or, in the mode `inline`, of a callout.

        `mode` defaults to the vault's setting. Leaving the `with` block ends only the subagent's session.
        """
        clean = self._cleaning()
        agent = clean.agent(name)
        if agent is None:
            raise UsageError("a subagent needs a name", "give the agent's name")
        clean_task = clean.optional(task)
        work = SubagentWork(
            agent,
            clean.word(model, "model"),
            self._mode(mode),
            clean.line(prompt_name(clean_task)) if clean_task else agent.name,
            clean_task,
            clean.optional(summary),
            check_count(tokens),
        )
        if work.mode is Mode.INLINE:
            return InlineWork(self._writer, work, clean, self._clock)
        when = self._when(at)
        child = begin_child(self._writer, work, clean, when)
        values = {
            "subagent": str(work.agent),
            "model": work.model,
            "mode": str(work.mode),
            "session": child.id,
        }
        more = {"task": work.task, "summary": work.summary, "tokens": tokens}
        self._writer.keep("subagent", {**values, **more}, when, "")
        recorder = Recorder(child, self._clock)
        recorder._parent = self.id
        return recorder

    def _mode(self, given: str) -> Mode:
        try:
            return Mode(given or self._writer.vault.settings.subagents)
        except ValueError:
            raise UsageError(f"{given!r} is not a mode of a subagent", "one of " + ", ".join(Mode)) from None

    # --- the end -----------------------------------------------------------------------------------------------------

    def wake(self) -> str:
        """Make a paused session active; returns the id of its last phase. Raises `SessionEnded` if it has ended."""
        return self._writer.add(lambda _: Addition(), self._cleaning())

    def pause(
        self,
        reason: str = "",
        *,
        note: str = "",
        blockers: Sequence[str] = (),
        reopens: bool = False,
        at: datetime | None = None,
    ) -> str:
        """Pause the session at its last phase; returns the phase's id. The next entry makes the session active again.

        `note` and `blockers` (what prevents the work) go into the bookmark. With `reopens`, a completed or failed
        session can be paused too.
        """
        remark = clean_remark(note, blockers, self._cleaning())
        return pause_session(self._writer, reason, self._cleaning(), self._when(at), remark, reopens=reopens)

    def end(self, summary: str = "", *, failed: bool = False, at: datetime | None = None) -> list[str]:
        """End the session as completed or failed.

        Without `at`, a session that has been inactive for the idle time ends at its last activity. Returns a line for
        each follow-up step, such as updating the parent.
        """
        status = Status.FAILED if failed else Status.COMPLETED
        text = summary or self.summary or ""
        return end_session(self._writer, status, text, self._cleaning(), self._when(at), ended=at and aware(at))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._writer.rests:
            return
        if error is None:
            self.end()
            return
        try:
            self._leave(error)
        except CrucibleError as other:
            error.add_note(f"the session {self.id} could not be ended: {other}")

    def _leave(self, error: BaseException) -> None:
        """Record the exception that ended a `with` block."""
        message = error_text(error)
        if not isinstance(error, Exception):
            self.pause("interrupted" if isinstance(error, KeyboardInterrupt) else message)
        else:
            self.error(message)
            self.end(failed=True)

    # --- one entry ---------------------------------------------------------------------------------------------------

    def _cleaning(self) -> Cleaning:
        return self._writer.cleaning()

    def _record(self, entry: RecordedEntry, clean: Cleaning, at: datetime | None) -> str:
        when = self._when(at)
        now = whole_second(when)
        is_done = False

        def plan(state: NoteState) -> Addition:
            nonlocal is_done
            keys = add_participants(state.head, entry.agents)
            steps: tuple[Step, ...] = (entry.entry,)
            if entry.done:
                tasks = set_task_status(entry.done, "completed")(state.head.tasks, now)
                is_done = completes_task(state.head.tasks, tasks)
                steps = (TaskList(tasks), *steps)
            return Addition(keys, steps)

        phase = self._writer.add(in_phase(plan, now), clean, whole=bool(entry.done))
        self._writer.keep(entry.kind, entry.values, when, phase)
        if is_done:
            keep_bookmark(self._writer, StopReason.TASK, when)
        return phase

    _parent: str | None = None
    """The id of the parent session, "" for none; None until read from the note."""

    def _report(self, tokens: int | None) -> None:
        """Update a subagent's tokens in its parent's note."""
        if not tokens:
            return
        if self._parent is None:
            self._parent = self._writer.head().parent or ""
        if self._parent:
            update_parent(self._writer, self._parent)

    def read_head(self) -> Session:
        """Return the session from the note's current properties; the body is not read."""
        return self._writer.head()

    def _when(self, at: datetime | None) -> datetime:
        return aware(at or self._clock())
