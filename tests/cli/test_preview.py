"""vcm preview and map --dry-run: the mapping calls, and that map makes exactly these."""

import os

from repo_map import DEFAULTS, MAP, RepoMapTest, map_of

KEYS = ["origin_url", "branch", "commit", "base_scope_id", "has_repo_map_file", "sources",
        "knowledge_routing"]
CALL = ["scope_id", "source_type", "origin_url", "branch", "commit"]
ORIGIN = "https://example.com/org/tool.git"


class PreviewTest(RepoMapTest):
    def preview(self, *args, **options):
        return self.report("preview", *args, **options)

    def sources(self, *args, **options):
        return {row["name"]: row for row in self.preview(*args, **options)["sources"]}

    def calls(self, *args, **options):
        return {name: row.get("mmap_kwargs") for name, row in
                self.sources(*args, **options).items()}

    def head(self, repo, revision="HEAD"):
        return self.git(repo, "rev-parse", revision + "^{commit}")


class Document(PreviewTest):
    def test_the_keys_without_a_map(self):
        repo = self.make_repo({"a": "1\n"}, origin=ORIGIN)
        document = self.preview(repo)
        base = document["base_scope_id"]
        self.assertRegex(base, "^tool-[0-9a-f]{8}$")
        self.assertEqual(list(document), KEYS)
        commit = self.head(repo)
        self.assertEqual(document, {
            "origin_url": ORIGIN, "branch": "main", "commit": commit, "base_scope_id": base,
            "has_repo_map_file": False,
            "sources": [{"name": "default", "scope_id": base,
                         "mmap_kwargs": {"scope_id": base, "source_type": "git_repo",
                                         "origin_url": ORIGIN, "branch": "main",
                                         "commit": commit},
                         "config": DEFAULTS}],
            "knowledge_routing": []})
        self.assertEqual(list(document["sources"][0]),
                         ["name", "scope_id", "mmap_kwargs", "config"])
        self.assertEqual(list(document["sources"][0]["mmap_kwargs"]), CALL)
        self.assertEqual(list(document["sources"][0]["config"]), list(DEFAULTS))

    def test_a_call_has_exactly_what_the_row_sets_and_its_type_takes(self):
        everything = ("start_dir: src/, include_globs: ['*.c'], exclude_globs: ['x*'], "
                      "binary_policy: skip, static: true, chunk_target_tokens: 500, "
                      "chunk_overlap_tokens: 0, flush_threshold: 5, flush_token_budget: 64, "
                      "pinned: true")
        repo = self.repo_with(map_of(
            f"name: code, type: git_repo, {everything}",
            f"name: text, type: literature, {everything}",
            "name: bare, type: literature", "name: no, type: git_repo, static: false, "
            "exclude_globs: [], branch: main, commit: HEAD"), ["src/a.c"], origin=ORIGIN)
        rows = self.sources(repo, "--scope", "base")
        common = {"start_dir": "src", "include_globs": ["*.c"], "exclude_globs": ["x*"]}
        fixed = {"origin_url": ORIGIN, "branch": "main", "commit": self.head(repo)}
        self.assertEqual({name: row["mmap_kwargs"] for name, row in rows.items()}, {
            "code": {"scope_id": "base:code", "source_type": "git_repo", **fixed, **common,
                     "binary_policy": "skip", "static": True},
            "text": {"scope_id": "base:text", "source_type": "literature", **fixed, **common,
                     "static": True, "chunk_target_tokens": 500, "chunk_overlap_tokens": 0},
            "bare": {"scope_id": "base:bare", "source_type": "literature", **fixed},
            "no": {"scope_id": "base:no", "source_type": "git_repo", **fixed, "exclude_globs": [],
                   "static": False}})
        self.assertEqual(list(rows["code"]["mmap_kwargs"]),
                         [*CALL, *common, "binary_policy", "static"])
        own = {"flush_threshold": 5, "flush_token_budget": 64, "pinned": True}
        self.assertEqual([row["config"] for row in rows.values()],
                         [own, own, DEFAULTS, DEFAULTS])

    def test_routes_are_shown_with_their_files(self):
        repo = self.repo_with(map_of(routes=["paths: ['*.md'], profile: p",
                                             "paths: [docs/, a.md], ingest_to: vcm"]),
                              ["a.md", "docs/b.md", "docs/c"])
        document = self.preview(repo)
        self.assertEqual(document["knowledge_routing"], [
            {"paths": ["*.md"], "ingest_to": "knowledge_base", "profile": "p", "matched_files": 2},
            {"paths": ["docs/", "a.md"], "ingest_to": "vcm", "profile": None,
             "matched_files": 3}])
        self.assertEqual(document["sources"], [])

    def test_it_does_nothing(self):
        repo = self.repo_with(map_of("name: a, type: git_repo"), ["x"])
        before = sorted(os.walk(self.home))
        first = self.vcm("preview", repo, "--json", check=0)
        self.assertEqual(self.vcm("preview", repo, "--json", check=0).out, first.out)
        self.vcm("map", repo, "--dry-run", check=0)
        self.assertEqual(sorted(os.walk(self.home)), before)
        missing = os.path.join(self.tmp, "no-home")
        self.vcm("--home", missing, "preview", repo, check=0)
        self.assertFalse(os.path.exists(missing))

    def test_people_see_the_calls(self):
        repo = self.repo_with(map_of(
            "name: a, type: git_repo, start_dir: src, include_globs: ['*.c', '*.h'], pinned: true",
            "name: b, type: git_repo, submodule: nowhere"), ["src/a.c"])
        out = self.vcm("preview", repo, "--scope", "s", check=3).out
        for part in ("s:a", "*.c, *.h", self.head(repo), "NOT_FOUND", "nowhere", "pinned"):
            self.assertIn(part, out)
        self.assertIn("1 file\n", self.vcm("map", repo, "--dry-run", check=3).out)


