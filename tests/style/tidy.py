"""Runs clang-tidy over every file of the compilation database, except those that it found clean
before and that have not changed since.

A file is the same when clang-tidy, its configuration, the command line, the file and all headers of
ours that it includes are the same; a file named by the checksum of all that marks it as clean.

usage: tidy.py ROOT CLANG_TIDY COMPILE_COMMANDS_DIRECTORY CACHE_DIRECTORY
"""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


class Tidy:
    def __init__(self, root, clang_tidy, database, cache):
        self.root = root
        self.program = clang_tidy
        self.database = database
        self.cache = cache
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
        parts = [self.version, command]
        for name in [*self.configurations(path), *sorted(self.closure(path, set()))]:
            parts += [name, tree.read(self.root, name)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def check(self, path, command):
        """The diagnostics for one file, empty when it is clean."""
        mark = os.path.join(self.cache, self.key(path, command))
        if os.path.exists(mark):
            return ""
        run = subprocess.run(
            [self.program, "-p", self.database, "--quiet",
             "--extra-arg=-Wno-unknown-warning-option", os.path.join(self.root, path)],
            capture_output=True, check=False)
        if run.returncode == 0:
            with open(mark, "w", encoding="utf-8"):
                pass
            return ""
        return (run.stdout.decode(errors="replace").strip()
                or run.stderr.decode(errors="replace").strip() or f"{path}: clang-tidy failed")


def main(root, clang_tidy, database, cache):
    os.makedirs(cache, exist_ok=True)
    tidy = Tidy(root, clang_tidy, database, cache)
    with open(os.path.join(database, "compile_commands.json"), encoding="utf-8") as file:
        commands = {os.path.relpath(entry["file"], root): entry["command"]
                    for entry in json.load(file)}
    paths = [path for path in tree.files(root, ".c") if path in commands]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = pool.map(lambda path: tidy.check(path, commands[path]), paths)
        tree.report([finding for finding in findings if finding], len(paths), "files")


if __name__ == "__main__":
    main(*sys.argv[1:])
