#!/usr/bin/env python3
"""Times libvcm as its users have it: page reads through the Python binding, beside reading files of
the same sizes; loading the shared library, beside loading libgit2; a C program that maps and reads,
beside the command line.

usage: bench.py BUILD REPOSITORY [--reads 200000] [--runs 7]

BUILD is the folder of a release build. Processor time on one core, best of the runs.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
START = """
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    void *library = dlopen(argv[1], RTLD_NOW);
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (argc != 2 || !library)
        return 1;
    printf("%.3f\\n", (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6);
    return 0;
}
"""


def compile_program(folder, name, text, *flags):
    source, program = os.path.join(folder, name + ".c"), os.path.join(folder, name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["cc", "-O2", source, "-o", program, *flags], check=True)
    return program


def time_start(folder, library, runs):
    program = compile_program(folder, "start", START)
    return min(float(subprocess.run([program, library], check=True, stdout=subprocess.PIPE,
                                    text=True).stdout) for _ in range(runs))


async def time_reads(manager, ids, reads):
    """Reads a second of processor time, each looking at the first byte."""
    begin = time.process_time()
    done = 0
    while done < reads:
        for page_id in ids:
            page = await manager.get_virtual_page(page_id)
            _ = page.text[0]
            page.release()
        done += len(ids)
    return done / (time.process_time() - begin)


def time_files(folder, sizes, reads):
    names = []
    for i, size in enumerate(sizes):
        names.append(os.path.join(folder, f"file{i}"))
        with open(names[-1], "wb") as file:
            file.write(b"x" * size)
    begin = time.process_time()
    done = 0
    while done < reads:
        for name in names:
            with open(name, "rb", buffering=0) as file:
                _ = file.read()[0]
        done += len(names)
    return done / (time.process_time() - begin)


async def python_reads(folder, repository, reads, runs):
    import vcm
    async with vcm.VirtualContextManager(os.path.join(folder, "home")) as manager:
        result = await manager.mmap_application_scope(scope_id="bench", origin_url=repository)
        if result.status == "error":
            sys.exit(result.message)
        pages = (await manager.get_pages_for_scope("bench"))[:1000]
        ids = [page.page_id for page in pages]
        sizes = [page.metadata["content_size_bytes"] for page in pages]
        best = max([await time_reads(manager, ids, reads) for _ in range(runs)])
    return best, max(time_files(folder, sizes, reads // 4) for _ in range(runs)), len(ids)


def seconds_of(command, environment):
    begin = os.times()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    end = os.times()
    return end.children_user + end.children_system - begin.children_user - begin.children_system


def time_map(folder, build, repository, runs):
    """Seconds of the C program of docs/library.md and of the command line, which map anew."""
    with open(os.path.join(ROOT, "docs", "library.md"), encoding="utf-8") as file:
        text = re.search(r"```c\n(.*?)```", file.read(), flags=re.DOTALL).group(1)
    program = compile_program(folder, "map", text, "-I", os.path.join(build, "include"), "-L",
                              os.path.join(build, "lib"), "-lvcm")
    found = {"program": [], "cli": []}
    for i in range(runs):
        for name, command in (("program", [program, repository]),
                              ("cli", [os.path.join(build, "cli", "vcm"), "map", repository,
                                       "--scope", "example", "--flush-token-budget", "2048"])):
            home = os.path.join(folder, f"home-{name}-{i}")
            found[name].append(seconds_of(command, {
                **os.environ, "VCM_HOME": home, "LD_LIBRARY_PATH": os.path.join(build, "lib")}))
    return min(found["program"]), min(found["cli"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("repository")
    parser.add_argument("--reads", type=int, default=200000)
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    library = os.path.join(build, "lib", "libvcm.so.0")
    os.environ["VCM_LIBRARY"] = library
    sys.path.insert(0, os.path.join(ROOT, "bindings", "python"))
    with tempfile.TemporaryDirectory() as folder:
        own, git = (time_start(folder, name, args.runs) for name in (library, "libgit2.so.1.5"))
        print(f"loading libvcm.so {own:.2f} ms, libgit2 {git:.2f} ms, ratio {own / git:.2f}")
        reads, files, pages = asyncio.run(python_reads(folder, args.repository, args.reads,
                                                       args.runs))
        print(f"{pages} pages: {reads:,.0f} page reads/s, {files:,.0f} file reads/s, "
              f"ratio {reads / files:.2f}")
        program, cli = time_map(folder, build, args.repository, args.runs)
        print(f"map: program {program:.3f} s, command line {cli:.3f} s, "
              f"ratio {program / cli:.2f}")


if __name__ == "__main__":
    main()
