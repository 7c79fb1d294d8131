r"""Write a workflow in the markup of the Rust Crucible, whose parser works line by line and has no escapes.

Inputs, conditions and additional outputs become prose; markers are omitted.  A backslash, which Markdown does not show,
keeps text from being read as markup (`\@dev`, `\-> x`, `(parallel\)`, `\&x`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, code_span, read_code, read_code_span
from crucible.documents.markdown.containment import contain_line, is_inert, normal_line, slug
from crucible.documents.markdown.frontmatter import render_frontmatter
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.property_values import link_to
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.graph import Graph, build_graph
from crucible.documents.workflow.workflow import Datum, Flow, Grade, Step, Workflow

_GATE = late_pattern(r"^>\s*\[!gate\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Siblings:
    """The children of each step in the order to write them (`below[-1]`: top steps), and where each subtree ends."""

    below: list[list[int]]
    ends: list[int]


def arrange(graph: Graph) -> Siblings:
    """Order siblings as the graph runs them, by the last step of each.  Siblings in a cycle come last."""
    count = len(graph.steps)
    rank = [count + at for at in range(count)]
    for place, at in enumerate(graph.order):
        rank[at] = place
    ends = [at + 1 for at in range(count)]
    for at in range(count - 1, -1, -1):
        if (parent := graph.parents[at]) >= 0:
            ends[parent] = max(ends[parent], ends[at])
            rank[parent] = max(rank[parent], rank[at])
    below: list[list[int]] = [[] for _ in range(count + 1)]
    for at in sorted(range(count), key=lambda at: (rank[at], at)):
        below[graph.parents[at]].append(at)
    return Siblings(below, ends)


def side_by_side(graph: Graph) -> set[int]:
    """The steps that get an `&`: consecutive siblings that do not depend on each other.

    A group ends before a step that must run alone: one with a gate, after a condition, in a cycle, or without known
    data.  The step after a group gets no mark, since two groups would be read as one.
    """
    tree = arrange(graph)
    alone = _alone(graph)
    found: set[int] = set()
    for siblings in tree.below:
        if len(siblings) > 1:
            found.update(_rows(siblings, _waits(graph, tree, siblings), alone))
    return found


def _alone(graph: Graph) -> list[bool]:
    """For each step, whether it or a step below it must run alone."""
    ordered = set(graph.order)
    led_to = {edge.target for edge in graph.edges if edge.condition is not None}
    led_to.update(at for bundle in graph.bundles for at in bundle.targets)  # too many to check one by one
    alone = [
        at in led_to or at not in ordered or step.grade is Grade.CRITICAL or _GATE.search(step.prose) is not None
        for at, step in enumerate(graph.steps)
    ]
    known = [any(flow.stages for flow in step.flows) for step in graph.steps]
    for at in range(len(alone) - 1, -1, -1):
        if (parent := graph.parents[at]) >= 0:
            alone[parent] |= alone[at]
            known[parent] |= known[at]
    return [one or not data for one, data in zip(alone, known, strict=True)]


def _waits(graph: Graph, tree: Siblings, siblings: list[int]) -> list[set[int]]:
    """For each sibling, the positions in `siblings` of those that it, or a step below it, depends on."""
    starts = sorted(siblings)
    place = {at: n for n, at in enumerate(siblings)}
    waits: list[set[int]] = []
    for at in siblings:
        sources = {edge.source for step in range(at, tree.ends[at]) for edge in graph.incoming[step]}
        near = {source for source in sources if starts[0] <= source < tree.ends[starts[-1]]}
        waits.append({place[starts[bisect_right(starts, source) - 1]] for source in near})
    return waits


def _rows(siblings: list[int], waits: list[set[int]], alone: list[bool]) -> Iterator[int]:
    at = 0
    while at < len(siblings):
        end = at + 1
        if not alone[siblings[at]]:
            while end < len(siblings) and not alone[siblings[end]] and not _within(waits[end], at, end):
                end += 1
        if end - at > 1:
            yield from siblings[at:end]
            end += 1
        at = end


def _within(places: set[int], first: int, end: int) -> bool:
    return any(first <= place < end for place in places)


_DEEPEST = 6

# --- names -----------------------------------------------------------------------------------------------------------

_WHITE = "[\t\n\x0b\x0c\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"  # all Unicode white space
_BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACES = late_pattern(f"{_WHITE}+")
_IDENT = "[a-zA-Z_][a-zA-Z0-9_-]*"
_TAIL_OUTPUT = late_pattern(rf"(?:^|(?<= ))->(?= {_IDENT}$)")
_TAIL_AGENT = late_pattern(rf"(?:^|(?<= ))@(?={_IDENT}$)")
_TAIL_PARALLEL = late_pattern(r"\(parallel\)$", re.IGNORECASE)
_TAIL_HASH = late_pattern(r"#$")
_OPEN = late_pattern(r"(?<!\\)((?:\\\\)*)\\?\[")
_PAIR = late_pattern(r":(?=:)")


def render_name(name: str) -> str:
    """Render a step's name so that the Rust parser finds no markup in it, with or without suffixes."""
    text = _SPACES.sub(" ", contain_line(normal_line(name))).strip(" ") or "Untitled"
    text = _without_brackets(_without_pairs(text))
    text = _TAIL_AGENT.sub(r"\\@", _TAIL_OUTPUT.sub(r"\\->", text))
    text = _TAIL_PARALLEL.sub(lambda found: f"{found[0][:-1]}\\)", text)
    return f"\\{text}" if text[0] == "&" else text


