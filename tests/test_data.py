"""A quick dataclass is what `dataclasses` makes of the same class, and a quick named tuple what `typing` does."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
import types
from dataclasses import FrozenInstanceError
from typing import ClassVar, NamedTuple, get_type_hints

import pytest

import smart_context
from smart_context import data
from smart_context.data import dataclass, field, replace

# Whose modules need an extra that may not be installed, or are programs that run when they are imported.
LEFT_OUT = (
    "smart_context.meaning.",
    "smart_context.__main__",
    "smart_context.engine.postgres.",
    "smart_context.sources.",
)


def quick_classes():
    """Every class of the program that is made so."""
    for found in pkgutil.walk_packages(smart_context.__path__, "smart_context."):
        if not found.name.startswith(LEFT_OUT) and not found.name.endswith("_child"):
            for thing in vars(importlib.import_module(found.name)).values():
                if inspect.isclass(thing) and getattr(thing, "__replace__", None) is data._replaced:
                    yield thing


CLASSES = sorted(set(quick_classes()), key=lambda cls: (cls.__module__, cls.__qualname__))


def slow(cls):
    """The same class, as `dataclasses` makes it."""
    inside = {
        each.name: dataclasses.field(
            default=each.default, default_factory=each.default_factory, repr=each.repr, compare=each.compare
        )
        for each in dataclasses.fields(cls)
    }
    inside = {name: one for name, one in inside.items() if not is_bare(one)}
    types = {each.name: each.type for each in dataclasses.fields(cls)}
    made = type(cls.__name__, (), {"__annotations__": types, "__doc__": cls.__doc__, **inside})
    made.__qualname__ = cls.__qualname__
    params = cls.__dataclass_params__
    return dataclasses.dataclass(frozen=params.frozen, slots=True, eq=params.eq)(made)


def is_bare(one):
    return one.default is one.default_factory is dataclasses.MISSING and one.repr and one.compare


def test_the_program_has_such_classes():
    assert len(CLASSES) > 60


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: f"{cls.__module__}.{cls.__qualname__}")
def test_a_class_of_the_program_is_as_dataclasses_makes_it(cls):
    other = slow(cls)
    assert inspect.signature(cls) == inspect.signature(other) or "factory" in str(inspect.signature(cls))
    assert str(inspect.signature(cls)) == str(inspect.signature(other))
    assert cls.__slots__ == other.__slots__
    assert cls.__match_args__ == other.__match_args__
    assert str(cls.__dataclass_params__) == str(other.__dataclass_params__)
    assert [(f.name, f.type, f.default) for f in dataclasses.fields(cls)] == [
        (f.name, f.type, f.default) for f in dataclasses.fields(other)
    ]
    values = [f"value {number}" for number, _ in enumerate(cls.__slots__)]
    one, two = cls(*values), other(*values)
    assert repr(one).partition("(")[2] == repr(two).partition("(")[2]
    assert one != two
    if cls.__dataclass_params__.eq:
        assert one == cls(*values)
        assert (hash(one) == hash(two)) if cls.__hash__ else other.__hash__ is None
    else:
        assert one == one != cls(*values)  # told apart by identity
    assert dataclasses.asdict(one) == dataclasses.asdict(two)
    for name in cls.__slots__:
        changed = cls(*(0 if name == each else v for each, v in zip(cls.__slots__, values, strict=True)))
        for way in (replace, dataclasses.replace):
            assert dataclasses.astuple(way(one, **{name: 0})) == dataclasses.astuple(changed)
        if cls.__dataclass_params__.frozen:
            with pytest.raises(FrozenInstanceError):
                setattr(one, name, 0)
            with pytest.raises(FrozenInstanceError):
                delattr(one, name)
        else:
            other_one = cls(*values)
            setattr(other_one, name, 0)
            assert other_one == changed != one


@dataclass(frozen=True, slots=True)
class Point:
    """A place."""

    x: int
    self_: str = "y"
    inside: list[Point] = field(default_factory=list)
    _factory: str = field(default="", repr=False)

    def moved(self) -> Point:
        return dataclasses.replace(self, x=self.x + 1)


@dataclass(frozen=True, slots=True)
class Nothing:
    """No fields."""


@dataclass(frozen=True, slots=True)
class One:
    """One field."""

    only: object


def test_a_point_can_be_copied_kept_and_compared():
    point = Point(1, inside=[Point(2)])
    assert point.moved() == Point(2, "y", [Point(2)])
    assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == copy.copy(point) == point
    assert repr(point) == "Point(x=1, self_='y', inside=[Point(x=2, self_='y', inside=[])])"
    assert Point(1).inside is not Point(1).inside
    assert Point.__doc__ == "A place."
    assert not hasattr(point, "__dict__")
    point.inside.append(point)
    assert repr(point).endswith("...])")
    with pytest.raises(TypeError, match="x"):
        Point()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(1, z=2)
    match Point(4, "a"):
        case Point(x, name):
            assert (x, name) == (4, "a")


@dataclass(slots=True)
class Open:
    """What may change."""

    x: int
    inside: list[int] = field(default_factory=list)


def test_what_may_change_is_compared_and_copied_by_its_values():
    one = Open(1)
    one.x, one.inside = 2, [3]
    assert one == Open(2, [3]) == pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == replace(Open(1, [3]), x=2)
    assert one != Open(2)
    assert repr(one) == "Open(x=2, inside=[3])"
    assert dataclasses.asdict(one) == {"x": 2, "inside": [3]}
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    with pytest.raises(AttributeError):
        one.y = 1
    del one.x
    with pytest.raises(AttributeError):
        one.x  # noqa: B018


def test_classes_of_one_field_and_of_none_are_compared_by_their_values():
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(())
    assert One("a") == One("a") != One("b")
    assert hash(One("a")) == hash(("a",))
    assert One(()) != Nothing()
    with pytest.raises(TypeError, match="unhashable"):
        hash(One([]))


@pytest.mark.parametrize(
    ("args", "given"),
    [
        ((1,), {}),
        ((1, "a", [2], "b"), {}),
        ((), {"self_": "a", "x": 1}),
        ((1,), {"_factory": "b", "inside": [3]}),
        ((), {}),
        ((1, 2, 3, 4, 5), {}),
        ((1,), {"x": 2}),
        ((1,), {"z": 2}),
        ((1,), {"instance": 2, "args": 3}),
        ((1, "a", [2], "b"), {"_factory": "c"}),
    ],
)
def test_the_first_instances_are_made_and_refused_like_all_others(args, given):
    def outcome(make):
        class Point:
            x: int
            self_: str = "y"
            inside: list[int] = field(default_factory=list)
            _factory: str = ""

        made = make(Point)

        def one():
            try:
                return repr(made(*args, **given))
            except TypeError as error:
                return str(error)

        return [one() for _ in range(2 * data._FEW)]

    ours = outcome(dataclass(frozen=True, slots=True))
    theirs = outcome(data._slow({"frozen": True, "slots": True}))
    assert ours == theirs
    assert len(set(ours)) == 1


def test_what_is_unusual_is_left_to_dataclasses():
    @dataclass(frozen=True, slots=True)
    class Counted:
        count: ClassVar[int] = 3
        x: int = 0

        def __post_init__(self):
            assert self.x >= 0

    @dataclass(frozen=True, slots=True)
    class Below(Point):
        z: int = 5

    @dataclass(frozen=True, slots=True)
    class Named:
        x: int = field(kw_only=True)

    assert Counted.count == 3
    assert [f.name for f in dataclasses.fields(Counted)] == ["x"]
    assert Below(1, z=6) == Below(1, "y", [], "", 6)
    assert Named(x=1).x == 1


def test_fields_of_dataclasses_own_making_are_understood_and_ours_by_a_class_that_dataclasses_makes():
    @dataclass(frozen=True, slots=True)
    class Theirs:
        x: list[int] = dataclasses.field(default_factory=list, repr=False)

    @dataclass(slots=True, kw_only=True)
    class Ours:
        x: list[int] = field(default_factory=list, repr=False)

    assert (Theirs().x, repr(Theirs())) == ([], f"{Theirs.__qualname__}()")
    assert (Ours().x, repr(Ours())) == ([], f"{Ours.__qualname__}()")
    assert replace(Ours(), x=[1]).x == replace(Theirs(), x=[1]).x == [1]
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        replace(Theirs(), y=1)


def test_a_field_that_is_not_compared_tells_no_two_apart():
    @dataclass(frozen=True, slots=True)
    class Noted:
        x: int
        note: str = field(default="", compare=False)

    assert Noted(1, "a") == Noted(1, "b") != Noted(2, "a")
    assert hash(Noted(1, "a")) == hash(Noted(1, "b")) == hash((1,))
    assert replace(Noted(1, "a"), x=2).note == "a"
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        replace(Noted(1), y=1)


def test_what_is_told_of_fields_needs_no_dataclasses():
    told = [(one.name, one.type, one.is_bare, None if one.is_bare else one.value()) for one in data.fields(Point)]
    assert told == [
        ("x", "int", True, None),
        ("self_", "str", False, "y"),
        ("inside", "list[Point]", False, []),
        ("_factory", "str", False, ""),
    ]


def test_a_search_from_the_command_line_loads_neither_dataclasses_nor_what_reads_source_code():
    asked = "import sys, smart_context.find.search, smart_context.settings.config as c; c.load({}, {'HOME': '/'})"
    told = "print([name for name in ('dataclasses', 'inspect', 'ast', 'tokenize') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", f"{asked}; {told}"], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_is_inside_is_told_as_dataclasses_tells_it():
    @dataclasses.dataclass
    class Theirs:
        inner: One
        x: int = 3

    whole = One({"a": [Point(1), (Nothing(), Theirs(One("b")))], "c": "d"})
    assert data.asdict(whole) == dataclasses.asdict(whole)
    assert data.asdict(Point(1, inside=[Point(2)])) == dataclasses.asdict(Point(1, inside=[Point(2)]))


def test_a_default_that_all_would_share_and_a_field_that_comes_too_late_are_refused():
    with pytest.raises(ValueError, match="mutable default"):

        @dataclass(frozen=True, slots=True)
        class _Shared:
            x: list[int] = []  # noqa: RUF012

    with pytest.raises(TypeError, match="non-default argument"):

        @dataclass(frozen=True, slots=True)
        class _Late:
            x: int = 0
            y: int


# Named tuples


def named_tuples():
    """Every named tuple of the program that is made quickly: the types of its fields are as they are written."""
    for found in pkgutil.walk_packages(smart_context.__path__, "smart_context."):
        if not found.name.startswith(LEFT_OUT) and not found.name.endswith("_child"):
            for thing in vars(importlib.import_module(found.name)).values():
                types = vars(thing).get("__annotations__", {}) if hasattr(thing, "_fields") else {}
                if inspect.isclass(thing) and types and all(isinstance(one, str) for one in types.values()):
                    yield thing


TUPLES = sorted(set(named_tuples()), key=lambda cls: (cls.__module__, cls.__qualname__))


def test_the_program_has_such_tuples():
    assert {"Hit", "Marked", "Candidate"} <= {cls.__name__ for cls in TUPLES}


@pytest.mark.parametrize("cls", TUPLES, ids=lambda cls: f"{cls.__module__}.{cls.__qualname__}")
def test_a_named_tuple_of_the_program_is_as_typing_makes_it(cls):
    own = {name: value for name, value in vars(cls).items() if callable(value) or isinstance(value, property)}
    own = {name: value for name, value in own.items() if not name.startswith("_")}
    inside = {"__annotations__": dict(cls.__annotations__), "__doc__": cls.__doc__, "__module__": cls.__module__}
    theirs = types.new_class(cls.__name__, (NamedTuple,), exec_body=lambda space: space.update(
        {**inside, **cls._field_defaults, **own, "__qualname__": cls.__qualname__}
    ))  # fmt: skip
    assert cls.__mro__[1:] == theirs.__mro__[1:]
    assert vars(cls).keys() | {"__orig_bases__"} == vars(theirs).keys()
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__module__", "__qualname__", "__slots__"):
        assert getattr(cls, name) == getattr(theirs, name)
    values = range(len(cls._fields))
    assert repr(cls(*values)) == repr(theirs(*values))
    assert cls(*values)._asdict() == theirs(*values)._asdict()
    assert cls._make(values)._replace(**{cls._fields[0]: -1}) == theirs._make(values)._replace(**{cls._fields[0]: -1})


class Pair(data.NamedTuple):
    """Two things."""

    one: int
    other: str = "b"

    @property
    def both(self) -> str:
        return f"{self.one}{self.other}"


def test_a_named_tuple_has_defaults_methods_and_can_be_kept():
    assert (Pair(1), Pair(1).both, Pair(other="c", one=2).both) == ((1, "b"), "1b", "2c")
    assert pickle.loads(pickle.dumps(Pair(3))) == copy.copy(Pair(3)) == Pair(3)
    assert get_type_hints(Pair) == {"one": int, "other": str}
    with pytest.raises(TypeError):
        Pair()


def test_a_named_tuple_with_a_field_that_comes_too_late_or_another_base_is_refused():
    with pytest.raises(TypeError):
        type(Pair.__name__, (data.NamedTuple,), {"__annotations__": {"a": "int", "b": "int"}, "a": 1, "__module__": ""})
    with pytest.raises(TypeError):
        type(data.NamedTuple)("Both", (data.NamedTuple, dict), {"__annotations__": {"a": "int"}, "__module__": ""})


def test_a_search_from_the_command_line_compiles_no_type_of_a_field():
    # Python writes the functions of dataclasses and named tuples; what else is compiled are types.
    watch = "lambda event, told: event == 'compile' and told[0] and not told[0].startswith((b'def ', b'lambda ')) and print(told)"
    asked = "import smart_context.find.search"
    program = f"import sys; sys.addaudithook({watch}); {asked}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == ""
