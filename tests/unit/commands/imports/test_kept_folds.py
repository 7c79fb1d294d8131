"""A log that has grown is read from where the last import ended, with the same result as reading it whole."""

from __future__ import annotations

import os
import pickle  # the format of the folds
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.log_files import Resume
from crucible.clients.registry import Dialect
from crucible.commands.imports import kept_folds, trunk_fold
from crucible.commands.imports.import_result import ImportReport
from crucible.documents.markdown.source import Source
from crucible.documents.session.session import Session
from crucible.documents.session.session_reader import read_session
from crucible.vault.notes import short_notes
from crucible.vault.notes.vault import Vault
from tests.cases import fewer
from tests.unit.clients.building import SESSION, Row, assistant, result, text, use, user
from tests.unit.commands.imports.places import bytes_of, make_vault, run_import, write_rows

BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def story(turns: int, *, late: bool = False) -> list[Row]:
    """A session of several turns: calls that fail and pass, decisions, tasks and a subagent without a log."""
    rows: list[Row] = []
    for turn in range(turns):
        call = f"call-{turn}"
        rows += [
            user(f"Please change part {turn} of the limiter", thinkingMetadata={}),
            assistant(text(f"I will look at part {turn}."), usage={"input_tokens": 5 + turn, "output_tokens": 3}),
            assistant(use("Bash", f"{call}-a", command=f"make part-{turn}")),
            result("Exit code 1\nFAIL: limiter" if turn % 3 == 1 else f"ok {turn}", f"{call}-a", error=turn % 3 == 1),
            assistant(
                use("Edit", f"{call}-b", file_path=f"/home/dev/project/a{turn % 4}.py", old_string="a", new_string="b")
            ),
            result("The file has been updated.", f"{call}-b"),
        ]
        if turn % 4 == 2:
            todo = {"content": f"Test part {turn}", "status": "in_progress", "activeForm": "Testing"}
            rows += [assistant(use("TodoWrite", f"{call}-c", todos=[todo])), result("Todos changed", f"{call}-c")]
        if turn % 5 == 3:
            rows += [
                assistant(use("Task", f"{call}-d", description="Look around", prompt="Look", subagent_type="Explore")),
                result("All is well.", f"{call}-d"),
            ]
        rows.append(
            assistant(text(f"Part {turn} is done: the limiter has a window of {turn} seconds."), stop="end_turn")
        )
    if late:
        rows += [user("And now?"), result("a late result of the first turn", "call-0-a")]
    for number, row in enumerate(rows):
        row["uuid"] = f"{number:08x}-0000-4000-8000-000000000000"
        row["timestamp"] = f"{BEGIN + timedelta(seconds=7 * number):%Y-%m-%dT%H:%M:%S}.000Z"
        if "message" in row and "id" in row["message"]:
            row["message"]["id"] = f"msg-{number}"
    return rows


FEW = fewer(4)
"""Each example is a dozen imports."""


@pytest.fixture(autouse=True, scope="module")
def _short_logs() -> Iterator[None]:
    """Keep the folds of short logs too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trunk_fold, "WORTH_IT", 1)
        patch.setattr(trunk_fold, "BEFORE_END", 1500)
        yield


class Starts:
    """Where trunks were read from."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.offsets: list[int] = []
        read, whole = Dialect.read_from, Dialect.read

        def counted(dialect: Dialect, transcript: object, resume: Resume) -> object:
            self.offsets.append(resume.start.offset if resume.start else 0)
            return read(dialect, transcript, resume)  # type: ignore[arg-type]

        def counted_whole(dialect: Dialect, transcript: object, agent: str = "") -> object:
            self.offsets += [] if agent else [0]
            return whole(dialect, transcript, agent)  # type: ignore[arg-type]

        monkeypatch.setattr(Dialect, "read_from", counted)
        monkeypatch.setattr(Dialect, "read", counted_whole)

    def take(self) -> list[int]:
        found, self.offsets = self.offsets, []
        return found


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Starts:
    return Starts(monkeypatch)


