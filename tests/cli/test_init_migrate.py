"""vcm init --migrate-existing-to-lfs: history rewritten with leases, and a dry run that tells."""

import os
import shutil

from bootstrap import ATTRIBUTES, FILES, BootstrapTest

POINTER = "version https://git-lfs.github.com/spec/v1\n"
PDF, PDF2, PNG = b"%PDF\0one" * 100, b"%PDF\0two" * 200, b"\x89PNG\0" * 300
MIGRATE = "--migrate-existing-to-lfs"


class MigrateTest(BootstrapTest):
    def history(self, name="repo"):
        """Two branches and two tags at a remote, with documents in their past."""
        repo, remote = self.tracked_repo({"a": "a\n", "doc.pdf": PDF}, name=name)
        self.git(repo, "tag", "v1")
        self.git(repo, "tag", "-a", "v2", "-m", "annotated")
        self.commit(repo, {"doc.pdf": PDF2, "deep/pic.png": PNG})
        self.git(repo, "checkout", "--quiet", "-b", "side", "v1")
        self.commit(repo, {"side": "s\n"})
        self.git(repo, "push", "--quiet", "origin", "main", "side", "v1", "v2")
        self.git(repo, "checkout", "--quiet", "main")
        return repo, remote

    def refs(self, repo):
        lines = self.git(repo, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads",
                         "refs/tags").splitlines()
        return dict(line.split() for line in lines)

    def clone(self, remote, name):
        path = os.path.join(self.tmp, name)
        self.git(self.tmp, "clone", "--quiet", remote, path)
        return path


class Migrate(MigrateTest):
    def test_every_branch_and_tag_is_rewritten_and_pushed(self):
        repo, remote = self.history()
        old = self.refs(repo)
        document = self.init(repo, MIGRATE)
        new = self.refs(repo)
        self.assertEqual((document["migrated_to_lfs"], document["migrate_error"],
                          document["pushed"], document["push_error"]), (True, None, True, None))
        self.assertEqual(document["committed_sha"], new["refs/heads/main"])
        self.assertEqual(sorted(entry["ref"] for entry in document["refs"]), sorted(new))
        for entry in document["refs"]:
            self.assertEqual(entry["new"], new[entry["ref"]])
            if entry["ref"] != "refs/heads/main":
                self.assertEqual(entry["old"], old[entry["ref"]])
        self.assertEqual(self.refs(remote), new)
        self.assertIn("must clone again", document["warnings"][0])
        for place in ("main:doc.pdf", "main~1:deep/pic.png", "v1:doc.pdf", "side:doc.pdf"):
            self.assertTrue(self.git(repo, "cat-file", "blob", place).startswith(POINTER), place)
        self.assertEqual(self.git(repo, "status", "--porcelain"), "")
        self.assertEqual(self.read(repo, "doc.pdf"), PDF2)
        self.assertEqual(self.read(repo, ".colony/manifest.json").decode(),
                         self.git(repo, "show", "HEAD:.colony/manifest.json") + "\n")

    def test_a_new_clone_has_the_content(self):
        repo, remote = self.history()
        self.init(repo, MIGRATE)
        other = self.clone(remote, "other")
        self.assertTrue(self.read(other, "doc.pdf").startswith(POINTER.encode()))
        self.assertEqual(self.init(other)["status"], "already_initialized")
        self.git(other, "lfs", "pull")
        self.assertEqual(self.read(other, "doc.pdf"), PDF2)
        self.git(other, "checkout", "--quiet", "v1")
        self.assertEqual(self.read(other, "doc.pdf"), PDF)

    def test_a_second_migration_has_nothing_to_do(self):
        repo, remote = self.history()
        self.init(repo, MIGRATE)
        before, there = self.state(repo), self.refs(remote)
        document = self.init(repo, MIGRATE)
        self.assertEqual((document["status"], document["migrated_to_lfs"], document["refs"],
                          document["pushed"]), ("already_initialized", False, [], False))
        self.assertEqual(self.state(repo), before)
        self.assertEqual(self.refs(remote), there)

    def test_a_repository_that_is_initialized_can_still_migrate(self):
        repo, remote = self.history()
        self.init(repo)
        document = self.init(repo, MIGRATE)
        self.assertEqual((document["status"], document["migrated_to_lfs"], document["pushed"]),
                         ("already_initialized", True, True))
        self.assertEqual(self.refs(remote), self.refs(repo))

    def test_patterns_come_from_the_gitattributes_as_it_is(self):
        repo, _ = self.tracked_repo({"doc.pdf": PDF, "keep/doc.pdf": PDF, "pic.png": PNG,
                                     ATTRIBUTES: "*.pdf filter=lfs diff=lfs merge=lfs -text\n"
                                                 "keep/*.pdf -filter\n"})
        self.init(repo, MIGRATE)
        self.assertTrue(self.git(repo, "cat-file", "blob", "HEAD:doc.pdf").startswith(POINTER))
        for path in ("keep/doc.pdf", "pic.png"):
            self.assertFalse(self.git(repo, "cat-file", "blob", f"HEAD:{path}").startswith(POINTER))

    def test_without_a_push_the_remote_stays(self):
        repo, remote = self.history()
        there = self.refs(remote)
        self.assertTrue(self.init(repo, MIGRATE, "--no-push")["migrated_to_lfs"])
        self.assertEqual(self.refs(remote), there)

    def test_a_branch_of_the_remote_that_is_not_here_is_said(self):
        repo, remote = self.history()
        self.git(repo, "branch", "-D", "side")
        there = self.refs(remote)["refs/heads/side"]
        document = self.init(repo, MIGRATE)
        self.assertTrue(document["pushed"])
        self.assertIn("'refs/heads/side' of origin", " ".join(document["warnings"]))
        self.assertEqual(self.refs(remote)["refs/heads/side"], there)

    def test_what_only_we_have_stays_here(self):
        repo, remote = self.history()
        self.git(repo, "branch", "private")
        self.git(repo, "tag", "private-tag")
        self.assertTrue(self.init(repo, MIGRATE)["pushed"])
        self.assertNotIn("private", " ".join(self.refs(remote)))


