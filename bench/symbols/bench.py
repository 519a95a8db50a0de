#!/usr/bin/env python3
"""Times the symbol index beside ctags and git, and asks whether its ranking finds what people change.

usage: bench.py VCM REPO...          index, second run and map of each repository's HEAD
       bench.py VCM --replay N REPO...   the last N commits: is a changed file in the map?

Nothing is written to the repositories; clones and homes are made in a temporary directory.
"""

import os
import re
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


def best_ms(args, rounds=3, prepare=None, **options):
    times = []
    for _ in range(rounds):
        if prepare:
            prepare()
        start = time.monotonic()
        run(args, **options)
        times.append(1000 * (time.monotonic() - start))
    return min(times)


def time_repository(vcm, repo, home):
    env = dict(os.environ, VCM_HOME=home)
    files = len(run(["git", "ls-files"], cwd=repo).splitlines())
    first = best_ms([vcm, "symbols", "--limit", "1", "--json", repo], env=env,
                    prepare=lambda: shutil.rmtree(home, ignore_errors=True))
    ctags = best_ms(["ctags", "-R", "-f", "-", "--fields=+n", "."], cwd=repo)
    again = best_ms([vcm, "symbols", "--limit", "1", "--json", repo], env=env)
    status = best_ms(["git", "status", "--porcelain"], cwd=repo)
    mapped = best_ms([vcm, "repo", "map", repo, "--json"], env=env)
    print(f"{name_of(repo)}: {files} files; index {first:.0f} ms = {first / ctags:.2f} "
          f"times ctags -R ({ctags:.0f} ms); again {again:.0f} ms = {again / status:.2f} times "
          f"git status ({status:.0f} ms); map {mapped:.0f} ms")


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
    vcm, *repos = sys.argv[1:]
    vcm = os.path.realpath(vcm)
    count = 0
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
