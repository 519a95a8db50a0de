"""Runs clang-tidy over every file of the compilation database, except those that it found clean
before and that have not changed since.

A file is the same when clang-tidy, its configuration, the command lines, the file and all headers of
ours that it includes are the same; a file named by the checksum of all that marks it as clean.

Nearly all of the time is that of clang's analyzer in a few large functions, whose paths it follows
until it has made so many nodes, blocks that it has not seen first. With NODES it left no more blocks
unseen in ten slow files than with its default (30000 left more), in two fifths of the time; between
a cause and its effect may be about one branch less. test_checks.py plants what it has to find. A long
run (VCM_TEST_LONG) gives it its default.

usage: tidy.py ROOT CLANG_TIDY COMPILE_COMMANDS_DIRECTORY CACHE_DIRECTORY [PART/PARTS]

With 2/8, only every eighth file, from the second on.
"""

import hashlib
import json
import os
import re
import subprocess
import sys

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
NODES = 75000
NODES_LONG = 225000  # the analyzer's default


class Tidy:
    def __init__(self, root, clang_tidy, database, cache, nodes=NODES):
        self.root = root
        self.database = database
        self.cache = cache
        self.command = [clang_tidy, "-p", database, "--quiet",
                        "--extra-arg=-Wno-unknown-warning-option",
                        *(f"--extra-arg={word}" for word in
                          ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={nodes}"))]
        self.version = subprocess.run([clang_tidy, "--version"], capture_output=True,
                                      check=True).stdout.decode()

    def closure(self, path, seen):
        """The file and our headers that it includes, directly or not."""
        if path in seen or not os.path.exists(os.path.join(self.root, path)):
            return seen
        seen.add(path)
        for target in INCLUDE.findall(tree.read(self.root, path)):
            self.closure(target, seen)
        return seen

    def configurations(self, path):
        """The .clang-tidy files between the file and the top."""
        folder = os.path.dirname(path)
        while True:
            config = os.path.join(folder, ".clang-tidy")
            if os.path.exists(os.path.join(self.root, config)):
                yield config
            if not folder:
                return
            folder = os.path.dirname(folder)

    def key(self, path, command):
        parts = [self.version, *self.command, command]
        for name in [*self.configurations(path), *sorted(self.closure(path, set()))]:
            parts += [name, tree.read(self.root, name)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def check(self, path, command):
        """The diagnostics for one file, empty when it is clean."""
        mark = os.path.join(self.cache, self.key(path, command))
        if os.path.exists(mark):
            return ""
        run = subprocess.run([*self.command, os.path.join(self.root, path)], capture_output=True,
                             check=False)
        if run.returncode == 0:
            with open(mark, "w", encoding="utf-8"):
                pass
            return ""
        return (run.stdout.decode(errors="replace").strip()
                or run.stderr.decode(errors="replace").strip() or f"{path}: clang-tidy failed")


def share(paths, part):
    """Those of the paths that are part "2/8"'s to check. The neighbours in a list that is sorted
    take about as long as each other, so that they go to different parts."""
    number, parts = map(int, part.split("/"))
    return paths[number - 1::parts]


def main(root, clang_tidy, database, cache, part="1/1"):
    os.makedirs(cache, exist_ok=True)
    tidy = Tidy(root, clang_tidy, database, cache,
                NODES_LONG if os.environ.get("VCM_TEST_LONG") else NODES)
    with open(os.path.join(database, "compile_commands.json"), encoding="utf-8") as file:
        commands = {os.path.relpath(entry["file"], root): entry["command"]
                    for entry in json.load(file)}
    paths = share([path for path in tree.files(root, ".c") if path in commands], part)
    findings = [tidy.check(path, commands[path]) for path in paths]
    tree.report([finding for finding in findings if finding], len(paths), "files")


if __name__ == "__main__":
    main(*sys.argv[1:])
