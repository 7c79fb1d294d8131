"""A scripted model that keeps the requests it received."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.clients.model import ScriptedModel
from tests.clients.wires import Answer, Wire


class Listening(ScriptedModel):
    """Keeps the texts of every request's messages."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.texts: list[str] = []

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> Answer | int:
        self.texts.append("\n".join(text for m in wire.messages(request) for text in m.texts))
        return super().answer(wire, request)