class Scopes(PreviewTest):
    def test_the_only_row_called_default_has_the_base(self):
        for rows, expected in [
                (["name: default, type: git_repo"], ["s"]),
                (["name: other, type: git_repo"], ["s:other"]),
                (["name: default, type: git_repo", "name: b, type: git_repo"],
                 ["s:default", "s:b"])]:
            repo = self.repo_with(map_of(*rows), ["a"], name=f"r{self._commits}")
            self.assertEqual([row["scope_id"] for row in
                              self.preview(repo, "--scope", "s")["sources"]], expected)
        [row] = self.preview(repo, "--scope", "s", "--only", "default")["sources"]
        self.assertEqual(row["scope_id"], "s:default")

    def test_only_chooses_rows_in_the_order_of_the_file(self):
        repo = self.repo_with(map_of(*[f"name: {n}, type: git_repo" for n in "abc"]), ["x"])
        document = self.preview(repo, "--only", "c", "--only", "a")
        self.assertEqual([row["name"] for row in document["sources"]], ["a", "c"])
        for command in ("preview", "map"):
            error = self.error_of(command, repo, "--only", "a", "--only", "d", check=2)
            self.assertEqual(error["code"], "INVALID_ARGUMENT")
            self.assertIn("'d'", error["message"])

    def test_a_given_origin_names_the_base_without_its_credentials(self):
        repo = self.make_repo({"a": "1\n"})
        secret = "https://me:hunter2@example.com/org/tool.git"
        result = self.vcm("preview", repo, "--origin-url", secret, "--json", check=0)
        self.assertNotIn("hunter2", result.out + result.err)
        document = result.json()
        self.assertEqual(document["origin_url"], ORIGIN)
        self.assertEqual(document["sources"][0]["mmap_kwargs"]["origin_url"], ORIGIN)
        clone = self.make_repo({"b": "1\n"}, name="clone", origin=ORIGIN)
        self.assertEqual(self.preview(clone)["base_scope_id"], document["base_scope_id"])

    def test_bases_are_checked(self):
        repo = self.make_repo({"a": "1\n"})
        for name in ("", "a:b", "a/b", "n" * 129):
            error = self.error_of("preview", repo, f"--scope={name}", check=2)
            self.assertEqual(error["code"], "INVALID_ARGUMENT")


