"""A draft's steps as a workflow: prose, data flow and marker rows.

Owns the labels of a step's prose and the columns of its markers.  Foreign text stands in names, which `workflow.headings`
contains, and behind a label in one line, contained here: none of it is ever a heading, a flow or a fence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC

from crucible.commands.codify.data_flow import InOut, flows_of
from crucible.commands.codify.draft_steps import DraftStep, Figures, Remark, RemarkKind
from crucible.commands.codify.parameters import Parameter
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import code_span, contain, contain_line, is_inert, normal, normal_line
from crucible.documents.workflow.workflow import Cell, Condition, Datum, Flow, Marker, Step, Workflow
from crucible.documents.workflow.workflow_markup import phase_name

__all__ = ["LABELS", "settle"]

LABELS = {
    RemarkKind.ASKED: "Asked",
    RemarkKind.CONSTRAINT: "Constraint",
    RemarkKind.DECIDED: "Decided",
    RemarkKind.DID: "Did",
    RemarkKind.LEARNED: "Learned",
    RemarkKind.LOOK: "Look up",
    RemarkKind.RUN: "Run",
    RemarkKind.CHECK: "Check",
    RemarkKind.ONLY_IN: "Only in",
}
_ORDER = [*LABELS]
"""The order of the lines; commands keep the order of their runs."""

_COMMANDS = frozenset({RemarkKind.LOOK, RemarkKind.RUN, RemarkKind.CHECK})
_COMMAND = late_pattern(r"`[^`]+`")
_BACKTICK = late_pattern(r"\\?`")
_WORD = late_pattern(r"[^\W_]")
_WRITTEN = late_pattern(r"\{\{([a-z_]+)\}\}")
_MOST = {RemarkKind.LEARNED: 5, RemarkKind.LOOK: 5, RemarkKind.RUN: 8, RemarkKind.CHECK: 5}
"""Of these a few tell enough; what a user said and what was decided is told in full."""
_LONGEST_COMMAND, _LONGEST_LINE = 240, 300


def settle(
    title: str, steps: Sequence[DraftStep], sessions: Sequence[str], parameters: Sequence[Parameter] = ()
) -> Workflow:
    """The workflow of a draft's steps, which stand in the order in which they were done."""
    drafts = [draft for step in steps for draft in step.walk()]
    flows = iter(flows_of(drafts))
    commands = [one.text for draft in drafts for one in draft.remarks if one.kind in _COMMANDS]
    preamble = "\n".join(_preamble(parameters, _WRITTEN.findall(" ".join(commands))))
    return Workflow(title, tuple(sessions), preamble, tuple(_step(step, flows) for step in steps))


def _preamble(parameters: Sequence[Parameter], commands: Iterable[str]) -> Iterator[str]:
    """What a run must be given, with what it was in the sessions, and what its agent writes for each command."""
    values: dict[str, list[Parameter]] = {}
    for one in parameters:
        values.setdefault(one.name, []).append(one)
    if values:
        yield from ("Parameters of a run, given with `--input NAME=VALUE`:", "")
    for name, told in values.items():
        examples = " or ".join(code_span(value) for value in dict.fromkeys(one.value for one in told))
        yield f"- Parameter `{name}`: {told[0].meaning}, such as {examples}"
    own = [f"`{{{{{name}}}}}`" for name in dict.fromkeys(commands) if name not in values]
    if own:
        yield from (*([""] if values else []), f"Written for each run by its agent: {', '.join(own)}")


def _step(draft: DraftStep, flows: Iterator[InOut]) -> Step:
    """A step and all below it; `flows` gives one for each, in their order."""
    flow = next(flows)
    return Step(
        draft.name,
        draft.agent,
        draft.channel,
        draft.grade,
        "\n".join(_prose(draft.remarks)),
        tuple(_flows(draft, flow)),
        tuple(_marker(draft, run, flow) for run in draft.runs),
        tuple(_step(child, flows) for child in draft.children),
    )


# --- prose -----------------------------------------------------------------------------------------------------------


def _prose(remarks: Sequence[Remark]) -> Iterator[str]:
    """A list item for each remark, kind by kind; long requests stand in a quote below."""
    commands = [one for one in remarks if one.kind in _COMMANDS]
    others = sorted((one for one in remarks if one.kind not in _COMMANDS), key=lambda one: _ORDER.index(one.kind))
    left = Counter(_MOST)
    told = [*dict.fromkeys((one.kind, _told(one)) for one in others)]
    for kind, text in (*told, *((one.kind, _told(one)) for one in commands)):
        if text and left.get(kind, 1):
            left[kind] -= kind in left
            yield f"- {LABELS[kind]}:{text}"


def _told(remark: Remark) -> str:
    """A remark as Markdown; "" for nothing worth a line."""
    text = normal_line(remark.text)
    if not _WORD.search(text):
        return ""
    if remark.kind in _COMMANDS:
        is_whole = len(text) <= _LONGEST_COMMAND and "⏎" not in text and not text.endswith("…")
        why = f" ({contain_line(remark.why)})" if remark.why else ""
        return f" {code_span(text)}{why}" if is_whole else ""
    if remark.kind is RemarkKind.ASKED:
        if len(text) <= _LONGEST_LINE:
            return f' "{contain_line(text)}"'
        lines = (
            contain(line) for line in normal(remark.text).strip().split("\n")
        )  # a fence must not span lines of a quote
        return "\n".join(["", *(f"  > {line}".rstrip() for line in lines)])
    more = "; ".join(filter(None, (normal_line(remark.why), remark.finding)))
    if remark.kind is RemarkKind.CONSTRAINT:
        text = f"the user corrected this, so do it as these words say from the start: {text}"
    line = contain_line(f"{text} ({more})" if more else text)
    return "\n".join([f" {line}", *(f"  - Part: {contain_line(normal_line(point))}" for point in remark.points)])


# --- flow ------------------------------------------------------------------------------------------------------------


def _flows(draft: DraftStep, flow: InOut) -> Iterator[Flow]:
    if flow.outputs:
        yield Flow((tuple(flow.inputs.values()), tuple(flow.outputs.values())))
    for branch in draft.branches:
        yield Flow((), Condition(_condition(branch.condition)), branch.target)


def _condition(text: str) -> str:
    """A condition as it reads back: a command in backticks, or words without any, which might hide the arrow behind them."""
    return text if _COMMAND.fullmatch(text) and is_inert(text[1:-1]) else _BACKTICK.sub("'", text)


# --- markers ---------------------------------------------------------------------------------------------------------


def _marker(draft: DraftStep, run: Figures, flow: InOut) -> Marker:
    """A row for one session's execution of a step; what is not known is null."""
    agent = run.agent or draft.agent
    values: dict[str, Cell] = {
        "phase": phase_name(draft.name),
        "agent": str(agent) if agent else None,
        "channel": draft.channel,
        "input": _joined(flow.inputs.values()),
        "output": _joined(flow.outputs.values()),
        "duration_ms": run.duration_ms,
        "status": run.status.value,
        "tokens_used": run.tokens,
        "session": run.session,
        "started": run.started.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if run.started else None,
    }
    return Marker(values)


def _joined(data: Iterable[Datum]) -> str | None:
    return "; ".join(datum.name for datum in data) or None
