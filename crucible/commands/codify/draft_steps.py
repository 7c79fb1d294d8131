"""Nodes (a session's work as it happened), draft steps for a workflow, and the names of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.core.patterns import late_pattern
from crucible.core.text import cut_at_word
from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.session import AgentRef, Outcome
from crucible.documents.session.titles import key_words
from crucible.documents.workflow.workflow import Datum, Grade, RunStatus, key_of

# --- draft steps -----------------------------------------------------------------------------------------------------


class RemarkKind(StrEnum):
    """The kind of a line in a step's prose; `workflow_assembly` defines the labels."""

    ASKED = "asked"
    CONSTRAINT = "constraint"
    DECIDED = "decided"
    DID = "did"
    LEARNED = "learned"
    LOOK = "look"
    RUN = "run"
    CHECK = "check"
    ONLY_IN = "only-in"
    """The sessions with this step, if other sessions lack it and no earlier step can lead to it."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A line in a step's prose: decoded untrusted text, with the reason `why` and its `points`.

    `finding` is the id of the finding, "" for the user's words and for commands.
    """

    kind: RemarkKind
    text: str
    why: str = ""
    finding: str = ""
    points: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepRun:
    """One session's execution of a step: start, duration and cost, as far as known."""

    session: str
    status: RunStatus = RunStatus.SUCCESS
    agent: AgentRef | None = None
    started: datetime | None = None
    duration_ms: int | None = None
    tokens: int | None = None

    def plus(self, other: StepRun) -> StepRun:
        """Add the figures from work that belongs to this run."""
        return replace(
            self,
            started=self.started or other.started,
            duration_ms=_sum(self.duration_ms, other.duration_ms),
            tokens=_sum(self.tokens, other.tokens),
        )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


@dataclass(frozen=True, slots=True)
class Branch:
    """`If condition → proceed to` the step `target`; an empty condition means `Otherwise`."""

    condition: str
    target: str


@dataclass(frozen=True, slots=True)
class DraftStep:
    """A step of a draft. Names are unique in a draft by `key_of`.

    `report` is an output that is not a file: a subagent's report, or the findings or output of work that wrote no file.
    `takes` has the reports that the step received. A step with children has no acts.
    """

    name: str
    agent: AgentRef | None = None
    channel: str | None = None
    grade: Grade = Grade.PLAIN
    remarks: tuple[Remark, ...] = ()
    acts: tuple[Act, ...] = ()
    report: Datum | None = None
    takes: tuple[Datum, ...] = ()
    branches: tuple[Branch, ...] = ()
    children: tuple[DraftStep, ...] = ()
    runs: tuple[StepRun, ...] = ()

    def walk(self) -> Iterator[DraftStep]:
        """Yield the step, then its descendants, in order."""
        yield self
        for child in self.children:
            yield from child.walk()


class Parameter(NamedTuple):
    """A value that varies between runs: its name, its meaning, and the value in the session."""

    name: str
    meaning: str
    value: str


@dataclass(frozen=True, slots=True)
class Draft:
    """The steps of one session."""

    title: str
    steps: tuple[DraftStep, ...]
    session: str
    parameters: tuple[Parameter, ...] = ()


# --- kinds of work ---------------------------------------------------------------------------------------------------

NOISE = frozenset({Deed.PLAN, Deed.DELEGATE})
"""An agent's own bookkeeping. Delegation counts as noise, since the delegated work is a step itself."""
LOOKING = frozenset({Deed.READ, Deed.SEARCH, Deed.FETCH})
PROVING = frozenset({Deed.TEST, Deed.CHECK, Deed.BUILD})
"""Acts that show whether work is correct; a step in which one failed is critical."""
CHANGING = frozenset({Deed.WRITE, Deed.EDIT, Deed.DELETE})
MERGES = ("git merge ", "git rebase ", "git pull", "git cherry-pick ")
CONFLICT = "conflict"
"""The verdict on a merge with conflicts."""
STOPPED = frozenset({Outcome.REJECTED, Outcome.INTERRUPTED})


def succeeded(act: Act) -> bool:
    """True if an act succeeded."""
    return act.outcome is Outcome.OK


def is_merge(act: Act) -> bool:
    """True if other work was merged; all checks then run again."""
    return act.command.startswith(MERGES) and "--abort" not in act.command


# --- nodes -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Stretch:
    """One agent's uninterrupted work. `is_critical`: a check failed; `last_failed`: the last call failed."""

    acts: list[Act] = field(default_factory=list)
    is_critical: bool = False
    last_failed: bool = False

    def take(self, other: Stretch, *, before: bool = False) -> None:
        """Add another stretch's work."""
        self.acts = [*other.acts, *self.acts] if before else [*self.acts, *other.acts]
        self.is_critical |= other.is_critical
        if not before:
            self.last_failed = other.last_failed

    def only_looked(self) -> bool:
        """True if nothing was changed, run or checked."""
        return all(act.deed in LOOKING | NOISE for act in self.acts)