def _without_pairs(text: str) -> str:
    """Break up `[key:: value]`, which the Rust parser removes from headings and goals, anywhere in a line."""
    return _PAIR.sub(r":\\", text) if "[" in text else text


def _without_brackets(text: str) -> str:
    """Escape an unclosed bracket, which could extend into our attributes.

    If the escape would be at the start, where `&` is a mark, close the bracket instead.
    """
    closed = max(text.rfind("]"), text.rfind(":")) + 1
    found = text[:closed] + _OPEN.sub(r"\1&#91;", text[closed:])
    return f"{text}]" if found[0] == "&" != text[0] else found


def _heading(level: int, step: Step, output: str, parallel: bool) -> str:
    suffixes = [f"@{_agent(step.agent)}"] if step.agent else []
    if output:
        suffixes.append(f"-> {output}")
    suffixes += [f"[{key}:: {value}]" for key, value in _attributes(step).items()]
    name = render_name(step.name)
    if parallel:
        name = f"&{name}"
    elif not suffixes:
        if name == "#" or (level == 2 and name in ("Goals", "Validation")):
            name += " (step)"  # the name alone would be read as that section, or be dropped
        name = _TAIL_HASH.sub("&#35;", name)
    return " ".join(["#" * level, name, *suffixes])


def _agent(agent: AgentRef) -> str:
    return _identifier(agent.name, "-", "agent")


def _attributes(step: Step) -> dict[str, str]:
    """The attributes: the agent if a suffix cannot express it, the channel, and the effect of a failure."""
    found: dict[str, str] = {}
    if step.agent and str(step.agent) != _agent(step.agent):
        version = slug(step.agent.version or "", "version")
        found["agent"] = slug(step.agent.name, "agent") + (f"@{version}" if version else "")
    if channel := slug(step.channel or "", "channel"):
        found["channel"] = channel
    if step.grade is not Grade.PLAIN:
        found["on_error"] = "halt" if step.grade is Grade.CRITICAL else "skip"
    return found


_NO_IDENT = late_pattern("[^a-zA-Z0-9_-]+")


def _identifier(name: str, joint: str, fallback: str) -> str:
    text = _NO_IDENT.sub(joint, name).strip(joint) or fallback
    return text if text[0].isalpha() or text[0] == "_" else f"_{text}"


# --- outputs ---------------------------------------------------------------------------------------------------------


