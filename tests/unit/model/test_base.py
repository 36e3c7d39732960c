# Copyright Railwright contributors
# SPDX-License-Identifier: Apache-2.0
"""What all model classes share: they compare, hash and print as dataclasses do."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, replace

import pytest
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.base import Model
from ansible_collections.railwright.fabric.plugins.module_utils.fabric.model.facts import Gid, Neighbour, Unread


def test_equal_by_value_and_within_one_class():
    assert Gid(3, "fe80") == Gid(3, "fe80", None)
    assert Gid(3, "fe80") != Gid(3, "fe80", "RoCE v2")
    assert replace(Gid(3, "fe80"), netdev="ens1") == Gid(3, "fe80", netdev="ens1")
    assert Unread("a", "b", "c") != Neighbour("a", "b", "c")
    assert Gid(3, "fe80") != (3, "fe80", None, None)


def test_hash_follows_equality():
    assert len({Gid(3, "fe80"), Gid(3, "fe80"), Gid(4, "fe80")}) == 2


def test_text_and_frozenness_are_those_of_a_dataclass():
    @dataclass(frozen=True)
    class Pair:
        one: int
        two: str = "x"

    @dataclass(frozen=True, eq=False, repr=False)
    class Twin(Model):
        one: int
        two: str = "x"

    assert repr(Twin(1)) == repr(Pair(1)).rpartition(".")[2].replace("Pair", "Twin")
    with pytest.raises(FrozenInstanceError):
        Twin(1).one = 2
