"""`repo fetch --dest` loses nothing that is not vcm's own."""

import os
import subprocess

import clones
import harness


class Dest(clones.CloneTest):
    def setUp(self):
        super().setUp()
        self.repo, self.url = self.remote_repo({"a.c": "one\n", "sub/b.c": "b\n", ".gitignore": "*.cfg\nout/\n"})
        self.dest = os.path.join(self.tmp, "copy")

    def fetch(self, *args, check=0):
        return self.vcm("repo", "fetch", self.url, "--dest", self.dest, *args, "--json", check=check)

    def refused(self, *words):
        error = self.fetch(check=2).json()["error"]
        self.assertEqual(error["code"], "INVALID_ARGUMENT")
        self.assertIn("--dest", error["message"])
        for word in words:
            self.assertIn(word, error["message"])

    def read(self, name):
        with open(os.path.join(self.dest, name), encoding="ascii") as file:
            return file.read()

    def head(self):
        return self.git(self.dest, "rev-parse", "HEAD")

    def test_ignored_files_are_not_overwritten(self):
        self.fetch()
        self.write(self.dest, {"my.cfg": "mine\n", "out/x/y": "mine\n"})
        self.commit(self.repo, {"my.cfg": "theirs\n"})
        self.refused("my.cfg")
        self.assertEqual(self.read("my.cfg"), "mine\n")
        self.commit(self.repo, {"out": "a file now\n"}, remove=["my.cfg"])
        self.refused()
        self.assertEqual(self.read("out/x/y"), "mine\n")
        self.commit(self.repo, {"new.c": ""}, remove=["out"])
        self.fetch()
        self.assertEqual((self.read("my.cfg"), self.read("out/x/y"), self.read("new.c")),
                         ("mine\n", "mine\n", ""))

    def test_untracked_and_changed_files_stay(self):
        self.fetch()
        self.write(self.dest, {"a.c": "mine\n", "mine.txt": "mine\n"})
        self.commit(self.repo, {"sub/b.c": "c\n"})
        self.fetch()
        self.assertEqual((self.read("a.c"), self.read("sub/b.c")), ("mine\n", "c\n"))
        self.commit(self.repo, {"mine.txt": "theirs\n"})
        self.refused("mine.txt")
        self.assertEqual(self.read("mine.txt"), "mine\n")

    def test_local_commits_and_branches_stay_where_they_are(self):
        self.fetch()
        local = self.commit(self.dest, {"mine.c": "int mine;\n"})
        self.commit(self.repo, {"a.c": "two\n"})
        self.refused("commit")
        self.assertEqual(self.head(), local)
        self.git(self.dest, "checkout", "--quiet", "--detach", "HEAD~")
        self.git(self.dest, "switch", "--quiet", "-c", "mine")
        self.refused("commit")
        self.assertEqual(self.git(self.dest, "symbolic-ref", "HEAD"), "refs/heads/mine")
        self.git(self.dest, "checkout", "--quiet", "--detach")
        self.fetch()
        self.assertEqual(self.read("a.c"), "two\n")

    def test_a_clone_of_somebody_else_is_left_alone(self):
        self.git(self.tmp, "clone", "--quiet", self.url, self.dest)
        before = self.everything_under(self.dest)
        self.commit(self.repo, {"a.c": "two\n"})
        self.refused("vcm")
        self.assertEqual(self.everything_under(self.dest), before)

    def test_a_fetch_that_was_killed_can_be_repeated(self):
        """git is stopped before each of its calls in turn, as a kill of vcm stops it."""
        folder = os.path.join(self.tmp, "bin")
        self.log_git()
        counter = os.path.join(self.tmp, "count")
        whom = harness.write_pids(self)
        real = os.path.join(folder, "git")
        os.rename(real, real + "-real")
        self.write(folder, {"git": clones.Executable(
            f'#!/bin/sh\nn=$(cat {counter}); echo $((n-1)) >{counter}\n'
            f'test "$n" != 1 || {{ kill -9 $(cat {whom}); sleep 60; }}\nexec {real}-real "$@"\n'.encode())})
        done = False
        for step in range(1, 40):
            self.write(self.tmp, {"count": f"{step}\n"})
            run = self.start("repo", "fetch", self.url, "--dest", self.dest)
            run.communicate()
            if run.returncode == 0:
                done = True
                break
            self.write(self.tmp, {"count": "0\n"})
            self.fetch()
            self.assertEqual(self.read("a.c")[:3], "one" if step % 2 else "two")
            self.commit(self.repo, {"a.c": "two\n" if step % 2 else "one\n"})
            if step % 3 == 0:
                subprocess.run(["rm", "-r", self.dest], check=True)
        self.assertTrue(done)

    def test_files_at_places_that_a_subpath_left_out_stay(self):
        self.commit(self.repo, {"docs/x.cfg": "theirs\n", "docs/y.c": "theirs\n"})
        self.fetch("--subpath", "sub")
        self.assertFalse(os.path.exists(os.path.join(self.dest, "docs")))
        self.write(self.dest, {"docs/x.cfg": "mine\n", "docs/y.c": "mine\n"})
        self.commit(self.repo, {"docs/x.cfg": "new\n", "docs/y.c": "new\n"})
        for options in (("--subpath", "sub"), ("--subpath", "docs"), ()):
            self.vcm("repo", "fetch", self.url, "--dest", self.dest, *options)
            self.assertEqual((self.read("docs/x.cfg"), self.read("docs/y.c")), ("mine\n", "mine\n"))
