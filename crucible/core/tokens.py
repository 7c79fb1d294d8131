"""Count the tokens in a text: estimated by a rule, or exactly with a local tokenizer.

The estimate is usually too high: 1.02 to 1.24 times the true count for prose, code, JSON and notes, about 2 for Chinese
and Russian, 0.95 for lists of commands and paths, and 0.75 to 0.9 for runs of hashes or emoji.
"""

from __future__ import annotations

import string
from pathlib import Path
from typing import Protocol

from crucible.core.command_lines import install_command
from crucible.core.errors import CrucibleError, UsageError

_ASCII = bytes(range(128))
_DIGITS = string.digits.encode()
_LETTERS_AND_BLANKS = (string.ascii_letters + " \t\n").encode()


class Estimate:
    """Counts by the rule in `count`."""

    def count(self, text: str) -> int:
        """Estimate the tokens in a text, rounded up.

        In twelfths of a token: 3 for a letter or space, 9 for a digit, 8 for other ASCII, 6 for each other byte of
        UTF-8.
        """
        data = text.encode("utf-8", "surrogatepass")
        rest = data.translate(None, _LETTERS_AND_BLANKS)
        beyond = b"" if text.isascii() else rest.translate(None, _ASCII)
        digits = len(rest) - len(rest.translate(None, _DIGITS))
        marks = len(rest) - len(beyond) - digits
        return -(-(3 * (len(data) - len(rest)) + 9 * digits + 8 * marks + 6 * len(beyond)) // 12)


class Counter(Protocol):
    """Counts tokens."""

    def count(self, text: str) -> int:
        """Return the number of tokens; 0 for an empty text."""
        ...


class _Exact:
    """Counts with the vocabulary of a tokenizer."""

    def __init__(self, tokenizer: object) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        """Count the tokens, without those that mark the beginning or end of a conversation."""
        safe = text.encode("utf-8", "replace").decode("utf-8")  # the tokenizer rejects lone surrogates
        return len(self._tokenizer.encode(safe, add_special_tokens=False))  # type: ignore[attr-defined]


def counter_of(tokenizer: str) -> Counter:
    """Return a counter that uses the `tokenizer.json` at that path; "" returns the estimate.

    Never uses the network.
    """
    if not tokenizer:
        return Estimate()
    try:
        # An optional dependency that takes tens of milliseconds to load.
        from tokenizers import Tokenizer  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            f'{tokenizer}: the package "tokenizers" is not installed',
            f"Remove agents.tokenizer from your settings, or run: {install_command('tokenizers')}",
        ) from error
    path = Path(tokenizer)
    try:
        return _Exact(Tokenizer.from_str(path.read_text("utf-8")))
    except FileNotFoundError as error:
        raise CrucibleError(f"{path}: no such file", _HINT) from error
    except BaseException as error:  # the library panics on some files, and that is not an `Exception`
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        why = (str(error) or type(error).__name__).split("\n", 1)[0][:200]
        raise CrucibleError(f"{path}: not a tokenizer: {why}", _HINT) from error


_HINT = "set agents.tokenizer in your user settings to a model's tokenizer.json, or remove it to estimate tokens"
