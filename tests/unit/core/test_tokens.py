from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.command_lines import install_command
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.tokens import Estimate, counter_of
from tests.cases import for_each

count = Estimate().count


@for_each(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd efg", 2),
        ("a" * 800, 200),
        ("1234", 3),
        ("{}()[]", 4),
        ("a-1", 2),
        ("数据库", 5),
        ("é", 1),
        ("😀", 2),
    ],
)
def test_the_estimate_follows_its_rule(text: str, tokens: int) -> None:
    assert count(text) == tokens


@given(st.text(), st.text())
def test_joined_texts_take_as_many_tokens_as_apart_or_one_less(one: str, other: str) -> None:
    assert count(one) + count(other) - 1 <= count(one + other) <= count(one) + count(other)


def test_lone_surrogates_are_counted() -> None:
    assert count("\ud800") >= 1


def test_without_a_path_tokens_are_estimated() -> None:
    assert counter_of("").count("abcdefgh") == 2


def test_a_missing_package_is_reported_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UsageError, match=r"tokenizers. is not installed") as caught:
        counter_of(str(tmp_path / "tokenizer.json"))
    assert install_command("tokenizers") in caught.value.hint


class TestWithThePackage:
    @pytest.fixture(autouse=True)
    def _package(self) -> None:
        pytest.importorskip("tokenizers")

    def test_a_local_tokenizer_counts_exactly(self, tmp_path: Path) -> None:
        path = tmp_path / "tokenizer.json"
        path.write_text(
            json.dumps(
                {
                    "version": "1.0",
                    "added_tokens": [],
                    "pre_tokenizer": {"type": "WhitespaceSplit"},
                    "model": {
                        "type": "WordLevel",
                        "vocab": {"one": 0, "two": 1, "[UNK]": 2},
                        "unk_token": "[UNK]",
                    },
                }
            )
        )
        counter = counter_of(str(path))
        assert counter.count("one two   two\nthree") == 4
        assert counter.count("") == 0
        assert counter.count("\ud800 one") == 2

    @pytest.mark.parametrize("data", [b"", b"{}", b"[1", b"\xff\xfe", b'{"model": {"type": "BPE"}}'])
    def test_what_is_no_tokenizer_is_one_line_with_its_path(self, data: bytes, tmp_path: Path) -> None:
        path = tmp_path / "tokenizer.json"
        path.write_bytes(data)
        with pytest.raises(CrucibleError, match="not a tokenizer") as caught:
            counter_of(str(path))
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_missing_file_is_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(CrucibleError, match="no such file"):
            counter_of(str(tmp_path / "none.json"))
