"""The files for Obsidian are valid by its documentation, and placing them never touches a file of the user."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from crucible.core.settings.settings import VaultSettings
from crucible.documents.session.note_entries import CALLOUT_KINDS
from crucible.vault.notes.init_vault import (
    APPEARANCE,
    CASES_BASE,
    KNOWLEDGE_BASE,
    OBSIDIAN_FILES,
    SESSIONS_BASE,
    SNIPPET,
    START_NOTE,
    missing_obsidian_files,
    obsidian_text,
    place_obsidian_files,
)

EXAMPLE = Path(__file__).resolve().parents[4] / "vault-example"
BASES = {SESSIONS_BASE: "sessions", CASES_BASE: "cases", KNOWLEDGE_BASE: "knowledge"}
SETTINGS = VaultSettings(fsync=False)

# --- the documented syntax of bases, from Obsidian's help (Bases syntax, Functions, Views) ------------------------------

VIEW_TYPES = {"table", "cards", "list", "map"}
VIEW_KEYS = {"type", "name", "limit", "filters", "groupBy", "order", "summaries", "sort"}
SUMMARIES = {"Average", "Min", "Max", "Sum", "Range", "Median", "Stddev", "Earliest", "Latest", "Checked", "Unchecked"}
SUMMARIES |= {"Empty", "Filled", "Unique"}
FILE_PROPERTIES = {"backlinks", "ctime", "embeds", "ext", "file", "folder", "links", "mtime", "name", "path"}
FILE_PROPERTIES |= {"properties", "size", "tags"}
FUNCTIONS = {"if", "date", "now", "today", "link", "list", "max", "min", "number", "duration"}
METHODS = {"inFolder", "hasTag", "hasLink", "hasProperty", "asLink", "toString", "round", "isEmpty", "contains"}
TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|'[^']*')|(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][\w]*)"""
    r"""|(?P<mark>==|!=|>=|<=|&&|\|\||[-+*/%!<>().,]))"""
)


def properties_in(expression: str, formulas: set[str]) -> Iterator[str]:
    """Check an expression by the documented tokens, functions and methods; yield the note's properties it names."""
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(expression.rstrip()):
        found = TOKEN.match(expression, at)
        assert found, f"no documented token at {expression[at:]!r}"
        tokens.append((found.lastgroup or "", found[found.lastgroup or 0]))
        at = found.end()
    assert sum(mark == "(" for _, mark in tokens) == sum(mark == ")" for _, mark in tokens), expression
    for place, (kind, word) in enumerate(tokens):
        before = tokens[place - 1][1] if place else ""
        after = tokens[place + 1][1] if place + 1 < len(tokens) else ""
        if kind != "name" or word in {"true", "false", "null"}:
            continue
        if before == "." and tokens[place - 2][1] == "file":
            assert word in (METHODS if after == "(" else FILE_PROPERTIES), expression
        elif before == "." and tokens[place - 2][1] == "formula":
            assert word in formulas, expression
        elif before == ".":
            assert word in METHODS, expression
            assert after == "(", expression
        elif after == "(":
            assert word in FUNCTIONS, expression
        elif word not in {"file", "formula"}:
            yield word


def expressions(filters: Any) -> Iterator[str]:
    """Yield the statements of a filter: a string, or one `and`, `or` or `not` with a list of filters."""
    if isinstance(filters, str):
        yield filters
        return
    assert isinstance(filters, dict)
    ((key, parts),) = filters.items()
    assert key in {"and", "or", "not"}
    for part in parts:
        yield from expressions(part)


def named_properties(base: dict[str, Any]) -> Iterator[str]:
    """Check a base against the documented schema; yield every property of notes that it names."""
    assert base.keys() <= {"filters", "formulas", "properties", "summaries", "views"}
    formulas = set(base.get("formulas", {}))
    shown: set[str] = set()
    statements = [*base["formulas"].values(), *expressions(base["filters"])]
    names = [view["name"] for view in base["views"]]
    assert len(set(names)) == len(names) > 0
    for view in base["views"]:
        assert view.keys() <= VIEW_KEYS
        assert view["type"] in VIEW_TYPES
        assert isinstance(view.get("limit", 1), int)
        shown |= {*view["order"], *view.get("summaries", {})}
        shown |= {sort["property"] for sort in view["sort"]}
        assert {sort["direction"] for sort in [*view["sort"], view.get("groupBy", view["sort"][0])]} <= {"ASC", "DESC"}
        shown |= {view["groupBy"]["property"]} if "groupBy" in view else set()
        assert set(view.get("summaries", {}).values()) <= SUMMARIES
        statements += expressions(view.get("filters", "true"))
    for key, options in base["properties"].items():
        assert options.keys() == {"displayName"}
        shown.add(key)
    for name in shown:
        kind, _, rest = name.rpartition(".")
        if kind == "formula":
            assert rest in formulas
        elif kind == "file":
            assert rest in FILE_PROPERTIES
        else:
            assert kind in {"", "note"}
            yield rest
    for statement in statements:
        yield from properties_in(statement, formulas)


