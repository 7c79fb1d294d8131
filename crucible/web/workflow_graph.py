"""A workflow's graph as SVG: a row for each wave of steps, boxes that link to them, and an arrow for each edge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from markupsafe import Markup, escape

from crucible.documents.workflow.graph import Edge, Graph

_WIDE, _TALL = 240, 44
_GAP_X, _GAP_Y = 26, 46
_LONGEST = 32
MOST_STEPS = 120
"""Steps that are drawn; a larger workflow is only listed."""


class _Place(NamedTuple):
    x: int
    y: int


def render_graph(graph: Graph) -> Markup:
    """Draw the graph; nothing for a workflow without steps, with too many, or only with steps in a cycle."""
    if not graph.waves or len(graph.steps) > MOST_STEPS:
        return Markup()
    widest = max(map(len, graph.waves))
    width = widest * (_WIDE + _GAP_X) + _GAP_X
    height = len(graph.waves) * (_TALL + _GAP_Y) - _GAP_Y + 16
    places = {
        at: _Place(
            (width - len(wave) * (_WIDE + _GAP_X) + _GAP_X) // 2 + n * (_WIDE + _GAP_X), 8 + row * (_TALL + _GAP_Y)
        )
        for row, wave in enumerate(graph.waves)
        for n, at in enumerate(wave)
    }
    arrows = [_arrow(edge, places) for edge in graph.edges if edge.source in places and edge.target in places]
    boxes = [_box(graph, at, place) for at, place in places.items()]
    return Markup(  # noqa: S704  every text is escaped
        f'<svg class=graph viewBox="0 0 {width} {height}" width={width} height={height} role=group '
        f'aria-label="Steps and the data between them"><defs><marker id=arrow viewBox="0 0 8 8" refX=7 refY=4 '
        f'markerWidth=7 markerHeight=7 orient=auto><path d="M0 0L8 4L0 8z"/></marker></defs>'
        f"{''.join(arrows)}{''.join(boxes)}</svg>"
    )


def _arrow(edge: Edge, places: Mapping[int, _Place]) -> str:
    one, other = places[edge.source], places[edge.target]
    x, y, to_x, to_y = one.x + _WIDE // 2, one.y + _TALL, other.x + _WIDE // 2, other.y
    bend = max(24, abs(to_y - y) // 2)
    title = escape(", ".join(edge.data))
    kind = " class=perhaps" if edge.condition else ""
    return (
        f'<path{kind} marker-end="url(#arrow)" d="M{x} {y}C{x} {y + bend} {to_x} {to_y - bend} {to_x} {to_y}">'
        f"<title>{title}</title></path>"
    )


def _box(graph: Graph, at: int, place: _Place) -> str:
    step = graph.steps[at]
    name = step.name if len(step.name) <= _LONGEST else f"{step.name[: _LONGEST - 1]}…"
    under = " ".join(filter(None, (f"@{step.agent}" if step.agent else "", f"#{step.channel}" if step.channel else "")))
    under = under if len(under) <= _LONGEST + 4 else f"{under[: _LONGEST + 3]}…"
    middle, line = place.x + _WIDE // 2, place.y + (19 if under else 27)
    second = f"<text class=under x={middle} y={place.y + 35}>{escape(under)}</text>" if under else ""
    return (
        f'<a href="#{escape(step.id)}"><rect x={place.x} y={place.y} width={_WIDE} height={_TALL} rx=8 />'
        f"<text x={middle} y={line}>{escape(name)}</text>{second}</a>"
    )
