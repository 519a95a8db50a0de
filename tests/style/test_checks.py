"""The checks of this folder find what they are there to find, in trees made up for it."""

import json
import os
import shutil
import tempfile
import unittest

import includes
import invariants
import shape
import tidy

LAST = '#include "base/banned.h"\n'
ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")


class MadeUpTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


class Includes(MadeUpTree):
    def check(self, path, text):
        self.write(path, text)
        return includes.findings(self.root)[0]

    def test_an_include_downwards_is_found(self):
        found = self.check("vcm/page.c", '#include "git/repo.h"\n' + LAST)
        self.assertEqual(found, ['vcm/page.c: vcm/ may not use git/ ("git/repo.h")'])

    def test_an_include_downwards_in_a_header_is_found(self):
        self.assertEqual(len(self.check("base/buf.h", '#  include "vcm/page.h"\n')), 1)

    def test_includes_upwards_and_within_the_folder_are_fine(self):
        text = '#include "ops/ops.h"\n#include "base/buf.h"\n#include "api/vcm.h"\n' + LAST
        self.assertEqual(self.check("ops/map.c", text), [])

    def test_tests_may_use_anything(self):
        self.assertEqual(self.check("tests/base/test_a.c", '#include "cli/cli.h"\n' + LAST), [])

    def test_a_relative_include_is_found(self):
        self.assertEqual(len(self.check("base/buf.c", '#include "buf.h"\n' + LAST)), 1)
        self.assertEqual(len(self.check("base/buf.c", '#include "base/../git/a.h"\n' + LAST)), 1)

    def test_a_third_party_header_outside_its_owner_is_found(self):
        for header in ["lmdb.h", "git2.h", "git2/sys/odb_backend.h", "yajl/yajl_parse.h", "yaml.h",
                       "nettle/sha2.h", "xxhash.h"]:
            found = self.check("base/pool.c", f"#include <{header}>\n" + LAST)
            self.assertEqual(len(found), 1, header)

    def test_owners_may_include_their_library(self):
        self.assertEqual(self.check("base/kv_env.c", "#include <lmdb.h>\n" + LAST), [])
        self.assertEqual(self.check("git/tree.c", "#include <git2.h>\n" + LAST), [])

    def test_the_library_is_used_through_its_public_header_alone(self):
        self.assertEqual(self.check("ops/a.c", '#include "api/vcm.h"\n' + LAST), [])
        self.assertEqual(self.check("api/a.c", '#include "api/internal.h"\n' + LAST), [])
        for header in ("api/internal.h", "api/public/map.h", "vcm/page.h", "repomap/plan.h"):
            self.assertEqual(len(self.check("ops/a.c", f'#include "{header}"\n' + LAST)), 1)
        self.assertEqual(self.check("ops/a.c", LAST), [])
        self.assertEqual(len(self.check("cli/a.c", '#include "api/vcm.h"\n' + LAST)), 1)

    def test_a_folder_outside_the_table_is_found(self):
        self.assertEqual(len(self.check("util/misc.c", LAST)), 1)

    def test_banned_must_be_there_and_last(self):
        self.assertEqual(len(self.check("base/a.c", "int a;\n")), 1)
        self.assertEqual(len(self.check("base/a.c", LAST + "#include <stdio.h>\n")), 1)

    def test_every_folder_uses_only_folders_above_it(self):
        above = set()
        for folder, uses in includes.USES.items():
            self.assertLessEqual(set(uses.split()), above, folder)
            above.add(folder)


