"""Render a workflow's graph as a Mermaid flowchart or as DOT, and a session as a Mermaid timeline.

Steps with children are groups; edges have their data as labels and are dotted if conditional; stale edges are omitted.
Above Mermaid's limits, only the top steps are drawn, and if necessary only the first of these.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.core.zones import in_zone
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.session.session import Decision, Entry, Failure, Phase, Session, Subagent
from crucible.documents.workflow.graph import Edge, Graph
from crucible.documents.workflow.workflow import Condition, Grade, Step

_LONGEST = 80
_LINE_ENDS = dict.fromkeys(map(ord, "\u2028\u2029"), " ")
_JOINER = "\u200d"
_NOTHING = "#160;"
_FIRST_SIGN = 0x2000
"""The first code point of arrows and emoji.  Mermaid uses some symbols below it, such as the degree sign."""


def shown(text: str, longest: int = _LONGEST) -> str:
    """Text as one line without control characters, cut to `longest`."""
    return cut(normal_line(text.translate(_LINE_ENDS)), longest)


def mermaid_text(text: str, longest: int = _LONGEST) -> str:
    """Escape text for a quoted Mermaid label.  Never empty, since Mermaid cannot parse an empty label."""
    line = f" {shown(text, longest)} "
    return _DOUBTFUL.sub(_coded, line)[1:-1] or _NOTHING


_DOUBTFUL = late_pattern(r"(?<!\A)[^A-Za-z0-9,](?!\Z)")
"""Characters that may need an entity, in a line padded with a blank at both ends."""


def _coded(found: re.Match[str]) -> str:
    return found[0] if _is_harmless(found.string, found.start()) else f"#{ord(found[0])};"


def _is_harmless(line: str, at: int) -> bool:
    char = line[at]
    if char.isascii():
        if char in ".-_/+":
            return line[at - 1].isalnum() and line[at + 1].isalnum() and line[max(at - 3, 0) : at].lower() != "www"
        if char == " ":
            return line[max(at - 9, 0) : at].lower() != "direction"
        return char.isalnum() or char == ","
    kind = unicodedata.category(char)
    return kind[0] in "LMN" or char == _JOINER or (kind == "So" and ord(char) >= _FIRST_SIGN)


def dot_text(text: str, longest: int = _LONGEST) -> str:
    """Escape text for a quoted DOT label."""
    return shown(text, longest).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


_MOST_TEXT = 45_000
_MOST_EDGES = 450
"""Maximum edges to draw.  Mermaid's own limits are 50,000 characters (`maxTextSize`) and 500 edges (`maxEdges`)."""
_FEWER = (200, 50, 10)
_MOST_NAMES = 4


class _Arrow(NamedTuple):
    source: str
    target: str
    label: str = ""
    dotted: bool = False


class _Item(NamedTuple):
    """A node, the start of a group (`group` is its id), or the end of a group (neither is set)."""

    node: str = ""
    group: str = ""
    name: str = ""
    markers: str = ""
    depth: int = 1


@dataclass(frozen=True, slots=True)
class _Scene:
    """The parts of a diagram, before escaping.  `joints` has the ids and names of bundles."""

    items: tuple[_Item, ...]
    arrows: tuple[_Arrow, ...]
    graded: dict[Grade, list[str]]
    joints: tuple[tuple[str, str], ...] = ()


def render_mermaid(graph: Graph) -> str:
    """Render a `flowchart`, without a fence and without a final newline."""
    scene = _full_scene(graph)
    text = "\n".join(_mermaid(scene))
    if not _is_too_large(scene, text):
        return text
    for most in (len(graph.steps), *_FEWER):
        scene = _outermost(graph, most)
        text = "\n".join(_mermaid(scene))
        if not _is_too_large(scene, text):
            break
    return text


def render_dot(graph: Graph) -> str:
    """Render a `digraph` for Graphviz, without a final newline."""
    return "\n".join(_dot(_full_scene(graph)))


def _is_too_large(scene: _Scene, text: str) -> bool:
    return len(text) > _MOST_TEXT or len(scene.arrows) > _MOST_EDGES


