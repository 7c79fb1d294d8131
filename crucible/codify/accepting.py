"""Whether an agent's answer may take a draft's place, and the workflow that it then is.

Owns what an agent may not do: lose or change a decision or a correction, make up prose, an agent, a command, a path out of the
project or a run, or answer with something that is no workflow.  Its text is foreign like any other: contained, and redacted by the caller.
The facts of the session (figures, grades that a failure gave, agents) are the draft's, whatever the answer says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.codify.tagging import Answered, Tagged, read_tagged
from crucible.note.contain import (
    contain,
    contain_line,
    normal_line,
    read_code_span,
    uncontain,
    uncontain_line,
)
from crucible.note.frontmatter import find_frontmatter_span
from crucible.note.source import Source
from crucible.patterns import late_pattern
from crucible.workflow.checking import check_workflow
from crucible.workflow.graph import build_graph
from crucible.workflow.markup import phase_name, render_workflow
from crucible.workflow.model import (
    AgentRef,
    Condition,
    Datum,
    Diagnostic,
    Flow,
    Grade,
    Marker,
    Severity,
    Step,
    Workflow,
    key_of,
)
from crucible.workflow.reading import read_workflow

__all__ = ["Refused", "accept", "document_of", "errors_of"]

_KEPT = ("decided", "constraint")
"""Lines that a step never loses."""

_LABELLED = late_pattern(
    r"[ \t]*(?:[-*+]|\d+[.)])?[ \t]*[*_]*(decided|constraint|asked|did|part|learned|look[ \t]+up|run|check|only[ \t]+in)[*_]*:[*_]*[ \t]*(.*)",
    re.IGNORECASE,
)
_ITEM = late_pattern(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
_NAME = late_pattern(r"[\w .,/:+@*~#=()&'-]{1,200}")
_TYPE = late_pattern(r"[\w.:/+-]{1,100}(?:\[\])?")
_AFAR = late_pattern(r"\A\s*(?:[/\\~]|[A-Za-z]:|file:)|\.\.", re.IGNORECASE)
"""A name that may be a path out of the project."""
_MOST_COMPLAINTS = 20


class Refused(Exception):
    """An answer that may not take the draft's place; `complaints` are lines that say why."""

    def __init__(self, complaints: Sequence[str]) -> None:
        super().__init__(complaints[0])
        self.complaints = tuple(complaints[:_MOST_COMPLAINTS])


def accept(text: str, tagged: Tagged, clean: Callable[[str], str] = str) -> Workflow:
    """The workflow that an answer is, `document_of` it; or `Refused`.

    `clean` takes the secrets out of each text that the draft has not: never of the whole, where an id behind a word like `token:`
    would be one.
    """
    if find_frontmatter_span(Source(text)).end:
        raise Refused(["it has frontmatter: answer without any"])
    answered = read_tagged(text, tagged)
    _refuse_if(list(_unreadable(answered)))
    _refuse_if(list(_untrue(answered, tagged)))
    workflow = _merged(answered, tagged.draft, clean)
    _refuse_if(errors_of(workflow))
    again = read_workflow(Source(render_workflow(workflow)), workflow.name)
    if (again.title, again.preamble, again.steps) != (workflow.title, workflow.preamble, workflow.steps):
        raise Refused(["it does not read back as it was written: keep to plain Markdown"])
    return workflow


def errors_of(workflow: Workflow) -> list[str]:
    """A line for each error of a workflow, with its place where it has one."""
    return [
        _told(one)
        for one in check_workflow(workflow, build_graph(workflow))
        if one.severity is Severity.ERROR
    ]


def _told(one: Diagnostic) -> str:
    where = f"line {one.place.line}: " if one.place.line else ""
    return f"{where}{one.code}: {one.message}"


def _refuse_if(complaints: list[str]) -> None:
    if complaints:
        raise Refused(complaints)


# --- where the workflow is in an answer ------------------------------------------------------------------------------

