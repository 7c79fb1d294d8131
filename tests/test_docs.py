"""The documentation: links lead somewhere, pages can be found, commands exist, and sentences are short."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import click
import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from crucible.cli.group import build_root
from tests.cases import for_each
from tests.paths import ROOT

DOCS = ROOT / "docs"
GENERATED = DOCS / "cli.md"
PAGES = sorted(DOCS.rglob("*.md"))
ROOT_PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
WRITTEN = [page for page in [*PAGES, *ROOT_PAGES] if page != GENERATED]
READ = [page for page in WRITTEN if page.name != "CHANGELOG.md"]
EASE = 60
"""The lowest reading ease (Flesch) of a page: plain English."""
MEAN_WORDS, MOST_WORDS = 18, 40
"""How many words the sentences of a page have, at most: on average, and each."""
OF_OTHERS = {
    *("--allowedTools", "--append-system-prompt", "--continue", "--fork-session", "--no-session-persistence"),
    *("--json", "--resume", "--session", "--prompt", "--method", "--output-format", "--tools", "--strict-mcp-config"),
    *("--no-filters", "--password", "--password-stdin", "--link", "--upgrade"),
}
"""Options of clients and other programs that a page names alone."""

_MARKDOWN = MarkdownIt("commonmark").enable("table")


@cache
def _tokens(page: Path) -> list[Token]:
    return _MARKDOWN.parse(re.sub(r"\A---\n.*?\n---\n", "", page.read_text(encoding="utf-8"), flags=re.DOTALL))


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _inline(page: Path) -> Iterator[Token]:
    return (child for token in _tokens(page) for child in token.children or ())


# Links


def _links(page: Path) -> list[str]:
    found = [str(token.attrGet("href") or token.attrGet("src") or "") for token in _inline(page)]
    return [link for link in found if link and not re.match(r"[a-z]+:", link)]


@cache
def _anchors(page: Path) -> set[str]:
    """The anchors of the page's headings, as GitHub makes them."""
    found: set[str] = set()
    tokens = _tokens(page)
    for token, text in pairwise(tokens):
        if token.type == "heading_open":
            words = "".join(child.content for child in text.children or ())
            slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            found.add(next(s for n in range(99) if (s := f"{slug}-{n}" if n else slug) not in found))
    return found


@for_each("page", [*PAGES, *ROOT_PAGES])
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for link in _links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_is_in_the_index_of_the_documentation() -> None:
    indexes = [DOCS / "README.md", DOCS / "decisions" / "README.md"]
    linked = {(index.parent / link.partition("#")[0]).resolve() for index in indexes for link in _links(index)}
    assert [_name(page) for page in PAGES if page not in linked and page != indexes[0]] == []


class _Plain(yaml.SafeLoader):
    """Reads mkdocs.yml without calling what its tags name."""


_Plain.add_multi_constructor("", lambda *_: None)


def _leaves(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, list | dict):
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from _leaves(part)


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    nav = list(_leaves(yaml.load((DOCS / "site" / "mkdocs.yml").read_text(encoding="utf-8"), _Plain)["nav"]))
    assert len(nav) == len(set(nav))
    assert set(nav) >= {page.relative_to(DOCS).as_posix() for page in PAGES}


# Commands


def _shell_lines(page: Path) -> Iterator[str]:
    """The lines of the page that begin with `cru`: of code spans, and of examples for a shell."""
    for token in _inline(page):
        if token.type == "code_inline" and re.match(r"cru( |$)", token.content):
            yield token.content
    for token in _tokens(page):
        if token.type == "fence" and token.info.strip() in ("sh", "console"):
            text = token.content.replace("\\\n", " ")
            marked = r"^\$ " if token.info.strip() == "console" else "^"
            for line in re.findall(rf"{marked}(.*)", text, re.MULTILINE):
                yield from re.findall(r"(?:^|\$\(|&& |[A-Z_]+=\S+ )(cru .*)", line)