class OutputNames(NamedTuple):
    """The single output name of each step, "" if none; `known` maps casefolded data names to output names."""

    steps: tuple[str, ...]
    known: dict[str, str]


def name_outputs(steps: Sequence[Step]) -> OutputNames:
    """Choose the output of each step: the one that most steps take, the first of several.

    Names consist of ASCII letters, digits, `_` and `-`, and are unique for each datum.
    """
    takers = Counter(datum.name.casefold() for step in steps for datum in step.inputs())
    chosen = [max(step.outputs(), key=lambda datum: takers[datum.name.casefold()], default=None) for step in steps]
    known: dict[str, str] = {}
    used: set[str] = set()
    for datum in chosen:
        if datum and datum.name.casefold() not in known:
            known[datum.name.casefold()] = _unused(_identifier(datum.name, "_", "data"), used)
    return OutputNames(tuple(known[datum.name.casefold()] if datum else "" for datum in chosen), known)


def _unused(name: str, used: set[str]) -> str:
    found, number = name, 1
    while found.lower() in used:
        number += 1
        found = f"{name}_{number}"
    used.add(found.lower())
    return found


# --- prose -----------------------------------------------------------------------------------------------------------

_LINE_END = late_pattern(r"\r\n?|\n")
_HEADING = late_pattern(rf"#{{1,6}}{_WHITE}")
_FENCE = late_pattern(rf"({_WHITE}*)(`{{3,}}|~{{3,}})")


def _prose(text: str) -> list[str]:
    """The escaped lines of prose."""
    lines = _LINE_END.split(text) if text else []
    kept: list[str] = []
    at = 0
    while at < len(lines):
        if fence := _FENCE.match(lines[at]):
            end = _fence_end(lines, at, fence[2])
            if end:
                kept += lines[at:end]
                at = end
                continue
            kept.append(f"{fence[1]}\\{lines[at][fence.end(1) :]}")
        else:
            kept.append(f"\\{lines[at]}" if _HEADING.match(lines[at]) else lines[at])
        at += 1
    return kept


def _fence_end(lines: Sequence[str], first: int, mark: str) -> int:
    """The line after the one that closes a fence for the Rust parser; 0 if none.

    For this parser, any line that starts with the fence mark closes it.
    """
    for at in range(first + 1, len(lines)):
        if lines[at].lstrip(_BLANKS).startswith(mark):
            return at + 1
    return 0


def _body(step: Step, output: str, names: OutputNames) -> list[list[str]]:
    """The parts of a step's text: gate, prose, inputs, outputs and branches."""
    gate = ["> [!gate]", "> Critical: when this step fails, the workflow halts."]
    parts = [gate if step.grade is Grade.CRITICAL else [], _prose(step.prose)]
    taken = [_named(datum, names) for datum in step.inputs()]
    given = [_given(datum, output, names) for datum in step.outputs()]
    parts.append([f"Takes {', '.join(taken)}."] if taken else [])
    parts.append([f"Gives {', '.join(given)}."] if given else [])
    parts += [_branch(flow) for flow in step.flows if flow.target or flow.condition is not None]
    return [part for part in parts if part]


def _named(datum: Datum, names: OutputNames) -> str:
    """A datum as text.  A bold name refers to another step's output; a code span is the datum's own name."""
    name = names.known.get(datum.name.casefold())
    return f"**{name}** ({_code(datum)})" if name else _code(datum)


def _given(datum: Datum, output: str, names: OutputNames) -> str:
    own = output and names.known.get(datum.name.casefold()) == output
    return f"**{output}** ({_code(datum)})" if own else _code(datum)


def _code(datum: Datum) -> str:
    return code_span(normal_line(f"{datum.name}::{datum.type}" if datum.type else datum.name))


