"""Which notes are read again, which are gone, and which are trusted unread."""

from __future__ import annotations

import os
from array import array
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import IndexBroken
from crucible.vault.index.freshness import FileRow, FolderRows, Suspects, compare_folders, compare_names, in_doubt
from crucible.vault.index.index_files import EMPTY, FolderBlock, IndexFolder, Manifest
from crucible.vault.index.scan import UNKNOWN, FolderScan, Stamp
from crucible.vault.index.schema import cell_of_path, encode_rows, head_of
from tests.cases import for_each

STAMP: Stamp = (10, 1_000, 2_000, 7)


def scan(folder: str, notes: dict[str, Stamp], odd: tuple[str, ...] = ()) -> FolderScan:
    return FolderScan(folder, list(notes), array("q", [n for stamp in notes.values() for n in stamp]), odd)


@pytest.fixture
def index(tmp_path: Path) -> IndexFolder:
    root = os.path.realpath(tmp_path)
    os.makedirs(f"{root}/.crucible/index")
    return IndexFolder(root)


def known(index: IndexFolder, folders: dict[str, dict[str, Stamp]], whole: bool = True) -> Manifest:
    """An index that has read these notes; `whole`: with digests."""
    blocks, data, start = {}, [], len(head_of("files", sum(map(len, folders.values()))))
    for folder, notes in folders.items():
        rows = [
            (cell_of_path(f"{folder}/{name}"), *stamp, f"sha of {name}", "2026-11") for name, stamp in notes.items()
        ]
        lines = b"".join(line + b"\n" for line in encode_rows("files", rows))
        digest = scan(folder, notes).digest() if whole else ""
        blocks[folder] = FolderBlock(folder, len(notes), start, len(lines), crc32(lines), digest)
        data.append(lines)
        start += len(lines)
    name = index.write_files(head_of("files", sum(map(len, folders.values()))), data, "0a")
    return Manifest("token", name, {}, blocks, frozenset())


def look_and_gone(found: Suspects) -> tuple[list[str], list[str]]:
    return sorted(found.to_read), sorted(found.gone)


def test_what_is_as_it_was_is_believed(index: IndexFolder) -> None:
    notes = {"a.md": STAMP, "b.md": STAMP}
    found = compare_folders(index, known(index, {"s": notes}), [scan("s", notes)], [""])
    assert found.is_empty()


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("whole", [True, False])
def test_each_number_of_a_stamp_counts(index: IndexFolder, at: int, whole: bool) -> None:
    other = tuple(number + 1 if at == place else number for place, number in enumerate(STAMP))
    manifest = known(index, {"s": {"a.md": STAMP, "b.md": STAMP}}, whole)
    found = compare_folders(index, manifest, [scan("s", {"a.md": STAMP, "b.md": other})], [""])  # type: ignore[dict-item]
    assert look_and_gone(found) == (["s/b.md"], [])
    assert found.sha_of("s/b.md") == "sha of b.md"
    assert found.sha_of("s/new.md") == ""


def test_new_names_are_looked_at_and_missing_ones_are_gone(index: IndexFolder) -> None:
    manifest = known(index, {"s": {"a.md": STAMP}, "s/t": {"x.md": STAMP}, "s/tu": {"y.md": STAMP}})
    found = compare_folders(index, manifest, [scan("s", {"b.md": STAMP}), scan("n", {"z.md": STAMP})], [""])
    assert look_and_gone(found) == (["n/z.md", "s/b.md"], ["s/a.md", "s/t/x.md", "s/tu/y.md"])


def test_only_what_lies_within_the_places_can_be_gone(index: IndexFolder) -> None:
    manifest = known(index, {"s": {"a.md": STAMP}, "s/t": {"x.md": STAMP}, "s/tu": {"y.md": STAMP}})
    assert compare_folders(index, manifest, [], ["s/t"]).gone == ["s/t/x.md"]
    assert compare_folders(index, manifest, [], []).gone == []


def test_doubtful_and_odd_notes_are_looked_at(index: IndexFolder) -> None:
    notes = {"a.md": STAMP, "b.md": STAMP, "c.md": STAMP}
    manifest = known(index, {"s": notes})._replace(doubtful=frozenset({"s/b.md"}))
    found = compare_folders(index, manifest, [scan("s", {**notes, "c.md": UNKNOWN}, ("c.md",))], [""])
    assert look_and_gone(found) == (["s/b.md", "s/c.md"], [])


def test_a_folder_without_a_digest_is_compared_note_by_note_and_then_gets_one(index: IndexFolder) -> None:
    notes = {"a.md": STAMP}
    found = compare_folders(index, known(index, {"s": notes}, whole=False), [scan("s", notes)], [""])
    assert found.undigested == ["s"]
    assert not found.is_empty()
    assert look_and_gone(found) == ([], [])
    assert compare_folders(index, EMPTY, [scan("s", {})], [""]).is_empty()


def test_an_empty_index_looks_at_everything(index: IndexFolder) -> None:
    found = compare_folders(index, EMPTY, [scan("s", {"a.md": STAMP})], [""])
    assert look_and_gone(found) == (["s/a.md"], [])


