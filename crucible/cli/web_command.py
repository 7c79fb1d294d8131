"""`cru web`: read-only pages of the vault in the browser, or as a static site."""

from __future__ import annotations

import os
import socket
import threading
import webbrowser
from importlib.util import find_spec
from pathlib import Path

import click

from crucible.cli.environment import absolute_path, user_settings
from crucible.cli.options import Door, flag, one_of, yes_option
from crucible.cli.output import bar, clean_line, say, warn, write
from crucible.cli.share_command import confirmed, open_pages, outside, say_contents, say_private, sharing_person
from crucible.cli.vault_access import open_vault
from crucible.core.command_lines import install_command
from crucible.core.errors import CrucibleError
from crucible.core.secrets.redaction import redact_of
from crucible.core.text import counted
from crucible.web.live_changes import LiveChanges
from crucible.web.session_entries import Level
from crucible.web.share_redaction import ShareRedaction
from crucible.web.site_export import Export, SiteFolder, Summary
from crucible.web.site_pages import SitePages

_HOST = "127.0.0.1"


@click.command
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port to use; 0 finds a free one.")
@flag("--no-open", "Only print the address; do not open the browser.", "no_open")
@click.option("--export", metavar="DIR", help="Write a static site to a folder instead, redacted as by `cru share`.")
@click.option(
    "--level",
    type=one_of(Level),
    default="full",
    show_default=True,
    help="How much to export: your words, the conversation, or tool calls as well.",
)
@yes_option("Export without asking.")
@click.pass_obj
def web(door: Door, port: int, export: str | None, level: str, *, no_open: bool, yes: bool) -> int:
    """Show the vault in your browser: sessions, inbox, workflows, knowledge.

    \b
    - Pages are read-only and served to this machine only. The address has
      a token, so other users cannot open them.
    - The page of a running session updates by itself.
    - Ctrl-C stops it.

    With --export, writes a site with a search for a team: all sessions,
    workflows, cases, knowledge and histories.

    \b
    - Open it from the folder, or copy it to any web server.
    - Secrets and personal data are redacted again. You see what is in the
      site before it is written.
    - The next export to the same folder writes only what changed, and
      removes the pages of deleted notes.

    \b
      cru web
      cru web --port 8123 --no-open
      cru web --export ~/team-site --level talk
    """
    if export is not None:
        return export_site(door, export, Level(level), yes=yes)
    _check_library()
    from crucible.web.web_server import build_app, new_token, serve  # noqa: PLC0415  an optional dependency

    vault, user = open_vault(door, looks=False), user_settings()
    pages = open_pages(vault)
    live = LiveChanges(vault.root, vault.settings, user, pages.forget_links)
    with _listen(port) as listener:
        port, token = listener.getsockname()[1], new_token()
        address = f"http://{_HOST}:{port}/?token={token}"
        write(address)
        say("Ctrl-C stops it.")
        if not no_open:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        pages.prepare_recall()
        try:
            serve(build_app(pages, live, token, port), listener, live)
        except KeyboardInterrupt:
            say("stopped")
    return 0


def _check_library() -> None:
    if not (find_spec("starlette") and find_spec("uvicorn")):
        raise CrucibleError('"cru web" needs the extra "web", which is not installed', f"Run: {install_command('web')}")


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_HOST, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise CrucibleError(f"port {port}: {error.strerror or error}", "choose another port, or omit --port") from error
    return listener


def export_site(door: Door, folder: str, level: Level, *, yes: bool) -> int:
    """Export the vault to a folder; return the exit code."""
    vault = open_vault(door)
    place = outside(vault, Path(absolute_path(folder)))
    site, web, person = SiteFolder(place), open_pages(vault), sharing_person(vault)
    redaction = ShareRedaction(redact_of(vault.settings.secrets), person)
    with Export(site, warn) as export:
        pages = SitePages(web, level, redaction, (person, vault.settings.secrets))
        with bar("rendering pages") as show:
            for number in export.make(pages, redaction):
                show(number, pages.count)
        summary = export.summary()
        _show(place, level, summary)
        if not confirmed(f"Write to {place.name}?", yes=yes):
            return 1
        export.write()
    written, removed = summary.written, summary.removed
    write(f"written  {clean_line(str(place))}: {counted(written, 'file')} written, {removed} removed")
    return 0


def _show(place: Path, level: Level, summary: Summary) -> None:
    """Print what is in the site, and what was redacted again."""
    contents = summary.contents
    write(f"{clean_line(str(place))}  {counted(summary.sessions, 'session')}, {counted(summary.others, 'other page')}")
    say_contents(level, contents, summary.taken.redacted)
    say_private(summary.taken.private)
