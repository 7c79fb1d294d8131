"""Find and write links to notes: `[[target#subpath|alias]]`, `![[embed]]`, `[alias](target.md#subpath)`.

Code, comments, HTML and math contain no links; web addresses and Markdown images are not links to notes.  Targets
exclude `.md` and outer blanks, and Markdown targets are percent-decoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from crucible.core.errors import EditRefused
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import Source, Span

LinkKind = Literal["wiki", "md"]


class LinkText(NamedTuple):
    """The parts between `[[` and `]]`.  An empty target means the note itself."""

    target: str
    subpath: str | None = None
    alias: str | None = None


class Link(NamedTuple):
    """A link in a note.

    `subpath` is what follows the `#`: a heading, several joined by `#`, or a block as `^id`.  `alias` is the displayed
    text. `target_span` is the span of the target as written, including `.md` and percent codes.
    """

    target: str
    subpath: str | None
    alias: str | None
    embed: bool
    kind: LinkKind
    span: Span
    target_span: Span = Span(0, 0)


_WIKI = r"!?\[\[(?!\[)(?P<inner>[^\[\]\r\n]*+(?>(?:(?:\[(?!\[)|\](?!\]))[^\[\]\r\n]*+)*))\]\]"
_ADDRESS = r"""
    \]\([ \t]*+
    (?: <(?P<angled>[^<>\r\n]*+)>
      | (?P<bare>(?!<)(?>(?:[^\s()\\]|\\.|\((?>(?:[^\s()\\]|\\.|\((?>(?:[^\s()\\]|\\.)*)\))*)\))*))
    )
    (?: [ \t]++ (?:"[^"\r\n]*+"|'[^'\r\n]*+'|\([^()\r\n]*+\)) )?
    [ \t]*+\)
"""
_TOKEN = late_pattern(
    rf"""\\[\s\S] | (?P<wiki>{_WIKI}) | (?P<address>{_ADDRESS}) | (?P<opener>!?\[) | \]
       | (?P<blank>(?:\r\n?+|\n)[ \t>]*+(?=[\r\n]))""",
    re.VERBOSE,
)
_WIKI_TOKEN = late_pattern(rf"\\[\s\S]|(?P<wiki>{_WIKI})(?P<address>(?!))?(?P<opener>(?!))?(?P<blank>(?!))?")
"""The token for text after the last Markdown address, where only wikilinks can occur."""
_WHOLE = late_pattern(_WIKI)
_LINKS = late_pattern(r"\[\[|\]\(")
_MAY_LINK = late_pattern(r"\[\[|\]\((?!<?(?:[A-Za-z][A-Za-z0-9+.-]++:|//))")
"""What a link has, but for those on the web, which do not count."""
_WEB = late_pattern(r"[A-Za-z][A-Za-z0-9+.-]++:|//")  # a single letter is a drive, which never resolves
_ESCAPED = late_pattern(r"\\([!-/:-@\[-`{-~])")
_PERCENT = late_pattern(r"(?>(?:%[0-9A-Fa-f]{2})+)")
_NOT_IN_ADDRESS = late_pattern(r"[\x00-\x20\x7f\\%#()<>\[\]|^`\"?]")


def find_links(source: Source, start: int | None = None) -> list[Link]:
    """Find all links of the body, in the order of their ends.  `start` is the body's offset, if known."""
    links: list[Link] = []
    open_brackets: list[re.Match[str]] = []
    start = _frontmatter(source).end if start is None else start
    for token in _tokens(source.text, start) if _MAY_LINK.search(source.text, start) else ():
        if token["wiki"] is not None:
            if link := _wiki_link(token):
                links.append(link)
        elif token["address"] is not None:
            if open_brackets:
                opener = open_brackets.pop()
                links.extend(_markdown_link(source, opener, token))
                if opener.group() == "[":
                    open_brackets.clear()  # links cannot contain links
        elif token["opener"] is not None:
            open_brackets.append(token)
        elif token["blank"] is not None:
            open_brackets.clear()
        elif token.group() == "]" and open_brackets:
            open_brackets.pop()
    return links


def _frontmatter(source: Source) -> Span:
    from crucible.documents.markdown.frontmatter import find_frontmatter  # noqa: PLC0415  not needed to write links

    return find_frontmatter(source).span


def _tokens(text: str, start: int) -> Iterator[re.Match[str]]:
    """Brackets and links outside hidden ranges."""
    from crucible.documents.markdown.hidden_ranges import hidden_near  # noqa: PLC0415  not needed to write links

    hidden = hidden_near(text, start, _LINKS)
    index, at = 0, start
    last_address = text.rfind("](")
    while token := (_TOKEN.search(text, at) if at <= last_address else _next_wiki(text, at)):
        while index < len(hidden) and hidden[index].end <= token.start():
            index += 1
        if index < len(hidden) and hidden[index].start <= token.start():
            at = hidden[index].end
        elif _is_cut(hidden, index, token):
            at = token.start() + 1
        else:
            yield token
            at = token.end()


def _next_wiki(text: str, at: int) -> re.Match[str] | None:
    """The next wikilink token, for text after the last Markdown address."""
    near = text.find("[[", at)
    # A backslash that disables the link is on the same line.
    return None if near < 0 else _WIKI_TOKEN.search(text, max(at, text.rfind("\n", at, near) + 1))


def _is_cut(hidden: list[Span], index: int, token: re.Match[str]) -> bool:
    """True if a hidden range begins within the token and extends beyond it, or hides its closing brackets."""
    while index < len(hidden) and hidden[index].start < token.end():
        if hidden[index].end > token.end() - 2:
            return token["wiki"] is not None or token["address"] is not None
        index += 1
    return False


def _wiki_link(token: re.Match[str]) -> Link | None:
    inner = token["inner"]
    says = parse_linktext(inner)
    if not says.target and says.subpath is None:
        return None
    embed = token.group().startswith("!")
    where = _target_span(inner, token.start("inner"))
    return Link(says.target, says.subpath, says.alias, embed, "wiki", Span(*token.span()), where)


def _target_span(inner: str, at: int) -> Span:
    written = _before_alias(inner)[0].partition("#")[0]
    first = at + len(written) - len(written.lstrip(" \t"))
    return Span(first, max(first, at + len(written.rstrip(" \t"))))


def _before_alias(inner: str) -> tuple[str, str | None]:
    """Split off the alias.  In a table cell, a backslash precedes the bar."""
    target, bar, alias = inner.partition("|")
    if not bar:
        return target, None
    return target.removesuffix("\\"), alias


def parse_linktext(text: str) -> LinkText:
    """Parse the text between `[[` and `]]`."""
    where, alias = _before_alias(text)
    target, _, subpath = where.partition("#")
    shown = (alias or "").strip(" \t") or None
    return LinkText(_without_md(target.strip(" \t")), subpath.strip(" \t") or None, shown)


def _without_md(target: str) -> str:
    named = len(target) > 3 and target[-3:].lower() == ".md" and target[-4] != "/"
    return target[:-3] if named else target


def _markdown_link(source: Source, opener: re.Match[str], address: re.Match[str]) -> list[Link]:
    """The link from an opening bracket to its address; empty if the address is on the web or an image."""
    group = "bare" if address["angled"] is None else "angled"
    written = address[group]
    path, _, subpath = written.partition("#")
    target = _decode(path)
    embed = opener.group() == "!["
    if not written or _WEB.match(written) or (embed and _is_picture(target)):
        return []
    alias = source.slice(Span(opener.end(), address.start()))
    where = Span(address.start(group), address.start(group) + len(path))
    span = Span(opener.start(), address.end())
    return [Link(_without_md(target), _decode(subpath) or None, alias or None, embed, "md", span, where)]


def _is_picture(target: str) -> bool:
    name = target.rpartition("/")[2]
    return "." in name and name[-3:].lower() != ".md"


def _decode(written: str) -> str:
    """Decode backslash escapes and percent codes.  Codes that are not UTF-8 are kept."""
    return _PERCENT.sub(_decode_run, _ESCAPED.sub(r"\1", written))


def _decode_run(found: re.Match[str]) -> str:
    try:
        return bytes.fromhex(found.group().replace("%", "")).decode()
    except UnicodeDecodeError:
        return found.group()


def encode_target(target: str, like: str = "") -> str:
    """Encode a target as the address of a Markdown link.

    Non-ASCII letters are kept unless `like`, the previous address, has percent codes for them.
    """
    encoded = _NOT_IN_ADDRESS.sub(lambda found: f"%{ord(found.group()):02X}", target)
    if re.search(r"%[89A-Fa-f]", like):
        encoded = re.sub(r"[^\x00-\x7f\ud800-\udfff]", _percent, encoded)
    return encoded


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found.group().encode())


