"""Which note a link means, and what a rename changes: the conformance rows, the rules, and the invariants."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import NoteExists, OutsideVault
from crucible.documents.markdown.source import Source, Span, apply_edits
from crucible.documents.markdown.wikilinks import find_links, find_property_links
from crucible.vault.notes.links import LinkTable, RenamePlan, plan_rename, render_target
from tests.cases import for_each
from tests.paths import TESTS

DATA = TESTS / "data" / "conformance"


def rows(name: str, op: str) -> list[dict]:
    found = [json.loads(line) for line in (DATA / name).read_text("utf-8").split("\n") if line]
    return [row for row in found if row["op"] == op]


# Rows where Obsidian does something else than the project that they come from, or nobody knows; what we expect.
RESOLVE_DECIDED = {
    "resolve-005": ("a title is no target in Obsidian", None),
    "resolve-033": ("a title is no target in Obsidian", None),
    "resolve-034": (
        "no rule decides, so it is flagged; the shortest path wins, as the row has it",
        "rust/async.md",
    ),
    "resolve-037": (
        "no rule decides, so it is flagged; of equal lengths the first by name wins",
        "a/note.md",
    ),
}


@for_each("row", rows("resolve.jsonl", "resolve"))
def test_links_resolve_as_in_obsidian(row: dict) -> None:
    found = LinkTable(row["vault"]).resolve(row["link"], row["source"])
    decided = RESOLVE_DECIDED.get(row["id"])
    assert (decided is not None) == (row["obsidian"] != "agree")
    assert (found.path, found.ambiguous) == (decided[1] if decided else row["expected"], row["ambiguous"])


RENAME_DECIDED = {
    "rename-002": (
        "nobody knows what Obsidian does; we never guess, and report the link",
        {"linker.md": "see [[async]] here"},
    ),
    "rename-010": (
        "Obsidian updates properties since 1.5.7, and our `subagent_logs` and `parent` are such links",
        {"linker.md": '---\nrelated: "[[New]]"\n---\nbody [[New]] end'},
    ),
}


def renamed(vault: Mapping[str, Source], old: str, new: str) -> dict[str, Source]:
    plan = plan_rename(vault, old, new)
    return {new if path == old else path: apply_edits(s, plan.edits.get(path, [])) for path, s in vault.items()}


@for_each("row", rows("rename.jsonl", "rename"))
def test_rename_changes_links_as_in_obsidian(row: dict) -> None:
    vault = {path: Source(text) for path, text in row["vault"].items()}
    expected = RENAME_DECIDED[row["id"]][1] if row["id"] in RENAME_DECIDED else row["expected"]
    assert (row["id"] in RENAME_DECIDED) == (row["obsidian"] != "agree")
    if "error" in expected:
        with pytest.raises(NoteExists):
            plan_rename(vault, row["from"], row["to"])
        return
    after = renamed(vault, row["from"], row["to"])
    assert {path: after[path].text for path in expected} == expected


def test_ambiguous_link_is_reported_with_its_line_and_candidates() -> None:
    vault = {"a/n.md": Source(""), "bb/n.md": Source(""), "x.md": Source("\n\n[[n]] ![[n#h|i]]")}
    plan = plan_rename(vault, "bb/n.md", "bb/m.md")
    assert plan.edits == {}
    assert [(u.path, u.line, u.link.subpath, u.candidates) for u in plan.ambiguous] == [
        ("x.md", 3, None, ("a/n.md", "bb/n.md")),
        ("x.md", 3, "h", ("a/n.md", "bb/n.md")),
    ]


@pytest.mark.parametrize("row", rows("rename.jsonl", "render_target"), ids=lambda row: row["id"])
def test_target_keeps_the_style_of_its_author(row: dict) -> None:
    assert row["obsidian"] == "agree"
    assert render_target(row["raw"], row["to"]) == row["expected"]


VAULT = [
    "n.md",
    "a/n.md",
    "a/b/n.md",
    "a/m.md",
    "c/b/m.md",
    "a/p.png",
    "Z.md",
    "d.v1.md",
    "x/d.v1",
    "LICENSE",
    "l/LICENSE.md",
]


@for_each(
    ("target", "source", "path", "ambiguous"),
    [
        ("n", "a/b/x.md", "n.md", False),
        ("b/n", "a/x.md", "a/b/n.md", False),
        ("b/n", None, "a/b/n.md", False),
        ("m", "a/x.md", "a/m.md", False),
        ("m", "c/b/x.md", "c/b/m.md", False),
        ("m", "x.md", "a/m.md", True),
        ("p", None, None, False),
        ("p.png", None, "a/p.png", False),
        ("P.PNG", "a/m.md", "a/p.png", False),
        ("d.v1", None, "d.v1.md", False),
        ("license", None, "LICENSE", False),
        ("./m", "a/x.md", "a/m.md", False),
        ("./m", "x.md", None, False),
        ("../n", "a/m.md", "n.md", False),
        ("../../n", "a/m.md", None, False),
        ("../n", None, None, False),
        ("a/../n", None, "n.md", False),
        ("a/../../n", "a/b/n.md", None, False),
        ("../../a/n", "a/m.md", None, False),
        ("..", "a/m.md", None, False),
        (".", None, None, False),
        ("a/", None, None, False),
        ("/n", None, None, False),
        ("\\n", None, None, False),
        ("C:/n", None, None, False),
        ("c:n", None, None, False),
        ("//n", None, None, False),
        ("", "a/m.md", "a/m.md", False),
        ("#h", "a/m.md", "a/m.md", False),
        ("", None, None, False),
        ("", "gone.md", None, False),
        ("z#h", None, "Z.md", False),
        ("/b/n", None, None, False),
    ],
)
def test_rules_are_exact_path_then_own_folder_then_end_of_path(
    target: str, source: str | None, path: str | None, ambiguous: bool
) -> None:
    found = LinkTable(VAULT).resolve(target, source)
    assert (found.path, found.ambiguous) == (path, ambiguous)


def test_exact_path_comes_before_the_note_beside_it() -> None:
    assert LinkTable(["n.md", "a/n.md"]).resolve("n", "a/x.md").path == "n.md"


def test_files_that_differ_only_in_case_are_resolved_by_exact_spelling() -> None:
    table = LinkTable(["n.md", "N.md", "x/O.md", "x/o.md"])
    assert table.resolve("N").path == "N.md"
    assert not table.resolve("n").ambiguous
    assert table.resolve("N.MD").ambiguous
    assert table.resolve("o").candidates == ("x/O.md", "x/o.md")


def test_unicode_forms_of_a_name_are_one_name() -> None:
    composed, apart = "\u00e4 b.md", "a\u0308\u00a0B.md"
    assert LinkTable([composed]).resolve(apart).path == composed
    assert LinkTable([apart]).resolve("\u00c4 b").path == apart


def test_a_name_with_a_hash_is_preferred_to_a_heading() -> None:
    assert LinkTable(["a#b.md", "a.md"]).resolve("a#b").path == "a#b.md"
    assert LinkTable(["a.md"]).resolve("a #b").path == "a.md"


SEGMENTS = st.sampled_from(["a", "b", "B", "c.md", "..", ".", "", "n", "n.md", "C:", "é"])
TARGETS = st.lists(SEGMENTS, max_size=6).map("/".join) | st.text(max_size=12)


@given(st.lists(TARGETS, max_size=12), TARGETS, st.none() | TARGETS)
def test_result_is_always_a_path_of_the_table(paths: list[str], target: str, source: str | None) -> None:
    found = LinkTable(paths).resolve(target, source)
    assert found.path is None or found.path in paths
    assert set(found.candidates) <= set(paths)
    assert not found.ambiguous or len(found.candidates) > 1


@pytest.mark.timed
@pytest.mark.parametrize("same_name", [False, True])
def test_a_hundred_thousand_paths_resolve_at_once(same_name: bool) -> None:
    paths = [f"f{n % 100}/g{n}/{'README' if same_name else f'note {n}'}.md" for n in range(100_000)]
    targets = [path.split("/", n % 3)[-1] for n, path in enumerate(paths)]
    began = time.perf_counter()
    table = LinkTable(paths)
    for target in targets:
        table.resolve(target, "x/y.md")
    assert time.perf_counter() - began < 20  # measured below two seconds; a search each takes an hour


def test_rename_keeps_links_in_the_moved_note_leading_where_they_led() -> None:
    vault = {
        "a/n.md": Source("[[./m]] [x](../o.md#h) [[o]] [[m]]"),
        "a/m.md": Source(""),
        "o.md": Source("[[./a/n]]"),
    }
    after = renamed(vault, "a/n.md", "b/c/n.md")
    assert after["b/c/n.md"].text == "[[../../a/m]] [x](../../o.md#h) [[o]] [[m]]"
    assert after["o.md"].text == "[[./b/c/n]]"


def test_rename_does_not_catch_links_to_a_note_of_the_same_name() -> None:
    vault = {"s/old.md": Source(""), "k/new.md": Source(""), "x.md": Source("[[new]] [[old]] [[new.md|n]]")}
    assert renamed(vault, "s/old.md", "s/new.md")["x.md"].text == "[[k/new]] [[s/new]] [[k/new.md|n]]"


def test_end_of_a_path_stays_as_long_as_it_was() -> None:
    vault = {"a/b/old.md": Source(""), "x.md": Source("[[b/old]] [[a/b/old]] [[old]]")}
    assert renamed(vault, "a/b/old.md", "a/b/new.md")["x.md"].text == "[[b/new]] [[a/b/new]] [[new]]"


def test_markdown_links_are_encoded_as_they_were() -> None:
    text = "[a](old%20n.md#h) [b](<old n.md>) ![c](old%20n) [d](%6Fld%20%6E.md)"
    vault = {"old n.md": Source(""), "x.md": Source(text)}
    assert renamed(vault, "old n.md", "né (w).md")["x.md"].text == (
        "[a](né%20%28w%29.md#h) [b](<né%20%28w%29.md>) ![c](né%20%28w%29) [d](né%20%28w%29.md)"
    )


def test_table_cell_keeps_its_backslash() -> None:
    vault = {"old.md": Source(""), "x.md": Source("| [[old\\|a]] | [[ old ]] |")}
    assert renamed(vault, "old.md", "new.md")["x.md"].text == "| [[new\\|a]] | [[ new ]] |"


def test_change_of_case_alone_is_a_rename() -> None:
    vault = {"old.md": Source("[[old]]"), "x.md": Source("[[OLD]]")}
    assert {p: s.text for p, s in renamed(vault, "old.md", "Old.md").items()} == {
        "Old.md": "[[Old]]",
        "x.md": "[[Old]]",
    }


def test_name_that_no_link_can_hold_leaves_the_link_and_tells() -> None:
    vault = {
        "old.md": Source(""),
        "x.md": Source("[[old]] [a](old.md)"),
        "y.md": Source("---\na: '[[old]]'\n---\n"),
    }
    plan = plan_rename(vault, "old.md", "n#[1].md")
    assert [edit.text for edit in plan.edits["x.md"]] == ["n%23%5B1%5D.md"]
    assert [u.path for u in plan.ambiguous] == ["x.md", "y.md"]
    assert [u.path for u in plan_rename(vault, "old.md", "it's.md").ambiguous] == ["y.md"]


def test_rename_over_a_note_that_differs_in_case_only_is_refused() -> None:
    with pytest.raises(NoteExists):
        plan_rename({"a.md": Source(""), "B.md": Source("")}, "a.md", "b.md")
    with pytest.raises(NoteExists):
        plan_rename({"a.md": Source("")}, "a.md", "b.pdf", others=["b.pdf"])


@pytest.mark.parametrize("new", ["../b.md", "/b.md", "C:/b.md", "a/../b.md", "", "./b.md", "b/"])
def test_rename_out_of_the_vault_is_refused(new: str) -> None:
    with pytest.raises(OutsideVault):
        plan_rename({"a.md": Source("")}, "a.md", new)


FOLDERS = st.sampled_from(["", "s/", "s/t/", "k/"])
NAMES = ["old", "one", "two", "Three 3", "fünf"]
PIECES = st.sampled_from(
    [
        "[[{}]]",
        "![[{}]]",
        "[[{}|old]]",
        "[[{}#old]]",
        "[[{}.md]]",
        "[x]({}.md)",
        "[x](<{}>)",
        "`[[{}]]`",
        "%%[[{}]]%%",
        "\n```\n[[{}]]\n```\n",
        "old {} ",
        "\n",
        "[[./{}]]",
        "[[../{}]]",
        "é🎉",
        "[[{}",
        "| [[{}\\|x]] |",
        "[[gone {}]]",
    ]
)
TEXTS = st.lists(st.tuples(PIECES, FOLDERS, st.sampled_from(NAMES)), max_size=12)
TOPS = st.sampled_from(["", '---\nparent: "[[old]]"\nlogs:\n  - \'[[s/old|x]]\'\n  - "[[one]]"\n---\n', "---\n---\n"])


@st.composite
def vaults(draw: st.DrawFn) -> dict[str, Source]:
    """A vault of notes whose names are unique, `old` among them."""
    vault = {}
    for name in NAMES:
        path = draw(FOLDERS) + name + ".md"
        pieces = [p.format((f + n).replace(" ", "%20") if "](" in p else f + n) for p, f, n in draw(TEXTS)]
        vault[path] = Source(draw(TOPS) + "".join(pieces))
    return vault


def path_of(vault: Mapping[str, Source], name: str) -> str:
    return next(path for path in vault if path.endswith(f"{name}.md"))


@given(vaults(), FOLDERS)
def test_rename_changes_only_targets_and_every_link_means_what_it_meant(vault: dict[str, Source], folder: str) -> None:
    old, new = path_of(vault, "old"), f"{folder}new.md"
    plan: RenamePlan = plan_rename(vault, old, new)
    after = renamed(vault, old, new)
    before_table, after_table = LinkTable(vault), LinkTable(after)
    for path, source in vault.items():
        home = new if path == old else path
        was = [*find_links(source), *find_property_links(source)]
        now = [*find_links(after[home]), *find_property_links(after[home])]
        spans = {link.target_span for link in was}
        # An alias that repeats the old name is renamed with its link.
        spans |= {Span(link.target_span.start, link.span.end - 2) for link in was if link.alias == "old"}
        assert {edit.span for edit in plan.edits.get(path, [])} <= spans
        for one, other in zip(was, now, strict=True):
            meant = before_table.resolve(one.target, path).path
            assert (one.subpath, one.embed, one.kind) == (other.subpath, other.embed, other.kind)
            assert other.alias == one.alias or (meant, one.alias, other.alias) == (old, "old", "new")
            if meant is not None:
                assert after_table.resolve(other.target, home).path == (new if meant == old else meant)
    assert plan.ambiguous == []


@given(vaults())
def test_rename_there_and_back_changes_nothing(vault: dict[str, Source]) -> None:
    old = path_of(vault, "old")
    new = old.replace("old.md", "new.md")
    assert renamed(renamed(vault, old, new), new, old) == vault


def test_a_sessions_history_takes_no_link_from_it() -> None:
    table = LinkTable(["history/x.md", "sessions/x.md", "history/y.md"])
    assert table.resolve("x", "projects/shop.md").path == "sessions/x.md"
    assert not table.resolve("x", "projects/shop.md").ambiguous
    assert table.resolve("history/x", "projects/shop.md").path == "history/x.md"
    assert table.resolve("y", "projects/shop.md").path == "history/y.md"
