"""Assemble draft steps into a workflow: prose, data flow and marker rows.

Untrusted text is put in one line after a label, so that it never becomes a heading, a flow or a fence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from crucible.analysis.tools.tool_acts import Deed
from crucible.commands.codify.draft_steps import DraftStep, Names, Parameter, Remark, RemarkKind, StepRun, slug_of
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import code_span
from crucible.documents.markdown.containment import contain, contain_line, is_inert, normal, normal_line
from crucible.documents.session.properties import format_time
from crucible.documents.workflow.workflow import Cell, Condition, Datum, Flow, Marker, Step, Workflow
from crucible.documents.workflow.workflow_markup import phase_name

MOST = 8
"""Maximum inputs or outputs of a step; required ones may exceed it."""


@dataclass(slots=True)
class InOut:
    """The inputs and outputs of a step by casefolded name; those in `kept` must not be cut."""

    inputs: dict[str, Datum]
    outputs: dict[str, Datum]
    kept: frozenset[str]


def flows_of(steps: Sequence[DraftStep]) -> list[InOut]:
    """Return the inputs and outputs of each step; both are empty for a step that did nothing."""
    found = [_raw(step) for step in steps]
    shared = Counter(key for one in found for key in {*one.inputs, *one.outputs})
    names = Names(str.casefold, "_")
    for key in shared:
        names.claim(key)
    for step, one in zip(steps, found, strict=True):
        if one.inputs and not one.outputs:
            made = names.claim(slug_of(step.name, "output"))
            one.outputs[made] = Datum(made, "Text")
    request = Datum(names.claim("request"), "Text")
    _settle(found, shared, request)
    _put_types(found)
    return found


def _raw(step: DraftStep) -> InOut:
    """Return what a step's acts read and wrote, and the reports that it received and made."""
    inputs: dict[str, Datum] = {}
    outputs: dict[str, Datum] = {}
    for act in step.acts:
        for datum in act.reads:
            key = datum.name.casefold()
            if key not in outputs:
                inputs.setdefault(key, datum)
        for datum in act.writes:
            outputs.setdefault(datum.name.casefold(), datum)
        if act.deed is Deed.DELETE:
            outputs.pop(act.what.casefold(), None)
    for datum in step.takes:
        inputs.setdefault(datum.name.casefold(), datum)
    if step.report:
        outputs.setdefault(step.report.name.casefold(), step.report)
    handed = [*step.takes, *([step.report] if step.report else [])]
    return InOut(inputs, outputs, frozenset(datum.name.casefold() for datum in handed))


def _settle(found: Iterable[InOut], shared: Mapping[str, int], request: Datum) -> None:
    """Cut long lists, and add what a step changes to its inputs."""
    seen: dict[str, Datum] = {}
    for one in found:
        one.outputs = dict(_most(one.outputs, one.kept, shared))
        changed = {key: datum for key, datum in one.outputs.items() if key in seen or key in one.inputs}
        must = one.kept | changed.keys()
        one.inputs = dict(_most({**one.inputs, **changed}, must, shared))
        if one.outputs and not one.inputs:
            one.inputs[request.name.casefold()] = request
        seen |= {**one.inputs, **one.outputs}


def _most(data: Mapping[str, Datum], must: Iterable[str], shared: Mapping[str, int]) -> Iterator[tuple[str, Datum]]:
    """Yield the required data and those shared by most steps, in order."""
    if len(data) <= MOST:
        return iter(data.items())
    kept = {key for key in must if key in data}
    others = sorted((key for key in data if key not in kept), key=lambda key: -shared[key])
    kept.update(others[: max(0, MOST - len(kept))])
    return ((key, datum) for key, datum in data.items() if key in kept)


def _put_types(found: Iterable[InOut]) -> None:
    """Spell each name as in its first use, and keep its type only there."""
    found = list(found)
    types: dict[str, str] = {}
    names: dict[str, str] = {}
    for one in found:
        for key, datum in (*one.inputs.items(), *one.outputs.items()):
            names.setdefault(key, datum.name)
            if datum.type:
                types.setdefault(key, datum.type)
    for one in found:
        one.inputs = {key: Datum(names[key], types.pop(key, None)) for key in one.inputs}
        one.outputs = {key: Datum(names[key], types.pop(key, None)) for key in one.outputs}


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
"""The order of the lines. Commands keep the order of their runs."""

