"""The personas of a vault: the notes in `agents/`.  Each needs acceptance with `cru trust`, like a template."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.core.secrets.scanner import Redact
from crucible.core.settings.trust import Accepts, Ask, read_request
from crucible.documents.markdown.source import Problem, Source
from crucible.documents.personas import PERSONA, Persona, read_persona
from crucible.vault.notes.walk import PERSONAS, is_markdown, note_name

_EFFECT = "start an agent with this client, model, tools and instructions"


class PersonaNote(NamedTuple):
    """A persona, its bytes, and what the user is asked to accept."""

    ask: Ask
    data: bytes
    persona: Persona

    @property
    def faults(self) -> list[str]:
        """Why it cannot be used, as `path:line: reason`; empty if it only needs acceptance."""
        if self.ask.fault:
            return [f"{self.ask.name}: {self.ask.fault}"]
        return [f"{self.ask.name}:{problem.line}: {problem.message}" for problem in self.persona.problems]

    @property
    def is_usable(self) -> bool:
        """True if the user has accepted it and it has no faults."""
        return self.ask.accepted and not self.faults


def persona_notes(root: str, accepts: Accepts, redact: Redact) -> Iterator[PersonaNote]:
    """Yield the personas of the vault at `root`, a real path, by name."""
    names: list[str] = []
    with suppress(OSError):
        names = sorted(os.listdir(os.path.join(root, PERSONAS)))
    for name in names:
        if is_markdown(name) and not name.startswith("."):
            ask, data = read_request(root, f"{PERSONAS}/{name}", _EFFECT, accepts)
            yield PersonaNote(ask, data, _read(data, note_name(name), redact))


def _read(data: bytes, name: str, redact: Redact) -> Persona:
    source = Source.from_bytes(data)
    persona = read_persona(source, name)
    # Every user of the machine can see the arguments of a client.
    found = redact(source.text)[1]
    if not found:
        return persona
    problem = Problem(PERSONA, 1, f"it contains a secret ({', '.join(found)})")
    return persona._replace(problems=(*persona.problems, problem))


def find_persona(root: str, name: str, accepts: Accepts, redact: Redact) -> Persona:
    """Return a persona that the user has accepted.

    Raises `CrucibleError` if there is none of this name, or if it is broken or not accepted.
    """
    notes = list(persona_notes(root, accepts, redact))
    note = next((note for note in notes if note.persona.name.casefold() == name.casefold()), None)
    if note is None:
        names = [note.persona.name for note in notes]
        hint = f"the personas are {', '.join(names[:10])}" if names else "write a note in agents/"
        raise CrucibleError(f"no persona {name!a}", hint)
    if note.faults:
        raise CrucibleError(note.faults[0], "fix the note")
    if not note.ask.accepted:
        raise CrucibleError(f"{note.ask.name}: not accepted yet", 'Read it with "cru trust", and accept it.')
    return note.persona