class Growing:
    """A session's log that grows, and a vault."""

    def __init__(self, folder: Path, rows: list[Row]) -> None:
        self.rows = rows
        self.log = folder / "project" / f"{SESSION}.jsonl"
        self.log.parent.mkdir(parents=True)
        self.vault = make_vault(folder / "vault")

    def grow(self, until: int, **options: Any) -> ImportReport:
        """Append rows, as clients do, and import."""
        known = self.log.read_bytes().count(b"\n") if self.log.exists() else 0
        more = write_rows(self.log.with_name("more"), self.rows[known:until]).read_bytes()
        with self.log.open("ab") as file:
            file.write(more)
        self.log.with_name("more").unlink()
        return run_import(self.vault, self.log, **options)

    def folds(self) -> list[Path]:
        return [*(self.vault.root / ".crucible" / "cache" / "folds").glob("*.fold")]

    def edit(self, old: str, new: str) -> None:
        (note,) = self.vault.session_paths()
        whole = note.read_text(encoding="utf-8")
        assert old in whole
        note.write_text(whole.replace(old, new, 1), encoding="utf-8")


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    return Growing(tmp_path, story(9))


def test_a_log_that_grew_is_read_from_its_end(growing: Growing, starts: Starts) -> None:
    growing.grow(50)
    starts.take()
    growing.grow(55)
    (start,) = starts.take()
    assert start > growing.log.stat().st_size // 2


def test_nothing_but_the_end_of_the_note_is_read(growing: Growing, monkeypatch: pytest.MonkeyPatch) -> None:
    growing.grow(50)
    sizes: list[int] = []

    def read(source: Source, *args: Any, **options: Any) -> Session:
        sizes.append(len(source.text))
        return read_session(source, *args, **options)

    monkeypatch.setattr(short_notes, "read_session", read)
    growing.grow(55)
    (note,) = growing.vault.session_paths()
    assert sizes
    assert max(sizes) < 0.8 * note.stat().st_size


def _rewrite(growing: Growing) -> None:
    new = growing.log.with_name("new")
    new.write_bytes(growing.log.read_bytes())
    new.replace(growing.log)


def _change_the_tail(growing: Growing) -> None:
    data = growing.log.read_bytes()
    at = data.rindex(b"limiter", 0, len(data) - 1600)
    with growing.log.open("r+b") as file:
        file.seek(at)
        file.write(b"Limiter")


def _lose(growing: Growing) -> None:
    for fold in growing.folds():
        fold.unlink()


