"""Read and write one line of data flow: arrows, conditions and targets.

If any part of a line is not part of a flow, the entire line is prose.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, code_span, read_code, read_code_span
from crucible.documents.markdown.containment import normal_line
from crucible.documents.workflow.datum import Line, read_datum, render_datum
from crucible.documents.workflow.workflow import Condition, Datum, Flow, Place, key_of


class Names(NamedTuple):
    """Names used in a note, to tell steps from data at the end of a flow.

    `steps` has the keys of all steps, `own` is the key of the step being read, and `taken` has the casefolded names of
    data that steps take.  A name in `taken` is a datum even if a step has the same name.
    """

    steps: Container[str] = ()
    own: str = ""
    taken: Container[str] = ()


@dataclass(frozen=True, slots=True)
class FlowLine:
    """The flows of a line.

    `opens`: the line ends in `creates:`, so its outputs are the list below it.  `unread`: the line is prose but looks
    like a flow.  `noted`: a remark in parentheses follows the flow.
    """

    flows: tuple[Flow, ...] = ()
    opens: bool = False
    unread: bool = False
    noted: bool = False


_NOTHING = FlowLine()
_NO_NAMES = Names()
_SHORT = 120
_ARROW = late_pattern(r"`+|→|(?:(?<=[ \t])|^)->(?=[ \t]|$)")
_PARENTHESES = late_pattern(r"`+|[()]")
_SEMICOLON = late_pattern(r"`+|;")
_BRANCH = late_pattern(r"`+|[,;.][ \t]+(?=(?:otherwise|else)\b)", re.IGNORECASE)
_WORDS = late_pattern(r"(?:[\w.,/→ \t-]|::|->|\[\])+(?<!\.)$")
_TIGHT = late_pattern(r"(?:[\w./-]+(?:::\w+)?(?:,[ \t]*|->)(?!>))+[\w./]+(?:::\w+)?$")
_IF = late_pattern(r"[*_]{0,2}(?:(?:else|otherwise),?[ \t]+)?if[*_]{0,2}[ \t]+(?=\S)", re.IGNORECASE)
_OTHERWISE = late_pattern(r"[*_]{0,2}(?:otherwise|else)[*_]{0,2}[,:]?[*_]{0,2}$", re.IGNORECASE)
_PROCEED = late_pattern(
    r"[*_]{0,2}(?:proceeds?|go(?:es)?|continues?|skips?|jumps?)[ \t]+to[*_]{0,2}[ \t]+(?=\S)", re.IGNORECASE
)
_BOLD = late_pattern(r"\*\*(?:[^*]|\*(?!\*))+\*\*$")
_MAKES = late_pattern(r"(?:[*_]{0,2}[^\W\d_]+[*_]{0,2})?:[*_]{0,2}$")
_VERB = late_pattern(r"([^\W\d_]+):?[ \t]+(?=[^\s,])")
_LABEL = late_pattern(r"[*_]{0,2}(?:data[ -]?)?flow(?:[*_]{0,2}:|:[*_]{0,2})[ \t]+", re.IGNORECASE)
_TAKING = frozenset({
    "consumes", "converts", "from", "given", "input", "inputs", "loads", "needs", "processes", "read", "reads", "receives", "requires", "take",
    "takes", "transforms", "turns", "use", "uses", "with",
})  # fmt: skip
"""Words that may precede the first name, as in `Takes input → creates:`."""
_MAKING = frozenset({
    "builds", "create", "creates", "emits", "generates", "gives", "makes", "output", "outputs", "produce", "produces",
    "returns", "writes", "yields",
})  # fmt: skip
"""Words that may precede the names after an arrow."""


def has_arrow(text: str) -> bool:
    """True if a line may be a flow."""
    return "→" in text or "->" in text


def read_flow_line(text: str, place: Place, names: Names = _NO_NAMES) -> FlowLine:
    """Read the flows of a line without its list marker; `place` is where `text` begins.

    `If cond → A, otherwise → B` is two flows, and so is a line that ends in the names of two steps.
    """
    if not has_arrow(text):
        return _NOTHING
    line = Line(text, place)
    found = _read_line(line, names)
    if found.flows:
        return found
    front = line.text[: _note_start(line)]
    if len(front) < len(text) and has_arrow(front):
        before = _read_line(Line(front, place), names)
        if before.flows and not before.opens:
            return replace(before, noted=True)
    return replace(found, unread=found.unread or _are_several(line, names))


def _read_line(line: Line, names: Names) -> FlowLine:
    """Read the flows of a line that has no remark."""
    arrows = [found.span() for found in _outside_code(_ARROW, line)]
    flows: list[Flow] = []
    opens = False
    for start, end in _sentences(line, arrows):
        read = _Sentence(line, start, end, arrows, names).read() if start < end else _NOTHING
        if not read.flows:
            return FlowLine(unread=_is_meant(line, arrows))
        flows += read.flows
        opens = read.opens
    return FlowLine(tuple(flows), opens)


def _note_start(line: Line) -> int:
    """The offset of the parentheses that end a line and follow a blank; the line's length if there are none."""
    _, end = _without_stop(line, 0, len(line.text))
    depth = 0
    signs = [*_outside_code(_PARENTHESES, line)] if line.text.endswith(")", 0, end) else []
    for sign in reversed(signs):
        depth += 1 if sign[0] == ")" else -1
        if not depth:
            return sign.start() if line.text[: sign.start()].endswith((" ", "\t")) else len(line.text)
    return len(line.text)