def display(link: Link | LinkText) -> str:
    """The displayed text: the alias, or `Note > Heading` as in Obsidian's reading view."""
    if link.alias is not None:
        return link.alias
    parts = [link.target, *(link.subpath or "").split("#")]
    return " > ".join(part for part in parts if part)


def render_link(target: str, subpath: str | None = None, alias: str | None = None, *, embed: bool = False) -> str:
    """Render a wikilink.  Raises `EditRefused` if it would not read back equal, for example if a part contains `|`."""
    inner = target + (f"#{subpath}" if subpath else "") + (f"|{alias}" if alias else "")
    written = f"{'!' if embed else ''}[[{inner}]]"
    found = _WHOLE.fullmatch(written)
    link = _wiki_link(found) if found and "%%" not in inner else None
    asked = (_without_md(target), subpath or None, alias or None)
    if link is None or (link.target, link.subpath, link.alias) != asked:
        raise EditRefused(f"{inner!r} cannot be used in a wikilink", "remove # | ^ : %% [[ ]] and line breaks")
    return written


_HEADING_MARKS = late_pattern(r"[:#|^\\\r\n<>`$&]|%%|\[\[|\]\]|!\[")
_PUNCTUATION = late_pattern(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\r\n]")
_BLANKS = late_pattern(r"\s+")


