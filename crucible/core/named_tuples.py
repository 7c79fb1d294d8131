"""`typing.NamedTuple` for modules that are loaded at every start.

The one of `typing` compiles every annotation and every class's constructor, which takes a fifth of a short command's time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple, Self
else:
    from collections import _tuplegetter
    from functools import cache
    from types import CodeType, FunctionType

    class _Named(tuple):
        """What all named tuples share; each method is as in `collections.namedtuple`."""

        __slots__ = ()

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Self:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__}: {len(made)} values for {len(cls._fields)} fields")
            return made

        def _replace(self, /, **changes: object) -> Self:
            made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f"{type(self).__name__}: no fields {[*changes]}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            values = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({values})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    class _NamedTupleMeta(type):
        """Makes a class from annotations, defaults and methods."""

        def __new__(cls, name: str, _: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            shared = {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            getters = {field: _tuplegetter(at, f"Alias for field number {at}") for at, field in enumerate(fields)}
            construct = _constructor(name, fields, tuple(defaults.values()))
            return type(name, (_Named,), {**body, **shared, **getters, "__new__": construct})

    def _constructor(name: str, fields: tuple[str, ...], defaults: tuple[object, ...]) -> FunctionType:
        code = _code_for(len(fields)).replace(co_varnames=("_cls", *fields))
        made = FunctionType(code, _NAMES, "__new__", defaults)
        made.__qualname__ = f"{name}.__new__"
        return made

    @cache
    def _code_for(count: int) -> CodeType:
        """Compile a constructor with this number of fields, whose names are then replaced."""
        names = "".join(f"_{at}, " for at in range(count))
        return eval(f"lambda _cls, {names}: make(_cls, ({names}))").__code__  # noqa: S307  our own words

    _NAMES = {"make": tuple.__new__, "__builtins__": {}}
    NamedTuple = type.__new__(_NamedTupleMeta, "NamedTuple", (), {})

__all__ = ["NamedTuple"]
