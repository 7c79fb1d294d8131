r"""What the Obsidian app and its most installed plugins act on in a note, and where each was found.

The table is what tests check contained text against; the escape rules share some of its patterns.  Obsidian itself was not run: the
sources are its public help and the plugins' own code, read in November 2026.  Plugins are assumed to have their default prefixes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Opening(NamedTuple):
    """A mark that Obsidian or a plugin acts on.

    `where` it is found: in the `raw` file, whatever its Markdown; in the `shown` (rendered) text of a block including code; at the start
    of `code` (spans and blocks) or of a `span` only; in a `line` outside code; or in `prose`, the source text of a block outside code.
    """

    name: str
    where: Literal["raw", "shown", "code", "span", "line", "prose"]
    pattern: str
    source: str


_TAG_END = r"\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s\0"
TAG = rf"(?!\d+(?:[{_TAG_END}]|\Z))[^{_TAG_END}]"
"""The first character of a tag after its `#`; a tag of digits only is none."""
BLOCK_ID = r"[A-Za-z0-9-]+[^\S\n]*$"
ENTITY = r"(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
SCHEME = r"(?i:\b(?:javascript|vbscript|data|file|obsidian))"
"""Schemes of addresses that run or open something when clicked, even without `//`."""
DATED = "[➕🛫⏳⌛📅📆🗓✅❌]\ufe0f?[ \t]*[0-9]{4}"
"""The start of a task's date."""
SPAN_START = r"(?:\$?=|(?:INPUT|VIEW|BUTTON)\[|dice[\w+-]*:)"
FENCE_START = r"(?:\$?=|dice[\w+-]*:|button)"
"""Plugins act on code spans, and on fences, that begin with one of these."""

