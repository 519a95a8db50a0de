"""Compiles every file of ours once more as a release build does, without assertions and without writing
anything: what only an assertion used is unused there, and a warning ends the build.

usage: ndebug.py ROOT COMPILE_COMMANDS_DIRECTORY
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

import tree

FOLDERS = ("base", "tokens", "git", "vcm", "lfs", "kb", "sources", "repomap", "symbols", "api", "ops", "serve",
           "cli")


def release_command(command):
    """The words of a compilation, for the compiler alone and with NDEBUG."""
    words = [word for word in shlex.split(command) if not word.startswith(("-fsanitize", "-O", "-g"))]
    for option in ("-o", "-MF", "-MT"):
        while option in words:
            at = words.index(option)
            del words[at:at + 2]
    return [word for word in words if word not in ("-c", "-MD", "ccache")] + [
        "-DNDEBUG", "-O0", "-S", "-o", os.devnull]


def check(entry):
    run = subprocess.run(release_command(entry["command"]), cwd=entry["directory"], capture_output=True,
                         check=False)
    return run.stderr.decode(errors="replace").strip() if run.returncode else ""


def main(root, database):
    with open(os.path.join(database, "compile_commands.json"), encoding="utf-8") as file:
        entries = {entry["file"]: entry for entry in json.load(file)}
    chosen = [entry for path, entry in sorted(entries.items())
              if os.path.relpath(path, root).split("/")[0] in FOLDERS]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        found = [text for text in pool.map(check, chosen) if text]
    tree.report(found, len(chosen), "files")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