class Configuration(PreviewTest):
    def config_of(self, repo, *args, command="preview"):
        document = self.report(command, repo, *args)
        return {row["name"]: tuple(row["config"].values()) for row in document["sources"]}

    def test_a_row_wins_over_the_configuration_and_an_option_over_both(self):
        repo = self.repo_with(map_of("name: a, type: git_repo, flush_threshold: 7, pinned: false",
                                     "name: b, type: git_repo, flush_token_budget: 100",
                                     "name: c, type: git_repo"), ["x"])
        self.assertEqual(self.config_of(repo), {"a": (7, 4096, False), "b": (20, 100, False),
                                                "c": (20, 4096, False)})
        for key, value in [("flush_threshold", "9"), ("flush_token_budget", "2000"),
                           ("pinned", "true")]:
            self.vcm("config", "set", f"mmap.{key}", value, check=0)
        expected = {"a": (7, 2000, False), "b": (9, 100, True), "c": (9, 2000, True)}
        self.assertEqual(self.config_of(repo), expected)
        self.assertEqual(self.config_of(repo, "--dry-run", command="map"), expected)
        options = ["--flush-threshold", "3", "--flush-token-budget", "500", "--pinned"]
        self.assertEqual(self.config_of(repo, "--dry-run", *options, command="map"),
                         dict.fromkeys("abc", (3, 500, True)))
        self.map(repo)
        self.assertEqual({scope["name"]: (scope["flush_threshold"], scope["flush_token_budget"],
                                          scope["pinned"]) for scope in
                          self.report("scopes")["scopes"]}, expected)


class Revisions(PreviewTest):
    def setUp(self):
        super().setUp()
        self.repo = self.repo_with(map_of("name: old, type: git_repo"), ["a"])
        self.first = self.head(self.repo)
        self.git(self.repo, "tag", "-m", "x", "v1")
        self.git(self.repo, "branch", "side")
        self.second = self.commit(self.repo, {MAP: map_of("name: new, type: git_repo"),
                                              "b": "1\n"})

    def test_the_map_is_the_working_trees_unless_a_commit_is_named(self):
        self.set_map(self.repo, map_of("name: edited, type: git_repo"))
        for args, name, branch, commit in [
                ([], "edited", "main", self.second), (["--commit", "HEAD"], "new", "main",
                                                      self.second),
                (["--branch", "side"], "old", "side", self.first),
                (["--branch", "main"], "new", "main", self.second)]:
            document = self.preview(self.repo, *args)
            [row] = document["sources"]
            self.assertEqual((row["name"], document["branch"], document["commit"]),
                             (name, branch, commit), args)
            self.assertEqual(row["mmap_kwargs"]["commit"], commit)
        [row] = self.preview(self.repo, "--commit", "v1")["sources"]
        self.assertEqual((row["name"], row["mmap_kwargs"]["commit"]), ("old", self.first))

    def test_map_reads_the_commits_and_says_when_the_working_tree_differs(self):
        self.assertEqual(self.vcm("map", self.repo, check=0).err, "")
        self.set_map(self.repo, map_of("name: edited, type: git_repo"))
        result = self.vcm("map", self.repo, "--json", check=0)
        self.assertEqual([row["name"] for row in result.json()["sources"]], ["new"])
        self.assertEqual([MAP in line for line in result.err.splitlines()].count(True), 1)
        self.assertEqual(result.json()["worktree_changes"], 1)
        self.assertEqual(len(result.err.splitlines()), 2)  # the map, and that it is one file
        os.unlink(os.path.join(self.repo, MAP))
        self.assertIn(MAP, self.vcm("map", self.repo, check=0).err)
        document = self.report("map", self.repo, "--dry-run")
        self.assertEqual([row["name"] for row in document["sources"]], ["new"])
        self.set_map(self.repo, "no map at all\n")
        self.assertEqual(self.map(self.repo)["status"], "already_mapped")

    def test_the_rows_own_branch_and_commit_win(self):
        self.set_map(self.repo, map_of(
            "name: own, type: git_repo", "name: side, type: git_repo, branch: side",
            "name: main, type: git_repo, branch: main", "name: tag, type: git_repo, commit: v1",
            f"name: id, type: git_repo, commit: '{self.first[:12]}'",
            "name: head, type: git_repo, commit: HEAD"))
        self.commit(self.repo, {})
        head = self.head(self.repo)
        self.git(self.repo, "checkout", "--quiet", "-b", "work")
        work = self.commit(self.repo, {"c": "1\n"})
        expected = {"own": ("work", work), "side": ("side", self.first), "main": ("main", head),
                    "tag": ("work", self.first), "id": ("work", self.first),
                    "head": ("work", work)}
        for args in ([], ["--branch", "work"], ["--commit", work]):
            calls = self.calls(self.repo, *args)
            self.assertEqual({name: (call["branch"], call["commit"])
                              for name, call in calls.items()}, expected, args)
        mapped = self.map(self.repo)
        self.assertEqual({row["name"]: row["commit"] for row in mapped["sources"]},
                         {name: commit for name, (_, commit) in expected.items()})
        self.assertEqual([row["coverage"]["tracked"] for row in mapped["sources"]],
                         [4, 2, 3, 2, 2, 4])

    def test_a_detached_head_has_no_branch(self):
        self.git(self.repo, "checkout", "--quiet", "--detach", "HEAD")
        document = self.preview(self.repo)
        self.assertEqual((document["branch"], document["commit"]), (None, self.second))
        self.assertIsNone(document["sources"][0]["mmap_kwargs"]["branch"])

    def test_what_is_not_there(self):
        for args in (["--branch", "nope"], ["--commit", "nope"]):
            error = self.error_of("preview", self.repo, *args, check=1)
            self.assertEqual(error["code"], "NOT_FOUND")
            self.assertIn("nope", error["message"])
        unborn = os.path.join(self.tmp, "unborn")
        os.mkdir(unborn)
        self.git(unborn, "init", "--quiet")
        self.assertIn("commit", self.error_of("preview", unborn, check=1)["message"])

    def test_a_bare_repository(self):
        bare = os.path.join(self.tmp, "bare.git")
        self.git(self.tmp, "clone", "--quiet", "--bare", self.repo, bare)
        self.assertEqual(list(self.calls(bare)), ["new"])
        self.assertEqual(self.vcm("map", bare, check=0).err, "")