_AGAIN = rf"(?:!\[|\[\[|\]\(|\$|`\s*\\?{SPAN_START})"
OPENINGS: tuple[Opening, ...] = (
    Opening("Templater", "raw", r"<%", "Templater 2.25.0, src/core/parser/Parser.ts; on new files of any program"),
    Opening("Templater, dynamic", "shown", r"<%[-_]?\s*[*~]?\+", "Templater 2.25.0, src/core/Templater.ts"),
    Opening(
        "Dataview, inline",
        "code",
        r"\$?=\s*\S",
        "Dataview 0.5.68, src/main.ts, src/ui/lp-render.ts; fences too",
    ),
    Opening("Meta Bind", "span", r"(?:INPUT|VIEW|BUTTON)\[", "Meta Bind 1.4.9, packages/core/src/api/API.ts"),
    Opening("Dice Roller", "code", r"dice[\w+-]*:", "Dice Roller, src/main.ts"),
    Opening(
        "Buttons",
        "span",
        r".*?button-\S",
        "Buttons 0.9.12, src/index.ts, src/livePreview.ts",
    ),
    Opening("Buttons, blocks", "code", r"button.*?button-\S|button-\S", "Buttons 0.9.12, src/index.ts"),
    Opening(
        "field, line",
        "raw",
        r"^[^0-9A-Za-z\n]*(?:[\w /-]*\w)[_*~`]*::(?=[ \t]|$)",
        "Dataview, data-import/inline-field.ts; code too",
    ),
    Opening("field, brackets", "prose", r"[\[(][^\[\]()\n]*?::", "Dataview, src/data-import/inline-field.ts"),
    Opening(
        "field, rendered",
        "shown",
        rf"\([^\[\]()]*?::(?=[^)]*?{_AGAIN})[^)]*\)|\[[^\[\]()]*?::(?=[^\]]*?{_AGAIN})[^\]]*\]",
        "Dataview, src/ui/views/inline-field.tsx renders the value again",
    ),
    Opening("date of a task", "prose", rf"{DATED}-[0-9]", "Dataview, EMOJI_REGEXES; Tasks 8.3.0, TaskSerializer"),
    Opening(
        "task",
        "line",
        r"^[\s>]*(?:[-*+]|\d+[.)])[ \t]+\[.\](?:\s|$)",
        "Tasks 8.3.0, src/Task/TaskRegularExpressions.ts",
    ),
    Opening(
        "tag",
        "prose",
        rf"(?<![\\\w])(?:\\\\)*#{TAG}",
        "Obsidian's help, Tags; a `#` behind an escape counts as at a start",
    ),
    Opening("block id", "prose", rf"(?<![\\\w])(?:\\\\)*\^{BLOCK_ID}", "Obsidian's help, Internal links"),
    Opening("inline footnote", "prose", r"(?<!\\)(?:\\\\)*\^\[", "Obsidian's help, Basic formatting syntax"),
    Opening(
        "math",
        "prose",
        r"(?<!\\)(?:\\\\)*\$(?=\S)(?s:[^$]*?[^\s\\])\$",
        "Obsidian's help, Advanced formatting syntax",
    ),
    Opening(
        "entity",
        "prose",
        rf"(?<!\\)(?:\\\\)*&{ENTITY}",
        "CommonMark 0.31, 2.5: what is shown is another text",
    ),
    Opening(
        "link",
        "prose",
        r"\]\((?!(?i:https?://|mailto:))",
        "Obsidian's help, Obsidian URI, Internal links; Advanced URI 2.0.0",
    ),
    Opening(
        "address",
        "prose",
        r"(?i)(?<![a-z0-9+.-])(?!https?:)[a-z][a-z0-9+.-]*://",
        "Obsidian 1.12, the editor's list of schemes",
    ),
    Opening(
        "address without //",
        "prose",
        rf"{SCHEME}:(?=[A-Za-z0-9%/])",
        "Obsidian 1.12, the editor's list of schemes",
    ),
    Opening("wikilink, embed", "prose", r"!?\[\[", "Obsidian's help, Internal links, Embed files"),
    Opening("image", "prose", r"!\[", "Obsidian's help, Embed files: fetched when shown"),
    Opening("comment", "prose", r"%%", "Obsidian's help, Comments"),
    Opening("HTML", "prose", r"(?<!\\)(?:\\\\)*<[A-Za-z/!?]", "Obsidian's help, HTML content"),
    Opening("callout", "line", r"^[\s>]*\[!", "Obsidian's help, Callouts"),
    Opening("definition", "prose", r"\]:", "CommonMark 0.31, 4.7; footnotes as well"),
)
"""Fences are not listed: plugins may register any word, so every word outside `LANGUAGES` is escaped."""

_WORDS = """
    apache applescript asciidoc asm astro awk bash bat batch bazel bibtex c c++ cc cfg clj clojure cmake cmd coffee
    console cpp cr crystal cs csharp csproj css csv cue cxx cython d dart diff django docker dockerfile dosini dotenv
    ebnf ejs elixir elm env erb erl erlang ex exs f90 fish fortran fs fsharp gherkin git gitignore gleam glsl go gomod
    gotmpl gql gradle graphql groovy h haml handlebars haskell haxe hbs hcl hlsl hpp hs html http ini java javascript
    jinja jinja2 jl js json json5 jsonc jsonl jsonnet jsp jsx julia just justfile kotlin kt kts latex less liquid lisp
    llvm log lua m make makefile markdown matlab md mdx mk ml mm mojo mustache nasm nginx nim nix objc objective-c
    objectivec ocaml odin output pascal patch perl php pl plain plaintext plist postgres powershell prisma prolog
    properties proto protobuf ps1 psql pug pwsh py py3 pycon python python3 r racket raku rb re regex rego rst ruby
    rust rs sass sc scala scheme scss sh shell shell-session shellscript sol solidity sparql sql sqlite starlark
    stderr stdout svelte svg swift systemd tcl terminal terraform tex text tf thrift toml traceback ts tsv tsx twig
    txt typescript typst v vb vbnet verilog vhdl vim viml vue wasm wat wgsl xml yaml yml zig zsh
"""
LANGUAGES = frozenset(_WORDS.split())
"""Info words of fences that only choose the syntax highlighting."""
