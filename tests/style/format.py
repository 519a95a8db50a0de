"""Checks that clang-format would change nothing.

usage: format.py ROOT CLANG_FORMAT
"""

import subprocess
import sys

import tree


def main(root, clang_format):
    paths = tree.files(root, ".c", ".h")
    run = subprocess.run([clang_format, "--dry-run", "-Werror", "--ferror-limit=3", *paths],
                         cwd=root, check=False)
    if run.returncode:
        print("run clang-format -i on the files above")
    tree.report([], 0 if run.returncode else len(paths), "files")


if __name__ == "__main__":
    main(*sys.argv[1:])
