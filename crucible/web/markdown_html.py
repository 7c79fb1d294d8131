"""Render Markdown from notes as HTML that cannot run, load or forge anything.

Raw HTML is text.  Links go to http, https, mailto, or to a note that the caller's `NoteLinks` knows; any other link is
text.  An image becomes a link to it, so a page never loads one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import cache
from typing import Any, TypeAlias
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.wikilinks import display, parse_linktext

NoteLinks: TypeAlias = Callable[[str], str | None]
"""Returns the address of the page for a link's target, or None if the target is not a note with a page."""

Clean: TypeAlias = Callable[[str], str]
"""Redacts a text."""

_SAFE = late_pattern(r"(?i)(?:https?://|mailto:)[^\s]")
_SCHEME = late_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\")
_WIKI = late_pattern(r"!?\[\[([^\[\]\n]+)\]\]")
_CALLOUT = late_pattern(r"\[!([\w-]+)\]([+-]?)[ \t]*(.*)")
_PLAIN = r"[^\\`*_\[\]<>&!~|#\n^\ufffd\x00]"
_LINK = r"\[\[[^\\`*_\[\]<>&!~\n^\ufffd\x00]+\]\]"
_SIMPLE = late_pattern(rf"(?![\s\-+=:]|\d+[.)])(?>(?:{_PLAIN}+|`(?>[^`\n\x00]+)`(?!`)|{_LINK}(?![(\[:]))+)(?<![ \t])")
"""Matches a paragraph of one line with text, code and links to notes; rendering it without the parser is ten times faster."""
_CODE_OR_LINK = late_pattern(r"`([^`]+)`|\[\[([^\[\]]+)\]\]")


def no_notes(_target: str) -> None:
    """Resolve no links: links to notes stay text."""


def escape_text(text: str) -> str:
    """Escape text for an element's content.  Quotes are not escaped, which keeps pages of code small."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def render_markdown(text: str, links: NoteLinks = no_notes, place: str = "", clean: Clean | None = None) -> Markup:
    """Render an entry's Markdown.

    `place` is an id on the page, which keeps the ids of its footnotes unique.  `clean` redacts the text, also where
    escapes split it.
    """
    text = clean(text) if clean else text
    if not text:
        return Markup()
    paragraphs = text.split("\n\n")
    if all(map(_SIMPLE.fullmatch, paragraphs)):
        return Markup("".join(_paragraph(one, links) for one in paragraphs))  # noqa: S704  only text and code, escaped
    return Markup(_entry_parser().render(text, {"links": links, "docId": place, "clean": clean}))  # noqa: S704  raw HTML is off


def _paragraph(text: str, links: NoteLinks) -> str:
    """Render a simple paragraph.  Its end tag is optional in HTML."""

    def part(found: re.Match[str]) -> str:
        if found[1] is None:
            return _simple_link(found, links)
        inner = found[1]
        if inner[0] == " " == inner[-1] and inner.strip(" "):
            inner = inner[1:-1]
        return f"<code>{escape_text(inner)}</code>"

    return f"<p>{_CODE_OR_LINK.sub(part, text) if '`' in text or '[' in text else text}\n"


def _simple_link(found: re.Match[str], links: NoteLinks) -> str:
    link = parse_linktext(found[2])
    href = links(link.target) if link.target else None
    return f'<a href="{escape_attribute(href)}">{escape_text(display(link))}</a>' if href else found[0]


def escape_attribute(text: str) -> str:
    """Escape text for an attribute in double quotes."""
    return escape_text(text).replace('"', "&quot;")


def render_document(text: str, links: NoteLinks = no_notes, clean: Clean | None = None) -> Markup:
    """Render a whole note without its frontmatter and first title.  Its headings have ids."""
    text = clean(text) if clean else text
    return Markup(_note_parser().render(text, {"links": links, "docId": "note", "clean": clean}))  # noqa: S704  raw HTML is off


@cache
def _entry_parser() -> MarkdownIt:
    parser = _parser()
    parser.core.ruler.push("headings", _flatten_headings)
    return parser


@cache
def _note_parser() -> MarkdownIt:
    parser = _parser().use(front_matter_plugin).use(anchors_plugin, max_level=6, slug_func=_slug)
    parser.core.ruler.push("headings", _lower_headings)
    parser.block.ruler.before("paragraph", "comment", _comment, {"alt": ["paragraph"]})
    return parser


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "highlight": _highlight}).enable(["table", "strikethrough"])
    parser.use(footnote_plugin).use(tasklists_plugin, label=True)
    parser.core.ruler.after("block", "callouts", _callouts)
    parser.core.ruler.push("redaction", _redact)
    parser.core.ruler.push("safe_attributes", _safe_attributes)
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    for name, rule in {
        "image": _image,
        "callout_open": _callout_open,
        "callout_close": _callout_close,
        "text": _text,
    }.items():
        parser.add_render_rule(name, rule)
    parser.validateLink = _accept_any  # type: ignore[method-assign]  # `_safe_attributes` decides, and keeps the text
    return parser


def _accept_any(url: str) -> bool:
    return True


# --- headings and comments -------------------------------------------------------------------------------------------


def _slug(title: str) -> str:
    return "h-" + "-".join(re.findall(r"\w+", title.lower()))


def _flatten_headings(state: StateCore) -> None:
    """Make every heading an h3 with its level as a class: on a session's page, phases are the h2."""
    for token in _headings(state.tokens):
        if token.nesting == 1:
            token.attrSet("class", token.tag)
        token.tag = "h3"


