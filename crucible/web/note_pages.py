"""The pages of workflows, cases, knowledge and history, and of the inbox: lists and single notes, read only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup, escape

from crucible.commands.learn.case_folder import CaseNote, load_cases
from crucible.core.errors import CrucibleError
from crucible.core.zones import in_zone
from crucible.documents.markdown.containment import cut
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.workflow.graph import Edge, Graph, build_graph
from crucible.documents.workflow.workflow_check import check_workflow
from crucible.memory.history.history_folder import HISTORY, HistoryFilter, list_entries, load_entries
from crucible.memory.knowledge.knowledge_folder import ItemFilter, list_items, load_items
from crucible.vault.notes.vault import Note
from crucible.vault.notes.walk import CASES, KNOWLEDGE, WORKFLOWS, note_name
from crucible.vault.notes.workflow_notes import read_workflow_note, workflow_in, workflow_paths
from crucible.web.markdown_html import Clean, NoteLinks, kind_words, render_document, render_markdown
from crucible.web.overview_page import waiting_items
from crucible.web.session_page import show_time
from crucible.web.web_vault import FOLDERS, SESSION_PAGES, WebVault

_OLD = timedelta(days=30)
"""How long the inbox shows items of ended sessions; the same as in `cru inbox`."""


class TableRow(NamedTuple):
    """A row of a list: the address of the note, and the cells; the first cell links to it."""

    href: str
    cells: Sequence[str]


class Table(NamedTuple):
    """A list.  `hint` names the commands."""

    heads: Sequence[str]
    rows: Sequence[TableRow]
    hint: str
    wrong: Sequence[str] = ()


def table_of(web: WebVault, folder: str) -> Table:
    """Return the list of a folder's notes."""
    wrong: list[CrucibleError] = []
    make = {CASES: _cases, KNOWLEDGE: _knowledge, HISTORY: _history, WORKFLOWS: _workflows}[folder]
    heads, rows = make(web, wrong)
    listed = [TableRow(f"/{folder}/{quote(name)}", cells) for name, cells in rows]
    return Table(heads, listed, _HINTS[folder], [str(error) for error in wrong])


_HINTS = {
    CASES: 'Accept or reject a case with "cru case accept ID" and "cru case reject ID".',
    KNOWLEDGE: 'Change items with "cru knowledge", or edit their notes.',
    HISTORY: "A history is written when a session ends.",
    WORKFLOWS: 'Run one with "cru workflow run NAME".',
}

_Rows = tuple[Sequence[str], Iterable[tuple[str, Sequence[str]]]]


def _cases(web: WebVault, wrong: list[CrucibleError]) -> _Rows:
    found = sorted(load_cases(web.vault, wrong.append), key=lambda one: one.note.name, reverse=True)
    return ("Case", "Type", "Status", "Difficulty"), [(one.note.name, _case(one)) for one in found]


def _case(one: CaseNote) -> Sequence[str]:
    case = one.read.case
    if case is None:
        return one.note.name, "", "unreadable", ""
    return one.note.name, kind_words(case.type.value), case.review.value, case.difficulty.value


def _knowledge(web: WebVault, wrong: list[CrucibleError]) -> _Rows:
    notes = load_items(web.vault, wrong.append)
    rows = list_items(web.vault, notes, ItemFilter(), web.now(), web.vault.settings.knowledge)
    return ("Title", "Type", "Scope", "Weight"), [
        (row.id, (row.item.title, kind_words(row.item.type.value), row.item.scope.value, f"{row.weight.total:.2f}"))
        for row in rows
    ]


def _history(web: WebVault, wrong: list[CrucibleError]) -> _Rows:
    found = list_entries(load_entries(web.vault, wrong.append), HistoryFilter())
    return ("Title", "Started", "Agent", "Project"), [
        (one.note.name, (entry.title or one.note.name, show_time(entry.started, web.zone), entry.agent, entry.project))
        for one in found
        if (entry := one.entry)
    ]


def _workflows(web: WebVault, wrong: list[CrucibleError]) -> _Rows:
    return ("Name", "Title", "Steps", "Problems"), list(_workflow_rows(web, wrong))