def note_properties(folder: str) -> set[str]:
    """The properties of the example's notes in a folder."""
    texts = [path.read_text(encoding="utf-8") for path in (EXAMPLE / folder).glob("*.md")]
    return {key for text in texts for key in yaml.safe_load(re.split(r"^---\r?$", text, flags=re.MULTILINE)[1])}


RARE = {
    SESSIONS_BASE: {"archived", "pause_reason", "resume_point", "date", "title"},
    CASES_BASE: {"category"},
    KNOWLEDGE_BASE: {"failed_checks", "last_used", "retired", "retired_because"},
}
"""Properties that our notes can have, but none of the example's has."""


@pytest.mark.parametrize("name", BASES)
def test_a_base_is_valid_and_names_properties_that_our_notes_have(name: str) -> None:
    base = yaml.safe_load(obsidian_text(name, SETTINGS))
    assert set(named_properties(base)) <= note_properties(BASES[name]) | RARE[name]
    assert f'file.inFolder("{BASES[name]}")' in [*expressions(base["filters"])]


@pytest.mark.parametrize(
    "statement", ['file.inFolder("a" and', 'foo("x")', "file.size()", 'status = "x"', "formula.no"]
)
def test_the_check_of_a_base_finds_faults(statement: str) -> None:
    with pytest.raises(AssertionError):
        list(properties_in(statement, {"yes"}))


def test_a_base_shows_the_folder_and_the_age_of_the_vaults_settings() -> None:
    knowledge = SETTINGS.knowledge._replace(verify_after_days=30)
    settings = SETTINGS._replace(sessions='It\'s "mine"/logs', knowledge=knowledge)
    base = yaml.safe_load(obsidian_text(SESSIONS_BASE, settings))
    assert base["filters"]["and"][-1] == 'file.inFolder("It\'s \\"mine\\"/logs")'
    assert 'now() - "30d"' in obsidian_text(KNOWLEDGE_BASE, settings)
    everywhere = yaml.safe_load(obsidian_text(SESSIONS_BASE, SETTINGS._replace(sessions=".")))
    assert everywhere["filters"] == {"and": ['type == "session"']}


# --- the snippet -------------------------------------------------------------------------------------------------------


def test_the_snippet_has_each_color_for_new_and_for_older_obsidian() -> None:
    css = obsidian_text(SNIPPET, SETTINGS)
    colors = re.findall(r'"(\w+)"\] \{\n  --crucible-rgb: (\d+), (\d+), (\d+);\n  --callout-color: #(\w{6});\n', css)
    assert {kind for kind, *_ in colors} == {*CALLOUT_KINDS, "findings"}
    for _, *rgb, color in colors:
        assert "".join(f"{int(part):02x}" for part in rgb) == color
    for kind, *_ in colors:
        assert css.count(f'[data-callout="{kind}"]') >= 3
    assert css.count("{") == css.count("}")


def test_the_snippet_is_enabled_by_name() -> None:
    assert json.loads(obsidian_text(APPEARANCE, SETTINGS)) == {"enabledCssSnippets": [Path(SNIPPET).stem]}


# --- placing -----------------------------------------------------------------------------------------------------------


def test_missing_files_are_created_once(tmp_path: Path) -> None:
    assert missing_obsidian_files(tmp_path) == [*OBSIDIAN_FILES]
    assert place_obsidian_files(tmp_path, SETTINGS) == [tmp_path / name for name in OBSIDIAN_FILES]
    assert missing_obsidian_files(tmp_path) == []
    assert place_obsidian_files(tmp_path, SETTINGS) == []


def test_an_existing_file_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    for name in (APPEARANCE, START_NOTE, SESSIONS_BASE):
        (tmp_path / name).write_text("mine")
    (tmp_path / CASES_BASE).symlink_to("nowhere")
    assert place_obsidian_files(tmp_path, SETTINGS) == [tmp_path / KNOWLEDGE_BASE, tmp_path / SNIPPET]
    for name in (APPEARANCE, START_NOTE, SESSIONS_BASE):
        assert (tmp_path / name).read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_the_start_note_links_to_files_that_are_placed_with_it() -> None:
    text = obsidian_text(START_NOTE, SETTINGS)
    links = re.findall(r"\[\[([^]|#]+)(?:#([^]|]+))?", text)
    assert {target for target, _ in links} == {*BASES}
    views = {view["name"] for view in yaml.safe_load(obsidian_text(SESSIONS_BASE, SETTINGS))["views"]}
    assert {view for _, view in links if view} <= views
