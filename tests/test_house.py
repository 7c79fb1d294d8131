"""What the code keeps to that neither ruff nor import-linter can check: late imports, names, sizes, documentation."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import crucible
from crucible.cli.command_table import COMMANDS, GROUPS
from crucible.cli.group import build_root, load_command
from crucible.cli.reference import describe
from tests.cases import for_each

PACKAGE = Path(crucible.__file__).parent
ROOT = PACKAGE.parent

LATE = {
    "crucible.core.batches": {"crucible.core.vault_copies"},
    "crucible.core.processes": {"crucible.core.cluster"},
    "crucible.search.embedded.documents": {"crucible.core.vault_copies"},
    "crucible.memory.bookmarks.make_bookmark": {"crucible.clients.registry"},
    "crucible.vault.index.index": {"crucible.vault.index.note_rows"},
    "crucible.documents.markdown.wikilinks": {
        "crucible.documents.markdown.frontmatter",
        "crucible.documents.markdown.hidden_ranges",
    },
    "crucible.search.embedded.embedded_recall": {"crucible.search.embedded.near_table"},
    "crucible.__main__": {
        "crucible.integrations.hooks.client_hook",
        "crucible.integrations.hooks.status_line",
        "crucible.cli.main",
    },
    "crucible.integrations.hooks.status_line": {"crucible.integrations.hooks.week_costs"},
    "crucible.integrations.hooks.client_hook": {
        "crucible.core.settings.settings",
        "crucible.integrations.hooks.start_context",
    },
    "crucible.cli.options": {
        "crucible.core.settings.settings",
        "crucible.core.settings.toml_scan",
        "crucible.vault.index.time_filters",
        "crucible.core.buckets",
        "crucible.core.cluster",
        "crucible.core.processes",
    },
    "crucible.cli.session_list": {"crucible.core.prices.price_list", "crucible.vault.index.costs"},
    "crucible.cli.session_resume": {"crucible.cli.session_continue"},
    "crucible.cli.session_show": {"crucible.cli.session_bookmarks", "crucible.documents.workflow.graph_diagrams"},
    "crucible.cli.environment": {
        "crucible.clients.launch.session_marks",
        "crucible.commands.delete.delete",
        "crucible.commands.rename.rename",
        "crucible.vault.notes.known_projects",
        "crucible.vault.notes.vault",
    },
    "crucible.cli.status_page": {"crucible.cli.first_vault"},
    "crucible.cli.import_command": {"crucible.cli.import_run"},
    "crucible.cli.vault_watch": {"crucible.integrations.live.client_watch"},
    "crucible.cli.id_arguments": {
        "crucible.cli.id_choices",
        "crucible.vault.index.index_draft",
        "crucible.vault.index.index_files",
        "crucible.vault.index.schema",
    },
    "crucible.cli.recall_command": {"crucible.memory.knowledge.item_status"},
    "crucible.cli.task_commands": {"crucible.cli.recall_engine"},
    "crucible.cli.client_entry": {"crucible.integrations.mcp.server"},
    "crucible.cli.lake_commands": {
        "crucible.commands.lake.lake_export",
        "crucible.commands.lake.lake_inputs",
        "crucible.commands.lake.lake_query",
        "crucible.commands.lake.lake_store",
    },
    "crucible.cli.web_command": {"crucible.web.web_server"},
    "crucible.clients.codex.files": {"crucible.core.zstd"},
    "crucible.clients.zed.logs": {"crucible.core.zstd"},
    "crucible.vault.events.archive_blocks": {"crucible.core.zstd"},
    "crucible.vault.events.event_archive": {"crucible.core.zstd"},
    "crucible.cli.recall_engine": {"crucible.search.team_servers", "crucible.search.team.team_address"},
    "crucible.integrations.hooks.start_context": {
        "crucible.integrations.hooks.paused_notice",
        "crucible.integrations.hooks.start_briefing",
    },
    "crucible.integrations.hooks.paused_notice": {
        "crucible.commands.resume.material_gathering",
        "crucible.commands.resume.resume_context",
    },
    "crucible.memory.knowledge.knowledge_search": {"crucible.memory.knowledge.knowledge_folder"},
    "crucible.integrations.hooks.background": {"crucible.integrations.hooks.sync"},
    "crucible.commands.idle.idle_check": {"crucible.commands.idle.idle_timeout", "crucible.vault.index.schema"},
    "crucible.integrations.mcp.server": {"crucible.integrations.mcp.tool_service"},
    "crucible.search.embedded.index_update": {"crucible.search.embedded.documents", "crucible.vault.index.index"},
    "crucible.search.embedded.hits": {"crucible.search.embedded.documents", "crucible.search.event_records"},
    "crucible.vault.notes.vault": {"crucible.documents.session.session_reader"},
}
"""Who, beside the command line, may import what of ours late: a query of an index that is true reads no note, a hook
costs next to nothing, a context is printed without what a client's start takes, what a hook starts notes even that it
cannot be loaded, a command in whose vault nothing is quiet need not know how it would be paused, and a server for agents is there before its
first call."""

FORBIDDEN = {"utils", "util", "helpers", "common", "base", "manager", "misc"}
LONGEST_FILE = 400


@cache
def _modules() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if "_templates" not in p.parts)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _imports(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    """Every imported module, wherever the statement stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or "", node
            if node.module == "crucible":
                named = [alias.name for alias in node.names if not alias.name.startswith("__")]
                yield from ((f"crucible.{name}", node) for name in named)


