"""Frontmatter in small examples: what is said, how deep it goes, and which characters an edit touches."""

from __future__ import annotations

import pytest

from crucible.core.errors import EditRefused
from crucible.documents.markdown.frontmatter import (
    find_frontmatter,
    remove_key,
    render_frontmatter,
    set_key,
)
from crucible.documents.markdown.source import Edit, Source, Span, apply_edits
from crucible.documents.markdown.yaml_nodes import DEPTH
from crucible.documents.markdown.yaml_scalars import EXACT, Value
from tests.cases import for_each


def said(text: str) -> list[tuple[str, int, str]]:
    return [(p.code, p.line, p.message) for p in find_frontmatter(Source(text)).problems]


def set_in(inside: str, key: str, value: Value) -> str:
    source = Source(f"---\n{inside}---\n")
    text = apply_edits(source, set_key(source, find_frontmatter(source), key, value)).text
    return text.removeprefix("---\n").removesuffix("---\n")


# --- what is said ---------------------------------------------------------------------------------------------------


@for_each(
    ("text", "problems"),
    [
        (
            "---\na: 1\n",
            [("unclosed-frontmatter", 1, "the frontmatter opened here is never closed with ---")],
        ),
        ("---\n---\n", [("empty-frontmatter", 1, "the frontmatter has no keys")]),
        ("---\n# c\n---\n", [("empty-frontmatter", 1, "the frontmatter has no keys")]),
        ("---\n\t\n---\n", [("empty-frontmatter", 1, "the frontmatter has no keys")]),
        ("---\na: 1\na: 2\n---\n", [("duplicate-key", 3, "'a' is repeated here; the last one wins")]),
        (
            "---\na: 1\nb:\n  c: 1\n  c: 2\n---\n",
            [("duplicate-key", 5, "'c' is repeated here; the last one wins")],
        ),
        ("---\n- a\n---\n", [("broken-yaml", 2, "the frontmatter is not a map of keys")]),
        ("---\n# c\n\n- a\n---\n", [("broken-yaml", 4, "the frontmatter is not a map of keys")]),
        (
            "---\nb: 1\na: @\n---\n",
            [("broken-yaml", 3, "broken YAML: found character that cannot start any token")],
        ),
        (
            "---\na: &a [*a]\n---\n",
            [("yaml-too-large", 2, "nested too deeply, or aliases expand to too much")],
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, problems: list[tuple[str, int, str]]) -> None:
    assert said(text) == problems


def test_what_cannot_be_read_at_all_says_so() -> None:
    def read(levels: int) -> tuple[str, int, str]:
        (problem, *_) = find_frontmatter(Source(f"---\nb: 1\na: {'[' * levels}\n---\n")).problems
        return problem.code, problem.line, problem.message

    assert read(500) == ("yaml-too-large", 3, "nested too deeply, or aliases expand to too much")
    # Some builds of libyaml refuse a thousand levels themselves, before ours are counted.
    assert read(5_000)[:2] in {("yaml-too-large", 3), ("broken-yaml", 3)}


@pytest.mark.parametrize(("others", "deepest"), [(0, DEPTH), (3 * DEPTH, DEPTH - 1)])
def test_a_hundred_levels_are_read_and_one_more_is_too_deep(others: int, deepest: int) -> None:
    """Among many collections the depth is counted before anything is composed, the map of all keys included."""
    more = f"k: [{'[1], ' * others}]\n"

    def read(levels: int) -> list[tuple[str, int]]:
        fm = find_frontmatter(Source(f"---\n{more}a: {'[' * levels}{']' * levels}\nb: x\tz\n---\n"))
        assert fm.values["b"] == "x\tz"
        assert "a" in fm.values or levels > DEPTH
        return [(p.code, p.line) for p in fm.problems]

    assert read(deepest) == []
    assert read(deepest + 1) == [("yaml-too-large", 3)]


def test_aliases_that_unfold_to_too_much_are_a_problem_of_their_key() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 5)
    )
    fm = find_frontmatter(Source(f"---\n{bomb}z: {{k: *a0}}\n---\n"))
    assert list(fm.values) == ["a0", "a1", "a2"]
    assert [(p.code, p.line) for p in fm.problems] == [("yaml-too-large", n) for n in (5, 6, 7)]


def test_many_flat_collections_are_not_deep() -> None:
    inside = "".join(f"k{n}: [1, {{a: 2}}]\n" for n in range(3 * DEPTH))
    assert len(find_frontmatter(Source(f"---\n{inside}---\n")).values) == 3 * DEPTH


def test_keys_that_only_look_alike_are_read_apart() -> None:
    fm = find_frontmatter(Source("---\na:\n  - s: 1\n    s: 2\n---\n"))
    assert fm.values == {"a": [{"s": 2}]}
    assert [(p.code, p.line) for p in fm.problems] == [("duplicate-key", 4)]


