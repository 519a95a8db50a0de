"""vcm show: the map with its defaults, its text, and a bounded tree."""

import os

from harness import Symlink
from repo_map import MAP, RepoMapTest, map_of

KEYS = ["path", "has_repo_map_file", "map", "raw", "tree", "tree_truncated"]
ROW = {"name": "default", "type": "git_repo", "origin_url": None, "submodule": None,
       "branch": "main", "commit": "HEAD", "start_dir": None, "include_globs": None,
       "exclude_globs": None, "binary_policy": "skip", "static": False,
       "chunk_target_tokens": None, "chunk_overlap_tokens": None, "flush_threshold": 20,
       "flush_token_budget": 4096, "pinned": False}


class Map(RepoMapTest):
    def test_without_a_file_the_default_row(self):
        repo = self.make_repo({"a": "1\n"})
        document = self.report("show", repo)
        self.assertEqual(document, {
            "path": os.path.join(repo, MAP), "has_repo_map_file": False,
            "map": {"schema_version": 1, "sources": [ROW], "knowledge_routing": []},
            "raw": None, "tree": None, "tree_truncated": False})
        self.assertEqual(list(document), KEYS)
        self.assertEqual(list(document["map"]["sources"][0]), list(ROW))
        self.assertIsNone(self.report("show", repo, "--raw")["raw"])

    def test_defaults_are_filled_in(self):
        repo = self.repo_with(map_of(
            "name: a, type: literature, start_dir: ./docs//x/, flush_threshold: 3",
            "name: b, type: git_repo, binary_policy: include, static: true, pinned: true, "
            "exclude_globs: ['*.o'], branch: dev, commit: v1",
            routes=["paths: [x]", "paths: [y], ingest_to: vcm, profile: p"]))
        shown = self.report("show", repo)["map"]
        self.assertEqual(shown, {
            "schema_version": 1,
            "sources": [{**ROW, "name": "a", "type": "literature", "start_dir": "docs/x",
                         "include_globs": ["**/*.pdf", "**/*.txt", "**/*.md"],
                         "binary_policy": "include", "chunk_target_tokens": 800,
                         "chunk_overlap_tokens": 80, "flush_threshold": 3},
                        {**ROW, "name": "b", "binary_policy": "include", "static": True,
                         "pinned": True, "exclude_globs": ["*.o"], "branch": "dev",
                         "commit": "v1"}],
            "knowledge_routing": [
                {"paths": ["x"], "ingest_to": "knowledge_base", "profile": None},
                {"paths": ["y"], "ingest_to": "vcm", "profile": "p"}]})

    def test_the_configuration_comes_before_the_schema(self):
        repo = self.repo_with(map_of("name: a, type: git_repo",
                                     "name: b, type: git_repo, flush_threshold: 3, pinned: false"))
        for key, value in [("flush_threshold", "9"), ("flush_token_budget", "2000"),
                           ("pinned", "true")]:
            self.vcm("config", "set", f"mmap.{key}", value, check=0)
        rows = self.report("show", repo)["map"]["sources"]
        self.assertEqual([(row["flush_threshold"], row["flush_token_budget"], row["pinned"])
                          for row in rows], [(9, 2000, True), (3, 2000, False)])

    def test_what_people_see_is_a_map_again(self):
        repo = self.repo_with(map_of(
            "name: a, type: git_repo, start_dir: 'x: y', include_globs: ['*.c', \"q'\\\"\"]",
            "name: b, type: literature", routes=["paths: ['\\#x', '!y']"]))
        text = self.vcm("show", repo, check=0).out
        expected = self.report("show", repo)["map"]
        self.set_map(repo, text)
        again = self.report("show", repo)["map"]
        self.assertEqual(again, expected)

    def test_credentials_stay_in_the_file(self):
        repo = self.repo_with(map_of("name: a, type: git_repo, "
                                     "origin_url: 'https://u:hunter2@example.com/x'"))
        for args in ([], ["--json"]):
            result = self.vcm("show", repo, *args, check=0)
            self.assertNotIn("hunter2", result.out + result.err)
            self.assertIn("https://example.com/x", result.out)

    def test_the_map_is_the_working_trees(self):
        repo = self.repo_with(map_of("name: a, type: git_repo"))
        self.set_map(repo, map_of("name: b, type: git_repo"))
        self.assertEqual(self.report("show", repo)["map"]["sources"][0]["name"], "b")
        bare = os.path.join(self.tmp, "bare.git")
        self.git(self.tmp, "clone", "--quiet", "--bare", repo, bare)
        self.assertEqual(self.report("show", bare)["map"]["sources"][0]["name"], "a")


