"""`typing.NamedTuple` for modules that are loaded at every start.

The one of `typing` compiles every annotation, which takes a tenth of a short command's time.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    _OWN = frozenset(("__module__", "__classcell__"))

    class _NamedTupleMeta(type):
        """Makes a class of `collections.namedtuple` from annotations, defaults and methods."""

        def __new__(cls, name: str, _: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = _fields(body)
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])  # noqa: PYI024
            for key, value in body.items():
                if key not in fields and key not in _OWN:
                    setattr(made, key, value)
            return made

    def _fields(body: dict[str, Any]) -> tuple[str, ...]:
        """Return the annotated names of a class body, which Python 3.14 has as a function if nothing else is chosen."""
        if "__annotations__" not in body and sys.version_info >= (3, 14):
            from annotationlib import (  # noqa: PLC0415  no class of most modules needs it
                Format,
                call_annotate_function,
                get_annotate_from_class_namespace,
            )

            annotate = get_annotate_from_class_namespace(body)
            return tuple(call_annotate_function(annotate, Format.FORWARDREF)) if annotate else ()
        return tuple(body.get("__annotations__", ()))

    NamedTuple = type.__new__(_NamedTupleMeta, "NamedTuple", (), {})

__all__ = ["NamedTuple"]