def _headings(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the start and the end of each heading; one without text is made a paragraph."""
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            inside, end = tokens[at + 1], tokens[at + 2]
            if any(one.type != "text" or one.content.strip() for one in inside.children or ()):
                yield from (token, end)
            else:
                token.tag = end.tag = "p"


def _lower_headings(state: StateCore) -> None:
    """Remove a note's first title, which the page shows above it, and make other titles an h2."""
    tokens = state.tokens
    at = next((at for at, token in enumerate(tokens) if token.type == "heading_open"), None)
    if at is not None and tokens[at].tag == "h1":
        del tokens[at : at + 3]
    for token in _headings(tokens):
        token.tag = "h2" if token.tag == "h1" else token.tag


def _comment(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Skip an HTML comment that begins a line, to the end of the line that closes it."""
    start = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not state.src.startswith("<!--", start):
        return False
    close = state.src.find("-->", start)
    if close < 0 or close > state.eMarks[end - 1]:
        return False
    if not silent:
        state.line = next(line + 1 for line in range(first, end) if state.eMarks[line] >= close)
    return True


# --- callouts --------------------------------------------------------------------------------------------------------


def _callouts(state: StateCore) -> None:
    """Turn quotes that begin with `[!kind]` into callouts.  Folded ones become `details`."""
    ends: list[Token | None] = []
    for at, token in enumerate(state.tokens):
        if token.type == "blockquote_open":
            ends.append(_callout_at(state.tokens, at))
        elif token.type == "blockquote_close" and (opened := ends.pop()):
            token.type, token.tag = "callout_close", opened.tag


def _callout_at(tokens: Sequence[Token], at: int) -> Token | None:
    inline = tokens[at + 2] if at + 2 < len(tokens) and tokens[at + 1].type == "paragraph_open" else None
    found = _CALLOUT.match(inline.content) if inline else None
    if inline is None or found is None:
        return None
    kind, fold, title = found[1].lower(), found[2], found[3].strip()
    tokens[at].type, tokens[at].tag = "callout_open", "details" if fold else "div"
    tokens[at].meta = {"kind": kind, "fold": fold, "title": title}
    inline.content = inline.content[found.end() :].lstrip("\n")
    if not inline.content:
        tokens[at + 1].hidden = tokens[at + 3].hidden = True
    return tokens[at]


def kind_class(kind: str) -> str:
    """Return the class of a callout's kind, in letters, digits and hyphens."""
    return "k-" + re.sub(r"[^a-z0-9]+", "-", kind)[:40].strip("-")


def kind_words(kind: str) -> str:
    """Return a callout's kind as words."""
    return kind.replace("_", " ").replace("-", " ")


def _callout_open(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    token = tokens[at]
    kind, title = token.meta["kind"], escape_text(token.meta["title"])
    is_open = " open" if token.meta["fold"] == "+" else ""
    label, head = ("summary", f"<details{is_open}") if token.tag == "details" else ("p", "<div")
    named = f"<b>{escape_text(kind_words(kind))}</b>"
    return f'{head} class="c {kind_class(kind)}"><{label}>{named} {title}</{label}>\n'


def _callout_close(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return f"</{tokens[at].tag}>\n"


# --- links -----------------------------------------------------------------------------------------------------------


def _wikilink(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "![":
        return False
    found = _WIKI.match(state.src, state.pos)
    if not found:
        return False
    link = parse_linktext(found[1])
    href = state.env["links"](link.target) if link.target else None
    if href is None:
        return False
    if not silent:
        opened = state.push("link_open", "a", 1)
        opened.attrs, opened.meta = {"href": href}, {"note": True}
        state.push("text", "", 0).content = display(link)
        state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _redact(state: StateCore) -> None:
    """Redact each text once more: an address that escapes split is whole only now."""
    if clean := state.env.get("clean"):
        for token in state.tokens:
            for part in (token, *(token.children or ())):
                if part.type != "inline" and "note" not in part.meta:
                    part.content = clean(part.content)
                    part.attrs = {name: clean(str(value)) for name, value in part.attrs.items()}


def _safe_attributes(state: StateCore) -> None:
    for token in state.tokens:
        if token.children:
            _check_links(token.children, state.env["links"])
        if alignment := str(token.attrs.pop("style", "")):  # of a table's cell; the policy forbids styles
            token.attrSet("class", f"to-{alignment.rpartition(':')[2]}")


def _check_links(tokens: Sequence[Token], links: NoteLinks) -> None:
    opened: list[Token] = []
    for token in tokens:
        if token.type == "link_open":
            opened.append(token)
            _check_link(token, links)
        elif token.type == "link_close" and opened:
            token.tag = opened.pop().tag


def _check_link(token: Token, links: NoteLinks) -> None:
    """Keep a link to the web, resolve one to a note, and make any other one plain text."""
    if token.meta.get("note"):
        return
    address = str(token.attrGet("href") or "")
    if _SAFE.match(address):
        token.attrSet("rel", "noreferrer noopener")
        return
    target = "" if _SCHEME.match(address) or address.startswith("#") else unquote(address.partition("#")[0])
    href = links(target.removesuffix(".md")) if target else None
    token.attrs = {"href": href} if href else {}
    token.tag = "a" if href else "span"


def _text(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return escape_text(tokens[at].content)


def _image(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    source = str(tokens[at].attrGet("src") or "")
    name = escape_text(tokens[at].content or source)
    if not _SAFE.match(source):
        return f"<i>[image: {name}]</i>"
    return f'<a href="{escape_attribute(source)}" rel="noreferrer noopener">[image: {name}]</a>'


# --- diffs -----------------------------------------------------------------------------------------------------------

_MARKS = {"+": "ins", "-": "del", "@": "b"}
_DIFFS = frozenset(("diff", "patch"))


def render_diff(text: str) -> Markup:
    """Render a diff's lines: additions as `ins`, removals as `del`, positions as `b`."""
    parts: list[str] = []
    last = ""
    for line in text.split("\n"):
        tag = _MARKS.get(line[:1], "")
        if tag != last:
            parts.append((f"</{last}>" if last else "") + (f"<{tag}>" if tag else ""))
        parts.append(escape_text(line) + "\n")
        last = tag
    return Markup("".join(parts) + (f"</{last}>" if last else ""))  # noqa: S704  every line is escaped


def _highlight(text: str, language: str, _attributes: str) -> str:
    return str(render_diff(text.removesuffix("\n"))) if language in _DIFFS else escape_text(text)
