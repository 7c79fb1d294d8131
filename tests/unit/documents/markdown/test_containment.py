"""Foreign text can hold anything, becomes no structure, and comes back the same.

`leaks` looks for structure with markdown-it and with searches of its own; it shares no code with the room it judges.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.token import Token

from crucible.documents.markdown import containment as room
from crucible.documents.markdown import containment_inline as contain_inline
from crucible.documents.markdown import fences
from crucible.documents.markdown.code_spans import code_span, read_code_span
from crucible.documents.markdown.containment import (
    QUOTE_END,
    contain,
    contain_line,
    cut,
    normal,
    normal_line,
    slug,
    uncontain,
    uncontain_line,
)
from crucible.documents.markdown.fences import whole_fences
from crucible.documents.session.findings_block import GROUNDS_END, split_grounds
from crucible.documents.session.note_entries import OWN_LABELS
from samples.hostile_texts import hostile_line, hostile_text
from tests.cases import for_each
from tests.openings import OPENINGS

PARSERS = {
    "commonmark": MarkdownIt("commonmark", {"html": True}),
    "gfm": MarkdownIt("gfm-like", {"html": True}),
}
PLACES = {
    "prose": ("A paragraph.\n\n", "", "\n\n## Next\n\nend"),
    "after a list": ("10. item\n\n    more\n\n", "", "\n\n## Next\n\nend"),
    "first lines of a quote": ("", "> ", "\n\n## Next\n\nend"),
    "callout": ("> [!decision] title\n> words\n>\n", "> ", "\n\n## Next\n\nend"),
    "inline subagent": ("> [!subagent]\n> mode: inline\n>\n", "> > ", "\n\n## Next\n\nend"),
}
ACTING = [
    "tasks",
    "session-toon",
    "dataview",
    "dataviewjs",
    "query",
    "base",
    "mermaid",
    "meta-bind",
    "meta-bind-button",
    "meta-bind-js-view",
    "button",
    "js-engine",
    "datacorejs",
    "datacoretsx",
    "yaml:data",
    "excalidraw-script-install",
    "ad-note",
    "smart-connections",
    "tracker",
    "chart",
    "leaflet",
    "plantuml",
    "puml-png",
    "run-python",
    "{run-js}",
    "statblock",
    "toc",
    "whatever-comes-next",
]
WEB = re.compile(r"(?i:https?)://[\w/.:%&=?~+,;@-]*#?")
LINES = re.compile(
    r"[ \t>]*(?:(?:Rationale|Resolution|Summary|Task):|\*\*Tool calls:\*\*[ \t]*$|(?:(?:>|[-+*]|\d+[.)])[ \t]*)*>[ \t]*\[!)"
)


def leaks(contained: str) -> list[str]:
    """Every piece of structure that the text became, in each place and for each parser."""
    found: list[str] = []
    for place, (before, prefix, after) in PLACES.items():
        body = "\n".join(prefix + line for line in contained.split("\n"))
        for name, parser in PARSERS.items():
            found += [f"{name}, {place}: {leak}" for leak in _leaks(parser, before, body, prefix, after)]
    return found


def _leaks(parser: MarkdownIt, before: str, body: str, prefix: str, after: str) -> Iterator[str]:
    env: dict[str, object] = {}
    tokens = parser.parse(before + body + after, env)
    first = before.count("\n")
    lines = dict(enumerate(body.split("\n"), first))
    last = max(lines) + after.count("\n") - 2
    headings = [(token.level, token.map) for token in tokens if token.type == "heading_open"]
    if headings != [(0, [last, last + 1])]:
        yield f"headings {headings}"
    if env.get("references"):
        yield f"definitions {env['references']}"
    for at, token in enumerate(tokens):
        if token.type in {"hr", "html_block"}:
            yield f"{token.type} {token.content!r}"
        elif token.type == "fence":
            yield from _fence_leaks(token, lines)
            yield from _live("code", token.content.strip())
        elif token.type == "code_block":
            yield from _live("code", token.content.strip())
        elif token.type == "inline":
            yield from _inline_leaks(token)
        elif token.type == "blockquote_open" and token.map and token.map[0] in lines:
            yield from _callout_leaks(tokens[at + 1 : at + 3])
    yield from _live("raw", body)
    for line in lines.values():
        yield from _live("line", line[len(prefix) :])
    yield from (f"line {line!r}" for line in lines.values() if LINES.match(line[len(prefix) :]))


def _callout_leaks(head: list[Token]) -> Iterator[str]:
    if head[0].type == "paragraph_open" and head[1].content.startswith("[!"):
        yield f"callout {head[1].content!r}"


def _fence_leaks(token: Token, lines: dict[int, str]) -> Iterator[str]:
    """What acts; the fence's own lines need not be looked at any more."""
    for number in range(*token.map or ()):
        lines.pop(number, None)
    if (unescapeAll(token.info).split() or [""])[0].lower() in ACTING:
        yield f"fence {token.info!r}"


