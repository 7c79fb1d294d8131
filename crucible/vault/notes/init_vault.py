"""Create a vault, set values in the user's settings, and record what the user accepts from a vault.

`cru init` can be run again at any time: existing files keep their lines, and missing lines are added at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from crucible.core import files
from crucible.core.errors import NoteExists, VaultError, reason_of
from crucible.core.settings.settings import UserSettings, VaultSettings, default_config, load_vault_settings
from crucible.core.settings.toml_values import StrPath, Table, no_toml
from crucible.core.settings.trust import Ask, is_inside, record_line
from crucible.vault.notes.walk import CASES, KNOWLEDGE, WORKFLOWS

_GITIGNORE = """\
# Everything here is private, derived or temporary, except what is allowed below.
/*
!/.gitignore
!/config.toml
!/templates/
!/memory/
!/tasks/
"""

_FLIGHT_TRACKED = "!/flight/"

_UNION_MERGED = (
    ".crucible/memory/**/*.jsonl merge=union",
    ".crucible/tasks/**/*.jsonl merge=union",
    ".crucible/flight/**/*.jsonl merge=union",
)
"""Append-only files, for which a git merge keeps the lines of both sides."""

_OWNED = (CASES, KNOWLEDGE)
"""Folders of notes that commands propose and users review; created with their first note."""

_GENERATED = ("history", "projects")
"""Folders of histories and project notes; created with their first note."""

_FOLDERS = (".crucible/templates", ".crucible/memory", ".crucible/tasks")


def init_vault(directory: Path, *, obsidian: bool = True) -> list[Path]:
    """Make `directory` a vault and return the paths that were created or extended; none if the vault was complete.

    `obsidian` also creates the missing files for Obsidian.
    """
    root = Path(os.path.realpath(directory))
    _check_is_folder(root, directory)
    made = _make_folders(root, (".", ".crucible"))
    made += _create(root, ".crucible/config.toml", default_config())
    settings = load_vault_settings(root)
    made += _create(root, ".crucible/.gitignore", _GITIGNORE)
    if settings.events.track:
        made += _extend(root, ".crucible/.gitignore", (_FLIGHT_TRACKED,))
    # Notes are preserved byte for byte: git must not convert their line ends.
    exact = tuple(f"{folder}/**/*.md -text" for folder in (settings.sessions, WORKFLOWS, *_OWNED, *_GENERATED))
    made += _extend(root, ".gitattributes", (*exact, *_UNION_MERGED))
    made += _make_folders(root, (*_FOLDERS, settings.sessions))
    made += place_obsidian_files(root, settings) if obsidian else []
    return list(dict.fromkeys(made))


def set_user_settings(user_config: Path, values: Mapping[str, str | bool]) -> None:
    """Set values by dotted key in the user's settings file.  Comments, order and other keys are kept."""
    config = Path(os.path.realpath(user_config))
    try:
        config.parent.mkdir(parents=True, exist_ok=True)
        text = config.read_bytes().decode("utf-8") if config.exists() else ""
    except UnicodeDecodeError as error:
        raise VaultError(f"{user_config}: not UTF-8 at byte {error.start}", "save the file as UTF-8") from error
    except OSError as error:
        raise VaultError(f"{user_config}: {reason_of(error)}") from error
    changed = with_user_settings(text, user_config, values)
    if changed != text:
        files.write_atomic(config, changed.encode("utf-8"))


def with_user_settings(text: str, path: StrPath, values: Mapping[str, str | bool]) -> str:
    """Return the text of the user's settings with these values set.  Comments, order and other keys are kept."""
    import tomlkit  # noqa: PLC0415  slow, and needed only to write settings

    read = Table(text, path)  # raises an error for a file that cannot be parsed, so it is never overwritten
    for dotted in values:
        read.pop(dotted)  # raises an error for a value in place of a table
    bom = text[:1] if text.startswith("\ufeff") else ""
    try:
        document = tomlkit.parse(text[len(bom) :])
        for dotted, value in values.items():
            *tables, key = dotted.split(".")
            at: Any = document
            for name in tables:
                at = at.setdefault(name, tomlkit.table())
            at[key] = value
        return bom + tomlkit.dumps(document)
    except (ValueError, RecursionError) as error:  # accepts the same as `tomllib`, but less nesting
        raise no_toml(path, error) from error


def _check_is_folder(root: Path, directory: Path) -> None:
    for path in (root, *root.parents):
        if path.is_dir():
            return
        if os.path.lexists(path):
            raise VaultError(f"{directory}: {path} is a file", "name a folder")


def _make_folders(root: Path, names: tuple[str, ...]) -> list[Path]:
    made = []
    for name in names:
        folder = root / name
        missing = not folder.exists()
        files.make_folders(root, folder)
        made += [folder] if missing else []
    return made


