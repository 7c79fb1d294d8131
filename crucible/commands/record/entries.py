"""What an agent can tell of its work, each as an entry of the note and as a record of the flight recorder.

Owns the words: which entry says what, and how a tool call is told in one line.  Where it is written is the `Recorder`'s,
or the `InlineWork`'s.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import PRIVATE, hide_private, unscanned
from crucible.documents.markdown.containment import cut, normal, normal_line, slug
from crucible.documents.recording.call_lines import one_line
from crucible.documents.session.markup import CALL_LIMIT, RESULT_LIMIT
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Prose,
    ToolCall,
    ToolCalls,
)

_LINE_END = late_pattern(r"[ \t]*\n[ \t]*")


class Cleaning:
    """The texts of one write; `counts` grows with each."""

    def __init__(self, redact: Redact) -> None:
        self.redact = redact
        self.counts: Counter[str] = Counter()

    def text(self, given: str) -> str:
        """The text without its secrets.

        What a note leaves out (a terminal's colours, control characters) may part a secret, and whole it would come out:
        such a text is looked at in its normal form too, and stands in that when there was something in it.  `UsageError`
        for what is no text.
        """
        check_text(given)
        text = self._once(given)
        plain = normal(text)
        if plain == text:
            return text
        clean = self._once(plain)
        return text if clean == plain else clean

    def _once(self, given: str) -> str:
        try:
            text, found = self.redact(given)
        except Exception as error:
            raise unscanned(error) from error
        self.counts.update(found)
        return text

    def block(self, given: str) -> str:
        """The same in the normal form of a text of several lines."""
        return normal(self.text(given))

    def words(self, given: str) -> str:
        """A user's own words as a block, without the parts marked as private."""
        check_text(given)
        shown, hidden = hide_private(given)
        self.counts.update({PRIVATE: len(hidden)} if hidden else {})
        return self.block(shown)

    def optional(self, given: str | None) -> str | None:
        """The same, where nothing was said None."""
        return (self.block(given) or None) if given else None

    def line(self, given: str, limit: int = 0) -> str:
        """One line, its line ends as `⏎`; with a limit at most so many code points, cut when nothing secret is left."""
        text = normal_line(_LINE_END.sub("⏎", normal(self.text(given)).strip(" \t\n")))
        return cut(text, limit) if limit else text

    def agent(self, given: str) -> AgentRef | None:
        """`name` or `name@version`; None for an empty one."""
        check_text(given)
        return agent_of(self.text(given)) if given.strip() else None

    def word(self, given: str | None, kind: str) -> str | None:
        """A model's or channel's name, as it can stand in a note."""
        return (slug(self.text(given), "channel" if kind == "channel" else "model") or None) if given else None


def check_text(given: object) -> None:
    """`UsageError` for what is no text: a program may hand in anything."""
    if not isinstance(given, str):
        raise UsageError(f"{given!r:.60} is no text, but {type(given).__name__}", "hand in a str, str(…) of it perhaps")


def agent_of(text: str) -> AgentRef:
    """A name and a version that a heading can hold."""
    found = AgentRef.parse(normal_line(text).removeprefix("@"))
    return AgentRef(slug(found.name, "agent") or "agent", slug(found.version or "", "version") or None)


class Told(NamedTuple):
    """One thing that was told: the note's entry, the flight recorder's kind and values.

    `agents` join the session's participants, `done` is a task that is completed now.
    """

    entry: Entry
    kind: str
    values: Mapping[str, object]
    agents: tuple[AgentRef, ...] = ()
    done: str = ""


class Verbs(ABC):
    """The methods that `Recorder` and `InlineWork` share.

    Every text may hold anything: secrets are taken out of it, and it never becomes structure of the note.  `at` is when
    it happened, by default now.  Each returns the id of the phase that it was written to, and raises `UsageError` when
    nothing was said, `SessionEnded` when the session takes no more, `VaultError` when nothing could be written.
    """

    def prose(self, text: str, *, at: datetime | None = None) -> str:
        """What the agent said: Markdown."""
        clean = self._cleaning()
        said = _said(clean.block(text), "prose")
        return self._tell(Told(Prose(said), "prose", {"content": said}), clean, at)

    def tool(
        self,
        name: str,
        *args: str,
        path: str = "",
        result: str = "",
        outcome: str | None = None,
        exit_code: int | None = None,
        duration_ms: int | None = None,
        at: datetime | None = None,
    ) -> str:
        """A tool call.  The note has it in one line of at most 200 code points, the result in 100; the rest is in flight.

        `path` is the file that the call reads or changes.  `outcome` is `ok`, `failed`, `rejected`, `interrupted` or `pending`; by default an exit code other than 0 means `failed`.
        """
        clean = self._cleaning()
        for given in (name, *args, path):
            check_text(given)
        args = args or ((path,) if path else ())
        words = clean.text(" ".join([_tool_name(name), *args]))
        said = clean.text(result)
        ending = _outcome(outcome, exit_code)
        shown = said if said.strip() or not exit_code else f"exit code {exit_code}"
        call = ToolCall(one_line(words, CALL_LIMIT), one_line(shown, RESULT_LIMIT), ending)
        tool, _, command = words.partition(" ")
        values = {"tool": tool, "command": command, "path": clean.line(path)}
        values |= {"result": said, "outcome": str(ending)}
        more = {"exit_code": exit_code, "duration_ms": duration_ms}
        return self._tell(Told(ToolCalls((call,)), "tool", {**values, **more}), clean, at)

    def decision(self, text: str, *, rationale: str | None = None, at: datetime | None = None) -> str:
        """What was chosen, and why."""
        clean = self._cleaning()
        said, why = _said(clean.block(text), "a decision"), clean.optional(rationale)
        values = {"content": said, "rationale": why}
        return self._tell(Told(Decision(said, why), "decision", values), clean, at)

    def error(self, text: str, *, resolution: str | None = None, at: datetime | None = None) -> str:
        """What went wrong and, when it was mended, how.  Without a resolution the phase has failed."""
        clean = self._cleaning()
        said, how = _said(clean.block(text), "an error"), clean.optional(resolution)
        values = {"content": said, "resolution": how}
        return self._tell(Told(Failure(said, how), "error", values), clean, at)

    def user(self, words: str, *, note: str | None = None, at: datetime | None = None) -> str:
        """A human's exact words, and what was made of them."""
        clean = self._cleaning()
        said, made = _said(clean.words(words), "the user's words"), clean.optional(note)
        values = {"content": said, "note": made}
        return self._tell(Told(Intervention(said, made), "user", values), clean, at)

    def milestone(self, text: str, *, at: datetime | None = None) -> str:
        """Significant progress."""
        return self._callout("milestone", text, at)

    def observation(
        self,
        text: str,
        *,
        tag: str = "",
        task: str = "",
        applies_to: Sequence[str] = (),
        at: datetime | None = None,
    ) -> str:
        """Something worth remembering.

        With the `tag` `parallel-discovery` it is shown to the agents of other tasks; `task` is the id of the one that it was found in, `applies_to`
        are words for what it is about.
        """
        clean = self._cleaning()
        said = _said(clean.block(text), "observation")
        word, named = clean.line(tag), clean.line(task)
        title = ", ".join(filter(None, (word, f"task {named}" if named else "")))
        about = [line for one in applies_to if (line := clean.line(one))]
        values = {"content": said, "tag": word, "task_id": named, "applies_to": about or None}
        return self._tell(Told(Callout("observation", title, said), "observation", values), clean, at)

    def approval_required(self, text: str, *, at: datetime | None = None) -> str:
        """Something waits for a human's yes."""
        return self._callout("approval_required", text, at)

    def checkpoint(self, text: str = "", *, at: datetime | None = None) -> str:
        """A mark to come back to: an observation called Checkpoint."""
        clean = self._cleaning()
        said = clean.block(text)
        entry = Callout("observation", "Checkpoint", said)
        return self._tell(Told(entry, "checkpoint", {"content": said}), clean, at)

    def agent_switch(self, from_agent: str, to_agent: str, text: str = "", *, at: datetime | None = None) -> str:
        """Another agent, or another mode of it, goes on; phases that name no agent are its from now on."""
        clean = self._cleaning()
        before, after = clean.agent(from_agent), clean.agent(to_agent)
        if before is None or after is None:
            raise UsageError("an agent switch names two agents", "from one, to the other")
        said = clean.block(text)
        entry = Callout("agent_switch", f"{before} → {after}", said)
        values = {"content": said, "from_agent": str(before), "to_agent": str(after)}
        return self._tell(Told(entry, "agent_switch", values, (before, after)), clean, at)

    def decision_needed(self, text: str, *, options: Sequence[str] = (), at: datetime | None = None) -> str:
        """A human is to choose, among `options` when there are any."""
        clean = self._cleaning()
        said = _said(clean.block(text), "what is to be decided")
        offered = [line for option in options if (line := clean.line(option))]
        listed = "\n".join(f"- {line}" for line in offered)
        entry = Callout("decision_needed", "", f"{said}\n\n{listed}" if listed else said)
        return self._tell(Told(entry, "decision_needed", {"content": said, "options": offered}), clean, at)

    def task_complete(self, text: str, *, task: str = "", at: datetime | None = None) -> str:
        """A task is done and may be looked at; `task` is its id in the tasks block, where it becomes completed."""
        clean = self._cleaning()
        said = _said(clean.block(text), "what is complete")
        named = clean.line(task)
        entry = Callout("task_complete", f"Task {named}" if named else "", said)
        values = {"content": said, "task": named}
        return self._tell(Told(entry, "task_complete", values, done=named), clean, at)

    def _callout(self, kind: str, text: str, at: datetime | None) -> str:
        clean = self._cleaning()
        said = _said(clean.block(text), kind.replace("_", " "))
        return self._tell(Told(Callout(kind, "", said), kind, {"content": said}), clean, at)

    @abstractmethod
    def _cleaning(self) -> Cleaning:
        """For the texts of one entry."""

    @abstractmethod
    def _tell(self, told: Told, clean: Cleaning, at: datetime | None) -> str:
        """Write it, or keep it until it is written."""


def check_count(tokens: int | None) -> int | None:
    """The count as it was given.  `UsageError` for what is none."""
    # Whatever its type says: a program may hand in anything.
    given: object = tokens
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 0):
        raise UsageError(f"{given!r:.60} tokens", "a count is a whole number, 0 or more")
    return tokens


def told_error(error: BaseException) -> str:
    """Its type and what it says; one that cannot say anything has its type."""
    kind = type(error).__name__
    try:
        return f"{kind}: {error}".rstrip(": ")
    except Exception:  # noqa: BLE001  it is the caller's, and may do anything
        return kind


def _said(text: str, what: str) -> str:
    if not text.strip():
        raise UsageError(f"{what}: nothing was said", "give it a text; `-` reads it from standard input")
    return text


def _tool_name(name: str) -> str:
    """One word: what follows it is the arguments."""
    return "_".join(name.replace("`", " ").split()) or "tool"


def _outcome(given: str | None, exit_code: int | None) -> Outcome:
    if given is None:
        return Outcome.FAILED if exit_code else Outcome.OK
    try:
        return Outcome(given)
    except ValueError:
        raise UsageError(f"{given!r} is no outcome", "one of " + ", ".join(Outcome)) from None
