"""Draw the README's picture of a vault: a note of the example vault as Obsidian's reading view shows it.

python docs/vault_picture.py            write docs/images/vault.png
python docs/vault_picture.py --dark     write it in Obsidian's dark colors

Needs Chromium.  The page has Obsidian's classes for properties, callouts and tasks, and the snippet of `cru init`.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from markdown_it import MarkdownIt

from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.line_scan import read_callout
from crucible.documents.markdown.source import Source

ROOT = Path(__file__).resolve().parent.parent
NOTE = ROOT / "vault-example" / "sessions" / "2026-11-20-move-avatars-to-object-storage.md"
SNIPPET = ROOT / "crucible" / "vault" / "notes" / "obsidian_files" / "crucible.css"
PICTURE = ROOT / "docs" / "images" / "vault.png"
SIZE = (860, 1078)
SHOWN = ("title", "date", "status", "project", "branch", "participants", "model", "tokens_used", "tags")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
STYLE = """
body { --bg: #fff; --text: #222; --muted: #6b6b6b; --line: #e3e3e3; --code: #f4f4f4; --accent: #7852ee;
  background: var(--bg); color: var(--text); font: 15px/1.5 ui-sans-serif, system-ui, "DejaVu Sans", sans-serif; margin: 28px 40px; }
body.theme-dark { --bg: #1e1e1e; --text: #dadada; --muted: #999; --line: #363636; --code: #2a2a2a; --accent: #a68af9; }
h1 { font-size: 25px; margin: 14px 0; } h2 { font-size: 20px; margin: 22px 0 8px; } h3 { font-size: 17px; margin: 18px 0 6px; }
a { color: var(--accent); text-decoration: none; } code { background: var(--code); border-radius: 4px; padding: 1px 4px; font-size: 13px; }
hr { border: 0; border-top: 1px solid var(--line); } p { margin: 8px 0; } ul { margin: 6px 0; padding-left: 24px; }
.metadata-property { display: flex; gap: 16px; font-size: 14px; line-height: 1.7; }
.metadata-property-key { color: var(--muted); width: 130px; } .pill { background: var(--code); border-radius: 10px; padding: 0 9px; }
.inline-field { color: var(--muted); font-size: 13px; }
.task-list-item { list-style: none; margin-left: -20px; } .task-list-item.is-checked { color: var(--muted); text-decoration: line-through; }
.callout { --callout-color: 8, 109, 221; margin: 12px 0; padding: 9px 14px; border-radius: 4px;
  background: color-mix(in srgb, rgb(var(--crucible-rgb, 8, 109, 221)) 10%, transparent); }
.callout-title { font-weight: 600; color: rgb(var(--crucible-rgb, 8, 109, 221)); } .callout-content > :last-child { margin-bottom: 0; }
"""


def _markdown(text: str) -> str:
    """Render a part of a note, with links, tasks and block ids as Obsidian shows them."""
    shown = MarkdownIt("commonmark", {"breaks": True}).render(
        re.sub(r"[ \t]+\^task-[\w-]+$", "", text, flags=re.MULTILINE)
    )
    shown = re.sub(r"!?\[\[(?:[^\]|]*\|)?([^\]]*)\]\]", r'<a class="internal-link">\1</a>', shown)
    shown = re.sub(r"<li>\[ \] ", '<li class="task-list-item"><input type="checkbox"> ', shown)
    shown = re.sub(r"<li>\[x\] ", '<li class="task-list-item is-checked"><input type="checkbox" checked> ', shown)
    return re.sub(r"(?m)^(<p>)?((?:started|ended|tokens):: [^<\n]*)", r'\1<span class="inline-field">\2</span>', shown)


def _callout(lines: list[str]) -> str:
    raw = read_callout(lines)
    if raw is None:
        return f"<blockquote>{_markdown(chr(10).join(line.removeprefix('>') for line in lines))}</blockquote>"
    title = raw.title or raw.kind.replace("_", " ").capitalize()
    body = "" if raw.fold == "-" else f'<div class="callout-content">{_body(raw.body)}</div>'
    return f'<div class="callout" data-callout="{raw.kind}"><div class="callout-title">{html.escape(title)}</div>{body}</div>'


def _body(lines: list[str]) -> str:
    parts: list[str] = []
    run: list[str] = []
    for line in [*lines, "\0"]:
        is_quote = line.startswith(">")
        if run and (line == "\0" or is_quote != run[0].startswith(">")):
            parts.append(_callout(run) if run[0].startswith(">") else _markdown("\n".join(run)))
            run = []
        run.append(line)
    return "".join(parts)


def _page(source: Source, *, dark: bool) -> str:
    found = find_frontmatter(source)
    rows = [(key, found.values[key]) for key in SHOWN if key in found.values]
    properties = "".join(
        f'<div class="metadata-property"><div class="metadata-property-key">{key}</div><div>{_value(value)}</div></div>'
        for key, value in rows
    )
    body = _body(source.lines[found.lines.end :])
    body = re.sub(r"<!-- crucible.*?-->", "", body, flags=re.DOTALL)
    theme = "theme-dark" if dark else "theme-light"
    style = f"<style>{SNIPPET.read_text(encoding='utf-8')}{STYLE}</style>"
    return f'<!doctype html><meta charset="utf-8">{style}<body class="{theme}"><div class="markdown-rendered">{properties}{body}</div>'


def _value(value: object) -> str:
    if isinstance(value, list):
        return " ".join(f'<span class="pill">{html.escape(str(item))}</span>' for item in value)
    return re.sub(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]", r'<a class="internal-link">\1</a>', html.escape(str(value)))


def draw(target: Path, *, dark: bool) -> None:
    """Write the picture to `target`."""
    browser = next(path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name)))
    with TemporaryDirectory() as folder:
        page = Path(folder) / "note.html"
        page.write_text(_page(Source.from_bytes(NOTE.read_bytes()), dark=dark), encoding="utf-8")
        size = f"--window-size={SIZE[0]},{SIZE[1]}"
        profile = f"--user-data-dir={folder}/profile"
        command = [browser, *FLAGS, size, profile, f"--screenshot={target}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    draw(PICTURE, dark="--dark" in sys.argv[1:])