def _shown(child: Token) -> str:
    return f"`{child.content}`" if child.type == "code_inline" else child.content or "\n"


def _live(where: str, text: str) -> Iterator[str]:
    """What of the table begins in a text: at the start of code, anywhere else."""
    for opening in OPENINGS:
        if opening.where == where:
            seek = re.match if where in {"code", "span"} else re.search
            if found := seek(opening.pattern, text, re.MULTILINE):
                yield f"{opening.name}: {found[0]!r} in {text!r}"


def _inline_leaks(token: Token) -> Iterator[str]:
    rest, at = token.content.replace("\n", "\uffff"), 0
    if rest.startswith(("[!decision] title", "[!subagent]")):
        return
    for child in token.children or ():
        if child.type == "html_inline":
            yield f"html {child.content!r}"
        elif child.type == "code_inline":
            yield from _live("code", child.content.strip())
            yield from _live("span", child.content.strip())
            spans = (child.markup + pad + child.content + pad + child.markup for pad in ("", " "))
            places = [(rest.find(span, at), span) for span in spans if span in rest[at:]]
            if not places:
                yield f"code over several lines {child.content!r}"
                return
            at, span = min(places)
            rest = rest[:at] + "\0" + rest[at + len(span) :]
    yield from _live("prose", WEB.sub("https://w", rest.replace("\uffff", "\n")))
    yield from _live("shown", "".join(map(_shown, token.children or ())))


# --- properties ------------------------------------------------------------------------------------------------


@given(hostile_text())
@settings(max_examples=settings().max_examples * 3)
def test_contained_text_becomes_no_structure(text: str) -> None:
    assert leaks(contain(normal(text))) == []


@given(hostile_text())
def test_contained_text_comes_back_equal(text: str) -> None:
    text = normal(text)
    assert uncontain(contain(text)) == text
    assert uncontain(contain(text, extra=[QUOTE_END]), extra=[QUOTE_END]) == text


@given(hostile_text(), hostile_text())
def test_texts_contained_apart_are_read_back_as_one(first: str, second: str) -> None:
    first, second = normal(first), normal(second)
    both = contain(first) + "\n\n" + contain(second)
    assert uncontain(both) == first + "\n\n" + second
    assert leaks(both) == []


@given(hostile_line())
@settings(max_examples=settings().max_examples * 3)
def test_a_contained_line_comes_back_equal_and_holds_no_live_mark(text: str) -> None:
    text = normal_line(text)
    contained = contain_line(text)
    assert uncontain_line(contained) == text
    assert uncontain_line(contain_line(text, extra=[QUOTE_END]), extra=[QUOTE_END]) == text
    for parser in PARSERS.values():
        tokens = parser.parse(f"- `call` → {contained}\n\nnext `a` [[")
        assert list(_inline_leaks(tokens[3])) == []


@given(hostile_text())
def test_the_normal_form_is_stable(text: str) -> None:
    once = normal(text)
    assert normal(once) == once
    line = normal_line(text)
    assert normal_line(line) == line
    assert "\n" not in line


@given(hostile_text())
def test_reading_any_human_text_back_never_fails(text: str) -> None:
    uncontain(text)
    uncontain_line(text)


@given(hostile_text(), st.sampled_from([1, 2]))
def test_a_decision_s_text_never_holds_a_label_of_its_callout(text: str, form: int) -> None:
    text = normal(text)
    contained = contain(text, extra=[OWN_LABELS], form=form)
    assert uncontain(contained, extra=[OWN_LABELS], form=form) == text
    lines = contained.split("\n")
    for first, end in whole_fences(contained):
        lines[first:end] = [""] * (end - first)
    assert not re.search(r"^[ \t>]*(?:Alternatives|By|Cause|Source):", "\n".join(lines), re.MULTILINE)