# --- what is drawn ---------------------------------------------------------------------------------------------


def _full_scene(graph: Graph) -> _Scene:
    """A scene with every step.  A group has a node of its own only if an arrow needs one."""
    drawn = [edge for edge in graph.edges if not edge.is_stale]
    arrows = [_arrow(edge, edge.source, edge.target) for edge in drawn]
    touched = {at for edge in drawn for at in edge[:2]}
    for number, bundle in enumerate(graph.bundles, 1):
        arrows += [_Arrow(f"s{at + 1}", f"d{number}") for at in bundle.sources]
        arrows += [_Arrow(f"d{number}", f"s{at + 1}") for at in bundle.targets]
        touched.update(bundle.sources, bundle.targets)
    items = tuple(_grouped(graph, touched))
    joints = tuple((f"d{number}", bundle.data) for number, bundle in enumerate(graph.bundles, 1))
    return _Scene(items, tuple(arrows), _graded(graph, items), joints)


def _grouped(graph: Graph, touched: set[int]) -> Iterator[_Item]:
    groups = set(graph.parents)
    inside: list[int] = []
    for at, step in enumerate(graph.steps):
        while inside and inside[-1] != graph.parents[at]:
            inside.pop()
            yield _Item(depth=len(inside) + 1)
        if at in groups:
            yield _Item("", f"g{at + 1}", step.name, _markers(step), len(inside) + 1)
            inside.append(at)
        if at not in groups or at in touched:
            yield _Item(f"s{at + 1}", "", step.name, _markers(step), len(inside) + 1)
    while inside:
        inside.pop()
        yield _Item(depth=len(inside) + 1)


def _graded(graph: Graph, items: tuple[_Item, ...]) -> dict[Grade, list[str]]:
    graded: dict[Grade, list[str]] = {Grade.CRITICAL: [], Grade.OPTIONAL: []}
    for item in items:
        if item.node.startswith("s"):
            graded.get(graph.steps[int(item.node[1:]) - 1].grade, []).append(item.node)
    return graded


def _outermost(graph: Graph, most: int) -> _Scene:
    """A scene with the first `most` steps of the top level, each representing all steps below it."""
    roots: list[int] = []
    for at, parent in enumerate(graph.parents):
        roots.append(at if parent < 0 else roots[parent])
    tops = [at for at, parent in enumerate(graph.parents) if parent < 0]
    kept = set(tops[:most])
    items = [_Item(f"s{at + 1}", "", graph.steps[at].name, _markers(graph.steps[at])) for at in tops[:most]]
    if len(tops) > most:
        items.append(_Item("more", "", f"and {len(tops) - most} more"))
    arrows: dict[tuple[int, int], _Arrow] = {}
    for edge in graph.edges:
        source, target = roots[edge.source], roots[edge.target]
        if source != target and source in kept and target in kept and not edge.is_stale:
            arrows.setdefault((source, target), _arrow(edge, source, target))
    return _Scene(tuple(items), tuple(arrows.values()), _graded(graph, tuple(items)))


def _arrow(edge: Edge, source: int, target: int) -> _Arrow:
    label = _label(edge.fresh, edge.condition)
    return _Arrow(f"s{source + 1}", f"s{target + 1}", label, edge.condition is not None)


def _markers(step: Step) -> str:
    return " ".join(([f"@{step.agent}"] if step.agent else []) + ([f"#{step.channel}"] if step.channel else []))


def _label(data: list[str], condition: Condition | None) -> str:
    names = ", ".join([*data[:_MOST_NAMES], *(["…"] if len(data) > _MOST_NAMES else [])])
    if condition is None:
        return names
    prefix = "Otherwise" if condition.is_otherwise else f"If {condition.text}"
    return f"{prefix}, {names}" if names else prefix


# --- Mermaid ---------------------------------------------------------------------------------------------------

_CLASSES = {
    Grade.CRITICAL: "classDef critical stroke-width:3px",
    Grade.OPTIONAL: "classDef optional stroke-dasharray:4 3",
}


