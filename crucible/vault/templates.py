"""Which template a text is made with: the vault's own in `.crucible/templates/` where there is one, else ours.

Owns where it lies and reading it.  What a vault's template may do is `crucible.templates`'; what it is given and must print is the
caller's.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from crucible.errors import VaultError
from crucible.templates import OwnTemplate, VaultTemplate
from crucible.vault.files import inside, read_bytes

__all__ = ["load_template"]


def load_template(
    root: Path, name: str, *, names: Collection[str], required: Collection[str]
) -> OwnTemplate | VaultTemplate:
    """The template `name` for the vault at `root`; `CrucibleError` in one line for one that is broken."""
    path = root / ".crucible" / "templates" / name
    if not os.path.lexists(path):
        return OwnTemplate(name)
    data, _ = read_bytes(inside(Path(os.path.realpath(root)), path))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VaultError(f"{path}: it is not UTF-8", "save it as UTF-8, or move it away") from error
    return VaultTemplate(text, str(path), names=names, required=required)
