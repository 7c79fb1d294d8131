"""`Recorder`: one session under recording, with a method for each thing that can be told of it.

Owns how a telling becomes one write of the note and one record in the flight recorder, and what leaving a `with` means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from crucible.commands.record.entries import Cleaning, Told, Verbs, check_count, told_error
from crucible.commands.record.note_writer import (
    Clock,
    Writer,
    aware,
    closing,
    counted,
    in_phase,
    joining,
    new_phase,
    utc_now,
    whole_second,
)
from crucible.commands.record.stop import end_session, finished, keep_bookmark, pause_session, remark
from crucible.commands.record.subagent import Delegated, InlineWork, begin_child, tell_parent
from crucible.commands.record.tasks import Change, added, change_tasks, moved, read_items, replaced
from crucible.core.errors import CrucibleError, UsageError
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.append import Addition, NoteState, PhaseField, Step, TaskList
from crucible.documents.session.session import Mode, Session, Status, Task
from crucible.documents.session.titles import prompt_name
from crucible.memory.bookmarks.bookmark import StopReason


class Recorder(Verbs):
    """Records one session.  Get one from `record.session`, `record.open` or `record.resume`.

    What a method wrote is on disk when it returns.  In a `with`, leaving it ends the session: completed, or failed with
    the error told when an exception comes through, or paused when that was the user's interruption.  The exception goes
    on in any case.
    """

    def __init__(self, writer: Writer, clock: Clock = utc_now) -> None:
        self._writer = writer
        self._clock = clock
        self.summary: str | None = None
        """What `end` writes when it is given no summary, at the end of a `with` too."""

    @property
    def id(self) -> str:
        """The session's id."""
        return self._writer.id

    @property
    def path(self) -> Path:
        """The note."""
        return self._writer.path

    @property
    def warnings(self) -> list[str]:
        """What went wrong beside the note, oldest first: the flight recorder or the parent could not be written."""
        return self._writer.warnings

    # --- phases and figures ------------------------------------------------------------------------------------------

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
        """Begin a phase, which ends the one before; returns its id (`phase-3`).

        `agent` is `name` or `name@version`, by default whoever is at work.  A new one joins the participants; `model`
        and `channel` become the session's where it has none.  `tokens` are what the phase used.
        """
        when, clean = self._when(at), self._cleaning()
        title, speaker = clean.line(name), clean.agent(agent)
        if not title:
            raise UsageError("a phase has no name", "say what it is about")
        said_model, said_channel = clean.word(model, "model"), clean.word(channel, "channel")
        plan = new_phase(title, speaker, said_model, said_channel, check_count(tokens), now=whole_second(when))
        phase = self._writer.add(plan, clean)
        values = {"content": title, "subject": speaker and str(speaker), "model": said_model}
        self._writer.keep("phase", {**values, "channel": said_channel, "tokens": tokens}, when, phase)
        self._report(tokens)
        return phase

    def end_phase(self, *, at: datetime | None = None) -> str:
        """End the last phase, when nothing may be told for a while; returns its id.  One that has ended stays as it is.

        What is told next without a phase of its own still goes into it.  `UsageError` when there is no phase yet.
        """
        when, clean = self._when(at), self._cleaning()

        def plan(standing: NoteState) -> Addition:
            if standing.phase is None:
                raise UsageError("there is no phase that could end", "begin one")
            return Addition(steps=closing(standing.phase, whole_second(when)))

        phase = self._writer.add(plan, clean)
        self._writer.keep("end_phase", {}, when, phase)
        return phase

    def tokens(
        self, used: int = 0, *, cached: int = 0, output: int = 0, model: str = "", at: datetime | None = None
    ) -> str:
        """Count tokens: `used` were sent afresh or generated, `cached` were read from the cache.

        `output` says how many of `used` were generated.  They are added to the session's and the phase's, and a subagent's to its
        parent's item too.
        """
        when, clean = self._when(at), self._cleaning()
        check_count(used), check_count(cached), check_count(output)
        if output > used:
            raise UsageError(f"{output} of {used} tokens", "`output` is a part of `used`")
        name = clean.word(model, "model")

        def plan(standing: NoteState) -> Addition:
            head, phase = standing.head, standing.phase
            keys: dict[str, Value] = {"model": name} if name and not head.model else {}
            keys |= counted(head, used, cached=cached, output=output, model=name, now=when)
            steps = (PhaseField("tokens", (phase.tokens or 0) + used),) if phase and used else ()
            return Addition(keys, steps)

        phase = self._writer.add(plan, clean)
        values = {"used": used, "cached": cached, "output": output or None, "model": name}
        self._writer.keep("tokens", values, when, phase)
        self._report(used)
        return phase

    # --- tasks -------------------------------------------------------------------------------------------------------

    def tasks(self, items: Iterable[Task | Mapping[str, object]], *, at: datetime | None = None) -> str:
        """Make the tasks block hold these: `content`, and perhaps `id`, `status`, `priority`, `depends_on`."""
        clean = self._cleaning()
        return self._change(replaced(read_items(items, clean)), clean, at)

    def add_tasks(self, *items: Task | Mapping[str, object] | str, at: datetime | None = None) -> str:
        """More tasks; a text is one that is pending."""
        clean = self._cleaning()
        given = [{"content": item} if isinstance(item, str) else item for item in items]
        return self._change(added(read_items(given, clean)), clean, at)

    def start_task(self, task: str, *, at: datetime | None = None) -> str:
        """A task is in progress."""
        return self._move(task, "in_progress", at)

    def finish_task(self, task: str, *, at: datetime | None = None) -> str:
        """A task is completed."""
        return self._move(task, "completed", at)

    def _move(self, task: str, status: str, at: datetime | None) -> str:
        # Its id stands in the note as that was cleaned; what was taken out of it was counted then.
        return self._change(moved(self._cleaning().line(task), status), self._cleaning(), at)

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
        """Work that a subagent does: a recorder of its own session, or, with the mode `inline`, of a callout.

        The mode is by default the vault's setting.  Leaving its `with` ends the subagent's session only.
        """
        clean = self._cleaning()
        agent = clean.agent(name)
        if agent is None:
            raise UsageError("a subagent has no name", "say which agent it is")
        said = clean.optional(task)
        work = Delegated(
            agent,
            clean.word(model, "model"),
            self._mode(mode),
            clean.line(prompt_name(said)) if said else agent.name,
            said,
            clean.optional(summary),
            check_count(tokens),
        )
        if work.mode is Mode.INLINE:
            return InlineWork(self._writer, work, clean, self._clock)
        when = self._when(at)
        child = begin_child(self._writer, work, clean, whole_second(when))
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
            raise UsageError(f"{given!r} is no mode of a subagent", "one of " + ", ".join(Mode)) from None

    # --- the end -----------------------------------------------------------------------------------------------------

    def wake(self) -> str:
        """Make a paused session active; returns the id of its last phase.  `SessionEnded` when it has ended."""
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
        """Stop for now, at the last phase; returns its id.  Whatever is told next makes the session active again.

        `note` and `blockers`, what is in the way, go into the bookmark.  With `reopens` a session that was completed or
        has failed is paused, too.
        """
        said = remark(note, blockers, self._cleaning())
        return pause_session(self._writer, reason, self._cleaning(), self._when(at), said, reopens=reopens)

    def end(self, summary: str = "", *, failed: bool = False, at: datetime | None = None) -> list[str]:
        """Complete the session, or let it have failed; returns what the steps that follow an end did, a line each.

        One that nobody was at work in for the idle time ended when the last thing happened in it, unless you say when.
        """
        status = Status.FAILED if failed else Status.COMPLETED
        said = summary or self.summary or ""
        return end_session(self._writer, status, said, self._cleaning(), self._when(at), ended=at and aware(at))

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
        """An error came through."""
        told = told_error(error)
        if not isinstance(error, Exception):
            self.pause("interrupted" if isinstance(error, KeyboardInterrupt) else told)
        else:
            self.error(told)
            self.end(failed=True)

    # --- one telling -------------------------------------------------------------------------------------------------

    def _cleaning(self) -> Cleaning:
        return self._writer.cleaning()

    def _tell(self, told: Told, clean: Cleaning, at: datetime | None) -> str:
        when = self._when(at)
        now = whole_second(when)
        is_done = False

        def plan(standing: NoteState) -> Addition:
            nonlocal is_done
            keys = joining(standing.head, told.agents)
            steps: tuple[Step, ...] = (told.entry,)
            if told.done:
                tasks = moved(told.done, "completed")(standing.head.tasks, now)
                is_done = finished(standing.head.tasks, tasks)
                steps = (TaskList(tasks), *steps)
            return Addition(keys, steps)

        phase = self._writer.add(in_phase(plan, now), clean, whole=bool(told.done))
        self._writer.keep(told.kind, told.values, when, phase)
        if is_done:
            keep_bookmark(self._writer, StopReason.TASK, when)
        return phase

    _parent: str | None = None
    """The session that delegated this one, where that is known without reading."""

    def _report(self, tokens: int | None) -> None:
        """A parent knows what its subagents used."""
        if not tokens:
            return
        if self._parent is None:
            self._parent = self._writer.head().parent or ""
        if self._parent:
            tell_parent(self._writer, self._parent)

    def read_head(self) -> Session:
        """What the note's properties say now; its body is not read."""
        return self._writer.head()

    def _when(self, at: datetime | None) -> datetime:
        return aware(at or self._clock())
