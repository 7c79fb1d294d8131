"""What a project's profile says at first: taken from its README, its manifests, its folders, and what it asks of people who work on it.

All of it is foreign text, contained as in any note.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from crucible.commands.briefing.project_files import read_text
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import contain, cut, normal_line
from crucible.documents.markdown.frontmatter import render_frontmatter
from crucible.documents.session.markup import render_title

__all__ = ["propose"]

_READMES = ("README.md", "README.rst", "README.txt", "README", "readme.md")
_RULES = ("CONTRIBUTING.md", "AGENTS.md", "CLAUDE.md", ".github/CONTRIBUTING.md", "docs/CONTRIBUTING.md")
_MANIFESTS = {
    "pyproject.toml": "Python",
    "package.json": "JavaScript",
    "Cargo.toml": "Rust",
    "go.mod": "Go",
    "Makefile": "",
}
"""With the language that each stands for."""
_HEADINGS = ("Purpose", "Languages", "Commands", "Layout", "Conventions")
_SKIPPED = frozenset({"node_modules", "target", "dist", "build", "vendor", "venv", "__pycache__"})
_LINE, _MOST, _SHORTEST = 240, 15, 20
_RULE = late_pattern(
    r"(?m)^##+[ \t]+(\S[^\n]*)\n(?:[ \t]*\n)*(?![#`~])(?:[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+)?([^\n]*)"
)
"""A heading below the title, and the first thing below it."""
_CODE = late_pattern(r"(?ms)^(```|~~~).*?^\1")
_TARGET = late_pattern(r"(?m)^([A-Za-z][\w.-]*)[ \t]*:(?![=:])")
_NO_PROSE = ("#", "=", "-", "`", "|", ".", ">")
_NOISE = late_pattern(r"!?\[[^\[\]]*\]\([^()]*\)|<[^<>]*>")
"""Links, pictures and tags; none within another, so that a line of brackets alone is looked at once."""


class Proposal(NamedTuple):
    """A note's whole text, and the files that it was made from, seen from the project's folder."""

    text: str
    sources: tuple[str, ...]


def propose(folder: Path, project: str, tidy: Callable[[str], str]) -> Proposal | None:
    """A profile for the project in the folder; None if nothing there says anything.  `tidy` takes out secrets and paths."""
    told: dict[str, list[str]] = {heading: [] for heading in _HEADINGS}
    sources: list[str] = []
    for name in (*_READMES, *_MANIFESTS, *_RULES):
        text = "" if name in _READMES and told["Purpose"] else read_text(folder, name) or ""
        said = [*_said(name, text.replace("\r\n", "\n"))] if text else []
        sources += [name] if said else []
        for heading, line in said:
            told[heading].append(line)
    if not sources:
        return None
    names = sorted(one.name for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
    told["Layout"] = [f"{name}/" for name in names if name not in _SKIPPED and not name.startswith(".")]
    blocks = [render_title(normal_line(project) or "Project")]
    for heading, lines in told.items():
        clean = (normal_line(tidy(line)) for line in dict.fromkeys(lines[:_MOST]))
        shown = "\n".join(f"- {contain(cut(line, _LINE))}" for line in clean if line)
        blocks += [f"## {heading}\n\n{shown}"] if shown else []
    head = render_frontmatter({"type": "project", "project": normal_line(project), "proposed_from": [*sources]})
    return Proposal(head + "\n" + "\n\n".join(blocks) + "\n", tuple(sources))


def _said(name: str, text: str) -> Iterator[tuple[str, str]]:
    """A file's lines, each with its heading."""
    if name in _RULES:
        for heading, first in _RULE.findall(_CODE.sub("", text)):
            yield "Conventions", ": ".join(filter(None, (heading.rstrip(" \t#"), first)))
    elif name in _READMES:
        yield from (("Purpose", said) for said in islice(_paragraphs(text), 1))
    elif name == "Makefile":
        yield from (("Commands", f"make {target}") for target in dict.fromkeys(_TARGET.findall(text)))
    elif (table := _table(text)) or name == "go.mod":
        parts = (one for key in ("project", "package") if isinstance(one := table.get(key), dict))
        project = next(parts, table)
        yield "Languages", "TypeScript" if '"typescript"' in text else _MANIFESTS[name]
        if isinstance(about := project.get("description"), str):
            yield "Purpose", about
        if isinstance(scripts := project.get("scripts"), dict):
            run = "npm run " if name == "package.json" else ""
            yield from (("Commands", f"{run}{script} ({does})") for script, does in scripts.items())


def _paragraphs(text: str) -> Iterator[str]:
    """Those that say something: no heading, no badges, no picture."""
    for paragraph in text.split("\n\n"):
        lines = (line for line in paragraph.split("\n") if not line.startswith(_NO_PROSE))
        said = " ".join(_NOISE.sub("", _NOISE.sub("", " ".join(lines))).split())
        if len(said) > _SHORTEST:
            yield said


def _table(text: str) -> dict[str, Any]:
    """A manifest in TOML or JSON; empty for any other text."""
    for loads in (orjson.loads, tomllib.loads):
        with suppress(ValueError, RecursionError):
            found = loads(text)
            return found if isinstance(found, dict) else {}
    return {}
