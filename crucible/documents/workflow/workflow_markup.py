"""Render a workflow as a new note, and append marker rows to an existing note as edits.

Names and titles are contained here; prose must already be contained.  An edit is refused if it would not read back as
the same workflow with the new rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from crucible.core.errors import EditRefused
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain_line, normal_line
from crucible.documents.markdown.frontmatter import find_frontmatter, render_frontmatter
from crucible.documents.markdown.outline import find_blocks
from crucible.documents.markdown.source import NOWHERE, Edit, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.property_values import link_to
from crucible.documents.session.session import SESSIONS
from crucible.documents.workflow.flows import render_flow
from crucible.documents.workflow.marker_blocks import render_markers
from crucible.documents.workflow.workflow import Cell, Flow, Marker, Step, Workflow, key_of
from crucible.documents.workflow.workflow_blocks import render_step_heading
from crucible.documents.workflow.workflow_reader import read_workflow

GRAPH_HEADING = "## Workflow graph"
"""The heading above the diagram.  Headings that begin with `Workflow` are prose."""

_DEEPEST = 6

# --- a new note -----------------------------------------------------------------------------------------------------


def render_workflow(workflow: Workflow, graph_text: str = "", folder: str = SESSIONS) -> str:
    """Render the text of a new note.  `folder` is the folder of sessions, for links.

    `graph_text` is Mermaid source for the diagram at the end.  Other `properties` follow ours in the frontmatter.
    Steps below heading level 6 become siblings.
    """
    keys = frozenset(key for step in workflow.walk() if (key := step.key))
    parts = [[_title(workflow.title)] if workflow.title else [], _text(workflow.preamble)]
    waiting = [(step, 2) for step in reversed(workflow.steps)]
    while waiting:
        step, level = waiting.pop()
        parts += _step_parts(step, level, keys)
        waiting.extend((child, min(level + 1, _DEEPEST)) for child in reversed(step.children))
    if graph_text:
        parts += [[GRAPH_HEADING], _fenced("mermaid", graph_text)]
    body = "\n\n".join("\n".join(part) for part in parts if part)
    properties = _properties(workflow, folder)
    return f"{render_frontmatter(properties)}\n{body}\n" if body else render_frontmatter(properties)


def _properties(workflow: Workflow, folder: str) -> dict[str, Value]:
    values: dict[str, Value] = {"type": "workflow"}
    if workflow.sessions:
        values["sessions"] = [link_to(session, folder) for session in workflow.sessions]
    values["tags"] = ["workflow"]
    others = {key: value for key, value in workflow.properties.items() if key not in ("type", "sessions")}
    return {**values, **others, "format": FORMAT}


_HASHES = late_pattern(r"\\*#+$")


def _title(title: str) -> str:
    """Render `# Title`.  A last word of only `#` is escaped, since it would close the heading."""
    text = contain_line(normal_line(title)) or "Untitled"
    head, blank, word = text.rpartition(" ")
    return f"# {head}{blank}\\{word}" if _HASHES.match(word) else f"# {text}"


def _text(text: str) -> list[str]:
    return text.split("\n") if text else []


def _step_parts(step: Step, level: int, keys: frozenset[str]) -> list[list[str]]:
    rows = [marker.values for marker in step.markers]
    return [
        [render_step_heading(level, step.name, step.agent, step.channel, step.grade)],
        _text(step.prose),
        _flow_lines(step.flows, keys),
        render_markers(rows),
    ]


def _flow_lines(flows: Sequence[Flow], keys: frozenset[str]) -> list[str]:
    """Render flows as one paragraph; a flow with a list has blank lines around it."""
    lines: list[str] = []
    listed = False
    for flow in flows:
        new = render_flow(flow, keys)
        if lines and (listed or len(new) > 1):
            lines.append("")
        lines += new
        listed = len(new) > 1
    return lines


_TICKS = late_pattern("`{3,}")


def _fenced(info: str, text: str) -> list[str]:
    longest = max((len(run) for run in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{info}", *text.strip("\n").split("\n"), fence]


# --- a row -----------------------------------------------------------------------------------------------------------


def phase_name(name: str) -> str:
    """A step's name in a marker row: `RerunTests` for `Re-run tests`.  Both have the same `key_of`."""
    words = ["".join(filter(str.isalnum, word)) for word in normal_line(name).split(" ")]
    found = "".join(word[:1].upper() + word[1:] for word in words)
    return found if found and key_of(found) == key_of(name) else normal_line(name)


