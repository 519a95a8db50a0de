"""Checks that a function tells its file: vcm_<file>_<verb>, or vcm_<folder>_<file>_<verb> where a folder
has a prefix of its own, and that no two folders use the same prefix.

What the library exports has the names of its header, and is left out.

usage: names.py ROOT
"""

import collections
import os
import re
import sys

import tree

FOLDERS = ("base", "tokens", "git", "vcm", "lfs", "kb", "sources", "repomap", "symbols", "api", "ops",
           "serve", "cli")
# clang-format puts a definition's brace into column one.
DEFINITION = re.compile(r"^(?!static\b|typedef\b|extern\b|#)[A-Za-z_][\w \t*]*?[\s*](\w+)\([^;{}]*\)\n\{",
                        re.MULTILINE)
INLINE = re.compile(r"^static inline [\w \t*]*?[\s*](\w+)\(", re.MULTILINE)
PUBLIC = re.compile(r"^(base/public\.h|api/public/.*\.h)$")
# Entry points whose names others give.
FOREIGN = {"main", "LLVMFuzzerTestOneInput"}


def stem(path):
    return os.path.basename(path).rsplit(".", 1)[0]


def prefixes(path):
    """The names that a function of the file may have, or may begin with."""
    folder = path.split("/")[0]
    return {f"vcm_{stem(path)}", f"vcm_{folder}_{stem(path)}"}


def functions(path, text):
    pattern = INLINE if path.endswith(".h") else DEFINITION
    # What is all in capitals is a macro that makes the name.
    return [name for name in pattern.findall(text) if name not in FOREIGN and not name.isupper()]


def file_findings(path, names):
    """Inline functions of a header may drop the prefix, as statics do."""
    allowed = prefixes(path) | ({stem(path)} if path.endswith(".h") else set())
    for name in names:
        if not any(name == prefix or name.startswith(prefix + "_") for prefix in allowed):
            yield f"{path}: {name} does not tell its file; vcm_{stem(path)}_... would"


def shared_findings(owners):
    """`owners`: prefix -> {folder: file}."""
    for prefix, folders in sorted(owners.items()):
        if len(folders) > 1:
            yield f"{prefix}_: {' and '.join(sorted(folders.values()))} share this prefix"


def stem_findings(paths):
    """A folder's subfolders are one folder to a reader of its names."""
    seen = {}
    for path in paths:
        key = (path.split("/")[0], stem(path), path.endswith(".h"))
        if key in seen and not PUBLIC.match(path) and not PUBLIC.match(seen[key]):
            yield f"{path}: {seen[key]} has the same name"
        seen[key] = path


def findings(root):
    """All findings in the tree, and the number of functions that were looked at."""
    paths = [path for path in tree.files(root, ".c", ".h") if path.split("/")[0] in FOLDERS]
    exported = {name for path in paths if PUBLIC.match(path)
                for name in re.findall(r"\b(vcm_\w+)\(", tree.read(root, path))}
    owners, found, count = collections.defaultdict(dict), list(stem_findings(paths)), 0
    for path in paths:
        names = [name for name in functions(path, tree.read(root, path)) if name not in exported]
        found += file_findings(path, names)
        count += len(names)
        prefix = f"vcm_{stem(path)}"
        if any(name.startswith(prefix + "_") for name in names):
            owners[prefix].setdefault(path.split("/")[0], path)
    return found + list(shared_findings(owners)), count


if __name__ == "__main__":
    tree.report(*findings(sys.argv[1]), "functions")
