#!/usr/bin/env python3
"""Times vcm map beside git: cold, again, and after one edit.

usage: bench.py VCM [--files 5000,80000] [--repository PATH]... [--runs 3] [--repomix COMMAND]

Makes repositories of so many files in a temporary directory, always the same, and takes clones of those
that are given. In turn, so that all meet the same weather: `git cat-file --batch` of all blobs, a map into
a new home, a map of the same commit, `git status`, and a map after one line of one file was edited and
committed. The best wall time of each counts; beside it stand the processor time of that run and the peak
of the process's memory, with the part that is not mapped from files. With --repomix also that program, once.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

WORDS = ("buffer page table error index count value length path name state token record scope commit tree "
         "blob offset limit cache frame entry result context source reader writer handle cursor key").split()
LINES = 20000


def make_lines(rng):
    """Lines as C has them."""
    for _ in range(LINES):
        a, b, c = (f"{rng.choice(WORDS)}_{rng.choice(WORDS)}" for _ in range(3))
        number = rng.randrange(5000)
        yield rng.choice((f"    if ({a} > {number}) {{", f"        {a}->{b} = {c}({number}, &{a});", "    }",
                          f"    return {a}({b});", "}", "", f"static int {a}(struct {b} *{c})", "{",
                          f"    /* The {a} of a {b} is {number} at most. */", f"    size_t {a} = {number};"))


def tree_of(files):
    """The input of fast-import, a file at a time. Sizes are spread as in real trees: most are small."""
    rng = random.Random(20261116)
    lines = list(make_lines(rng))
    yield b"commit refs/heads/main\ncommitter B <b@example.com> 1704067200 +0000\ndata 1\nx\n"
    for i in range(files):
        count = int(rng.paretovariate(1.1) * 15)
        text = "\n".join(rng.choices(lines, k=min(count, 6000))) + "\n"
        path = f"area{i % 40:02}/module{i % (files // 20 + 1):04}/file{i:06}.c"
        yield f"M 644 inline {path}\ndata {len(text)}\n{text}\n".encode()


def git(path, *arguments, **options):
    return subprocess.run(["git", "-c", "user.name=B", "-c", "user.email=b@example.com", *arguments],
                          cwd=path, check=True, stdout=subprocess.PIPE, **options).stdout


def make_repository(path, files):
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", path], check=True)
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=path, stdin=subprocess.PIPE) as importer:
        for piece in tree_of(files):
            importer.stdin.write(piece)
    if importer.returncode:
        sys.exit("git fast-import failed")
    git(path, "reset", "--quiet", "--hard")


class Run:
    """One run of a program: seconds, processor seconds, peak memory in MiB."""

    def __init__(self, command, cwd, stdin=None):
        self.anonymous = 0
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=cwd, stdin=stdin, stdout=subprocess.DEVNULL)
        watcher = threading.Thread(target=self.watch, args=(process.pid,))
        watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        self.wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        watcher.join()
        if process.returncode:
            sys.exit(f"{' '.join(command)}: exit {process.returncode}")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss / 1024

    def watch(self, pid):
        try:
            while True:
                with open(f"/proc/{pid}/status", encoding="ascii") as file:
                    for line in file:
                        if line.startswith("RssAnon:"):
                            self.anonymous = max(self.anonymous, int(line.split()[1]) / 1024)
                time.sleep(0.01)
        except OSError:
            pass


def measure(vcm, path, home, runs):
    """The best run of each command."""
    best = {}

    def keep(name, run):
        if name not in best or run.wall < best[name].wall:
            best[name] = run

    entries = [line.split(b"\t") for line in git(path, "ls-tree", "-r", "HEAD").splitlines()]
    blobs = [info.split()[2] for info, _ in entries if info.split()[1] == b"blob"]
    names = [name.decode() for info, name in entries if info.startswith(b"100644 blob")]
    with tempfile.TemporaryFile() as list_of_blobs:
        list_of_blobs.write(b"\n".join(blobs) + b"\n")
        for i in range(runs):
            list_of_blobs.seek(0)
            keep("git cat-file --batch", Run(["git", "cat-file", "--batch", "--buffer"], path, list_of_blobs))
            shutil.rmtree(home, ignore_errors=True)
            keep("vcm map, cold", Run([vcm, "--home", home, "map", "."], path))
            keep("vcm map, the same commit", Run([vcm, "--home", home, "map", "."], path))
            keep("git status", Run(["git", "status", "--short"], path))
            edited = next(n for n in names[(i + 1) * len(names) // (runs + 1):] if n.isascii() and '"' not in n)
            with open(os.path.join(path, edited), "a", encoding="utf-8") as file:
                file.write(f"/* edit {i} */\n")
            git(path, "commit", "--quiet", "--all", "--message", "edit")
            keep("vcm map, one edit", Run([vcm, "--home", home, "map", "."], path))
    return best, len(blobs)


def report(title, best):
    peers = {"vcm map, cold": "git cat-file --batch", "vcm map, the same commit": "git status",
             "vcm map, one edit": "git status", "repomix": "vcm map, cold"}
    print(f"\n{title}\n\n| command | ms | processor ms | times | peak MiB | of it anonymous |")
    print("|---|---|---|---|---|---|")
    for name, run in best.items():
        peer = best.get(peers.get(name))
        times = f"{run.wall / peer.wall:.1f} ({run.cpu / peer.cpu:.1f}) {peers[name]}" if peer else ""
        print(f"| `{name}` | {run.wall * 1000:.0f} | {run.cpu * 1000:.0f} | {times} | {run.peak:.0f} | "
              f"{run.anonymous:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n", maxsplit=1)[0])
    parser.add_argument("vcm")
    parser.add_argument("--files", default="5000,80000")
    parser.add_argument("--repository", action="append", default=[])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--repomix")
    options = parser.parse_args()
    vcm = os.path.abspath(options.vcm)
    with tempfile.TemporaryDirectory() as directory:
        path, home = os.path.join(directory, "work"), os.path.join(directory, "home")
        jobs = [(int(files), None) for files in options.files.split(",") if files]
        jobs += [(0, repository) for repository in options.repository]
        for files, repository in jobs:
            shutil.rmtree(path, ignore_errors=True)
            if repository:
                subprocess.run(["git", "clone", "--quiet", repository, path], check=True)
            else:
                make_repository(path, files)
            best, count = measure(vcm, path, home, options.runs)
            if options.repomix:
                output = ["--output", os.path.join(directory, "packed")]
                best["repomix"] = Run([*options.repomix.split(), *output], path)
            report(f"{repository or 'made by the script'}: {count:,} files", best)


if __name__ == "__main__":
    main()