def _are_several(line: Line, names: Names) -> bool:
    """True if a short line has several flows separated by semicolons."""
    if len(line.text) > _SHORT or ";" not in line.text:
        return False
    cuts = [found.start() for found in _outside_code(_SEMICOLON, line)]
    if not cuts:
        return False
    parts = [line.text[a:b] for a, b in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(line.text)], strict=True)]
    parsed = [read_flow_line(part.strip(" \t"), line.place, names) for part in parts if part.strip(" \t.")]
    return len(parsed) > 1 and all(one.flows or one.unread for one in parsed)


def _outside_code(pattern: re.Pattern[str], line: Line) -> Iterator[re.Match[str]]:
    """Matches outside code spans.  `pattern` must also match backticks."""
    at = 0
    while found := pattern.search(line.text, at):
        if found[0][0] == "`":
            span = line.spans.get(found.start())
            at = span[1] if span else found.end()
        else:
            yield found
            at = found.end()


def _sentences(line: Line, arrows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Split a line at `, otherwise`, and strip the parts."""
    starts, ends = [0], list[int]()
    for found in _outside_code(_BRANCH, line) if arrows else ():
        if found.start() > arrows[0][0] and found.end() < arrows[-1][0]:
            ends.append(found.start())
            starts.append(found.end())
    return [_without_stop(line, *bounds) for bounds in zip(starts, [*ends, len(line.text)], strict=True)]


def _without_stop(line: Line, start: int, end: int) -> tuple[int, int]:
    """Strip blanks, a hard break's backslash, one full stop or semicolon, and bold."""
    start, end = line.bare(start, end)
    if line.text.endswith("\\", start, end):
        start, end = line.bare(start, end - 1)
    if end - start > 1 and line.text[end - 1] in ".;" and line.text[end - 2] not in ".;":
        start, end = line.bare(start, end - 1)
    return (start + 2, end - 2) if _BOLD.match(line.text, start, end) else (start, end)


def _is_meant(line: Line, arrows: Sequence[tuple[int, int]]) -> bool:
    """True if a line was probably meant as a flow: a condition, or a short line of only words, commas and arrows."""
    text = line.text.rstrip(" \t")
    if len(text) > _SHORT:
        return False
    if not arrows:
        return _TIGHT.match(text) is not None
    if _IF.match(text, 0, arrows[0][0]) or _OTHERWISE.match(text, 0, line.bare(0, arrows[0][0])[1]):
        return True
    edges = [0, *(after for _, after in arrows)]
    ends = [*(before for before, _ in arrows), len(text)]
    parts = [text[start:end] for start, end in zip(edges, ends, strict=True)]
    return bool(_WORDS.match(text)) and all(any(c.isalpha() for c in part) for part in parts)


class _Sentence:
    """One flow: a range of a line, split at its arrows."""

    def __init__(self, line: Line, start: int, end: int, arrows: Sequence[tuple[int, int]], names: Names) -> None:
        self._line, self._text, self._names, self._end = line, line.text, names, end
        self._place = line.at(start)
        cuts = arrows[bisect_left(arrows, (start,)) : bisect_left(arrows, (end,))]
        edges = [start, *(after for _, after in cuts)]
        ends = [*(before for before, _ in cuts), end]
        self._parts = [line.bare(*bounds) for bounds in zip(edges, ends, strict=True)]

    def read(self) -> FlowLine:
        """The flow, or nothing if the text is not a flow."""
        if len(self._parts) < 2:
            return _NOTHING
        condition = self._condition()
        first, last = (1 if condition else 0), len(self._parts) - 1
        proceed = self._proceed_at()
        if proceed:
            return self._proceeding(condition, first, proceed)
        stages = self._stages(first, last)
        if stages is None:
            return _NOTHING
        start, end = self._parts[last]
        if not condition and _MAKES.match(self._text, start, end):
            return FlowLine((Flow(stages, None, "", self._place),), opens=True)
        after = self._stages(last, last + 1)
        targets = self._targets(start, end)
        if targets and not (after and not condition and self._names.own in map(key_of, targets)):
            return FlowLine(tuple(self._leading(stages, condition, targets)))
        return FlowLine((Flow(stages + after, condition, "", self._place),)) if after else _NOTHING

    def _leading(
        self, stages: tuple[tuple[Datum, ...], ...], condition: Condition | None, targets: Sequence[str]
    ) -> Iterator[Flow]:
        """Yield a flow to each target.  If a step takes data of the same name, the flow also passes this data."""
        at = self._parts[-1][0]
        for name in targets:
            at = self._text.index(name, at)
            read = read_datum(self._line, at, at + len(name))
            is_taken = read and read.end == at + len(name) and name.casefold() in self._names.taken
            made = ((read.datum,),) if read and is_taken else ()
            yield Flow(stages + made, condition, name, self._place, self._line.at(at))
            at += len(name)

    def _condition(self) -> Condition | None:
        start, end = self._parts[0]
        if found := _IF.match(self._text, start, end):
            text = self._text[found.end() : end].rstrip(" \t,:")
            return Condition(text) if text else None
        return Condition() if _OTHERWISE.match(self._text, start, end) else None

    def _proceed_at(self) -> int:
        """The number of the arrow before `proceed to`; 0 if there is none."""
        numbered = enumerate(self._parts)
        return next((n for n, (start, end) in numbered if n and _PROCEED.match(self._text, start, end)), 0)

    def _proceeding(self, condition: Condition | None, first: int, at: int) -> FlowLine:
        """Read a flow with `proceed to`.  The target is the rest of the sentence, arrows included."""
        start, _ = self._parts[at]
        found = _PROCEED.match(self._text, start, self._end)
        target = self._named(self._text[found.end() : self._end]) if found else ""
        name_start = found.end() if found else start
        bare = first == 0 and at == 1 and self._parts[0][0] == self._parts[0][1]
        stages = () if bare else self._stages(first, at)
        return (
            FlowLine((Flow(stages, condition, target, self._place, self._where(target, name_start)),))
            if stages is not None and target
            else _NOTHING
        )

    def _where(self, target: str, start: int) -> Place:
        """The place of a step's name."""
        return self._line.at(max(start, self._text.find(target, start)))

    def _named(self, text: str) -> str:
        """A step's name in prose, with emphasis, quotes and articles removed as needed."""
        exact = _unwrapped(text)  # a code span keeps its blanks
        text = _BLANKS.sub(" ", text).strip(" ")
        exact = exact if text[:1] == "`" else _unwrapped(text)
        if text[:1] == "`" and exact != text:
            return exact
        candidates = [exact, *map(_unwrapped, _shorter(text))]
        return next((name for name in candidates if key_of(name) in self._names.steps), exact)

    def _targets(self, start: int, end: int) -> list[str]:
        """The steps that the last stage names.  Empty if it also names anything else; code spans are data."""
        text = self._text[start:end]
        if "`" in text:
            return []
        name = _unwrapped(text)
        if self._is_step(name):
            return [name]
        names = [_unwrapped(part) for part in text.split(",")]
        return names if all(map(self._is_step, names)) else []

    def _is_step(self, name: str) -> bool:
        key = key_of(name)
        return bool(key) and key in self._names.steps and "::" not in name

    def _stages(self, first: int, end: int) -> tuple[tuple[Datum, ...], ...] | None:
        """Read the data of parts `first` to `end`; None if any part is not data."""
        stages = []
        for number in range(first, end):
            data = self._data(*self._parts[number], _MAKING if number else _TAKING)
            if not data:
                return None
            stages.append(data)
        return tuple(stages)

    def _data(self, start: int, end: int, verbs: frozenset[str]) -> tuple[Datum, ...] | None:
        if verbs is _TAKING and (label := _LABEL.match(self._text, start, end)):
            start = label.end()
        found = _VERB.match(self._text, start, end)
        if found and found[1].casefold() in verbs:
            start = found.end()
        data: list[Datum] = []
        while read := read_datum(self._line, start, end):
            data.append(read.datum)
            at, _ = self._line.bare(read.end, end)
            if at == end:
                return tuple(data)
            if self._text[at] != ",":
                return None
            start, _ = self._line.bare(at + 1, end)
        return None


# --- names of steps --------------------------------------------------------------------------------------------------

_BLANKS = late_pattern(r"[ \t]+")
_WRAPPED = late_pattern(r"""(\*\*|__|\*|_|"|'|“)(.+?)(?:\1|”)$""")
_LINK = late_pattern(r"\[\[#?([^\[\]|]+)(?:\|[^\[\]]*)?\]\]$")
_ARTICLE = late_pattern(r"(?:the )?(?:step )?", re.IGNORECASE)
_TAIL = late_pattern(r" ?[(,;:–—].*$| - .*$| (?:step|phase)$", re.IGNORECASE)


def _unwrapped(text: str) -> str:
    """Strip emphasis, quotes, link brackets or backticks."""
    text = text.strip(" \t")
    if text[:1] == "`" and (span := read_code_span(text)) and span[1] == len(text):
        return read_code(span[0], FORMAT)
    if found := _WRAPPED.match(text):
        return found[2]
    if found := _LINK.match(text):
        return found[1]
    return text


def _shorter(text: str) -> tuple[str, ...]:
    """Shorter names to try if the full text is not the name of a step."""
    article = _ARTICLE.match(text)
    bare = text[article.end() :] if article else text
    return bare, _TAIL.sub("", text), _TAIL.sub("", bare)


# --- writing ---------------------------------------------------------------------------------------------------------


def render_flow_line(flow: Flow, steps: Container[str] = ()) -> str:
    """Render a flow on one line that reads back equal; `steps` has the keys of the note's steps.

    An output named like a step becomes a code span, as does a condition that would not read back otherwise.
    """
    stages = [", ".join(map(render_datum, stage)) for stage in flow.stages]
    if flow.stages and not flow.target and _is_target(stages[-1], steps):
        stages[-1] = ", ".join(map(_quoted, flow.stages[-1]))
    if flow.target:
        stages.append(f"proceed to {_render_target(flow.target)}")
    if flow.condition is None:
        return " → ".join(stages if len(stages) > 1 else ["", *stages]).lstrip(" ")
    rest = " → ".join(stages)
    if flow.condition.is_otherwise:
        return f"Otherwise → {rest}"
    text = flow.condition.text
    # Two blanks may be an escape by `contain_line`.
    text = text.strip(" ") if text.isprintable() else normal_line(text)
    line = f"If {text} → {rest}"
    read = read_flow_line(line, Place(0, 1), Names(steps)).flows
    kept = len(read) == 1 and read[0].condition == Condition(text) and read[0].stages == flow.stages
    return line if kept else f"If {code_span(text)} → {rest}"


def _is_target(text: str, steps: Container[str]) -> bool:
    names = [text, *text.split(",")]
    return any(key_of(name) in steps for name in names)


def _quoted(datum: Datum) -> str:
    return f"{code_span(normal_line(datum.name))}{render_datum(replace(datum, name='x'))[1:]}"


_PLAIN_TARGET = late_pattern(r"[^\W_][\w-]*(?: [^\W_][\w-]*)*$")


def _render_target(name: str) -> str:
    name = normal_line(name)
    return name if _PLAIN_TARGET.match(name) and not _ARTICLE_LED.match(name) else code_span(name)


_ARTICLE_LED = late_pattern(r"(?:the|step) |.* (?:step|phase)$", re.IGNORECASE)
