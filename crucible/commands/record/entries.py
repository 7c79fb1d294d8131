"""The entries that an agent can record, each as an entry of the note and an event of the event log.

`Cleaning` redacts their text; `Recorder` and `InlineWork` write them.
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
    """Redacts the text of one write; `counts` has the number of secrets by rule."""

    def __init__(self, redact: Redact) -> None:
        self.redact = redact
        self.counts: Counter[str] = Counter()

    def text(self, given: str) -> str:
        """Redact the text. Raises `UsageError` if it is not a string.

        Notes drop terminal colours and control characters, which may split a secret. The normalized text is therefore
        scanned too, and returned if it contains a secret.
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
        """Like `text`, normalized as multi-line text."""
        return normal(self.text(given))

    def words(self, given: str) -> str:
        """Redact the user's words, without the parts marked as private."""
        check_text(given)
        shown, hidden = hide_private(given)
        self.counts.update({PRIVATE: len(hidden)} if hidden else {})
        return self.block(shown)

    def optional(self, given: str | None) -> str | None:
        """Like `block`, but None for empty text."""
        return (self.block(given) or None) if given else None

    def line(self, given: str, limit: int = 0) -> str:
        """Redact the text, then join its lines with `⏎` and cut the result to `limit` code points (0: no limit)."""
        text = normal_line(_LINE_END.sub("⏎", normal(self.text(given)).strip(" \t\n")))
        return cut(text, limit) if limit else text

    def agent(self, given: str) -> AgentRef | None:
        """Parse `name` or `name@version`; None for empty text."""
        check_text(given)
        return agent_of(self.text(given)) if given.strip() else None

    def word(self, given: str | None, kind: str) -> str | None:
        """Return the name of a model or channel as a note can hold it; None if empty."""
        return (slug(self.text(given), "channel" if kind == "channel" else "model") or None) if given else None


def check_text(given: object) -> None:
    """Raise `UsageError` for a value that is not a string, since callers are not type-checked."""
    if not isinstance(given, str):
        raise UsageError(f"{given!r:.60} is not text, but {type(given).__name__}", "pass a str, for example str(value)")


def agent_of(text: str) -> AgentRef:
    """Parse an agent's name and version, as allowed in a heading."""
    found = AgentRef.parse(normal_line(text).removeprefix("@"))
    return AgentRef(slug(found.name, "agent") or "agent", slug(found.version or "", "version") or None)


class RecordedEntry(NamedTuple):
    """An entry of the note, with the kind and values of its event.

    `agents` are added to the session's participants; `done` is the id of a task that the entry completes.
    """

    entry: Entry
    kind: str
    values: Mapping[str, object]
    agents: tuple[AgentRef, ...] = ()
    done: str = ""


