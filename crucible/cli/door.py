"""What the root's options say, handed to every command.  Opening the vault is in `opening.py`: it imports more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Door"]


@dataclass(frozen=True, slots=True)
class Door:
    """`color` is None when the terminal decides; `terminal` says whether stdout is one."""

    vault: Path | None = None
    color: bool | None = None
    terminal: bool = False