class Rows(PreviewTest):
    def test_a_row_that_cannot_be_resolved_has_its_error(self):
        bad = ["name: both, type: git_repo, origin_url: 'https://x.org/y', submodule: sub",
               "name: sub, type: git_repo, submodule: nowhere",
               "name: dir, type: git_repo, start_dir: nowhere",
               "name: file, type: git_repo, start_dir: a",
               "name: commit, type: git_repo, commit: nowhere",
               "name: branch, type: git_repo, branch: nowhere"]
        repo = self.repo_with(map_of("name: good, type: git_repo", *bad), ["a"])
        rows = self.sources(repo, check=3)
        codes = {"both": "INVALID_ARGUMENT", "sub": "NOT_FOUND", "dir": "NOT_FOUND",
                 "file": "NOT_FOUND", "commit": "NOT_FOUND", "branch": "NOT_FOUND"}
        for name, code in codes.items():
            self.assertEqual(list(rows[name]), ["name", "scope_id", "error", "config"])
            self.assertEqual(list(rows[name]["error"]), ["code", "message"])
            self.assertEqual(rows[name]["error"]["code"], code)
            self.assertNotIn("\n", rows[name]["error"]["message"])
            if name != "both":
                self.assertIn("a" if name == "file" else "nowhere", rows[name]["error"]["message"])
        self.assertNotIn("error", rows["good"])
        document = self.report("map", repo, "--dry-run", check=3)
        self.assertEqual([row["matched_files"] for row in document["sources"]],
                         [2] + [None] * 6)
        mapped = self.map(repo, check=3)
        self.assertEqual(mapped["status"], "partial")
        self.assertEqual({row["name"]: row["code"] for row in mapped["sources"]},
                         {"good": None, **codes})
        self.commit(repo, {MAP: map_of(*bad)})
        self.assertEqual(len(self.sources(repo, check=1)), 6)
        self.report("map", repo, "--dry-run", check=1)
        mapped = self.map(repo, check=1)
        self.assertEqual(mapped["status"], "error")
        # The rows that no map names any more go; those that failed have no scope to lose.
        self.assertEqual(mapped["unmapped"], [f"{mapped['base_scope_id']}:good"])
        self.sources(repo, "--only", "dir", check=1)

    def test_rows_of_other_repositories_are_as_written(self):
        repo = self.repo_with(map_of(
            "name: url, type: git_repo, origin_url: 'https://u:hunter2@example.com/x.git'",
            "name: at, type: git_repo, origin_url: 'git@example.com:x/y', branch: dev, "
            "commit: v1.2, start_dir: nowhere",
            "name: path, type: literature, origin_url: ../x"), ["a"])
        results = [self.vcm(*command, repo, check=status) for command, status in [
            (["preview", "--json"], 0), (["preview"], 0), (["show"], 0), (["show", "--json"], 0),
            (["check"], 0), (["map", "--dry-run", "--json"], 0), (["map"], 1),
            (["map", "--json"], 1)]]
        for result in results:
            self.assertNotIn("hunter2", result.out + result.err)
        rows = {row["name"]: row for row in results[0].json()["sources"]}
        self.assertEqual([(row["mmap_kwargs"]["origin_url"], row["mmap_kwargs"]["branch"],
                           row["mmap_kwargs"]["commit"]) for row in rows.values()],
                         [("https://example.com/x.git", "main", "HEAD"),
                          ("git@example.com:x/y", "dev", "v1.2"), ("../x", "main", "HEAD")])
        self.assertEqual([row["matched_files"] for row in results[5].json()["sources"]],
                         [None] * 3)


