#!/usr/bin/env python3
"""Times the symbol index beside ctags and git, and asks whether its ranking finds what people change.

usage: bench.py VCM REPO...          index, second run and map of each repository's HEAD
       bench.py VCM --files N        the same for a generated repository of N files of C
       bench.py VCM --replay N REPO...   the last N commits: is a changed file in the map?

Times are by the clock, with processor time in brackets. Nothing is written to the repositories;
clones and homes are made in a temporary directory.
"""

import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

BUDGET = "1500"


def name_of(repo):
    """Of a mirror "name/repo" too."""
    return "/".join(repo.rstrip("/").split("/")[-2:])


def run(args, **options):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          **options).stdout


class Time:
    """Of the quickest of some rounds: milliseconds by the clock, and of the processors."""

    def __init__(self, args, prepare=None, **options):
        self.clock = self.cpu = float("inf")
        self.args, self.prepare, self.options = args, prepare, options

    def once(self):
        if self.prepare:
            self.prepare()
        start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        run(self.args, **self.options)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.clock = min(self.clock, 1000 * (time.monotonic() - start))
        self.cpu = min(self.cpu, 1000 * (after.ru_utime - before.ru_utime +
                                         after.ru_stime - before.ru_stime))

    def __str__(self):
        return f"{self.clock:.0f} ms ({self.cpu:.0f})"

    def beside(self, other, name):
        return (f"{self} = {self.clock / other.clock:.2f} ({self.cpu / other.cpu:.2f}) times "
                f"{name}, {other}")


def take_turns(rounds, *times):
    """So that a machine that becomes slower meanwhile is slower for all."""
    for _ in range(rounds):
        for time_ in times:
            time_.once()


