"""Dataclasses and named tuples that are made quickly.

In: a class under `@dataclass(frozen=True, slots=True)`, or `slots` alone; a class below `NamedTuple`.  Out: the class that `dataclasses` or `typing` makes of it.
Always: whatever is unusual about a dataclass, or asked for besides, is left to `dataclasses` itself.

`dataclasses` writes six functions as text for each class and compiles them one by one, half a millisecond in all; a search from the command
line meets eighty classes. Here `__init__` alone is written, for a class with more than a few instances, and what `dataclasses.fields` needs is made when it is called.
Until then `dataclasses` is not imported: it loads what reads source code, and takes as long as Python's own start. `typing` compiles the type of each field of a
named tuple, and the first that it compiles takes some milliseconds.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["Field", "NamedTuple", "asdict", "dataclass", "field", "fields", "replace"]

_OPTIONS = {"frozen": True, "slots": True}
_UNEQUAL = {**_OPTIONS, "eq": False}
_OPEN = {"slots": True}
_OWN = {"__init__", "__repr__", "__eq__", "__hash__", "__post_init__", "__setattr__", "__delattr__", "__slots__"}
_OWN |= {"__getstate__", "__setstate__", "__match_args__", "__replace__"}
_UNUSUAL = ("ClassVar", "InitVar", "KW_ONLY")
_USUAL = {"default", "default_factory", "repr", "compare", "metadata"}
_FIELDS = "_quick_fields"
_MISSING: Any = object()
_FEW = 8  # instances that are made without a function for their class


class Field:
    """A field: its name and type, its default or default factory, whether it is in `repr` and compared, and its metadata."""

    __slots__ = ("default", "factory", "is_compared", "is_shown", "metadata", "more", "name", "type")

    def __init__(self, **given: Any) -> None:
        self.name, self.type = "", ""
        self.default = given.get("default", _MISSING)
        self.factory: Callable[[], Any] = given.get("default_factory", _MISSING)
        self.is_shown: bool = given.get("repr", True)
        self.is_compared: bool = given.get("compare", True)
        self.metadata: Mapping[str, Any] = MappingProxyType(given.get("metadata") or {})
        self.more = given

    @property
    def is_bare(self) -> bool:
        """Whether it has no default."""
        return self.default is self.factory is _MISSING

    def value(self) -> Any:
        """Its value if none is given."""
        return self.default if self.factory is _MISSING else self.factory()

    def real(self) -> Any:
        """The field of `dataclasses`."""
        import dataclasses

        return dataclasses.field(**self.more)


Fields = dict[str, Field]

if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, replace
    from typing import NamedTuple
else:

    class _Named(type):
        """Makes a named tuple of a class."""

        def __new__(cls, name: str, bases: tuple[type, ...], inside: dict[str, Any]) -> type:
            if not bases:  # the one that others stand below
                return super().__new__(cls, name, bases, inside)
            types = inside.get("__annotations__", {})
            defaults = [field for field in types if field in inside]
            if len(bases) > 1 or defaults != list(types)[len(types) - len(defaults) :]:
                raise TypeError(f"{name} has another base, or a field without a default after one that has it")
            made = namedtuple(name, types, defaults=[inside[field] for field in defaults], module=inside["__module__"])
            made.__annotations__ = made.__new__.__annotations__ = types
            for key, value in inside.items():
                if key not in types and key not in {"__module__", "__annotations__"}:
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Named):
        """A named tuple, as `typing.NamedTuple`: the types of its fields stay as they are written."""

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """Make a dataclass."""
        if cls is None and options == _OPTIONS:
            return _quick
        if cls is None and options == _UNEQUAL:
            return _quick_unequal
        if cls is None and options == _OPEN:
            return _quick_open
        return _slow(options) if cls is None else _slow(options)(cls)

    def field(**given: Any) -> Any:
        """Configure a field, as `dataclasses.field` does; of a class made here, or by `dataclasses` through here."""
        return Field(**given)

    def replace(of: Any, /, **changes: Any) -> Any:
        """A copy with some values changed, as `dataclasses.replace` makes it."""
        cls = of.__class__
        if _FIELDS not in cls.__dict__:
            import dataclasses

            return dataclasses.replace(of, **changes)
        for name in cls.__slots__:
            if name not in changes:
                changes[name] = getattr(of, name)
        return cls(**changes)

    def asdict(of: Any, /) -> Any:
        """The values by field name, as `dataclasses.asdict`, of nested dataclasses too; other values are not copied."""
        cls = of.__class__
        if _FIELDS in cls.__dict__:
            return {name: asdict(getattr(of, name)) for name in cls.__slots__}
        if cls is dict:
            return {key: asdict(value) for key, value in of.items()}
        if cls is list or cls is tuple:
            return cls(map(asdict, of))
        if hasattr(cls, "__dataclass_fields__"):
            import dataclasses

            return dataclasses.asdict(of)
        return of


def fields(cls: type) -> tuple[Field, ...]:
    """The fields of a class made here, in order."""
    found: Fields = getattr(cls, _FIELDS)
    return tuple(found.values())


def _quick(cls: type, options: Mapping[str, bool] = _OPTIONS) -> type:
    fields = _simple_fields(cls)
    if fields is None:
        return _slow(options)(cls)
    inside = {k: value for k, value in cls.__dict__.items() if k not in fields and k not in {"__dict__", "__weakref__"}}
    described = {name: _Described(name, options) for name in _Described.NAMES}
    names = tuple(fields)
    own = {_FIELDS: fields, "__slots__": names, "__match_args__": names, "__qualname__": cls.__qualname__}
    compared = {} if options is _UNEQUAL else _compared(fields)
    shared = _SHARED if options is not _OPEN else {"__repr__": _told, "__replace__": _replaced, "__hash__": None}
    return type(cls.__name__, (), inside | own | compared | shared | described | {"__init__": _Made()})


def _quick_unequal(cls: type) -> type:
    return _quick(cls, _UNEQUAL)


def _quick_open(cls: type) -> type:
    return _quick(cls, _OPEN)


def _slow(options: Mapping[str, bool]) -> Callable[[type], type]:
    """What makes a class by `dataclasses` itself."""
    import dataclasses

    def made(cls: type) -> type:
        for name, value in list(cls.__dict__.items()):
            if isinstance(value, Field):
                setattr(cls, name, value.real())
        how: dict[str, Any] = dict(options)
        return dataclasses.dataclass(**how)(cls)

    return made


def _simple_fields(cls: type) -> Fields | None:
    """The fields of a class, in their order; None for a class that is not made here."""
    inside = cls.__dict__
    if cls.__bases__ != (object,) or type(cls) is not type or not _OWN.isdisjoint(inside):
        return None
    found: Fields = {}
    had_default = False
    for name, kind in cls.__annotations__.items():
        if not isinstance(kind, str) or any(word in kind for word in _UNUSUAL):
            return None
        field = _field(inside.get(name, _MISSING))
        # A list for all instances, or a field without a default after one that has it: not allowed, as will be said.
        if field is None or field.default.__class__.__hash__ is None or (had_default and field.is_bare):
            return None
        field.name, field.type = name, kind
        found[name] = field
        had_default = not field.is_bare
    return found


def _field(value: Any) -> Field | None:
    """The `Field` of a class attribute; None for anything unusual."""
    if isinstance(value, Field):
        return value if value.more.keys() <= _USUAL else None
    if value is _MISSING:
        return Field()
    dataclasses = sys.modules.get("dataclasses")  # without it nothing can be a field of its making
    return None if dataclasses and isinstance(value, dataclasses.Field) else Field(default=value)


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
        if field.default is not _MISSING:
            known[default] = field.default
            head = f"{name}={default}"
        elif field.factory is not _MISSING:
            known[default] = field.factory
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


def _compared(fields: Fields) -> dict[str, Any]:
    values = _values(tuple(name for name, field in fields.items() if field.is_compared))

    def is_same(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__eq__": is_same, "__hash__": hashed}


@recursive_repr()
def _told(self: Any) -> str:
    cls = self.__class__
    inside = [f"{field.name}={getattr(self, field.name)!r}" for field in fields(cls) if field.is_shown]
    return f"{cls.__qualname__}({', '.join(inside)})"


def _refuse_to_set(_self: object, name: str, _value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__match_args__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__match_args__, state, strict=True):
        object.__setattr__(self, name, value)


def _replaced(self: Any, /, **changes: Any) -> Any:
    return replace(self, **changes)


_SHARED = {
    "__repr__": _told,
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
    """`__init__`: compiled as a function after the first few instances, which take less time without one than compiling it takes."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._made, self._first = owner, _FEW

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is not None and self._first:
            self._first -= 1
            return partial(self._fill, instance)
        return self._written().__get__(instance, owner)

    def _fill(self, instance: object, /, *args: Any, **given: Any) -> None:
        fields: Fields = getattr(self._made, _FIELDS)
        told = dict(zip(fields, args, strict=False), **given)
        is_whole = all(name in told or not field.is_bare for name, field in fields.items())
        if not is_whole or len(told) < len(args) + len(given) or not given.keys() <= fields.keys():
            self._written()(instance, *args, **given)  # refuses it
            return
        for name, field in fields.items():
            object.__setattr__(instance, name, told[name] if name in told else field.value())

    def _written(self) -> Any:
        made: Any = self._made
        init = _init(made, made._quick_fields)
        init.__annotations__ = made.__annotations__ | {"return": None}
        made.__init__ = init
        return init


class _Described:
    """The attributes that `dataclasses` sets on a class: taken from a class of the same fields that `dataclasses` itself makes."""

    NAMES: ClassVar = ("__dataclass_fields__", "__dataclass_params__")

    def __init__(self, name: str, options: Mapping[str, bool]) -> None:
        self._name, self._options = name, options

    def __set_name__(self, owner: type, name: str) -> None:
        self._made = owner

    def __get__(self, instance: object, owner: type) -> Any:
        made: Any = self._made
        given = {field.name: field.real() for field in fields(made) if field.more}
        # Without a docstring, `dataclasses` would write one.
        same = type(made.__name__, (), {"__doc__": "-", "__annotations__": dict(made.__annotations__), **given})
        with_little = {"init": False, "repr": False, "eq": False}  # made: as little as will do
        how = with_little if self._name == self.NAMES[0] else self._options
        found = getattr(_slow(how)(same), self._name)
        setattr(made, self._name, found)
        return found