class DryRun(MigrateTest):
    def test_it_tells_what_the_migration_then_does(self):
        repo, remote = self.history()
        before, there = self.state(repo), self.refs(remote)
        document = self.init(repo, MIGRATE, "--dry-run")
        self.assertEqual(self.state(repo), before)
        self.assertEqual(self.refs(remote), there)
        self.assertFalse(os.path.exists(os.path.join(repo, ".git/lfs/objects")))
        self.assertEqual(document["migration"], {
            "files": [{"path": "deep/pic.png", "versions": 1, "bytes": len(PNG)},
                      {"path": "doc.pdf", "versions": 2, "bytes": len(PDF) + len(PDF2)}],
            "bytes": len(PNG) + len(PDF) + len(PDF2), "commits": 3})
        self.assertEqual([(ref["ref"], ref["new"]) for ref in document["refs"]],
                         [(name, None) for name in sorted(there)])
        self.assertEqual(document["files_created"], FILES)
        commits = set(self.git(repo, "rev-list", "--branches", "--tags").split())
        self.init(repo, MIGRATE)
        now = set(self.git(repo, "rev-list", "--branches", "--tags").split())
        self.assertEqual(len(commits - now), 3)
        stored = [name for _, _, names in os.walk(os.path.join(repo, ".git/lfs/objects"))
                  for name in names]
        self.assertEqual(len(stored), 3)

    def test_commits_that_stay_are_not_counted(self):
        repo, _ = self.history()
        self.init(repo, MIGRATE)
        document = self.init(repo, MIGRATE, "--dry-run")
        self.assertEqual(document["migration"], {"files": [], "bytes": 0, "commits": 0})
        self.assertEqual((document["refs"], document["warnings"]), ([], []))
        plain = self.git(repo, "hash-object", "-w", "--stdin", input=PDF)
        self.git(repo, "update-index", "--add", "--cacheinfo", f"100644,{plain},late.pdf")
        self.git(repo, "commit", "--quiet", "-m", "as if without git-lfs")
        self.write(repo, {"late.pdf": PDF})
        self.commit(repo, {"later": "x\n"})
        document = self.init(repo, MIGRATE, "--dry-run", "--no-push")
        self.assertEqual(document["migration"], {
            "files": [{"path": "late.pdf", "versions": 1, "bytes": len(PDF)}],
            "bytes": len(PDF), "commits": 2})

    def test_people_read_who_must_clone_again(self):
        repo, _ = self.history()
        text = self.vcm("init", repo, MIGRATE, "--dry-run", check=0).out
        self.assertIn("would move 2 files, ", text)
        self.assertIn("rewrite 3 commits", text)
        self.assertIn("would rewrite refs/heads/side", text)
        self.assertIn("must clone again", text)

    def test_what_a_migration_refuses_a_dry_run_refuses(self):
        repo, _ = self.history()
        self.write(repo, {"a": "dirty\n"})
        self.refusal(repo, MIGRATE, "--dry-run")