_COMMANDS = frozenset({RemarkKind.LOOK, RemarkKind.RUN, RemarkKind.CHECK})
_COMMAND = late_pattern(r"`[^`]+`")
_BACKTICK = late_pattern(r"\\?`")
_WORD = late_pattern(r"[^\W_]")
_WRITTEN = late_pattern(r"\{\{([a-z_]+)\}\}")
_MOST = {RemarkKind.LEARNED: 5, RemarkKind.LOOK: 5, RemarkKind.RUN: 8, RemarkKind.CHECK: 5}
"""Maximum lines per kind; other kinds have no limit."""
_LONGEST_COMMAND, _LONGEST_LINE = 240, 300


def assemble(
    title: str, steps: Sequence[DraftStep], sessions: Sequence[str], parameters: Sequence[Parameter] = ()
) -> Workflow:
    """Build the workflow from draft steps, in the order in which they were done."""
    drafts = [draft for step in steps for draft in step.walk()]
    flows = iter(flows_of(drafts))
    commands = [one.text for draft in drafts for one in draft.remarks if one.kind in _COMMANDS]
    preamble = "\n".join(_preamble(parameters, _WRITTEN.findall(" ".join(commands))))
    return Workflow(title, tuple(sessions), preamble, tuple(_step(step, flows) for step in steps))


def _preamble(parameters: Sequence[Parameter], commands: Iterable[str]) -> Iterator[str]:
    """Yield the parameters of a run with their values in the sessions, and those that the agent fills in."""
    values: dict[str, list[Parameter]] = {}
    for one in parameters:
        values.setdefault(one.name, []).append(one)
    if values:
        yield from ("Parameters of a run, given with `--input NAME=VALUE`:", "")
    for name, group in values.items():
        examples = " or ".join(code_span(value) for value in dict.fromkeys(one.value for one in group))
        yield f"- Parameter `{name}`: {group[0].meaning}, such as {examples}"
    own = [f"`{{{{{name}}}}}`" for name in dict.fromkeys(commands) if name not in values]
    if own:
        yield from (*([""] if values else []), f"Written by the agent in each run: {', '.join(own)}")


def _step(draft: DraftStep, flows: Iterator[InOut]) -> Step:
    """Build a step and its descendants; `flows` has one item for each, in order."""
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
    """Yield a list item for each remark, grouped by kind. Long requests are quoted below their item."""
    commands = [one for one in remarks if one.kind in _COMMANDS]
    others = sorted((one for one in remarks if one.kind not in _COMMANDS), key=lambda one: _ORDER.index(one.kind))
    left = Counter(_MOST)
    lines = [*dict.fromkeys((one.kind, _line(one)) for one in others)]
    for kind, text in (*lines, *((one.kind, _line(one)) for one in commands)):
        if text and left.get(kind, 1):
            left[kind] -= kind in left
            yield f"- {LABELS[kind]}:{text}"


def _line(remark: Remark) -> str:
    """Return a remark as Markdown, "" if it is not worth a line."""
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
        text = f"the user corrected this, so do it this way from the start: {text}"
    line = contain_line(f"{text} ({more})" if more else text)
    return "\n".join([f" {line}", *(f"  - Part: {contain_line(normal_line(point))}" for point in remark.points)])


# --- flow ------------------------------------------------------------------------------------------------------------


def _flows(draft: DraftStep, flow: InOut) -> Iterator[Flow]:
    if flow.outputs:
        yield Flow((tuple(flow.inputs.values()), tuple(flow.outputs.values())))
    for branch in draft.branches:
        yield Flow((), Condition(_condition(branch.condition)), branch.target)


def _condition(text: str) -> str:
    """Return a condition that parses back: a command in backticks, or words without any."""
    return text if _COMMAND.fullmatch(text) and is_inert(text[1:-1]) else _BACKTICK.sub("'", text)


# --- markers ---------------------------------------------------------------------------------------------------------


def _marker(draft: DraftStep, run: StepRun, flow: InOut) -> Marker:
    """Return the marker row for one session's execution; unknown values are null."""
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
        "started": format_time(run.started) if run.started else None,
    }
    return Marker(values)


def _joined(data: Iterable[Datum]) -> str | None:
    return "; ".join(datum.name for datum in data) or None