class Raw(RepoMapTest):
    def test_byte_for_byte(self):
        repo = self.make_repo({"a": "1\n"})
        good = map_of("name: a, type: git_repo")
        for text in (good, "\ufeff" + good, good.replace("\n", "\r\n"), good.rstrip("\n"),
                     "# \u00fc \U0001f600 \x7f \t\n" + good + "\n\n", good + "# " + "x" * 200000):
            self.set_map(repo, text)
            self.assertEqual(self.vcm("show", repo, "--raw", check=0).out_bytes, text.encode())
            self.assertEqual(self.report("show", repo, "--raw")["raw"], text)

    def test_also_of_an_invalid_map(self):
        repo = self.make_repo({"a": "1\n"})
        for text in ("schema_version: [\n", "", "a\0b\n", "\t\n"):
            self.set_map(repo, text)
            self.assertEqual(self.vcm("show", repo, "--raw", check=0).out_bytes, text.encode())
            document = self.report("show", repo, "--raw", "--tree")
            self.assertEqual((document["has_repo_map_file"], document["map"], document["raw"]),
                             (True, None, text))
            self.assertEqual(document["tree"]["path"], ".")
            self.assertEqual(self.error_of("show", repo, check=2)["code"], "INVALID_REPO_MAP")
        self.set_map(repo, b"bad \xff\n")
        self.assertEqual(self.report("show", repo, "--raw")["raw"], "bad \ufffd\n")


class Tree(RepoMapTest):
    def tree(self, repo, *args):
        document = self.report("show", repo, "--tree", *args)
        return document["tree"], document["tree_truncated"]

    def paths(self, node):
        """Depth first, folders with a slash behind them."""
        self.assertEqual(list(node), ["path", "is_dir", "children"])
        if not node["is_dir"]:
            self.assertEqual(node["children"], [])
        yield node["path"] + ("/" if node["is_dir"] else "")
        for child in node["children"]:
            yield from self.paths(child)

    def test_folders_first_and_without_git(self):
        repo = self.make_repo({"z/a": "", "b/c/d": "", "A": "", "b.txt": "", "_": "", "b/a": "",
                               "\u00fc": ""})
        self.write(repo, {"untracked": "", "b/.git/x": "", ".gitignore": "*\n"})
        os.mkdir(os.path.join(repo, "empty"))
        tree, truncated = self.tree(repo)
        self.assertEqual(list(self.paths(tree)), [
            "./", "b/", "b/c/", "b/c/d", "b/a", "empty/", "z/", "z/a", ".gitignore", "A", "_",
            "b.txt", "untracked", "\u00fc"])
        self.assertFalse(truncated)
        lines = self.vcm("show", repo, "--tree", check=0).out.splitlines()
        self.assertEqual(lines[:4], ["./", "  b/", "    c/", "      d"])

    def test_the_depth_is_bounded(self):
        repo = self.make_repo({"/".join("abcdefghij") + "/file": "", "t": ""})
        for depth, deepest, cut in [(1, "a/", True), (2, "a/b/", True),
                                    (10, "/".join("abcdefghij") + "/", True),
                                    (11, "/".join("abcdefghij") + "/file", False)]:
            tree, truncated = self.tree(repo, "--max-depth", str(depth))
            self.assertEqual(max(list(self.paths(tree))[1:], key=len), deepest)
            self.assertEqual(truncated, cut, depth)
        self.assertEqual(max(self.paths(self.tree(repo)[0]), key=len), "a/b/c/d/e/f/g/h/")
        self.assertIn("--max-depth", self.vcm("show", repo, "--tree", check=0).out)
        for value in ("0", "-1", "x", "1000000"):
            self.vcm("show", repo, "--tree", "--max-depth", value, check=2)

    def test_the_number_of_nodes_is_bounded(self):
        repo = self.make_repo({f"d{i}/f{j:02}": "" for i in range(3) for j in range(20)})
        whole = list(self.paths(self.tree(repo)[0]))
        self.assertEqual(len(whole), 64)
        for most in (1, 2, 30, 63, 64, 65):
            tree, truncated = self.tree(repo, "--max-nodes", str(most))
            self.assertEqual(list(self.paths(tree)), whole[:most])
            self.assertEqual(truncated, most < 64)

    def test_links_are_not_followed(self):
        repo = self.make_repo({"d/loop": Symlink(".."), "self": Symlink("self"),
                               "out": Symlink("/"), "gone": Symlink("nowhere"), "d/x": ""})
        self.assertEqual(list(self.paths(self.tree(repo)[0])),
                         ["./", "d/", "d/loop", "d/x", "gone", "out", "self"])

    def test_odd_names(self):
        repo = self.make_repo({"a": ""})
        odd = [b"new\nline", b"bad\xff", b"esc\x1b[31m", b"quo\"te", b"back\\slash", b" sp "]
        for name in odd:
            with open(os.path.join(os.fsencode(repo), name), "wb"):
                pass
        self.assertEqual(sorted(self.paths(self.tree(repo)[0])),
                         sorted(["./", "a", "new\nline", "bad\\xff", "esc\x1b[31m", "quo\"te",
                                 "back\\slash", " sp "]))
        self.assertNotIn("\x1b", self.vcm("show", repo, "--tree", check=0).out)

    def test_a_directory_of_many_is_quick(self):
        repo = self.make_repo({"a": ""})
        for i in range(600):
            os.mkdir(os.path.join(repo, f"d{i}"))
        tree, truncated = self.tree(repo, "--max-nodes", "10")
        self.assertEqual((len(list(self.paths(tree))), truncated), (10, True))
        tree, truncated = self.tree(repo)
        self.assertEqual((len(list(self.paths(tree))), truncated), (602, False))
