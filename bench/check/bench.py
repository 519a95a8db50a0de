#!/usr/bin/env python3
"""Times check and preview of a large map in a large repository, beside git's own walk of the tree.

usage: bench.py VCM [--rows 1000] [--files 100000] [--runs 5]

Makes the repository in a temporary directory: files in 2,000 directories, some ignore files, and three
maps. "folders" has a row for each of 1,000 directories, as maps of large repositories do; "globs" has
rows over the whole tree with the directory in the pattern; in "names" every row has a pattern for
names anywhere, so that every file is held against every row: the worst that a map can ask for. Each
command runs several times in turn with the others, and the best time of each counts.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

FOLDERS = 2000


def folder(i):
    return f"area{i % 40:02}/module{i:04}"


def tree_of(files):
    """The input of fast-import, a piece at a time: what this process holds would count as the peak
    memory of those that it starts."""
    yield "blob\nmark :1\ndata 2\nx\n\nblob\nmark :2\ndata 15\n*.o\n/generated\n\n"
    yield "commit refs/heads/main\ncommitter B <b@example.com> 1704067200 +0000\ndata 1\nx\n"
    for i in range(files):
        kind, ending = ("src", "c") if i % 3 else ("doc", "md")
        yield f"M 644 :1 {folder(i % FOLDERS)}/{kind}/file{i:06}.{ending}\n"
    for i in range(0, FOLDERS, 4):
        yield f"M 644 :2 {folder(i)}/.gitignore\n"


def make_repository(path, files):
    """One commit through fast-import, which needs no working tree."""
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", path], check=True)
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=path, stdin=subprocess.PIPE,
                          text=True) as importer:
        importer.stdin.writelines(tree_of(files))
    if importer.returncode:
        sys.exit("git fast-import failed")
    subprocess.run(["git", "read-tree", "HEAD"], cwd=path, check=True)


def write_map(path, rows, kind):
    os.makedirs(os.path.join(path, ".colony"), exist_ok=True)
    lines = ["schema_version: 1", "sources:"]
    for i in range(rows):
        # More fields would pass the limit of 10,000 nodes.
        place = {"folders": f"start_dir: {folder(i)}",
                 "globs": f"include_globs: ['{folder(i)}/**/*.c']",
                 "names": f"include_globs: ['*{i:03}.c']"}[kind]
        lines.append(f"  - {{name: row{i}, type: git_repo, {place}}}")
    lines += ["knowledge_routing:", "  - {paths: ['*.md']}"]
    with open(os.path.join(path, ".colony/repo_map.yaml"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def run(command, cwd, stdin=None):
    """Seconds, and the peak of resident memory in MiB."""
    start = time.monotonic()
    child = subprocess.Popen(command, cwd=cwd, stdin=stdin or subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"{command}: status {child.returncode}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("vcm")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--files", type=int, default=100000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    vcm = os.path.abspath(options.vcm)
    with tempfile.TemporaryDirectory(prefix="vcm-bench-") as tmp:
        repo, listing = os.path.join(tmp, "repo"), os.path.join(tmp, "listing")
        os.environ["VCM_HOME"] = os.path.join(tmp, "home")
        make_repository(repo, options.files)
        with open(listing, "wb") as file:
            subprocess.run(["git", "ls-files"], cwd=repo, stdout=file, check=True)
        best = {}

        def note(name, command, stdin=None):
            took, peak = run(command, repo, stdin)
            before = best.get(name, (took, peak))
            best[name] = min(took, before[0]), max(peak, before[1])

        for _ in range(options.runs):
            note("git ls-tree -r HEAD", ["git", "ls-tree", "-r", "HEAD"])
            with open(listing, "rb") as file:
                note("git check-ignore", ["git", "check-ignore", "--no-index", "--stdin"], file)
            for kind in ("folders", "globs", "names"):
                write_map(repo, options.rows, kind)
                for command in ("check", "preview"):
                    note(f"vcm {command}, {kind}", [vcm, command, "--json"])
        walk = best["git ls-tree -r HEAD"][0]
        print(f"{options.rows} rows, {options.files} files, best of {options.runs}")
        for name, (took, peak) in best.items():
            print(f"{name:24} {took * 1000:8.0f} ms  {took / walk:6.1f} x ls-tree  {peak:6.0f} MiB")


if __name__ == "__main__":
    main()