def _create(root: Path, name: str, text: str) -> list[Path]:
    path = files.inside(root, root / name)
    try:
        files.create_exclusive(path, text.encode("utf-8"))
    except NoteExists:
        return []
    return [root / name]


def _extend(root: Path, name: str, lines: tuple[str, ...]) -> list[Path]:
    """Append the lines that a file lacks, with the file's line endings."""
    path = files.inside(root, root / name)
    if not os.path.lexists(path):
        return _create(root, name, "".join(f"{line}\n" for line in lines))
    old, _ = files.read_bytes(path)
    newline = b"\r\n" if b"\r\n" in old else b"\n"
    have = {line.strip() for line in old.split(b"\n")}
    new = b"".join(line.encode() + newline for line in lines if line.encode() not in have)
    if not new:
        return []
    files.write_atomic(path, old + (b"" if not old or old.endswith(b"\n") else newline) + new)
    return [root / name]


def keep_accepted(user: UserSettings, root: str, asks: Iterable[Ask]) -> bool:
    """Replace what `user` accepted from the vault at `root`, a real path, with `asks`; return whether it changed.

    Raises `VaultError` if there is no place for the record, and `NoteChanged` if another process wrote it in the
    meantime.
    """
    path = _path(user, root)
    try:
        old = path.read_bytes() if path.exists() else b""
        before = old.decode("ascii").splitlines()
        after = [line for line in before if line.split(" ", 2)[2:] != [ascii(root)]]
        after += [record_line(ask, root) for ask in asks if not ask.fault]
        if after == before:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        data = "".join(f"{line}\n" for line in after).encode("ascii")
        if path.exists():
            files.write_atomic(path, data, expected=old)
        else:
            files.create_exclusive(path, data)
    except UnicodeDecodeError as error:
        raise VaultError(f'{path}: not written by "cru trust"', "move it away") from error
    except OSError as error:
        raise VaultError(f"{path}: {reason_of(error)}") from error
    return True


def _path(user: UserSettings, root: str) -> Path:
    hint = "set CRUCIBLE_CONFIG to a file outside the vault, or unset it"
    if not user.trusted:
        raise VaultError("cannot record what you accept: you have no user settings file", hint)
    if is_inside(user.trusted, root):
        raise VaultError(f"{user.trusted}: what you accept must be recorded outside the vault", hint)
    return Path(user.trusted).resolve()


SESSIONS_BASE, CASES_BASE, KNOWLEDGE_BASE = "Sessions.base", "Cases.base", "Knowledge.base"
START_NOTE = "Start here.md"
SNIPPET = ".obsidian/snippets/crucible.css"
APPEARANCE = ".obsidian/appearance.json"

_TEMPLATES = Path(__file__).with_name("obsidian_files")

_ENABLED = '{\n  "enabledCssSnippets": [\n    "crucible"\n  ]\n}\n'
"""Obsidian's list of enabled snippets.  It has other settings too, so only a new file is written."""

_IN_SESSIONS = "    - 'file.inFolder(\"{sessions}\")'\n"

OBSIDIAN_FILES = (SESSIONS_BASE, CASES_BASE, KNOWLEDGE_BASE, START_NOTE, SNIPPET, APPEARANCE)
"""The files in a vault's root, as paths relative to it."""


def missing_obsidian_files(root: Path) -> list[str]:
    """Return the names of the files that the vault at `root` lacks."""
    return [name for name in OBSIDIAN_FILES if not os.path.lexists(root / name)]


def place_obsidian_files(root: Path, settings: VaultSettings) -> list[Path]:
    """Create the missing files; returns their paths."""
    missing = missing_obsidian_files(root)
    return [root / name for name in missing if place_obsidian_file(root, name, settings)]


def place_obsidian_file(root: Path, name: str, settings: VaultSettings) -> bool:
    """Create one file with the values of the vault's settings, unless it exists; returns whether it was created."""
    path = root / name
    if os.path.lexists(path):
        return False
    files.make_folders(root, path.parent)
    with suppress(NoteExists):
        files.create_exclusive(path, obsidian_text(name, settings).encode(), fsync=settings.fsync)
        return True
    return False


def obsidian_text(name: str, settings: VaultSettings) -> str:
    """Return the text of a file of `OBSIDIAN_FILES`."""
    if name == APPEARANCE:
        return _ENABLED
    text = (_TEMPLATES / Path(name).name).read_text(encoding="utf-8")
    if settings.sessions == ".":
        text = text.replace(_IN_SESSIONS, "")
    # The folder is in a string of the filter, which is in a single-quoted string of YAML.
    folder = settings.sessions.replace("\\", "\\\\").replace('"', '\\"').replace("'", "''")
    return text.replace("{sessions}", folder).replace("{days}", str(settings.knowledge.verify_after_days))
