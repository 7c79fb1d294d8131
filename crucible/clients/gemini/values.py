"""Values out of Gemini CLI's objects, and the words in the shapes that they come in.

Owns `PartListUnion`: a string, a part, or a list of either.  What the words mean is `texts`' and `messages`'.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2s
from typing import Any

from crucible.clients.log_values import Row, as_dict, as_str


def parts_of(content: object) -> list[Row]:
    """The parts of a message's content or of a call's result, strings as text parts."""
    raw = content if isinstance(content, list) else [content]
    parts = ({"text": part} if isinstance(part, str) else part for part in raw)
    return [part for part in parts if isinstance(part, dict)]


def is_thought(part: Mapping[str, Any]) -> bool:
    """Whether a part is what the model thought, not what it said."""
    return bool(part.get("thought"))


def is_response(part: Mapping[str, Any]) -> bool:
    """Whether a part hands a call's result to the model."""
    return isinstance(part.get("functionResponse"), dict)


def text_of(content: object) -> str:
    """The words of a content, thoughts left out."""
    return "".join(as_str(part.get("text")) for part in parts_of(content) if not is_thought(part))


def pictures(content: object) -> int:
    """How many images stand beside the words."""
    data = (as_dict(part.get("inlineData") or part.get("fileData")) for part in parts_of(content))
    return sum(as_str(each.get("mimeType")).startswith("image/") for each in data)


def row_id(*names: object) -> str:
    """16 hex digits for a part of a message: the same in every copy of a log, however often it was written again.

    The client's own ids are of messages, and two parts of one must not look alike in their first 8 characters, by which
    a note says how far it goes.
    """
    told = json.dumps(names, default=str).encode("utf-8", "surrogatepass")
    return blake2s(told, digest_size=8).hexdigest()
