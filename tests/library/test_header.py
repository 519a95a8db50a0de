"""The public headers alone."""

import os
import re
import shutil
import tempfile
import unittest

import build

FOLDER = os.path.join(build.HEADERS, "vcm")
HEADERS = sorted(os.listdir(FOLDER))
LINES_MAX = 400


def compile_alone(compiler, *language):
    """Each header twice, and nothing before it; then all of them, last first."""
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for name, parts in [*((name, [name]) for name in HEADERS), ("all.h", HEADERS[::-1])]:
            sources.append(os.path.join(folder, name + ".c"))
            build.write(sources[-1], "".join(f"#include <vcm/{part}>\n" for part in parts * 2)
                        + f"int alone_{name[:-2]};\n")
        build.run([compiler, *language, *build.ALL_WARNINGS, "-I", build.HEADERS, "-fsyntax-only",
                   *sources])


def text_of(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


class Header(unittest.TestCase):
    def test_they_compile_alone_as_c11_with_all_warnings(self):
        compile_alone(build.CC, "-std=c11")

    def test_they_compile_alone_as_cplusplus17_with_all_warnings(self):
        compilers = [name for name in ("g++", "clang++") if shutil.which(name)]
        self.assertTrue(compilers, "there is no C++ compiler")
        for compiler in compilers:
            compile_alone(compiler, "-x", "c++", "-std=c++17")

    def test_vcm_h_includes_all_of_them(self):
        self.assertIn("vcm.h", HEADERS)
        self.assertEqual(sorted([*re.findall(r"^#include <vcm/(.*)>", text_of("vcm.h"),
                                             flags=re.MULTILINE), "types.h", "vcm.h"]), HEADERS)

    def test_they_include_each_other_as_installed(self):
        for name in HEADERS:
            self.assertNotIn('#include "', text_of(name), name)
            for part in re.findall(r"^#include <vcm/(.*)>", text_of(name), flags=re.MULTILINE):
                self.assertIn(part, HEADERS, name)
            self.assertNotRegex(text_of(name), r"#define (?!VCM_)", "a macro has another name")

    def test_each_is_read_in_one_sitting(self):
        for name in HEADERS:
            self.assertLess(text_of(name).count("\n"), LINES_MAX, name)

    def test_all_their_names_begin_with_vcm(self):
        text = re.sub(r"/\*.*?\*/", "", "".join(map(text_of, HEADERS)), flags=re.DOTALL)
        names = re.findall(r"^(?:struct|enum) (\w+) \{", text, flags=re.MULTILINE)
        self.assertGreater(len(names), 40)
        self.assertEqual([name for name in names if not name.startswith("vcm_")], [])


if __name__ == "__main__":
    unittest.main()
