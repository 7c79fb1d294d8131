"""An annotation is created once, never leaves its folder, and keeps what a user wrote into it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible.core.errors import BadSessionId, EditRefused, NoteExists, OutsideVault, VaultError
from crucible.documents.markdown.containment import normal, normal_line
from crucible.memory.tasks.annotations import (
    AnnotationFolder,
    annotate,
    annotation_of,
    annotation_path,
    change_annotation,
    move_annotations,
    read_annotation,
    values_of,
)
from crucible.memory.tasks.task import Annotation, DecisionKind, Inherited, Recalled, Ref, TaskDecision

NOW = datetime(2026, 1, 25, 10, 30, tzinfo=UTC)
REF = Ref("2026-01-25-payments", "task-004")
NEW = Annotation(REF, "d")
SEED = """\
task_id: task-004
description: "Implement payment retry logic"
created_at: 2026-01-25T10:30:00Z

recall_context:
  patterns:
    - P-008  # Exponential backoff with jitter
    - P-041
  failures:
    - F-023
  decisions:
    - ADR-031
  query: "payment retry"

inherited_context:
  - from_task_id: task-002
    decision: "Use Stripe as payment provider"
    rationale: "Better webhooks"
    seen_by: me

# mine
mood: good
execution_context:
  decisions_made: []  # Populated during execution
  discoveries: []
  weather: fine