class Submodules(PreviewTest):
    def setUp(self):
        super().setUp()
        self.other = self.make_repo({"x.c": "1\n", "in/y.c": "2\n"}, name="other")

    def repo_with_submodule(self, origin=None, **options):
        repo = self.make_repo({"a": "1\n"}, origin=origin)
        return repo, self.add_submodule(repo, self.other, "vendor/lib", **options)

    def test_url_from_gitmodules_and_commit_from_the_tree(self):
        repo, commit = self.repo_with_submodule(name="it's \"a\" lib")
        newer = self.commit(self.other, {"new": "1\n"})
        self.git(os.path.join(repo, "vendor/lib"), "pull", "--quiet")
        self.set_map(repo, map_of(
            "name: lib, type: git_repo, submodule: vendor/lib, commit: v9, branch: dev",
            "name: slash, type: git_repo, submodule: vendor/lib/, start_dir: in"))
        calls = self.calls(repo)
        for name in ("lib", "slash"):
            self.assertEqual((calls[name]["origin_url"], calls[name]["commit"]),
                             (self.other, commit))
        self.assertNotEqual(newer, commit)
        self.assertEqual((calls["lib"]["branch"], calls["slash"]["branch"]), ("dev", "main"))
        self.commit(repo, {MAP: map_of("name: lib, type: git_repo, submodule: vendor/lib")})
        [row] = self.map(repo)["sources"]
        self.assertEqual((row["commit"], row["coverage"]["tracked"]), (newer, 3))
        [row] = self.map(repo, "--commit", "HEAD")["sources"]
        self.assertEqual(row["status"], "already_mapped")

    def test_relative_urls_go_by_the_origin(self):
        for origin, url, expected in [
                ("https://example.com/org/tool.git", "../lib.git",
                 "https://example.com/org/lib.git"),
                ("https://u:hunter2@example.com/org/tool", "../../else/lib",
                 "https://example.com/else/lib"),
                ("git@example.com:org/tool.git", "../lib", "git@example.com:org/lib"),
                ("https://example.com/org/tool", "./lib", "https://example.com/org/tool/lib"),
                (None, "../other", self.other)]:
            name = f"r{self._commits}"
            repo = self.make_repo({"a": "1\n"}, origin=origin, name=name)
            self.add_submodule(repo, self.other, "lib")
            self.git(repo, "config", "-f", ".gitmodules", "submodule.lib.url", url)
            self.commit(repo, {MAP: map_of("name: lib, type: git_repo, submodule: lib")})
            result = self.vcm("preview", repo, "--json", check=0)
            self.assertEqual(result.json()["sources"][0]["mmap_kwargs"]["origin_url"], expected)
            self.assertNotIn("hunter2", result.out)

    def test_credentials_in_gitmodules_are_not_printed(self):
        repo, _ = self.repo_with_submodule()
        self.git(repo, "config", "-f", ".gitmodules", "submodule.vendor/lib.url",
                 "https://me:hunter2@example.com/x")
        self.commit(repo, {MAP: map_of("name: lib, type: git_repo, submodule: vendor/lib")})
        outputs = [self.vcm(*command, repo) for command in (
            ["preview", "--json"], ["map", "--json"], ["map", "-v"], ["scopes", "--json"])]
        for result in outputs:
            self.assertNotIn("hunter2", result.out + result.err)
        self.assertEqual(outputs[0].json()["sources"][0]["mmap_kwargs"]["origin_url"],
                         "https://example.com/x")

    def test_one_that_is_not_here_is_read_where_its_url_leads(self):
        repo, commit = self.repo_with_submodule()
        self.commit(repo, {MAP: map_of("name: lib, type: git_repo, submodule: vendor/lib",
                                       "name: own, type: git_repo")})
        clone = os.path.join(self.tmp, "clone")
        self.git(self.tmp, "clone", "--quiet", repo, clone)
        calls = self.calls(clone)
        self.assertEqual((calls["lib"]["origin_url"], calls["lib"]["commit"]),
                         (self.other, commit))
        rows = {row["name"]: row for row in self.map(clone)["sources"]}
        self.assertEqual((rows["lib"]["code"], rows["lib"]["commit"]), (None, commit))
        os.rename(self.other, self.other + ".gone")
        rows = {row["name"]: row for row in self.map(clone, check=3)["sources"]}
        self.assertEqual((rows["lib"]["code"], rows["own"]["code"]), ("NOT_FOUND", None))

    def test_hostile_entries_are_refused(self):
        repo, commit = self.repo_with_submodule()
        for i, path in enumerate(["../out", "-x", "/abs", "a/../b"]):
            self.write(repo, {".gitmodules": f'[submodule "s"]\n\tpath = {path}\n\turl = x\n'})
            self.commit(repo, {MAP: map_of("name: s, type: git_repo, submodule: vendor/lib")})
            [row] = self.preview(repo, check=1)["sources"]
            self.assertIn("error", row, i)
        self.write(repo, {".gitmodules": '[submodule "s"]\n\tpath = vendor/lib\n\turl = -evil\n'})
        self.commit(repo, {})
        self.preview(repo, check=1)
        self.assertTrue(commit)


