"""Trees that are small on disk and name more paths than any disk holds: every walk is bounded.

A bomb is ten trees, each of which names the next ten times: a thousand bytes, 10^10 paths. What is
compared is a message and what was written, never a time: a walk that has no bound does not end
before the harness gives up.
"""

import os
import unittest

import harness
import raw_git

LEVELS, ENTRIES = 10, 10

# Every command that walks a tree.
COMMANDS = [("map", "{repo}"), ("init", "--migrate-existing-to-lfs", "--dry-run", "{repo}"), ("check", "{repo}"),
            ("symbols", "{repo}"), ("refs", "x", "{repo}"), ("repo", "map", "{repo}"),
            ("lfs", "status", "{repo}"), ("repo", "fetch", "{repo}"),
            ("repo", "fetch", "--subpath", "d0", "{repo}"),
            ("repo", "fetch", "--dest", "{dest}", "{repo}")]


class TreeBomb(harness.VcmTest):
    def make_bomb(self, levels=LEVELS):
        repo = raw_git.Repository(self, "bomb")
        self.git(repo.path, "config", "user.name", "A Tester")
        self.git(repo.path, "config", "user.email", "tester@example.com")
        inner = repo.blob(b"int x;\n")
        for level in range(levels):
            mode, letter = (b"40000", b"d") if level else (b"100644", b"f")
            inner = repo.tree([(mode, letter + b"%d" % i, inner) for i in range(ENTRIES)])
        rows = repo.blob(b"schema_version: 1\nsources:\n  - name: all\n    type: git_repo\n"
                         b"    include_globs: ['*.c']\n")
        settings = repo.tree([(b"100644", b"repo_map.yaml", rows)])
        repo.set_head(repo.commit(repo.tree(
            [(b"40000", b".colony", settings), (b"40000", b"d0", inner)])))
        return repo.path

    def command(self, words, repo):
        return [word.format(repo=repo, dest=os.path.join(self.tmp, "dest")) for word in words]

    def bytes_below(self, folder):
        return sum(os.lstat(os.path.join(where, name)).st_blocks * 512
                   for where, _, names in os.walk(folder) for name in names)

    def test_every_walk_refuses_a_bomb_and_says_how_to_allow_it(self):
        repo = self.make_bomb()
        for words in COMMANDS:
            with self.subTest(command=words[:2]):
                result = self.vcm(*self.command(words, repo))
                self.assertEqual(result.status, 1, result)
                self.assertIn("walk.max_entries", result.out + result.err)
                self.assertIn("5000000", result.out + result.err)
        self.assertFalse(os.path.exists(os.path.join(self.tmp, "dest", "d0")))
        # What was mapped before the bomb was noticed is little.
        self.assertLess(self.bytes_below(self.home), 32 << 20)
        self.vcm("verify", check=0)
        self.assertEqual(self.vcm("scopes", "--json", check=0).json()["scopes"], [])

    def test_the_bound_holds_for_trees_that_share_nothing_too(self):
        repo = self.make_repo({f"d{i}/f{j}.c": f"int x{i}_{j};\n"
                               for i in range(10) for j in range(10)})
        self.vcm("config", "set", "walk.max_entries", "100", check=0)
        for words in COMMANDS:
            if "--subpath" in words or words[0] == "init":  # has no such path; counts from 10000 on
                continue
            with self.subTest(command=words[:2]):
                result = self.vcm(*self.command(words, repo))
                self.assertEqual(result.status, 1, result)
                self.assertIn("walk.max_entries", result.out + result.err)
        self.vcm("config", "set", "walk.max_entries", "111", check=0)
        self.vcm("map", repo, check=0)
        self.vcm("symbols", repo, check=0)

    def test_a_tree_that_is_shared_often_but_not_too_often_is_mapped(self):
        repo = self.make_bomb(levels=4)
        mapped = self.vcm("map", repo, "--json", check=0).json()
        self.assertEqual(mapped["sources"][0]["coverage"]["excluded"], 10 ** 4 + 1)

    def test_the_time_limit_of_a_fetch_holds_for_its_description(self):
        repo = self.make_bomb(levels=7)
        commit = self.git(repo, "rev-parse", "HEAD")
        self.vcm("repo", "fetch", repo, "--ref", commit, check=1)  # fetched, and not described
        self.vcm("config", "set", "walk.max_entries", "100000000", check=0)
        late = self.vcm("repo", "fetch", repo, "--ref", commit, "--timeout", "1s", "--json")
        self.assertEqual(late.json()["error"]["code"], "TIMEOUT", late)
        self.assertIn("not described within the time limit", late.json()["error"]["message"])

    def test_deep_directories_cannot_make_gigabytes_of_paths(self):
        repo = raw_git.Repository(self, "deep")
        blob = repo.blob(b"int x;\n")
        tree = repo.tree([(b"100644", b"f%03d" % i, blob) for i in range(1000)])
        for _ in range(1000):
            tree = repo.tree([(b"40000", b"d" * 200, tree)])
        repo.set_head(repo.commit(tree))
        self.vcm("config", "set", "walk.max_entries", "100000", check=0)
        refused = self.vcm("symbols", repo.path, check=1)
        self.assertIn("walk.max_entries", refused.err)


if __name__ == "__main__":
    unittest.main()
