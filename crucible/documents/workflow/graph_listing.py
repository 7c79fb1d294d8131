"""Render a workflow's graph for a terminal: steps by wave, and the data that each step passes on.

Wide characters count as two cells, and control characters are removed.

    takes raw_data.csv

    1
      Load Data  @data-loader #pipeline
        ─ loaded_data → Clean Data
    2  side by side
      Clean Data  @data-cleaner #pipeline
        ╌ If it fails → Ask
      Group
        Part  !
          ─ report →
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from crucible.documents.workflow.graph import Bundle, Graph
from crucible.documents.workflow.graph_diagrams import shown
from crucible.documents.workflow.workflow import Condition, Datum, Grade, Step

_NARROWEST = 24
_DEEPEST = 4
_MOST_NAMES = 8
_MARKS = {Grade.PLAIN: "", Grade.CRITICAL: "!", Grade.OPTIONAL: "?"}
_WIDENS = "\ufe0f"
"""Turns the preceding character into an emoji that is two cells wide."""


def render_lines(graph: Graph, width: int) -> list[str]:
    """Render lines without line endings, at most `width` cells wide (minimum 24)."""
    room = max(width, _NARROWEST)
    return [line for lead, words in _lines(graph) for line in _wrapped(lead, words, room)]


_Line: TypeAlias = tuple[str, list[str]]
"""The start of a line, and the words after it, which may wrap."""


def _lines(graph: Graph) -> Iterator[_Line]:
    if graph.inputs:
        yield "takes ", _listed([_datum(datum) for datum in graph.inputs])
        yield "", []
    bundled: dict[int, list[Bundle]] = {}
    for bundle in graph.bundles:
        for source in bundle.sources:
            bundled.setdefault(source, []).append(bundle)
    for number, wave in enumerate(graph.waves, 1):
        yield (f"{number}  ", ["side", "by", "side"]) if len(wave) > 1 else (f"{number}", [])
        yield from _wave(graph, wave, bundled)
    for circle in graph.cycles:
        yield "", []
        names = [shown(graph.steps[at].name) for at in (*circle, circle[0])]
        yield "in a circle: ", _words(" → ".join(names))
    ordered = set(graph.order)
    stuck = [shown(step.name) for at, step in enumerate(graph.steps) if at not in ordered]
    if stuck:
        yield "", []
        yield "never begin: ", _listed(stuck)


def _wave(graph: Graph, wave: Sequence[int], bundled: Mapping[int, Sequence[Bundle]]) -> Iterator[_Line]:
    """Yield the lines of a wave: its steps, indented under their parents.

    Adjacent steps with the same parent share its line.
    """
    above: list[int] = []
    for at in wave:
        line = _ancestors(graph, at)
        same = next(
            (n for n, (a, b) in enumerate(zip(line, above, strict=False)) if a != b),
            min(len(line), len(above)),
        )
        for depth, group in enumerate(line[same:], same):
            yield _indent(depth), _words(f"({shown(graph.steps[group].name)})")
        yield _indent(len(line)), _heading(graph.steps[at])
        for data, condition, targets in _handed(graph, at, bundled.get(at, ())):
            yield (
                f"{_indent(len(line))}  {'─' if condition is None else '╌'} ",
                _hand(data, condition, targets),
            )
        above = [*line, at]


def _ancestors(graph: Graph, at: int) -> list[int]:
    line: list[int] = []
    while graph.parents[at] >= 0:
        at = graph.parents[at]
        line.append(at)
    return line[::-1]


def _indent(depth: int) -> str:
    return "  " * min(depth + 1, _DEEPEST)


def _heading(step: Step) -> list[str]:
    markers = [f"@{step.agent}"] * bool(step.agent) + [f"#{step.channel}"] * bool(step.channel)
    markers += [_MARKS[step.grade]] * (step.grade is not Grade.PLAIN)
    words = _words(shown(step.name))
    return [*words, "", *map(shown, markers)] if markers else words


_Hand: TypeAlias = tuple[list[str], Condition | None, list[str]]
"""Data, the condition under which they are passed, and the names of the receiving steps."""


def _handed(graph: Graph, at: int, bundles: Sequence[Bundle]) -> Iterator[_Hand]:
    """Yield the data that a step passes on, grouped by data and condition; outputs that no step takes come last."""
    alike: dict[tuple[tuple[str, ...], Condition | None], list[str]] = {}
    passed = {bundle.data.casefold() for bundle in bundles}
    for edge in graph.outgoing[at]:
        passed.update(name.casefold() for name in edge.data)
        if not edge.is_stale:
            alike.setdefault((tuple(edge.fresh), edge.condition), []).append(graph.steps[edge.target].name)
    for (data, condition), targets in sorted(alike.items(), key=lambda item: item[0][1] == Condition()):
        yield list(data), condition, targets
    for bundle in bundles:
        yield [bundle.data], None, [f"{len(bundle.targets)} steps"]
    left = [_datum(datum) for datum in graph.steps[at].outputs() if datum.name.casefold() not in passed]
    if left:
        yield left, None, []


def _hand(data: Sequence[str], condition: Condition | None, targets: Sequence[str]) -> list[str]:
    lead: list[str] = []
    if condition is not None:
        lead = ["Otherwise"] if condition.is_otherwise else ["If", *_words(shown(condition.text))]
        lead[-1] += "," if data else ""
    return [*lead, *_listed(data), "→", *_listed(targets)]


def _datum(datum: Datum) -> str:
    return f"{datum.name}::{datum.type}" if datum.type else datum.name


def _listed(names: Sequence[str]) -> list[str]:
    """The words of a list; the end of a long list becomes a count."""
    kept = [shown(name) for name in names[:_MOST_NAMES]]
    if len(names) > len(kept):
        kept.append(f"{len(names) - len(kept)} more")
    return _words(", ".join(kept))


def _words(line: str) -> list[str]:
    return line.split(" ") if line else []


# --- wrapping --------------------------------------------------------------------------------------------------


def _wrapped(lead: str, words: Sequence[str], width: int) -> Iterator[str]:
    """Wrap `lead` and the words; continuation lines are indented."""
    further = " " * (len(lead) - len(lead.lstrip(" ")) + 4)
    line, used, empty = lead, _cells(lead), True
    for word in _broken(words, width - max(used, len(further))):
        size = _cells(word) + (not empty)
        if not empty and used + size > width:
            yield line.rstrip(" ")
            line, used, empty, size = further, len(further), True, size - 1
        line += word if empty else f" {word}"
        used += size
        empty = False
    yield line.rstrip(" ")


def _broken(words: Sequence[str], room: int) -> Iterator[str]:
    """Yield the words, split if wider than `room`."""
    for word in words:
        if len(word) * 2 <= room:
            yield word
            continue
        piece, used = "", 0
        for char in word:
            size = _cells(char)
            if used + size > room:
                yield piece
                piece, used = "", 0
            piece += char
            used += size
        yield piece


def _cells(text: str) -> int:
    """The width in terminal cells.  Joined emoji are counted one by one, so the result may be too large."""
    if text.isascii():
        return len(text)
    return sum(map(_cell, text))


def _cell(char: str) -> int:
    if char == _WIDENS:
        return 1
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