def test_in_broken_yaml_a_key_with_two_entries_in_one_chunk_is_not_recovered_whole() -> None:
    fm = find_frontmatter(Source("---\nx: @\na: {b\n  : 1}\nc: 1\n---\n"))
    assert fm.values["c"] == 1
    assert fm.locked == "the frontmatter's YAML is broken"


# --- what is refused ------------------------------------------------------------------------------------------------


def refusal(text: str, key: str, value: Value) -> tuple[str, str]:
    source = Source(text)
    with pytest.raises(EditRefused) as refused:
        set_key(source, find_frontmatter(source), key, value)
    return str(refused.value), refused.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("---\na: 1\n", "line 1: the frontmatter opened here is never closed with ---"),
        ("---\n\n{b: 1}\n---\n", "line 3: the frontmatter is one flow map"),
        ("---\n- a\n---\n", "line 1: the frontmatter is not a map of keys"),
        ("---\na: @\n---\n", "line 1: the frontmatter's YAML is broken"),
    ],
)
def test_a_locked_block_says_why_and_what_to_do(text: str, message: str) -> None:
    assert refusal(text, "b", 2) == (message, "fix it in an editor first")


def test_a_value_that_others_hang_on_says_its_line() -> None:
    message, _ = refusal("---\nc: 1\na: &x 1\nb: *x\n---\n", "a", 2)
    assert message == "line 3: 'a' would not read back as set"


def test_an_inexact_integer_is_refused_and_the_last_exact_one_is_not() -> None:
    refused = ("an integer beyond 2**53 does not read back exactly", "write it as text")
    assert refusal("", "a", EXACT + 1) == refusal("", "a", -EXACT - 1) == refused
    assert set_in("a: 1\n", "a", EXACT) == "a: 9007199254740992\n"
    assert set_in("a: 1\n", "a", [-EXACT]) == "a:\n  - -9007199254740992\n"
    assert refusal("", "a", {"b": [EXACT + 1]}) == refused


def _nested(levels: int, *, maps: bool) -> Value:
    value: Value = "x"
    for _ in range(levels):
        value = {"k": value} if maps else [value]
    return value


@pytest.mark.parametrize("maps", [True, False])
def test_fifty_levels_are_written_and_one_more_is_refused(maps: bool) -> None:
    assert render_frontmatter({"a": _nested(50, maps=maps)}).endswith("x\n---\n")
    with pytest.raises(EditRefused, match=r"^a value is nested too deeply for frontmatter$"):
        render_frontmatter({"a": _nested(51, maps=maps)})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("---\nb: 1\n- a\n---\n", "line 1: the frontmatter's YAML is broken"),
        ("---\n{b: 1}\n---\n", "line 1: the frontmatter is one flow map"),
    ],
)
def test_a_key_that_may_stand_in_a_locked_block_is_not_called_absent(text: str, message: str) -> None:
    source = Source(text)
    with pytest.raises(EditRefused) as refused:
        remove_key(source, find_frontmatter(source), "a")
    assert (str(refused.value), refused.value.hint) == (message, "fix it in an editor first")


def test_removing_a_key_of_a_flow_map_says_its_line() -> None:
    source = Source("---\n\n{a: 1}\n---\n")
    with pytest.raises(EditRefused) as refused:
        remove_key(source, find_frontmatter(source), "a")
    assert str(refused.value) == "line 3: the frontmatter is one flow map"


def test_removing_a_key_that_others_hang_on_says_its_line() -> None:
    source = Source("---\nc: 1\na: &x 1\nb: *x\n---\n")
    with pytest.raises(EditRefused) as refused:
        remove_key(source, find_frontmatter(source), "a")
    assert str(refused.value) == "line 3: 'a' cannot be removed without changing other keys"


def test_removing_from_an_unclosed_block_does_nothing() -> None:
    source = Source("---\na: 1\n")
    assert remove_key(source, find_frontmatter(source), "a") == []


# --- which characters change ------------------------------------------------------------------------------------------


