"""What a project's profile says at first: taken from its README, its manifests, its folders, and what it asks of who works on it.

Owns which files are looked at and what of them counts.  All of it is foreign text, contained as in any note.
"""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from crucible.briefing.files import read_text
from crucible.note.contain import contain, cut, normal_line
from crucible.note.frontmatter import render_frontmatter
from crucible.note.scalars import Value
from crucible.patterns import late_pattern
from crucible.session.markup import render_title

__all__ = ["Proposal", "propose"]

_READMES = ("README.md", "README.markdown", "README.rst", "README.txt", "README", "readme.md")
_RULES = ("CONTRIBUTING.md", "AGENTS.md", "CLAUDE.md", ".github/CONTRIBUTING.md", "docs/CONTRIBUTING.md")
_SKIPPED = frozenset(
    {"node_modules", "target", "dist", "build", "vendor", "venv", "__pycache__", "site-packages"}
)
_LANGUAGES = {
    ".py": "Python", ".rs": "Rust", ".go": "Go", ".ts": "TypeScript", ".tsx": "TypeScript", ".js": "JavaScript", ".jsx": "JavaScript",
    ".mjs": "JavaScript", ".rb": "Ruby", ".java": "Java", ".kt": "Kotlin", ".swift": "Swift", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++",
    ".hpp": "C++", ".cs": "C#", ".php": "PHP", ".ex": "Elixir", ".exs": "Elixir", ".erl": "Erlang", ".hs": "Haskell", ".scala": "Scala",
    ".clj": "Clojure", ".sh": "Shell", ".sql": "SQL", ".lua": "Lua", ".dart": "Dart", ".zig": "Zig", ".ml": "OCaml", ".jl": "Julia", ".r": "R",
    ".vue": "Vue", ".svelte": "Svelte",
}  # fmt: skip
_MOST_LOOKED = 3_000
_LINE = 240
_ITEM = late_pattern(r"[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(.*)")
_HEADING = late_pattern(r"#{1,6}[ \t]+(.*)\Z")
_TARGET = late_pattern(r"([A-Za-z][\w.-]*)[ \t]*:(?![=:])")
_NOISE = late_pattern(r"!?\[[^\[\]]*\]\([^()]*\)|<[^<>]*>")
"""Links, pictures and tags; none within another, so that a line of brackets alone is looked at once."""


class Proposal(NamedTuple):
    """A note's whole text, and the files that it was made from, seen from the project's folder."""

    text: str
    sources: tuple[str, ...]


class _Told(NamedTuple):
    purpose: list[str]
    languages: list[str]
    commands: list[str]
    layout: list[str]
    conventions: list[str]
    sources: list[str]


def propose(folder: Path, project: str, tidy: Callable[[str], str]) -> Proposal | None:
    """A profile for the project in the folder; None where nothing there tells anything.  `tidy` takes out secrets and paths."""
    told = _Told([], [], [], [], [], [])
    _read_readme(folder, told)
    for name, read in _MANIFESTS.items():
        text = read_text(folder, name)
        if text is not None and read(text, told):
            told.sources.append(name)
    _read_rules(folder, told)
    if not told.sources:
        return None
    _look_around(folder, told)
    return Proposal(_text(project, told, tidy), tuple(told.sources))


def _text(project: str, told: _Told, tidy: Callable[[str], str]) -> str:
    values: dict[str, Value] = {
        "type": "project",
        "project": normal_line(project),
        "proposed_from": [*told.sources],
    }
    blocks = [render_title(normal_line(project) or "Project")]
    for heading, lines in (
        ("Purpose", told.purpose),
        ("Languages", [", ".join(dict.fromkeys(told.languages))] if told.languages else []),
        ("Commands", told.commands[:12]),
        ("Layout", told.layout[:15]),
        ("Conventions", told.conventions[:15]),
    ):
        shown = [
            contain(cut(one, _LINE)) for line in dict.fromkeys(lines) if (one := normal_line(tidy(line)))
        ]
        if shown:
            bullets = shown if heading in ("Purpose", "Languages") else [f"- {line}" for line in shown]
            blocks.append(f"## {heading}\n\n" + "\n".join(bullets))
    return render_frontmatter(values) + "\n" + "\n\n".join(blocks) + "\n"


# --- what is read ----------------------------------------------------------------------------------------------------