@dataclass(slots=True)
class Node:
    """A request with the phases that continue it, a sub-phase, or a subagent's work; `parts` are in order.

    `by` numbers the agent; a report goes to the agent with the same number. `reports` is True for a subagent, `is_open`
    if an error was not resolved, `is_late` if all of the work followed a reply by the user. `about` is the title of a
    subagent's note.
    """

    name: str
    by: int
    run: StepRun
    agent: AgentRef | None = None
    channel: str | None = None
    reports: bool = False
    about: str = ""
    remarks: list[Remark] = field(default_factory=list)
    is_open: bool = False
    is_late: bool = False
    parts: list[Stretch | Node] = field(default_factory=list)

    def stretch(self) -> Stretch:
        """Return the last stretch, to add work to. Creates one if the last part is a node."""
        if not self.parts or isinstance(self.parts[-1], Node):
            self.parts.append(Stretch())
        last = self.parts[-1]
        assert isinstance(last, Stretch)  # noqa: S101
        return last

    def add(self, remark: Remark) -> None:
        """Add a remark unless the node already has it."""
        if remark not in self.remarks:
            self.remarks.append(remark)

    def stretches(self) -> list[Stretch]:
        """Return the node's own stretches, excluding the nodes below."""
        return [part for part in self.parts if isinstance(part, Stretch)]

    def has_work(self) -> bool:
        """True if the node did or delegated any work."""
        return any(isinstance(p, Node) or any(a.deed not in NOISE for a in p.acts) for p in self.parts)

    def only_looked(self) -> bool:
        """True if nothing in the node or its descendants was changed, run or checked."""
        return all(part.only_looked() for part in self.parts)

    def failed(self) -> bool:
        """True if an error was not resolved, or if the node's own work ended in a failure."""
        return self.is_open or any(stretch.last_failed for stretch in self.stretches()[-1:])

    def all_stretches(self) -> list[Stretch]:
        """Return the stretches of the node and its descendants."""
        return [stretch for one in self.walk() for stretch in one.stretches()]

    def acts(self) -> list[Act]:
        """Return the acts of the node and its descendants."""
        return [act for stretch in self.all_stretches() for act in stretch.acts]

    def walk(self) -> Iterator[Node]:
        """Yield the node and its descendants."""
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.walk()


CHANGES = Datum("changes", "Files")
"""Placeholder for the files that a step changes, which differ between runs."""
ANY, CHOSEN = "Carry out the request", "Make the changes that the user chooses"
"""Names for steps whose requests do not describe the work."""
_LONGEST = 80
_APOSTROPHE = late_pattern(r"['’]")
_WORD = late_pattern(r"\w+")


class Names:
    """Makes names unique by appending a number to later names with the same key."""

    def __init__(self, key: Callable[[str], str] = key_of, joint: str = " ") -> None:
        self._key = key
        self._joint = joint
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def claim(self, name: str) -> str:
        """Return the name, with a number if it is already used."""
        first = key = self._key(name)
        found = name
        while key in self._taken:
            self._last[first] = self._last.get(first, 1) + 1
            found = f"{name}{self._joint}{self._last[first]}"
            key = self._key(found)
        self._taken.add(key)
        return found


def tidy_name(name: str) -> str:
    """Shorten a name to one line. "" if it has no letter or digit, since no marker could match it."""
    short = cut_at_word(normal_line(name), _LONGEST)
    return short if any(map(str.isalnum, short)) else ""


def slug_of(name: str, kind: str) -> str:
    """Return a one-word name for a step's output: `find_how_retries_done_report`."""
    words = _WORD.findall(_APOSTROPHE.sub("", key_words(name, 32)).casefold())
    return "_".join([*(words[:-1] if words[-1:] == [kind] else words), kind])


# --- names of work ---------------------------------------------------------------------------------------------------

_VERBS = {Deed.WRITE: "write", Deed.EDIT: "edit", Deed.DELETE: "delete"}
_PROOFS = {Deed.TEST: "the tests", Deed.CHECK: "the checks"}


def work_name(acts: Sequence[Act]) -> str:
    """Describe work in a few words, such as `Edit limiter.py and run the tests`; "" if nothing describes it."""
    parts = [*_changes(acts), *_proofs(acts)] or [*_others(acts)]
    joined = join_words(parts)
    return tidy_name(joined[:1].upper() + joined[1:])


def join_words(words: Sequence[str]) -> str:
    """Join words as in `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _changes(acts: Sequence[Act]) -> Iterable[str]:
    """Yield phrases for the changed files, each by the first deed on it."""
    done: dict[str, Deed] = {}
    for act in acts:
        if act.deed in _VERBS:
            for path in [datum.name for datum in act.writes] or [act.what]:
                done.setdefault(_file(path), act.deed)
    if done.pop(CHANGES.name, None):
        yield "make the changes"
    for deed, verb in _VERBS.items():
        files = [file for file, first in done.items() if first is deed]
        if files:
            yield f"{verb} {_listed(files)}"


def _proofs(acts: Sequence[Act]) -> Iterable[str]:
    deeds = {act.deed for act in acts}
    if Deed.BUILD in deeds:
        yield "build"
    run = [words for deed, words in _PROOFS.items() if deed in deeds]
    if run:
        yield f"run {_listed(run)}"


def _others(acts: Sequence[Act]) -> Iterable[str]:
    """Yield a phrase for the commands, else for the tools, else for what was read."""
    for deed, verb in _OTHERS.items():
        found = dict.fromkeys(act.what for act in acts if act.deed is deed and act.what)
        if found:
            cut = _file if deed is Deed.READ else (lambda what: cut_at_word(normal_line(what), 50))
            yield f"{verb} {_listed(list(dict.fromkeys(map(cut, found))))}"
            return


_OTHERS = {
    Deed.RUN: "run",
    Deed.OTHER: "use",
    Deed.READ: "read",
    Deed.FETCH: "look up",
    Deed.SEARCH: "search for",
}


def _listed(names: Sequence[str]) -> str:
    if len(names) <= 2:
        return " and ".join(names)
    return f"{names[0]}, {names[1]} and {len(names) - 2} more"


def _file(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path
