"""The classes of the binding beside the results that the operations describe (`vcm schema`)."""

import dataclasses
import json
import os
import subprocess
import typing
import unittest

import fixture
from vcm import _native as native
from vcm import types

# Which object of which command a class stands for; members that it has under another name; members that
# it leaves out; fields that may be None, or not, where the document is otherwise.
CLASSES = (
    (types.MmapResult, "map", ("sources",), {}, set(), {"message", "name"}),
    (types.ApplicationRecord, "page", ("records",), {},
     {"section", "page", "path_lossy", "size", "encoding", "heading"}, set()),
    (types.SearchHit, "kb search", ("hits",), {}, {"snippet"}, set()),
    (types.PageEvent, "watch", (), {"kind": "event", "related_page_ids": "old_page_id"}, set(),
     {"related_page_ids"}),
)
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", list: "array"}


def described(command, *path):
    """The members of an object in a command's document."""
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    run = subprocess.run([os.environ["VCM_PROGRAM"], "schema", *command.split(), "--json"], env=environment,
                         check=True, stdout=subprocess.PIPE)
    schema = json.loads(run.stdout)
    schema = schema.get("anyOf", [schema])[0]
    for name in path:
        schema = schema["properties"][name]
        schema = schema.get("items", schema)
    return schema["properties"]


def plain(hint):
    """A field's JSON type, and whether it may be None."""
    nullable = type(None) in typing.get_args(hint)
    if nullable:
        hint = next(inner for inner in typing.get_args(hint) if inner is not type(None))
    return TYPES[typing.get_origin(hint) or hint], nullable


class Results(unittest.TestCase):
    def test_classes_have_the_members_that_are_described(self):
        for cls, command, path, renamed, left_out, _ in CLASSES:
            names = {renamed.get(field.name, field.name) for field in dataclasses.fields(cls)}
            self.assertEqual(names | left_out, set(described(command, *path)), cls.__name__)
            self.assertEqual(names & left_out, set(), cls.__name__)

    def test_fields_have_the_types_that_are_described(self):
        for cls, command, path, renamed, _, otherwise in CLASSES:
            members = described(command, *path)
            hints = typing.get_type_hints(cls)
            for field in dataclasses.fields(cls):
                if field.name in otherwise:
                    continue
                wanted = members[renamed.get(field.name, field.name)]["type"]
                wanted = wanted if isinstance(wanted, list) else [wanted]
                with self.subTest(cls=cls.__name__, field=field.name):
                    kind, nullable = plain(hints[field.name])
                    self.assertEqual(kind, wanted[0])
                    self.assertEqual(nullable, "null" in wanted)

    def test_the_ledger_has_the_outcomes_that_are_described(self):
        self.assertEqual([name for name, _ in native.Coverage._fields_],
                         list(described("map", "sources", "coverage")))


if __name__ == "__main__":
    fixture.main()
