"""A workflow as a note and back, and marker blocks that are added to a note of anybody's."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import EditRefused
from crucible.documents.markdown.line_scan import Kind
from crucible.documents.markdown.outline import find_blocks
from crucible.documents.markdown.source import Source, apply_edits
from crucible.documents.workflow.workflow import Cell, Marker, Step, Workflow, key_of
from crucible.documents.workflow.workflow_markup import append_markers, phase_name, render_workflow
from crucible.documents.workflow.workflow_reader import read_workflow
from samples.hostile_texts import hostile_text
from tests.cases import fewer, for_each
from tests.unit.documents.workflow.sample_workflows import step, workflow
from tests.unit.documents.workflow.workflow_strategies import NAMES, random_workflow, rows, workflows

ROW: dict[str, Cell] = {"phase": "B", "status": "success", "duration_ms": 12}


def _read(text: str) -> Workflow:
    return read_workflow(Source(text), "w")


# --- whole notes -----------------------------------------------------------------------------------------------------


@fewer(2)
@given(workflows(), st.sampled_from(["", "graph TD\n  a --> b", "```\n## no step\n````"]))
def test_a_written_workflow_reads_back_the_same(made: Workflow, drawing: str) -> None:
    found = _read(render_workflow(made, drawing))
    assert found == made
    assert found.marked


def test_a_note_is_written_in_the_order_prose_flow_markers() -> None:
    made = Workflow(
        "Build it",
        ("2026-01-01-a",),
        "Made of a session.",
        (
            replace(
                step("Write", "idea -> limiter.py::Python", "limiter.py -> a, b, c, d", "d -> e"),
                prose="- Decided: keep it small",
                markers=(Marker({"phase": "Write", "status": "success"}),),
                children=(Step("Notes"),),
            ),
        ),
        properties={"codified": "abc", "type": "note"},
    )
    assert (
        render_workflow(made, "graph TD")
        == """---
type: workflow
sessions:
  - "[[sessions/2026-01-01-a|2026-01-01-a]]"
tags:
  - workflow
codified: abc
format: 2
---

# Build it

Made of a session.

## Write

- Decided: keep it small

idea → limiter.py::Python

limiter.py → creates:
- a
- b
- c
- d

d → e

```session-toon
execution[1]{phase,status}:
  Write,success
```

### \\Notes

## Workflow graph

```mermaid
graph TD
```
"""
    )


def test_steps_below_the_sixth_level_become_siblings_and_none_is_lost() -> None:
    deep = Step("8")
    for number in range(7, 1, -1):
        deep = Step(str(number), children=(deep,))
    found = _read(render_workflow(Workflow("T", steps=(deep,))))
    assert [one.name for one in found.walk()] == list("2345678")
    assert render_workflow(found) == render_workflow(Workflow("T", steps=(deep,)))


def test_an_empty_workflow_is_frontmatter_alone() -> None:
    assert render_workflow(Workflow()) == "---\ntype: workflow\ntags:\n  - workflow\nformat: 2\n---\n"
    assert _read(render_workflow(Workflow())) == Workflow()


def test_a_drawing_cannot_end_its_fence() -> None:
    text = render_workflow(Workflow("T", steps=(Step("A"),)), "graph TD\n````\n## Forged")
    assert [one.name for one in _read(text).walk()] == ["A"]


@for_each("name", [*NAMES, "", "ß", "İ", "ŉ x", "e\u0301a", "２ x", "re-run", "a_b c"])
def test_a_phase_name_matches_its_step(name: str) -> None:
    assert key_of(phase_name(name)) == key_of(name)
    assert " " not in phase_name(name) or not key_of(name)


def test_a_phase_name_is_in_camel_case() -> None:
    assert phase_name("Re-run integration tests") == "RerunIntegrationTests"
    assert phase_name("Load the CSV") == "LoadTheCSV"


# --- blocks that are added -------------------------------------------------------------------------------------------


def _step_of(found: Workflow, name: str) -> Step:
    return next(one for one in found.walk() if one.name == name)


def _appended(source: Source, name: str = "B", new: list[dict[str, Cell]] | None = None) -> Source:
    found = read_workflow(source, "w")
    return apply_edits(source, append_markers(source, found, _step_of(found, name), [ROW] if new is None else new))


NOTE = """# T

## A

Text.

## B @dev

a → b

```session-toon
execution[1]{phase,status}:
 B,failed
```

---

### B1

Below.

## C

