"""Let the user choose one of several things at a terminal: arrow keys, typing to filter, and a preview.

A dumb or tiny terminal gets a numbered list.  Everything is written to stderr, so stdout stays the command's.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from crucible.cli.output import clean_line, say
from crucible.cli.table_output import aligned, cut_to

if TYPE_CHECKING:
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

_TINY = 30
"""Fewer columns than this have no room for a picker."""
_LISTED, _PREVIEWED = 10, 6
"""Maximum lines of the list and of the preview."""
_HIGH = 18
"""Minimum lines of a terminal for a preview."""
_NUMBERED = 20
"""Maximum choices in a numbered list."""


class Choice(NamedTuple):
    """A choice: the id to return, its title and facts (project, age, status), and lines of text for the preview."""

    id: str
    title: str
    facts: str = ""
    preview: Callable[[], Sequence[str]] = tuple

    @property
    def label(self) -> str:
        """The title and the facts, in one line."""
        return clean_line(f"{self.title}  {self.facts}" if self.facts else self.title)

    def line(self, width: int) -> str:
        """Return the line in the list: facts stand at its right end, if there is room for them."""
        facts, title = clean_line(self.facts), clean_line(self.title)
        room = width - len(facts) - 2
        return (
            f"{aligned([title, ' ' * room], room)[0]}  {facts}"
            if facts and room >= width // 2
            else cut_to(title, width)
        )


def pick(choices: Sequence[Choice], what: str) -> str:
    """Return the id of the chosen one; `what` names the kind of thing.  Raises `click.Abort` on Esc or Ctrl-C."""
    is_plain = os.environ.get("TERM", "" if os.name == "nt" else "dumb") == "dumb"
    if is_plain or shutil.get_terminal_size().columns < _TINY:
        return _pick_number(choices, what)
    return _Picker(choices, what).run()


def _matching(choices: Sequence[Choice], text: str) -> list[Choice]:
    """Return the choices whose label or id contains every word."""
    words = text.casefold().split()
    return [one for one in choices if all(word in f"{one.label} {one.id}".casefold() for word in words)]


# --- a dumb terminal -------------------------------------------------------------------------------------------------


def _pick_number(choices: Sequence[Choice], what: str) -> str:
    """Ask for a number, or for words that narrow the list; Enter takes the first."""
    shown = list(choices)
    while True:
        for number, one in enumerate(shown[:_NUMBERED], 1):
            say(f"{number:>3}  {one.label}")
        if len(shown) > _NUMBERED:
            say(f"     {len(shown) - _NUMBERED} more; type a word to filter")
        answer = click.prompt(f"Which {what}? Number or word [1]", default="1", show_default=False, err=True).strip()
        if answer.isdecimal() and 1 <= int(answer) <= len(shown):
            return shown[int(answer) - 1].id
        found = _matching(choices, answer)
        if len(found) == 1:
            return found[0].id
        if not found:
            say(f"no {what} matches {answer!r}")
        shown = found or list(choices)


# --- a terminal with a cursor ----------------------------------------------------------------------------------------


class _Picker:
    """The list, the filter above it and the preview below."""

    def __init__(self, choices: Sequence[Choice], what: str) -> None:
        self._choices = choices
        self._what = what
        self._shown = list(choices)
        self._at = 0
        self._size = shutil.get_terminal_size()

    def run(self) -> str:
        """Show the picker until a choice is made."""
        # Imported late: only a terminal needs it, and it takes longer than all of ours.
        from prompt_toolkit.application import Application  # noqa: PLC0415
        from prompt_toolkit.buffer import Buffer  # noqa: PLC0415
        from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, Window  # noqa: PLC0415
        from prompt_toolkit.layout.processors import BeforeInput  # noqa: PLC0415
        from prompt_toolkit.output import create_output  # noqa: PLC0415
        from prompt_toolkit.output.vt100 import Vt100_Output  # noqa: PLC0415

        buffer = Buffer(multiline=False, on_text_changed=lambda one: self._filter(one.text))
        typed = BufferControl(buffer, input_processors=[BeforeInput(f"{self._what}: ", style="bold")])
        height = max(3, min(_LISTED, self._size.lines - 4, len(self._choices)))
        windows = [
            Window(typed, height=1),
            Window(FormattedTextControl(lambda: self._list(height)), height=height),
        ]
        if self._size.lines >= _HIGH:
            windows.append(Window(FormattedTextControl(self._preview), height=_PREVIEWED + 1))
        windows.append(Window(FormattedTextControl(self._footer), height=1))
        output = create_output(stdout=sys.stderr)
        if isinstance(output, Vt100_Output):
            # Not asked for the cursor's position, which some terminals do not report.
            output.enable_cpr = False
        application: Application[str] = Application(
            Layout(HSplit(windows)),
            key_bindings=self._keys(),
            output=output,
            erase_when_done=True,
        )
        # A lone Esc is not the beginning of a key's sequence for long.
        application.ttimeoutlen = application.timeoutlen = 0.05
        return application.run()

    def _keys(self) -> KeyBindings:
        from prompt_toolkit.key_binding import KeyBindings  # noqa: PLC0415  late, as above

        keys = KeyBindings()
        for names, step in (
            (("up", "c-p", "s-tab"), -1),
            (("down", "c-n", "tab"), 1),
            (("pageup",), -_LISTED),
            (("pagedown",), _LISTED),
        ):
            for name in names:
                keys.add(name)(lambda _, step=step: self._move(step))

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            if self._shown:
                event.app.exit(result=self._shown[self._at].id)

        @keys.add("escape")
        @keys.add("c-c")
        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(exception=click.Abort)

        return keys

    def _filter(self, text: str) -> None:
        self._shown, self._at = _matching(self._choices, text), 0

    def _move(self, step: int) -> None:
        self._at = max(0, min(self._at + step, len(self._shown) - 1))

    def _list(self, height: int) -> StyleAndTextTuples:
        """Return the visible lines with their styles; the chosen one is reversed and marked."""
        first = max(0, min(self._at - height // 2, len(self._shown) - height))
        lines: StyleAndTextTuples = []
        for at, one in enumerate(self._shown[first : first + height], first):
            mark, style = ("> ", "reverse") if at == self._at else ("  ", "")
            lines.append((style, f"{mark}{one.line(self._size.columns - 3)}\n"))
        return lines or [("", f"  no {self._what} matches")]

    def _preview(self) -> StyleAndTextTuples:
        if not self._shown:
            return []
        one = self._shown[self._at]
        facts = f"{one.id}  {one.facts}"
        lines = [clean_line(facts), *(clean_line(line) for line in one.preview()[:_PREVIEWED])]
        return [("fg:ansibrightblack", "\n".join(cut_to(f"  {line}", self._size.columns - 1) for line in lines))]

    def _footer(self) -> StyleAndTextTuples:
        return [("fg:ansibrightblack", f"{len(self._shown)}/{len(self._choices)}  Enter: choose  Esc: cancel")]
