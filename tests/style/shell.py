"""Runs shellcheck over every shell script, known by its first line.

usage: shell.py ROOT SHELLCHECK
"""

import os
import re
import subprocess
import sys

import tree

FIRST_LINE = re.compile(rb"#!\s*/(usr/)?bin/(env )?(ba|da)?sh\b|# shellcheck shell=")


def is_shell(root, path):
    with open(os.path.join(root, path), "rb") as file:
        return FIRST_LINE.match(file.readline(200)) is not None


def main(root, shellcheck):
    scripts = [path for path in tree.files(root) if is_shell(root, path)]
    run = subprocess.run([shellcheck, "--external-sources", *scripts], cwd=root, check=False)
    tree.report([], 0 if run.returncode else len(scripts), "scripts")


if __name__ == "__main__":
    main(*sys.argv[1:])
