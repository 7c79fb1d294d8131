"""What an import does beside its transcripts: it takes what waits in the hooks' spool, and says how far it came when it stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crucible.cli.output import say
from crucible.hooks.syncing import waits, write_down
from crucible.importing.importing import ImportOptions
from crucible.importing.report import ImportReport
from crucible.vault.store import Vault

__all__ = ["drain", "tell_stop"]


def drain(vault: Vault, options: ImportOptions) -> None:
    """Write down what hooks were told of and nobody has looked at yet: how a session ended, say, stands in no transcript."""
    if not options.dry_run and waits(vault.root):
        write_down(vault.root)


def tell_stop(options: ImportOptions) -> Callable[[Sequence[ImportReport]], None]:
    """Told of an import that stops in the middle: a line on stderr about what is written all the same."""

    def tell(reports: Sequence[ImportReport]) -> None:
        created, updated = (sum(len(ids) for ids in each) for each in _written(reports))
        if not options.dry_run:
            say(f"stopped: {created} created, {updated} updated so far, and whole; import again for the rest")

    return tell


def _written(reports: Sequence[ImportReport]) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    return [report.created for report in reports], [report.updated for report in reports]
