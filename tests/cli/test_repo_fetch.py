"""`vcm repo fetch`: what is here, in 8 KiB, and never "empty" when it is not."""

import json
import os

from clones import CloneTest
from harness import Symlink


class RepoFetch(CloneTest):
    def fetch(self, *args, **options):
        result = self.vcm("repo", "fetch", *args, "--json", check=0, **options)
        self.assertLessEqual(len(result.out_bytes.rstrip(b"\n")), 8192)
        return result.json()

    def refusal(self, *args, code, check=1, **options):
        error = self.vcm("repo", "fetch", *args, "--json", check=check, **options).json()["error"]
        self.assertEqual(error["code"], code, error)
        return error["message"]

    def test_a_small_repository_is_told_whole(self):
        repo, url = self.remote_repo({
            "README.md": "# Tool\n", "Makefile": "all:\n", "src/a.c": "int a;\n", "LICENSE.txt": "x",
            "docs/guide.rst": "Guide\n", "pkg/web/package.json": "{}", "data.json": "{}"})
        found = self.fetch(url)
        self.assertEqual(found["tree"], sorted(found["tree"], key=str.encode))
        self.assertEqual(found["files"], 7)
        self.assertEqual((found["tree_total"], found["tree_truncated"]), (7, False))
        self.assertEqual(found["commit"], self.git(repo, "rev-parse", "HEAD"))
        self.assertEqual(found["readme"], {"path": "README.md", "content": "# Tool\n",
                                           "truncated": False})
        self.assertEqual(found["entrypoints"], [{"path": "Makefile", "kind": "build"},
                                                {"path": "pkg/web/package.json", "kind": "node"}])
        self.assertEqual(found["entrypoints_total"], 2)
        self.assertEqual(found["doc_hints"], ["README*", "docs/**/*.rst"])
        self.assertEqual(found["signals"], {
            "has_readme": True, "has_docs_dir": True, "has_code": True, "doc_file_count": 2,
            "code_file_count": 1, "sparse": False})
        self.assertEqual(found["clone_path"], self.clones()[0])

    def test_a_path_is_fetched_like_a_url(self):
        repo = self.make_repo({"a.py": "x = 1\n"}, name="a b%c")
        self.assertEqual(self.fetch(repo)["commit"], self.git(repo, "rev-parse", "HEAD"))
        self.assertEqual(self.fetch(".", cwd=repo)["files"], 1)

    def test_a_reused_clone_moves_to_the_upstream(self):
        repo, url = self.remote_repo({"a.c": "int a;\n"})
        first = self.fetch(url)
        commit = self.commit(repo, {"b.c": "int b;\n"})
        again = self.fetch(url)
        self.assertEqual((again["commit"], again["files"]), (commit, 2))
        self.assertEqual(again["clone_path"], first["clone_path"])
        self.assertEqual(self.fetch(url, "--ref", first["commit"])["files"], 1)

    def refs_of(self, clone):
        return self.git(clone, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags").split()

    def test_a_branch_that_was_rewound_and_forced_is_followed(self):
        repo, url = self.remote_repo({"a.c": "int a;\n"})
        self.commit(repo, {"b.c": "int b;\n"})
        self.fetch(url)
        self.git(repo, "reset", "--quiet", "--hard", "HEAD~1")
        self.assertEqual(self.fetch(url)["tree"], ["a.c"])
        forced = self.commit(repo, {"c.c": "int c;\n"})
        found = self.fetch(url)
        self.assertEqual((found["commit"], found["tree"]), (forced, ["a.c", "c.c"]))
        self.assertEqual(self.git(found["clone_path"], "rev-parse", "main"), forced)

    def test_a_branch_that_is_gone_is_gone_here_too(self):
        repo, url = self.remote_repo()
        self.git(repo, "branch", "topic")
        self.git(repo, "branch", "other")
        clone = self.fetch(url, "--ref", "topic")["clone_path"]
        self.fetch(url, "--ref", "other")
        self.assertEqual(self.git(clone, "rev-parse", "refs/heads/other"),
                         self.git(repo, "rev-parse", "HEAD"))
        self.git(repo, "branch", "-D", "other")
        self.fetch(url)
        self.assertNotIn("refs/heads/other", self.refs_of(clone))
        self.assertIn("refs/heads/topic", self.refs_of(clone))
        self.git(repo, "branch", "-D", "topic")
        self.refusal(url, "--ref", "topic", code="NOT_FOUND")
        self.assertEqual(self.refs_of(clone), ["refs/heads/main"])
        self.assertEqual(self.error_of("preview", url, "--branch", "topic", check=1)["code"],
                         "NOT_FOUND")

    def test_a_default_branch_of_another_name_is_followed(self):
        repo, url = self.remote_repo()
        clone = self.fetch(url)["clone_path"]
        self.git(repo, "branch", "-m", "main", "trunk")
        commit = self.commit(repo, {"new": "1\n"})
        self.assertEqual(self.fetch(url)["commit"], commit)
        self.assertEqual(self.git(clone, "symbolic-ref", "HEAD"), "refs/heads/trunk")
        self.assertEqual(self.refs_of(clone), ["refs/heads/trunk"])
        self.assertEqual(self.report("map", url)["branch"], "trunk")

    def test_tags_that_were_moved_are_followed(self):
        repo, url = self.remote_repo()
        self.git(repo, "tag", "light")
        self.git(repo, "tag", "-a", "-m", "x", "heavy")
        first = self.git(repo, "rev-parse", "HEAD")
        for tag in ("light", "heavy"):
            self.assertEqual(self.fetch(url, "--ref", tag)["commit"], first)
        second = self.commit(repo, {"new": "1\n"})
        self.git(repo, "tag", "-f", "light")
        self.git(repo, "tag", "-f", "-a", "-m", "y", "heavy")
        for tag in ("light", "heavy"):
            found = self.fetch(url, "--ref", tag)
            self.assertEqual(found["commit"], second)
            self.assertEqual(self.git(found["clone_path"], "rev-parse", tag + "^{commit}"), second)
        self.assertEqual(self.fetch(url, "--ref", first)["commit"], first)

    def test_an_upstream_may_be_filled_emptied_and_filled_again(self):
        repo = os.path.join(self.tmp, "srv", "new")
        os.makedirs(repo)
        self.git(repo, "init", "--quiet", "--initial-branch=main")
        url = "file://" + repo
        self.refusal(url, code="NOT_FOUND")
        first = self.commit(repo, {"a": "1\n"})
        clone = self.fetch(url)["clone_path"]
        self.git(repo, "update-ref", "-d", "refs/heads/main")
        self.assertIn("no commit", self.refusal(url, code="NOT_FOUND"))
        self.assertEqual(self.refs_of(clone), [])
        again = self.commit(repo, {"b": "2\n"})
        found = self.fetch(url)
        self.assertEqual((found["commit"], found["clone_path"]), (again, clone))
        self.assertEqual(self.fetch(url, "--ref", first)["tree"], ["a"])

    def test_an_upstream_that_was_packed_anew_is_followed(self):
        repo, url = self.remote_repo({f"f{i}.c": f"int v{i};\n" * 40 for i in range(30)})
        self.fetch(url)
        self.commit(repo, {"f1.c": "int other;\n"})
        self.git(repo, "repack", "-a", "-d", "-f", "-q")
        self.git(repo, "pack-refs", "--all")
        self.git(repo, "reflog", "expire", "--expire=now", "--all")
        self.git(repo, "gc", "--quiet", "--prune=now")
        found = self.fetch(url)
        self.assertEqual(self.git(found["clone_path"], "show", "HEAD:f1.c"), "int other;")
        self.git(found["clone_path"], "fsck", "--full")

    def test_the_main_readme_comes_before_translations_and_lesser_forms(self):
        for name, files, chosen in (
                ("a", ["README.de.md", "README.txt", "README"], "README.txt"),
                ("b", ["README.de.md", "README.en.md"], "README.en.md"),
                ("c", ["Readme.rst", "README.zh-CN.md", "sub/README.md"], "Readme.rst"),
                ("d", ["README.adoc", "readme.md", "README"], "readme.md")):
            _, url = self.remote_repo({file: "text\n" for file in files}, name=name)
            self.assertEqual(self.fetch(url)["readme"]["path"], chosen)

    def test_a_readme_that_is_a_link_is_followed_inside_the_tree(self):
        _, url = self.remote_repo({"README.md": Symlink("docs/index.md"), "docs/index.md": "here\n"})
        self.assertEqual(self.fetch(url)["readme"]["content"], "here\n")
        _, url = self.remote_repo({"README.md": Symlink("/etc/passwd"), "a": ""}, name="out")
        self.assertEqual(self.fetch(url)["readme"]["content"], "")

    def test_what_is_too_long_is_clipped_the_readme_first(self):
        _, url = self.remote_repo({"README.md": "ä" * 4000, "a.c": ""})
        readme = self.fetch(url)["readme"]
        self.assertTrue(readme["truncated"])
        self.assertEqual(readme["content"], "ä" * 2048)
        files = {f"src/{'d' * 20}{i:03}/{'f' * 20}.c": "" for i in range(200)}
        _, url = self.remote_repo({"README.md": "x" * 4000, **files}, name="wide")
        found = self.fetch(url)
        self.assertEqual((found["readme"]["content"], found["readme"]["truncated"]), ("", True))
        self.assertTrue(found["tree_truncated"])
        self.assertIn("README.md", found["tree"])

    def test_a_cut_tree_has_something_of_every_top_level_entry(self):
        files = {f"a/b/c/{i}.c": "" for i in range(400)}
        _, url = self.remote_repo({**files, "z/y/x/deep.c": "", "top.c": ""})
        found = self.fetch(url)
        self.assertEqual((len(found["tree"]), found["tree_total"]), (300, 402))
        self.assertIn("z/y/x/deep.c", found["tree"])
        self.assertIn("top.c", found["tree"])
        self.assertEqual(found["tree"], sorted(found["tree"]))

    def test_many_entry_points_are_forty_and_counted(self):
        _, url = self.remote_repo({**{f"p/{i}/go.mod": "" for i in range(60)}, "go.mod": ""})
        found = self.fetch(url)
        self.assertEqual((len(found["entrypoints"]), found["entrypoints_total"]), (40, 61))
        self.assertEqual(found["entrypoints"][0]["path"], "go.mod")

    def test_only_a_repository_with_nothing_to_work_from_is_sparse(self):
        _, url = self.remote_repo({"LICENSE": "x", "data.json": "{}"})
        found = self.fetch(url)
        self.assertEqual((found["signals"]["sparse"], found["readme"]), (True, None))
        _, url = self.remote_repo({"notes.txt": "x"}, name="notes")
        self.assertFalse(self.fetch(url)["signals"]["sparse"])

    def test_ten_thousand_entries_at_the_top_fit(self):
        repo = os.path.join(self.tmp, "srv", "wide")
        os.makedirs(repo)
        self.git(repo, "init", "--quiet", "--initial-branch=main")
        blob = self.git(repo, "hash-object", "-w", "--stdin", input="x\n")
        tree = self.git(repo, "mktree", input="".join(
            f"100644 blob {blob}\t{i:05}{'n' * 60}.c\n" for i in range(10000)))
        commit = self.git(repo, "commit-tree", "-m", "wide", tree)
        self.git(repo, "update-ref", "refs/heads/main", commit)
        found = self.fetch("file://" + repo)
        self.assertEqual((found["files"], found["tree_total"]), (10000, 10000))
        self.assertGreater(len(found["tree"]), 80)

    def test_long_and_hostile_names_do_not_take_the_place_of_others(self):
        hostile = "".join(chr(c) for c in (1, 2, 27, 31, 127)) * 40 + '"\\'
        long = "/".join(["x" * 250] * 15)
        _, url = self.remote_repo({
            f"{long}/deep.c": "", f"a{hostile}/README.md": "r", "src/a.c": "", "package.json": "{}",
            f"{'0' * 250}/{'1' * 250}/{'2' * 250}/go.mod": "", "z.txt": "z",
            b"b\xff\xfe".decode("utf-8", "surrogateescape") * 80: ""})
        found = self.fetch(url)
        self.assertEqual((found["files"], found["entrypoints_total"]), (7, 2))
        self.assertLessEqual({"src/a.c", "z.txt", "package.json"}, set(found["tree"]))
        self.assertEqual(found["entrypoints"][0]["path"], "package.json")
        self.assertFalse(found["signals"]["sparse"])

    def test_paths_that_are_too_long_themselves_are_not_cut(self):
        long = "/".join(["s" * 250] * 9)
        _, url = self.remote_repo({f"{long}/README.md": "r", "a": ""})
        found = self.fetch(url, "--subpath", long)
        self.assertEqual(found["readme"], {"path": f"{long}/README.md", "content": "r",
                                           "truncated": False})
        dest = os.path.join(self.tmp, *["\1" * 234] * 6)
        self.refusal(url, "--dest", dest, code="INVALID_ARGUMENT", check=2)
        dest = os.path.join(self.tmp, *["\1" * 200] * 5)
        found = self.fetch(url, "--subpath", long, "--dest", dest)
        self.assertEqual((found["readme"], found["signals"]["has_readme"]), (None, True))

    def test_a_subpath_is_described_as_if_it_were_the_root(self):
        _, url = self.remote_repo({"README.md": "top", "sub/README.md": "sub", "sub/x/a.c": ""})
        found = self.fetch(url, "--subpath", "sub")
        self.assertEqual(found["tree"], ["sub/README.md", "sub/x/a.c"])
        self.assertEqual(found["readme"]["content"], "sub")
        self.refusal(url, "--subpath", "gone", code="NOT_FOUND")
        self.refusal(url, "--subpath", "../x", code="INVALID_ARGUMENT", check=2)

    def test_dest_is_a_working_copy_that_keeps_what_its_owner_changed(self):
        repo, url = self.remote_repo({"a.c": "one\n", "sub/b.c": "b\n"})
        dest = os.path.join(self.tmp, "out", "copy")
        self.assertEqual(self.fetch(url, "--dest", dest)["clone_path"], dest)
        with open(os.path.join(dest, "a.c")) as file:
            self.assertEqual(file.read(), "one\n")
        self.commit(repo, {"a.c": "two\n"})
        self.fetch(url, "--dest", dest)
        with open(os.path.join(dest, "a.c")) as file:
            self.assertEqual(file.read(), "two\n")
        self.write(dest, {"a.c": "mine\n"})
        self.commit(repo, {"a.c": "three\n"})
        message = self.refusal(url, "--dest", dest, code="INVALID_ARGUMENT", check=2)
        self.assertNotRegex(message, "error:|local changes|git checkout")
        with open(os.path.join(dest, "a.c")) as file:
            self.assertEqual(file.read(), "mine\n")
        other = os.path.join(self.tmp, "other")
        self.write(other, {"x": "x"})
        self.refusal(url, "--dest", other, code="INVALID_ARGUMENT", check=2)

    def test_failures_have_codes_and_not_gits_words(self):
        message = self.refusal("file:///nowhere/at/all", code="NOT_FOUND")
        self.assertNotIn("fatal", message)
        self.refusal(os.path.join(self.tmp, "gone"), code="NOT_FOUND")
        self.refusal(self.tmp, code="NOT_FOUND")
        self.refusal("ftp://127.0.0.1/x", code="INVALID_ARGUMENT", check=2)
        self.refusal("https://127.0.0.1:1/x", code="NETWORK_ERROR")
        _, url = self.remote_repo()
        self.refusal(url, "--ref", "gone", code="NOT_FOUND")
        empty = os.path.join(self.tmp, "empty")
        os.mkdir(empty)
        self.git(empty, "init", "--quiet")
        self.refusal("file://" + empty, code="NOT_FOUND")

    def test_equal_input_gives_equal_bytes_and_hostile_names_stay_json(self):
        _, url = self.remote_repo({b"\xff\x1b[31m.c".decode("utf-8", "surrogateescape"): "",
                                   "README.md": b"\xff\xfe\x00"})
        first = self.vcm("repo", "fetch", url, "--json", check=0)
        self.assertEqual(self.vcm("repo", "fetch", url, "--json", check=0).out_bytes,
                         first.out_bytes)
        self.assertEqual(json.loads(first.out)["signals"]["code_file_count"], 1)
        self.assertNotIn("\x1b[31m", self.vcm("repo", "fetch", url, tty=True).out)