def _break(growing: Growing) -> None:
    for fold in growing.folds():
        data = fold.read_bytes()
        fold.write_bytes(data[: len(data) // 2] + b"\xff" + data[len(data) // 2 + 1 :])


def _cut(growing: Growing) -> None:
    for fold in growing.folds():
        fold.write_bytes(fold.read_bytes()[:200])


def _age(growing: Growing) -> None:
    """Another version made the folds."""
    for fold in growing.folds():
        fold.write_bytes(fold.read_bytes().replace(b" ", b" 0", 1))


def _edit_a_closed_phase(growing: Growing) -> None:
    growing.edit("I will look at part 1.", "The agent looked at part one.")


@pytest.mark.parametrize("change", [_rewrite, _change_the_tail, _lose, _break, _cut, _age, _edit_a_closed_phase])
def test_the_log_is_read_whole_after(change: Callable[[Growing], None], growing: Growing, starts: Starts) -> None:
    growing.grow(50)
    change(growing)
    starts.take()
    growing.grow(55)
    assert starts.take()[-1] == 0


def test_a_shortened_log_is_read_whole(growing: Growing, starts: Starts) -> None:
    growing.grow(50)
    growing.log.write_bytes(b"".join(growing.log.read_bytes().splitlines(keepends=True)[:20]))
    starts.take()
    growing.grow(20)
    assert set(starts.take()) == {0}


def test_a_late_result_in_a_closed_phase_reads_the_log_whole(tmp_path: Path, starts: Starts) -> None:
    growing = Growing(tmp_path, story(9, late=True))
    growing.grow(len(growing.rows) - 2)
    starts.take()
    growing.grow(len(growing.rows))
    first, second = starts.take()
    assert first > 0
    assert second == 0


def test_a_fold_runs_no_foreign_code(growing: Growing, tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "hacked"),)

    growing.grow(50)
    (fold,) = growing.folds()
    folds = kept_folds.KeptFolds(growing.vault)
    body = pickle.dumps(Hostile())
    head = folds._head(growing.log, 100, body)
    fold.write_bytes(head + b"\n" + body)
    growing.grow(55)
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize("name", ["hashlib.blake2b", "NamedTuple", "Source", "shorten"])
def test_a_fold_loads_no_class_that_a_module_only_imports(name: str) -> None:
    names = "".join(f"V{text}\n" for text in ("crucible.documents.session.shortened", name)).encode()
    with pytest.raises(ValueError, match="not a value"):
        kept_folds._VALUES.load(BytesIO(b"\x80\x04" + names + b"\x93."))


def test_no_fold_is_kept_while_the_log_holds_private_words(tmp_path: Path) -> None:
    rows = story(9)
    rows[0]["message"]["content"] = "Use <private>the key of the blue door</private> please"
    growing = Growing(tmp_path, rows)
    growing.grow(50)
    assert growing.folds() == []


def test_a_fold_holds_no_secrets(tmp_path: Path) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "KlMnOpQrStUvWxYz"
    rows = story(9)
    for row in rows[3::9]:
        row["message"]["content"] = [{"type": "tool_result", "tool_use_id": "x", "content": f"token {secret}"}]
    growing = Growing(tmp_path, rows)
    growing.grow(50)
    assert all(secret.encode() not in fold.read_bytes() for fold in growing.folds())


CHANGES = (_lose, _break, _cut, _age, _rewrite)


@FEW
@given(
    st.lists(st.integers(3, 68), min_size=1, max_size=5, unique=True),
    st.lists(st.sampled_from((None, None, *CHANGES)), min_size=6, max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_a_log_in_pieces_gives_what_it_gives_whole(
    cuts: list[int], changes: list[Callable[[Growing], None] | None], whole_turns: bool, late: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = story(9, late=late)
        growing, plain = (Growing(Path(folder, name), rows) for name in ("growing", "plain"))
        for cut, change in zip([*sorted(cuts), len(rows)], changes, strict=False):
            report = growing.grow(cut, whole_turns=whole_turns and cut < len(rows))
            shutil.rmtree(plain.vault.root / ".crucible" / "cache" / "folds", ignore_errors=True)
            without = plain.grow(cut, whole_turns=whole_turns and cut < len(rows))
            assert [report.created, report.updated, report.unchanged] == [
                without.created,
                without.updated,
                without.unchanged,
            ]
            assert _contents(growing.vault) == _contents(plain.vault)
            if change:
                change(growing)
        whole = Growing(Path(folder, "whole"), rows)
        whole.grow(len(rows))
        assert _events(growing.vault) == _events(whole.vault)


@FEW
@given(
    st.lists(st.integers(20, 68), min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from(("title", "first", "last", "task", "phase", "head")), min_size=5, max_size=5),
)
def test_a_users_edits_between_the_pieces_are_kept_as_without_folds(cuts: list[int], edits: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = story(9)
        growing, plain = (Growing(Path(folder, name), rows) for name in ("growing", "plain"))
        for number, cut in enumerate([*sorted(cuts), len(rows)]):
            growing.grow(cut)
            shutil.rmtree(plain.vault.root / ".crucible" / "cache" / "folds", ignore_errors=True)
            plain.grow(cut)
            assert _contents(growing.vault) == _contents(plain.vault)
            for each in (growing, plain):
                _edit(each, edits[number], number)


def _edit(growing: Growing, where: str, number: int) -> None:
    (path,) = growing.vault.session_paths()
    whole = path.read_text(encoding="utf-8")
    heads = [found.start() for found in re.finditer(r"^## ", whole, re.MULTILINE)]
    at = {"first": heads[1] if len(heads) > 1 else heads[0], "last": len(whole), "head": heads[0]}.get(where)
    if where == "title":
        whole = re.sub(r"^# .*$", f"# Mine {number}", whole, count=1, flags=re.MULTILINE)
    elif where == "task":
        whole = whole.replace("- [ ]", "- [x]", 1)
    elif where == "phase":
        whole = whole[: heads[-1]] + whole[heads[-1] :].replace("## Please", "## My own name of please", 1)
    elif at is not None:
        whole = f"{whole[:at]}\nMy remark {number}, %% hidden\n\n{whole[at:]}"
    path.write_text(whole, encoding="utf-8")


def _events(vault: Vault) -> list[bytes]:
    return [re.sub(rb'"(seq|phase)":[^,]*,', b"", path.read_bytes()) for path in vault.root.rglob("tools.jsonl")]


def _contents(vault: Vault) -> dict[str, bytes]:
    return {
        name: data
        for name, data in bytes_of(vault).items()
        if not name.startswith((".crucible/cache", ".crucible/locks"))
    }
