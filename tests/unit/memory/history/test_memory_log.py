"""The files of memory: parsing lines, the newest line of an id, and shortening."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.memory.history.memory_log import (
    FILES,
    Memory,
    MemoryKind,
    append_memories,
    key_of,
    load_memories,
    memory_id,
    move_memories,
    shorten_todos,
)
from crucible.vault.notes.vault import Vault
from tests.git_repositories import git

AT = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)
DECISION, LESSON, TODO = MemoryKind.DECISION, MemoryKind.LESSON, MemoryKind.TODO

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
memories = st.builds(
    Memory,
    id=st.from_regex(r"[a-z]-[0-9a-f]{4}", fullmatch=True),
    kind=st.sampled_from(MemoryKind),
    text=_texts.filter(bool),
    session=st.sampled_from(["2026-11-21-x", "2026-11-21-y"]),
    at=st.timedeltas(timedelta(0), timedelta(days=900)).map(AT.__add__),
    why=_texts,
    phase=_texts,
    project=_texts,
    source=_texts,
    done=st.booleans(),
)


def todo(
    text: str, *, day: int = 0, done: bool = False, session: str = "2026-11-21-x", project: str = "shop"
) -> Memory:
    ident = memory_id(session, TODO, text)
    return Memory(ident, TODO, text, session, AT + timedelta(days=day), project=project, done=done, source="task")


def _path(root: Path, kind: MemoryKind = TODO) -> Path:
    return root / ".crucible" / "memory" / FILES[kind]


# --- lines -----------------------------------------------------------------------------------------------------------


@given(st.lists(memories, max_size=6, unique_by=lambda one: one.id))
def test_appended_lines_are_loaded_again(tmp_path_factory: pytest.TempPathFactory, given_: list[Memory]) -> None:
    root = tmp_path_factory.mktemp("v")
    append_memories(root, given_, fsync=False)
    loaded = [load_memories(root, kind) for kind in MemoryKind]
    assert sorted((one for each in loaded for one in each.found), key=lambda one: one.id) == sorted(
        given_, key=lambda one: one.id
    )
    assert not any(each.problems for each in loaded)


@given(st.lists(memories, max_size=8), st.randoms())
def test_the_order_of_lines_means_nothing(
    tmp_path_factory: pytest.TempPathFactory, given_: list[Memory], random: object
) -> None:
    root, other = tmp_path_factory.mktemp("v"), tmp_path_factory.mktemp("w")
    append_memories(root, given_, fsync=False)
    shuffled = [*given_, *given_]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    append_memories(other, shuffled, fsync=False)
    for kind in MemoryKind:
        assert load_memories(root, kind) == load_memories(other, kind)


def test_of_one_id_the_newest_line_holds(vault: Vault) -> None:
    append_memories(vault.root, [todo("Test it", day=2, done=True), todo("Test it"), todo("Test it", day=1)])
    assert [one.done for one in load_memories(vault.root, TODO).found] == [True]
    append_memories(vault.root, [todo("Test it", day=3)])
    assert [one.done for one in load_memories(vault.root, TODO).found] == [False]


def test_the_same_words_have_one_id_whatever_their_case_and_marks() -> None:
    assert memory_id("s", DECISION, "Token bucket!") == memory_id("s", DECISION, "token  Bucket")
    assert memory_id("s", DECISION, "Token bucket") != memory_id("s", LESSON, "Token bucket")
    assert memory_id("s", DECISION, "Token bucket") != memory_id("t", DECISION, "Token bucket")
    assert key_of("…") == "…"


def test_a_project_and_a_session_may_be_asked_for_alone(vault: Vault) -> None:
    append_memories(vault.root, [todo("a"), todo("b", project="blog"), todo("c", session="2026-11-21-y")])
    assert [one.text for one in load_memories(vault.root, TODO, "blog").found] == ["b"]
    assert [one.text for one in load_memories(vault.root, TODO, session="2026-11-21-y").found] == ["c"]


def test_only_the_newest_lines_are_read_if_limited(vault: Vault) -> None:
    append_memories(vault.root, [todo(f"t{day}", day=day) for day in (3, 1, 2, 0)])
    assert [one.text for one in load_memories(vault.root, TODO, newest=2).found] == ["t2", "t3"]


def test_a_text_that_names_another_project_is_of_its_own(vault: Vault) -> None:
    append_memories(vault.root, [todo('"blog"', project="shop")])
    assert not load_memories(vault.root, TODO, "blog").found


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"kind": "lesson"}, "`kind`"),
        ({"id": "../x"}, "`id`"),
        ({"session": "../../x"}, "`session`"),
        ({"at": "yesterday"}, "`at`"),
        ({"text": ""}, "`text`"),
        ({"text": ["x"]}, "`text`"),
        ({"done": 1}, "`done`"),
    ],
)
def test_a_forged_line_is_named_and_passed_over(vault: Vault, wrong: dict[str, object], word: str) -> None:
    append_memories(vault.root, [todo("good")])
    good = orjson.loads(_path(vault.root).read_bytes())
    with _path(vault.root).open("ab") as file:
        file.write(orjson.dumps(good | {"id": "t-1"} | wrong) + b"\n<<<<<<< HEAD\n{torn")
    loaded = load_memories(vault.root, TODO)
    assert [one.text for one in loaded.found] == ["good"]
    assert [problem.line for problem in loaded.problems] == [2, 3, 4]
    assert word in loaded.problems[0].message


def test_a_torn_line_costs_only_itself(vault: Vault) -> None:
    append_memories(vault.root, [todo("one")])
    path = _path(vault.root)
    path.write_bytes(path.read_bytes() + path.read_bytes()[:40])
    append_memories(vault.root, [todo("two")])
    assert {one.text for one in load_memories(vault.root, TODO).found} == {"one", "two"}


def test_both_sides_of_a_merge_keep_their_lines(vault: Vault) -> None:
    git(vault.root, "init", "-b", "main")
    append_memories(vault.root, [todo("old"), todo("both")])
    git(vault.root, "add", "-A")
    git(vault.root, "commit", "-m", "one")
    git(vault.root, "checkout", "-b", "side")
    append_memories(vault.root, [todo("old", day=1, done=True), todo("side")])
    git(vault.root, "commit", "-am", "two")
    git(vault.root, "checkout", "main")
    append_memories(vault.root, [todo("main"), todo("both", day=1, done=True)])
    assert shorten_todos(vault.root, [todo("both").id]) == 1
    git(vault.root, "commit", "-am", "three")
    git(vault.root, "merge", "side")
    loaded = load_memories(vault.root, TODO)
    assert not loaded.problems
    assert {one.id: one.done for one in loaded.found} == {
        todo("old").id: True,
        todo("both").id: True,
        todo("side").id: False,
        todo("main").id: False,
    }


# --- renames ---------------------------------------------------------------------------------------------------------


def test_a_renamed_session_takes_its_memories_along(vault: Vault) -> None:
    append_memories(vault.root, [todo("a"), todo("b", session="2026-11-21-y")])
    assert move_memories(vault.root, "2026-11-21-x", "2026-11-21-z") == 1
    assert move_memories(vault.root, "2026-11-21-x", "2026-11-21-z") == 0
    found = {one.text: (one.id, one.session) for one in load_memories(vault.root, TODO).found}
    assert found["a"] == (todo("a").id, "2026-11-21-z")
    assert found["b"][1] == "2026-11-21-y"


# --- what shrinks ----------------------------------------------------------------------------------------------------


def test_a_todo_that_is_done_shrinks_to_one_line_and_all_else_stays_to_the_byte(vault: Vault) -> None:
    append_memories(vault.root, [todo("done"), todo("open"), todo("done", day=1, done=True)])
    path = _path(vault.root)
    path.write_bytes(path.read_bytes() + b"<<<<<<< HEAD\n")
    before = path.read_bytes().split(b"\n")
    assert shorten_todos(vault.root, [todo("done").id, todo("open").id]) == 1
    after = path.read_bytes().split(b"\n")
    assert [line for line in after if line in before] == [before[1], before[3], b""]
    (summary,) = [orjson.loads(line) for line in after if line and line not in before]
    assert summary["compacted"] == "2026-11-22: done: done"
    assert "text" not in summary
    closed, opened = sorted(load_memories(vault.root, TODO).found, key=lambda one: not one.done)
    assert (closed.id, closed.done, opened.text) == (todo("done").id, True, "open")


def test_shrinking_twice_changes_nothing(vault: Vault) -> None:
    append_memories(vault.root, [todo("done"), todo("done", day=1, done=True)])
    assert shorten_todos(vault.root, [todo("done").id]) == 1
    data = _path(vault.root).read_bytes()
    assert shorten_todos(vault.root, [todo("done").id]) == 0
    assert _path(vault.root).read_bytes() == data


def test_what_is_to_do_again_is_not_done_though_it_was_summarised(vault: Vault) -> None:
    append_memories(vault.root, [todo("x"), todo("x", day=1, done=True)])
    shorten_todos(vault.root, [todo("x").id])
    append_memories(vault.root, [todo("x", day=2)])
    assert [(one.text, one.done) for one in load_memories(vault.root, TODO).found] == [("x", False)]
    assert shorten_todos(vault.root, [todo("x").id]) == 0