def strip_heading_for_link(heading: str) -> str:
    """Convert a heading to a link's subpath: marks that are invalid or that plugins act on become one blank.

    Obsidian ignores these marks when it compares headings, so the link still resolves.
    """
    return _BLANKS.sub(" ", _HEADING_MARKS.sub(" ", heading)).strip()


_BRACKETS = late_pattern(r"\[(\\*)(?=\[)")
_BRACKETS_APART = late_pattern(r"\[\\(\\*)(?=\[)")


def escape_links(text: str) -> str:
    r"""Escape links in untrusted text for a property: `[[x]]` becomes `[\[x]]`."""
    return _BRACKETS.sub(r"[\1\\", text) if "[" in text else text


def unescape_links(text: str) -> str:
    """The inverse of `escape_links`."""
    return _BRACKETS_APART.sub(r"[\1", text) if "[\\" in text else text


def heading_key(heading: str) -> str:
    """The key by which links compare headings, without punctuation, blanks and case."""
    return _BLANKS.sub(" ", _PUNCTUATION.sub(" ", heading)).strip().lower()


_LINE = late_pattern(r"[^\r\n]++")
_BEFORE_VALUE = late_pattern(
    r"""[ \t]*+ (?>(?: - [ \t]++ )*) (?: (?: "[^"\r\n]*+" | '[^'\r\n]*+' | [^\s"'\#\[\]{},][^\r\n"'\#\[\]{}:]*+ ) : [ \t]++ )?""",
    re.VERBOSE,
)
_IN_VALUE = late_pattern(
    r"""(?P<comment>(?<=[ \t])\#.*+) | "(?P<double>(?>(?:[^"\\]|\\.)*))" | '(?P<single>(?>(?:[^']|\'\')*))'""",
    re.VERBOSE,
)
_BLOCK_TEXT = late_pattern(r"[|>][-+0-9]*+[ \t]*+(?:(?<=[ \t])#.*+)?$")


def find_property_links(source: Source, span: Span | None = None) -> list[Link]:
    """Find the quoted frontmatter values that are exactly one wikilink, as in Obsidian.

    `span` is the span of the frontmatter, if known.  Values with YAML escapes are skipped, since their text differs
    from their value.
    """
    text = source.text
    span = span or _frontmatter(source)
    links: list[Link] = []
    block_indent = -1
    for line in _LINE.finditer(text, span.start, span.end):
        indent = len(line.group()) - len(line.group().lstrip(" "))
        if 0 <= block_indent < indent:
            continue
        value = _BEFORE_VALUE.match(text, line.start(), line.end())
        at = value.end() if value else line.end()
        block_indent = indent if _BLOCK_TEXT.match(text, at, line.end()) else -1
        # After any other character, the value is a plain scalar, in which quotes are text.
        if text[at : at + 1] in ("'", '"', "[", "{", ","):
            links.extend(_quoted_links(text, at, line.end()))
    return links


def _quoted_links(text: str, at: int, end: int) -> Iterator[Link]:
    for value in _IN_VALUE.finditer(text, at, end):
        group = "double" if value["double"] is not None else "single"
        found = None if value["comment"] is not None else _WHOLE.fullmatch(text, *value.span(group))
        if found and not re.search(r"\\" if group == "double" else "'", value[group]):
            link = _wiki_link(found)
            if link and not link.embed:
                yield link
