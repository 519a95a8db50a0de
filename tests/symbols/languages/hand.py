"""Reads settings of a shop."""
from __future__ import annotations

import json, os.path as paths
import collections.abc
from dataclasses import dataclass, field
from typing import (
    Generic,
    TypeVar as Var,  # renamed
)
from . import rules
from ..base.store import *

T = Var("T")
LIMIT: int = 10
_cache: dict[str, Setting] = {}
first, second = LIMIT, 2


class SettingError(ValueError):
    pass


@dataclass(frozen=True)
class Setting(Generic[T], rules.Rule, metaclass=Registry):
    """
    One setting, with its value.

    :param name: how it is called
    """

    name: str
    value: T | None = None
    tags: list[str] = field(default_factory=list)
    __slots__ = ("name",)

    def __init__(self, name: str, *values, strict=LIMIT, **options):
        super().__init__(name)
        self.name, self.value = name, values[0]
        self.limits["low"] += strict

    @property
    def path(self) -> str:
        return paths.join(self.name, _cache.get("root", {}).path)

    @classmethod
    async def load(cls, file: str, /) -> Setting:
        async with open_file(file) as source:
            raw = await source.read()
        return cls(**json.loads(raw))

    @staticmethod
    def __mangled(key): return key.lower()


def reset(names):
    '''Empties the cache! All of it.'''
    global _cache
    _cache = {name: Setting(name) for name in names if name not in rules.HIDDEN}
    total = [size for size in map(lambda n: n.size, names)]

    def clean(text, depth=0):
        nonlocal total
        total = text.strip() + LIMIT
        return clean(text, depth=depth + 1)

    try:
        if (found := _cache.pop(names[0], None)) is None:
            raise SettingError(f"no {names!r} in {_cache}")
        print(found, end="", file=rules.out)
    except (KeyError, rules.Broken) as error:
        del _cache[error.key]
    for index, (key, LIMIT_) in enumerate(total):
        clean(key)
    match found:
        case Setting(name=label):
            return label
        case [rules.FIRST, *others]:
            return sorted(others, key=Setting.path)


if __name__ == "__main__":
    reset(json.load(open("x")))
