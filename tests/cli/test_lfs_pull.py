"""vcm lfs status and pull: what is kept in LFS, and fetching what mapped rows lack."""

import hashlib
import json
import os
import shutil

from bootstrap import ATTRIBUTES, MANIFEST, BootstrapTest
from harness import Symlink

STATUS_KEYS = ["files", "repo_root", "commit", "lfs_mode", "count", "bytes", "present", "missing",
               "bytes_to_fetch", "incomplete"]
PULL_KEYS = ["files", "fetched", "missing", "bytes", "error"]
MAP = """schema_version: 1
sources:
  - {name: docs, type: git_repo, start_dir: docs}
  - {name: data, type: git_repo, start_dir: data}
"""
TEXTS = {"docs/a.txt": "text of a\n" * 50, "docs/deep/we,ird [x] é.txt": "weird\n" * 50,
         "data/b.txt": "text of b\n" * 50}


class LfsTest(BootstrapTest):
    def clone_without_content(self, manifest=None):
        """A clone, not smudged, of a repository that keeps TEXTS in LFS; and its remote."""
        remote = self.bare_remote()
        repo = self.empty_repo("work", remote)
        self.git(repo, "lfs", "install", "--local")
        files = {ATTRIBUTES: "*.txt filter=lfs diff=lfs merge=lfs -text\n",
                 ".colony/repo_map.yaml": MAP, "docs/plain.md": "plain\n", **TEXTS}
        if manifest:
            files[MANIFEST] = json.dumps({
                "schema_version": 1, "tenant": "t", "colony": "c", "program": "p",
                "target_system": "s", "design_repo_url": "", "lfs": manifest})
        self.commit(repo, files)
        self.git(repo, "push", "--quiet", "origin", "main")
        clone = os.path.join(self.tmp, "clone")
        self.git(self.tmp, "clone", "--quiet", remote, clone)
        return clone, remote

    def status(self, repo):
        document = self.vcm("lfs", "status", repo, "--json", check=0).json()
        self.assertEqual(list(document), STATUS_KEYS)
        return document

    def pull(self, *args, check=0, **options):
        document = self.vcm("lfs", "pull", "--json", *args, check=check, **options).json()
        if "error" not in document or not isinstance(document["error"], dict):
            self.assertEqual(list(document), PULL_KEYS)
        return document

    def map(self, repo, check=0):
        return self.vcm("map", repo, "--scope", "base", "--json", check=check).json()

    def here(self, repo):
        """The texts whose content is among the repository's LFS objects."""
        stored = {name for _, _, names in os.walk(os.path.join(repo, ".git/lfs/objects"))
                  for name in names}
        return sorted(path for path, text in TEXTS.items()
                      if hashlib.sha256(text.encode()).hexdigest() in stored)


class Status(LfsTest):
    def test_pointers_are_listed_with_size_and_presence(self):
        clone, remote = self.clone_without_content()
        expected = [{"path": path, "oid": hashlib.sha256(text.encode()).hexdigest(),
                     "size": len(text), "present": False} for path, text in sorted(TEXTS.items())]
        total = sum(map(len, TEXTS.values()))
        head = self.git(clone, "rev-parse", "HEAD")
        self.assertEqual(self.status(clone), {
            "repo_root": clone, "commit": head, "lfs_mode": "same_remote", "files": expected,
            "count": 3, "bytes": total, "present": 0, "missing": 3, "bytes_to_fetch": total,
            "incomplete": []})
        work = self.status(os.path.join(self.tmp, "work"))
        self.assertEqual((work["present"], work["missing"], work["bytes_to_fetch"]), (3, 0, 0))
        self.assertEqual(self.status(remote)["present"], 3)
        text = self.vcm("lfs", "status", clone, check=0).out
        self.assertIn("3 files in LFS", text)
        self.assertIn("missing", text)

    def test_what_only_looks_like_a_pointer_is_none(self):
        repo = self.make_repo({"a": "version https://git-lfs.github.com/spec/v1\n", "b": b"",
                               "c": Symlink("a"), "d": "x" * 1024})
        document = self.status(repo)
        self.assertEqual((document["files"], document["count"]), ([], 0))

    def test_a_repository_without_commits_has_none(self):
        document = self.status(self.empty_repo())
        self.assertEqual((document["commit"], document["files"]), (None, []))

    def test_a_broken_manifest_is_said(self):
        repo = self.make_repo({MANIFEST: "{"})
        error = self.vcm("lfs", "status", repo, "--json", check=2).json()["error"]
        self.assertIn(MANIFEST, error["message"] + str(error["details"]))