class Refused(MigrateTest):
    def test_a_dirty_tree(self):
        for change in ({"a": "dirty\n"}, {"untracked": "x\n"}):
            repo, remote = self.history(name="repo" + next(iter(change)))
            self.write(repo, change)
            there = self.refs(remote)
            error = self.refusal(repo, MIGRATE)
            self.assertEqual(error["code"], "INVALID_ARGUMENT")
            self.assertIn("commit or stash", error["message"])
            self.assertEqual(self.refs(remote), there)

    def test_a_detached_head(self):
        repo, _ = self.history()
        self.git(repo, "checkout", "--quiet", "--detach")
        self.assertIn("detached", self.refusal(repo, MIGRATE)["message"])

    def test_a_shallow_clone(self):
        _, remote = self.history()
        self.git(self.tmp, "clone", "--quiet", "--depth=1", f"file://{remote}", "shallow")
        shallow = os.path.join(self.tmp, "shallow")
        self.assertIn("unshallow", self.refusal(shallow, MIGRATE)["message"])

    def test_other_working_trees(self):
        repo, _ = self.history()
        self.git(repo, "worktree", "add", "--quiet", os.path.join(self.tmp, "tree"), "side")
        self.assertIn("git worktree remove", self.refusal(repo, MIGRATE)["message"])

    def test_without_git_lfs(self):
        repo, _ = self.history()
        error = self.refusal(repo, MIGRATE, check=1, env={"PATH": self.tools("git", "sh")})
        self.assertEqual(error["code"], "UNSUPPORTED")
        self.assertIn("apt install git-lfs", error["message"])

    def test_together_with_no_lfs(self):
        repo, _ = self.history()
        self.assertIn("exclude each other", self.refusal(repo, MIGRATE, "--no-lfs")["message"])

    def test_without_patterns(self):
        repo = self.make_repo({ATTRIBUTES: "*.txt text\n"})
        self.assertIn("git lfs track", self.refusal(repo, MIGRATE)["message"])

    def test_a_remote_with_commits_that_are_not_here(self):
        repo, remote = self.history()
        other = self.clone(remote, "other")
        self.git(other, "checkout", "--quiet", "side")
        self.commit(other, {"theirs": "t\n"})
        self.git(other, "push", "--quiet")
        there = self.refs(remote)
        self.assertIn("refs/heads/side", self.refusal(repo, MIGRATE)["message"])
        self.assertEqual(self.refs(remote), there)
        self.assertTrue(self.init(repo, MIGRATE, "--no-push")["migrated_to_lfs"])

    def test_a_branch_that_is_ahead_is_rewritten_but_not_pushed(self):
        repo, remote = self.history()
        self.git(repo, "checkout", "--quiet", "side")
        self.commit(repo, {"private": "p\n"})
        self.git(repo, "checkout", "--quiet", "main")
        there = self.refs(remote)
        document = self.init(repo, MIGRATE)
        self.assertEqual((document["migrated_to_lfs"], document["pushed"]), (True, False))
        self.assertIn("'side' was already ahead", document["push_error"])
        self.assertEqual(self.refs(remote), there)


class Lease(MigrateTest):
    def test_a_second_pusher_breaks_the_lease_and_the_remote_stays(self):
        repo, remote = self.history()
        other = self.clone(remote, "other")
        self.git(other, "checkout", "--quiet", "side")
        theirs = self.commit(other, {"theirs": "t\n"})
        real = shutil.which("git-lfs")
        script = (f'#!/bin/sh\n{real} "$@"; status=$?\n'
                  f'case "$*" in *migrate*) {shutil.which("git")} -C {other} push -q origin side;; '
                  'esac\nexit $status\n')
        # The filters that init sets name git-lfs, so that the path holds for them too.
        path = self.tools("git", "sh", "cat", git_lfs=script)
        before = self.refs(remote)
        document = self.init(repo, MIGRATE, check=3, env={"PATH": f"{path}:{os.environ['PATH']}"})
        self.assertEqual((document["migrated_to_lfs"], document["pushed"]), (True, False))
        self.assertIn("the remote was left as it was", document["push_error"])
        self.assertEqual(self.refs(remote), {**before, "refs/heads/side": theirs})

    def test_a_remote_that_refuses_one_ref_gets_none(self):
        repo, remote = self.history()
        self.write(remote, {"hooks/update": '#!/bin/sh\n[ "$1" != refs/tags/v1 ]\n'})
        os.chmod(os.path.join(remote, "hooks/update"), 0o755)
        before = self.refs(remote)
        document = self.init(repo, MIGRATE, check=3)
        self.assertFalse(document["pushed"])
        self.assertEqual(self.refs(remote), before)

    def test_a_migration_that_fails_leaves_the_refs_and_pushes_nothing(self):
        repo, remote = self.history()
        real = shutil.which("git-lfs")
        script = (f'#!/bin/sh\ncase "$*" in *migrate*) {real} "$@"; echo "no room" >&2; exit 2;; '
                  f'esac\nexec {real} "$@"\n')
        path = self.tools("git", "sh", git_lfs=script)
        old, there = self.refs(repo), self.refs(remote)
        document = self.init(repo, MIGRATE, check=3, env={"PATH": f"{path}:{os.environ['PATH']}"})
        self.assertIn("no room", document["migrate_error"])
        self.assertEqual((document["migrated_to_lfs"], document["pushed"]), (False, False))
        self.assertEqual(self.refs(repo), {**old, "refs/heads/main": document["committed_sha"]})
        self.assertEqual(self.refs(remote), there)
        self.assertEqual(self.read(repo, "doc.pdf"), PDF2)
        self.assertEqual(self.git(repo, "-c", "filter.lfs.clean=", "-c", "filter.lfs.process=",
                                  "-c", "filter.lfs.required=false", "status", "--porcelain"), "")