def peak_mib(args, env):
    """Of one run, in a process of its own whose other children are none."""
    pid = os.fork()
    if pid == 0:
        subprocess.run(args, stdout=subprocess.DEVNULL, check=True, env=env)
        os._exit(min(255, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


VERBS = "read write open close find make drop sort copy send take scan".split()
NOUNS = "page line node list tree path name file word time lock size".split()


def unit_of(unit, units):
    """A header and the file that keeps its promises, which calls functions of some others."""
    uses = sorted({int(units * random.random() ** 3) for _ in range(random.randint(2, 8))})
    calls = "".join(f"    total += unit{use}_open(self->size);\n" for use in uses)
    header = f"#ifndef UNIT{unit}_H\n#define UNIT{unit}_H\nstruct unit{unit};\n"
    body = "".join(f'#include "unit{use}.h"\n' for use in uses)
    body += f"struct unit{unit} {{ int size; struct unit{unit} *next; }};\n"
    for number in range(random.randint(2, 9)):
        name = f"unit{unit}_{random.choice(VERBS)}_{random.choice(NOUNS)}{number}"
        header += f"/* Does what it says. */\nint {name}(struct unit{unit} *self, int count);\n"
        body += (f"int {name}(struct unit{unit} *self, int count)\n{{\n    int total = 0;\n"
                 f"{calls}    return total + count;\n}}\n\n")
    body += f"int unit{unit}_open(int size)\n{{\n    return size + helper{unit % 50}(size);\n}}\n"
    return header + f"int unit{unit}_open(int size);\n#endif\n", body


def generate(path, files):
    random.seed(1)
    run(["git", "init", "--quiet", "--initial-branch=main", path])
    git = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=path, stdin=subprocess.PIPE)
    git.stdin.write(b"commit refs/heads/main\ncommitter a <a@b> 0 +0000\ndata 0\n")
    for unit in range(files // 2):
        folder = f"part{unit % 97}/layer{unit % 13}"
        for ending, text in zip("hc", unit_of(unit, files // 2)):
            git.stdin.write(f"M 100644 inline {folder}/unit{unit}.{ending}\n"
                            f"data {len(text)}\n{text}\n".encode())
    git.stdin.close()
    git.wait()
    run(["git", "reset", "--quiet", "--hard", "main"], cwd=path)


def time_repository(vcm, repo, home, rounds=5):
    env = dict(os.environ, VCM_HOME=home)
    files = len(run(["git", "ls-files"], cwd=repo).splitlines())
    list_one, ask = [vcm, "symbols", "--limit", "1", "--json", repo], [vcm, "repo", "map", repo]
    first = Time(list_one, env=env, prepare=lambda: shutil.rmtree(home, ignore_errors=True))
    ctags = Time(["ctags", "-R", "-f", "-", "--fields=+n", "."], cwd=repo)
    again = Time(list_one, env=env)
    status = Time(["git", "status", "--porcelain"], cwd=repo)
    mapped = Time(ask, env=env)
    meant = Time(ask + ["--mention", "page", "--mention", "lock"], env=env)
    take_turns(rounds, first, ctags)
    take_turns(5, again, status, mapped, meant)
    print(f"{name_of(repo)}: {files} files\n  index: {first.beside(ctags, 'ctags -R')}\n"
          f"  again: {again.beside(status, 'git status')}\n  map: {mapped}; with mentions {meant}; "
          f"{peak_mib(ask, env)} MiB")


def covered(vcm, repo, env, words, *options):
    args = [vcm, "repo", "map", repo, "--token-budget", BUDGET, *options]
    for word in words:
        args += ["--mention", word]
    text = run(args, env=env).decode(errors="replace")
    return {line[:-1] for line in text.splitlines() if line.endswith(":") and line[0] != " "}


def replay(vcm, repo, count, work):
    """Asks at the parent of each commit, with the words of its message."""
    clone, env = os.path.join(work, "clone"), dict(os.environ, VCM_HOME=os.path.join(work, "home"))
    run(["git", "clone", "--quiet", "--no-checkout", repo, clone])
    log = run(["git", "log", "--no-merges", "--format=%H", "-n", str(20 * count)], cwd=clone)
    hits, asked = {"mention": 0, "rank": 0, "symbols": 0}, 0
    for commit in log.decode().split():
        if asked == count:
            break
        changed = run(["git", "diff-tree", "--no-commit-id", "--name-only", "--diff-filter=M", "-r",
                       commit], cwd=clone).decode().split()
        changed = {path for path in changed
                   if re.search(r"\.(c|h|cc|cpp|hpp|py|js|ts|tsx|go|rs|java|rb|sh)$", path)}
        if not changed or len(changed) > 10:
            continue
        subject = run(["git", "log", "-1", "--format=%s", commit], cwd=clone).decode()
        words = sorted(set(re.findall(r"[A-Za-z_][A-Za-z0-9_]{2,}", subject)))
        run(["git", "update-ref", "--no-deref", "HEAD", commit + "^"], cwd=clone)
        asked += 1
        hits["mention"] += bool(changed & covered(vcm, clone, env, words))
        hits["rank"] += bool(changed & covered(vcm, clone, env, []))
        hits["symbols"] += bool(changed & covered(vcm, clone, env, [], "--ranking", "symbols"))
    print(f"{name_of(repo)}: {asked} commits; a changed file is in the map of {BUDGET} "
          f"tokens: with the message's words {hits['mention']}, ranked without {hits['rank']}, "
          f"by symbol count {hits['symbols']}")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    vcm, *repos = sys.argv[1:]
    vcm = os.path.realpath(vcm)
    count = 0
    if repos[0] == "--files":
        with tempfile.TemporaryDirectory() as work:
            generate(os.path.join(work, "generated"), int(repos[1]))
            time_repository(vcm, os.path.join(work, "generated"), os.path.join(work, "home"), 1)
        return
    if repos[0] == "--replay":
        count, repos = int(repos[1]), repos[2:]
    for repo in repos:
        with tempfile.TemporaryDirectory() as work:
            if count:
                replay(vcm, os.path.realpath(repo), count, work)
            else:
                time_repository(vcm, os.path.realpath(repo), os.path.join(work, "home"))


if __name__ == "__main__":
    main()