def _mermaid(scene: _Scene) -> Iterator[str]:
    yield "flowchart TD"
    for item in scene.items:
        indent = "  " * item.depth
        if item.node:
            markers = f"<br/>{mermaid_text(item.markers)}" if item.markers else ""
            yield f'{indent}{item.node}["{mermaid_text(item.name)}{markers}"]'
        elif item.group:
            yield f'{indent}subgraph {item.group}["{mermaid_text(item.name)}"]'
        else:
            yield f"{indent}end"
    for joint, name in scene.joints:
        yield f'  {joint}(["{mermaid_text(name)}"])'
    for arrow in scene.arrows:
        line = "-.->" if arrow.dotted else "-->"
        label = f'|"{mermaid_text(arrow.label)}"|' if arrow.label else ""
        yield f"  {arrow.source} {line}{label} {arrow.target}"
    for grade, nodes in scene.graded.items():
        if nodes:
            yield f"  {_CLASSES[grade]}"
            yield f"  class {','.join(nodes)} {grade.value}"


# --- DOT -------------------------------------------------------------------------------------------------------

_STYLES = {Grade.CRITICAL: "penwidth=3", Grade.OPTIONAL: 'style="rounded,dashed"'}


def _dot(scene: _Scene) -> Iterator[str]:
    styles = {node: f", {_STYLES[grade]}" for grade, nodes in scene.graded.items() for node in nodes}
    yield "digraph workflow {"
    yield '  node [shape=box, style="rounded"];'
    for item in scene.items:
        indent = "  " * item.depth
        if item.node:
            markers = f"\\n{dot_text(item.markers)}" if item.markers else ""
            yield f'{indent}{item.node} [label="{dot_text(item.name)}{markers}"{styles.get(item.node, "")}];'
        elif item.group:
            yield f"{indent}subgraph cluster_{item.group} {{"
            yield f'{indent}  label="{dot_text(item.name)}";'
        else:
            yield f"{indent}}}"
    for joint, name in scene.joints:
        yield f'  {joint} [shape=oval, label="{dot_text(name)}"];'
    for arrow in scene.arrows:
        attributes = ([f'label="{dot_text(arrow.label)}"'] if arrow.label else []) + ["style=dashed"] * arrow.dotted
        yield f"  {arrow.source} -> {arrow.target}{' [' + ', '.join(attributes) + ']' if attributes else ''};"
    yield "}"


_PHASE_LONGEST = 60
_MOST_PHASES, _MOST_EVENTS = 40, 4


def render_timeline(session: Session, zone: tzinfo | None) -> str:
    """The diagram's source, with times in `zone`.  Long sessions show their first phases."""
    lines = ["timeline", f"  title {mermaid_text(session.title or session.id, _PHASE_LONGEST)}"]
    day = ""
    for phase in session.phases[:_MOST_PHASES]:
        at = in_zone(phase.started, zone) if phase.started else None
        if at and f"{at:%Y-%m-%d}" != day:
            day = f"{at:%Y-%m-%d}"
            lines.append(f"  section {day}")
        words = [mermaid_text(phase.name, _PHASE_LONGEST), *_events(phase)]
        lines.append(f"    {mermaid_text(f'{at:%H:%M}' if at else '?')} : {' : '.join(words)}")
    left = len(session.phases) - _MOST_PHASES
    if left > 0:
        lines.append(f"    … : {left} more phases")
    return "\n".join(lines) + "\n"


def _events(phase: Phase) -> Iterator[str]:
    found = [text for entry in phase.all_entries() if (text := _event(entry))]
    yield from (mermaid_text(text, _PHASE_LONGEST) for text in found[:_MOST_EVENTS])
    if len(found) > _MOST_EVENTS:
        yield f"{len(found) - _MOST_EVENTS} more"


def _event(entry: Entry) -> str:
    if isinstance(entry, Decision):
        return f"decided: {entry.text}"
    if isinstance(entry, Failure):
        return f"{'fixed' if entry.resolution else 'failed'}: {entry.text}"
    if isinstance(entry, Subagent):
        return ": ".join(filter(None, (f"@{entry.agent.name}", entry.summary or entry.text)))
    return ""
