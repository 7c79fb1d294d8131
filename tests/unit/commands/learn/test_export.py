"""Exported files: complete or absent, reproducible, without secrets and personal data."""

from __future__ import annotations

import io
import os
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.learn.case import Case
from crucible.commands.learn.export import Export, export_files, export_stream, target_of
from crucible.commands.learn.scrubbing import Scrubber
from crucible.commands.learn.selection import Families, SessionRelations, parse_splits
from crucible.commands.learn.training_rows import Shape
from crucible.core.errors import UsageError, VaultError
from crucible.core.secrets.scanner import Scanner
from tests.cases import for_each
from tests.unit.commands.learn.sample_cases import (
    PUZZLE,
    WORKFLOW,
    any_case,
    assistant_turn,
    case_of,
    made_cases,
    many_cases,
    used,
)

SPLITS = parse_splits("train=0.6,test=0.4")


def _scrubber(home: str = "") -> Scrubber:
    return Scrubber(Scanner().redact, home)


def _rows(path: Path) -> list[Any]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize("shape", list(Shape))
def test_a_second_export_gives_the_same_bytes(tmp_path: Path, shape: Shape) -> None:
    exports = []
    for name in ("one", "two"):
        exported = export_files(many_cases(5), Export(shape, SPLITS), _scrubber(), tmp_path / name)
        assert [one.path.name for one in exported.files] == ["train.jsonl", "test.jsonl"]
        exports.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert exports[0] == exports[1]
    assert exports[0].keys() == {"train.jsonl", "test.jsonl", "README.md"}


def test_related_sessions_are_in_one_file(tmp_path: Path) -> None:
    cases = many_cases(20)
    sessions = sorted({case.place.session for case in cases})
    families = Families(
        SessionRelations(one, (other,)) for one, other in zip(sessions[::2], sessions[1::2], strict=False)
    )
    exported = export_files(cases, Export(Shape.MESSAGES, SPLITS, families), _scrubber(), tmp_path / "out")
    sides: dict[str, set[str]] = {}
    for one in exported.files:
        for row in _rows(one.path):
            assert row["metadata"]["split"] == one.split
            sides.setdefault(families.of(row["metadata"]["session"]), set()).add(one.split)
    assert {len(found) for found in sides.values()} == {1}
    assert {name for found in sides.values() for name in found} == {"train", "test"}


