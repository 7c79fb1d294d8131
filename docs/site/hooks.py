"""Hooks of `make site`: pages of the root and of each command, links that leave docs/, and a check of what pages load."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
# Documents of the root, and the pages that show them.
PAGES = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
_LINK = re.compile(r"(?P<mark>!?)\[(?P<text>[^\[\]]*)\]\((?P<path>[^\s()#:]+)(?P<anchor>#[^\s()]*)?\)")
_ESCAPED_PIPE = re.compile(r"(`[^`]*)\\\|")
_LOADS = re.compile(
    r"""<(?:script|img|iframe|source|link)\b[^>]*?\s(?:src|href)=["']?(?:https?:)?//[^>]*>|@import[^;]*//"""
)


def _command_pages() -> dict[str, str]:
    """Split docs/cli.md: its table and `cru` itself, and a page for each command of `cru` with its subcommands."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    head, *sections = re.split(r"^(?=## `cru [a-z])", text, flags=re.MULTILINE)
    pages = {"cli.md": re.sub(r"\(#cru-([a-z]+)\)", r"(cli/\1.md)", head)}
    for section in sections:
        name = section.split("`")[1].split()[1]
        page = f"cli/{name}.md"
        pages[page] = pages.get(page, f"# cru {name}\n\n") + section
    return pages


def on_config(config: MkDocsConfig) -> None:
    """Put the pages of the commands into the navigation."""
    pages = [{page.removesuffix(".md").replace("cli/", "cru "): page} for page in _command_pages() if "/" in page]
    for section in config.nav or ():
        for entries in section.values() if isinstance(section, dict) else ():
            entries[:] = [
                {name: ["cli.md", *pages]} if page == "cli.md" else {name: page}
                for entry in entries
                for name, page in entry.items()
            ]


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the documents of the root and the pages of the commands."""
    added = {page: (ROOT / name).read_text(encoding="utf-8") for name, page in PAGES.items()} | _command_pages()
    for page, content in added.items():
        if known := files.get_file_from_path(page):
            files.remove(known)
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Let links lead to pages of the site, and let text of a table hold `|` in code, as GitHub reads it."""
    of_root = {page: name for name, page in PAGES.items()}
    name = of_root.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    lines = [_with_pipes(line) if line.startswith("|") else line for line in markdown.split("\n")]
    return _LINK.sub(lambda link: _on_site(link, PurePosixPath(name).parent, page.file.src_uri), "\n".join(lines))


def _with_pipes(line: str) -> str:
    while (changed := _ESCAPED_PIPE.sub(r"\1|", line)) != line:
        line = changed
    return line


def _on_site(link: re.Match[str], folder: PurePosixPath, page: str) -> str:
    """Return the link as it leads on the site; only its text where the repository's file is no page."""
    target = normpath(str(folder / link["path"]))
    if target in PAGES:
        found = PAGES[target]
    elif target.startswith("docs/"):
        found = target.removeprefix("docs/")
    else:
        return link["text"]
    up = "../" * page.count("/")
    return f"{link['mark']}[{link['text']}]({up}{found}{link['anchor'] or ''})"


def on_post_build(*, config: MkDocsConfig, **_: Any) -> None:
    """Fail if a page loads a script, a style, a font or a picture from another server."""
    for page in sorted(Path(config.site_dir).rglob("*.html")):
        found = _LOADS.search(page.read_text(encoding="utf-8"))
        if found:
            raise PluginError(f"{page.name} loads something from elsewhere: {found[0]}")