def test_single_names_are_compared_alone(index: IndexFolder) -> None:
    manifest = known(index, {"s": {"a.md": STAMP, "b.md": STAMP, "c.md": STAMP, "d.md": STAMP}})
    manifest = manifest._replace(doubtful=frozenset({"s/d.md"}))
    found = Suspects()
    stamps = {
        "s/a.md": STAMP,
        "s/b.md": (11, 1, 1, 1),
        "s/c.md": None,
        "s/d.md": STAMP,
        "s/e.md": STAMP,
        "n/f.md": None,
        "s/g.md": UNKNOWN,
    }
    compare_names(index, manifest, stamps, found)
    assert look_and_gone(found) == (["s/b.md", "s/d.md", "s/e.md", "s/g.md"], ["s/c.md"])


def test_a_name_that_was_compared_with_its_folder_is_not_compared_again(index: IndexFolder) -> None:
    manifest = known(index, {"s": {"a.md": STAMP, "c.md": STAMP}})
    found = compare_folders(index, manifest, [scan("s", {"a.md": (1, 1, 1, 1), "b.md": STAMP})], ["s"])
    compare_names(index, manifest, {"s/a.md": (1, 1, 1, 1), "s/b.md": STAMP, "s/c.md": None}, found)
    assert (sorted(found.to_read), found.gone) == (["s/a.md", "s/b.md"], ["s/c.md"])


def test_a_damaged_table_of_files_is_reported_as_broken(index: IndexFolder) -> None:
    manifest = known(index, {"s": {"a.md": STAMP}})
    path = Path(index.path, manifest.files)
    path.write_bytes(path.read_bytes().replace(b"2026-11", b"2026-12"))
    with pytest.raises(IndexBroken, match="damaged"):
        compare_folders(index, manifest, [scan("s", {})], [""])
    path.unlink()
    with pytest.raises(IndexBroken, match=r"(?i)no such file"):
        compare_names(index, manifest, {"s/a.md": STAMP}, Suspects())


@pytest.mark.parametrize(
    ("mtime", "ctime", "clock", "doubted"),
    [(1, 1, 2, False), (1, 2, 2, True), (2, 1, 2, True), (9, 1, 2, True), (1, 3, 2, True), (-5, 1, 2, False)],
)
def test_a_note_is_in_doubt_when_a_later_write_could_have_left_its_times(
    mtime: int, ctime: int, clock: int, doubted: bool
) -> None:
    assert in_doubt((7, mtime, ctime, 1), clock) is doubted


FOLDERS = ("s", "", "s/t", 'a, "b"', "\ufffd", os.fsdecode(b"\xff/x"), "- a", "new\nline", "null")
NAMES = (
    "a.md",
    os.fsdecode(b"\xff.md"),
    "\ufffd.md",
    'x, "y".md',
    "new\nline.md",
    "-.md",
    "\\.md",
    " .md",
    "é.md",
    "MD",
)
# A hash of digits, or of digits and an `e`, looks like a number.
ROWS = (
    FileRow(STAMP, "0123456789", "2026-11"),
    FileRow(UNKNOWN, "!5f", "undated"),
    FileRow((2**40, 2**62, -5, 2**63), "12e4567890", "0001-01"),
    FileRow((0, 0, 0, 0), "abcdef", ""),
)


@for_each("folder", FOLDERS)
@for_each("row", ROWS)
def test_rows_of_files_come_back_under_their_names(folder: str, row: FileRow) -> None:
    rows = FolderRows(folder)
    rows.put(dict.fromkeys(NAMES, row))
    again = FolderRows(folder, rows.encoded())
    for found in (rows, again):
        assert sorted(found.names()) == sorted(NAMES)
        assert len(found) == len(NAMES)
        assert [found.get(name) for name in NAMES] == [row] * len(NAMES)
        assert found.get("none.md") is None
    assert again.encoded() == rows.encoded()
    assert FolderRows(folder).encoded() == b""


names = st.one_of(st.sampled_from(NAMES), st.binary(min_size=1, max_size=4).map(os.fsdecode)).filter(
    lambda name: "/" not in name and "\0" not in name
)
stamps = st.tuples(*[st.integers(0, 2)] * 4)


@given(
    st.sampled_from(FOLDERS),
    st.dictionaries(names, stamps, max_size=6),
    st.dictionaries(names, stamps, max_size=6),
    st.lists(names, max_size=3),
)
def test_rows_and_a_scan_differ_where_their_stamps_do(
    folder: str, known: dict[str, Stamp], now: dict[str, Stamp], removed: list[str]
) -> None:
    rows = FolderRows(folder)
    rows.put({name: FileRow((9, 9, 9, 9), "0", "undated") for name in known})
    rows.put({name: FileRow(stamp, "1", "2026-11") for name, stamp in known.items()})
    for name in removed:
        assert rows.remove(name) == (FileRow(known[name], "1", "2026-11") if name in known else None)
        known.pop(name, None)
    for found in (rows, FolderRows(folder, rows.encoded())):
        assert found.differing(scan(folder, now)) == {
            name: stamp for name, stamp in now.items() if known.get(name) != stamp
        }
        assert found.missing(scan(folder, now)) == sorted(known.keys() - now.keys())
