r"""What the Obsidian app and its most installed plugins act on in a note, and where each was found.

Contained text is checked against this table.  Obsidian itself was not run: the sources are its public help and the plugins' own code,
read in November 2026.  Plugins are assumed to have their default prefixes.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from crucible.documents.markdown.code_spans import SPAN_START
from crucible.documents.markdown.containment_inline import BLOCK_ID, DATED, ENTITY, SCHEME, TAG


class Opening(NamedTuple):
    """A mark that Obsidian or a plugin acts on.

    `where` it is found: in the `raw` file, whatever its Markdown; in the `shown` (rendered) text of a block including code; at the start
    of `code` (spans and blocks) or of a `span` only; in a `line` outside code; or in `prose`, the source text of a block outside code.
    """

    name: str
    where: Literal["raw", "shown", "code", "span", "line", "prose"]
    pattern: str
    source: str


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
