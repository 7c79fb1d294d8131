"""The manifest: loaded as written or not at all, and never with a path to another place."""

from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.vault.index.index_files import (
    EMPTY,
    FolderBlock,
    Manifest,
    ShardFile,
    dump_manifest,
    load_manifest,
    next_token,
)
from crucible.vault.index.schema import SCHEMA, TABLES
from tests.cases import for_each

numbers = st.integers(0, 2**40)
hexes = st.from_regex(r"[0-9a-f]{8}", fullmatch=True)
# A token of digits, or of digits and an `e`, looks like a number.
tokens = st.one_of(hexes, st.from_regex(r"[0-9]{4}[0-9e][0-9]{4}", fullmatch=True))
months = st.one_of(st.just("undated"), st.builds("{:04}-{:02}".format, st.integers(1, 9999), st.integers(1, 12)))
paths = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def shard_files(draw: st.DrawFn) -> ShardFile:
    shard, table = draw(months), draw(st.sampled_from([*TABLES]))
    rows, size, crc = draw(st.tuples(numbers, numbers, numbers))
    return ShardFile(shard, table, rows, size, crc, f"{shard}/{table}.{draw(tokens)}.toon")


blocks = st.builds(FolderBlock, paths, numbers, numbers, numbers, numbers, st.one_of(st.just(""), tokens))
manifests = st.builds(
    lambda token, number, whole, files, shards, folders, doubtful: Manifest(
        f"{token}-{number}",
        f"files.{files}.toon",
        {(one.shard, one.table): one for one in shards},
        {one.folder: one for one in folders},
        frozenset(doubtful),
        whole,
    ),
    hexes,
    st.integers(0, 10**12),
    st.booleans(),
    tokens,
    st.lists(shard_files(), max_size=4),
    st.lists(blocks, max_size=4),
    st.lists(paths, max_size=3),
)

ONE = Manifest(
    "01234567-8",
    "files.0a1b2c3d.toon",
    {("2026-11", "sessions"): ShardFile("2026-11", "sessions", 1, 2, 3, "2026-11/sessions.0a1b2c3d.toon")},
    {"sessions": FolderBlock("sessions", 1, 2, 3, 4, "abc")},
    frozenset({"sessions/a.md", "sessions/\udcff.md"}),
)


def signed(text: str) -> str:
    """With the checksum that we would give it."""
    body = text.rpartition("\ncrc: ")[0]
    return f"{body}\ncrc: {crc32(body.encode())}\n"


def changed(old: str, new: str) -> str:
    text = dump_manifest(ONE)
    assert old in text
    return signed(text.replace(old, new))


@given(manifests)
def test_a_manifest_comes_back(manifest: Manifest) -> None:
    assert load_manifest(dump_manifest(manifest)) == manifest


def test_it_says_how_many_rows_there_are() -> None:
    assert ONE.notes() == 1
    assert ONE.months() == ["2026-11"]
    assert "totals:\n  notes: 1\n  sessions: 1\n" in dump_manifest(ONE)
    assert (EMPTY.notes(), EMPTY.months(), EMPTY.token) == (0, [], "")


@given(manifests)
def test_a_part_of_a_manifest_is_none(manifest: Manifest) -> None:
    text = dump_manifest(manifest)
    for length in range(len(text)):
        assert load_manifest(text[:length]) is None, length


@given(manifests, st.data())
def test_a_manifest_of_which_something_was_changed_is_none(manifest: Manifest, data: st.DataObject) -> None:
    text = dump_manifest(manifest)
    at = data.draw(st.integers(0, len(text) - 1))
    what = data.draw(st.one_of(st.just(""), st.characters(exclude_categories=["Cs"])))
    other = text[:at] + what + text[at + 1 :]
    assert load_manifest(other) is None or other == text


@given(st.one_of(st.text(), st.text('schema: 1[]{},\n "-0truefiltokndbs')))
def test_any_text_is_none(text: str) -> None:
    assert load_manifest(text) is None
    assert load_manifest(signed(f"{text}\ncrc: 0\n")) is None


@for_each(
    "text",
    [
        "",
        "[" * 100_000,
        "a:\n" * 10_000,
        "- " * 50_000,
        "[]",
        "null",
        "3",
        '"text"',
        "schema: 1",
        "\x00",
        "{}",
    ],
)
def test_odd_text_is_none(text: str) -> None:
    assert load_manifest(text) is None
    assert load_manifest(signed(f"{text}\ncrc: 0\n")) is None


