"""How many tokens a text is: an estimate by the rule of `crucible.tokens`, or exact by a tokenizer that lies on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from crucible.errors import CrucibleError, UsageError
from crucible.tokens import Estimate

__all__ = ["Counter", "Estimate", "counter_of"]


class Counter(Protocol):
    """Counts tokens."""

    def count(self, text: str) -> int:
        """Tokens of a text, 0 for an empty one."""
        ...


class _Exact:
    """Counts by a tokenizer's own vocabulary."""

    def __init__(self, tokenizer: object) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        """Without the tokens that only begin or end a conversation."""
        safe = text.encode("utf-8", "replace").decode("utf-8")  # it takes no lone surrogates
        return len(self._tokenizer.encode(safe, add_special_tokens=False))  # type: ignore[attr-defined]


def counter_of(tokenizer: str) -> Counter:
    """The estimate for "", else the `tokenizer.json` at that path.  Never asks a network for one."""
    if not tokenizer:
        return Estimate()
    try:
        # An extra, and its library takes tens of milliseconds to load.
        from tokenizers import Tokenizer  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            f"{tokenizer}: the package that reads it, tokenizers, is not installed",
            "pip install 'crucible[tokenizers]', or take agents.tokenizer out of your settings",
        ) from error
    path = Path(tokenizer)
    try:
        return _Exact(Tokenizer.from_str(path.read_text("utf-8")))
    except FileNotFoundError as error:
        raise CrucibleError(f"{path}: there is no such file", _HINT) from error
    except BaseException as error:  # the library panics on some files, which is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        why = (str(error) or type(error).__name__).split("\n", 1)[0][:200]
        raise CrucibleError(f"{path}: no tokenizer: {why}", _HINT) from error


_HINT = "agents.tokenizer in your settings names a model's tokenizer.json; without it tokens are estimated"
