"""Markdown from notes, rendered by rich for a terminal."""

from __future__ import annotations

from copy import copy
from functools import cache

from rich.markdown import Markdown

from crucible.cli.output import clean
from crucible.documents.markdown.outline import text_tokens


def markdown(text: str) -> Markdown:
    """Return foreign Markdown, cleaned, to print with rich."""
    made = copy(_empty())
    made.markup = clean(text)
    made.parsed = text_tokens(made.markup)
    return made


@cache
def _empty() -> Markdown:
    """Markdown without text: rich makes a parser for each text, which takes longer than to parse a short one."""
    return Markdown("")
