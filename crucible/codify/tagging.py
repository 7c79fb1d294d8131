"""Ids on the headings of a draft, by which its steps are known again in what an agent made of it.

Owns what an id looks like (`{s3}`), putting them on, and reading an answer that has them: the workflow without them, and for each
of its steps those of the draft that it stands for.  What an answer may say is `accepting`'s.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from crucible.note.contain import FORMAT
from crucible.note.frontmatter import find_frontmatter_span
from crucible.note.source import Source
from crucible.patterns import late_pattern
from crucible.workflow.markup import render_workflow
from crucible.workflow.model import Flow, Step, Workflow, key_of
from crucible.workflow.reading import read_workflow

__all__ = ["Answered", "Tagged", "read_tagged", "tag"]


@dataclass(frozen=True)
class Tagged:
    """A draft's text with ids, without frontmatter and markers.  `steps` are the draft's own by their number."""

    draft: Workflow
    text: str
    word: str
    steps: Mapping[int, Step]

    def id_of(self, number: int) -> str:
        """As it stands at the end of a line."""
        return f"{{{self.word}{number}}}"

    def pattern(self, before: str = "") -> re.Pattern[str]:
        """An id behind something; its group is the number."""
        return re.compile(rf"{before}\{{{self.word}(\d{{1,9}})\}}")


@dataclass(frozen=True)
class Answered:
    """An answer as it was read: without ids, and for each step (in the order of the note) those of the draft that it stands for.

    `lost` names a heading that is no step once its id is off: "Summary".
    """

    workflow: Workflow
    stands_for: tuple[tuple[Step, ...], ...] = ()
    lost: str = ""


def tag(draft: Workflow) -> Tagged:
    """The draft as an agent is to see it."""
    bare = replace(draft, sessions=(), properties={}, steps=tuple(_unmarked(step) for step in draft.steps))
    source = Source(render_workflow(bare))
    text = source.text[find_frontmatter_span(source).end :].strip("\n") + "\n"
    # Foreign text may hold what looks like one of our ids.
    words = (f"s{'x' * more}" for more in itertools.count())
    word = next(word for word in words if not re.search(rf"\{{{word}\d", text))
    read = read_workflow(Source(text), draft.name, FORMAT)
    first: dict[str, int] = {}
    lines = text.split("\n")
    for number, step in enumerate(read.walk(), 1):
        first.setdefault(step.key, number)
        lines[step.place.line - 1] += f" {{{word}{number}}}"
    for flow in (flow for step in read.walk() for flow in step.flows if flow.target):
        if key_of(flow.target) in first:
            lines[flow.place.line - 1] += f" {{{word}{first[key_of(flow.target)]}}}"
    return Tagged(draft, "\n".join(lines), word, dict(enumerate(draft.walk(), 1)))


def _unmarked(step: Step) -> Step:
    return replace(step, markers=(), children=tuple(_unmarked(child) for child in step.children))


def read_tagged(text: str, tagged: Tagged) -> Answered:
    """An answer, read twice: with its ids, to know whose heading is whose, and without, as it would stand in a note."""
    marked = list(read_workflow(Source(text), "", FORMAT).walk())
    bare = tagged.pattern(r"[ \t]*")
    workflow = read_workflow(Source(bare.sub("", text)), "", FORMAT)
    steps = list(workflow.walk())
    if len(steps) != len(marked):
        keys = {step.key for step in steps}
        names = [bare.sub("", step.name) for step in marked]
        return Answered(
            workflow, lost=next((name for name in names if key_of(name) not in keys), "a heading")
        )
    numbers = [
        [int(found) for found in dict.fromkeys(tagged.pattern().findall(step.name))] for step in marked
    ]
    names_now: dict[int, str] = {}
    for step, own in zip(steps, numbers, strict=True):
        for number in own:
            names_now.setdefault(number, step.name)
    meant = _meant(text, tagged, names_now)
    keys = {step.key for step in steps}
    return Answered(
        replace(workflow, steps=tuple(_retargeted(step, meant, keys) for step in workflow.steps)),
        tuple(tuple(tagged.steps[n] for n in own if n in tagged.steps) for own in numbers),
    )


_TARGET = late_pattern(r"(?:→|->)[\s*_]*(?:\w+\s+to\b)?[\s*_]*([^→]*)$")


def _meant(text: str, tagged: Tagged, names: Mapping[int, str]) -> dict[str, str]:
    """What targets with ids are called, by `key_of`, and the names that the steps with those ids have now."""
    found: dict[str, str] = {}
    ended = tagged.pattern(r"^(.*?)[ \t]*")
    for line in text.split("\n"):
        match = ended.match(line) if "{" in line else None
        target = _TARGET.search(match[1]) if match else None
        if match and target and int(match[2]) in names:
            found[key_of(target[1])] = names[int(match[2])]
    return found


def _retargeted(step: Step, meant: Mapping[str, str], keys: set[str]) -> Step:
    """With the names of now for targets that are called as before."""

    def flow_of(flow: Flow) -> Flow:
        key = key_of(flow.target)
        return flow if not flow.target or key in keys else replace(flow, target=meant.get(key, flow.target))

    return replace(
        step,
        flows=tuple(flow_of(flow) for flow in step.flows),
        children=tuple(_retargeted(child, meant, keys) for child in step.children),
    )