@given(hostile_line(), hostile_line(), st.sampled_from(["", "(reply, 0.9)", " (last state, 1, rows a b\\)"]))
def test_an_item_s_text_never_ends_in_what_reads_as_its_grounds(text: str, near: str, end: str) -> None:
    text, near = normal_line(text + end), normal_line(near)
    for form, before, after in ((1, "", ""), (2, near, ""), (2, "", near)):
        contained = contain_line(text, extra=[GROUNDS_END], form=form, before=before, after=after)
        assert uncontain_line(contained, extra=[GROUNDS_END], form=form) == text
        assert split_grounds(contained) == (contained, None)


@given(hostile_text())
def test_words_never_hold_the_end_of_a_quote_outside_whole_fences(text: str) -> None:
    contained = contain(normal(text), extra=[QUOTE_END])
    lines = contained.split("\n")
    for first, end in whole_fences(contained):
        lines[first:end] = [""] * (end - first)
    assert not re.search(r'" -(?=[ \t]|$)', "\n".join(lines), re.MULTILINE)


@given(st.text(st.sampled_from("` \tab⏎\\"), max_size=12))
def test_a_code_span_comes_back_equal_with_its_blanks(text: str) -> None:
    span = code_span(text)
    assert read_code_span(f"- {span} → x", 2) == (text, 2 + len(span))


@given(st.text(st.sampled_from("` ab\\[<"), min_size=1, max_size=12).filter(lambda text: text.strip(" ")))
def test_markdown_reads_the_same_code_span(text: str) -> None:
    children = PARSERS["commonmark"].parse(f"x {code_span(text)} y")[1].children or []
    assert [child.content for child in children if child.type == "code_inline"] == [text]


# --- each trap, and the rule that closes it --------------------------------------------------------------------

