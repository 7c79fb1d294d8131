"""Reading JSON lines: every whole object in a file is found, and nothing raises."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients import log_files as jsonl
from crucible.clients.log_files import Record, read_file, read_records
from crucible.core.errors import TranscriptError


def records(data: bytes) -> list[Record]:
    return list(read_records(io.BytesIO(data)))


def values(data: bytes) -> list[object]:
    return [record.value for record in records(data)]


def reasons(data: bytes) -> list[str]:
    return [record.reason for record in records(data) if record.value is None]


def test_lines_are_counted_from_one_and_empty_ones_count() -> None:
    assert records(b'{"a":1}\n\n  \r\n{"b":2}\r\n') == [Record(1, {"a": 1}), Record(4, {"b": 2})]


def test_two_objects_on_one_line_are_both_read() -> None:
    assert records(b'{"a":1}{"b":2}\n{"c":3} \t{"d":4}\n') == [
        Record(1, {"a": 1}),
        Record(1, {"b": 2}),
        Record(2, {"c": 3}),
        Record(2, {"d": 4}),
    ]


def test_the_last_line_needs_no_newline() -> None:
    assert values(b'{"a":1}\n{"b":2}') == [{"a": 1}, {"b": 2}]


def test_a_truncated_last_line_is_reported_as_truncated() -> None:
    assert records(b'{"a":1}\n{"b":"tw') == [
        Record(1, {"a": 1}),
        Record(2, None, "incomplete at the end of the file"),
    ]


def test_the_second_object_of_a_line_may_be_cut() -> None:
    assert records(b'{"a":1}{"b":') == [
        Record(1, {"a": 1}),
        Record(1, None, "incomplete at the end of the file"),
    ]


def test_a_whole_row_after_a_truncated_one_is_read() -> None:
    found = records(b'{"type":"user","mess{"parentUuid":null,"x":1}\n')
    assert found[0].value is None
    assert found[1] == Record(1, {"parentUuid": None, "x": 1})


def test_a_line_complains_once() -> None:
    found = records(b'{"a":{"parentUuid":{"parentUuid":{"parentUuid":\n')
    assert [record.value for record in found] == [None]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"\x00\x00\x00\n", "NUL bytes"),
        (b"[1, 2]\n", "not an object"),
        (b"17\n", "not an object"),
        (b'{"a":1} 17\n', "not an object"),
        (b'{"a":' + b"[" * 100_000 + b"\n", "nested too deeply"),
        (b'{"a":' + b"9" * 5000 + b"} x\n", "a number is too long"),
    ],
)
def test_a_line_that_is_no_object_has_a_reason(line: bytes, reason: str) -> None:
    assert reasons(line) == [reason]


def test_broken_json_says_where() -> None:
    (reason,) = reasons(b'{"a": nope}\n')
    assert reason.startswith("not JSON: ")
    assert reason.endswith("at character 7")


def test_nul_bytes_around_a_row_are_dropped() -> None:
    assert values(b'\x00\x00{"a":1}\x00\x00\n') == [{"a": 1}]


def test_a_byte_order_mark_is_dropped() -> None:
    assert values(b'\xef\xbb\xbf{"a":1}\n') == [{"a": 1}]


def test_an_unpaired_surrogate_becomes_a_replacement_character() -> None:
    line = rb'{"a":"x\ud83dy","b":"\ude00","pair":"\ud83d\ude00","told":"\\ud83d"}' + b"\n"
    assert values(line) == [{"a": "x\ufffdy", "b": "\ufffd", "pair": "\U0001f600", "told": "\\ud83d"}]


def test_bytes_that_are_no_utf8_become_replacement_characters() -> None:
    assert values(b'{"a":"x\xffy\xed\xa0\x80"}\n') == [{"a": "x\ufffdy\ufffd\ufffd\ufffd"}]


def test_u2028_does_not_end_a_line() -> None:
    assert values('{"a":"x\u2028y"}\n'.encode()) == [{"a": "x\u2028y"}]


def test_a_line_of_megabytes_is_read() -> None:
    line = orjson.dumps({"a": "x" * 8_000_000})
    assert values(line + b"\n") == [{"a": "x" * 8_000_000}]


def test_memory_follows_the_longest_line_not_the_file(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    line = orjson.dumps({"a": "x" * 100_000}) + b"\n"
    with path.open("wb") as out:
        out.writelines(line for _ in range(300))
    tracemalloc.start()
    assert sum(1 for _ in read_file(path)) == 300
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3_000_000


def test_a_folder_or_missing_file_is_an_error_with_the_path(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.jsonl"):
        with pytest.raises(TranscriptError, match=path.name):
            list(read_file(path))


@given(st.binary(max_size=400))
def test_random_bytes_give_records_or_reasons(data: bytes) -> None:
    for record in read_records(io.BytesIO(data)):
        assert (record.value is None) == bool(record.reason)
        assert 1 <= record.line <= data.count(b"\n") + 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(st.characters(codec="utf-8")), JSON, max_size=3), max_size=6), st.data())
def test_objects_come_back_however_lines_are_joined(rows: list[dict[str, object]], data: st.DataObject) -> None:
    ends = data.draw(st.lists(st.sampled_from([b"\n", b"", b" ", b"\r\n"]), min_size=len(rows), max_size=len(rows)))
    joined = b"".join(orjson.dumps(row) + end for row, end in zip(rows, ends, strict=True))
    assert values(joined) == rows


def test_an_endless_line_costs_no_memory_and_the_next_one_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse.jsonl"
    with path.open("wb") as file:
        file.write(b'{"a":1}\n')
        file.seek(1 << 30)
        file.write(b'\n{"b":2}\n')
    tracemalloc.start()
    try:
        records = list(read_file(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert records == [
        Record(1, {"a": 1}),
        Record(2, None, "a line is longer than 128 MB"),
        Record(3, {"b": 2}),
    ]
    assert peak < 1 << 29


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_longest_line_ends_within_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    monkeypatch.setattr(jsonl, "_LONGEST", 8)
    path = tmp_path / "short.jsonl"
    path.write_bytes(b'{"a":1}\n{"a": 1}' + end)
    assert [record.value for record in read_file(path)] == [{"a": 1}, None]