class Shape(MadeUpTree):
    def check(self, path, text):
        self.write(path, text)
        return shape.findings(self.root)[0]

    def test_a_long_file_is_found(self):
        self.assertEqual(self.check("base/a.c", "int a;\n" * shape.FILE_LINES_MAX), [])
        self.assertEqual(len(self.check("base/a.c", "int a;\n" * (shape.FILE_LINES_MAX + 1))), 1)

    def test_a_long_function_is_found(self):
        def function(lines):
            return "int f(void)\n{\n" + "    g();\n" * lines + "}\n"
        self.assertEqual(self.check("base/a.c", function(shape.FUNCTION_LINES_MAX) * 3), [])
        found = self.check("base/a.c", function(3) + function(shape.FUNCTION_LINES_MAX + 1))
        self.assertEqual(len(found), 1)

    def test_tabs_and_white_space_at_the_end_are_found(self):
        self.assertEqual(len(self.check("base/a.c", "\tint a;\n")), 1)
        self.assertEqual(len(self.check("base/a.c", "int a; \n")), 1)

    def test_a_test_that_nobody_runs_is_found(self):
        self.write("tests/CMakeLists.txt", "# add_subdirectory(git)\nadd_subdirectory(base)\n")
        self.write("tests/base/CMakeLists.txt", "vcm_test(base/test_a_long USES vcm_base)\n")
        self.assertEqual(self.check("tests/base/test_a_long.c", ""), [])
        self.assertEqual(len(self.check("tests/base/test_a.c", "")), 1)
        self.write("tests/base/CMakeLists.txt", "vcm_test(base/test_a_long)\nvcm_test(base/test_a)\n")
        self.assertEqual(len(self.check("tests/git/test_repo.py", "")), 1)

    def test_a_fuzzer_that_nobody_replays_is_found(self):
        self.assertEqual(len(self.check("fuzz/fuzz_json.c", "")), 1)
        self.write("fuzz/CMakeLists.txt", "vcm_fuzz(json USES vcm_base)\n")
        self.assertEqual(shape.findings(self.root)[0], [])


class Invariants(MadeUpTree):
    def check(self, row, heading="| | what holds | test |", rest=""):
        self.write("vcm/README.md", f"{rest}\n{heading}\n|---|---|---|\n{row}\n")
        self.write("tests/vcm/test_a.c", "static void it_does_hold(void **state)\n{\n}\n")
        self.write("tests/vcm/test_check.c", '    {"S2", other_bytes},\n')
        return invariants.findings(self.root)

    def test_a_test_that_is_there_is_fine(self):
        for row in ("| S1 | x | `test_a.c`: it_does_hold |", "| S1 | x | `tests/vcm/test_a.c` |",
                    "| S2 | x | |"):
            self.assertEqual(self.check(row), ([], 1), row)
        self.assertEqual(self.check("| S1 | x | it_does_hold |", "| | x | test of `test_a.c` |"),
                         ([], 1))

    def test_a_test_that_is_not_there_is_found(self):
        for row in ("| S1 | x | `test_a.c`: it_does_not_hold |", "| S1 | x | `test_b.c` |",
                    "| S1 | x | |", "| S1 | x | `test_a.c`: it_does_hold, no_it_does_not |"):
            self.assertEqual(len(self.check(row)[0]), 1, row)
        self.assertEqual(len(self.check("| S1 | x | is_not_there |", "| | x | test of `test_a.c` |")[0]),
                         1)
        self.assertEqual(len(self.check("| S2 | x | |", rest="See `test_a.c`: it_is_gone.")[0]), 1)


class TidyCache(MadeUpTree):
    def setUp(self):
        super().setUp()
        self.write(".clang-tidy", "Checks: '*'\n")
        self.write("base/a.c", '#include "base/a.h"\n')
        self.write("base/a.h", '#include "base/b.h"\n')
        self.write("base/b.h", "")
        self.tidy = tidy.Tidy(self.root, "true", "", "")

    def key(self):
        return self.tidy.key("base/a.c", "cc -c a.c")

    def test_the_key_changes_with_anything_that_matters_and_only_then(self):
        first = self.key()
        self.write("base/c.h", "int c;\n")
        self.assertEqual(self.key(), first)
        keys = {first, self.tidy.key("base/a.c", "cc -O2 -c a.c")}
        for path in ["base/b.h", "base/a.c", ".clang-tidy", "base/.clang-tidy"]:
            self.write(path, "/* changed */\n" + ('#include "base/a.h"\n' * path.endswith(".c")))
            keys.add(self.key())
        self.assertEqual(len(keys), 6)


