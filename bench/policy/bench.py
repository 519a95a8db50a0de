#!/usr/bin/env python3
"""Hit ratios of the eviction policies on traces made from the history of real repositories.

usage: bench.py VCM BENCH_POLICY REPOSITORY...

The tip of each repository is mapped by VCM, which gives the pages that its files are on. Every
commit but merges, oldest first, is then an access to the pages of the files that it changes, each
page once. Renames are followed; files that are gone at the tip have no page and are left out. The traces are replayed
against every policy and the clairvoyant optimum with caches of fixed parts of the pages' bytes;
bench_policy.c has the parts. Exits with 1 when the default policy is not above LRU on average, or
anywhere more than a point below it.
"""

import json
import os
import subprocess
import sys
import tempfile

POLICIES = ["sieve", "s3fifo", "lru", "lfu", "optimum"]


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout


def page_table(vcm, repository, home):
    """The pages of each file at the tip, and the bytes of each page."""
    run(vcm, "--home", home, "--quiet", "map", repository)
    pages_of, bytes_of = {}, {}
    for page in json.loads(run(vcm, "--home", home, "--json", "pages", "--limit", "100000"))["pages"]:
        bytes_of[page["page_id"]] = page["bytes"]
        for path in page["files"]:
            pages_of.setdefault(path, set()).add(page["page_id"])
    return pages_of, bytes_of


def commits(repository):
    """Time and changed files of every commit, oldest first; files by their names at the tip."""
    log = run("git", "-C", repository, "log", "--topo-order", "--no-merges", "--find-renames",
              "--name-status", "--format=%x00%ct", "-z")
    words = iter(log.decode("utf-8", "replace").split("\0"))
    found, name_at_tip = [], {}
    for word in words:
        status = word.strip("\n")
        if not status:
            found.append((int(next(words, "0") or 0), []))
            continue
        path = next(words)
        if status.startswith("R"):
            old, path = path, next(words)
            name_at_tip[old] = name_at_tip.get(path, path)
        found[-1][1].append(name_at_tip.get(path, path))
    return reversed(found)


def write_trace(path, repository, pages_of, bytes_of):
    """Returns the number of commits, and the part of changed files that have a page."""
    count = known = changed = 0
    with open(path, "w", encoding="ascii") as trace:
        for when, files in commits(repository):
            pages = {}
            for name in files:
                changed += 1
                known += name in pages_of
                for page in sorted(pages_of.get(name, ())):
                    pages[page] = None
            for page in pages:
                trace.write(f"{when * 1000} {page} {bytes_of[page]}\n")
            count += 1
    return count, known / max(changed, 1)


def print_traces(results):
    print("| trace | commits | accesses | pages | MB | changed files with a page |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, result in results.items():
        print(f"| {name} | {result['commits']:,} | {result['accesses']:,} | {result['pages']:,} | "
              f"{result['bytes'] / 1e6:.1f} | {100 * result['known']:.0f} % |")


def print_ratios(results, which, title):
    print(f"\n{title}, percent:\n")
    print("| trace | cache | " + " | ".join(POLICIES) + " |")
    print("| --- |" + " --- |" * (len(POLICIES) + 1))
    rows = [(name, size) for name, result in results.items() for size in result["sizes"]]
    for name, size in rows:
        print(f"| {name} | {size['percent']} % | "
              + " | ".join(f"{100 * size[policy][which]:.1f}" for policy in POLICIES) + " |")
    means = [100 * sum(size[policy][which] for _, size in rows) / len(rows) for policy in POLICIES]
    print("| mean | | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")


def judge(results):
    default = next(iter(results.values()))["default"]
    rows = [(name, size) for name, result in results.items() for size in result["sizes"]]
    gaps = [(100 * (size[default][0] - size["lru"][0]), name, size["percent"])
            for name, size in rows]
    mean = sum(gap for gap, _, _ in gaps) / len(gaps)
    worst, name, percent = min(gaps)
    behind = sum(100 * (size["optimum"][0] - size[default][0]) for _, size in rows) / len(rows)
    print(f"\ndefault {default}: {mean:+.2f} points to lru on average, at worst {worst:+.2f} "
          f"({name}, {percent} %); {behind:.2f} points below the optimum on average")
    return mean > 0 and worst >= -1


def main(vcm, bench_policy, *repositories):
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        for number, repository in enumerate(repositories):
            trace = os.path.join(scratch, "trace")
            table = page_table(vcm, repository, os.path.join(scratch, f"home{number}"))
            count, known = write_trace(trace, repository, *table)
            name = os.path.basename(os.path.realpath(repository)).removesuffix(".git")
            results[name] = json.loads(run(bench_policy, trace))
            results[name].update(commits=count, known=known)
    print_traces(results)
    print_ratios(results, 0, "Hit ratio")
    print_ratios(results, 1, "Byte hit ratio")
    return 0 if judge(results) else 1


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