def test_only_named_modules_import_ours_late() -> None:
    paths = [path for path in _modules() if path != PACKAGE / "cli" / "main.py"]
    wrong = [
        f"{_name(path)}, line {line}: imports {name} late"
        for path in paths
        for name, line in _late(path)
        if name.startswith("crucible") and name not in LATE.get(_name(path), set())
    ]
    assert not wrong, "\n".join(wrong)


def test_a_late_import_says_why() -> None:
    wrong = []
    for path in _modules():
        lines = path.read_text(encoding="utf-8").split("\n")
        for _, line in _late(path) if path != PACKAGE / "cli" / "main.py" else ():
            if "#" not in lines[line - 1] and not lines[line - 2].lstrip().startswith("#"):
                wrong.append(f"{_name(path)}, line {line}")
    assert not wrong, "\n".join(wrong)


@cache
def _late(path: Path) -> list[tuple[str, int]]:
    """What the functions of a module import, and in which line."""
    if not re.search(r"^ +(?:from|import) ", path.read_text(encoding="utf-8"), re.MULTILINE):
        return []  # nothing is indented that a walk through its tree could find
    inside = (n for n in ast.walk(_tree(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return [(name, statement.lineno) for node in inside for name, statement in _imports(node)]


def test_no_module_has_a_name_that_says_nothing() -> None:
    parts = {part for path in _modules() for part in path.relative_to(PACKAGE).with_suffix("").parts}
    assert not parts & FORBIDDEN


def test_a_module_says_what_it_owns() -> None:
    silent = [_name(path) for path in _modules() if not ast.get_docstring(_tree(path))]
    assert not silent, "\n".join(silent)


def test_no_pattern_repeats_a_group_possessively() -> None:
    # Before 3.11.5 Python matches such a group wrongly (CPython issue 106052); an atomic group, `(?>(?:...)*)`, says the same everywhere.
    wrong = re.compile(r"(?<!\()\)(?:[*+?]|\{\d*,?\d*\})\+")
    assert [str(path) for path in _modules() if wrong.search(path.read_text())] == []


def test_a_file_is_short() -> None:
    sizes = {_name(path): len(path.read_text(encoding="utf-8").split("\n")) for path in _modules()}
    long = [f"{name}: {size} lines" for name, size in sizes.items() if size > LONGEST_FILE]
    assert not long, "\n".join(long)


def test_functions_are_short() -> None:
    """Counted as in the style guide: lines of the whole statement without its docstring."""
    sizes = sorted(
        _size(node)
        for path in _modules()
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert statistics.median(sizes) <= 10
    assert sizes[len(sizes) * 9 // 10] <= 30


def _size(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    total = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node):
        first = node.body[0]
        total -= (first.end_lineno or first.lineno) - first.lineno + 1
    return total


def test_one_place_turns_our_errors_into_exit_codes() -> None:
    named = "except CrucibleError as error:\n        return _complain"
    assert [p.name for p in _modules() if named in p.read_text(encoding="utf-8")] == ["main.py"]


def test_every_command_has_help_and_the_list_says_the_same() -> None:
    described = list(describe(build_root(), "cru"))
    assert {d.name.removeprefix("cru").strip() for d in described} == {"", *GROUPS, *COMMANDS}
    for one in described:
        assert len(one.help.split("\n")) > 4, one.name


def test_every_option_of_every_command_has_help() -> None:
    import click

    root = build_root()
    context = click.Context(root)
    for entry in COMMANDS.values():
        for param in load_command(entry.target).params:
            assert not isinstance(param, click.Option) or param.help, f"{entry.target} {param.name}"
    assert all(p.help for p in root.get_params(context) if isinstance(p, click.Option))


def test_the_command_reference_names_every_command_and_every_option() -> None:
    """`make docs-check` compares the whole text, whose wrapping may change with click."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for one in describe(build_root(), "cru"):
        section = page.partition(f"\n## `{one.name}`\n")[2].partition("\n## ")[0]
        assert section, one.name
        for option in re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", one.help, re.MULTILINE):
            assert option in section, f"{one.name} {option}: run make docs"


@for_each(
    ("folder", "others"),
    [("tests", "benchmarks"), ("benchmarks", "tests"), ("samples", "tests|benchmarks"), ("crucible", "samples")],
)
def test_what_tests_and_benchmarks_share_lies_in_samples(folder: str, others: str) -> None:
    """Neither imports the other, so either can be run, read or left out alone."""
    # As text: to parse all of it would take seconds.
    imports = re.compile(rf"^\s*(?:from|import) +(?:{others})\b", re.MULTILINE)
    assert [path for path in (ROOT / folder).rglob("*.py") if imports.search(path.read_text(encoding="utf-8"))] == []
