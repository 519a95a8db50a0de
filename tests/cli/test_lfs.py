"""Files kept in LFS: pages hold their content, and what is not here is counted and can be brought."""

import hashlib
import os
import re
import shlex

import paging

LIMIT = 32 * 1024 * 1024


def pointer(content, size=None):
    oid = hashlib.sha256(content).hexdigest()
    return (f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\n"
            f"size {len(content) if size is None else size}\n")


class Lfs(paging.PagingTest):
    def setUp(self):
        super().setUp()
        self.git(self.tmp, "lfs", "install", "--skip-repo")

    def make_lfs_repo(self, files, **options):
        return self.make_repo({".gitattributes": "*.dat filter=lfs diff=lfs merge=lfs -text\n",
                               **files}, **options)

    def object_path(self, repo, content):
        oid = hashlib.sha256(content).hexdigest()
        return os.path.join(repo, ".git/lfs/objects", oid[:2], oid[2:4], oid)

    def records(self):
        return {record["path"]: record for entry in self.pages()
                for record in self.page(entry["page_id"])["records"]}

    def outcomes(self, scope):
        files = self.vcm("coverage", scope, "--json", check=0).json()["files"]
        return {file["path"]: file["reason"] or file["outcome"] for file in files}

    def test_a_pointer_is_paged_as_its_content(self):
        repo = self.make_lfs_repo({"text.dat": "first\nsecond\n", "bin.dat": b"\0\1\2",
                                   "lossy.dat": b"a\xffb\n", "empty.dat": "", "plain": "p\n"})
        self.assertIn("oid sha256", self.git(repo, "show", "HEAD:text.dat"))
        row = self.map_row(repo)
        self.assertEqual(row["coverage"]["paged"], 5)
        self.assertEqual(row["coverage"]["binary"], 1)
        self.assertIsNone(row["message"])
        records = self.records()
        self.assertEqual(records["text.dat"]["text"], "first\nsecond\n")
        self.assertEqual(records["text.dat"]["blob"], self.git(repo, "rev-parse", "HEAD:text.dat"))
        self.assertEqual(records["empty.dat"]["text"], "")
        self.assertTrue(records["lossy.dat"]["lossy"])
        self.assertEqual(records["lossy.dat"]["text"], "a\ufffdb\n")
        self.assertEqual(self.map_row(repo)["status"], "already_mapped")

    def test_missing_content_is_counted_and_the_message_brings_it(self):
        origin = self.make_lfs_repo({"a.dat": "kept in LFS\n", "b.dat": "this too\n", "c": "c\n"},
                                    name="origin")
        self.env["GIT_LFS_SKIP_SMUDGE"] = "1"
        clone = os.path.join(self.tmp, "clone")
        self.git(self.tmp, "clone", "--quiet", "file://" + origin, clone)
        row = self.map_row(clone, "--scope", "sample")
        self.assertEqual(row["status"], "mapped")
        self.assertEqual((row["coverage"]["lfs_missing"], row["coverage"]["paged"]), (2, 2))
        self.assertEqual(self.outcomes("sample"), {".gitattributes": "paged", "c": "paged",
                                                   "a.dat": "lfs_missing", "b.dat": "lfs_missing"})
        self.assertIn("2 files kept in LFS are not here", row["message"])
        again = self.map_row(clone, "--scope", "sample")
        self.assertEqual((again["status"], again["message"]), ("already_mapped", row["message"]))

        command = shlex.split(re.search(r"'vcm ([^']*)'", row["message"]).group(1))
        self.vcm(*command, check=0)
        row = self.map_row(clone, "--scope", "sample")
        self.assertEqual((row["status"], row["message"]), ("remapped", None))
        self.assertEqual((row["coverage"]["lfs_missing"], row["coverage"]["paged"]), (0, 4))
        self.assertEqual(self.records()["a.dat"]["text"], "kept in LFS\n")

    def test_one_content_that_comes_back_is_enough_to_map_again(self):
        repo = self.make_lfs_repo({"a.dat": "one\n", "b.dat": "two\n"})
        for content in (b"one\n", b"two\n"):
            os.rename(self.object_path(repo, content), self.object_path(repo, content) + ".gone")
        self.assertEqual(self.map_row(repo)["coverage"]["lfs_missing"], 2)
        self.assertEqual(self.map_row(repo)["status"], "already_mapped")
        os.rename(self.object_path(repo, b"two\n") + ".gone", self.object_path(repo, b"two\n"))
        row = self.map_row(repo)
        self.assertEqual(row["status"], "remapped")
        self.assertEqual(row["coverage"]["lfs_missing"], 1)
        self.assertIn("1 file kept in LFS is not here", row["message"])

    def test_content_that_is_not_what_the_pointer_says_fails(self):
        repo = self.make_lfs_repo({"a.dat": "right\n", "b.dat": "whole\n"})
        for content, wrong in ((b"right\n", b"wrong\n"), (b"whole\n", b"who")):
            path = self.object_path(repo, content)
            os.chmod(path, 0o644)
            with open(path, "wb") as file:
                file.write(wrong)
        row = self.map_row(repo, "--scope", "sample", check=3)
        self.assertEqual(row["coverage"]["failed"], 2)
        self.assertEqual(self.outcomes("sample"), {".gitattributes": "paged",
                                                   "a.dat": "lfs_corrupt", "b.dat": "lfs_corrupt"})
        with open(self.object_path(repo, b"right\n"), "wb") as file:
            file.write(b"right\n")
        self.assertEqual(self.map_row(repo, "--scope", "sample", check=3)["status"], "remapped")
        self.assertEqual(self.outcomes("sample")["a.dat"], "paged")

    def test_the_order_of_outcomes_holds_for_pointers(self):
        repo = self.make_repo({
            "large": pointer(b"here", LIMIT + 1), "large_gone": pointer(b"gone", LIMIT + 1),
            "limit_gone": pointer(b"gone", LIMIT), "x.log": pointer(b"gone"),
            "crlf": pointer(b"gone").replace("\n", "\r\n"), "cut": pointer(b"gone")[:-1],
            "ext": pointer(b"here").replace("oid", f"ext-0-x sha256:{'0' * 64}\noid"),
            ".gitignore": "*.log\n"})
        path = self.object_path(repo, b"here")
        os.makedirs(os.path.dirname(path))
        with open(path, "wb") as file:
            file.write(b"here")
        self.map_row(repo, "--scope", "sample", check=3)
        self.assertEqual(self.outcomes("sample"), {
            ".gitignore": "paged", "crlf": "lfs_missing", "cut": "lfs_missing", "ext": "lfs_extension",
            "large": "too_large", "large_gone": "lfs_missing", "limit_gone": "lfs_missing",
            "x.log": "ignored"})

    def test_working_trees_and_submodules_have_their_content(self):
        inner = self.make_lfs_repo({"in.dat": "inner content\n"}, name="inner")
        outer = self.make_repo({"o": "o\n"}, name="outer")
        self.git(outer, "submodule", "--quiet", "add", inner, "sub")
        self.commit(outer, {".colony/repo_map.yaml":
                            "schema_version: 1\nsources:\n"
                            "  - {name: sub, type: git_repo, submodule: sub}\n"})
        row = self.map_row(outer)
        self.assertEqual(row["coverage"]["lfs_missing"], 0, row)
        self.assertEqual(self.records()["in.dat"]["text"], "inner content\n")
        tree = os.path.join(self.tmp, "tree")
        self.git(inner, "worktree", "add", "--quiet", "-b", "side", tree)
        self.assertEqual(self.map_row(tree, "--scope", "side-tree")["coverage"]["lfs_missing"], 0)

    def test_no_filter_is_run(self):
        repo = self.make_lfs_repo({"a.dat": "content\n"})
        for key in ("smudge", "process", "clean"):
            self.git(repo, "config", f"filter.lfs.{key}", f"touch {self.tmp}/was-run")
        self.map_row(repo)
        self.assertEqual(self.records()["a.dat"]["text"], "content\n")
        self.assertFalse(os.path.exists(os.path.join(self.tmp, "was-run")))
