"""The public header alone."""

import os
import re
import shutil
import tempfile
import unittest

import build

HEADER = os.path.join(build.HEADERS, "vcm", "vcm.h")
# Twice, and nothing before it.
PROGRAM = "#include <vcm/vcm.h>\n#include <vcm/vcm.h>\nint main(void)\n{\n    return 0;\n}\n"


def compile_alone(compiler, *language):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "alone.c")
        build.write(source, PROGRAM)
        build.run([compiler, *language, *build.ALL_WARNINGS, "-I", build.HEADERS, "-c", source,
                   "-o", os.path.join(folder, "alone.o")])


class Header(unittest.TestCase):
    def test_it_compiles_alone_as_c11_with_all_warnings(self):
        compile_alone(build.CC, "-std=c11")

    def test_it_compiles_alone_as_cplusplus17_with_all_warnings(self):
        compilers = [name for name in ("g++", "clang++") if shutil.which(name)]
        self.assertTrue(compilers, "there is no C++ compiler")
        for compiler in compilers:
            compile_alone(compiler, "-x", "c++", "-std=c++17")

    def test_it_includes_no_header_of_ours(self):
        with open(HEADER, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn('#include "', text)
        self.assertNotRegex(text, r"#define (?!VCM_)", "a macro has another name")

    def test_all_its_names_begin_with_vcm(self):
        with open(HEADER, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
        names = re.findall(r"^(?:struct|enum) (\w+) \{", text, flags=re.MULTILINE)
        self.assertGreater(len(names), 40)
        self.assertEqual([name for name in names if not name.startswith("vcm_")], [])


if __name__ == "__main__":
    unittest.main()