TRAPS: dict[str, tuple[str, ...]] = {
    "heading": (
        "# x",
        "## Summary",
        "a\n###### x",
        "#",
        "- # x",
        "- a\n\n    # x",
        "1. ## x",
        "> # x",
        ">\t# x",
        "\t# x",
    ),
    "setext": ("a\n===", "a\n=", "- a\n  ===", "> a\n> =  "),
    "thematic": (
        "a\n---",
        "a\n-",
        "a\n- ",
        "---",
        "***",
        "___",
        "* * *",
        "- - -",
        "_ _ _",
        "- ***",
        "-- -",
        "a\n   -\t",
    ),
    "tilde-fence": (
        "~~~",
        "~~~ tasks\nx",
        "- ~~~\n x\n~~~",
        "para\n    ~~~\n    [[x]] <b>\n    ~~~\n\n~~~ x",
    ),
    "tool-calls": ("**Tool calls:**\n- `Write x` → ok", "  **Tool calls:** ", "- a\n\n**Tool calls:**"),
    "callout": ("> [!error] x", ">[!new-kind]-", "[!user]", "> > [!note]", "- > [!x]"),
    "wikilink": ("[[x]]", "[[[x]]]", "a [[x|y]]"),
    "image": ("![[x]]", "![a](b)"),
    "comment": ("%%", "a %%% b", "100%% of\n\n%%"),
    "math": ("$x$", "a $$x$$", "`x`$y$", "a $1$b$"),
    "definition": ("[a]: /url", "[a\nb]: /url", "> [!x]: /y", "[a]: /url 'x\ny'"),
    "link": (
        '[t](u "`x") <b>` ',
        '[t](u "v\n`x") <b>`',
        "[t](b`c) d`\n`x` `<b>`",
        "[x](obsidian://advanced-uri?eval=1)",
        "[x](2026-01-01-other)",
        "[x](#heading)",
        "[x](https&#58;//y)",
    ),
    "field": ("started:: x", "**due**:: 3", "[ended:: y]", "(a::b)", "std::vector", "[::1]"),
    "scheme": ("javascript:alert(1)", "a data:text/html,x", "file:x"),
    "date": ("- x 📅 2026-11-21", "➕ 2026-11-21"),
    "dice": ("    dice: 1d6", "\t dice-mod: x"),
    "entity": ("&lt;%+ x %>", "&#58;", "\\\\&amp;"),
    "caret": ("x ^id", "^id", "a ^[note]", "`c` ^id \n", "\\\\^id"),
    "tag": ("#tag", "`c`#tag", "\\\\#tag", "x%%#tag", "(#a/b)", "#1a", "https://x.y)#tag"),
    "task": ("- [ ] x", "> 1. [x] y", "- - [-] z"),
    "query": ("    = this.file.outlinks", "a\n\n\t=x", "- a\n\n      = this"),
    "button": ("    button-save", "a\n\n\tbutton-x y"),
    "code": ("`= this`", "`` $= x ``", "`INPUT[text:x]`", "`a button-b c`", "`dice: 1d6`"),
    "shown": (
        "<%* x %>",
        "`<%+ x %>`",
        "```erb\n<% x %>\n```",
        "(a::\\n![b](c))",
        "(a::x `= this`)",
        "(a:: $x$)",
        "`[a::![x](y)]`",
        "```py\ndue:: x\n```",
        "~~~ py <%\n~~~",
    ),
    "fence": ("```\n= this\n```", "~~~\n\n $= x\n~~~", "```\nbutton-a\n```"),
    "label": ("Rationale: x", "a\nResolution:", "  Summary: x", "Task:x", "> Summary: x"),
    "html": ("<b>", "</div>", "<!-- x", "<script>\nx", "\\<b>", "\\\\<b>", "<?php", "a <http://x.y>"),
    "url": (
        "http://x.y/<b>",
        "http://x.y/` ` `<b>`",
        "http://x.y/`\n`a` `<b>`",
        "obsidian://x",
        "https://x(file:///y",
    ),
    "tick": ("```", "a ` b\n`x` `[[y]]`", "```tasks\nx", "- ```\n x\n```", "`a\n[[x]]`", "``` x\n\ny"),
    "trust": ("<1`a@b.c> <b>`", "|a|b|\n|-|-|\n| `<b> | <i>` |", "[a`b]: /url`", "[a\n`b]: /url`"),
    "info": (
        "```tasks\nx\n```",
        "~~~ dataview\n~~~",
        "```&#116;asks\n```",
        "- ```Query x\n  ```",
        "```session\\-toon\n```",
    ),
}


@for_each("trap", [trap for traps in TRAPS.values() for trap in traps])
def test_a_known_trap_is_closed_and_comes_back(trap: str) -> None:
    text = normal(trap)
    assert leaks(contain(text)) == []
    assert uncontain(contain(text)) == text


@pytest.mark.parametrize("name", TRAPS)
def test_switching_off_one_rule_leaks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _clear()
    _switch_off(name, monkeypatch)
    caught = [trap for trap in TRAPS[name] if leaks(contain(normal(trap)))]
    monkeypatch.undo()
    _clear()
    assert caught


def _clear() -> None:
    room._line_passes.cache_clear()
    contain_inline.inline_passes.cache_clear()


_HOLDERS = (
    (room, "LINE_RULES"),
    (room, "MORE_LINE_RULES"),
    (contain_inline, "INLINE_RULES"),
    (contain_inline, "MORE_RULES"),
)
_PARTS = {
    "html": (contain_inline, "HTML_PASS", (str, str)),
    "url": (contain_inline, "URL_PASS", (str, str)),
    "tag": (contain_inline, "TAG_PASS", (str, str)),
    "tick": (contain_inline, "_seal_ticks", str),
    "trust": (contain_inline, "_trusted", lambda *_: True),
    "info": (fences, "_change_info", lambda line, *_: line),
    "label": (room, "LABELS", ("~",)),
    "code": (contain_inline, "seal_code", str),
    "shown": (fences, "seal_rendered", lambda text, *_: text),
    "fence": (fences, "_FENCE_START", re.compile(r"(?!)")),
}


