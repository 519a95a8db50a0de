"""vcm init that is killed at any of its steps: the same command again ends what was begun."""

import os
import shutil
import signal
import subprocess

import harness
from bootstrap import FILES, MANIFEST, BootstrapTest

GIT = shutil.which("git")
MIGRATE = "--migrate-existing-to-lfs"
PDF, PDF2 = b"%PDF\0one" * 100, b"%PDF\0two" * 200

# Stands for git. Counts its calls, and at call $KILL_AT kills vcm, before git runs or, with KILL_LATE
# set, after it.
SCRIPT = f"""#!/bin/sh
echo x >> "$COUNTER"
now=$(wc -l < "$COUNTER")
[ "$now" = "$KILL_AT" ] && [ -z "$KILL_LATE" ] && {{ kill -KILL $(cat "$KILL_WHOM"); exit 1; }}
[ "$now" = "$KILL_AT" ] || exec {GIT} "$@"
{GIT} "$@"
kill -KILL $(cat "$KILL_WHOM")
"""


class Killed(BootstrapTest):
    def setUp(self):
        super().setUp()
        self.path = f"{self.tools(git=SCRIPT)}:{os.environ['PATH']}"
        self.counter = os.path.join(self.tmp, "counter")
        self.whom = harness.write_pids(self)

    def calls(self):
        with open(self.counter, "rb") as file:
            return len(file.readlines())

    def run_killed(self, repo, *args, at=0, late=False):
        """Runs init with a git that kills it at its call `at`; returns whether it was killed."""
        if os.path.exists(self.counter):
            os.unlink(self.counter)
        run = self.start("init", repo, "--json", *args, env={
            "PATH": self.path, "COUNTER": self.counter, "KILL_AT": str(at), "KILL_WHOM": self.whom,
            "KILL_LATE": "1" if late else ""})
        try:
            run.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            run.kill()
            raise
        self.assertIn(run.returncode, (0, -signal.SIGKILL))
        return run.returncode != 0

    def copy(self, repo, remote):
        """Copies of a repository and its remote, always at the same place: the manifest names it."""
        paths = [os.path.join(self.tmp, "copy"), os.path.join(self.tmp, "copy.git")]
        for source, target in zip((repo, remote), paths):
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, symlinks=True)
        self.git(paths[0], "remote", "set-url", "origin", paths[1])
        return paths

    def chosen(self, count, some):
        """All calls in a long run, else every so many."""
        step = 1 if os.environ.get("VCM_TEST_LONG") else max(1, count // some)
        return range(1, count + 1, step)

    def refs(self, repo):
        return self.git(repo, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads",
                        "refs/tags")

    def assert_done(self, repo, remote, tree, commits):
        self.assertEqual(self.git(repo, "status", "--porcelain"), "")
        self.assertEqual(self.git(repo, "rev-parse", "HEAD^{tree}"), tree)
        self.assertEqual(self.git(repo, "rev-list", "--count", "HEAD"), commits)
        self.assertEqual(self.refs(remote), self.refs(repo))

    def kill_everywhere(self, repo, remote, args, some):
        """Kills at many calls, each time in a new copy, and runs the same command again."""
        whole, whole_remote = self.copy(repo, remote)
        self.assertFalse(self.run_killed(whole, *args))
        count = self.calls()
        tree = self.git(whole, "rev-parse", "HEAD^{tree}")
        commits = self.git(whole, "rev-list", "--count", "HEAD")
        self.assert_done(whole, whole_remote, tree, commits)
        self.assertGreater(count, 10)
        for at in self.chosen(count, some):
            late = at % 2 == 0
            with self.subTest(at=at, late=late):
                one, one_remote = self.copy(repo, remote)
                self.assertTrue(self.run_killed(one, *args, at=at, late=late))
                document = self.init(one, *args)
                self.assertIsNone(document["push_error"])
                self.assertIsNone(document["migrate_error"])
                self.assert_done(one, one_remote, tree, commits)
                self.assertEqual(self.init(one)["status"], "already_initialized")

    def test_a_first_init(self):
        repo, remote = self.tracked_repo({"a": "a\n"}, name="first")
        self.kill_everywhere(repo, remote, [], some=3)

    def test_an_init_that_turns_lfs_on(self):
        repo, remote = self.tracked_repo({"a": "a\n"}, name="second")
        self.init(repo, "--no-lfs")
        self.assertEqual(self.committed(repo), FILES[:2])
        self.kill_everywhere(repo, remote, [], some=3)

    def test_a_migration(self):
        repo, remote = self.tracked_repo({"a": "a\n", "doc.pdf": PDF}, name="third")
        self.git(repo, "tag", "v1")
        self.commit(repo, {"doc.pdf": PDF2})
        self.git(repo, "branch", "side", "v1")
        self.git(repo, "push", "--quiet", "origin", "main", "side", "v1")
        self.kill_everywhere(repo, remote, [MIGRATE], some=5)

    def test_what_a_killed_run_with_other_options_left_is_said(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        for at in range(1, 60):
            one, _ = self.copy(repo, remote)
            self.assertTrue(self.run_killed(one, "--tenant", "one", at=at))
            if os.path.exists(os.path.join(one, ".gitattributes")):
                break
        document = self.init(one, "--tenant", "two")
        self.assertIn(f"{MANIFEST} was here but is not in git", document["warnings"][0])
        self.assertEqual(document["files_created"], FILES[1:])

    def test_a_migration_whose_branch_moved_since_is_not_pushed_over_the_remote(self):
        repo, remote = self.tracked_repo({"a": "a\n", "doc.pdf": PDF}, name="moved")
        self.init(repo, MIGRATE, "--no-push")
        self.git(repo, "reset", "--quiet", "--hard", "HEAD~1")
        before = self.refs(remote)
        error = self.init(repo, MIGRATE, check=2)["error"]
        self.assertIn("was rewritten", error["message"])
        self.assertNotIn("merge", error["message"])
        self.assertEqual(self.refs(remote), before)

    def test_a_migration_that_was_not_pushed_is_pushed_by_the_next_run(self):
        repo, remote = self.tracked_repo({"a": "a\n", "doc.pdf": PDF}, name="later")
        document = self.init(repo, MIGRATE, "--no-push")
        self.assertTrue(document["migrated_to_lfs"])
        document = self.init(repo, MIGRATE)
        self.assertEqual((document["pushed"], document["push_error"]), (True, None))
        self.assertEqual(self.refs(remote), self.refs(repo))

    def test_a_migration_that_was_killed_before_its_checkout_is_ended(self):
        repo, remote = self.tracked_repo({"a": "a\n", "doc.pdf": PDF}, name="early")
        document = self.init(repo, MIGRATE, "--no-push")
        [main] = [ref["old"] for ref in document["refs"] if ref["ref"] == "refs/heads/main"]
        # The index and the files of the old commit; the content of documents is there already.
        self.git(repo, "read-tree", main)
        self.git(repo, "-c", "filter.lfs.process=", "-c", "filter.lfs.smudge=", "-c",
                 "filter.lfs.required=false", "checkout-index", "--force", "--all")
        document = self.init(repo, MIGRATE)
        self.assertEqual((document["pushed"], document["push_error"]), (True, None))
        self.assertEqual(self.refs(remote), self.refs(repo))
        self.assertEqual(self.git(repo, "status", "--porcelain"), "")
        self.assertEqual(self.read(repo, "doc.pdf"), PDF)