def _branch(flow: Flow) -> list[str]:
    """Render a condition or a target as a callout, which the Rust parser does not interpret yet."""
    when = "Then" if flow.condition is None else "Otherwise"
    if flow.condition is not None and flow.condition.text:
        when = f"If {normal_line(flow.condition.text)}"
    made = [_code(datum) for stage in flow.stages for datum in stage] if flow.condition is not None else []
    then = [f"> Gives {', '.join(made)}."] if made else []
    if flow.target:
        then.append(f"> Go on with “{contain_line(normal_line(flow.target))}”.")
    return [f"> [!branch] {when}", *then]


# --- goals and checks ------------------------------------------------------------------------------------------------

_TASK = late_pattern(r"[ \t]*[-*+][ \t]+\[(.)\][ \t]+(.*\S)")
_ASKED = late_pattern(r'- Asked: "?(.*\S)')
_CHECK = "- Check: "


def _goals(workflow: Workflow) -> tuple[list[str], str]:
    """The goals, and the preamble without them.

    Goals are the preamble's tasks, else the first request of each top step.
    """
    goals: list[str] = []
    rest: list[str] = []
    for line in _LINE_END.split(workflow.preamble):
        if task := _TASK.match(line):
            goals.append(_goal(task[2], "x" if task[1] in "xX" else " "))
        else:
            rest.append(line)
    if not goals:
        asked = [next(filter(None, map(_ASKED.match, _LINE_END.split(s.prose))), None) for s in workflow.steps]
        goals = [_goal(found[1].removesuffix('"'), " ") for found in asked if found and found[1] != '"']
    return list(dict.fromkeys(goals)), "\n".join(rest).strip("\n")


def _goal(text: str, mark: str) -> str:
    return f"- [{mark}] {_without_pairs(_SPACES.sub(' ', text)).strip(' ')}"


def _checks(steps: Sequence[Step]) -> list[str]:
    """One item for each command that checks a step."""
    spans = [
        read_code_span(line, len(_CHECK))
        for step in steps
        for line in _LINE_END.split(step.prose)
        if line.startswith(_CHECK)
    ]
    commands = [_SPACES.sub(" ", read_code(span[0], FORMAT)).strip(" ") for span in spans if span]
    return list(dict.fromkeys(_check(command) for command in commands if command))


def _check(command: str) -> str:
    """Render a check.  The Rust parser runs an item that is a single code span; it must never run part of a command."""
    if "`" in command or not is_inert(command):
        return f"- By hand: {contain_line(command.replace('`', chr(39)))}"
    return f"- `{command}` succeeds"


# --- the note --------------------------------------------------------------------------------------------------------


def render_crucible(workflow: Workflow) -> str:
    """Render the text of a note.  The title is in the frontmatter, since the Rust parser reads `# Title` as a step."""
    goals, preamble = _goals(workflow)
    graph = build_graph(workflow)
    parts = [_prose(preamble), ["## Goals"] if goals else [], goals, *_steps(graph)]
    if checks := _checks(graph.steps):
        parts += [["## Validation"], checks]
    body = "\n\n".join("\n".join(part) for part in parts if part)
    return f"{_frontmatter(workflow)}{chr(10) + body + chr(10) if body else ''}"


def _frontmatter(workflow: Workflow) -> str:
    values: dict[str, Value] = {
        "type": "workflow",
        "dialect": "crucible",
        "title": normal_line(workflow.title or workflow.name) or "Untitled",
    }
    if workflow.sessions:
        values["sessions"] = [link_to(session) for session in workflow.sessions]
    values["tags"] = ["workflow"]
    return render_frontmatter(values)


def _steps(graph: Graph) -> Iterator[list[str]]:
    names = name_outputs(graph.steps)
    parallel = side_by_side(graph)
    below = arrange(graph).below
    waiting = [(at, 2) for at in reversed(below[-1])]
    while waiting:
        at, level = waiting.pop()
        step, output = graph.steps[at], names.steps[at]
        yield [_heading(level, step, output, at in parallel)]
        yield from _body(step, output, names)
        waiting.extend((child, min(level + 1, _DEEPEST)) for child in reversed(below[at]))
