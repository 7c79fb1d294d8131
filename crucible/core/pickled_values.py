"""Load pickles that consist of values only: a pickle may otherwise run any function.

A pickle of our own may be of an older version, or forged, so its value is also compared with the expected type.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, BinaryIO, Union, get_args, get_origin, get_type_hints

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
    does nothing else.  `expected` is the type of the value, such as `list[int]`.
    """

    def __init__(self, classes: Mapping[str, set[str]], pure: tuple[str, ...] = (), expected: object = object) -> None:
        self.classes = {**_PLAIN, **classes}
        self.pure = pure
        self.expected = expected

    def load(self, file: BinaryIO) -> Any:
        """Read one value.  Raises one of `BROKEN` if the pickle is damaged or contains anything else."""
        value = _Loader(self, file).load()
        if not fits(value, self.expected):
            raise TypeError(f"not of the type {self.expected}")
        return value


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


def fits(value: object, expected: Any) -> bool:
    """Return whether a value and all in it have the expected type, as annotations say: classes, unions, containers."""
    kind = get_origin(expected) or expected
    of = get_args(expected)
    if kind in (Union, UnionType):
        return any(fits(value, one) for one in of)
    if kind in (object, Any):
        return True
    if not isinstance(value, kind or type(None)):
        return False
    if isinstance(value, Mapping):
        return not of or all(fits(key, of[0]) and fits(one, of[1]) for key, one in value.items())
    if of:
        return isinstance(value, list | tuple | set | frozenset) and all(fits(one, of[0]) for one in value)
    own: type = type(value)
    return all(fits(getattr(value, name), hint) for name, hint in _fields(own))


@cache
def _fields(kind: type) -> list[tuple[str, Any]]:
    """Return the fields of a data class or a named tuple, with their types."""
    if hasattr(kind, "__dataclass_fields__") or hasattr(kind, "_fields"):
        return [*get_type_hints(kind).items()]
    return []
