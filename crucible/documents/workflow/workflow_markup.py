"""A workflow as a note's text, and new marker blocks as Edits.  `reading` is the way back.

A step's lines are its heading, its prose, its flow lines, its marker blocks, each parted by a blank line.  Prose is Markdown that
is already safe: whoever made it of foreign text contained it.  Names and the title are contained here, by `headings` and by this
room's own rule for a title's last word.

Nothing that stands in a note is ever rendered again: an execution adds a block of its own at the end of its step, and an edit that
would not show when read back, or would change anything else, is refused.
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
from crucible.documents.session.properties import link_to
from crucible.documents.workflow.flows import render_flow
from crucible.documents.workflow.marker_blocks import render_markers
from crucible.documents.workflow.step_headings import render_step_heading
from crucible.documents.workflow.workflow import Cell, Flow, Marker, Step, Workflow, key_of
from crucible.documents.workflow.workflow_reader import read_workflow

GRAPH_HEADING = "## Workflow graph"
"""Above the drawing; `Workflow …` makes it prose."""

_DEEPEST = 6

# --- a whole note ----------------------------------------------------------------------------------------------------


def render_workflow(workflow: Workflow, graph_text: str = "") -> str:
    """The whole text of a new note, LF line ends, a newline at the end.

    `graph_text` is Mermaid's source for the drawing at the end.  `properties` beyond those that we know stand in the frontmatter
    behind ours.  Steps deeper than the sixth level of headings become its siblings, for there is no seventh.
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
    return (
        f"{render_frontmatter(_properties(workflow))}\n{body}\n" if body else render_frontmatter(_properties(workflow))
    )


def _properties(workflow: Workflow) -> dict[str, Value]:
    values: dict[str, Value] = {"type": "workflow"}
    if workflow.sessions:
        values["sessions"] = [link_to(session) for session in workflow.sessions]
    values["tags"] = ["workflow"]
    others = {key: value for key, value in workflow.properties.items() if key not in ("type", "sessions")}
    return {**values, **others, "format": FORMAT}


_HASHES = late_pattern(r"\\*#+$")


def _title(title: str) -> str:
    """`# Title`; a last word of nothing but `#` would be the end of the heading."""
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
    """One paragraph of flows; a flow with a list below it has blank lines around, so that nothing continues the list."""
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
    """A step's name as a marker row holds it: `Re-run integration tests` is `RerunIntegrationTests`.

    `key_of` agrees on both.  A name without letters and digits stays as it is.
    """
    words = ["".join(filter(str.isalnum, word)) for word in normal_line(name).split(" ")]
    found = "".join(word[:1].upper() + word[1:] for word in words)
    return found if found and key_of(found) == key_of(name) else normal_line(name)


# --- a new block -----------------------------------------------------------------------------------------------------


def append_markers(source: Source, workflow: Workflow, step: Step, rows: Sequence[Mapping[str, Cell]]) -> list[Edit]:
    """One new block at the end of the step's own lines; no rows are no edit.

    `workflow` is what `source` reads as, `step` one of its steps.  Raises `EditRefused`, with the line, when the rows would not show
    in that step, or something else of the note would change.
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
    # Behind a `---` that ends the step only where the text above it would become a heading without it.
    for line in (step.body_end, step.lines.end):
        edits = [_insertion(source, line, block)]
        if read_workflow(apply_edits(source, edits), workflow.name) == expected:
            return edits
    raise _refusal(source, workflow, step)


def _as_read(block: Sequence[str]) -> tuple[Marker, ...]:
    """The markers that the block makes by itself."""
    return read_workflow(Source("\n".join(["## A", "", *block, ""])), "").steps[0].markers


def _with_markers(workflow: Workflow, step: Step, added: tuple[Marker, ...]) -> Workflow:
    def changed(one: Step) -> Step:
        if one.lines == step.lines:
            own = sum(step.lines.first < marker.place.line <= step.lines.end for marker in one.markers)
            # Rows that stand elsewhere in the note and name this step come behind its own.
            return replace(one, markers=(*one.markers[:own], *added, *one.markers[own:]))
        if one.lines.first > step.lines.first:
            return one  # nothing below what stands behind it
        return replace(one, children=tuple(map(changed, one.children))) if one.children else one

    return replace(workflow, steps=tuple(map(changed, workflow.steps)))


def _insertion(source: Source, line: int, block: Sequence[str]) -> Edit:
    """The block before `line`, parted by blank lines from what stands above and below, in the note's own line ends."""
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
    """The line end of the line above: LF put after a lone CR would make one line end of two."""
    if above[-1:] not in ("\r", "\n"):
        return ""
    return "\r\n" if above.endswith("\r\n") else above[-1]


_OPEN_ENDS = frozenset({"unclosed-fence", "unclosed-html", "too-large"})


def _refusal(source: Source, workflow: Workflow, step: Step) -> EditRefused:
    """Names the open block above that hides what would stand here, if there is one."""
    outline = find_blocks(source, find_frontmatter(source).lines.end)
    for problem in outline.problems:
        if problem.code in _OPEN_ENDS and problem.line <= step.lines.end:
            return EditRefused(
                f"{workflow.name}:{problem.line}: {problem.message}; what is added below it would not show",
                "close it in the note and try again",
            )
    return EditRefused(
        f"{workflow.name}:{step.body_end + 1}: what stands around this line would change the meaning of what is written there",
        "tidy it in the note and try again",
    )