@for_each(
    ("inside", "key", "value", "after"),
    [
        (" a: 1\n", "a", ["x"], " a:\n   - x\n"),
        (" a: 1\n b: 2\n", "a", {"c": ["x"]}, " a:\n   c:\n     - x\n b: 2\n"),
        ("a: 1\nb: 2\n", "b", 3, "a: 1\nb: 3\n"),
        ("a: ''\nb: 2\n", "a", "x", "a: x\nb: 2\n"),
        ("a: 1\nb: 2\n", "a", "", 'a: ""\nb: 2\n'),
        ("a: 1\nb: 2\n", "a", None, "a: null\nb: 2\n"),
        ("a:    1    # c\n", "a", 2, "a:    2    # c\n"),
        ('a: "x" # c\n', "a", "[[L]]", 'a: "[[L]]" # c\n'),
        ("a: >\n  x\n  y\nb: 2\n", "a", 1, "a: 1\nb: 2\n"),
        ("a: x\n  y\nb: 2\n", "a", 1, "a: 1\nb: 2\n"),
        ("a:\n  x # c\nb: 2\n", "a", 1, "a: 1\nb: 2\n"),
        ("a: 1\n", "a", {"b": 1, "c": []}, "a:\n  b: 1\n  c: []\n"),
        ("a: {}\n", "a", [], "a: []\n"),
    ],
)
def test_a_value_is_put_behind_its_colon(inside: str, key: str, value: Value, after: str) -> None:
    assert set_in(inside, key, value) == after


@for_each(
    ("inside", "items", "after"),
    [
        ("t:\n  - a\n  - b\n", ["a", "x", "b"], "t:\n  - a\n  - x\n  - b\n"),
        ("t:\n  - a\n  # c\n  - b\n", ["x", "a", "b"], "t:\n  - x\n  - a\n  # c\n  - b\n"),
        ("t:\n  - a\n  # c\n  - b\n", ["a", "x", "b"], "t:\n  - a\n  - x\n  # c\n  - b\n"),
        ("t:\n  - a\n  - b\n  # c\n", ["a", "b", "x", "z"], "t:\n  - a\n  - b\n  - x\n  - z\n  # c\n"),
        ("t:\n  - a # 1\n  - b # 2\n  - c # 3\n", ["a", "c"], "t:\n  - a # 1\n  - c # 3\n"),
        ("t:\n  - a # 1\n  - b # 2\n  - c # 3\n", ["b", "c"], "t:\n  - b # 2\n  - c # 3\n"),
        ("t:\n  - a # 1\n  - b # 2\n  - c # 3\n", ["a", "b"], "t:\n  - a # 1\n  - b # 2\n"),
        ("t:\n  - a # 1\n  - b # 2\n", ["x", "b"], "t:\n  - x\n  - b # 2\n"),
        ("t:\n  - a\n  - a # 2\n  - a\n", ["a", "a"], "t:\n  - a\n  - a # 2\n"),
        ("t:\n- a - b\n# c\n- d\n", ["a - b", "e"], "t:\n- a - b\n# c\n- e\n"),
        ("t:\n    - a-b # 1\n    - c\n", ["a-b", "c", "d"], "t:\n    - a-b # 1\n    - c\n    - d\n"),
        (
            "t:\n  - k: 1 # 1\n    l: 2\n  - m\n",
            [{"k": 1, "l": 2}, "o"],
            "t:\n  - k: 1 # 1\n    l: 2\n  - o\n",
        ),
        ("t:\n  - k: 1 # 1\n    l: 2\n  - m\n", ["m"], "t:\n  - m\n"),
        ("t:\n  - |\n    x\n\n  - b # 2\n", ["z", "b"], "t:\n  - z\n\n  - b # 2\n"),
        ("t:\n  - a # 1\n\n\n  - b\n", ["a", "x", "b"], "t:\n  - a # 1\n  - x\n\n\n  - b\n"),
        ("t: [a, b] # c\n", ["a", "x"], "t: # c\n  - a\n  - x\n"),
        ("t:\n  - - a\n    - b\n  - c\n", [["a", "b"], "d"], "t:\n  - - a\n    - b\n  - d\n"),
        ("t:\n  - a # 1\n  - b\n", ["a", {"k": ["v"]}], "t:\n  - a # 1\n  - k:\n      - v\n"),
    ],
)
def test_items_are_put_in_and_taken_out_whole(inside: str, items: list[Value], after: str) -> None:
    assert set_in(inside, "t", items) == after


def test_an_entry_keeps_its_own_line_end() -> None:
    source = Source("---\na: 1\r\nb: 2\n---\n")
    fm = find_frontmatter(source)
    assert apply_edits(source, set_key(source, fm, "a", ["x"])).text == "---\na:\r\n  - x\r\nb: 2\n---\n"
    assert apply_edits(source, set_key(source, fm, "b", ["x"])).text == "---\na: 1\r\nb:\n  - x\n---\n"
    assert apply_edits(source, set_key(source, fm, "c", 3)).text == "---\na: 1\r\nb: 2\nc: 3\n---\n"


def test_a_changed_value_is_the_only_span_of_the_edit() -> None:
    source = Source("---\nstatus: active # now\n---\n")
    assert set_key(source, find_frontmatter(source), "status", "paused") == [Edit(Span(12, 18), "paused")]
