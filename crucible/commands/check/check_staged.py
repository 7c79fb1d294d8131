"""Secrets in what is about to be committed: the lines that git's index adds to files of the vault.

Owns what git is asked and how its answers are read.  The staged bytes are looked at, not the files: these may have
changed since.  A file is looked at whole, since a private key or a name may begin above the added lines, and what lies in
lines that were there already is left alone.

Whatever git cannot say raises `SecretsError`: the caller refuses the commit then.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from crucible.commands.check.check_secrets import (
    Found,
    decoded,
    found_in_lines,
    found_in_name,
    found_in_text,
    is_wide,
)
from crucible.core.errors import SecretsError, reason_of
from crucible.core.secrets import Scanner
from crucible.vault.notes.vault import Vault

_DIFF = (
    *(
        "diff",
        "--cached",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--submodule=short",
    ),
    *("--no-relative", "--ignore-submodules=none"),
)
"""Whatever the user's own settings make of a diff."""

_LINK_TO_COMMIT = b"160000"
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_HINT = "nothing was committed; `git commit --no-verify` commits without looking"


class _Staged(NamedTuple):
    """A file as it will be: its path from the top of the repository, the id of its bytes, how it came to be so."""

    path: bytes
    blob: bytes
    status: str


def check_staged(vault: Vault, here: Path) -> list[Found]:
    """Every secret in lines that the next commit of the repository around the vault adds to the vault's files.

    Git is called in `here`: in a hook its environment names files as seen from there.
    """
    scanner = Scanner(vault.settings.secrets)
    git = _Git(here)
    top = Path(os.path.realpath(os.fsdecode(git("rev-parse", "--show-toplevel").removesuffix(b"\n"))))
    try:
        prefix = vault.root.relative_to(top).as_posix()
    except ValueError:
        raise SecretsError(f"{vault.root}: not in the repository at {top}", _HINT) from None
    within = f":(top,literal){prefix}" if prefix != "." else ":(top)"
    staged = list(_staged(git(*_DIFF, "--raw", "-z", "--no-abbrev", "--diff-filter=AMT", "--", within)))
    changed = _added_lines(git(*_DIFF, "-U0", "--inter-hunk-context=0", "-a", "--diff-filter=M", "--", within))
    added = dict(zip((s.path for s in staged if s.status == "M"), changed, strict=False))
    if len(added) != len(changed) or len(added) != sum(s.status == "M" for s in staged):
        raise SecretsError("git's list of changes and its changes differ", _HINT)
    found: list[Found] = []
    for one, data in zip(staged, git.contents([one.blob for one in staged]), strict=True):
        found += _found_in(scanner, one, data, added.get(one.path), prefix)
    return sorted(set(found))


def _found_in(
    scanner: Scanner, staged: _Staged, data: bytes, added: Collection[int] | None, prefix: str
) -> Iterator[Found]:
    """`added` are the numbers of added lines; None says that all are."""
    if is_wide(data):  # git counts other lines in it
        added = None
    name = os.fsdecode(staged.path)
    name = name if prefix == "." else name.removeprefix(f"{prefix}/")
    shown, _ = scanner.redact(name)
    if staged.status == "A":
        yield from found_in_name(scanner, name, shown)
    for secret, last in _found_inside(scanner, shown, data):
        lines = range(secret.line, last + 1)
        first = next((line for line in lines if added is None or line in added), None)
        if first is not None:
            yield secret._replace(line=first)


def _found_inside(scanner: Scanner, shown: str, data: bytes) -> Iterator[tuple[Found, int]]:
    """Each secret of a file, with the line where it ends."""
    if shown.endswith(".jsonl"):
        yield from ((s, s.line) for s in found_in_lines(scanner, shown, enumerate(data.split(b"\n"), 1)))
    else:
        yield from found_in_text(scanner, shown, decoded(data))


def _staged(raw: bytes) -> Iterator[_Staged]:
    """`:old mode, new mode, old id, new id, status` and the path, each closed by a NUL."""
    parts = raw.split(b"\0")
    for head, path in zip(parts[::2], parts[1::2], strict=False):
        _, mode, _, blob, status = head.split(b" ")
        # A submodule's change is another repository's commit: bytes of ours are in none of it.
        yield _Staged(path, b"" if mode == _LINK_TO_COMMIT else blob, status.decode()[:1])


def _added_lines(diff: bytes) -> list[Collection[int]]:
    """For each file of a diff without context, in its order, the numbers of the added lines.

    A hunk says how many lines it has, so that no line's text is taken for a head.
    """
    added: list[Collection[int]] = []
    inside: set[int] = set()
    left = 0
    for line in diff.split(b"\n"):
        if left:
            left -= not line.startswith(b"\\")  # "\ No newline at end of file" is told, not counted
        elif line.startswith(b"diff --git "):
            added.append(inside := set())
        elif hunk := _HUNK.match(line):
            gone, first, count = (int(group) if group else 1 for group in hunk.groups())
            inside.update(range(first, first + count))
            left = gone + count
    return added


class _Git:
    """Git in one folder, with the environment that it gave us."""

    def __init__(self, here: Path) -> None:
        self._here = here

    def __call__(self, *args: str, given: bytes | None = None) -> bytes:
        command = ["git", "-c", "core.quotePath=false", *args]
        # The user's own context lines would make old lines look as if they were near what was added.
        env = {name: value for name, value in os.environ.items() if name != "GIT_DIFF_OPTS"}
        try:
            done = subprocess.run(command, cwd=self._here, input=given, capture_output=True, check=False, env=env)
        except OSError as error:
            raise SecretsError(f"git: {reason_of(error)}", _HINT) from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
            raise SecretsError(f"git {args[0]}: {said or f'ended with {done.returncode}'}", _HINT)
        return done.stdout

    def contents(self, blobs: list[bytes]) -> Iterator[bytes]:
        """The bytes of each, in turn; those of a submodule are none."""
        asked = [blob for blob in blobs if blob]
        told = self("cat-file", "--batch", given=b"".join(blob + b"\n" for blob in asked)) if asked else b""
        at = 0
        for blob in blobs:
            if not blob:
                yield b""
                continue
            head, _, _ = told[at : at + 200].partition(b"\n")
            if not head.startswith(blob + b" blob "):
                raise SecretsError(f"git has no bytes of {blob.decode()}", _HINT)
            at += len(head) + 1
            size = int(head.rsplit(b" ", 1)[1])
            yield told[at : at + size]
            at += size + 1
