"""`cru web --export`: write the vault as a static site, after showing what is in it."""

from __future__ import annotations

from pathlib import Path

from crucible.cli.environment import absolute_path
from crucible.cli.options import Door
from crucible.cli.output import bar, clean_line, counted, warn, write
from crucible.cli.share_command import confirmed, open_pages, outside, say_contents, say_private, sharing_person
from crucible.cli.vault_access import open_vault
from crucible.core.secrets.redaction import redact_of
from crucible.web.session_entries import Level
from crucible.web.share_redaction import ShareRedaction
from crucible.web.site_export import Export, Summary
from crucible.web.site_folder import SiteFolder
from crucible.web.site_pages import SitePages


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
