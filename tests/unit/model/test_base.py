# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What all model classes share: they compare, hash and print as dataclasses do."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Optional

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model import base
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.base import Model
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Gid, Neighbour, Unread
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.records import (
    dataclass,
    field,
    is_record,
    names,
    replace,
)


def test_equal_by_value_and_within_one_class():
    assert Gid(3, "fe80") == Gid(3, "fe80", None)
    assert Gid(3, "fe80") != Gid(3, "fe80", "RoCE v2")
    assert replace(Gid(3, "fe80"), netdev="ens1") == Gid(3, "fe80", netdev="ens1")
    assert Unread("a", "b", "c") != Neighbour("a", "b", "c")
    assert Gid(3, "fe80") != (3, "fe80", None, None)


def test_hash_follows_equality():
    assert len({Gid(3, "fe80"), Gid(3, "fe80"), Gid(4, "fe80")}) == 2


def test_text_and_frozenness_are_those_of_a_dataclass():
    @dataclasses.dataclass(frozen=True)
    class Pair:
        one: int
        two: str = "x"

    @dataclass(frozen=True, eq=False, repr=False)
    class Twin(Model):
        one: int
        two: str = "x"

    assert repr(Twin(1)) == repr(Pair(1)).rpartition(".")[2].replace("Pair", "Twin")
    for frozen in (Twin(1), Pair(1)):
        with pytest.raises(AttributeError, match="cannot assign to field 'one'"):
            frozen.one = 2
        with pytest.raises(AttributeError, match="cannot delete field 'one'"):
            del frozen.one


def thing(decorate, more):
    @decorate(frozen=True)
    class Thing:
        one: int
        two: str
        three: Optional[int] = None
        four: dict = more(default_factory=dict)

    return Thing


class Twice:
    """The same class as the standard library makes it, and as the core does."""

    standard = thing(dataclasses.dataclass, dataclasses.field)
    ours = thing(dataclass, field)


@pytest.mark.parametrize(
    ("args", "given"),
    [
        ((1, "x"), {}),
        ((1,), {"two": "x", "four": {"a": 1}}),
        ((1, "x", 3, {}), {}),
        ((), {"two": "x", "one": 1}),
        ((), {}),
        ((1,), {}),
        ((), {"two": "x"}),
        ((1, "x"), {"five": 5}),
        ((1, "x"), {"one": 2}),
        ((1, "x", 3, {}, 5), {}),
    ],
)
def test_classes_are_made_as_the_standard_library_makes_them(args, given):
    def outcome(cls):
        try:
            return repr(cls(*args, **given)).partition("Thing(")[2]
        except TypeError as error:
            return str(error).rpartition("__init__() ")[2]

    assert outcome(Twice.ours) == outcome(Twice.standard)


def test_each_object_has_its_own_default():
    first, second = Twice.ours(1, "x"), Twice.ours(1, "x")
    first.four["a"] = 1
    assert second.four == {}


def test_the_standard_library_takes_them_for_its_own():
    one = Twice.ours(1, "x", 3)
    assert dataclasses.replace(one, two="y") == replace(one, two="y") == Twice.ours(1, "y", 3)
    assert dataclasses.is_dataclass(one)
    assert is_record(one)
    assert names(one) == names(Twice.ours) == ("one", "two", "three", "four")
    assert pickle.loads(pickle.dumps(Gid(3, "fe80"))) == Gid(3, "fe80")


def test_objects_that_are_not_frozen_change_and_have_no_hash():
    @dataclass
    class Loose:
        one: int = 1

    loose = Loose()
    loose.one = 2
    assert loose == Loose(2)
    with pytest.raises(TypeError):
        hash(loose)


def test_a_health_check_imports_nothing_heavy():
    core = "ansible_collections.railwright.fabric.plugins.module_utils.fabric"
    heavy = "argparse dataclasses inspect ipaddress logging subprocess tempfile urllib"
    code = f"import sys, {core}.agent.check; print(*[name for name in {heavy.split()!r} if name in sys.modules])"
    root = Path(base.__file__).parents[7]  # the folder that holds ansible_collections
    path = f"import sys; sys.path.insert(0, {str(root)!r}); "
    done = subprocess.run([sys.executable, "-IS", "-c", path + code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
