"""Check an agent's answer to a draft, and merge it with the draft's facts.

Each heading of a draft is shown with an id (`{s3}`), to find its step in the answer. An answer must not drop or
change decisions or corrections, and must not add prose, agents, commands or paths outside the project.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from crucible.analysis.review.agent_questions import Refused
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, read_code_span
from crucible.documents.markdown.containment import contain, contain_line, normal_line, uncontain, uncontain_line
from crucible.documents.markdown.frontmatter import find_frontmatter_span
from crucible.documents.markdown.source import Source
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.workflow import Condition, Datum, Flow, Grade, Marker, Severity, Step, Workflow, key_of
from crucible.documents.workflow.workflow_check import check_workflow
from crucible.documents.workflow.workflow_markup import phase_name, render_workflow
from crucible.documents.workflow.workflow_reader import read_workflow

_KEPT = ("decided:", "constraint:")
"""Labels of lines that an answer must keep."""
_LABELLED = late_pattern(
    r"[ \t]*(?:[-*+]|\d+[.)])?[ \t]*[*_]*(decided|constraint|asked|did|part|learned|look[ \t]+up|run|check|only[ \t]+in)[*_]*:[*_]*[ \t]*(.*)",
    re.IGNORECASE,
)
_ITEM = late_pattern(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
_NAME = late_pattern(r"[\w .,/:+@*~#=()&'-]{1,200}")
_TYPE = late_pattern(r"[\w.:/+-]{1,100}(?:\[\])?")
_AFAR = late_pattern(r"\A\s*(?:[/\\~]|[A-Za-z]:|file:)|\.\.", re.IGNORECASE)
"""Matches a name that may be a path outside the project."""


# --- ids -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tagged:
    """A draft's text with ids, without frontmatter and markers; `steps` has the draft's steps by number."""

    draft: Workflow
    text: str
    word: str
    steps: Mapping[int, Step]

    @property
    def ids(self) -> re.Pattern[str]:
        """A pattern for an id and the blanks before it; its group is the number."""
        return re.compile(rf"[ \t]*\{{{self.word}(\d{{1,9}})\}}")


def tag(draft: Workflow) -> Tagged:
    """Return the draft as shown to an agent."""
    bare = replace(draft, sessions=(), properties={}, steps=tuple(map(_unmarked, draft.steps)))
    source = Source(render_workflow(bare))
    text = source.text[find_frontmatter_span(source).end :].strip("\n") + "\n"
    # Untrusted text may contain what looks like one of our ids.
    words = (f"s{'x' * more}" for more in itertools.count())
    word = next(word for word in words if not re.search(rf"\{{{word}\d", text))
    lines = text.split("\n")
    for number, step in enumerate(read_workflow(Source(text), draft.name, FORMAT).walk(), 1):
        lines[step.place.line - 1] += f" {{{word}{number}}}"
    return Tagged(draft, "\n".join(lines), word, dict(enumerate(draft.walk(), 1)))


def _unmarked(step: Step) -> Step:
    return replace(step, markers=(), children=tuple(map(_unmarked, step.children)))


# --- the workflow in an answer ---------------------------------------------------------------------------------------

_START = late_pattern(
    r"^[ \t]{0,3}(?P<mark>`{3,}|~{3,})(?:markdown|md)?[ \t]*\n(?=\s*#{1,6}[ \t])|^#{1,6}[ \t]", re.MULTILINE
)


def document_of(answer: str) -> str:
    """Return the workflow in an answer: the content of a `markdown` fence, else the text from the first heading on."""
    start = _START.search(answer)
    if start is None or answer.startswith("---"):  # `accept` refuses frontmatter
        return answer.strip("\n") + "\n"
    if mark := start["mark"]:
        *inner, _ = re.split(rf"(?m)^{mark}[ \t]*$", answer[start.end() :])
        answer = mark.join(inner) if inner else answer[start.end() :]
    else:
        answer = answer[start.start() :]
    return answer.strip("\n") + "\n"


# --- accepting -------------------------------------------------------------------------------------------------------


def accept(text: str, tagged: Tagged, clean: Callable[[str], str] = str) -> Workflow:
    """Return the workflow in an answer's document. Raises `Refused`.

    `clean` redacts text that is not in the draft, piece by piece: in the complete document, an id after `token:` would
    look like a secret.
    """
    if find_frontmatter_span(Source(text)).end:
        raise Refused(["it has frontmatter: remove it"])
    found = read_workflow(Source(tagged.ids.sub("", text)), "", FORMAT)
    numbers = {
        at: [*map(int, dict.fromkeys(tagged.ids.findall(line)))]
        for at, line in enumerate(text.split("\n"), 1)
        if line.startswith("#") and tagged.ids.search(line)
    }
    for at in numbers.keys() - {step.place.line for step in found.walk()}:
        line = normal_line(text.split("\n")[at - 1])
        raise Refused([f"“{line}” is read as prose: no step may be called Summary, Notes or Workflow"])
    origins = {
        step.place.line: [tagged.steps[n] for n in numbers.get(step.place.line, ()) if n in tagged.steps]
        for step in found.walk()
    }
    keys = {step.key for step in found.walk()}
    renamed = {one.key: step.name for step in [*found.walk()][::-1] for one in origins[step.place.line]}
    found = replace(found, steps=tuple(_retargeted(step, renamed, keys) for step in found.steps))
    _refuse_if(_unreadable(found))
    _refuse_if([*_lost_lines(found, tagged, origins), *_made_up(found, tagged.draft)])
    workflow = _Merger(tagged.draft, origins, clean).workflow(found)
    _refuse_if(errors_of(workflow))
    again = read_workflow(Source(render_workflow(workflow)), workflow.name)
    if (again.title, again.preamble, again.steps) != (workflow.title, workflow.preamble, workflow.steps):
        raise Refused(["it does not parse back to the same workflow: use plain Markdown"])
    return workflow


def _retargeted(step: Step, renamed: Mapping[str, str], keys: set[str]) -> Step:
    """Rename targets that still use the name of a step in the draft."""
    flows = (
        flow if key_of(flow.target) in keys else replace(flow, target=renamed.get(key_of(flow.target), flow.target))
        for flow in step.flows
    )
    children = (_retargeted(child, renamed, keys) for child in step.children)
    return replace(step, flows=tuple(flows), children=tuple(children))


def errors_of(workflow: Workflow) -> list[str]:
    """Return a line for each error in a workflow."""
    return [
        f"{f'line {one.place.line}: ' if one.place.line else ''}{one.code}: {one.message}"
        for one in check_workflow(workflow, build_graph(workflow))
        if one.severity is Severity.ERROR
    ]


def _refuse_if(complaints: Sequence[str]) -> None:
    if complaints:
        raise Refused(complaints)


# --- errors ----------------------------------------------------------------------------------------------------------


def _unreadable(found: Workflow) -> list[str]:
    wrong = errors_of(found)
    if not found.steps:
        wrong = [
            "it has no steps: answer with the whole workflow in Markdown, with a heading for each step",
            *wrong,
        ]
    if any(step.markers for step in found.walk()):
        wrong.append("it has session-toon blocks: remove them, figures are added later")
    return wrong


def _lost_lines(found: Workflow, tagged: Tagged, origins: Mapping[int, Sequence[Step]]) -> Iterator[str]:
    """Yield an error for each step that lost decisions or corrections."""
    for number, origin in tagged.steps.items():
        kept = {item for item in _items_of(origin.prose) if item.startswith(_KEPT)}
        holders = [step for step in found.walk() if origin in origins[step.place.line]]
        if kept and not holders:
            yield f"the step {{{tagged.word}{number}}} is missing, but a decision refers to it: keep its id in a heading"
        elif kept - {item for step in holders for item in _items_of(step.prose)}:
            yield f"the step {{{tagged.word}{number}}} has lost “Decided” or “Constraint” lines, or their words"


def _items_of(prose: str) -> list[str]:
    """Return the items and paragraphs of prose as decoded lines, with labels in lower case."""
    found: list[list[str]] = []
    goes_on = False
    for line in prose.split("\n"):
        if match := _LABELLED.match(line):
            found.append([f"{match[1].casefold()}:", match[2]])
        elif line.strip() and goes_on and not _ITEM.match(line):
            found[-1].append(line)
        elif line.strip():
            found.append([_ITEM.sub("", line, count=1)])
        goes_on = bool(line.strip())
    return [uncontain_line(" ".join(" ".join(parts).split())) for parts in found]


def _made_up(found: Workflow, draft: Workflow) -> Iterator[str]:
    """Yield an error for words, agents, channels, commands and data that the draft does not have."""
    known = {item for prose in (draft.preamble, *(step.prose for step in draft.walk())) for item in _items_of(prose)}
    texts = [("the preamble", found.preamble), *((f"“{step.name}”", step.prose) for step in found.walk())]
    for where, prose in texts:
        for item in _items_of(prose):
            label = _LABELLED.match(item)
            if item not in known and label:
                yield f"{where} has a line “{label[1].capitalize()}: …” that is not in the draft: copy such lines unchanged"
            elif item not in known:
                yield f"{where} has words that are not in the draft: “{normal_line(item)[:60]}”; add no prose"
    agents = {step.agent.name.casefold() for step in draft.walk() if step.agent}
    channels = {step.channel for step in draft.walk()} | {None}
    conditions = {flow.condition for step in draft.walk() for flow in step.flows}
    words = {word for step in draft.walk() for datum in _data(step) for word in (datum.name, datum.type)}
    for step in found.walk():
        if step.agent and step.agent.name.casefold() not in agents:
            yield f"“{step.name}” names an agent that is not in the draft"
        if step.channel not in channels:
            yield f"“{step.name}” names a channel that is not in the draft"
        # A run executes commands in conditions.
        if any(
            flow.condition and "`" in flow.condition.text for flow in step.flows if flow.condition not in conditions
        ):
            yield f"“{step.name}” has a condition with a command that is not in the draft"
        for datum in _data(step):
            is_known = datum.name in words
            if not is_known and _AFAR.search(datum.name):
                yield f"“{step.name}” has data outside the project: {normal_line(datum.name)[:60]}"
            is_plain = is_known or _NAME.fullmatch(datum.name)
            if not is_plain or not (datum.type in words or _TYPE.fullmatch(datum.type or "x")):
                yield f"“{step.name}” has data with invalid characters: {normal_line(datum.name)[:60]}"


def _data(step: Step) -> Iterator[Datum]:
    return (datum for flow in step.flows for stage in flow.stages for datum in stage)


# --- merging ---------------------------------------------------------------------------------------------------------


class _Merger:
    """Puts the draft's facts into an answer, and cleans text that the draft does not have."""

    def __init__(self, draft: Workflow, origins: Mapping[int, Sequence[Step]], clean: Callable[[str], str]) -> None:
        self._draft = draft
        self._origins = origins
        self._clean = clean
        self._agents = {step.agent.name.casefold(): step.agent for step in draft.walk() if step.agent}
        self._known = frozenset(_texts(draft))
        self._placed: set[str] = set()

    def workflow(self, found: Workflow) -> Workflow:
        """Return the draft with the answer's title and steps."""
        return replace(
            self._draft,
            title=self._line(found.title) or self._draft.title,
            preamble=self._prose(found.preamble),
            steps=tuple(map(self._step, found.steps)),
            diagnostics=(),
        )

    def _step(self, step: Step) -> Step:
        origins = self._origins[step.place.line]
        name = self._line(step.name)
        # If a step was split, its first part gets the figures.
        rows = [(row, one) for one in origins if one.key not in self._placed for row in one.markers]
        self._placed.update(one.key for one in origins)
        is_critical = any(one.grade is Grade.CRITICAL for one in origins)
        return replace(
            step,
            name=name,
            agent=self._agent(step.agent, [one.agent for one in origins if one.agent]),
            channel=step.channel or next((one.channel for one in origins if one.channel), None),
            grade=Grade.CRITICAL if is_critical else step.grade,
            prose=self._prose(step.prose),
            flows=tuple(map(self._flow, step.flows)),
            markers=tuple(_marker(row, origin, name) for row, origin in rows),
            children=tuple(map(self._step, step.children)),
        )

    def _agent(self, named: AgentRef | None, own: Sequence[AgentRef]) -> AgentRef | None:
        """Return the draft's agent with this name, including the version."""
        if named is None:
            return own[0] if own else None
        name = named.name.casefold()
        return next((one for one in own if one.name.casefold() == name), self._agents[name])

    def _prose(self, text: str) -> str:
        return contain(uncontain(text if text in self._known else self._clean(text))) if text else ""

    def _line(self, text: str) -> str:
        """Clean a name and put it in one line."""
        line = normal_line(text)
        return line if line in self._known else normal_line(self._clean(line))

    def _flow(self, flow: Flow) -> Flow:
        stages = tuple(tuple(map(self._datum, stage)) for stage in flow.stages)
        return replace(flow, stages=stages, condition=self._condition(flow), target=self._line(flow.target))

    def _datum(self, datum: Datum) -> Datum:
        return replace(datum, name=self._line(datum.name), type=self._line(datum.type) if datum.type else None)

    def _condition(self, flow: Flow) -> Condition | None:
        """Clean a condition. A command comes from the draft and stays unchanged."""
        if (
            flow.condition is None
            or flow.condition.text in self._known
            or read_code_span(flow.condition.text) is not None
        ):
            return flow.condition
        return Condition(contain_line(self._line(uncontain_line(flow.condition.text))))


def _texts(draft: Workflow) -> Iterator[str]:
    yield draft.title
    for step in draft.walk():
        yield from (step.name, step.prose)
        yield from (word for datum in _data(step) for word in (datum.name, datum.type or ""))
        for flow in step.flows:
            yield from (flow.target, flow.condition.text if flow.condition else "")


def _marker(row: Marker, origin: Step, name: str) -> Marker:
    """Return the row with the step's new name."""
    if key_of(row.phase) != origin.key or key_of(row.phase) == key_of(name):
        return row
    return Marker({**row.values, "phase": phase_name(name)})
