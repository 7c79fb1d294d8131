"""`cru share`: write a session to a file for somebody else, after showing what is in it."""

from __future__ import annotations

import os
import socket
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import click

from crucible.cli.environment import absolute_path, user_settings
from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.options import Door, local_now, one_of, user_zone, yes_option
from crucible.cli.output import clean_line, json_bytes, say, write
from crucible.cli.vault_access import load_note, open_vault
from crucible.core.errors import UsageError
from crucible.core.files import create_exclusive, write_atomic, write_errors
from crucible.core.git import run_git
from crucible.core.prices.price_list import load_prices
from crucible.core.secrets.redaction import redact_of
from crucible.core.text import counted
from crucible.vault.notes.vault import Vault
from crucible.web.call_details import ROOM_OF_PAGE
from crucible.web.session_entries import Level
from crucible.web.share_redaction import Person, ShareRedaction
from crucible.web.shared_session import Contents, Shared, contents_of, shared_html, shared_markdown, shared_session
from crucible.web.trajectory import trajectory_of
from crucible.web.web_vault import WebSettings, WebVault

_SUFFIXES = {"html": ".html", "markdown": ".md", "atif": ".json"}
_ROOM = {"html": ROOM_OF_PAGE, "markdown": None, "atif": 25 * ROOM_OF_PAGE}
"""Characters for the arguments and outputs of calls, which a note does not have."""
_EXAMPLES = 4


@click.command
@click.argument("session", cls=PickedId, kind="session", metavar="[ID]", type=SESSION)
@click.option("--format", "format_", type=click.Choice([*_SUFFIXES]), default="html", show_default=True, help="Format.")
@click.option("--level", type=one_of(Level), default="full", show_default=True, help="How much to include.")
@click.option(
    "-o", "--output", metavar="FILE", help="File to write; default: the session's id, here or beside the vault."
)
@yes_option("Do not ask, not even before a file is replaced.")
@click.pass_obj
def share(door: Door, session: str, format_: str, level: str, output: str | None, *, yes: bool) -> int:
    """Write one session to a file for somebody else.

    Secrets, home folders, e-mail addresses and the name of this machine are
    redacted again. You see what is in the file and what still looks private
    before anything is written. The vault is not changed.

    \b
    - html is one file that opens anywhere and loads nothing; markdown is a
      note; atif is a trajectory (ATIF 1.8) with subagents.
    - Level user has your words and decisions, talk the conversation as well,
      full also tool calls with their outputs.

    \b
      cru share 2026-11-21-add-rate-limiter
      cru share 2026-11-21-add --level talk --output talk.html
      cru share 2026-11-21-add --format atif --yes
    """
    vault, chosen = open_vault(door), Level(level)
    note, web, person = load_note(vault, session), open_pages(vault), sharing_person(vault)
    redaction = ShareRedaction(redact_of(vault.settings.secrets), person)
    shared = shared_session(web, note.session, chosen, redaction, _ROOM[format_])
    target = _target(vault, output, f"{shared.whole.session.id}{_SUFFIXES[format_]}")
    text = _text(shared, format_, web)
    _show(shared, redaction.counts)
    say_private(redaction.private)
    if not confirmed(f"Write {target.name}?", yes=yes):
        return 1
    return _write(target, text.encode("utf-8", "replace"), yes=yes)


def open_pages(vault: Vault) -> WebVault:
    """Return the vault for rendering pages."""
    return WebVault(vault, WebSettings(user_zone(), local_now, load_prices(user_settings().prices)))


def sharing_person(vault: Vault) -> Person:
    """Return what must not be in texts that this user shares."""
    names = (run_git(vault.root, "config", "user.name") or "").strip()
    return Person(os.path.expanduser("~"), socket.gethostname(), [names] if names else [])


def _text(shared: Shared, format_: str, web: WebVault) -> str:
    if format_ == "atif":
        return json_bytes(trajectory_of(shared), indent=True).decode()
    return shared_html(shared, web) if format_ == "html" else shared_markdown(shared)


def _target(vault: Vault, output: str | None, name: str) -> Path:
    """Return the file to write: in this folder or, in the vault, in the folder that has the vault."""
    if output is not None:
        return outside(vault, Path(absolute_path(output)))
    here = Path(absolute_path(name))
    return vault.root.parent / name if is_in(vault, here) else here


def outside(vault: Vault, target: Path) -> Path:
    """Return a place to write to.  Raises `UsageError` for one in the vault."""
    if is_in(vault, target):
        raise UsageError(f"{target}: in the vault, which sharing does not change", "choose a place outside the vault")
    return target


def is_in(vault: Vault, target: Path) -> bool:
    """Return whether a place is in the vault."""
    return Path(os.path.realpath(target)).is_relative_to(vault.root)


def _show(shared: Shared, counts: Counter[str]) -> None:
    """Print what is in the file, and what was redacted again."""
    parts, session = contents_of(shared.whole), shared.whole.session
    write(f"{clean_line(session.id)}  {clean_line(session.title)}")
    say_contents(shared.level, parts, counts, _subagents(parts))


def _subagents(parts: Contents) -> str:
    """Return the number of subagents in the file, and their total if some are missing."""
    missing = f" of {parts.listed}" if 0 < parts.subagents < parts.listed else ""
    return f"{parts.subagents}{missing} subagent{'' if (parts.listed if missing else parts.subagents) == 1 else 's'}"


def say_contents(level: Level, parts: Contents, counts: Counter[str], *more: str) -> None:
    """Print how much is shared, and what was redacted again for it, by rule."""
    numbers = ((parts.phases, "phase"), (parts.prompts, "prompt"), (parts.calls, "call"), (parts.outputs, "output"))
    write(f"  level {level}: {', '.join([*(counted(*one) for one in numbers), *more])}")
    if parts.left_out:
        write(f"  left out: arguments and outputs of {counted(parts.left_out, 'call')}, because of their size")
    found = ", ".join(f"{rule} {count}" for rule, count in sorted(counts.items()))
    write(f"  redacted for sharing: {found or 'nothing'}")


def say_private(found: Mapping[str, Counter[str]]) -> None:
    """Print what looks private but is not redacted."""
    for kind, names in found.items():
        shown = ", ".join(name for name, _ in names.most_common(_EXAMPLES))
        more = f" and {len(names) - _EXAMPLES} more" if len(names) > _EXAMPLES else ""
        write(f"  looks private, not redacted: {kind}: {clean_line(shown)}{more}")


def confirmed(question: str, *, yes: bool) -> bool:
    """Ask the user; a pipe cannot be asked."""
    if yes:
        return True
    if not (sys.stdin and sys.stdin.isatty()):
        raise UsageError("sharing needs a confirmation", "Pass --yes to share without being asked.")
    if click.confirm(question, default=False, err=True):
        return True
    say("nothing was written")
    return False


def _write(target: Path, data: bytes, *, yes: bool) -> int:
    """Write the file, which may replace another only if the user says so."""
    exists = os.path.lexists(target)
    if exists and not confirmed(f"{target.name} exists. Replace it?", yes=yes):
        return 1
    with write_errors(target):
        if exists:
            write_atomic(target, data)
        else:
            create_exclusive(target, data)
    write(f"{'replaced' if exists else 'written'}  {clean_line(str(target))}")
    return 0