class Pull(LfsTest):
    def test_only_what_the_scope_needs_is_fetched(self):
        clone, _ = self.clone_without_content()
        rows = self.map(clone)["sources"]
        self.assertEqual([row["coverage"]["lfs_missing"] for row in rows], [2, 1])
        document = self.pull("--scope", "base:docs")
        docs = sorted(path for path in TEXTS if path.startswith("docs/"))
        self.assertEqual(self.here(clone), docs)
        self.assertEqual([(f["scope_id"], f["path"], f["present"], f["fetched"])
                          for f in document["files"]],
                         [("base:docs", path, True, True) for path in docs])
        self.assertEqual((document["fetched"], document["missing"], document["error"]),
                         (2, 0, None))
        self.assertEqual(document["bytes"], sum(len(TEXTS[path]) for path in docs))
        self.assertEqual(self.git(clone, "status", "--porcelain"), "")
        rows = self.map(clone)["sources"]
        self.assertEqual([row["status"] for row in rows], ["remapped", "already_mapped"])
        self.assertEqual(rows[0]["coverage"]["lfs_missing"], 0)
        document = self.pull("--scope", "base")
        self.assertEqual([f["path"] for f in document["files"]], ["data/b.txt"])
        self.map(clone)
        self.assertEqual(self.pull(), {"files": [], "fetched": 0, "missing": 0, "bytes": 0,
                                       "error": None})

    def test_names_that_are_shown_escaped_are_fetched_and_mapped(self):
        """A byte that is no UTF-8, its escape as a name, and what patterns give a meaning to."""
        names = ["docs/\udcff.txt", "docs/\\xff.txt", "docs/\\x5c.txt", "docs/a\nb.txt", "docs/*.txt"]
        TEXTS.update({name: f"text of {name!r}\n" * 50 for name in names})
        self.addCleanup(lambda: [TEXTS.pop(name) for name in names])
        clone, _ = self.clone_without_content()
        count = len([name for name in TEXTS if name.startswith("docs/")])
        self.assertEqual(self.map(clone)["sources"][0]["coverage"]["lfs_missing"], count)
        document = self.pull("--scope", "base:docs")
        self.assertEqual((document["fetched"], document["missing"], document["error"]), (count, 0, None))
        row = self.map(clone)["sources"][0]
        self.assertEqual((row["status"], row["coverage"]["lfs_missing"]), ("remapped", 0))

    def test_what_was_fetched_meanwhile_is_not_fetched_again(self):
        clone, remote = self.clone_without_content()
        self.map(clone)
        self.git(clone, "lfs", "fetch")
        os.rename(remote, remote + ".gone")
        document = self.pull()
        self.assertEqual((document["fetched"], document["missing"]), (0, 0))
        self.assertTrue(all(f["present"] for f in document["files"]))

    def test_separate_storage_is_where_the_manifest_says(self):
        store = os.path.join(self.tmp, "store.git")
        clone, remote = self.clone_without_content({"mode": "separate",
                                                    "separate_url": f"file://{store}"})
        self.git(self.tmp, "init", "--quiet", "--bare", store)
        os.rename(os.path.join(remote, "lfs"), os.path.join(store, "lfs"))
        self.map(clone)
        self.assertEqual(self.status(clone)["lfs_mode"], "separate")
        self.assertEqual(self.pull()["fetched"], 3)
        self.assertEqual(self.here(clone), sorted(TEXTS))

    def test_disabled_lfs_fetches_nothing(self):
        clone, _ = self.clone_without_content({"mode": "disabled"})
        self.map(clone)
        document = self.pull(check=1)
        self.assertEqual((document["fetched"], document["missing"]), (0, 3))
        self.assertIn("disables LFS", document["error"])
        self.assertEqual(self.here(clone), [])

    def test_content_that_the_server_lost_is_reported_and_the_rest_fetched(self):
        clone, remote = self.clone_without_content()
        self.map(clone)
        oid = hashlib.sha256(TEXTS["docs/a.txt"].encode()).hexdigest()
        os.unlink(os.path.join(remote, "lfs/objects", oid[:2], oid[2:4], oid))
        document = self.pull(check=3)
        self.assertEqual((document["fetched"], document["missing"]), (2, 1))
        self.assertTrue(document["error"])

    def test_without_git_lfs_or_remote_it_says_what_to_do(self):
        clone, _ = self.clone_without_content()
        self.map(clone)
        document = self.pull(check=1, env={"PATH": self.tools("git", "sh")})
        self.assertIn("apt install git-lfs", document["error"])
        self.git(clone, "remote", "remove", "origin")
        self.assertIn("git remote add", self.pull(check=1)["error"])

    def test_one_repository_that_is_gone_does_not_stop_the_others(self):
        clone, remote = self.clone_without_content()
        self.map(clone)
        other = os.path.join(self.tmp, "other")
        self.git(self.tmp, "clone", "--quiet", remote, other)
        self.git(other, "remote", "set-url", "origin", remote + "/.")
        self.vcm("map", other, "--scope", "aaa", check=0)
        shutil.rmtree(other)
        document = self.pull(check=3)
        self.assertEqual(document["fetched"], 3)
        self.assertIn(other, document["error"])

    def test_a_clone_under_the_home_gets_its_content_too(self):
        _, remote = self.clone_without_content()
        document = self.vcm("map", f"file://{remote}", "--scope", "base", "--json", check=0).json()
        self.assertIn("clones", document["repo_root"])
        self.assertEqual(self.pull("--scope", "base:docs")["fetched"], 2)
        rows = self.vcm("map", f"file://{remote}", "--scope", "base", "--json", check=0).json()
        self.assertEqual([row["coverage"]["lfs_missing"] for row in rows["sources"]], [0, 1])

    def test_an_unknown_scope_is_not_found(self):
        self.assertEqual(self.pull("--scope", "nothing", check=1)["error"]["code"], "NOT_FOUND")
        self.assertEqual(self.pull()["files"], [])
        self.assertFalse(os.path.exists(self.home))
