"""Our `NamedTuple` makes the same classes as the one of `typing`."""

from __future__ import annotations

import pickle  # folds of imports are pickled
import typing

from crucible.core import named_tuples


class Ours(named_tuples.NamedTuple):
    """What it is."""

    first: int
    second: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        """The number of strings."""
        return len(self.second)

    @classmethod
    def one(cls) -> Ours:
        """Make one."""
        return cls(1)


class Theirs(typing.NamedTuple):
    """What it is."""

    first: int
    second: tuple[str, ...] = ()


def test_a_class_has_the_fields_defaults_and_methods_of_its_body() -> None:
    made = Ours(2, ("a", "b"))
    assert (made.first, made.second, made.length) == (2, ("a", "b"), 2)
    assert Ours.one() == (1, ())
    assert repr(made) == repr(Theirs(*made)).replace("Theirs", "Ours")
    assert made._replace(first=3) == Ours(first=3, second=("a", "b"))
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__module__"):
        assert getattr(Ours, name) == getattr(Theirs, name)
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)


def test_its_values_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Ours(2))) == Ours(2)