class DryRun(PreviewTest):
    def test_it_is_the_preview_with_counts(self):
        repo = self.repo_with(map_of("name: a, type: git_repo, include_globs: ['*.c']",
                                     "name: b, type: git_repo, origin_url: 'https://x.org/y'",
                                     routes=["paths: ['*.md']"]), ["a.c", "b.c", "c.md"])
        for args in ([], ["--scope", "s"], ["--only", "a"], ["--branch", "main"]):
            dry = self.report("map", repo, "--dry-run", *args)
            self.assertEqual(list(dry["sources"][0]),
                             ["name", "scope_id", "mmap_kwargs", "config", "matched_files"])
            counts = [row.pop("matched_files") for row in dry["sources"]]
            self.assertEqual(counts, [2, None][:len(counts)])
            self.assertEqual(dry, self.preview(repo, *args))
        self.assertEqual(self.report("scopes")["scopes"], [])

    def test_map_makes_the_calls_of_the_preview(self):
        repo = self.repo_with(map_of("name: a, type: git_repo, start_dir: x",
                                     "name: b, type: git_repo, commit: v1"), ["x/1", "y"])
        self.git(repo, "tag", "v1")
        self.commit(repo, {"x/2": "2\n"})
        previewed = self.preview(repo)
        mapped = self.map(repo)
        for key in ("origin_url", "branch", "commit", "base_scope_id"):
            self.assertEqual(mapped[key], previewed[key])
        self.assertEqual([(row["scope_id"], row["commit"]) for row in mapped["sources"]],
                         [(row["scope_id"], row["mmap_kwargs"]["commit"])
                          for row in previewed["sources"]])


