"""The structs of the binding beside the recorded interface of the library."""

import ctypes
import os
import re
import unittest

import fixture
from vcm import _native as native


def recorded():
    """Size and offsets of every struct in api/libvcm.abi, and the names of the functions."""
    structs, functions, members = {}, set(), {}
    with open(os.path.join(fixture.ROOT, "api", "libvcm.abi"), encoding="utf-8") as file:
        for line in file:
            if found := re.match(r"struct (\w+) (\d+)", line):
                members = {}
                structs[found.group(1)] = (int(found.group(2)), members)
            elif found := re.match(r"  (\w+) (\d+)", line):
                members[found.group(1)] = int(found.group(2))
            elif found := re.match(r"function (\w+)", line):
                functions.add(found.group(1))
    return structs, functions


class Layout(unittest.TestCase):
    def test_structs_are_those_of_the_library(self):
        structs, _ = recorded()
        for struct in native.STRUCTS:
            size, members = structs[struct.__name__]
            own = {name: getattr(struct, name).offset for name, _ in struct._fields_}
            if struct.__name__ in native.PREFIXES:
                members = dict(list(members.items())[:len(own)])
            else:
                self.assertEqual(ctypes.sizeof(struct), size, struct.__name__)
            self.assertEqual(list(own.items()), list(members.items()), struct.__name__)

    def test_functions_are_those_of_the_library(self):
        _, functions = recorded()
        self.assertEqual(set(native.FUNCTIONS) - functions, set())

    def test_the_versions_are_one(self):
        self.assertEqual(fixture.vcm.library_version(), fixture.vcm.__version__)


if __name__ == "__main__":
    fixture.main()
