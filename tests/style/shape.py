"""Checks the shape of the files: length of files and functions, white space, and that every test
and fuzzer is registered with CMake.

usage: shape.py ROOT
"""

import os
import re
import sys

import tree

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 60
# Inputs of tests and fuzzers may look as they like.
DATA = re.compile(r"fuzz/corpus/|tests/[^/]+/data/")
TEXT = (".c", ".h", ".py", ".sh", ".cmake", ".txt", ".md", ".json", ".yaml", ".yml")


def white_space_findings(path, lines):
    for number, line in enumerate(lines, 1):
        if line != line.rstrip() and not path.endswith(".md"):
            yield f"{path}:{number}: white space at the end of the line"
        if "\t" in line and path.endswith((".c", ".h")):
            yield f"{path}:{number}: a tab"


def length_findings(path, lines):
    if len(lines) > FILE_LINES_MAX:
        yield f"{path}: {len(lines)} lines, at most {FILE_LINES_MAX}: split the file"
    # clang-format puts the braces of a function, and of nothing else that is long, in column one.
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start - 1 > FUNCTION_LINES_MAX:
                yield (f"{path}:{start}: a function of {number - start - 1} lines, "
                       f"at most {FUNCTION_LINES_MAX}")
            start = None


def cmake_text(root, folder):
    path = os.path.join(folder, "CMakeLists.txt")
    if not os.path.exists(os.path.join(root, path)):
        return ""
    return re.sub(r"#.*", "", tree.read(root, path))


def is_called(text, function, argument):
    """Whether a CMake text has FUNCTION(ARGUMENT ...)."""
    return re.search(rf"\b{function}\(\s*{re.escape(argument)}[\s)]", text) is not None


def registration_findings(root, paths):
    folders = cmake_text(root, "tests")
    for folder in sorted({path.split("/")[1] for path in paths
                          if re.match(r"tests/[^/]+/CMakeLists\.txt$|tests/[^/]+/test_", path)}):
        if not is_called(folders, "add_subdirectory", folder):
            yield f"tests/{folder}: tests/CMakeLists.txt does not add it"
    for path in paths:
        test = re.match(r"tests/([^/]+)/(test_[^/]+)\.c$", path)
        fuzzer = re.match(r"fuzz/fuzz_([^/]+)\.c$", path)
        if test and not is_called(cmake_text(root, f"tests/{test[1]}"), "vcm_test",
                                  f"{test[1]}/{test[2]}"):
            yield f"{path}: tests/{test[1]}/CMakeLists.txt has no vcm_test() for it"
        if fuzzer and not is_called(cmake_text(root, "fuzz"), "vcm_fuzz", fuzzer[1]):
            yield f"{path}: fuzz/CMakeLists.txt has no vcm_fuzz() for it"


def findings(root):
    """All findings in the tree, and the number of files that were read."""
    paths = [path for path in tree.files(root)
             if path.endswith(TEXT) or path.startswith(("scripts/", ".ci/"))]
    paths = [path for path in paths if not DATA.match(path)]
    found = list(registration_findings(root, paths))
    for path in paths:
        lines = tree.read(root, path).split("\n")[:-1]
        found += white_space_findings(path, lines)
        if path.endswith((".c", ".h")):
            found += length_findings(path, lines)
    return found, len(paths)


if __name__ == "__main__":
    tree.report(*findings(sys.argv[1]), "files")