def _switch_off(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for holder, table in _HOLDERS:
        kept = tuple(rule for rule in getattr(holder, table) if rule.name != name)
        monkeypatch.setattr(holder, table, kept)
    monkeypatch.delitem(contain_inline.SINGLES, name, raising=False)
    if name in _PARTS:
        monkeypatch.setattr(*_PARTS[name])


def test_every_rule_of_the_tables_has_a_trap() -> None:
    rules = {rule.name for holder, table in _HOLDERS for rule in getattr(holder, table)}
    assert {*rules, *contain_inline.SINGLES, *_PARTS} == set(TRAPS)


# --- what is left alone ----------------------------------------------------------------------------------------


@for_each(
    "text",
    [
        "- a\n- b\n  1. c\n\n> a quote\n\n| a | `b` |\n|---|---|\n| *c* | **d** |",
        "`[[x]]` and ``a ` b`` and `cat x | grep y` and `<b>`",
        "a < b, 100%, 50 $ or $5 a day, #7, a#b, a-b, 3 * 4, x^2, &c; a:b, 12:30, [text](https://x.y/a_(b)?c=d#e), https://x.y/#z",
        "```py\n# x\n[[y]]\n**Tool calls:**\n```",
        "- a\n  ```sh\n  # x\n\n  ## y\n  ```\n\n1. b\n\n    ~~~\n    ---\n    ~~~",
        "1. a\n   - b\n     ```\n     <b>\n     ```\n2. c\n   ```\n   %%\n   ```",
        "- ```\n  # x\n  ```",
        "````\n```\n# x\n```\n````",
        "`std::vector<int>` and `f(a::b)` and `x :: Int`",
        "```rust\nfn f(a: std::io::Error) {}\n```",
        "[mail](mailto:a@b.c) and HTTPS://X.Y/z",
    ],
)
def test_ordinary_text_is_not_touched(text: str) -> None:
    assert contain(text) == text
    assert leaks(contain(text)) == []


@for_each(
    ("text", "written"),
    [
        ("## Summary", r"\## Summary"),
        ("[[ -f x ]]", r"[\[ -f x ]]"),
        ("100%%", r"100%\%"),
        ("---", r"\---"),
        ("**Tool calls:**", r"\**Tool calls:**"),
        ("> [!error] x", r"> \[!error] x"),
        ("started:: x", r"started:\: x"),
        ("Rationale: x", r"Rationale\: x"),
        ("![[x]]", r"!\[\[x]]"),
        ("$$x$", r"\$\$x\$"),
        ("#tag", r"\#tag"),
        (r"\#tag", r"\\\#tag"),
        ("- [ ] todo", r"- \[ ] todo"),
        ("[a](b.md)", r"[a]\(b.md)"),
        ("<%= x %>", "< %= x %>"),
        ("`= x`", r"`\= x`"),
        ("std::vector", r"std:\:vector"),
        ("```mermaid\nx\n```", "```\\mermaid\nx\n```"),
        (r"\<b>", r"\\\<b>"),
        (r"\## x", r"\\## x"),
        ("a ` b", r"a \` b"),
        ("```tasks\n[]\n```", "```\\tasks\n[]\n```"),
        ("``` \\tasks\n```", "``` \\\\tasks\n```"),
        ("[a]: /url", r"[a]\: /url"),
    ],
)
def test_an_escape_reads_well(text: str, written: str) -> None:
    assert contain(text) == written


def test_a_fence_inside_a_list_item_hides_a_heading_only_while_it_is_whole() -> None:
    whole = "- ```\n  ## x\n  ```"
    assert whole_fences(whole) == [(0, 3)]
    broken = "- ```\n## x\n  ```"
    assert whole_fences(broken) == []
    assert contain(broken) == "- \\`\\`\\`\n\\## x\n  \\`\\`\\`"


def test_a_fence_at_column_four_is_whole_only_inside_a_list_item() -> None:
    fence = "    ~~~\n    [[x]]\n    ~~~"
    assert whole_fences("para\n" + fence) == []
    assert whole_fences("1. item\n" + fence) == [(1, 4)]
    assert whole_fences("para\n2. no item\n" + fence) == []
    assert whole_fences("1. item\nlazy\n" + fence) == []


def test_a_closer_at_another_column_leaves_no_whole_fence() -> None:
    assert whole_fences("```\nx\n ```\n```") == []
    assert whole_fences(" ```\nx\n ```") == []
    assert whole_fences(" ```\n x\n ```") == [(0, 3)]


def test_the_end_of_a_quote_is_escaped_in_words_and_kept_in_fences() -> None:
    text = 'say "a" - b and `"c" - d` or "e" -\n```\n"f" - g\n```'
    written = 'say "a" \\- b and `"c" \\- d` or "e" \\-\n```\n"f" - g\n```'
    assert contain(text, extra=[QUOTE_END]) == written
    assert uncontain(written, extra=[QUOTE_END]) == text
    assert contain(text) == text


def test_a_line_inside_ours_has_inline_escapes_only() -> None:
    assert contain_line("# a [[b]] Summary: --- started:: x") == r"# a [\[b]] Summary: --- started:\: x"


# --- the normal form, cuts, spans, slugs -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\r\nb\rc\n", "a\nb\nc"),
        ("\x1b[31mred\x1b[0m \x9b1mbold \x1b]0;title\x07x \x1b]8;;u\x1b\\link\x1b(B", "red bold x link"),
        ("a\x00b\x0c\x85\x7fc\td", "abc\td"),
        ("\ud83d x \udfff", "\ufffd x \ufffd"),
        ("\n \t\n  a  \n \t \n\n", "  a  "),
        ("a\u2028b\u202ec\ufeff", "a\u2028b\u202ec\ufeff"),
        ("\x1b\x00[31m", "[31m"),
    ],
)
def test_the_normal_form_loses_what_it_says_and_no_more(text: str, kept: str) -> None:
    assert normal(text) == kept


