"""Load pickles that consist of values only: a pickle may otherwise run any function."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any, BinaryIO

_PLAIN = {
    "builtins": {"set", "frozenset", "list", "dict", "tuple", "bytearray", "complex"},
    "collections": {"Counter", "defaultdict", "deque", "OrderedDict"},
    "datetime": {"datetime", "timedelta", "timezone"},
}

BROKEN = (
    OSError,
    ValueError,
    ArithmeticError,
    MemoryError,
    LookupError,
    TypeError,
    AttributeError,
    ImportError,
    EOFError,
    RecursionError,
    pickle.PickleError,
)
"""What reading a damaged pickle, or one of another version, may raise."""


class ValueTypes:
    """The classes that a pickle may contain besides plain ones.

    `classes` are the allowed ones by module.  `pure` are prefixes of modules whose classes are all values: making one
    does nothing else.
    """

    def __init__(self, classes: Mapping[str, set[str]], pure: tuple[str, ...] = ()) -> None:
        self.classes = {**_PLAIN, **classes}
        self.pure = pure

    def load(self, file: BinaryIO) -> Any:
        """Read one value.  Raises one of `BROKEN` if the pickle is damaged or contains anything else."""
        return _Loader(self, file).load()


class _Loader(pickle.Unpickler):
    def __init__(self, allowed: ValueTypes, file: BinaryIO) -> None:
        super().__init__(file)
        self._allowed = allowed

    def find_class(self, module: str, name: str) -> Any:
        # A dotted name, or a class that the module only imported, could be any class of the program.
        if "." not in name and (name in self._allowed.classes.get(module, ()) or module.startswith(self._allowed.pure)):
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise ValueError(f"{module}.{name}: not a value")
