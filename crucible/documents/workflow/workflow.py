"""Value types for a workflow note: steps, data flows, markers and diagnostics.

Places are ignored in comparisons, so a workflow built in memory equals the same one read back.  Prose is Markdown as
written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from crucible.core.named_tuples import NamedTuple
from crucible.documents.markdown.source import NOWHERE, Lines
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.session import AgentRef

Cell: TypeAlias = str | int | float | bool | None
"""A value of a marker row."""


class Place(NamedTuple):
    """A line and a column of the file, both counted from 1.  Columns count code points."""

    line: int
    column: int


UNPLACED = Place(0, 0)
"""The place of a value that is not in a note yet."""


class Severity(StrEnum):
    """The severity of a diagnostic.  An error makes `validate` exit with 3, and the workflow is not run."""

    ERROR = "error"
    WARNING = "warning"


class Diagnostic(NamedTuple):
    """A problem in a workflow.  `code` is a stable identifier in kebab case."""

    code: str
    severity: Severity
    place: Place
    message: str


class Grade(StrEnum):
    """The effect of a failed step: `!` stops the run, `?` skips the step; otherwise dependent steps do not run."""

    PLAIN = "plain"
    CRITICAL = "critical"
    OPTIONAL = "optional"


class RunStatus(StrEnum):
    """The outcome of running a step."""

    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Datum:
    """Named data, written `name::Type`; `type` excludes the `::`, and is `Report[]` for a list.

    Names are case-insensitive.
    """

    name: str
    type: str | None = None
    place: Place = field(default=UNPLACED, compare=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """The text of `If cond`, which is a command if it is a single code span; "" is `Otherwise`."""

    text: str = ""

    @property
    def is_otherwise(self) -> bool:
        """True if the condition applies when no earlier condition of its step does."""
        return not self.text


@dataclass(frozen=True, slots=True)
class Flow:
    """A line of data flow: `a, b → c → d::Type` has three stages; `x → creates:` with its bullet list has two.

    With a `condition`, the stages are those after its arrow: `If cond → report` has one.  `target` is a step's name as
    written, after `proceed to` or as the last stage; "" if there is none.
    """

    stages: tuple[tuple[Datum, ...], ...] = ()
    condition: Condition | None = None
    target: str = ""
    place: Place = field(default=UNPLACED, compare=False)
    target_place: Place = field(default=UNPLACED, compare=False)


@dataclass(frozen=True, slots=True)
class Marker:
    """A row of a `session-toon` block: all columns by name, in order, including unknown ones."""

    values: Mapping[str, Cell]
    place: Place = field(default=UNPLACED, compare=False)

    @property
    def phase(self) -> str:
        """The step's name as written in the row, such as `RerunIntegrationTests`."""
        return cell_text(self.values.get("phase"))

    @property
    def status(self) -> str:
        """One of `RunStatus`, or any other text."""
        return cell_text(self.values.get("status"))


def cell_text(cell: Cell) -> str:
    """The value as written in a note; "" for None."""
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


@dataclass(frozen=True, slots=True)
class Step:
    """A heading and the text up to the next heading; `children` are the steps below it.

    `prose` is the text without flow lines, marker blocks and `---`.  `markers` has the rows within the step, then rows
    outside all steps that name this one.  `id` is the position, such as `step-2.1`.  `lines` ends at the next heading
    of any level; `body_end` is the line after the last line that is neither blank nor `---`.
    """

    name: str
    agent: AgentRef | None = None
    channel: str | None = None
    grade: Grade = Grade.PLAIN
    prose: str = ""
    flows: tuple[Flow, ...] = ()
    markers: tuple[Marker, ...] = ()
    children: tuple[Step, ...] = ()
    id: str = field(default="", compare=False)
    place: Place = field(default=UNPLACED, compare=False)
    lines: Lines = field(default=NOWHERE, compare=False)
    body_end: int = field(default=-1, compare=False)

    @property
    def key(self) -> str:
        """The key by which step names match."""
        return key_of(self.name)

    def inputs(self) -> tuple[Datum, ...]:
        """The first stage of each flow, without data that an earlier flow made, and without duplicates.

        In `a → Next Step`, `a` is an input unless the step makes it anywhere.
        """
        taken: dict[str, Datum] = {}
        made: set[str] = set()
        own = {datum.name.casefold() for datum in self.outputs()}
        for flow in self.flows:
            for at, stage in enumerate(flow.stages):
                if at == 0 and flow.condition is None:
                    known = made if len(flow.stages) > 1 else own
                    for datum in stage:
                        if datum.name.casefold() not in known:
                            taken.setdefault(datum.name.casefold(), datum)
                else:
                    made.update(datum.name.casefold() for datum in stage)
        return tuple(taken.values())

    def outputs(self) -> tuple[Datum, ...]:
        """Every stage after an arrow, without duplicates."""
        made: dict[str, Datum] = {}
        for flow in self.flows:
            for stage in flow.stages if flow.condition is not None else flow.stages[1:]:
                for datum in stage:
                    made.setdefault(datum.name.casefold(), datum)
        return tuple(made.values())

    def walk(self) -> Iterator[Step]:
        """Yield this step, then every step below it, in note order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow note; `name` is the file's name without `.md`, `title` the level-1 heading.

    `sessions` has the ids of the sessions from which the workflow was codified.  `preamble` is the Markdown above the
    first step. `marked` is true if the frontmatter has `type: workflow`.  `diagnostics` are those found while reading;
    `workflow_check` finds more.
    """

    title: str = ""
    sessions: tuple[str, ...] = ()
    preamble: str = ""
    steps: tuple[Step, ...] = ()
    name: str = field(default="", compare=False)
    marked: bool = field(default=True, compare=False)
    properties: Mapping[str, Value] = field(default_factory=dict, compare=False)
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False)
    title_place: Place = field(default=UNPLACED, compare=False)

    def walk(self) -> Iterator[Step]:
        """Yield every step, in note order."""
        for step in self.steps:
            yield from step.walk()


def key_of(name: str) -> str:
    """The casefolded letters and digits of a name: `Re-run Tests` matches `RerunTests`."""
    return "".join(filter(str.isalnum, name.casefold()))