@pytest.mark.parametrize("shape", [Shape.MESSAGES, Shape.TOOLS])
def test_a_failed_export_changes_nothing(tmp_path: Path, shape: Shape) -> None:
    export_files(made_cases(), Export(shape), _scrubber(), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def broken() -> Iterator[Case]:
        yield from made_cases()[:2]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        export_files(broken(), Export(shape), _scrubber(), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_nothing_is_exported_if_the_secret_scanner_fails(tmp_path: Path) -> None:
    def broken(text: str) -> Any:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        export_files(made_cases(), Export(Shape.MESSAGES), Scrubber(broken), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_symlink_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine\n")
    (tmp_path / "out").mkdir()
    for name in ("test.jsonl", "train.jsonl"):
        (tmp_path / "out" / name).symlink_to(tmp_path / "mine")
        with pytest.raises(VaultError, match="a symlink"):
            export_files(made_cases(), Export(Shape.MESSAGES, SPLITS), _scrubber(), tmp_path / "out")
        assert [path.name for path in (tmp_path / "out").iterdir()] == [name]
        (tmp_path / "out" / name).unlink()
    export_files(made_cases(), Export(Shape.MESSAGES), _scrubber(), tmp_path / "out")
    (tmp_path / "out" / "README.md").rename(tmp_path / "card")
    (tmp_path / "out" / "README.md").symlink_to(tmp_path / "card")
    exported = export_files(made_cases(), Export(Shape.MESSAGES), _scrubber(), tmp_path / "out")
    assert exported.card == tmp_path / "out" / "train.README.md"
    assert (tmp_path / "out" / "README.md").is_symlink()


def test_an_empty_export_writes_and_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("{}\n")
    exported = export_files([], Export(Shape.MESSAGES), _scrubber(), tmp_path)
    assert (exported.files, exported.card, exported.tally.rows) == ((), None, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["train.jsonl"]


def test_the_old_file_of_a_split_without_rows_is_removed(tmp_path: Path) -> None:
    both = [
        replace(case, place=case.place._replace(session=f"s{number}")) for number, case in enumerate(made_cases() * 8)
    ]
    export_files(both, Export(Shape.MESSAGES, SPLITS), _scrubber(), tmp_path)
    assert (tmp_path / "test.jsonl").exists()
    one = [case for case in made_cases() if SPLITS.side(case.place.session) == "train"]
    exported = export_files(one, Export(Shape.MESSAGES, SPLITS), _scrubber(), tmp_path)
    assert [written.split for written in exported.files] == ["train"]
    assert not (tmp_path / "test.jsonl").exists()


def test_a_file_that_no_export_wrote_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text("mine\n")
    one = [case for case in made_cases() if SPLITS.side(case.place.session) == "train"]
    with pytest.raises(VaultError, match=r"test\.jsonl"):
        export_files(one, Export(Shape.MESSAGES, SPLITS), _scrubber(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test.jsonl"]


def test_an_empty_export_creates_no_folder(tmp_path: Path) -> None:
    export_files([], Export(Shape.MESSAGES), _scrubber(), tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()


def test_a_card_replaces_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "README.md").mkdir()
    (tmp_path / "cases.README.md").write_text("mine\n")
    os.mkfifo(tmp_path / "cases.README-2.md")
    (tmp_path / "cases.README-3.md").symlink_to(tmp_path / "nowhere")
    for _ in range(2):
        exported = export_files(made_cases(), Export(Shape.MESSAGES), _scrubber(), tmp_path / "cases.jsonl")
        assert exported.card == tmp_path / "cases.README-4.md"
    assert (tmp_path / "cases.README.md").read_text() == "mine\n"


def test_an_existing_readme_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# My project\n")
    exported = export_files(made_cases(), Export(Shape.MESSAGES), _scrubber(), tmp_path / "cases.jsonl")
    assert (tmp_path / "README.md").read_text() == "# My project\n"
    assert exported.card == tmp_path / "cases.README.md"


def test_the_target_of_a_split(tmp_path: Path) -> None:
    assert target_of(tmp_path, "") == tmp_path / "train.jsonl"
    assert target_of(tmp_path / "new", "test") == tmp_path / "new" / "test.jsonl"
    assert target_of(tmp_path / "x.jsonl", "") == tmp_path / "x.jsonl"
    assert target_of(tmp_path / "x.jsonl", "test") == tmp_path / "x.test.jsonl"
    with pytest.raises(UsageError):
        target_of(tmp_path / "note.md", "")


def test_an_invalid_target_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(VaultError):
        export_files(made_cases(), Export(Shape.MESSAGES), _scrubber(), tmp_path / "file" / "x.jsonl")


def test_a_stream_has_all_rows_with_their_split() -> None:
    out = io.BytesIO()
    exported = export_stream(many_cases(5), Export(Shape.SHAREGPT, SPLITS), _scrubber(), out.writelines)
    rows = [orjson.loads(line) for line in out.getvalue().splitlines()]
    assert len(rows) == exported.tally.rows == 30
    assert {row["metadata"]["split"] for row in rows} == {"train", "test"}
    assert exported.tally.left_out == {"puzzle": 5}


def test_without_metadata_rows_have_only_columns() -> None:
    out = io.BytesIO()
    export_stream(made_cases(), Export(Shape.TOOLS, metadata=False), _scrubber(), out.writelines)
    assert {frozenset(orjson.loads(line)) for line in out.getvalue().splitlines()} == {frozenset({"messages", "tools"})}


def test_secrets_and_personal_data_are_redacted_and_counted(tmp_path: Path) -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
    turns = (
        used(
            "1",
            "Bash",
            command=f"curl -H 'Authorization: token {token}' C:\\Users\\jane\\x",
            password="Xk9!vQ2#rT7z",
        ),
        assistant_turn(
            f"I used {token} in /home/jane/shop, /Users/jane/x and /srv/people/jane/y; Author: J <jane@shop.io>"
        ),
    )
    case = case_of(replace(WORKFLOW, turns=turns), project="/home/jane/shop", problems=("bad line: /home/jane/x",))
    for shape in (Shape.MESSAGES, Shape.SHAREGPT, Shape.TOOLS):
        exported = export_files([case], Export(shape), _scrubber("/srv/people/jane"), tmp_path / shape.value)
        text = exported.files[0].path.read_text(encoding="utf-8")
        assert token not in text
        assert "jane" not in text.lower()
        assert "Xk9!vQ2" not in text
        assert exported.tally.redactions["home-path"] == 5
        assert (exported.tally.redactions["email"], exported.tally.redactions["home-folder"]) == (1, 1)
        assert _rows(exported.files[0].path)[0]["metadata"]["redactions"] == sum(exported.tally.redactions.values())
        assert exported.card is not None
        assert "| `home-path` | 5 |" in exported.card.read_text()


@for_each(
    ("text", "clean"),
    [
        ("/home/jane/a:/home/jane", "/home/user/a:/home/user"),
        ("file:///Users/j.doe/x", "file:///Users/user/x"),
        ("../../../Users/jane/x ../home/jane", "../../../Users/user/x ../home/user"),
        (r'"text\n/Users/jane/x\t/home/jane"', r'"text\n/Users/user/x\t/home/user"'),
        (r"C:\Users\Jane Doe\x d:/Users/jane", r"C:\Users\user\x d:/Users/user"),
        (r"C:\\Users\\jane\\x", r"C:\\Users\\user\\x"),
        ("~/.claude/projects/-home-jane-shop/a.jsonl", "~/.claude/projects/-home-user-shop/a.jsonl"),
        ("Co-authored-by: J <12+jane@users.noreply.github.com>", "Co-authored-by: J <user@example.com>"),
        ("git@github.com:o/r.git a@example.com icon@2x.png noreply@x.org", None),
        ("see https://x.org/home/page and src/home/index.html, /home/user/x /Users/Shared/y", None),
        ("@app.route('/home/') and /home", None),
    ],
)  # fmt: skip
def test_which_texts_are_personal_data(text: str, clean: str | None) -> None:
    scrubber = _scrubber()
    assert scrubber.text(text) == (clean or text)
    assert bool(scrubber.counts) == (clean is not None)


@given(any_case())
def test_a_clean_case_is_unchanged(case: Case) -> None:
    once = _scrubber().clean(case)
    again = _scrubber()
    assert again.clean(once) == once
    assert again.counts == {}


@given(st.lists(st.sampled_from(made_cases()), max_size=12), st.sampled_from(["", "/srv/people/jane"]))
def test_a_used_scrubber_cleans_the_next_case_equally(cases: list[Case], home: str) -> None:
    kept = _scrubber(home)
    dirty = [
        replace(case, project=f"{home}/x of jane@corp.io", place=case.place._replace(phase_name=home)) for case in cases
    ]
    assert [kept.clean(case) for case in dirty] == [_scrubber(home).clean(case) for case in dirty]


def test_a_lone_surrogate_does_not_stop_an_export() -> None:
    out = io.BytesIO()
    odd = case_of(replace(PUZZLE, goal="a\ud800b"), project="\udfff")
    assert export_stream([odd], Export(Shape.MESSAGES), _scrubber(), out.writelines).tally.rows == 1
    out.getvalue().decode("utf-8")


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        one = made_cases()[0]
        cases = (replace(one, id=f"{one.id}{number}") for number in range(count))
        tracemalloc.start()
        export_files(cases, Export(Shape.TOOLS), Scrubber(lambda text: (text, {})), tmp_path / str(count))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(5)  # what is made once
    assert peak(800) < peak(50) + 800_000, "of more than a million bytes, and as many in the spool"