def test_a_normal_line_has_single_blanks_but_keeps_unicode_ones() -> None:
    assert normal_line("\n a \t b\n\nc\u2028\xa0 d ") == "a b c\u2028\xa0 d"


def test_a_cut_counts_code_points_and_ends_in_an_ellipsis() -> None:
    assert cut("é" * 100, 100) == "é" * 100
    assert cut("é" * 101, 100) == "é" * 99 + "…"


@for_each(
    ("text", "span"),
    [
        ("a", "`a`"),
        ("a`b", "``a`b``"),
        ("`a", "`` `a ``"),
        (" a ", "`  a  `"),
        (" a", "` a`"),
        ("a\nb", "`a⏎b`"),
        ("", "` `"),
        ("``", "``` `` ```"),
    ],
)
def test_a_code_span_is_fenced_by_more_backticks_than_it_holds(text: str, span: str) -> None:
    assert code_span(text) == span


def test_no_code_span_opens_without_its_closer_or_inside_a_run() -> None:
    assert read_code_span("`a``") is None
    assert read_code_span("``a``", 1) is None
    assert read_code_span("a") is None


def test_a_slug_holds_nothing_that_could_end_a_marker() -> None:
    assert slug("claude code @2 [[x]]", "agent") == "claude-code-2-x-"
    assert slug("a::b", "model") == "a:b"
    assert slug("2024", "channel") == "channel-2024"
    assert slug("2.1.197", "version") == "2.1.197"
    assert slug("", "channel") == ""


# --- speed -----------------------------------------------------------------------------------------------------

UNITS = (
    "`",
    "` ",
    "`` ` ",
    "\\",
    "[",
    "](a(",
    "<b>",
    "a://",
    "http://x<",
    "- ",
    "* ",
    "_ ",
    "-",
    "::",
    "started:: ",
    "www.`",
)
OPENERS = ("```py", "~~~", "- ```py", "    ```x", "`` ``` ~~~")


@pytest.mark.timed
@pytest.mark.parametrize("unit", UNITS)
def test_a_line_of_a_megabyte_takes_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit)) + "x"
    assert _seconds(text) < 8 * max(_seconds(text[: len(text) // 4]), 0.05)


@pytest.mark.timed
@pytest.mark.parametrize("opener", OPENERS)
def test_thousands_of_unclosed_openers_take_no_time(opener: str) -> None:
    assert _seconds("\n".join([opener + "\n  x"] * 5000)) < 1.5


@pytest.mark.timed
@pytest.mark.parametrize("closer", [" ```", "  ```", "x\n ```"])
def test_thousands_of_openers_before_one_closer_take_no_time(closer: str) -> None:
    assert _seconds("\n".join([" ```x"] * 5000 + ["x", closer])) < 1.5


def _seconds(text: str) -> float:
    start = time.process_time()
    contained = contain(text)
    assert uncontain(contained) == text
    return time.process_time() - start
