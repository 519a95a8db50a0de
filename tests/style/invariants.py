"""Every invariant that a README numbers names a test that is there.

usage: invariants.py ROOT

A row of a table that begins with a letter and a number is an invariant. Its last cell names tests as
`test_file.c`: name, name; or bare where the heading of the column names the file. An invariant
whose number is in the test_check.c of the folder is checked there. Names in the rest of a README are
looked up as well.
"""

import os
import re
import sys

import tree

REFERENCE = re.compile(r"`(?P<file>[\w/]*test_\w+\.c)`(?::\s+(?P<names>\w+(?:,\s+\w+)*))?")
NAME = re.compile(r"\b[a-z0-9]+(?:_[a-z0-9]+){2,}\b")
INVARIANT = re.compile(r"\| ([A-Z][0-9]+) \|(.*)\|$")


def path_of(root, readme, name):
    if not name.startswith("tests/"):
        name = os.path.join("tests", os.path.dirname(readme), name)
    return name if os.path.isfile(os.path.join(root, name)) else None


def has_test(root, path, name):
    return re.search(rf"^static void {name}\(void \*\*state\)", tree.read(root, path), re.M)


def check_names(root, readme, text):
    """What is said of tests anywhere in the text: a list of findings."""
    found = []
    for reference in REFERENCE.finditer(text):
        path = path_of(root, readme, reference["file"])
        if not path:
            found.append(f"{readme}: there is no {reference['file']}")
            continue
        found += [f"{readme}: {path} has no test {name}"
                  for name in NAME.findall(reference["names"] or "") if not has_test(root, path, name)]
    return found


def check_row(root, readme, heading, number, cells):
    tests = cells.split("|")[-1]
    if REFERENCE.search(tests):
        return []
    bare, of = NAME.findall(tests), REFERENCE.search(heading)
    checker = path_of(root, readme, "test_check.c")
    path = of and path_of(root, readme, of["file"])
    if bare and path and "besides" not in heading:
        return [f"{readme}: {path} has no test {name}" for name in bare
                if not has_test(root, path, name)]
    if checker and re.search(rf'"\|?{number}[:"]', tree.read(root, checker)):
        return []
    return [f"{readme}: {number} names no test"]


def findings(root):
    found, count = [], 0
    for readme in [path for path in tree.files(root, "README.md") if "/" in path]:
        text = tree.read(root, readme)
        heading, rows = "", 0
        for line in text.splitlines():
            row = INVARIANT.match(line)
            if row:
                rows += 1
                found += check_row(root, readme, heading, row[1], row[2])
            elif line.startswith("| |"):
                heading = line
        if rows:
            found += check_names(root, readme, text)
        count += rows
    return found, count


def main(root):
    tree.report(*findings(root), "invariants")


if __name__ == "__main__":
    main(*sys.argv[1:])