The end."""


def test_a_block_stands_behind_the_last_one_and_before_the_rule() -> None:
    block = "\n```session-toon\nexecution[1]{phase,status,duration_ms}:\n  B,success,12\n```\n"
    assert _appended(Source(NOTE)).text == NOTE.replace(" B,failed\n```\n", f" B,failed\n```\n{block}")


@for_each("newline", ["\n", "\r\n", "\r"])
@for_each("bom", [True, False])
@for_each("end", ["", "\n", "\n\n", "\n---", "\n\n---\n", "\n\n***\n"])
@for_each("name", ["A", "B", "B1", "C"])
def test_only_the_block_is_added_whatever_the_line_ends(name: str, end: str, bom: bool, newline: str) -> None:
    source = Source((NOTE + end).replace("\n", newline), bom)
    after = _appended(source, name)
    before, _, behind = after.text.partition(f"{newline}```session-toon{newline}execution[1]{{phase,status,dur")
    at = len(before.rstrip("\r\n"))
    assert after.bom == bom
    assert source.text.startswith(before.rstrip("\r\n"))
    assert source.text[at:].strip("\r\n") == behind.partition(f"```{newline}")[2].strip("\r\n")
    assert "\n" not in after.text.replace(newline, "")
    assert "\r" not in after.text.replace(newline, "")
    found = read_workflow(after, "w")
    assert [one.markers[-1].values for one in found.walk() if one.markers and one.name == name] == [ROW]


@given(st.integers(0, 2**48), rows(), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_added_rows_show_in_their_step_and_nothing_else_changes(
    seed: int, new: list[dict[str, Cell]], newline: str, whole: bool
) -> None:
    random = Random(seed)
    made = random_workflow(seed, 1 + seed % 5)
    text = render_workflow(made, "graph TD" if seed % 2 else "").replace("\n", newline)
    source = Source(text if whole else text.rstrip("\r\n"))
    before = read_workflow(source, "w")
    chosen = random.choice(list(before.walk()))
    edits = append_markers(source, before, chosen, new)
    ((span, added),) = edits
    assert span.start == span.end
    after = read_workflow(apply_edits(source, edits), "w")
    assert [one.name for one in after.walk()] == [one.name for one in before.walk()]
    for old, one in zip(before.walk(), after.walk(), strict=True):
        more = [{column: row.get(column) for column in new[0]} for row in new] if old.lines == chosen.lines else []
        assert [marker.values for marker in one.markers] == [
            *(marker.values for marker in old.markers),
            *more,
        ]
        assert replace(one, markers=(), children=()) == replace(old, markers=(), children=())
    assert added.replace(newline, "\n").count("\n```") == 1 + added.startswith(newline)


@given(hostile_text(5), hostile_text(4), st.booleans(), rows())
def test_in_a_note_of_anybodys_the_rows_show_or_the_edit_is_refused(
    above: str, below: str, titled: bool, new: list[dict[str, Cell]]
) -> None:
    source = Source(f"{'# T' if titled else ''}\n{above}\n## Load Data\n{below}")
    before = read_workflow(source, "w")
    chosen = next((one for one in before.walk() if one.name == "Load Data"), None)
    try:
        edits = append_markers(source, before, chosen, new) if chosen else []
    except EditRefused:
        return
    after = read_workflow(apply_edits(source, edits), "w")
    counts = [len(one.markers) for one in before.walk()]
    grown = [len(one.markers) for one in after.walk()]
    assert sum(grown) - sum(counts) == (len(new) if chosen else 0)
    assert sum(a != b for a, b in zip(counts, grown, strict=True)) == (1 if chosen else 0)
    assert all(edit.span.start == edit.span.end for edit in edits)


def test_blocks_are_added_one_behind_the_other() -> None:
    source = Source("## B\n")
    for number in range(3):
        source = _appended(source, new=[{"phase": "B", "status": "success", "run": number}])
    assert [marker.values["run"] for marker in read_workflow(source, "w").steps[0].markers] == [0, 1, 2]
    assert len([one for one in find_blocks(source).blocks if one.kind is Kind.FENCE]) == 3


def test_rows_of_different_columns_are_one_block_with_all_of_them() -> None:
    new: list[dict[str, Cell]] = [
        {"phase": "B", "status": "success"},
        {"phase": "B", "status": "failed", "why": "x"},
    ]
    assert (
        "execution[2]{phase,status,why}:\n  B,success,null\n  B,failed,x\n" in _appended(Source("## B\n"), new=new).text
    )


def test_no_rows_are_no_edit() -> None:
    assert _appended(Source(NOTE), new=[]).text == NOTE


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("## A\n\n## B\n\n```python\nnever closed\n", 5),
        ("## A\n\n## B\n\n<!-- never closed\n", 5),
        ("---\ntype: workflow\n---\n\n## B\n\n~~~\n", 7),
    ],
)
def test_what_would_not_show_is_refused_with_the_line(text: str, line: int) -> None:
    with pytest.raises(EditRefused, match=f"^w:{line}: ") as caught:
        _appended(Source(text))
    assert caught.value.hint


def test_a_block_goes_behind_the_rule_that_underlines_a_heading() -> None:
    after = _appended(Source("## B\n\nText\n---\n"))
    assert read_workflow(after, "w").steps[0].markers[0].values == ROW
    assert "Text\n---\n" in after.text


def test_rows_without_a_phase_or_a_status_are_refused() -> None:
    some: tuple[dict[str, Cell], ...] = ({"phase": "B"}, {"status": "success"})
    for row in some:
        with pytest.raises(EditRefused, match="no phase or no status"):
            _appended(Source("## B\n"), new=[row])


@pytest.mark.parametrize("loose", ["# T\n\n{}\n\n## B\n", "## B\n\n## Notes\n\n{}\n"])
def test_rows_of_the_step_that_stand_elsewhere_in_the_note_are_no_hindrance(loose: str) -> None:
    text = loose.format("```session-toon\nexecution[1]{phase,status}:\n B,failed\n```")
    statuses = [marker.status for marker in read_workflow(_appended(Source(text)), "w").steps[0].markers]
    assert sorted(statuses) == ["failed", "success"]


def test_a_step_that_stands_in_no_note_is_refused() -> None:
    with pytest.raises(EditRefused, match="no step 'B' on disk"):
        append_markers(Source("## B\n"), workflow(Step("B")), Step("B"), [ROW])