class TidyParts(unittest.TestCase):
    def test_every_file_is_in_one_part(self):
        paths = [f"base/{i}.c" for i in range(21)]
        parts = [tidy.share(paths, f"{i}/8") for i in range(1, 9)]
        self.assertEqual(sorted(sum(parts, [])), sorted(paths))
        self.assertEqual(tidy.share(paths, "1/1"), paths)


class TidyFinds(MadeUpTree):
    """What the static analysis finds with the budget of an ordinary run, our configuration, and the
    bug on the other side of a call."""

    HEAD = ("#include <stdlib.h>\n"
            "static int first(const int *values)\n{\n    return values[0];\n}\n"
            "static void fill(int *value, int kind)\n{\n    if (kind > 3)\n        *value = 1;\n}\n"
            "static int *make(void)\n{\n    return calloc(4, sizeof(int));\n}\n"
            "static void drop(int *values)\n{\n    free(values);\n}\n"
            "int use(int kind, const int *given);\n"
            "int use(int kind, const int *given)\n{\n"
            "    int *made = make(), value = 0, sum = 0;\n\n"
            "    if (!made)\n        return -1;\n")
    TAIL = ("    fill(&value, kind);\n    sum += value + first(given) + first(made);\n"
            "    drop(made);\n    return sum;\n}\n")
    NULL = "    sum += first(kind > 3 ? made : NULL);\n"
    LEAK = "    if (kind > 3)\n        return 1;\n"
    FREED = "    if (kind > 3)\n        drop(made);\n"
    UNSET = "    int unset;\n    fill(&unset, kind);\n    sum += unset;\n"

    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(ROOT, ".clang-tidy"), self.root)
        self.write("cache/empty", "")
        source = os.path.join(self.root, "base/a.c")
        self.write("compile_commands.json", json.dumps(
            [{"directory": self.root, "file": source, "command": f"cc -std=c11 -c {source}"}]))

    def check(self, body):
        self.write("base/a.c", self.HEAD + body + self.TAIL)
        program = os.environ.get("VCM_CLANG_TIDY", "clang-tidy")
        return tidy.Tidy(self.root, program, self.root, os.path.join(self.root, "cache")).check(
            "base/a.c", "")

    @staticmethod
    def branches(count):
        return "".join(f"    if (given[{i}] > {i})\n        sum += given[{i + 1}];\n"
                       for i in range(count))

    def test_what_is_right_is_clean(self):
        self.assertEqual(self.check(""), "")
        self.assertEqual(self.check(self.branches(20)), "")

    def test_a_null_dereference_in_a_callee_is_found(self):
        self.assertIn("clang-analyzer-core.NullDereference", self.check(self.NULL))

    def test_a_leak_of_what_a_callee_made_is_found(self):
        self.assertIn("clang-analyzer-unix.Malloc", self.check(self.LEAK))

    def test_a_use_of_what_a_callee_freed_is_found(self):
        self.assertIn("clang-analyzer-unix.Malloc", self.check(self.FREED))

    def test_a_read_of_what_a_callee_left_unset_is_found(self):
        self.assertIn("clang-analyzer-core.uninitialized", self.check(self.UNSET))

    def test_bugs_behind_a_million_paths_are_found(self):
        for bug in (self.NULL, self.LEAK, self.FREED, self.UNSET):
            self.assertIn("clang-analyzer-", self.check(self.branches(20) + bug), bug)

    def test_a_bug_whose_cause_is_nine_branches_away_is_found(self):
        self.assertIn("clang-analyzer-unix.Malloc", self.check(self.FREED + self.branches(9)))


if __name__ == "__main__":
    unittest.main()
