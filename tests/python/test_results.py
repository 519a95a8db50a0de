"""The classes of the binding beside the results that the operations describe (`vcm schema`)."""

import dataclasses
import functools
import inspect
import json
import os
import pathlib
import subprocess
import typing
import unittest

import fixture
from test_layout import recorded
from vcm import _native as native
from vcm import results, types

# Which object of which command a class stands for; members that it has under another name; members that
# it leaves out; fields that it has more; fields that may be None, or not, where the document is otherwise.
CLASSES = (
    (types.MmapResult, "map", ("sources",), {}, set(), set(), {"message", "name"}),
    (types.ApplicationRecord, "page", ("records",), {},
     {"section", "page", "path_lossy", "size", "encoding", "heading"}, set(), set()),
    (types.SearchHit, "kb search", ("hits",), {}, {"snippet"}, set(), set()),
    (types.PageEvent, "watch", (), {"kind": "event", "related_page_ids": "old_page_id"}, set(), set(),
     {"related_page_ids"}),
    (results.FoundPage, "find", ("pages",), {}, set(), set(), set()),
    (results.ReadItem, "read", ("items",), {}, set(), set(), set()),
    (results.ReadResult, "read", (), {}, set(), {"rendered", "lines_left"}, set()),
    (results.GrepMatch, "grep", ("matches",), {}, set(), set(), set()),
    (results.GrepResult, "grep", (), {}, {"next_cursor"}, set(), set()),
    (results.Gap, "grep", ("incomplete",), {}, set(), set(), set()),
    (results.OutlineSymbol, "outline", ("files", "symbols"), {}, set(), set(), set()),
    (results.OutlineFile, "outline", ("files",), {}, set(), set(), set()),
    (results.OutlineResult, "outline", (), {}, set(), {"rendered", "files_left"}, set()),
    (results.Symbol, "symbols", ("symbols",), {}, set(), set(), set()),
    (results.Symbols, "symbols", (), {}, {"next_cursor"}, set(), set()),
    (results.Reference, "refs", ("references",), {}, set(), set(), set()),
    (results.References, "refs", (), {}, {"next_cursor"}, set(), set()),
    (results.Change, "diff", ("changes",), {}, set(), set(), set()),
    (results.DiffResult, "diff", (), {"from_commit": "from", "to_commit": "to"}, {"truncated", "next_cursor"}, set(),
     set()),
    (results.RepoMap, "repo map", (), {}, set(), set(), set()),
    (results.FetchedRepository, "repo fetch", (), {}, set(), set(), set()),
    (results.Readme, "repo fetch", ("readme",), {}, set(), set(), set()),
    (results.Entrypoint, "repo fetch", ("entrypoints",), {}, set(), set(), set()),
    (results.TokensFile, "tokens", ("files",), {}, set(), set(), set()),
    (results.TokenCounts, "tokens", (), {}, set(), set(), set()),
    (results.MapProblem, "check", ("errors",), {}, set(), set(), set()),
    (results.MapRoute, "check", ("knowledge_routing",), {}, set(), set(), set()),
    (results.CheckedSource, "check", ("sources",), {}, set(), set(), set()),
    (results.CheckResult, "check", (), {}, set(), set(), set()),
    (results.PreviewSource, "preview", ("sources",), {}, set(), set(), {"error", "mmap_kwargs", "config"}),
    (results.PreviewResult, "preview", (), {}, set(), set(), set()),
    (results.CoverageFile, "coverage", ("files",), {}, set(), set(), set()),
    (results.CoverageResult, "coverage", (), {}, {"total", "truncated", "next_cursor"}, set(), set()),
    (results.EvictedPage, "evict", ("pages",), {}, set(), set(), set()),
    (results.EvictResult, "evict", (), {}, set(), set(), set()),
    (results.InitRef, "init", ("refs",), {}, set(), set(), set()),
    (results.InitFile, "init", ("migration", "files"), {}, set(), set(), set()),
    (results.InitMigration, "init", ("migration",), {}, set(), set(), set()),
    (results.InitResult, "init", (), {}, set(), set(), set()),
    (results.LfsFile, "lfs status", ("files",), {}, set(), set(), set()),
    (results.LfsGap, "lfs status", ("incomplete",), {}, set(), set(), set()),
    (results.LfsStatus, "lfs status", (), {}, set(), set(), set()),
    (results.PulledFile, "lfs pull", ("files",), {}, set(), set(), set()),
    (results.LfsPull, "lfs pull", (), {}, set(), set(), set()),
    (results.KbFile, "kb ingest", ("files",), {}, set(), set(), set()),
    (results.KbChunk, "kb show", (), {}, set(), set(), set()),
    (results.KbDocument, "kb list", ("documents",), {}, set(), set(), set()),
    (results.KbStat, "kb stat", (), {}, set(), set(), set()),
    (results.PromoteResult, "promote", (), {}, set(), set(), set()),
    (results.VerifyFinding, "verify", ("findings",), {}, set(), set(), set()),
    (results.VerifyResult, "verify", (), {}, set(), set(), set()),
    (results.GcResult, "gc", (), {}, set(), set(), set()),
    (results.TopScope, "top", ("largest",), {}, set(), set(), set()),
    (results.TraceAccess, "trace record", ("trace",), {}, set(), set(), set()),
    (results.TraceOutcome, "trace replay", ("policies",), {}, set(), set(), set()),
    (results.TraceReplay, "trace replay", (), {}, set(), set(), set()),
    (results.Setting, "config list", ("config",), {}, set(), set(), {"value", "default"}),
    (results.Finding, "doctor", ("findings",), {}, set(), set(), set()),
)
# Rows of a map are shown in another form by `vcm show`, statistics by `vcm top`.
UNLIKE = {results.MapRow, results.ShowResult, results.TopSample}
# Operations whose method has the framework's name.
FRAMEWORK = {"map": "materialize_repo_map", "unmap": "munmap_application_scope",
             "scopes": "get_all_mapped_scopes", "pages": "get_pages_for_scope",
             "page": "get_virtual_page", "fault": "issue_page_fault", "lock": "lock_page",
             "unlock": "unlock_page", "pin": "pin_page", "unpin": "unpin_page", "stat": "get_stats"}
