#!/usr/bin/env python3
"""Whether the coverage ledger adds up, file by file, on any repositories.

    bench/ledger/check.py PROGRAM REPOSITORY...

Maps each repository into a home of its own and compares `vcm coverage` with what git itself says:
every leaf of `git ls-tree -r` is listed once, the counts are those of the list and add up to
`tracked`, and each file has the outcome that its mode, `git check-ignore`, its size and its first
bytes give it. Repositories with a repo map are mapped by it; then only the sums are compared.
Prints a line for each, exits with 1 when anything differs.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import time

FILE_BYTES_MAX = 32 * 1024 * 1024
PROBE = 8000
IGNORE_FILES = (b".gitignore", b".colonyignore")
POINTER = b"version https://git-lfs.github.com/spec/"


def git(repo, *args, data=None):
    return subprocess.run(["git", "-C", repo, *args], input=data, check=True,
                          capture_output=True).stdout


def leaves(repo, commit):
    """(mode, object, path) of every leaf."""
    for line in git(repo, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
        head, path = line.split(b"\t", 1)
        mode, _, oid = head.split()
        yield mode, oid.decode(), path


def contents(repo, oids):
    """The size and the first bytes of each blob, None for one that is not here."""
    run = subprocess.Popen(["git", "-C", repo, "cat-file", "--batch"], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
    found = {}
    for oid in oids:
        run.stdin.write(oid.encode() + b"\n")
        run.stdin.flush()
        head = run.stdout.readline().split()
        if head[1] == b"missing":
            found[oid] = None
            continue
        data = run.stdout.read(int(head[2]) + 1)
        found[oid] = int(head[2]), data[:min(PROBE, int(head[2]))]
    run.stdin.close()
    run.wait()
    return found


def ignored(repo, entries, folder):
    """The paths that the tree's ignore files leave out, by git: both files of a directory are one."""
    git(folder, "init", "--quiet", ".")
    for name in IGNORE_FILES:
        for mode, oid, path in entries:
            if os.path.basename(path) != name or mode not in (b"100644", b"100755"):
                continue
            place = os.path.join(os.fsencode(folder), os.path.dirname(path))
            os.makedirs(place, exist_ok=True)
            with open(os.path.join(place, b".gitignore"), "ab") as file:
                file.write(git(repo, "cat-file", "blob", oid) + b"\n")
    run = subprocess.run(["git", "-C", folder, "-c", "core.excludesFile=/dev/null", "check-ignore",
                          "--no-index", "--stdin", "-z"], capture_output=True, check=False,
                         input=b"".join(path + b"\0" for _, _, path in entries))
    return set(run.stdout.split(b"\0")[:-1])


def expected(repo, commit, folder):
    """The outcome of every path as shown, by git; None where it depends on LFS."""
    entries = list(leaves(repo, commit))
    left_out = ignored(repo, entries, folder)
    blobs = contents(repo, {oid for mode, oid, _ in entries if mode.startswith(b"100")})
    outcomes = {}
    for mode, oid, path in entries:
        if mode == b"160000":
            outcome = "submodule"
        elif mode == b"120000":
            outcome = "symlink"
        elif path in left_out:
            outcome = "ignored"
        elif blobs[oid] is None:
            outcome = "failed"
        elif blobs[oid][0] > FILE_BYTES_MAX:
            outcome = "too_large"
        elif blobs[oid][1].startswith(POINTER):
            outcome = None
        else:
            outcome = "binary" if b"\0" in blobs[oid][1] else "paged"
        outcomes[path.decode("utf-8", "backslashreplace")] = outcome
    assert len(outcomes) == len(entries)
    return outcomes


def vcm(program, home, *args):
    run = subprocess.run([program, "--home", home, *args, "--json"], capture_output=True,
                         check=False)
    if run.returncode not in (0, 3):
        raise RuntimeError(run.stdout.decode() or run.stderr.decode())
    return json.loads(run.stdout)


def differences(program, repo, home, folder):
    """Sentences about what is wrong, and what there is."""
    mapped = vcm(program, home, "map", repo)
    wrong, seen = [], collections.Counter()
    by_map = bool(git(repo, "ls-tree", mapped["commit"], ".colony/repo_map.yaml"))
    known = None if by_map else expected(repo, mapped["commit"], folder)
    for row in mapped["sources"]:
        counts = dict(row["coverage"])
        tracked = counts.pop("tracked")
        files = vcm(program, home, "coverage", row["scope_id"])["files"]
        listed = collections.Counter(file["outcome"] for file in files)
        if sum(counts.values()) != tracked or len(files) != tracked:
            wrong.append(f"{row['name']}: {tracked} tracked, {counts}, {len(files)} listed")
        if {key: value for key, value in counts.items() if value} != dict(listed):
            wrong.append(f"{row['name']}: {counts} counted, {dict(listed)} listed")
        seen.update(listed)
        if known is None:
            continue
        if {file["path"] for file in files} != set(known):
            wrong.append(f"{row['name']}: the paths are not those of git ls-tree")
        wrong += [f"{file['path']}: {file['outcome']}, by git {known.get(file['path'])}"
                  for file in files
                  if known.get(file["path"]) not in (None, file["outcome"])]
    return wrong, seen


def main():
    program, failed = os.path.abspath(sys.argv[1]), 0
    for repo in sys.argv[2:]:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="vcm-ledger-") as folder:
            os.mkdir(os.path.join(folder, "ignore"))
            try:
                wrong, seen = differences(program, os.path.abspath(repo),
                                          os.path.join(folder, "home"),
                                          os.path.join(folder, "ignore"))
            except (RuntimeError, subprocess.CalledProcessError) as error:
                wrong, seen = [str(error)], {}
        counts = ", ".join(f"{value} {key}" for key, value in sorted(seen.items()))
        print(f"{'DIFFERS' if wrong else 'adds up'}  {repo}: {sum(seen.values())} files, {counts}"
              f"  ({time.monotonic() - start:.1f} s)", flush=True)
        for sentence in wrong[:10]:
            print(f"         {sentence}")
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