def _workflow_rows(web: WebVault, wrong: list[CrucibleError]) -> Iterator[tuple[str, Sequence[str]]]:
    for path in workflow_paths(web.vault, wrong.append):
        if not path.is_relative_to(web.vault.root / WORKFLOWS):
            continue
        name = note_name(path.name)
        try:
            workflow = read_workflow_note(web.vault, path).workflow
        except CrucibleError as error:
            wrong.append(error)
            continue
        problems = check_workflow(workflow, graph := build_graph(workflow))
        yield name, (name, workflow.title, str(len(graph.steps)), str(len(problems) or ""))


# --- one note --------------------------------------------------------------------------------------------------------

_HIDDEN = frozenset(("title", "aliases", "tags", "format", "digest"))


def note_values(note: Note, folder: str, links: NoteLinks, clean: Clean | None = None) -> Mapping[str, object]:
    """Return what the template shows of a case, an item or a history."""
    values = find_frontmatter(note.source).values
    return {
        "title": str(values.get("title") or note.name),
        "name": note.name,
        "one": FOLDERS[folder].one,
        "properties": [
            (kind_words(key), render_markdown(text, links, clean=clean))
            for key, value in values.items()
            if key not in _HIDDEN and (text := _text(value))
        ],
        "body": render_document(note.source.text, links, clean),
        "hint": _HINTS[folder],
    }


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if isinstance(value, Mapping):
        return " ".join(f"{key} {_text(each)}" for key, each in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else " ".join(str(value).split())


def workflow_values(note: Note, links: NoteLinks, clean: Clean | None = None) -> Mapping[str, object]:
    """Return what the template shows of a workflow: its graph, its steps, and its note."""
    workflow = workflow_in(note.source, note.path)
    graph = build_graph(workflow)
    return {
        "title": workflow.title or note.name,
        "name": note.name,
        "graph": render_graph(graph),
        "steps": list(_steps(graph)),
        "inputs": [datum.name for datum in graph.inputs],
        "outputs": [datum.name for datum in graph.outputs],
        "problems": check_workflow(workflow, graph),
        "body": render_document(note.source.text, links, clean),
        "hint": _HINTS[WORKFLOWS],
    }


class StepLine(NamedTuple):
    """A step: its inputs and outputs, and the steps that follow it."""

    id: str
    name: str
    depth: int
    marks: str
    takes: str
    makes: str
    leads: Sequence[tuple[str, str, str]]


def _steps(graph: Graph) -> Iterator[StepLine]:
    for at, step in enumerate(graph.steps):
        marks = (f"@{step.agent}" if step.agent else "", f"#{step.channel}" if step.channel else "")
        yield StepLine(
            step.id,
            step.name,
            min(4, step.id.count(".")),
            " ".join(filter(None, marks)),
            ", ".join(datum.name for datum in graph.taken[at]),
            ", ".join(datum.name for datum in graph.made[at]),
            [
                (graph.steps[edge.target].id, graph.steps[edge.target].name, ", ".join(edge.data))
                for edge in graph.outgoing[at]
            ],
        )


# --- inbox -----------------------------------------------------------------------------------------------------------


def inbox_values(web: WebVault) -> Mapping[str, object]:
    """Return what waits for the user."""
    items = [
        {
            "id": item.id,
            "kind": kind_words(item.kind.value),
            "class": item.kind.value.replace("_", "-"),
            "title": item.title,
            "text": render_markdown(item.text, web.page_of, f"i{at}"),
            "project": item.project,
            "at": f"{in_zone(item.at, web.zone):%Y-%m-%d %H:%M}" if item.at else "",
            "href": f"{SESSION_PAGES}{quote(item.session)}?line={item.line}",
            "session": item.session,
        }
        for at, item in enumerate(waiting_items(web, (web.now() - _OLD).isoformat()))
    ]
    return {"items": items}


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
    name = cut(step.name, _LONGEST)
    marks = (f"@{step.agent}" if step.agent else "", f"#{step.channel}" if step.channel else "")
    under = cut(" ".join(filter(None, marks)), _LONGEST + 4)
    middle, line = place.x + _WIDE // 2, place.y + (19 if under else 27)
    second = f"<text class=under x={middle} y={place.y + 35}>{escape(under)}</text>" if under else ""
    return (
        f'<a href="#{escape(step.id)}"><rect x={place.x} y={place.y} width={_WIDE} height={_TALL} rx=8 />'
        f"<text x={middle} y={line}>{escape(name)}</text>{second}</a>"
    )
