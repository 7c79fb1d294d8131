"""What the Rust Crucible's parser makes of a workflow note, as far as its own tests and its manual say.

A reader of its own, which shares nothing with `crucible.documents.workflow`: it is the oracle for what `crucible.documents.workflow.rust_dialect` writes.
`test_dialect` holds it to every case of `tests/data/workflow/workflow_crucible.jsonl`.  It knows no escapes, works line by line, and
takes every white space that Unicode has, as the Rust parser does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import yaml

_WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_S, _N = f"[{_WHITE}]", f"[^{_WHITE}]"
_BLANKS = "".join(map(chr, (9, 10, 11, 12, 13, 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)))) + (
    "\u2028\u2029\u202f\u205f\u3000"
)

_HEADING = re.compile(rf"(#{{1,6}}){_S}+(.+?){_S}*\Z")
_ATTRIBUTE = re.compile(rf"{_S}*\[([^:\]]+?)::{_S}*([^\]]+)\]")
_OUTPUT = re.compile(rf"{_S}+->{_S}+([a-zA-Z_][a-zA-Z0-9_-]*){_S}*\Z")
_AGENT = re.compile(rf"(?:^|{_S})@([a-zA-Z_][a-zA-Z0-9_-]*){_S}*\Z")
_PARALLEL = re.compile(r"\(parallel\)\Z", re.IGNORECASE)
_GATE = re.compile(rf">{_S}*\[!gate\](?:{_S}+(.*?))?{_S}*\Z")
_GOAL = re.compile(rf"[ \t]*-{_S}*\[(.)\]{_S}*(.+)\Z")
_CHECK = re.compile(rf"[ \t]*-{_S}*(?:\[.\])?{_S}*(.+)\Z")
_CODE = re.compile(r"`([^`]+)`")


class Heading(NamedTuple):
    """A heading's text, taken apart."""

    title: str
    agent: str | None
    output: str | None
    attrs: dict[str, str]


@dataclass
class RustStep:
    """A heading with what stands below it."""

    level: int
    title: str
    agent: str | None
    output: str | None
    attrs: dict[str, str]
    parallel: bool
    body: list[str] = field(default_factory=list)
    children: list[RustStep] = field(default_factory=list)
    gates: int = 0
    section: bool = False

    def walk(self) -> Iterator[RustStep]:
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Document:
    """A whole workflow."""

    title: str | None
    steps: list[RustStep] = field(default_factory=list)
    goals: list[tuple[str, str]] = field(default_factory=list)
    validations: list[tuple[str, str | None]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    preamble_gates: int = 0

    def walk(self) -> Iterator[RustStep]:
        for step in self.steps:
            yield from step.walk()


def read_heading(text: str) -> Heading:
    """Attributes anywhere, then a trailing output, then a trailing agent."""
    attrs = {found[1].strip(_BLANKS): found[2].strip(_BLANKS) for found in _ATTRIBUTE.finditer(text)}
    rest = _ATTRIBUTE.sub("", text).strip(_BLANKS)
    output = agent = None
    if found := _OUTPUT.search(rest):
        output, rest = found[1], rest[: found.start()].rstrip(_BLANKS)
    if found := _AGENT.search(rest):
        agent, rest = found[1], rest[: found.start()].rstrip(_BLANKS)
    return Heading(rest.strip(_BLANKS), agent, output, attrs)


def read_step(line: str) -> RustStep:
    """One heading line as a step without a body."""
    found = _HEADING.match(line)
    assert found
    text = found[2].rstrip("#").rstrip(_BLANKS)
    title, agent, output, attrs = read_heading(text)
    parallel = title.startswith("&")
    title = title[1:].strip(_BLANKS) if parallel else title
    section = _PARALLEL.search(title) is not None
    title = title[: -len("(parallel)")].rstrip(_BLANKS) if section else title
    return RustStep(len(found[1]), title, agent, output, attrs, parallel, section=section)


def _lines(body: str) -> Iterator[tuple[str, bool]]:
    """Each line and whether it belongs to a fence: any mark of its length or more ends one, whatever follows it."""
    marker = ""
    for line in body.split("\n"):
        text = line.lstrip(_BLANKS)
        if marker:
            yield line, True
            marker = "" if text.startswith(marker) else marker
        elif text.startswith(("```", "~~~")):
            marker = text[: len(text) - len(text.lstrip(text[0]))]
            yield line, True
        else:
            yield line, False


def read_document(source: str) -> Document | None:
    """The workflow, or None when the note says nothing of being one."""
    if not source.startswith("---\n") or (end := source.find("\n---\n", 3)) < 0:
        return None
    properties = yaml.safe_load(source[4:end]) or {}
    if str(properties.get("type", "")).lower() != "workflow":
        return None
    document = Document(properties.get("title"))
    _fill(document, list(_lines(source[end + 5 :])))
    return document


def _fill(document: Document, lines: list[tuple[str, bool]]) -> None:
    heads = [(at, read_step(line)) for at, (line, fenced) in enumerate(lines) if not fenced and _HEADING.match(line)]
    skipped: set[int] = set()
    for name, take in (("Goals", _take_goals), ("Validation", _take_checks)):
        found = [i for i, (at, head) in enumerate(heads) if head.level == 2 and _text(lines[at][0]) == name]
        document.warnings += [f"Duplicate{name}Section"] * (len(found) - 1)
        if found:
            first = found[-1]
            after = next((i for i in range(first + 1, len(heads)) if heads[i][1].level <= 2), len(heads))
            skipped.update(range(first, after))
            stop = heads[after][0] if after < len(heads) else len(lines)
            take(document, [line for line, _ in lines[heads[first][0] + 1 : stop]])
    _build(document, lines, [head for i, head in enumerate(heads) if i not in skipped])


def _text(line: str) -> str:
    found = _HEADING.match(line)
    return found[2].rstrip("#").strip(_BLANKS) if found else ""


def _take_goals(document: Document, lines: list[str]) -> None:
    for line in lines:
        if found := _GOAL.match(line):
            text = _ATTRIBUTE.sub("", found[2]).strip(_BLANKS)
            document.goals.append((text, "done" if found[1] in "xX" else "pending"))


def _take_checks(document: Document, lines: list[str]) -> None:
    for line in lines:
        if not (found := _CHECK.match(line)):
            continue
        spans = _CODE.findall(found[1])
        words = _CODE.sub("", found[1]).strip(_BLANKS)
        if len(spans) != 1:
            document.validations.append((found[1].strip(_BLANKS), None))
        else:
            document.validations.append((words, spans[0]) if words else (spans[0], None))


def _build(document: Document, lines: list[tuple[str, bool]], heads: list[tuple[int, RustStep]]) -> None:
    gates = [at for at, (line, fenced) in enumerate(lines) if not fenced and _GATE.match(line)]
    first = heads[0][0] if heads else len(lines)
    document.preamble_gates = sum(at < first for at in gates)
    above: list[RustStep] = []
    for i, (at, step) in enumerate(heads):
        stop = heads[i + 1][0] if i + 1 < len(heads) else len(lines)
        step.gates = sum(at < gate < stop for gate in gates)
        step.body = [line for line, _ in lines[at + 1 : stop]]
        while above and above[-1].level >= step.level:
            above.pop()
        step.parallel |= bool(above) and above[-1].section
        (above[-1].children if above else document.steps).append(step)
        above.append(step)
