"""`--from`: workers that do not see the vault take it from a bucket, and make the same of it."""

from __future__ import annotations

import json
import pickle
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from crucible.core import vault_copies
from crucible.core.buckets import Bucket, check_bucket
from crucible.core.errors import UsageError
from crucible.core.processes import Workers, spread
from crucible.core.vault_copies import spread_on_copy
from crucible.vault.notes.vault import Vault
from tests.buckets import SECRET, copy_to_bucket, new_bucket, s3_server
from tests.paths import TESTS
from tests.running import Cru

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("moto.server", reason="moto is not installed")


@pytest.fixture(scope="module")
def _endpoint() -> Iterator[str]:
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    return new_bucket(_endpoint, monkeypatch)


def _count_chunks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the chunks that are done on a copy."""
    seen: list[int] = []

    def count(work: object, chunks: Sequence[object], *more: object) -> Iterator[object]:
        seen.append(len(chunks))
        return spread(work, chunks, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(vault_copies, "spread", count)
    return seen


def test_workers_make_the_same_of_a_copy_of_the_vault(
    cru: Cru, vault: Vault, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cru("import", "claude-code", str(TESTS / "data/transcripts/claude-code"))
    cru("session", "learn", "--all", "--export", "markdown")
    (vault.root / "sessions/bad.md").write_bytes(b"\xff\xfe\x00")
    (vault.root / "sessions/deep").mkdir()
    note = next((vault.root / "sessions").glob("*limiter*.md"))
    (vault.root / "sessions/deep" / note.name).write_bytes(note.read_bytes())
    options = "--jobs", "1", "--from", copy_to_bucket(vault.root, bucket)
    seen = _count_chunks(monkeypatch)
    for form in (("session", "learn", "--all", "--export", "jsonl", "-o", "-"), ("session", "check", "--json")):
        alone = cru(*form)
        copy_to_bucket(vault.root, bucket)
        copied = cru(*form, *options)
        assert (copied.stdout, copied.stderr, copied.exit_code) == (alone.stdout, alone.stderr, alone.exit_code)
        assert alone.stdout != ""
    lakes = []
    for name, more in {"alone": (), "copied": options}.items():
        cru("lake", "export", str(tmp_path / name), "--contents", *more)
        lakes.append({path.name: path.read_bytes() for path in (tmp_path / name).rglob("*.parquet")})
    assert lakes[0] == lakes[1] != {}
    question = ("recall", "rate limiter", "--json")
    before = cru(*question).stdout
    assert cru("index", "rebuild", "--recall", *options).exit_code == 0
    assert cru(*question).stdout == before
    assert json.loads(before)["hits"]
    assert len(seen) == 4
    assert [*Path(tempfile.gettempdir()).glob("crucible-copy-*")] == []


def _lengths(root: Path, paths: Sequence[Path]) -> list[int]:
    return [len((root / path).read_bytes()) for path in paths]


def _make(root: Path) -> partial[list[int]]:
    return partial(_lengths, root)


@pytest.mark.parametrize("change", ["missing", "other"])
def test_a_note_that_differs_from_the_vaults_is_named_without_credentials(
    bucket: str, tmp_path: Path, change: str
) -> None:
    note = tmp_path / "vault/a.md"
    note.parent.mkdir()
    note.write_text("old")
    address = copy_to_bucket(note.parent, bucket)
    if change == "other":
        note.write_text("new")
    else:
        address += "/nowhere"
    with pytest.raises(Exception, match=r"vault(/nowhere)?/a\.md: (missing|differs from the vault)") as error:
        [*spread_on_copy(_make, note.parent, [[note]], lambda chunk: chunk, Workers(copy=address))]
    assert SECRET not in repr(error.value)


def test_credentials_are_not_sent_to_workers(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "a.md"
    note.write_text("old")
    sent: list[bytes] = []

    def send(*given: object) -> Iterator[object]:
        sent.append(pickle.dumps(given))
        yield from ()

    monkeypatch.setattr(vault_copies, "spread", send)
    assert [*spread_on_copy(_make, tmp_path, [[note]], lambda chunk: chunk, Workers(copy=f"s3://{bucket}/v"))] == []
    assert SECRET.encode() not in sent[0]
    assert b"old" not in sent[0]
    for address in (
        *("s3://key:word@bucket/v", "s3://key:word%40bucket/v", "s3://key:word/v", "s3://bucket/a b?secret_key=word"),
        *("s3://bucket/[?secret_key=word", "s3:///word", "s3://", "https://bucket", "vault"),
    ):
        with pytest.raises(UsageError) as error:
            check_bucket(address)
        assert "word" not in str(error.value)


def test_a_file_that_is_larger_than_a_note_can_be_is_copied(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crucible.core.files.LARGEST_NOTE", 10)
    log = tmp_path / "vault/log.jsonl"
    log.parent.mkdir()
    log.write_text("more than ten bytes")
    copy = copy_to_bucket(log.parent, bucket)
    found = spread_on_copy(_make, log.parent, [[log]], lambda chunk: chunk, Workers(copy=copy))
    assert [*found] == [[19]]
    # No more is read of an object than the vault's file has.
    assert Bucket(copy).read("log.jsonl", 5) == b"more "
