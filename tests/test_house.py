"""The house's own rules, kept by reading the code: floors, names, sizes, documentation."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import crucible
from crucible.cli.main import COMMANDS, GROUPS, build_root
from crucible.cli.reference import describe

PACKAGE = Path(crucible.__file__).parent
ROOT = PACKAGE.parent

FLOORS = [
    {
        "",
        "errors",
        "lifecycle_settings",
        "patterns",
        "processes",
        "rendering",
        "settings",
        "tidy_toml",
        "tokens",
        "toml",
        "toon",
        "trust",
        "agents",
        "templates",
        "secrets",
    },
    {"note", "transcript"},
    {"session", "workflow"},
    {"vault", "flight", "index", "installing"},
    {"acts", "asking", "bookmarks", "brief", "findings", "recall", "knowledge", "history", "tasks", "inbox"},
    {
        "importing",
        "checking",
        "renaming",
        "resume",
        "codify",
        "execution",
        "cases",
        "briefing",
        "capture",
        "idling",
        "doctor",
        "record",
    },
    {"cli", "hooks", "mcp", "web", "__main__"},
]
APART = [{"note", "transcript"}, *[{a, b} for a in FLOORS[5] for b in FLOORS[5] if a < b]]
"""Rooms of one floor that never import each other, in either direction."""

LATE = {
    "crucible.index.reading": {"crucible.index.deriving"},
    "crucible.__main__": {"crucible.hooks.claude_code", "crucible.cli.main"},
    "crucible.hooks.claude_code": {"crucible.settings", "crucible.hooks.greeting"},
    "crucible.cli.resuming": {"crucible.cli.continuing"},
    "crucible.cli.surroundings": {"crucible.cli.unfinished"},
    "crucible.cli.recalling": {"crucible.knowledge.changing"},
    "crucible.cli.tasks": {"crucible.cli.recall_opening"},
    "crucible.cli.recall_opening": {"crucible.recall.postgres", "crucible.recall.postgres_address"},
    "crucible.hooks.greeting": {"crucible.hooks.noticing", "crucible.hooks.briefing"},
    "crucible.hooks.noticing": {"crucible.resume.context"},
    "crucible.knowledge.shelving": {"crucible.knowledge.keeping"},
    "crucible.hooks.starting": {"crucible.hooks.syncing"},
    "crucible.idling.noticing": {"crucible.idling.timing_out"},
    "crucible.mcp.server": {"crucible.mcp.desk"},
    "crucible.recall.gathering": {"crucible.recall.deriving"},
    "crucible.recall.noticing": {"crucible.index.store"},
    "crucible.recall.refreshing": {"crucible.recall.deriving"},
    "crucible.recall.rereading": {"crucible.recall.deriving", "crucible.recall.records"},
    "crucible.vault.store": {"crucible.session.reading"},
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


def _room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def _floor(room: str) -> int:
    return next(n for n, rooms in enumerate(FLOORS) if room in rooms)


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


def _ours(tree: ast.AST) -> set[str]:
    return {name for name, _ in _imports(tree) if name.split(".")[0] == "crucible" and name != "crucible"}


def test_every_room_stands_on_a_floor() -> None:
    rooms = set().union(*FLOORS)
    wrong = [_name(path) for path in _modules() if _room(_name(path)) not in rooms]
    assert not wrong, "\n".join(wrong)


def test_a_module_imports_only_from_the_floors_below_or_its_own_room() -> None:
    wrong = [
        f"{_name(path)} imports {name}: {why}"
        for path in _modules()
        for name in sorted(_ours(_tree(path)))
        if (why := _forbids(_room(_name(path)), _room(name)))
    ]
    assert not wrong, "\n".join(wrong)


def _forbids(here: str, there: str) -> str:
    """Why one room may not import the other, or nothing."""
    if there == here:
        return ""
    if _floor(there) > _floor(here):
        return f"{here} stands below {there}"
    if {here, there} in APART:
        return f"{here} and {there} never import each other"
    joins = here == "__main__" or (here, there) in {("cli", "hooks"), ("cli", "mcp")}
    return "nobody imports a door" if there in FLOORS[-1] and not joins else ""


def test_modules_import_each_other_without_a_circle() -> None:
    graph = {_name(p): _ours(_tree(p)) for p in _modules()}
    done: set[str] = set()

    def visit(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, " → ".join([*above, module])
        if module not in done:
            for other in graph.get(module, ()):
                visit(other, (*above, module))
            done.add(module)

    for module in graph:
        visit(module, ())


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
    inside = (n for n in ast.walk(_tree(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return [(name, statement.lineno) for node in inside for name, statement in _imports(node)]


def test_no_module_has_a_name_that_says_nothing() -> None:
    parts = {part for path in _modules() for part in path.relative_to(PACKAGE).with_suffix("").parts}
    assert not parts & FORBIDDEN


def test_a_module_says_what_it_owns_and_what_it_offers() -> None:
    silent = [_name(path) for path in _modules() if not ast.get_docstring(_tree(path))]
    assert not silent, "\n".join(silent)
    closed = [_name(p) for p in _modules() if p.name != "__init__.py" and not _offers(_tree(p))]
    assert not closed, "\n".join(closed)


def _offers(tree: ast.Module) -> bool:
    named = [t.id for n in tree.body if isinstance(n, ast.Assign | ast.AnnAssign) for t in _targets(n)]
    return "__all__" in named


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.Name]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [t for t in targets if isinstance(t, ast.Name)]


def test_every_name_that_a_module_offers_is_there() -> None:
    for info in pkgutil.walk_packages([str(PACKAGE)], "crucible."):
        if info.name == "crucible.__main__":
            continue
        module = importlib.import_module(info.name)
        missing = [n for n in getattr(module, "__all__", ()) if not hasattr(module, n)]
        assert not missing, info.name


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


def test_only_the_doors_know_click() -> None:
    for path in _modules():
        if "click" in {name.split(".")[0] for name, _ in _imports(_tree(path))}:
            assert _room(_name(path)) == "cli"


def test_only_the_outline_and_the_terminal_know_a_markdown_parser() -> None:
    users = {_name(p) for p in _modules() if any(n.startswith("markdown_it") for n, _ in _imports(_tree(p)))}
    assert {_room(u) for u in users} <= {"note"}


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
        for param in root.load(entry.target).params:  # type: ignore[attr-defined]
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