class Verbs(ABC):
    """The methods that `Recorder` and `InlineWork` share, one for each kind of entry.

    Secrets are redacted, and Markdown in the text never changes the structure of the note. `at` is the time of the
    entry, now by default. Each method returns the id of the phase that it wrote to. It raises `UsageError` for empty
    text, `SessionEnded` if the session has ended, and `VaultError` if nothing could be written.
    """

    def prose(self, text: str, *, at: datetime | None = None) -> str:
        """Record the agent's prose, in Markdown."""
        clean = self._cleaning()
        content = _not_empty(clean.block(text), "prose")
        return self._record(RecordedEntry(Prose(content), "prose", {"content": content}), clean, at)

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
        """Record a tool call. The note gets up to 200 code points of the call and 100 of the result, the event log all.

        `path` is the file that the call reads or changes. `outcome` is `ok`, `failed`, `rejected`, `interrupted` or
        `pending`; it defaults to `failed` for a nonzero exit code.
        """
        clean = self._cleaning()
        for given in (name, *args, path):
            check_text(given)
        args = args or ((path,) if path else ())
        words = clean.text(" ".join([_tool_name(name), *args]))
        output = clean.text(result)
        ending = _outcome(outcome, exit_code)
        shown = output if output.strip() or not exit_code else f"exit code {exit_code}"
        call = ToolCall(one_line(words, CALL_LIMIT), one_line(shown, RESULT_LIMIT), ending)
        tool, _, command = words.partition(" ")
        values = {"tool": tool, "command": command, "path": clean.line(path)}
        values |= {"result": output, "outcome": str(ending)}
        more = {"exit_code": exit_code, "duration_ms": duration_ms}
        return self._record(RecordedEntry(ToolCalls((call,)), "tool", {**values, **more}), clean, at)

    def decision(self, text: str, *, rationale: str | None = None, at: datetime | None = None) -> str:
        """Record a decision and optionally its reason."""
        clean = self._cleaning()
        content, why = _not_empty(clean.block(text), "a decision"), clean.optional(rationale)
        values = {"content": content, "rationale": why}
        return self._record(RecordedEntry(Decision(content, why), "decision", values), clean, at)

    def error(self, text: str, *, resolution: str | None = None, at: datetime | None = None) -> str:
        """Record an error and how it was fixed. Without a resolution, the phase counts as failed."""
        clean = self._cleaning()
        content, how = _not_empty(clean.block(text), "an error"), clean.optional(resolution)
        values = {"content": content, "resolution": how}
        return self._record(RecordedEntry(Failure(content, how), "error", values), clean, at)

    def user(self, words: str, *, note: str | None = None, at: datetime | None = None) -> str:
        """Record the user's exact words, and optionally a note on how they were understood."""
        clean = self._cleaning()
        content, made = _not_empty(clean.words(words), "the user's words"), clean.optional(note)
        values = {"content": content, "note": made}
        return self._record(RecordedEntry(Intervention(content, made), "user", values), clean, at)

    def milestone(self, text: str, *, at: datetime | None = None) -> str:
        """Record significant progress."""
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
        """Record something worth remembering.

        With the `tag` `parallel-discovery`, it is shown to agents that work on other tasks. `task` is the id of the
        task in which it was found; `applies_to` lists its subjects.
        """
        clean = self._cleaning()
        content = _not_empty(clean.block(text), "observation")
        word, named = clean.line(tag), clean.line(task)
        title = ", ".join(filter(None, (word, f"task {named}" if named else "")))
        about = [line for one in applies_to if (line := clean.line(one))]
        values = {"content": content, "tag": word, "task_id": named, "applies_to": about or None}
        return self._record(RecordedEntry(Callout("observation", title, content), "observation", values), clean, at)

    def approval_required(self, text: str, *, at: datetime | None = None) -> str:
        """Record that something waits for the user's approval."""
        return self._callout("approval_required", text, at)

    def checkpoint(self, text: str = "", *, at: datetime | None = None) -> str:
        """Record a point to return to, as an observation titled Checkpoint."""
        clean = self._cleaning()
        content = clean.block(text)
        entry = Callout("observation", "Checkpoint", content)
        return self._record(RecordedEntry(entry, "checkpoint", {"content": content}), clean, at)

    def agent_switch(self, from_agent: str, to_agent: str, text: str = "", *, at: datetime | None = None) -> str:
        """Record that another agent, or another mode of it, continues. It becomes the default of later phases."""
        clean = self._cleaning()
        before, after = clean.agent(from_agent), clean.agent(to_agent)
        if before is None or after is None:
            raise UsageError("an agent switch needs two agents", "give the previous and the next agent")
        content = clean.block(text)
        entry = Callout("agent_switch", f"{before} → {after}", content)
        values = {"content": content, "from_agent": str(before), "to_agent": str(after)}
        return self._record(RecordedEntry(entry, "agent_switch", values, (before, after)), clean, at)

    def decision_needed(self, text: str, *, options: Sequence[str] = (), at: datetime | None = None) -> str:
        """Record that the user must decide, optionally between `options`."""
        clean = self._cleaning()
        content = _not_empty(clean.block(text), "the question to decide")
        offered = [line for option in options if (line := clean.line(option))]
        listed = "\n".join(f"- {line}" for line in offered)
        entry = Callout("decision_needed", "", f"{content}\n\n{listed}" if listed else content)
        return self._record(
            RecordedEntry(entry, "decision_needed", {"content": content, "options": offered}), clean, at
        )

    def task_complete(self, text: str, *, task: str = "", at: datetime | None = None) -> str:
        """Record that a task is ready for review. The task with the id `task` is completed."""
        clean = self._cleaning()
        content = _not_empty(clean.block(text), "what is complete")
        named = clean.line(task)
        entry = Callout("task_complete", f"Task {named}" if named else "", content)
        values = {"content": content, "task": named}
        return self._record(RecordedEntry(entry, "task_complete", values, done=named), clean, at)

    def _callout(self, kind: str, text: str, at: datetime | None) -> str:
        clean = self._cleaning()
        content = _not_empty(clean.block(text), kind.replace("_", " "))
        return self._record(RecordedEntry(Callout(kind, "", content), kind, {"content": content}), clean, at)

    @abstractmethod
    def _cleaning(self) -> Cleaning:
        """Return a redactor for the text of one entry."""

    @abstractmethod
    def _record(self, entry: RecordedEntry, clean: Cleaning, at: datetime | None) -> str:
        """Write the entry, or keep it for later."""


def check_count(tokens: int | None) -> int | None:
    """Return the count. Raises `UsageError` if it is not an integer of at least 0."""
    # Callers are not type-checked.
    given: object = tokens
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 0):
        raise UsageError(f"{given!r:.60} tokens", "a count is a whole number, 0 or more")
    return tokens


def error_text(error: BaseException) -> str:
    """Return an exception's type and message, or only the type if its message cannot be formatted."""
    kind = type(error).__name__
    try:
        return f"{kind}: {error}".rstrip(": ")
    except Exception:  # noqa: BLE001  a caller's exception class may raise anything
        return kind


def _not_empty(text: str, what: str) -> str:
    if not text.strip():
        raise UsageError(f"{what}: the text is empty", "give a text, or `-` to read it from standard input")
    return text


def _tool_name(name: str) -> str:
    """Return the name as one word, since the arguments follow it."""
    return "_".join(name.replace("`", " ").split()) or "tool"


def _outcome(given: str | None, exit_code: int | None) -> Outcome:
    if given is None:
        return Outcome.FAILED if exit_code else Outcome.OK
    try:
        return Outcome(given)
    except ValueError:
        raise UsageError(f"{given!r} is not an outcome", "one of " + ", ".join(Outcome)) from None
