"""Arguments that name a session, case, knowledge item, task or workflow, and their completion in a shell.

Keep imports light: completion runs while the user types.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crucible.cli.environment import user_settings, vault_root
from crucible.cli.options import Door
from crucible.core.errors import CrucibleError, IndexBroken
from crucible.core.settings.settings import load_vault_settings
from crucible.vault.notes.note_heads import is_for_rust, read_head
from crucible.vault.notes.walk import CASES as CASE_FOLDER
from crucible.vault.notes.walk import KNOWLEDGE, find_notes, note_name
from crucible.vault.notes.walk import WORKFLOWS as WORKFLOW_FOLDER

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_OVER = ("completed", "cancelled", "deleted")


class IdType(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """An id, a path, or a unique prefix of an id; the command resolves it.

    `find(root, start)` yields ids in the vault at `root`, at least all those that begin with `start`.
    """

    def __init__(self, find: Callable[[Path, str], Iterable[str]], name: str = "id", *, or_file: bool = False) -> None:
        self.name = name
        self._find = find
        self._or_file = or_file

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the sorted ids that begin with the typed text; none without a vault."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  only needed for shell completion

        # Completion parses earlier options but runs no callbacks, so there is no `Door` yet.
        door = Door(vault=ctx.find_root().params.get("vault"))
        ids: set[str] = set()
        with suppress(CrucibleError, OSError):
            ids = set(self._find(Path(vault_root(door, user_settings())), incomplete))
        # Each line is one suggestion, so a name with a line break cannot be offered.
        found = [CompletionItem(each) for each in sorted(ids) if each.startswith(incomplete) and each.isprintable()]
        return found or ([CompletionItem(incomplete, type="file")] if self._or_file else [])


class PickedId(click.Argument):
    """An argument for ids that may be left out: a terminal shows a picker, a pipe gets an error with the first ids.

    `kind` is a key of `id_choices.OFFERED`.  With one of the parameters `unless`, the command needs no id.  With
    `optional`, it chooses by itself in a pipe.
    """

    def __init__(
        self, decls: Sequence[str], *, kind: str, unless: Collection[str] = (), optional: bool = False, **settings: Any
    ) -> None:
        super().__init__(decls, **{"required": False, "callback": self._choose, **settings})
        self._kind, self._unless, self._optional = kind, unless, optional

    def _choose(self, ctx: click.Context, _: click.Parameter, value: Any) -> Any:
        """Let the user choose one if no id was given."""
        # An empty string was given: it is an id that does not exist.
        if value not in (None, ()) or ctx.resilient_parsing or self._is_needless(ctx):
            return value
        from crucible.cli.id_choices import choose_id  # noqa: PLC0415  slow, and rarely needed

        chosen = choose_id(ctx.ensure_object(Door), self._kind, optional=self._optional)
        return ((chosen,) if self.nargs == -1 else chosen) if chosen else value

    def _is_needless(self, ctx: click.Context) -> bool:
        """True if another parameter is given, perhaps by the environment, which click looks up after arguments."""
        others = [param for param in ctx.command.params if param.name in self._unless]
        return any(ctx.params.get(str(one.name)) or one.value_from_envvar(ctx) for one in others)


def _notes_in(folder: str, root: Path, _start: str) -> Iterator[str]:
    return (note_name(name) for _, names in find_notes(root, root / folder) for name in names)


def _sessions(root: Path, start: str) -> Iterator[str]:
    return _notes_in(load_vault_settings(root).sessions, root, start)


def _workflows(root: Path, start: str) -> Iterator[str]:
    """Yield workflow names; of the notes, only the heads of those whose names begin with `start` are read."""
    for folder, names in find_notes(root, root / WORKFLOW_FOLDER):
        yield from (note_name(name) for name in names if name.startswith(start) and not _is_foreign(folder / name))


def _is_foreign(path: Path) -> bool:
    try:
        return is_for_rust(read_head(str(path)))
    except OSError:
        return False


def _open_tasks(root: Path, _start: str) -> Iterator[str]:
    """Yield unfinished tasks from the index as last saved."""
    from crucible.vault.index.index_draft import IndexDraft  # noqa: PLC0415  late, as above
    from crucible.vault.index.index_files import IndexFolder  # noqa: PLC0415  late, as above
    from crucible.vault.index.schema import View  # noqa: PLC0415  late, as above

    folder = IndexFolder(str(root))
    draft = IndexDraft(folder, folder.load())
    with suppress(IndexBroken):  # another process replaced it in the meantime
        for row in View(draft.shards(), draft.read).rows("tasks"):
            if row["status"] not in _OVER:
                name = str(row["path"]).rpartition("/")[2].removesuffix(".md")
                yield f"{name}.{row['task_id']}"


SESSION = IdType(_sessions)
CASE = IdType(partial(_notes_in, CASE_FOLDER))
ITEM = IdType(partial(_notes_in, KNOWLEDGE))
TASK = IdType(_open_tasks)
"""An id of the form `SESSION.TASK`, or only the task's id for a task of the current session."""
WORKFLOW = IdType(_workflows, "workflow", or_file=True)
"""Also accepts the slug of a workflow's title."""


def _completer(type_: IdType, count: int = 1) -> click.Command:
    """Return a stand-in for a command that takes ids, used only for completion."""
    return click.Command("id", params=[click.Argument(["id"], type=type_, nargs=count)])


ONE_SESSION, SESSIONS = _completer(SESSION), _completer(SESSION, -1)
CASES = _completer(CASE, -1)
ONE_ITEM, ITEMS = _completer(ITEM), _completer(ITEM, -1)
ONE_TASK = _completer(TASK)
ONE_WORKFLOW, WORKFLOWS = _completer(WORKFLOW), _completer(WORKFLOW, -1)