def _read_readme(folder: Path, told: _Told) -> None:
    """The first paragraph that says something: no heading, no badges, no picture."""
    for name in _READMES:
        text = read_text(folder, name)
        if text is None:
            continue
        for paragraph in text.replace("\r\n", "\n").split("\n\n"):
            lines = [
                line
                for line in paragraph.split("\n")
                if not line.startswith(("#", "=", "-", "```", "|", "..", ">"))
            ]
            said = " ".join(_NOISE.sub("", _NOISE.sub("", " ".join(lines))).split())
            if len(said) > 20:
                told.purpose.append(said)
                told.sources.append(name)
                return


def _read_pyproject(text: str, told: _Told) -> bool:
    table = _toml(text)
    project = _map(table.get("project")) or _map(_map(table.get("tool")).get("poetry"))
    if not table:
        return False
    _add_purpose(told, project.get("description"))
    told.languages.append(
        "Python" + (f" {wanted}" if isinstance(wanted := project.get("requires-python"), str) else "")
    )
    told.commands.extend([f"{name} ({goes})" for name, goes in _map(project.get("scripts")).items()])
    return True


def _read_package(text: str, told: _Told) -> bool:
    try:
        table = _map(orjson.loads(text))
    except ValueError:
        return False
    _add_purpose(told, table.get("description"))
    told.languages.append("TypeScript" if "typescript" in text else "JavaScript")
    told.commands.extend([f"npm run {name} ({does})" for name, does in _map(table.get("scripts")).items()])
    return True


def _read_cargo(text: str, told: _Told) -> bool:
    table = _toml(text)
    _add_purpose(told, _map(table.get("package")).get("description"))
    told.languages.append("Rust")
    told.commands.extend(["cargo build", "cargo test"])
    return bool(table)


def _read_go(text: str, told: _Told) -> bool:
    version = next(
        (line.split()[1] for line in text.split("\n") if line.startswith("go ") and len(line.split()) > 1), ""
    )
    told.languages.append(f"Go {version}".strip())
    told.commands.extend(["go build ./...", "go test ./..."])
    return True


def _read_makefile(text: str, told: _Told) -> bool:
    targets = [found[1] for line in text.split("\n") if (found := _TARGET.match(line))]
    told.commands.extend([f"make {name}" for name in dict.fromkeys(targets)])
    return bool(targets)


_MANIFESTS: Mapping[str, Callable[[str, _Told], bool]] = {
    "pyproject.toml": _read_pyproject,
    "package.json": _read_package,
    "Cargo.toml": _read_cargo,
    "go.mod": _read_go,
    "Makefile": _read_makefile,
}


def _add_purpose(told: _Told, said: object) -> None:
    if isinstance(said, str) and said.strip() and not any(said.strip() in one for one in told.purpose):
        told.purpose.append(said)


def _read_rules(folder: Path, told: _Told) -> None:
    """Each heading with the first thing that stands below it."""
    for name in _RULES:
        text = read_text(folder, name)
        if text is None:
            continue
        found = [
            f"{heading}: {first}" if first else heading
            for heading, first in _headings(text.replace("\r\n", "\n").split("\n"))
        ]
        if found:
            told.conventions.extend(found)
            told.sources.append(name)


def _headings(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    heading, is_code, is_title = "", False, True
    for line in lines:
        if line.startswith(("```", "~~~")):
            is_code = not is_code
        elif is_code or not line.strip():
            continue
        elif found := _HEADING.match(line):
            if heading:
                yield heading, ""
            # The first one of level 1 is the file's title.
            heading = "" if is_title and line.startswith("# ") else found[1].rstrip(" \t#")
            is_title = False
        elif heading:
            item = _ITEM.match(line)
            yield heading, item[1] if item else line
            heading = ""
    if heading:
        yield heading, ""


def _look_around(folder: Path, told: _Told) -> None:
    """The folders at the top, and in which languages most files of the first levels are written."""
    count: Counter[str] = Counter()
    looked = 0
    top = Path(os.path.realpath(folder))
    for place, folders, names in os.walk(top):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _SKIPPED)
        if Path(place) == top:
            told.layout.extend(f"{one}/" for one in folders)
        if len(Path(place).relative_to(top).parts) >= 3:
            folders.clear()
        looked += len(names)
        count.update(
            _LANGUAGES[end] for name in names if (end := os.path.splitext(name)[1].lower()) in _LANGUAGES
        )
        if looked > _MOST_LOOKED:
            break
    known = {one.partition(" ")[0] for one in told.languages}
    told.languages.extend(name for name, _ in count.most_common(4) if name not in known)


def _toml(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