COMMAND_LINE = {"help", "schema", "completion", "mcp", "serve"}  # about commands; servers of the program
# Functions that the binding needs not: they do for programs in C what Python, or another call, does.
UNUSED = {"vcm_error_reset", "vcm_set_cancel", "vcm_home", "vcm_map", "vcm_unmap", "vcm_directory_walk"}
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", list: "array"}


@functools.lru_cache(maxsize=None)
def schemas():
    """The schemas of all commands."""
    run = subprocess.run([os.environ["VCM_PROGRAM"], "schema", "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(run.stdout)["commands"]


def described(command, *path):
    """The members of an object in a command's document."""
    schema = schemas()[command]
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
    return TYPES.get(typing.get_origin(hint) or hint, "object"), nullable


class Results(unittest.TestCase):
    def test_classes_have_the_members_that_are_described(self):
        for cls, command, path, renamed, left_out, more, _ in CLASSES:
            names = {renamed.get(field.name, field.name) for field in dataclasses.fields(cls)}
            with self.subTest(cls=cls.__name__):
                self.assertEqual((names - more) | left_out, set(described(command, *path)))
                self.assertEqual(names & left_out, set())

    def test_fields_have_the_types_that_are_described(self):
        for cls, command, path, renamed, _, more, otherwise in CLASSES:
            members = described(command, *path)
            hints = typing.get_type_hints(cls)
            for field in dataclasses.fields(cls):
                if field.name in otherwise | more:
                    continue
                wanted = members[renamed.get(field.name, field.name)]["type"]
                wanted = wanted if isinstance(wanted, list) else [wanted]
                with self.subTest(cls=cls.__name__, field=field.name):
                    kind, nullable = plain(hints[field.name])
                    self.assertEqual(kind, wanted[0])
                    self.assertEqual(nullable, "null" in wanted)

    def test_every_class_is_compared(self):
        defined = {cls for cls in vars(results).values() if dataclasses.is_dataclass(cls)
                   and cls.__module__ == results.__name__}
        self.assertEqual(defined - {row[0] for row in CLASSES} - UNLIKE, set())

    def test_every_operation_has_its_method(self):
        manager = fixture.vcm.VirtualContextManager
        missing = {command for command in schemas() if command not in COMMAND_LINE and
                   not hasattr(manager, FRAMEWORK.get(command, command.replace(" ", "_")))}
        self.assertEqual(missing, set(), "operations without a method")

    def test_every_function_of_the_library_is_used(self):
        _, functions = recorded()
        self.assertEqual(functions - set(native.FUNCTIONS) - UNUSED, set(), "functions without a method")
        self.assertEqual(UNUSED - functions, set())
        folder = os.path.dirname(native.__file__)
        text = "".join(pathlib.Path(folder, name).read_text(encoding="utf-8")
                       for name in os.listdir(folder) if name.endswith(".py"))
        self.assertEqual([name for name in native.FUNCTIONS if f"lib.{name}" not in text and
                          f"_library.{name}" not in text], [])

    def test_all_that_is_public_says_what_it_is(self):
        for module in (fixture.vcm, results):
            for name, item in vars(module).items():
                if name.startswith("_") or not inspect.isclass(item) or \
                        not item.__module__.startswith("vcm"):
                    continue
                self.assertTrue(item.__doc__ and not item.__doc__.startswith(name + "("), name)
        for name, method in inspect.getmembers(fixture.vcm.VirtualContextManager):
            if not name.startswith("_"):
                with self.subTest(method=name):
                    self.assertTrue(method.__doc__)

    def test_the_ledger_has_the_outcomes_that_are_described(self):
        self.assertEqual([name for name, _ in native.Coverage._fields_],
                         list(described("map", "sources", "coverage")))


if __name__ == "__main__":
    fixture.main()