def _words(line: str) -> list[str]:
    """The words of the first command of a line, without a comment."""
    lexer = shlex.shlex(re.sub(r"[\[\]…)]", " ", line), posix=True, punctuation_chars="|;&<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:  # a quote of prose
        words = line.split()
    ends = [i for i, word in enumerate(words) if re.fullmatch(r"[|;&<>]+|--|#", word)]
    return words[: ends[0]] if ends else words


def _options(command: click.Command) -> dict[str, bool]:
    """The command's options, and whether a value follows each."""
    options = [param for param in command.params if isinstance(param, click.Option)]
    found = {name: not (each.is_flag or each.count) for each in options for name in (*each.opts, *each.secondary_opts)}
    if isinstance(command, click.Group) and "list" in command.list_commands(context := click.Context(command)):
        listing = command.get_command(context, "list")  # what the group shows without a command
        found |= _options(listing) if listing else {}
    return found | {"--help": False, "-h": False}


def _unknown(line: str) -> str:
    """The first word of the line that no command knows, or ""."""
    command: click.Command = build_root()
    known, may_descend = _options(command), True
    context = click.Context(command, info_name="cru")
    words = iter(_words(line)[1:])
    for word in words:
        option, _, value = word.partition("=")
        if re.match(r"--?[a-z0]", word):
            if command.context_settings.get("ignore_unknown_options"):
                continue
            if option not in known:
                return word
            if known[option] and not value:
                next(words, None)
        elif may_descend and isinstance(command, click.Group) and re.fullmatch(r"[a-z-]+", word):
            found = command.get_command(context, word)
            if found is None:
                return word
            command, known = found, known | _options(found)
        else:
            may_descend = False
    return ""


@for_each("page", WRITTEN)
def test_every_command_and_option_that_a_page_names_exists(page: Path) -> None:
    assert [(line, word) for line in _shell_lines(page) if (word := _unknown(line))] == []


@cache
def _every_option() -> set[str]:
    found: set[str] = set(OF_OTHERS)
    waiting: list[click.Command] = [build_root()]
    while waiting:
        command = waiting.pop()
        found |= _options(command).keys()
        if isinstance(command, click.Group):
            context = click.Context(command)
            waiting += filter(None, (command.get_command(context, name) for name in command.list_commands(context)))
    return found


@for_each("page", [page for page in PAGES if page != GENERATED])
def test_every_option_that_a_page_names_alone_exists(page: Path) -> None:
    spans = [token.content for token in _inline(page) if token.type == "code_inline"]
    named = [option for span in spans for option in re.findall(r"^--[a-z][a-z-]*", span)]
    assert [option for option in named if option not in _every_option()] == []


# Facts


@for_each("page", WRITTEN)
def test_a_page_names_no_path_of_one_machine(page: Path) -> None:
    assert not re.search(r"/(?:root|work|Users)/|/home/(?!me/|dev/)", page.read_text(encoding="utf-8"))


def test_the_page_on_architecture_describes_every_package() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in (ROOT / "crucible").glob("*/__init__.py")}
    assert {name for name in packages if f"**`{name}`" not in page} == set()


def test_the_page_on_dependencies_says_what_each_is_for() -> None:
    page = (DOCS / "dependencies.md").read_text(encoding="utf-8").casefold()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = [re.split(r"[<>=\[ ]", requirement)[0].casefold() for requirement in wanted]
    names.remove(project["name"])  # with its extras
    assert [name for name in names if not re.search(rf"^\|[^|]*\b{re.escape(name)}\b[^|]*\|", page, re.MULTILINE)] == []


def test_every_message_that_the_page_on_troubleshooting_quotes_exists() -> None:
    texts = (ROOT / "tests" / "data" / "strings.txt").read_text(encoding="utf-8")
    bold = re.findall(r"^\*\*(.+?)\*\*", (DOCS / "troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE)
    quoted = [part.strip() for one in bold for quote in re.findall(r'"(.+?)"', one) for part in re.split("[…`]", quote)]
    assert len(quoted) > 20
    assert [part for part in quoted if part not in texts] == []


def test_every_code_of_a_problem_is_explained() -> None:
    page = (DOCS / "check.md").read_text(encoding="utf-8")
    packages = [ROOT / "crucible" / name for name in ("documents", "commands/check")]
    code = "\n".join(path.read_text(encoding="utf-8") for package in packages for path in package.rglob("*.py"))
    codes = set(re.findall(r'Problem\(\s*"([a-z0-9-]+)"', code))
    assert len(codes) > 15
    assert {one for one in codes if f"`{one}`" not in page} == set()


# Words


def _prose(page: Path) -> list[str]:
    """The page's paragraphs and list items as text: no headings, tables or fences, a code span as one word."""
    found: list[str] = []
    left_out = 0
    for token in _tokens(page):
        if token.type in ("heading_open", "table_open", "heading_close", "table_close"):
            left_out += token.nesting
        elif token.type == "inline" and not left_out:
            parts = {"code_inline": "code", "softbreak": " ", "hardbreak": " "}
            text = "".join(parts.get(child.type, child.content) for child in token.children or ())
            found.append(re.sub(r"(?<=\w)[.:](?=\w)", "", text).strip())
    return [text for text in found if re.search(r"\w{3}", text)]


def _sentences(page: Path) -> list[str]:
    split = (re.split(r"(?<=[.!?])[\"”)*]*\s+|(?<=:)\s+(?=\S+\s+code)", text) for text in _prose(page))
    return [sentence for parts in split for sentence in parts if re.search(r"\w", sentence)]


@pytest.fixture(scope="module")
def ease() -> Callable[[str], float]:
    """How easy a text is to read."""
    from textstat import textstat  # not before it is needed: it reads a dictionary

    textstat.cmu_dict = defaultdict(list, textstat.cmu_dict)  # this version fails on words that its dictionary lacks
    return lambda text: float(textstat.flesch_reading_ease(text))


@for_each("page", READ)
def test_a_page_is_easy_to_read(page: Path, ease: Callable[[str], float]) -> None:
    text = "\n".join(f"{sentence.rstrip('.!?:;')}." for sentence in _sentences(page))
    assert ease(text) >= EASE


@for_each("page", READ)
def test_sentences_of_a_page_are_short(page: Path) -> None:
    lengths = {sentence: len(re.findall(r"[\w'’-]+", sentence)) for sentence in _sentences(page)}
    assert sum(lengths.values()) / len(lengths) <= MEAN_WORDS
    assert [sentence for sentence, length in lengths.items() if length > MOST_WORDS] == []