def test_a_note_that_was_only_stamped_again_is_unchanged() -> None:
    assert load_manifest(signed(dump_manifest(ONE))) == ONE


@pytest.mark.parametrize("schema", [SCHEMA + 1, SCHEMA - 1, "null", '"1"', "1.5", "[]"])
def test_another_schema_is_none(schema: object) -> None:
    assert load_manifest(changed(f"schema: {SCHEMA}\n", f"schema: {schema}\n")) is None


ELSEWHERE = (
    "../x.toon", "/x.toon", "/etc/passwd", "..", ".", "", "a/../../x.toon", "a/b/x.toon", "a//x.toon", "a/..", "a\\\\b.toon",
    "..\\\\x.toon", "C:/x.toon", "\\u0000", "x\\n/y.toon", ".hidden.toon", "a/.toon", "~/x.toon", "sessions.md", "manifest.toon", "lock",
)  # fmt: skip


@for_each("name", ELSEWHERE)
def test_a_name_that_we_never_give_is_none(name: str) -> None:
    assert load_manifest(changed("files: files.0a1b2c3d.toon", f'files: "{name}"')) is None
    assert load_manifest(changed("2026-11/sessions.0a1b2c3d.toon", f'"{name}"')) is None


@for_each(
    "shard",
    [
        "../x",
        "..",
        "",
        "/x",
        "x",
        "2026",
        "2026-1",
        "2026-111",
        "2026-11/x",
        "undated/..",
        "２０２６-11",
        "null",
    ],
)
def test_a_shard_that_we_never_name_is_none(shard: str) -> None:
    assert load_manifest(changed("2026-11,sessions,", f'"{shard}",sessions,')) is None
    assert load_manifest(changed("2026-11,sessions,", f"{shard or 5},sessions,")) is None


@pytest.mark.parametrize("table", ["files", "x", "5", "null", '""'])
def test_a_table_that_we_never_make_is_none(table: str) -> None:
    assert load_manifest(changed("2026-11,sessions,", f"2026-11,{table},")) is None


@for_each("number", ["-1", "null", '"1"', "1.5", "x", "1e400", str(2**63), str(10**30)])
def test_a_number_that_is_none_of_ours_is_none(number: str) -> None:
    assert load_manifest(changed("sessions,1,2,3,2026", f"sessions,{number},2,3,2026")) is None
    assert load_manifest(changed("sessions,1,2,3,2026", f"sessions,1,{number},3,2026")) is None
    assert load_manifest(changed("sessions,1,2,3,4", f"sessions,1,{number},3,4")) is None
    assert load_manifest(changed("sessions,1,2,3,4", f"sessions,1,2,{number},4")) is None


@for_each(
    ("old", "new"),
    [
        ("token: 01234567-8", "token: 5"),
        ("files: files", "filex: files"),
        ("token: 01234567-8", 'token: ""'),
        ("token: 01234567-8", "token: 01234567"),
        ("token: 01234567-8", "token: 01234567--8"),
        ("token: 01234567-8", "token: 01234567-8-9"),
        ("whole: false", "hole: false"),
        ("doubtful[2]{path}", "doubtful[2]{paths}"),
        ("doubtful[2]{path}", "doubtful[3]{path}"),
        ("folder,notes,", "notes,folder,"),
        (",abc\n", ",5\n"),
        (",abc\n", ",null\n"),
    ],
)
def test_what_we_would_not_write_is_none(old: str, new: str) -> None:
    assert load_manifest(changed(old, new)) is None


@pytest.mark.parametrize("whole", ["1", '"true"', "null", "yes", "[]"])
def test_only_a_manifest_that_says_so_is_complete(whole: str) -> None:
    found = load_manifest(changed("whole: false", f"whole: {whole}"))
    assert found is None or not found.whole
    assert ONE._replace(whole=True) == load_manifest(changed("whole: false", "whole: true"))


def test_each_index_has_a_token_of_its_own() -> None:
    first = next_token("")
    assert len({first, next_token(first), next_token("")}) == 3
    assert next_token("01234567-9") == "01234567-10"
