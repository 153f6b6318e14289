"""Frozen dataclasses that are made quickly.

In: a class under `@dataclass(frozen=True, slots=True)`.  Out: the class that `dataclasses` makes of it.
Always: whatever is unusual about a class, or asked for besides, is left to `dataclasses` itself.

`dataclasses` writes six functions as text for each class and compiles them one by one, half a millisecond in all; a search from the command
line meets eighty classes. Here `__init__` alone is written, for the first instance, and what `fields` and `replace` need is made when they are called.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["dataclass"]

_OPTIONS = {"frozen": True, "slots": True}
_OWN = {"__init__", "__repr__", "__eq__", "__hash__", "__post_init__", "__setattr__", "__delattr__", "__slots__"}
_OWN |= {"__getstate__", "__setstate__", "__match_args__", "__replace__"}
_UNUSUAL = ("ClassVar", "InitVar", "KW_ONLY")

Fields = dict[str, dataclasses.Field[Any] | None]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """Make a dataclass."""
        if cls is None and options == _OPTIONS:
            return _quick
        return dataclasses.dataclass(cls, **options)


def _quick(cls: type) -> type:
    fields = _simple_fields(cls)
    if fields is None:
        return dataclasses.dataclass(frozen=True, slots=True)(cls)
    types = dict(cls.__annotations__)
    inside = {k: value for k, value in cls.__dict__.items() if k not in fields and k not in {"__dict__", "__weakref__"}}
    made = type(cls.__name__, (), inside | {"__slots__": tuple(fields)} | _methods(fields))
    made.__qualname__ = cls.__qualname__
    made.__init__ = _Made(made, types, fields)  # type: ignore[misc]  # each class has its own
    for name in _Described.HOW:
        setattr(made, name, _Described(name, made, types, fields))
    return made


def _simple_fields(cls: type) -> Fields | None:
    """The fields of a class, with what it says of each besides the type; None for a class that is not made here."""
    inside = cls.__dict__
    if cls.__bases__ != (object,) or type(cls) is not type or not _OWN.isdisjoint(inside):
        return None
    found: Fields = {}
    had_default = False
    for name, kind in cls.__annotations__.items():
        if not isinstance(kind, str) or any(word in kind for word in _UNUSUAL):
            return None
        value = inside.get(name, dataclasses.MISSING)
        field = value if isinstance(value, dataclasses.Field) else dataclasses.field(default=value)
        has_default = not (field.default is field.default_factory is dataclasses.MISSING)
        is_usual = field.init and field.compare and field.hash is None and field.kw_only is dataclasses.MISSING
        # A list for all instances, or a field without a default after one that has it: not allowed, as will be said.
        if not is_usual or field.default.__class__.__hash__ is None or (had_default and not has_default):
            return None
        found[name] = field if name in inside else None
        had_default = has_default
    return found


def _init(made: type, fields: Fields) -> Any:
    """`__init__`, which sets each slot as nothing else can."""
    ours = "_"  # what our names begin with, and no field's
    while any(name.startswith(ours) for name in ("self", *fields)):
        ours += "_"
    factory = f"{ours}factory"
    known: dict[str, Any] = {factory: _FACTORY}
    heads, lines = ["self"], []
    for number, (name, field) in enumerate(fields.items()):
        setting, default = f"{ours}set{number}", f"{ours}default{number}"
        known[setting] = getattr(made, name).__set__
        head, value = name, name
        if field is not None and field.default is not dataclasses.MISSING:
            known[default] = field.default
            head = f"{name}={default}"
        elif field is not None and field.default_factory is not dataclasses.MISSING:
            known[default] = field.default_factory
            head, value = f"{name}={factory}", f"{default}() if {name} is {factory} else {name}"
        heads.append(head)
        lines.append(f"  {setting}(self, {value})")
    written = f"def __init__({', '.join(heads)}):\n" + "\n".join(lines or ["  pass"])
    around = f"def make({', '.join(known)}):\n" + "\n".join(f" {line}" for line in written.split("\n"))
    out: dict[str, Any] = {}
    exec(f"{around}\n return __init__", {"__name__": made.__module__}, out)  # noqa: S102  # names of fields alone
    init = out["make"](**known)
    init.__qualname__ = f"{made.__qualname__}.__init__"
    return init


def _methods(fields: Fields) -> dict[str, Any]:
    values = _values(tuple(fields))
    shown = tuple(name for name, field in fields.items() if field is None or field.repr)

    def told(self: object) -> str:
        inside = ", ".join([f"{name}={getattr(self, name)!r}" for name in shown])
        return f"{self.__class__.__qualname__}({inside})"

    def is_same(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    own = {"__repr__": recursive_repr()(told), "__eq__": is_same, "__hash__": hashed, "__match_args__": tuple(fields)}
    return own | _SHARED


def _refuse_to_set(_self: object, name: str, _value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__match_args__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__match_args__, state, strict=True):
        object.__setattr__(self, name, value)


def _replaced(self: Any, /, **changes: Any) -> Any:
    return dataclasses.replace(self, **changes)


_SHARED = {
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,
    "__setstate__": _set_state,
    "__replace__": _replaced,
}


def _values(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


class _Factory:
    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


class _Made:
    """`__init__`, written when the first instance is made: of most classes that a command loads there is never one."""

    def __init__(self, made: type, types: dict[str, Any], fields: Fields) -> None:
        self._made, self._types, self._fields = made, types, fields

    def __get__(self, instance: object, owner: type) -> Any:
        init = _init(self._made, self._fields)
        init.__annotations__ = self._types | {"return": None}
        self._made.__init__ = init  # type: ignore[misc]
        return init.__get__(instance, owner)


class _Described:
    """What `dataclasses` keeps of a class: asked of `dataclasses` itself, for a class of the same fields."""

    HOW: ClassVar = {  # with as little made as will do
        "__dataclass_fields__": {"init": False, "repr": False, "eq": False},
        "__dataclass_params__": {"frozen": True, "slots": True},
    }

    def __init__(self, name: str, made: type, types: dict[str, Any], fields: Fields) -> None:
        self._name, self._made, self._types, self._fields = name, made, types, fields

    def __get__(self, instance: object, owner: type) -> Any:
        given = {name: field for name, field in self._fields.items() if field is not None}
        # Without a docstring, `dataclasses` would write one.
        same = type(self._made.__name__, (), {"__doc__": "-", "__annotations__": self._types, **given})
        how: dict[str, Any] = self.HOW[self._name]
        found = getattr(dataclasses.dataclass(**how)(same), self._name)
        setattr(self._made, self._name, found)
        return found
