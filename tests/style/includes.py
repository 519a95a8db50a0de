"""Checks that a folder includes only folders above it, a third-party header only its owner, and
that every .c file includes base/banned.h last.

usage: includes.py ROOT
"""

import fnmatch
import re
import sys

import tree

# The house, top down: each folder with the folders that it may use. docs/ARCHITECTURE.md tells why.
USES = {
    "base": "",
    "tokens": "base",
    "git": "base",
    "vcm": "base tokens",
    "lfs": "base git",
    "kb": "base tokens",
    "sources": "base tokens git vcm lfs kb",
    "repomap": "base tokens git vcm lfs kb sources",
    "symbols": "base tokens git",
    "api": "base tokens git vcm lfs kb sources repomap symbols",
    "ops": "base api",
    "serve": "base ops",
    "cli": "base ops serve",
}
# Folders in folders, top down: each uses itself and those before it.
INNER = {
    "vcm": ["page", "store", "residency", "mapping", "check"],
}
FREE = {"tests", "fuzz", "bench"}
# Who uses the library uses what everybody else can: of api/ the public header alone.
PUBLIC = {"api": "api/vcm.h"}

# Headers of third-party libraries, and the files that may include them.
OWNERS = {
    "lmdb.h": ["base/kv*.c"],
    "git2.h": ["git/*"],
    "git2/*": ["git/*"],
    "zlib.h": ["git/loose.c"],
    "libdeflate.h": ["git/pack_reader.c"],
    "yajl/*": ["base/json.c"],
    "yaml.h": ["base/yaml.c"],
    "zstd*.h": ["base/zstd.c"],
    "zdict.h": ["base/zstd.c"],
    "pcre2.h": ["base/regex.c"],
    "nettle/*": ["base/hash.c"],
    "xxhash.h": ["base/hash.c"],
    "sqlite3.h": ["kb/database*"],
    "poppler.h": ["kb/extract_pdf.c"],
    "glib*": ["kb/extract_pdf.c"],
    "http_parser.h": ["serve/http_parse.c"],
    "seccomp.h": ["kb/extract_sandbox.c"],
    "tree_sitter/*": ["symbols/extractor.c", "symbols/patterns*", "symbols/receiver.*", "symbols/tree_block.*",
                      "symbols/tree_query.*"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_findings(path, folder, quoted):
    if folder in FREE:
        return
    allowed = {folder, *USES[folder].split()}
    for target in quoted:
        if "/" not in target or ".." in target.split("/"):
            yield f'{path}: include "{target}" by its path from the top of the tree'
        elif target.split("/")[0] not in allowed:
            yield f'{path}: {folder}/ may not use {target.split("/")[0]}/ ("{target}")'
        elif target != PUBLIC.get(target.split("/")[0], target) and \
                target.split("/")[0] != folder:
            yield f'{path}: {folder}/ may use "{PUBLIC[target.split("/")[0]]}", not "{target}"'


def inner_findings(path, quoted):
    folder, *rest = path.split("/")
    order = INNER.get(folder, [])
    if len(rest) < 2 or rest[0] not in order:
        return
    for target in quoted:
        parts = target.split("/")
        if parts[0] == folder and parts[1] in order and order.index(parts[1]) > order.index(rest[0]):
            yield f'{path}: {folder}/{rest[0]}/ may not use {folder}/{parts[1]}/ ("{target}")'


def owner_findings(path, folder, targets):
    if folder in FREE:
        return
    for target in targets:
        for pattern, owners in OWNERS.items():
            if fnmatch.fnmatch(target, pattern) and not any(
                    fnmatch.fnmatch(path, owner) for owner in owners):
                yield f"{path}: <{target}> belongs to {' '.join(owners)}"


def file_findings(path, text):
    folder = path.split("/")[0]
    if folder not in USES and folder not in FREE:
        yield f"{path}: {folder}/ is not in the table of folders (tests/style/includes.py)"
        return
    includes = INCLUDE.findall(text)
    quoted = [name for mark, name in includes if mark == '"']
    yield from folder_findings(path, folder, quoted)
    yield from inner_findings(path, quoted)
    # base/yaml.h is ours, <yaml.h> is libyaml's.
    yield from owner_findings(path, folder, [name for mark, name in includes if mark == "<"])
    if path.endswith(".c") and (not includes or includes[-1] != ('"', "base/banned.h")):
        yield f'{path}: the last include must be "base/banned.h"'


def findings(root):
    """All findings in the tree, and the number of files that were read."""
    paths = tree.files(root, ".c", ".h")
    found = [line for path in paths for line in file_findings(path, tree.read(root, path))]
    return found, len(paths)


if __name__ == "__main__":
    tree.report(*findings(sys.argv[1]), "files")
