"""What a workflow note means: frozen values, one for each thing of the workflow markup.

Places (`place`, `lines`) say where a value stands in its note and do not count for equality, so a workflow that was built in
memory equals the same workflow read back.  Prose is Markdown as it stands in the note: a workflow is written by people, so
nothing in it is decoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from crucible.documents.markdown.source import NOWHERE, Lines
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.session import AgentRef

Cell: TypeAlias = str | int | float | bool | None
"""A value of a marker row."""


class Place(NamedTuple):
    """A line and a column of the file, both from 1; columns count code points."""

    line: int
    column: int


UNPLACED = Place(0, 0)
"""The place of what was made in memory and stands in no note yet."""


class Severity(StrEnum):
    """How bad a diagnostic is: an error makes `validate` exit 3 and keeps a workflow from being run."""

    ERROR = "error"
    WARNING = "warning"


class Diagnostic(NamedTuple):
    """Something wrong in a workflow: reported, never fatal to reading.  `code` is a stable kebab-case word."""

    code: str
    severity: Severity
    place: Place
    message: str


class Grade(StrEnum):
    """What a step's failure means: `!` halts the run, `?` is skipped over, neither keeps back what depends on it."""

    PLAIN = "plain"
    CRITICAL = "critical"
    OPTIONAL = "optional"


class RunStatus(StrEnum):
    """How a step's execution ended."""

    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Datum:
    """A named piece of data, `name::Type`; `type` without the `::`, `Report[]` for a list.  Names match without regard to case."""

    name: str
    type: str | None = None
    place: Place = field(default=UNPLACED, compare=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """`If cond` (its text, a command where it is one code span), or `Otherwise` (text "")."""

    text: str = ""

    @property
    def is_otherwise(self) -> bool:
        """Whether it holds when none of the conditions before it in its step did."""
        return not self.text


@dataclass(frozen=True, slots=True)
class Flow:
    """One line of data flow: `a, b → c → d::Type` has three stages, each of one or more data.

    `x → creates:` and its bullet list is two stages.  With a `condition` the stages before the arrow are empty:
    `If cond → proceed to Step` has `target` "Step" and no stages, `If cond → report` has one stage.  `target` is a step's name
    as it was written, from `proceed to NAME` or from a last stage that names a step; "" for none.  `target_place` is where that stands.
    """

    stages: tuple[tuple[Datum, ...], ...] = ()
    condition: Condition | None = None
    target: str = ""
    place: Place = field(default=UNPLACED, compare=False)
    target_place: Place = field(default=UNPLACED, compare=False)


@dataclass(frozen=True, slots=True)
class Marker:
    """One row of a `session-toon` block: every column by its name, in the block's order, unknown ones too."""

    values: Mapping[str, Cell]
    place: Place = field(default=UNPLACED, compare=False)

    @property
    def phase(self) -> str:
        """The step's name, as the row has it: `RerunIntegrationTests`."""
        return cell_text(self.values.get("phase"))

    @property
    def status(self) -> str:
        """One of `RunStatus`, or whatever else stands there."""
        return cell_text(self.values.get("status"))


def cell_text(cell: Cell) -> str:
    """The value as a note writes it; "" for None."""
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


@dataclass(frozen=True, slots=True)
class Step:
    """A heading and what stands below it up to the next heading; `children` are the headings one level and more below it.

    `prose` is that text without flow lines, marker blocks and `---`, outer blank lines off.  `markers` are the rows of the blocks in
    its own lines, whatever step they name, then those of blocks that stand in no step and whose phase names this one.  `id` is
    ordinal: `step-2`, `step-2.1`.  `lines` run from the heading to the next heading of any level; `body_end` is the line after the
    last line of its own that is neither blank nor a `---`.
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
        """By which names match."""
        return key_of(self.name)

    def inputs(self) -> tuple[Datum, ...]:
        """What it takes: the first stage of each flow, without what an earlier stage of its own made.  Each once.

        Of `a → Next Step` that is `a` too, unless the step makes `a` anywhere: then it is handed on, and nothing is taken.
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
        """What it makes: every stage behind an arrow.  Each once."""
        made: dict[str, Datum] = {}
        for flow in self.flows:
            for stage in flow.stages if flow.condition is not None else flow.stages[1:]:
                for datum in stage:
                    made.setdefault(datum.name.casefold(), datum)
        return tuple(made.values())

    def walk(self) -> Iterator[Step]:
        """Itself, then every step below it, in the order of the note."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Workflow:
    """A whole workflow note.

    `name` is the file's name without `.md`; `title` the level-1 heading.  `sessions` are the ids of the frontmatter's
    `sessions`, which it was codified from.  `preamble` is the Markdown between the title and the first heading.  `marked` says whether
    the frontmatter's `type` is `workflow` (see `kind`).  `diagnostics` is what reading found; `checking` finds more.
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
        """Every step in the order of the note."""
        for step in self.steps:
            yield from step.walk()


def key_of(name: str) -> str:
    """The letters and digits of a name without regard to case: `Re-run Integration Tests` is `RerunIntegrationTests`."""
    return "".join(filter(str.isalnum, name.casefold()))
