"""Parse a note without our own reader: with markdown-it and regular expressions, as any other program would.

It uses no code of `crucible`, and what it finds must agree with the scenario nevertheless.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt


@dataclass(frozen=True)
class PlainNote:
    """`phases` are the level-2 headings except the summary; `calls` are pairs of a line and a mark ("" for success)."""

    frontmatter: str
    headings: tuple[tuple[str, str], ...]
    callouts: tuple[str, ...]
    calls: tuple[tuple[str, str], ...]
    links: frozenset[str]
    embeds: frozenset[str]
    comments: int
    html: tuple[str, ...]
    fences: tuple[str, ...]
    rules: int

    @property
    def phases(self) -> tuple[str, ...]:
        return tuple(text for tag, text in self.headings if tag == "h2" and text != "Summary")


_CALL = re.compile(r"^- (`+)(?P<call>.*?[^`])\1 → ?(?P<mark>❌|🚫|⏹|⏳)?", re.MULTILINE)


def look_at(text: str) -> PlainNote:
    """Take a whole note apart."""
    assert text.startswith("---\n")
    frontmatter, _, body = text[4:].partition("\n---\n")
    tokens = MarkdownIt("commonmark").parse(body)
    lines = body.split("\n")
    headings, callouts, html, fences, rules = [], [], [], [], 0
    for at, token in enumerate(tokens):
        match token.type:
            case "heading_open":
                headings.append((token.tag, tokens[at + 1].content))
            case "blockquote_open" if token.map and token.level == 0:
                kind = re.match(r"> ?\[!(\w+)\]", lines[token.map[0]])
                callouts.append(kind[1].lower() if kind else "")
            case "html_block":
                html.append(token.content)
            case "fence" | "code_block":
                fences.append(token.info)
            case "hr":
                rules += 1
            case "inline":
                html += [child.content for child in token.children or [] if child.type == "html_inline"]
    bare = _without_code(body)
    return PlainNote(
        frontmatter=frontmatter,
        headings=tuple(headings),
        callouts=tuple(callouts),
        calls=tuple((m["call"].strip(" "), m["mark"] or "") for m in _CALL.finditer(_called(body))),
        links=frozenset(re.findall(r"(?<!!)\[\[([^\[\]]*)\]\]", bare)),
        embeds=frozenset(re.findall(r"!\[\[([^\[\]]*)\]\]", bare)),
        comments=bare.count("%%"),
        html=tuple(html),
        fences=tuple(fences),
        rules=rules,
    )


def _called(body: str) -> str:
    """The lists under `**Tool calls:**`."""
    parts = re.findall(r"^\*\*Tool calls:\*\*\n((?:- .*\n?)+)", body, re.MULTILINE)
    return "\n".join(part.rstrip("\n") for part in parts)


def _without_code(body: str) -> str:
    """Fences and code spans taken out, as they show what is no mark."""
    body = re.sub(r"^( *)(`{3,}|~{3,}).*?^\1\2`*[ ]*$", "", body, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(?<![`\\])(`+)(?!`)[^\n]*?[^`\n]\1(?!`)", "", body)