# --- a new block -----------------------------------------------------------------------------------------------------


def append_markers(source: Source, workflow: Workflow, step: Step, rows: Sequence[Mapping[str, Cell]]) -> list[Edit]:
    """Append a block to the step's own lines; returns no edit if there are no rows.

    `workflow` is `source` as read, `step` one of its steps.  Raises `EditRefused` with the line if the rows would not
    be read as rows of that step, or if anything else would change.
    """
    if not rows:
        return []
    if step.lines is NOWHERE:
        raise EditRefused(f"{workflow.name} has no step {step.name!r} on disk", "read the note again")
    block = render_markers(rows)
    added = _as_read(block)
    if len(added) != len(rows):
        raise EditRefused(f"{workflow.name}: these rows of {step.name!r} have no phase or no status")
    expected = _with_markers(workflow, step, added)
    # Insert above a `---` that ends the step, if possible; else below it.
    for line in (step.body_end, step.lines.end):
        edits = [_insertion(source, line, block)]
        if read_workflow(apply_edits(source, edits), workflow.name) == expected:
            return edits
    raise _refusal(source, workflow, step)


def _as_read(block: Sequence[str]) -> tuple[Marker, ...]:
    """The markers of the block on its own."""
    return read_workflow(Source("\n".join(["## A", "", *block, ""])), "").steps[0].markers


def _with_markers(workflow: Workflow, step: Step, added: tuple[Marker, ...]) -> Workflow:
    def changed(one: Step) -> Step:
        if one.lines == step.lines:
            own = sum(step.lines.first < marker.place.line <= step.lines.end for marker in one.markers)
            # Rows elsewhere in the note that name this step come after the step's own rows.
            return replace(one, markers=(*one.markers[:own], *added, *one.markers[own:]))
        if one.lines.first > step.lines.first:
            return one  # the step is not below a later one
        return replace(one, children=tuple(map(changed, one.children))) if one.children else one

    return replace(workflow, steps=tuple(map(changed, workflow.steps)))


def _insertion(source: Source, line: int, block: Sequence[str]) -> Edit:
    """Insert the block before `line`, with blank lines around it and the note's line endings."""
    at = source.starts[min(line, len(source.starts) - 1)]
    above = source.text[:at]
    newline = _newline(above) or source.newline
    lead = "" if not above or _BLANK_END.search(above, max(0, at - 200)) else newline
    if above and above[-1] not in "\r\n":
        lead = newline * 2
    follows = line < len(source.lines) and bool(source.lines[line].strip(" \t"))
    return Edit(Span(at, at), lead + newline.join(block) + newline + (newline if follows else ""))


_BLANK_END = late_pattern(r"(?:\A|\r(?!\n)|\n)[ \t]*(?:\r\n|\r|\n)\Z")


def _newline(above: str) -> str:
    """The line ending of the line above.  If that is a lone CR, a following LF would merge with it."""
    if above[-1:] not in ("\r", "\n"):
        return ""
    return "\r\n" if above.endswith("\r\n") else above[-1]


_OPEN_ENDS = frozenset({"unclosed-fence", "unclosed-html", "too-large"})


def _refusal(source: Source, workflow: Workflow, step: Step) -> EditRefused:
    """An error that names the unclosed block above, if there is one."""
    outline = find_blocks(source, find_frontmatter(source).lines.end)
    for problem in outline.problems:
        if problem.code in _OPEN_ENDS and problem.line <= step.lines.end:
            return EditRefused(
                f"{workflow.name}:{problem.line}: {problem.message}; text added below it would be hidden",
                "close it in the note and try again",
            )
    return EditRefused(
        f"{workflow.name}:{step.body_end + 1}: the lines around this one would change the meaning of text added here",
        "tidy it in the note and try again",
    )
