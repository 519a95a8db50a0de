"""vcm init: what is pushed, where to, and what a remote that does not play along leaves behind."""

import os

from bootstrap import BootstrapTest
from harness import Executable


class Push(BootstrapTest):
    def test_the_upstream_comes_before_origin(self):
        repo, origin = self.tracked_repo({"a": "a\n"})
        fork = self.bare_remote("fork.git")
        self.git(repo, "remote", "add", "fork", fork)
        self.git(repo, "push", "--quiet", "--set-upstream", "fork", "main:trunk")
        there = self.git(origin, "for-each-ref")
        document = self.init(repo)
        self.assertTrue(document["pushed"])
        self.assertEqual(self.git(fork, "rev-parse", "trunk"), document["committed_sha"])
        self.assertEqual(self.git(origin, "for-each-ref"), there)

    def test_no_push_and_no_remote(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        there = self.git(remote, "for-each-ref")
        document = self.init(repo, "--no-push")
        self.assertEqual((document["pushed"], document["push_error"]), (False, None))
        self.assertEqual(self.git(remote, "for-each-ref"), there)
        lonely = self.empty_repo("lonely")
        document = self.init(lonely)
        self.assertFalse(document["pushed"])
        self.assertIn("no remote", document["push_error"])

    def test_a_second_run_pushes_what_the_first_could_not(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        commit = self.init(repo, "--no-push")["committed_sha"]
        document = self.init(repo)
        self.assertEqual((document["status"], document["pushed"], document["committed_sha"]),
                         ("already_initialized", True, None))
        self.assertEqual(self.git(remote, "rev-parse", "main"), commit)

    def test_a_branch_that_was_ahead_is_not_pushed(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        self.commit(repo, {"a": "private\n"})
        there = self.git(remote, "for-each-ref")
        document = self.init(repo)
        self.assertFalse(document["pushed"])
        self.assertIn("ahead of origin by 1 commit;", document["push_error"])
        self.assertEqual(self.git(remote, "for-each-ref"), there)
        self.assertIn("--push-all", self.init(repo)["push_error"])
        document = self.init(repo, "--push-all")
        self.assertTrue(document["pushed"])
        self.assertEqual(self.git(remote, "rev-parse", "main"),
                         self.git(repo, "rev-parse", "HEAD"))

    def test_a_second_run_does_not_push_commits_of_the_user(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        self.init(repo)
        there = self.git(remote, "for-each-ref")
        self.commit(repo, {"a": "private\n"})
        document = self.init(repo)
        self.assertEqual((document["pushed"], document["push_error"]), (False, None))
        self.assertEqual(self.git(remote, "for-each-ref"), there)

    def test_a_new_branch_is_ahead_only_by_commits_that_the_remote_lacks(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        self.git(repo, "checkout", "--quiet", "-b", "same")
        document = self.init(repo)
        self.assertTrue(document["pushed"])
        self.assertEqual(self.git(remote, "rev-parse", "same"), document["committed_sha"])
        self.git(repo, "checkout", "--quiet", "-b", "more", "main")
        self.commit(repo, {"b": "b\n"})
        self.assertIn("ahead", self.init(repo)["push_error"])

    def test_an_empty_remote_gets_the_branch_with_its_history(self):
        remote = self.bare_remote()
        repo = self.make_repo({"a": "a\n"}, origin=remote)
        self.assertTrue(self.init(repo)["pushed"])
        self.assertEqual(self.git(remote, "rev-list", "--count", "main"), "2")

    def test_tags_and_other_branches_stay_here(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        self.git(repo, "config", "push.followTags", "true")
        self.git(repo, "tag", "-a", "v1", "-m", "v1")
        self.git(repo, "branch", "side")
        self.init(repo)
        self.assertEqual(self.git(remote, "for-each-ref", "--format=%(refname)"),
                         "refs/heads/main")

    def failing(self, repo, *parts):
        document = self.init(repo, check=3)
        self.assertEqual((document["status"], document["pushed"]), ("initialized", False))
        self.assertEqual(document["committed_sha"], self.git(repo, "rev-parse", "HEAD"))
        for part in parts:
            self.assertIn(part, document["push_error"])
        self.assertNotIn("\n", document["push_error"])

    def test_a_remote_that_refuses_leaves_the_commit_here(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        self.write(remote, {"hooks/pre-receive": Executable(b"#!/bin/sh\nexit 1\n")})
        there = self.git(remote, "for-each-ref")
        self.failing(repo, "refused", "pre-receive hook declined")
        self.assertEqual(self.git(remote, "for-each-ref"), there)
        os.unlink(os.path.join(remote, "hooks/pre-receive"))
        self.assertTrue(self.init(repo)["pushed"])

    def test_a_remote_that_is_gone_leaves_the_commit_here(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        os.rename(remote, remote + ".gone")
        self.failing(repo)

    def test_a_network_that_is_gone_leaves_the_commit_here(self):
        repo = self.make_repo({"a": "a\n"}, origin="http://127.0.0.1:1/x.git")
        self.failing(repo)

    def test_a_remote_with_more_commits_is_not_overwritten(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        other = os.path.join(self.tmp, "other")
        self.git(self.tmp, "clone", "--quiet", remote, other)
        self.commit(other, {"b": "b\n"})
        self.git(other, "push", "--quiet")
        there = self.git(remote, "for-each-ref")
        self.failing(repo, "git pull --rebase")
        self.assertEqual(self.git(remote, "for-each-ref"), there)

    def test_two_clones_see_each_others_work(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        self.init(repo)
        self.commit(repo, {"big.bin": b"\0large" * 1000})
        self.git(repo, "push", "--quiet")
        other = os.path.join(self.tmp, "other")
        self.git(self.tmp, "clone", "--quiet", remote, other)
        self.assertEqual(self.init(other)["status"], "already_initialized")
        self.git(other, "lfs", "pull")
        self.assertEqual(self.read(other, "big.bin"), b"\0large" * 1000)
        self.commit(other, {"big.bin": b"\0larger" * 1000})
        self.git(other, "push", "--quiet")
        self.git(repo, "pull", "--quiet")
        self.assertEqual(self.read(repo, "big.bin"), b"\0larger" * 1000)

    def test_lfs_content_of_commits_that_are_pushed_goes_with_them(self):
        repo, remote = self.tracked_repo({"a": "a\n"})
        self.init(repo)
        self.commit(repo, {"big.bin": b"\0large" * 1000})
        self.assertTrue(self.init(repo, "--push-all")["pushed"])
        other = os.path.join(self.tmp, "other")
        self.git(self.tmp, "clone", "--quiet", remote, other)
        self.git(other, "lfs", "install", "--local")
        self.git(other, "lfs", "pull")
        self.assertEqual(self.read(other, "big.bin"), b"\0large" * 1000)

    def test_github_has_a_quota(self):
        for number, (url, said) in enumerate([
                ("https://github.com/a/b.git", True), ("git@github.com:a/b.git", True),
                ("https://notgithub.com/a/b.git", False), ("https://github.com.evil/a/b", False)]):
            repo = self.empty_repo(f"r{number}", url)
            warnings = " ".join(self.init(repo, "--no-push")["warnings"])
            self.assertEqual("quota" in warnings, said, url)
