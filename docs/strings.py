"""The texts that Crucible shows to users and agents, listed by file for review.

python docs/strings.py            write tests/data/strings.txt
python docs/strings.py --check    exit 1 when the list is not current
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "data" / "strings.txt"
PACKAGE = ROOT / "crucible"
FILES = (
    *sorted((ROOT / "templates").glob("*.j2")),
    *sorted((PACKAGE / "vault" / "notes" / "obsidian_files").glob("*.md")),
)
"""Texts that are files."""

NOT_SHOWN = (
    "analysis/findings/observed_calls.py",
    "analysis/tools/",
    "clients/claude_code/call_results.py",
    "clients/codex/call_results.py",
    "clients/gemini/call_results.py",
    "clients/gemini/texts.py",
    "clients/opencode/call_results.py",
    "commands/codify/step_commands.py",
    "core/secrets/assignments.py",
    "core/secrets/command_passwords.py",
    "core/secrets/rule.py",
    "core/secrets/secret_",
    "core/secrets/shapes_of_secrets.py",
    "core/secrets/table_layouts.py",
    "documents/recording/command_output.py",
    "search/clickhouse/clickhouse_push.py",
    "search/clickhouse/clickhouse_queries.py",
    "search/postgres/server_queries.py",
    "search/question_words.py",
)
"""Modules whose strings are patterns, queries and words to look for."""

_WORDS = re.compile(r"[A-Za-z]{2,}[^A-Za-z]+[A-Za-z]{2,}")
_CODE = re.compile(
    r"\(\?|\[\^|\\[bdswAZ]|\[ ?\\t|\*\$|^(Callable|Mapping|Sequence|tuple|list|dict)\["
    r"|\b(SELECT|INSERT INTO|CREATE|DELETE FROM|ORDER BY|GROUP BY|AND) |^\S+( \| \S+)+$|^[*#]{3} |%\(\w+\)s"
)
"""Patterns, annotations and SQL."""


def user_strings(source: str) -> Iterator[str]:
    """Yield the texts of a module in their order: messages, options' helps, and the docstrings of commands and tools."""
    tree = ast.parse(source)
    below = _below(tree)
    commands = {node for node in below if _is_help(node, source)}
    helps = {s.value for node in commands for s in node.body[:1] if isinstance(s, ast.Expr)}  # type: ignore[attr-defined]
    for node in _walk(tree, set(_hidden(below, commands)), below):
        text = _text(node)
        if text and " " in text.strip() and _WORDS.search(text) and (node in helps or not _CODE.search(text)):
            lines = (line.strip(" \b").removeprefix("\\b") for line in text.strip().split("\n"))
            yield "\n".join(line for line in lines if line)


def _below(tree: ast.AST) -> dict[ast.AST, list[ast.AST]]:
    """The children of each node, in the order of the source.  `ast.walk` takes three times as long."""
    below: dict[ast.AST, list[ast.AST]] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        below[node] = found = []
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [part for part in value if isinstance(part, ast.AST)]
        waiting += found
    return below


def _walk(tree: ast.AST, hidden: set[ast.AST], below: Mapping[ast.AST, Sequence[ast.AST]]) -> Iterator[ast.AST]:
    """Yield what is below a node, in the order of the source; of the parts of an f-string only those in placeholders."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if node is not tree:
            yield node
        parts = below[node]
        if isinstance(node, ast.JoinedStr):
            parts = [part for value in node.values for part in below[value]]
        waiting += [part for part in reversed(parts) if part not in hidden]


def _hidden(nodes: Iterable[ast.AST], commands: Collection[ast.AST]) -> Iterator[ast.AST]:
    """Yield docstrings that are not shown, arguments of `re`, and lists of words to split."""
    for node in nodes:
        body = getattr(node, "body", None)
        if isinstance(body, list) and node not in commands:
            yield from (s for s in body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if node.func.attr == "split" or (isinstance(owner, ast.Name) and owner.id == "re"):
                yield node


def _is_help(node: ast.AST, source: str) -> bool:
    """True for a command's function, and for a tool of the MCP server: a function in a function."""
    if not isinstance(node, ast.FunctionDef):
        return False
    marks = " ".join(map(ast.unparse, node.decorator_list))
    if "command" in marks or "_logs" in marks:
        return True
    return node.col_offset > 0 and "return service()." in source and "return service()." in ast.unparse(node)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            "{" + ast.unparse(part.value) + "}" if isinstance(part, ast.FormattedValue) else _text(part)
            for part in node.values
        )
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def list_strings() -> str:
    """Return the list: a heading for each file, then its texts without repetitions."""
    sections = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).as_posix().startswith(NOT_SHOWN):
            continue
        texts = dict.fromkeys(user_strings(path.read_text(encoding="utf-8")))
        sections.append((path, [text.replace("\n", "\n  ") for text in texts]))
    sections.extend((path, path.read_text(encoding="utf-8").rstrip().split("\n")) for path in FILES)
    shown = (f"# {path.relative_to(ROOT)}\n\n" + "\n".join(texts) for path, texts in sections if texts)
    return "\n\n".join(shown) + "\n"


def main() -> None:
    """Write the list, or compare it."""
    text = list_strings()
    if "--check" not in sys.argv:
        LIST.write_text(text, encoding="utf-8")
    elif not LIST.is_file() or LIST.read_text(encoding="utf-8") != text:
        sys.exit(f"{LIST.relative_to(ROOT)} is not current: run python docs/strings.py")


if __name__ == "__main__":
    main()
