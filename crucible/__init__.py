"""Keep the sessions of coding agents as notes in an Obsidian vault.

    import crucible

    vault = crucible.open("~/notes")
    for session in vault.sessions(status="paused"):
        print(session.id, session.title)

The names in `__all__` are the public API, documented in `docs/api.md`; every other module is private and may change
without notice. Names are loaded when they are first used.
"""

# Hooks load this module, so it must import almost nothing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from crucible.api import (
        SessionRow,
        Vault,
        add_entry,
        add_phase,
        attach,
        open,  # noqa: A004  `crucible.open` is named like `gzip.open`
        read_note,
        read_transcript,
        record,
        set_property,
    )
    from crucible.commands.record.recorder import Recorder
    from crucible.core.errors import CrucibleError
    from crucible.documents.session.session import (
        AgentRef,
        Callout,
        Decision,
        Failure,
        Intervention,
        Phase,
        Prose,
        Session,
        ToolCall,
        ToolCalls,
    )
    from crucible.vault.notes.vault import Note

__version__ = "0.1.0"

__all__ = [
    "AgentRef",
    "Callout",
    "CrucibleError",
    "Decision",
    "Failure",
    "Intervention",
    "Note",
    "Phase",
    "Prose",
    "Recorder",
    "Session",
    "SessionRow",
    "ToolCall",
    "ToolCalls",
    "Vault",
    "add_entry",
    "add_phase",
    "attach",
    "open",
    "read_note",
    "read_transcript",
    "record",
    "set_property",
]

_VALUES = [
    "AgentRef",
    "Callout",
    "Decision",
    "Failure",
    "Intervention",
    "Phase",
    "Prose",
    "Session",
    "ToolCall",
    "ToolCalls",
]
_HOMES = {
    "CrucibleError": "crucible.core.errors",
    "Note": "crucible.vault.notes.vault",
    "Recorder": "crucible.commands.record.recorder",
    **dict.fromkeys(_VALUES, "crucible.documents.session.session"),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES.get(name, "crucible.api")), name)
