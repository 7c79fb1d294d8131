"""What the root's options say, handed to every command.  Opening the vault is in `opening.py`: it imports more."""

from __future__ import annotations

from typing import NamedTuple


class Door(NamedTuple):
    """`color` is None when the terminal decides; `terminal` says whether stdout is one."""

    vault: str | None = None
    color: bool | None = None
    terminal: bool = False
