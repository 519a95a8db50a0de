"""The working tree: what map says of it, and what map --worktree makes of it."""

import os
import subprocess
import unittest

from paging import PagingTest
from repo_map import MAP, map_of

LONG = "".join(f"line {i} of a file that is long enough for a page of its own\n" for i in range(300))


class Worktree(PagingTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({"src/a.txt": LONG, "src/b.txt": LONG.upper(), "c.txt": "c\n",
                                    ".gitignore": "*.o\n"})

    def change(self):
        self.write(self.repo, {"src/a.txt": "changed\n" + LONG, "new.txt": "new\n", "x.o": "no\n"})
        os.unlink(os.path.join(self.repo, "c.txt"))

    def map_worktree(self, *words, check=0):
        return self.vcm("map", self.repo, "--scope", "s", "--worktree", "--json", *words,
                        check=check).json()

    def pages(self, scope):
        return self.vcm("pages", "--scope", scope, "--json", check=0).json()["pages"]

    def tree_by_git(self):
        objects = os.path.join(self.tmp, "objects")
        os.makedirs(objects, exist_ok=True)
        env = dict(os.environ, GIT_INDEX_FILE=os.path.join(self.tmp, "index"),
                   GIT_OBJECT_DIRECTORY=objects,
                   GIT_ALTERNATE_OBJECT_DIRECTORIES=os.path.join(self.repo, ".git/objects"))
        subprocess.run(["cp", os.path.join(self.repo, ".git/index"), env["GIT_INDEX_FILE"]],
                       check=True)
        subprocess.run(["git", "-C", self.repo, "add", "--all"], env=env, check=True)
        return subprocess.run(["git", "-C", self.repo, "write-tree"], env=env, check=True,
                              capture_output=True, text=True).stdout.strip()

    def objects(self):
        return self.git(self.repo, "count-objects", "-v")

    def test_map_counts_what_it_does_not_map_and_says_so(self):
        clean = self.vcm("map", self.repo, "--scope", "s", "--json", check=0)
        self.assertEqual((clean.json()["worktree_changes"], clean.err), (0, ""))
        self.change()
        result = self.vcm("map", self.repo, "--scope", "s", "--json", check=0)
        self.assertEqual(result.json()["worktree_changes"], 3)
        self.assertEqual(result.json()["status"], "already_mapped")
        self.assertIn("3 files of the working tree differ", result.err)
        self.assertIn("'vcm map --worktree'", result.err)
        self.assertEqual(result.err.count("\n"), 1)
        self.git(self.repo, "add", "--all")
        self.git(self.repo, "commit", "-q", "-m", "all")
        self.assertEqual(self.vcm("map", self.repo, "--scope", "s", "--json",
                                  check=0).json()["worktree_changes"], 0)
        # Another commit than HEAD is what the files are compared with.
        self.assertEqual(self.vcm("map", self.repo, "--scope", "t", "--commit", "HEAD~1", "--json",
                                  check=0).json()["worktree_changes"], 3)

    def test_no_working_tree_has_no_changes(self):
        bare = os.path.join(self.tmp, "bare.git")
        self.git(self.repo, "clone", "-q", "--bare", self.repo, bare)
        self.assertIsNone(self.vcm("map", bare, "--json", check=0).json()["worktree_changes"])
        error = self.vcm("map", bare, "--worktree", "--json", check=1).json()["error"]
        self.assertEqual(error["code"], "UNSUPPORTED")
        self.assertIn("bare", error["message"])

    def test_the_working_tree_has_a_scope_of_its_own(self):
        self.vcm("map", self.repo, "--scope", "s", check=0)
        before = self.pages("s")
        self.change()
        objects = self.objects()
        result = self.map_worktree()
        self.assertEqual((result["commit"], result["status"]), (None, "mapped"))
        self.assertEqual(result["worktree_changes"], 3)
        row = result["sources"][0]
        self.assertEqual((row["scope_id"], row["commit"]), ("s@worktree", None))
        self.assertEqual(row["tree"], self.tree_by_git())
        self.assertEqual(result["tree"], row["tree"])
        self.assertEqual(self.objects(), objects)
        paths = {path for page in self.pages("s@worktree") for path in page["files"]}
        self.assertEqual(paths, {".gitignore", "new.txt", "src/a.txt", "src/b.txt"})
        self.assertEqual(self.map_worktree()["status"], "already_mapped")
        # A map of the commit leaves it alone, and the reverse.
        self.assertEqual(self.vcm("map", self.repo, "--scope", "s", "--json",
                                  check=0).json()["unmapped"], [])
        self.assertEqual([p["page_id"] for p in self.pages("s")],
                         [p["page_id"] for p in before])
        scopes = {s["scope_id"]: s for s in self.vcm("scopes", "--json", check=0).json()["scopes"]}
        self.assertEqual(scopes["s@worktree"]["tree"], row["tree"])
        self.assertIsNone(scopes["s@worktree"]["commit"])
        self.assertIsNone(scopes["s"]["tree"])
        self.vcm("unmap", "s@worktree", check=0)
        self.assertEqual(self.pages("s"), before)
        self.assertEqual([s["scope_id"] for s in
                          self.vcm("scopes", "--json", check=0).json()["scopes"]], ["s"])

    def test_text_that_is_in_no_object_is_not_evicted(self):
        self.change()
        self.map_worktree("--flush-token-budget", "512")
        pages = self.pages("s@worktree")
        volatile = {p["page_id"] for p in pages if p["volatile"]}
        self.assertTrue(volatile and len(volatile) < len(pages), pages)
        for page in pages:
            changed = {"src/a.txt", "new.txt"} & set(page["files"])
            self.assertEqual(page["volatile"], bool(changed), page)
        texts = {p["page_id"]: self.vcm("page", p["page_id"], "--json", check=0).json()
                 for p in pages}
        self.assertTrue(all(texts[p]["volatile"] for p in volatile))
        result = self.vcm("evict", "--scope", "s@worktree", "--to", "evicted", "--json", check=0)
        self.assertEqual({(p["page_id"], p["skipped"]) for p in result.json()["pages"]},
                         {(page, "volatile") for page in volatile})
        for page in self.pages("s@worktree"):
            self.assertEqual(page["state"],
                             "compressed" if page["page_id"] in volatile else "evicted")
        self.write(self.repo, {"src/a.txt": "nothing of it is left\n"})
        self.vcm("verify", "--deep", check=0)
        self.vcm("gc", check=0)
        for page, text in texts.items():
            self.assertEqual(self.vcm("page", page, "--json", check=0).json(), text)
        self.vcm("fault", *volatile, check=0)
        self.vcm("verify", check=0)

    def test_committing_the_same_text_gives_the_same_pages(self):
        self.change()
        self.map_worktree()
        pages = self.pages("s@worktree")
        self.git(self.repo, "add", "--all")
        self.git(self.repo, "commit", "-q", "-m", "all")
        row = self.vcm("map", self.repo, "--scope", "s", "--json", check=0).json()["sources"][0]
        self.assertEqual((row["pages_created"], row["pages_reused"]), (0, len(pages)))
        committed = self.pages("s")
        self.assertEqual([p["page_id"] for p in committed], [p["page_id"] for p in pages])
        self.assertFalse(any(p["volatile"] for p in committed))
        self.vcm("evict", "--scope", "s", "--to", "evicted", check=0)
        self.vcm("verify", "--deep", check=0)

    def test_volatile_pages_count_as_pinned(self):
        self.vcm("config", "set", "cache.capacity", "64KiB", check=0)
        self.write(self.repo, {f"big{i}.txt": f"{i} {LONG}" for i in range(6)})
        result = self.vcm("map", self.repo, "--scope", "s", "--worktree", "--json", check=1).json()
        self.assertEqual(result["sources"][0]["code"], "STORE_FULL")
        self.assertEqual(self.vcm("scopes", "--json", check=0).json()["scopes"], [])
        self.vcm("config", "set", "cache.capacity", "1MiB", check=0)
        self.map_worktree()
        error = self.vcm("config", "set", "cache.capacity", "64KiB", "--json", check=1).json()
        self.assertEqual(error["error"]["code"], "STORE_FULL")
        self.vcm("verify", check=0)
        self.vcm("unmap", "s@worktree", check=0)
        self.vcm("config", "set", "cache.capacity", "64KiB", check=0)
        self.vcm("verify", check=0)

    def test_a_lost_store_does_not_bring_it_back(self):
        self.vcm("map", self.repo, "--scope", "s", check=0)
        self.change()
        self.map_worktree()
        os.unlink(self.data_file())
        other = self.make_repo({"o.txt": "o\n"}, name="other")
        result = self.vcm("map", other, check=0)
        self.assertIn("scope 's@worktree' held a working tree and is not mapped anew", result.err)
        scopes = [s["scope_id"] for s in self.vcm("scopes", "--json", check=0).json()["scopes"]]
        self.assertIn("s", scopes)
        self.assertNotIn("s@worktree", scopes)
        self.assertNotIn("worktree", self.vcm("map", other, check=0).err)
        self.vcm("verify", check=0)

    def test_the_map_of_the_working_tree_decides(self):
        self.write(self.repo, {MAP: map_of("name: code, type: git_repo, start_dir: src",
                                           "name: old, type: git_repo, branch: main")})
        result = self.map_worktree()
        self.assertEqual([row["scope_id"] for row in result["sources"]], ["s:code@worktree"])
        error = self.map_worktree("--only", "old", check=1)["sources"][0]
        self.assertEqual(error["code"], "INVALID_ARGUMENT")

    def test_what_does_not_go_together_is_refused(self):
        for words in (["--commit", "HEAD"], ["--branch", "main"], ["--watch"], ["--dry-run"]):
            result = self.vcm("map", self.repo, "--worktree", "--json", *words, check=2)
            self.assertEqual(result.json()["error"]["code"], "INVALID_ARGUMENT", words)

    def test_symbols_and_references_of_the_working_tree(self):
        repo = self.make_repo({"a.c": "int old_name(void)\n{\n    return 1;\n}\n"}, name="code")
        self.write(repo, {"a.c": "int new_name(void)\n{\n    return 1;\n}\n",
                          "b.c": "int new_name(void);\nint use(void)\n{\n    return new_name();\n}\n"})
        for words, there in (((), "old_name"), (("--worktree",), "new_name")):
            found = self.vcm("symbols", repo, "--kind", "function", "--json", *words,
                             check=0).json()
            self.assertIn(there, [s["name"] for s in found["symbols"]])
            self.assertEqual(found["commit"] is None, bool(words))
            refs = self.vcm("refs", "new_name", repo, "--json", *words, check=0).json()
            self.assertEqual([r["file_path"] for r in refs["references"]],
                             ["b.c"] if words else [])
            shown = self.vcm("repo", "map", repo, "--format", "json", *words, check=0).json()
            self.assertIn(there, shown["map"])

    def test_remapping_follows_the_files(self):
        self.change()
        self.map_worktree()
        for i in range(4):
            self.write(self.repo, {"src/b.txt": f"{i}\n" + LONG, f"n{i}.txt": f"{i}\n"})
            result = self.map_worktree()
            self.assertEqual(result["sources"][0]["status"], "remapped")
            self.assertEqual(result["tree"], self.tree_by_git())
        self.vcm("pin", "s@worktree", check=0)
        self.vcm("unpin", "s@worktree", check=0)
        self.assertTrue(any(p["volatile"] for p in self.pages("s@worktree")))
        self.vcm("verify", "--deep", check=0)


if __name__ == "__main__":
    unittest.main()
