"""`typing.NamedTuple` for modules that are loaded at every start.

The one of `typing` compiles every annotation, which takes a tenth of a short command's time.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    _OWN = frozenset(("__module__", "__classcell__"))

    class _NamedTupleMeta(type):
        """Makes a class of `collections.namedtuple` from annotations, defaults and methods."""

        def __new__(cls, name: str, _: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])  # noqa: PYI024
            for key, value in body.items():
                if key not in fields and key not in _OWN:
                    setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_NamedTupleMeta, "NamedTuple", (), {})

__all__ = ["NamedTuple"]