_FENCE = late_pattern(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[ \t]*$")
_HEADING = late_pattern(r"#{1,6}[ \t]")


def document_of(answer: str) -> str:
    """The workflow in an answer: what a `markdown` fence holds where there is one, else all from the first heading on."""
    lines = answer.split("\n")
    fenced = max(_fenced(lines), key=len, default=[])
    if not fenced:
        start = next((at for at, line in enumerate(lines) if _HEADING.match(line)), None)
        # Frontmatter and what has no heading at all is refused by what it is.
        fenced = lines if start is None or lines[0].rstrip() == "---" else lines[start:]
    return "\n".join(fenced).strip("\n") + "\n"


def _fenced(lines: Sequence[str]) -> Iterator[list[str]]:
    """The contents of the fences that hold a heading.  Models write fences of one length in each other: each opener has an info word."""
    at = 0
    while at < len(lines):
        opener = _FENCE.match(lines[at])
        if opener is None:
            at += 1
            continue
        end = _end_of(lines, at, opener[1])
        inner = list(lines[at + 1 : end])
        if opener[2].lower() in ("", "markdown", "md") and any(_HEADING.match(line) for line in inner):
            yield inner
        at = end + 1


def _end_of(lines: Sequence[str], first: int, mark: str) -> int:
    """The line that closes a fence; the end where none does."""
    depth = 0
    for at in range(first + 1, len(lines)):
        found = _FENCE.match(lines[at])
        if found is None or found[1][0] != mark[0]:
            continue
        if found[2]:
            depth += 1
        elif depth:
            depth -= 1
        elif len(found[1]) >= len(mark):
            return at
    return len(lines)


# --- what is wrong with it -------------------------------------------------------------------------------------------


def _unreadable(answered: Answered) -> Iterator[str]:
    workflow = answered.workflow
    if answered.lost:
        yield f"“{answered.lost}” is read as prose: no step may be called Summary, Notes or Workflow"
        return
    if not workflow.steps:
        yield "it holds no step: answer with the whole workflow in Markdown, a heading for each step"
    yield from errors_of(workflow)
    if any(step.markers for step in workflow.walk()):
        yield "it has session-toon blocks: leave them out, figures are put in afterwards"


def _untrue(answered: Answered, tagged: Tagged) -> Iterator[str]:
    yield from _lost_lines(answered, tagged)
    yield from _made_up(answered, tagged.draft)


def _made_up(answered: Answered, draft: Workflow) -> Iterator[str]:
    """Words, agents, channels and commands that the draft has not."""
    steps = list(answered.workflow.walk())
    told = {said for step in draft.walk() for _, said in _items_of(step.prose)}
    told.update(said for _, said in _items_of(draft.preamble))
    found = [
        ("the preamble", answered.workflow.preamble),
        *((f"“{step.name}”", step.prose) for step in steps),
    ]
    for where, prose in found:
        for label, said in _items_of(prose):
            if said in told:
                continue
            if label:
                yield f"{where} has a line “{label}: …” that the draft has not: copy such lines as they are"
            else:
                yield f"{where} has words that the draft has not: “{normal_line(said)[:60]}”; add no prose"
    agents = _agents(draft)
    channels = {step.channel for step in draft.walk()} | {None}
    commands = {flow.condition.text for step in draft.walk() for flow in step.flows if flow.condition}
    data = [datum for step in draft.walk() for flow in step.flows for stage in flow.stages for datum in stage]
    words = {word for datum in data for word in (datum.name, datum.type) if word}
    for step in steps:
        if step.agent and step.agent.name.casefold() not in agents:
            yield f"“{step.name}” names an agent that the draft has not"
        if step.channel not in channels:
            yield f"“{step.name}” names a channel that the draft has not"
        for flow in step.flows:
            yield from _strange(step, flow, commands, words)


def _agents(draft: Workflow) -> dict[str, AgentRef]:
    """By name, which is all that an answer must have right of them."""
    return {step.agent.name.casefold(): step.agent for step in draft.walk() if step.agent}


def _lost_lines(answered: Answered, tagged: Tagged) -> Iterator[str]:
    """Decisions and corrections that do not stand in the step that stands for theirs."""
    holders: dict[int, list[str]] = {}
    for step, origins in zip(answered.workflow.walk(), answered.stands_for, strict=True):
        for origin in origins:
            holders.setdefault(id(origin), []).extend(said for _, said in _lines_of(step.prose))
    for number, origin in tagged.steps.items():
        kept = [(label, said) for label, said in _lines_of(origin.prose) if label.lower() in _KEPT]
        if kept and id(origin) not in holders:
            yield f"the step {tagged.id_of(number)} is gone, and a decision stands on it: keep its id in a heading"
        elif any(said not in holders[id(origin)] for _, said in kept):
            yield f"the step {tagged.id_of(number)} has lost “Decided” or “Constraint” lines, or their words"


def _lines_of(prose: str) -> list[tuple[str, str]]:
    """The labelled items of a step's prose: the label, and all of it in one line, decoded."""
    return [(label, said) for label, said in _items_of(prose) if label]


def _items_of(prose: str) -> list[tuple[str, str]]:
    """All that a step's prose says, each item and each paragraph in one line, decoded; the label is "" where it has none."""
    found: list[tuple[str, list[str]]] = []
    goes_on = False
    for line in prose.split("\n"):
        if match := _LABELLED.match(line):
            found.append((" ".join(match[1].split()).capitalize(), [f"{match[1].casefold()}:", match[2]]))
        elif line.strip() and goes_on and not _ITEM.match(line):
            found[-1][1].append(line)
        elif line.strip():
            found.append(("", [_ITEM.sub("", line, count=1)]))
        goes_on = bool(line.strip())
    return [(label, uncontain_line(" ".join(" ".join(parts).split()))) for label, parts in found]


def _strange(step: Step, flow: Flow, conditions: set[str], words: set[str]) -> Iterator[str]:
    """A command is run when the workflow is: none may come from an agent."""
    text = flow.condition.text if flow.condition else ""
    if text not in conditions and "`" in text:
        yield f"“{step.name}” has a condition with a command that the draft has not"
    for datum in (datum for stage in flow.stages for datum in stage):
        if datum.name not in words and _AFAR.search(datum.name):
            yield f"“{step.name}” has data that do not lie in the project: {normal_line(datum.name)[:60]}"
        is_plain = datum.name in words or _NAME.fullmatch(datum.name)
        if not is_plain or not (datum.type is None or datum.type in words or _TYPE.fullmatch(datum.type)):
            yield f"“{step.name}” has data with characters that no name or type needs: {normal_line(datum.name)[:60]}"


# --- the facts are the draft's ---------------------------------------------------------------------------------------


def _merged(answered: Answered, draft: Workflow, clean: Callable[[str], str]) -> Workflow:
    found = answered.workflow
    facts = _Facts(iter(answered.stands_for), _agents(draft), set(), frozenset(_texts(draft)), clean)
    return replace(
        draft,
        title=_line(found.title, facts) or draft.title,
        preamble=_contained(found.preamble, facts) if found.preamble else "",
        steps=tuple(_step(step, facts) for step in found.steps),
        diagnostics=(),
    )


class _Facts(NamedTuple):
    """Of each step of an answer, in the order of the note, what it stands for; the draft's agents; whose figures have a place.

    `known` are the draft's own texts, which have no secrets any more; `clean` takes them out of all others.
    """

    origins: Iterator[tuple[Step, ...]]
    agents: Mapping[str, AgentRef]
    placed: set[int]
    known: frozenset[str]
    clean: Callable[[str], str]


def _texts(draft: Workflow) -> Iterator[str]:
    yield draft.title
    for step in draft.walk():
        yield from (step.name, step.prose)
        for flow in step.flows:
            yield from (flow.target, flow.condition.text if flow.condition else "")
            yield from (
                word for stage in flow.stages for datum in stage for word in (datum.name, datum.type or "")
            )


def _step(step: Step, facts: _Facts) -> Step:
    origins = next(facts.origins)
    critical = any(origin.grade is Grade.CRITICAL for origin in origins)
    step = replace(step, name=_line(step.name, facts))
    markers: list[Marker] = []
    for origin in origins:
        if id(origin) not in facts.placed:  # of a step that was parted, the first part has the figures
            facts.placed.add(id(origin))
            markers += (_marker(row, origin, step) for row in origin.markers)
    return replace(
        step,
        agent=_agent(step.agent, origins, facts),
        channel=step.channel or next((origin.channel for origin in origins if origin.channel), None),
        grade=Grade.CRITICAL if critical else step.grade,
        prose=_contained(step.prose, facts),
        flows=tuple(_flow(flow, facts) for flow in step.flows),
        markers=tuple(markers),
        children=tuple(_step(child, facts) for child in step.children),
    )


def _agent(told: AgentRef | None, origins: Sequence[Step], facts: _Facts) -> AgentRef | None:
    """With the version that the draft has, where an answer has none or another one."""
    own = [origin.agent for origin in origins if origin.agent]
    if told is None:
        return own[0] if own else None
    alike = [agent for agent in own if agent.name.casefold() == told.name.casefold()]
    return told if told in alike else next(iter(alike), facts.agents[told.name.casefold()])


def _marker(row: Marker, origin: Step, step: Step) -> Marker:
    """A row follows its step to the new name."""
    if key_of(row.phase) != origin.key or key_of(row.phase) == step.key:
        return row
    return Marker({**row.values, "phase": phase_name(step.name)})


# --- foreign text ----------------------------------------------------------------------------------------------------


def _contained(text: str, facts: _Facts) -> str:
    return contain(uncontain(text if text in facts.known else facts.clean(text)))


def _line(text: str, facts: _Facts) -> str:
    """A name as it reads back: with one blank where an answer has several."""
    line = normal_line(text)
    return line if text in facts.known or line in facts.known else normal_line(facts.clean(line))


def _flow(flow: Flow, facts: _Facts) -> Flow:
    stages = tuple(tuple(_datum(datum, facts) for datum in stage) for stage in flow.stages)
    return replace(flow, stages=stages, condition=_condition(flow, facts), target=_line(flow.target, facts))


def _datum(datum: Datum, facts: _Facts) -> Datum:
    return replace(
        datum, name=_line(datum.name, facts), type=_line(datum.type, facts) if datum.type else None
    )


def _condition(flow: Flow, facts: _Facts) -> Condition | None:
    """A command is the draft's, and stays as it is."""
    if flow.condition is None or read_code_span(flow.condition.text) is not None:
        return flow.condition
    text, plain = flow.condition.text, normal_line(uncontain_line(flow.condition.text))
    return Condition(contain_line(plain if text in facts.known else normal_line(facts.clean(plain))))