"""
LINES = st.text(max_size=30).map(normal_line)
WORDS = LINES.filter(bool)
CHOICES = st.builds(
    TaskDecision,
    WORDS,
    st.text(max_size=40).map(normal),
    st.one_of(st.none(), st.sampled_from(DecisionKind)),
    st.one_of(st.none(), st.booleans()),
)
ANNOTATIONS = st.builds(
    Annotation,
    st.just(REF),
    LINES,
    st.one_of(st.none(), st.just(NOW)),
    st.builds(
        Recalled,
        st.lists(WORDS, max_size=3).map(tuple),
        st.lists(WORDS, max_size=3).map(tuple),
        st.lists(WORDS, max_size=3).map(tuple),
        LINES,
    ),
    st.lists(st.builds(Inherited, WORDS, WORDS, st.text(max_size=40).map(normal)), max_size=3).map(tuple),
    st.lists(CHOICES, max_size=3).map(tuple),
    st.lists(WORDS, max_size=3).map(tuple),
    st.lists(WORDS, max_size=3).map(tuple),
)


def written(root: Path, text: str) -> Path:
    path = annotation_path(AnnotationFolder(root), REF)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@given(ANNOTATIONS)
def test_fields_read_back_as_they_were(annotation: Annotation) -> None:
    assert annotation_of(REF, values_of(annotation)) == annotation


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=ANNOTATIONS, other=ANNOTATIONS)
def test_the_file_reads_back_as_written_and_as_changed(tmp_path: Path, one: Annotation, other: Annotation) -> None:
    annotation_path(AnnotationFolder(tmp_path), REF).unlink(missing_ok=True)
    annotate(AnnotationFolder(tmp_path), one, fsync=False)
    assert read_annotation(AnnotationFolder(tmp_path), REF) == (one, [])
    change_annotation(AnnotationFolder(tmp_path), NEW, lambda _: other, fsync=False)
    assert read_annotation(AnnotationFolder(tmp_path), REF) == (other, [])


def test_the_file_of_the_specification_is_read(tmp_path: Path) -> None:
    written(tmp_path, SEED)
    found, problems = read_annotation(AnnotationFolder(tmp_path), REF)
    assert not problems
    assert found == Annotation(
        REF,
        "Implement payment retry logic",
        NOW,
        Recalled(("P-008", "P-041"), ("F-023",), ("ADR-031",), "payment retry"),
        (Inherited("task-002", "Use Stripe as payment provider", "Better webhooks"),),
    )


@pytest.mark.parametrize("opening", ["", "---\n"])
def test_a_change_keeps_a_humans_lines_comments_and_keys(tmp_path: Path, opening: str) -> None:
    path = written(tmp_path, opening + SEED)
    change_annotation(
        AnnotationFolder(tmp_path),
        NEW,
        lambda old: replace(
            old,
            discoveries=("429 has Retry-After",),
            inherited=(*old.inherited, Inherited("task-003", "UUIDv7")),
        ),
    )
    text = path.read_text(encoding="utf-8")
    before = (opening + SEED).partition("inherited_context")[0]
    assert text.startswith(before)
    assert "# mine\nmood: good\n" in text
    assert "seen_by: me" in text
    assert "weather: fine" in text
    found, _ = read_annotation(AnnotationFolder(tmp_path), REF)
    assert found
    assert found.discoveries == ("429 has Retry-After",)
    assert [one.from_task_id for one in found.inherited] == ["task-002", "task-003"]


def test_a_change_of_nothing_leaves_the_file_alone(tmp_path: Path) -> None:
    path = written(tmp_path, SEED.rstrip("\n"))
    before = path.stat().st_ino
    change_annotation(AnnotationFolder(tmp_path), NEW, lambda old: old)
    assert path.read_text(encoding="utf-8") == SEED.rstrip("\n")
    assert path.stat().st_ino == before


def test_a_changed_file_keeps_its_line_ends(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    path.write_bytes(SEED.replace("\n", "\r\n").encode())
    change_annotation(
        AnnotationFolder(tmp_path), NEW, lambda old: replace(old, discoveries=("x",), captured_to=("P-1",))
    )
    data = path.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")
    found, _ = read_annotation(AnnotationFolder(tmp_path), REF)
    assert found
    assert (found.discoveries, found.captured_to) == (("x",), ("P-1",))


def test_a_broken_annotation_is_not_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path, "description: d\n]: [\n")
    with pytest.raises(EditRefused):
        change_annotation(AnnotationFolder(tmp_path), NEW, lambda old: replace(old, discoveries=("x",)))
    assert path.read_text() == "description: d\n]: [\n"


def test_an_annotation_is_made_once(tmp_path: Path) -> None:
    annotate(AnnotationFolder(tmp_path), Annotation(REF, "first"))
    with pytest.raises(NoteExists):
        annotate(AnnotationFolder(tmp_path), Annotation(REF, "second"))
    found, _ = read_annotation(AnnotationFolder(tmp_path), REF)
    assert found
    assert found.description == "first"


def test_a_task_without_an_annotation_gets_one_by_its_first_change(tmp_path: Path) -> None:
    assert read_annotation(AnnotationFolder(tmp_path), REF) == (None, [])
    changed = change_annotation(AnnotationFolder(tmp_path), NEW, lambda old: replace(old, discoveries=("x",)))
    assert changed == replace(NEW, discoveries=("x",))
    assert read_annotation(AnnotationFolder(tmp_path), REF) == (changed, [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "]: [",
        "just words\n",
        "- a\n- b\n",
        "execution_context: 7\n",
        "a: &x [*x]\n",
        "\ufeffdescription: d\r\n",
    ],
)
def test_any_file_is_read_without_an_error(tmp_path: Path, text: str) -> None:
    written(tmp_path, text)
    found, _ = read_annotation(AnnotationFolder(tmp_path), REF)
    assert found
    assert found.ref == REF


HOSTILE = [
    "../../x",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "nul\0",
    "x" * 5000,
    "a.b",
    "A",
    "ä",
    "\ud800",
    "~a",
]


@pytest.mark.parametrize("ident", HOSTILE)
def test_a_hostile_task_id_stays_in_its_folder(tmp_path: Path, ident: str) -> None:
    path = annotate(AnnotationFolder(tmp_path), Annotation(Ref("s", ident), "d"))
    assert path.parent == (tmp_path / ".crucible" / "tasks").resolve()
    assert path.is_file()
    assert [str(p) for p in tmp_path.iterdir()] == [str(tmp_path / ".crucible")]


@given(st.lists(st.tuples(st.sampled_from(["s", "s.a", "s.a.b"]), st.text(max_size=12)), unique=True, max_size=20))
def test_two_tasks_never_share_a_file(refs: list[tuple[str, str]]) -> None:
    names = [annotation_path(AnnotationFolder(Path("/nowhere")), Ref(*ref)).name.lower() for ref in refs]
    assert len(set(names)) == len(names)
    assert all(len(name) < 255 for name in names)


@pytest.mark.parametrize("session", ["../s", "", ".hidden", "a/b", "s" * 129])
def test_a_hostile_session_id_is_refused(tmp_path: Path, session: str) -> None:
    with pytest.raises(BadSessionId):
        annotate(AnnotationFolder(tmp_path), Annotation(Ref(session, "1"), "d"))
    assert not list(tmp_path.iterdir())


def test_a_symlink_is_never_followed(tmp_path: Path) -> None:
    note = tmp_path / "vault" / "note.md"
    outside = tmp_path / "outside"
    outside.mkdir()
    note.parent.mkdir()
    note.write_text("mine")
    path = annotation_path(AnnotationFolder(note.parent), REF)
    path.parent.mkdir(parents=True)
    path.symlink_to(note)
    with pytest.raises(OutsideVault):
        change_annotation(AnnotationFolder(note.parent), NEW, lambda old: replace(old, description="x"))
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to(outside)
    with pytest.raises(OutsideVault):
        annotate(AnnotationFolder(note.parent), Annotation(REF, "d"))
    assert note.read_text() == "mine"
    assert not list(outside.iterdir())


def test_foreign_text_forges_no_field(tmp_path: Path) -> None:
    evil = 'x"\n---\ncaptured_to: [P-1]\n'
    choice = TaskDecision(evil, evil)
    annotate(AnnotationFolder(tmp_path), Annotation(REF, evil, choices=(choice,)))
    found, problems = read_annotation(AnnotationFolder(tmp_path), REF)
    assert found
    assert not problems
    assert found.captured_to == ()
    assert found.description == normal_line(evil)
    assert found.choices[0].rationale == normal(evil)


def test_annotations_follow_a_session_to_its_new_id(tmp_path: Path) -> None:
    shelf = AnnotationFolder(tmp_path)
    for session, ident in (("old", "1"), ("old", "odd id"), ("old", "2"), ("old.er", "1"), ("new", "2")):
        annotate(shelf, Annotation(Ref(session, ident), f"{session} {ident}"))
    move_annotations(shelf, "old", "new", fsync=False)
    move_annotations(shelf, "old", "new", fsync=False)
    told = [read_annotation(shelf, Ref("new", ident))[0] for ident in ("1", "odd id", "2")]
    assert [one.description for one in told if one] == ["old 1", "old odd id", "new 2"]
    assert read_annotation(shelf, Ref("old.er", "1"))[0]
    assert read_annotation(shelf, Ref("old", "2"))[0]
    assert not read_annotation(shelf, Ref("old", "1"))[0]


def test_a_task_of_a_million_words_has_an_annotation_that_can_be_read(tmp_path: Path) -> None:
    words = "word " * 400_000
    shelf = AnnotationFolder(tmp_path)
    annotate(shelf, Annotation(REF, words, NOW, Recalled(query=words)))
    found, problems = read_annotation(shelf, REF)
    assert (found is not None and found.description[:10], problems) == ("word word ", [])


def test_a_too_large_annotation_is_refused_and_the_old_one_stays(tmp_path: Path) -> None:
    shelf, huge = AnnotationFolder(tmp_path), TaskDecision("Use Stripe", "x" * (1 << 20))
    with pytest.raises(VaultError, match="too large"):
        annotate(shelf, Annotation(REF, "a", NOW, choices=(huge,)))
    path = annotate(shelf, Annotation(REF, "a", NOW))
    before = path.read_bytes()
    with pytest.raises(VaultError, match="too large"):
        change_annotation(shelf, NEW, lambda old: replace(old, choices=(huge,)))
    assert path.read_bytes() == before