class Remapping(PreviewTest):
    def statuses(self, document):
        return {row["name"]: row["status"] for row in document["sources"]}

    def scope_ids(self):
        return [scope["scope_id"] for scope in self.report("scopes")["scopes"]]

    def test_scopes_that_no_row_names_any_more_go(self):
        repo = self.repo_with(map_of("name: a, type: git_repo, start_dir: a",
                                     "name: b, type: git_repo, start_dir: b"),
                              ["a/1", "a/2", "b/1"])
        document = self.map(repo, "--scope", "s")
        self.assertEqual(self.statuses(document), {"a": "mapped", "b": "mapped"})
        self.assertEqual(self.scope_ids(), ["s:a", "s:b"])
        self.commit(repo, {MAP: map_of("name: b, type: git_repo, start_dir: b",
                                       "name: c, type: git_repo, start_dir: a")})
        document = self.map(repo, "--scope", "s", "--only", "c")
        self.assertEqual((self.statuses(document), document["unmapped"]), ({"c": "mapped"}, []))
        self.assertEqual(self.scope_ids(), ["s:a", "s:b", "s:c"])
        result = self.vcm("map", repo, "--scope", "s", check=0)
        self.assertIn("unmapped s:a", result.out)
        self.assertEqual(self.scope_ids(), ["s:b", "s:c"])
        self.assertEqual(self.map(repo, "--scope", "s")["unmapped"], [])

    def test_from_no_map_to_a_map_and_back(self):
        repo = self.make_repo({"a": "1\n"})
        self.map(repo, "--scope", "s")
        self.commit(repo, {MAP: map_of("name: x, type: git_repo", "name: y, type: git_repo")})
        self.assertEqual(self.map(repo, "--scope", "s")["unmapped"], ["s"])
        self.assertEqual(self.scope_ids(), ["s:x", "s:y"])
        self.commit(repo, {}, remove=[MAP])
        self.assertEqual(self.map(repo, "--scope", "s")["unmapped"], ["s:x", "s:y"])
        self.assertEqual(self.scope_ids(), ["s"])
        self.commit(repo, {MAP: "schema_version: 1\nsources: []\n"})
        document = self.map(repo, "--scope", "s")
        self.assertEqual((document["sources"], document["unmapped"]), ([], ["s"]))
        self.assertEqual(self.report("stat")["pages"]["total"], 0)

    def test_an_invalid_map_changes_nothing(self):
        repo = self.repo_with(map_of("name: a, type: git_repo"), ["x"])
        self.map(repo)
        before = self.scope_ids()
        self.commit(repo, {MAP: map_of("name: b, tipe: git_repo")})
        self.assertEqual(self.error_of("map", repo, check=2)["code"], "INVALID_REPO_MAP")
        self.assertEqual(self.scope_ids(), before)

    def test_a_changed_row_is_remapped_and_the_others_are_not(self):
        text = map_of("name: a, type: git_repo, start_dir: a", "name: b, type: git_repo")
        repo = self.repo_with(text, ["a/1.c", "a/2.h", "b"])
        self.map(repo)
        commit = self.head(repo)
        for change in ("exclude_globs: ['*.h']", "include_globs: ['*.c']", "flush_threshold: 1",
                       "flush_token_budget: 64", "pinned: true"):
            self.git(repo, "checkout", "--quiet", commit)
            self.map(repo, "--commit", commit)
            self.set_map(repo, text.replace("start_dir: a", f"start_dir: a, {change}"))
            self.git(repo, "add", "--all")
            changed = self.map(repo, "--commit", self.commit(repo, {}))
            self.assertEqual(self.statuses(changed), {"a": "remapped", "b": "remapped"})
            again = self.map(repo)
            self.assertEqual(self.statuses(again), {"a": "already_mapped", "b": "already_mapped"})

    def test_static_concerns_watch_alone(self):
        text = map_of("name: a, type: git_repo, static: true")
        repo = self.repo_with(text, ["x"])
        self.map(repo)
        commit = self.commit(repo, {"y": "1\n"})
        [row] = self.map(repo)["sources"]
        self.assertEqual((row["status"], row["commit"]), ("remapped", commit))
