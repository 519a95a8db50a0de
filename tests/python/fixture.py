"""A repository and a home for the tests of the Python package."""

import asyncio
import fcntl
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bindings", "python"))

import vcm  # noqa: E402

# A sanitizer's run time is for this interpreter, and for others of it, not for what the library runs.
INTERPRETER = dict(os.environ)
os.environ.pop("LD_PRELOAD", None)

MAP = """schema_version: 1
sources:
- {name: code, type: git_repo, include_globs: ['*.c']}
- {name: notes, type: git_repo, include_globs: ['*.txt']}
"""
COLONY = "framework:tenant:t1:colony:c1"


def git(folder, *arguments):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
                   "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}
    subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.org",
                    "-c", "init.defaultBranch=main", *arguments], check=True, env=environment,
                   stdout=subprocess.DEVNULL)


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "change")


class WriterLock:
    """Holds the lock of a home's only writer, as a process that is writing does."""

    def __init__(self, home):
        self.fd = os.open(os.path.join(home, "store", "writer.lock"), os.O_RDWR)
        fcntl.fcntl(self.fd, fcntl.F_OFD_SETLK,
                    struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        os.pwrite(self.fd, f"{os.getpid()}\n".encode(), 0)

    def release(self):
        os.ftruncate(self.fd, 0)
        os.close(self.fd)


class Case(unittest.IsolatedAsyncioTestCase):
    """self.repo is a repository with two rows, self.manager an open manager of an empty home."""

    async def asyncSetUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.repo = os.path.join(self.folder, "repo")
        self.home = os.path.join(self.folder, "home")
        os.mkdir(self.repo)
        git(self.repo, "init", "-q")
        write(self.repo, ".colony/repo_map.yaml", MAP)
        for i in range(40):
            write(self.repo, f"src/f{i}.c", f"int f{i}(void)\n{{\n    return {i};\n}}\n" * 30)
        write(self.repo, "notes.txt", "a note\n")
        commit(self.repo)
        self.manager = vcm.VirtualContextManager(self.home)

    async def asyncTearDown(self):
        await self.manager.aclose()

    async def map(self, **options):
        return await self.manager.mmap_application_scope(
            scope_id=COLONY, origin_url=self.repo, **options)


def main():
    # What is left behind by a test that fails must not hang the run.
    asyncio.set_event_loop_policy(None)
    unittest.main()
