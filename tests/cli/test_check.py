"""vcm check: every error with its place, the lint, and counts against those of git."""

import os
import random
import subprocess
import time

from harness import Executable, Symlink
from repo_map import MAP, RepoMapTest, map_of

KEYS = ["path", "has_repo_map_file", "ok", "errors", "warnings", "sources", "knowledge_routing",
        "unmapped_files"]
OWN = "name: code, type: git_repo"


class CheckTest(RepoMapTest):
    def check_map(self, text, *files, check=0, **options):
        repo = self.repo_with(text, files, name=f"repo{self._commits}")
        return self.report("check", repo, *options.get("args", ()), check=check)

    def assert_problems(self, text, problems, *expected):
        """Each expected problem is (line, column, where, a part of the message). A column that is
        a text is where that stands in the line."""
        lines = text.split("\n")
        places = [(p["line"], p["column"], p["where"]) for p in problems]
        self.assertEqual(places, [
            (line, lines[line - 1].index(at) + 1 if isinstance(at, str) else at, where)
            for line, at, where, _ in expected], problems)
        for problem, (*_, part) in zip(problems, expected):
            self.assertEqual(list(problem), ["line", "column", "where", "message"])
            self.assertIn(part, problem["message"])
            self.assertNotIn("\n", problem["message"])

    def errors(self, text, *expected):
        self.set_map(self.repo, text)
        document = self.report("check", self.repo, check=2)
        self.assertEqual((document["ok"], document["sources"]), (False, []))
        self.assertIsNone(document["unmapped_files"])
        self.assert_problems(text, document["errors"], *expected)

    def warnings(self, document, *expected):
        self.assertEqual((document["ok"], document["errors"]), (True, []))
        with open(document["path"], encoding="utf-8") as file:
            self.assert_problems(file.read(), document["warnings"], *expected)

    def matched(self, document):
        return {row["name"]: row["matched_files"] for row in document["sources"]}


class Document(CheckTest):
    def test_the_keys_of_a_valid_map(self):
        text = map_of(OWN, "name: docs, type: literature, start_dir: docs/",
                      "name: far, type: git_repo, origin_url: 'https://example.com/x'",
                      routes=["paths: ['docs/*.md', '*.txt'], profile: notes",
                              "paths: [docs/]"])
        repo = self.repo_with(text, ["a.c", "docs/a.md", "docs/b.c", "n.txt"])
        result = self.vcm("check", repo, "--json", check=0)
        document = result.json()
        self.assertEqual(document, {
            "path": os.path.join(repo, MAP), "has_repo_map_file": True, "ok": True, "errors": [],
            "warnings": [],
            "sources": [{"name": "code", "type": "git_repo", "matched_files": 5},
                        {"name": "docs", "type": "literature", "matched_files": 1},
                        {"name": "far", "type": "git_repo", "matched_files": None}],
            "knowledge_routing": [
                {"paths": ["docs/*.md", "*.txt"], "ingest_to": "knowledge_base",
                 "profile": "notes", "matched_files": 2},
                {"paths": ["docs/"], "ingest_to": "knowledge_base", "profile": None,
                 "matched_files": 2}],
            "unmapped_files": 0})
        self.assertEqual(list(document), KEYS)
        self.assertEqual([list(row) for row in document["sources"]],
                         [["name", "type", "matched_files"]] * 3)
        self.assertEqual([list(row) for row in document["knowledge_routing"]],
                         [["paths", "ingest_to", "profile", "matched_files"]] * 2)
        self.assertEqual(result.out, self.vcm("check", repo, "--json", check=0).out)
        self.assertFalse(os.path.exists(os.path.join(self.home, "store")))

    def test_without_a_file_the_whole_tree_is_one_row(self):
        repo = self.make_repo({"a": "1\n", "b/c": "2\n", "link": Symlink("a"),
                               "run": Executable(b"#!\n")})
        document = self.report("check", os.path.join(repo, "b"))
        self.assertEqual((document["has_repo_map_file"], document["ok"]), (False, True))
        self.assertEqual(document["path"], os.path.join(repo, MAP))
        self.assertEqual(document["sources"],
                         [{"name": "default", "type": "git_repo", "matched_files": 3}])
        self.assertEqual((document["knowledge_routing"], document["unmapped_files"]), ([], 0))
        self.assertIn("there is no", self.vcm("check", repo, check=0).out)

    def test_no_rows_and_no_routes_leave_everything_unmapped(self):
        document = self.check_map("schema_version: 1\nsources: []\n", "a", "b")
        self.assertEqual((document["sources"], document["unmapped_files"]), ([], 3))
        document = self.check_map("schema_version: 1\nsources: []\nknowledge_routing: []\n", "a")
        self.assertEqual(document["unmapped_files"], 2)

    def test_people_see_places_and_counts(self):
        repo = self.repo_with(map_of(OWN + ", start_dir: src, include_globs: ['*.c', '*.cc']"),
                              ["src/a.c", "b"])
        result = self.vcm("check", repo, check=0)
        self.assertIn(f"{repo}/{MAP}:3:73: warning: sources[0].include_globs[1]: '*.cc' matches "
                      "nothing\n", result.out)
        self.assertIn("2 files are not mapped", result.out)
        self.assertEqual(result.err, "")
        quiet = self.vcm("check", repo, "-q", check=0).out
        self.assertEqual(len(quiet.splitlines()), 1)


class Errors(CheckTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({"a": "1\n"})

    def test_three_misspellings_are_three_messages(self):
        text = ("schema_version: 1\nsources:\n  - nmae: code\n    type: git-repo\n"
                "knowledge_routng: []\n")
        self.errors(text, (3, 5, "sources[0].name", "missing"),
                    (3, 5, "sources[0].nmae", "did you mean 'name'?"),
                    (4, 11, "sources[0].type", "did you mean 'git_repo'? known: git_repo, "
                                               "literature"),
                    (5, 1, "knowledge_routng", "did you mean 'knowledge_routing'?"))
        result = self.vcm("check", self.repo, check=2)
        self.assertEqual([line.split(" ")[0] for line in result.out.splitlines()],
                         [f"{self.repo}/{MAP}:{place}:" for place in ("3:5", "3:5", "4:11", "5:1")])
        for command in ("preview", "show"):
            error = self.error_of(command, self.repo, check=2)
            self.assertEqual(error["code"], "INVALID_REPO_MAP")
            self.assertEqual(len(error["details"]["problems"]), 4)
            self.assertIn(f"{MAP}:3:5: ", error["message"])
            self.assertEqual(len(self.vcm(command, self.repo, check=2).err.splitlines()), 1)

    def test_the_top_level(self):
        self.errors("sources: []\n", (1, 1, "schema_version", "missing"))
        self.errors("schema_version: 1\n", (1, 1, "sources", "missing"))
        self.errors("schema_version: 2\nsources: []\n", (1, 17, "schema_version", "must be 1"))
        self.errors("schema_version: '1'\nsources: []\n", (1, 17, "schema_version", "integer"))
        self.errors("schema_version: 1\nsources:\n", (2, 9, "sources", "not null"))
        self.errors("schema_version: 1\nsources: {}\n", (2, 10, "sources", "a list"))
        self.errors("schema_version: 1\nsources: [x]\n", (2, 11, "sources[0]", "a mapping"))
        self.errors("schema_version: 1\nsources: []\nsources: []\n", (3, 1, "sources", "twice"))
        self.errors("- 1\n", (1, 1, "", "a mapping"))

    def test_each_field_of_a_source(self):
        cases = [
            ("name: 7", "quotes"), ("name: a b", "A-Z"), ("name: ''", "A-Z"),
            (f"name: {'n' * 129}", "1 to 128"), ("name: null", "not null"),
            ("type: git", "git_repo"), ("type: true", "quotes"),
            ("origin_url: ''", "empty"), ("origin_url: -x", "'-'"), ('origin_url: "a\\nb"', "line"),
            ("submodule: ../x", "'..'"), ("submodule: -x", "'-'"), ('submodule: "a\\rb"', ""),
            ("submodule: /x", ""), ("branch: 1.0", "quotes"), ("branch: -x", "'-'"),
            ("commit: 1234567", "quotes"), ("commit: 12e4", "quotes"), ("commit: null", "null"),
            ("start_dir: ../x", "'..'"), ("start_dir: a/../b", "'..'"), ("start_dir: /a", "'/'"),
            ("start_dir: [a]", "a string"), ("include_globs: []", "empty"),
            ("include_globs: '*.c'", "a list"), ("exclude_globs: null", "a list"),
            ("binary_policy: ignore", "skip, include"), ("static: 'yes'", "true or false"),
            ("static: yes", "true or false"), ("chunk_target_tokens: 0", "1 to"),
            ("chunk_target_tokens: 1.5", "an integer"), ("chunk_overlap_tokens: -1", "0 to"),
            ("flush_threshold: 0", "1 to"), ("flush_threshold: many", "an integer"),
            ("flush_token_budget: 63", "64 to"), ("pinned: 1", "true or false"),
            ("flush_threshold: 99999999999999999999", ""),
        ]
        known = {"name": "n", "type": "literature"}
        rows = []
        for i, (case, _) in enumerate(cases):
            row = {**known, "name": f"n{i}"}
            key, value = case.split(": ", 1)
            row.pop(key, None)
            rows.append(f"{key}: {value}, " + ", ".join(f"{k}: {v}" for k, v in row.items()))
        self.errors(map_of(*rows), *[
            (3 + i, case.split(": ", 1)[1], f"sources[{i}].{case.split(':')[0]}", part)
            for i, (case, part) in enumerate(cases)])

    def test_entries_of_lists_have_places_too(self):
        self.errors(map_of(OWN + ", include_globs: [a, 1, 'b[']"),
                    (3, "1, ", "sources[0].include_globs[1]", "quotes"),
                    (3, "'b['", "sources[0].include_globs[2]", "'['"))

    def test_an_overlap_must_be_less_than_its_target(self):
        for row, at, where, part in [
                ("chunk_target_tokens: 80, chunk_overlap_tokens: 80}", "80}",
                 "chunk_overlap_tokens", "(80)"),
                ("chunk_target_tokens: 50", "50", "chunk_target_tokens", "by default"),
                ("chunk_overlap_tokens: 800", "800", "chunk_overlap_tokens", "(800)")]:
            self.errors(map_of(f"name: a, type: literature, {row.rstrip('}')}"),
                        (3, at, f"sources[0].{where}", part))

    def test_each_field_of_a_route(self):
        self.errors(map_of(routes=["ingest_to: vcm", "paths: []", "paths: '*'",
                                   "paths: [a], ingest_to: kb", "paths: [a], profile: ''",
                                   "paths: [a], profile: 7", "paths: [a], name: x"]),
                    (4, 5, "knowledge_routing[0].paths", "missing"),
                    (5, 13, "knowledge_routing[1].paths", "empty"),
                    (6, 13, "knowledge_routing[2].paths", "a list"),
                    (7, 29, "knowledge_routing[3].ingest_to", "knowledge_base, vcm"),
                    (8, 27, "knowledge_routing[4].profile", "empty"),
                    (9, 27, "knowledge_routing[5].profile", "quotes"),
                    (10, 18, "knowledge_routing[6].name", "unknown key"))

    def test_names_are_unique(self):
        self.errors(map_of(OWN, "name: x, type: literature", OWN),
                    (5, "code", "sources[2].name", "line 3"))
        self.errors(map_of(OWN + ", name: other"), (3, "name: other", "sources[0].name", "twice"))

    def test_the_errors_of_a_thousand_rows_are_all_told(self):
        self.set_map(self.repo, map_of(*[f"name: n{i}, type: x" for i in range(900)]))
        document = self.report("check", self.repo, check=2)
        self.assertEqual([e["line"] for e in document["errors"]], list(range(3, 903)))

    def test_warnings_stand_beside_errors(self):
        text = map_of(OWN + ", chunk_target_tokens: 500", "name: x")
        self.set_map(self.repo, text)
        document = self.report("check", self.repo, check=2)
        self.assert_problems(text, document["errors"], (4, 5, "sources[1].type", "missing"))
        self.assert_problems(text, document["warnings"],
                             (3, "500", "sources[0].chunk_target_tokens", "literature"))


class HostileFiles(CheckTest):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({"a": "1\n"})

    def check_bytes(self, content, ok):
        self.set_map(self.repo, content)
        start = time.monotonic()
        document = self.report("check", self.repo, check=0 if ok else 2)
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual((document["ok"], document["has_repo_map_file"]), (ok, True))
        for error in document["errors"]:
            self.assertGreaterEqual(error["line"], 1)
            self.assertGreaterEqual(error["column"], 1)
            self.assertLess(len(error["message"]), 1000)
        if not ok:
            self.assertGreaterEqual(len(document["errors"]), 1)
            self.assertEqual(self.error_of("preview", self.repo, check=2)["code"],
                             "INVALID_REPO_MAP")
        return document

    def test_what_is_fine(self):
        good = map_of(OWN)
        for content in (good, "\ufeff" + good, good.replace("\n", "\r\n"), "# only\n---\n" + good,
                        good + "...\n", good.rstrip("\n"), "%YAML 1.2\n---\n" + good):
            self.check_bytes(content, True)

    def test_what_is_no_map(self):
        good = map_of(OWN).encode()
        for content in (b"", b"\n\n", b"# nothing\n", b"\xef\xbb\xbf", b"\0", good + b"\0",
                        good.replace(b"code", b"co\0de"), good + b"# \xe2\x82",
                        good.replace(b"code", b"co\xff"), b"\xff\xfe" + good,
                        "\ufeff".join(map_of(OWN)).encode("utf-16"),
                        b"schema_version: 1\n\tsources: []\n", b"null\n", b"{}\n", b"[]\n",
                        good + b"---\n" + good, good + b"...\n---\n{}\n",
                        b"schema_version: 1\nsources: [\n", b"\"" * 5000, b"{" * 5000):
            with self.subTest(content=content[:60]):
                self.check_bytes(content, False)

    def test_yaml_is_data(self):
        for text, word in [
                ("schema_version: &a 1\nsources: []\n", "anchor"),
                ("schema_version: 1\nsources: &a []\nknowledge_routing: *a\n", ""),
                ("schema_version: !!int 1\nsources: []\n", "tag"),
                ("schema_version: 1\nsources: !!python/object:os.system []\n", "tag"),
                ("schema_version: 1\nsources: [{<<: {name: a, type: git_repo}}]\n", ""),
                ("schema_version: 1\n? [a, b]\n: 1\nsources: []\n", "")]:
            with self.subTest(text=text):
                document = self.check_bytes(text, False)
                self.assertIn(word, document["errors"][0]["message"])

    def test_bombs(self):
        bomb = "a0: &a0 [x]\n" + "".join(
            f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
        for content in (bomb, "[" * 3000, "[" * 3000 + "]" * 3000, "{a: " * 3000, "- " * 3000,
                        "k" * (1 << 20), "k" * ((1 << 20) - 3) + ": 1", "x" * ((1 << 20) + 1),
                        "x" * (2 << 20),
                        "schema_version: 1\nsources: [" + "x," * 20000 + "]\n",
                        "a: b\n" * 9000, "- \n" * 300000, "? " * 100000, "!" * 100000,
                        "'" + "x\n\n" * 300000):
            with self.subTest(content=content[:40]):
                if len(content) > 1 << 20:
                    self.set_map(self.repo, content)
                    self.assertEqual(self.error_of("check", self.repo, check=2)["code"],
                                     "INVALID_REPO_MAP")
                else:
                    self.check_bytes(content, False)

    def test_what_is_no_file(self):
        os.makedirs(os.path.join(self.repo, MAP))
        self.assert_refused("directory")
        os.rmdir(os.path.join(self.repo, MAP))
        outside = os.path.join(self.tmp, "outside.yaml")
        self.write(self.tmp, {"outside.yaml": map_of(OWN)})
        for target in (outside, "../../outside.yaml", "../a", "/etc/passwd", "repo_map.yaml"):
            self.write(self.repo, {MAP: Symlink(target)})
            self.assert_refused("link")
        os.unlink(os.path.join(self.repo, MAP))
        os.mkfifo(os.path.join(self.repo, MAP))
        self.assert_refused("plain file")
        os.unlink(os.path.join(self.repo, MAP))
        os.rmdir(os.path.join(self.repo, ".colony"))
        self.write(self.tmp, {"elsewhere/repo_map.yaml": map_of(OWN)})
        os.symlink("../elsewhere", os.path.join(self.repo, ".colony"))
        self.assert_refused("link")

    def assert_refused(self, word):
        for command in ("check", "preview", "show"):
            error = self.error_of(command, self.repo, check=2)
            self.assertEqual(error["code"], "INVALID_REPO_MAP")
            self.assertIn(word, error["message"])
            self.assertIn(MAP, error["message"])

    def test_in_a_commit_too(self):
        self.commit(self.repo, {MAP: Symlink("../a")})
        self.assertIn("link", self.error_of("check", self.repo, "--commit", "HEAD",
                                            check=2)["message"])
        self.assertIn("link", self.error_of("map", self.repo, check=2)["message"])
        os.unlink(os.path.join(self.repo, MAP))
        self.commit(self.repo, {MAP + "/x": "1\n"})
        self.assertIn("directory", self.error_of("map", self.repo, check=2)["message"])

    def test_random_damage_is_answered(self):
        seed = 20240501
        rng = random.Random(seed)
        good = map_of(OWN + ", include_globs: ['*.c', \"x\"], pinned: true",
                      "name: b, type: literature, chunk_target_tokens: 500",
                      routes=["paths: ['docs/**'], ingest_to: vcm"]).encode()
        for i in range(25):
            damaged = bytearray(good)
            for _ in range(rng.randint(1, 6)):
                at = rng.randrange(len(damaged))
                damaged[at:at + rng.randint(0, 3)] = bytes(
                    rng.choice(b"{}[]:,-?&*!|>'\"%@` \n\t\r\0\xff#a0") for _ in range(
                        rng.randint(0, 3)))
            self.set_map(self.repo, bytes(damaged))
            status = self.vcm("check", self.repo, "--json").status
            self.assertIn(status, (0, 2), f"seed {seed} case {i}: {bytes(damaged)!r}")


class Lint(CheckTest):
    def test_a_glob_that_matches_nothing(self):
        text = map_of(OWN + ", start_dir: src, include_globs: ['*.c', 'src/*'], "
                            "exclude_globs: [build/, '*.o']",
                      routes=["paths: ['*.md', doc/]"])
        self.warnings(self.check_map(text, "src/a.c", "src/x.o", "docs/a.md"),
                      (3, "'src/*'", "sources[0].include_globs[1]", "'src/*' matches nothing"),
                      (3, "build/", "sources[0].exclude_globs[0]", "'build/' matches nothing"),
                      (5, "doc/", "knowledge_routing[0].paths[1]", "'doc/' matches nothing"))

    def test_a_field_of_another_type(self):
        text = map_of(OWN + ", chunk_target_tokens: 100, chunk_overlap_tokens: 200",
                      "name: b, type: literature, binary_policy: skip")
        self.warnings(self.check_map(text, "a.md"),
                      (3, "100", "sources[0].chunk_target_tokens", "'literature'"),
                      (3, "200", "sources[0].chunk_overlap_tokens", "'literature'"),
                      (4, "skip", "sources[1].binary_policy", "'git_repo'"))

    def test_a_vcm_route_that_no_literature_row_covers(self):
        routes = ["paths: ['docs/'], ingest_to: vcm"]
        self.warnings(self.check_map(map_of(OWN, routes=routes), "docs/a.md", "docs/b.md"),
                      (5, 5, "knowledge_routing[0]", "2 of 2 files"))
        some = map_of("name: l, type: literature, include_globs: [a.md]", routes=routes)
        self.warnings(self.check_map(some, "docs/a.md", "docs/b.md"),
                      (5, 5, "knowledge_routing[0]", "1 of 2 files"))
        covered = map_of("name: l, type: literature", routes=routes)
        self.warnings(self.check_map(covered, "docs/a.md", "docs/b.md"))

    def test_a_pinned_row_larger_than_a_quarter_of_the_cache(self):
        repo = self.repo_with(map_of("name: a, type: git_repo, start_dir: src, pinned: true",
                                     "name: b, type: git_repo, start_dir: src"),
                              {"src/big": "x" * 20000})
        self.warnings(self.report("check", repo))
        self.vcm("config", "set", "cache.capacity", "70KiB", check=0)
        self.warnings(self.report("check", repo),
                      (3, "true", "sources[0].pinned", "quarter"))
        self.vcm("config", "set", "mmap.pinned", "true", check=0)
        self.warnings(self.report("check", repo), (3, "true", "sources[0].pinned", "quarter"),
                      (4, 5, "sources[1].pinned", "quarter"))
        self.vcm("config", "set", "cache.capacity", "80000", check=0)
        self.warnings(self.report("check", repo))

    def test_a_start_dir_that_is_not_there(self):
        document = self.check_map(map_of(OWN + ", start_dir: srv, include_globs: [x]"), "src/a")
        self.warnings(document, (3, "srv", "sources[0].start_dir", "no directory"))
        self.assertEqual(document["unmapped_files"], 2)

    def test_only_the_lint_is_in_the_order_of_the_file(self):
        text = map_of(OWN + ", include_globs: ['nothing', '*.c'], chunk_target_tokens: 9000",
                      routes=["paths: [none]"])
        self.warnings(self.check_map(text, "a.c"),
                      (3, "'nothing'", "sources[0].include_globs[0]", ""),
                      (3, "9000", "sources[0].chunk_target_tokens", ""),
                      (5, "none", "knowledge_routing[0].paths[0]", ""))


class Counts(CheckTest):
    """Against git ls-files and git check-ignore."""

    FILES = ["Makefile", "README.md", "src/a.c", "src/a.h", "src/gen/x.c", "src/gen/keep.c",
             "src/deep/er/b.c", "docs/a.md", "docs/img/p.png", "docs/notes.txt", "build/out.o",
             "lib/build/z.c", "lib/log.txt", "t\u00e9st/\u00fc.c", "sp ace/a b.c", "[x]/y.c",
             "src/A.C", "src/.hidden", "deep/1/2/3/4/5/6.c"]
    IGNORES = {".gitignore": "/build/\n*.o\n# comment\n\nlog.*\n",
               "src/.gitignore": "gen/*\n!gen/keep.c\n", "docs/.colonyignore": "img\n",
               "lib/.colonyignore": "build/\n!/build\n"}

    def ignored(self, repo):
        """By git alone: .colonyignore stands in for .gitignore in a copy."""
        copy = os.path.join(self.tmp, "copy")
        subprocess.run(["cp", "-r", repo, copy], check=True)
        for folder, _, names in os.walk(copy):
            if ".colonyignore" in names:
                self.assertNotIn(".gitignore", names)
                os.rename(os.path.join(folder, ".colonyignore"),
                          os.path.join(folder, ".gitignore"))
        paths = self.git(repo, "ls-files", "-z")
        run = subprocess.run(["git", "check-ignore", "--no-index", "-z", "--stdin"], cwd=copy,
                             env=self.env, input=paths.encode(), capture_output=True, check=False)
        return set(run.stdout.decode().split("\0")) - {""}

    def matching(self, repo, patterns, paths, start=""):
        """Those of the paths that git would ignore by these patterns in start."""
        folder = os.path.join(self.tmp, f"match{len(os.listdir(self.tmp))}")
        self.git(self.tmp, "init", "--quiet", folder)
        self.write(folder, {".gitignore": "".join(p + "\n" for p in patterns)})
        below = {path[len(start):]: path for path in paths if path.startswith(start)}
        for path in below:
            self.write(folder, {path: ""})
        self.write(folder, {".gitignore": "".join(p + "\n" for p in patterns)})
        run = subprocess.run(["git", "check-ignore", "--no-index", "-z", "--stdin"], cwd=folder,
                             env=self.env, input="\0".join(below).encode(), capture_output=True,
                             check=False)
        return {below[path] for path in run.stdout.decode().split("\0") if path}

    def test_rows_routes_and_the_rest_against_git(self):
        rows = [
            ("all", "", None, []), ("src", "src/", ["*.c"], ["/deep"]),
            ("globs", "", ["/*", "!/docs/", "**/b.c"], ["*.md", "build/"]),
            ("docs", "docs/", None, ["img/"]), ("odd", "", ["[[]x]/", "*\u00fc*", "sp ace/"], []),
            ("deep", "deep/1", ["**/4/**"], [])]
        routes = [["*.md", "*.txt"], ["docs/**", "!docs/img/"], ["build"]]
        specs = []
        for name, start, include, exclude in rows:
            spec = f"name: {name}, type: git_repo"
            spec += f", start_dir: '{start}'" if start else ""
            spec += f", include_globs: {include!r}" if include else ""
            spec += f", exclude_globs: {exclude!r}" if exclude else ""
            specs.append(spec)
        files = {**{name: f"{name}\n" for name in self.FILES}, **self.IGNORES,
                 "link.c": Symlink("src/a.c")}
        text = map_of(*specs[1:], routes=[f"paths: {paths!r}" for paths in routes])
        repo = self.repo_with(text, files)
        document = self.report("check", repo)
        paths = set(self.git(repo, "ls-files", "-z").split("\0")) - {"", "link.c"}
        ignored = self.ignored(repo)
        self.assertIn("lib/log.txt", ignored)
        mapped = set()
        for name, start, include, exclude in rows[1:]:
            start = start.rstrip("/") + "/" if start else ""
            taken = {path for path in paths if path.startswith(start)}
            if include:
                taken &= self.matching(repo, include, paths, start)
            taken -= self.matching(repo, exclude, paths, start) | ignored
            self.assertEqual(self.matched(document)[name], len(taken), (name, sorted(taken)))
            mapped |= taken
        for route, patterns in zip(document["knowledge_routing"], routes):
            taken = self.matching(repo, patterns, paths)
            self.assertEqual(route["matched_files"], len(taken), (patterns, sorted(taken)))
            mapped |= taken
        self.assertEqual(document["unmapped_files"], len(paths - mapped), sorted(paths - mapped))
        self.set_map(repo, map_of(specs[0]))
        document = self.report("check", repo)
        self.assertEqual(self.matched(document), {"all": len(paths - ignored)})
        self.assertEqual(document["unmapped_files"], len(ignored))

    def test_a_map_counts_what_map_maps(self):
        files = {**{name: f"{name}\n" for name in self.FILES}, **self.IGNORES}
        repo = self.repo_with(map_of("name: src, type: git_repo, start_dir: src",
                                     "name: c, type: git_repo, include_globs: ['*.c'], "
                                     "exclude_globs: [deep/]"), files)
        matched = self.matched(self.report("check", repo))
        for row in self.map(repo)["sources"]:
            self.assertEqual(row["coverage"]["paged"], matched[row["name"]], row)
            self.assertGreater(row["coverage"]["ignored"], 0)

    def test_ignore_files_outside_the_tree_do_not_count(self):
        repo = self.repo_with(map_of(OWN), ["a.c"])
        self.write(repo, {".git/info/exclude": "*.c\n", ".gitignore": "*\n"})
        self.write(self.env["HOME"], {".gitconfig": "[core]\n\texcludesFile = ~/ignore\n",
                                      "ignore": "*\n"})
        self.assertEqual(self.matched(self.report("check", repo)), {"code": 2})


class Revisions(CheckTest):
    def test_the_map_is_the_working_trees_unless_a_commit_is_named(self):
        repo = self.repo_with(map_of("name: first, type: git_repo"), ["a"])
        first = self.git(repo, "rev-parse", "HEAD")
        self.git(repo, "branch", "old")
        self.commit(repo, {MAP: map_of("name: second, type: git_repo"), "b": "1\n"})
        self.set_map(repo, map_of("name: third, type: git_repo"))
        self.write(repo, {"untracked": "1\n"})
        for args, expected in [([], {"third": 3}), (["--commit", "HEAD"], {"second": 3}),
                               (["--commit", first], {"first": 2}),
                               (["--branch", "old"], {"first": 2}),
                               (["--branch", "main"], {"second": 3})]:
            self.assertEqual(self.matched(self.report("check", repo, *args)), expected, args)
        for args in (["--commit", "nope"], ["--branch", "nope"]):
            self.assertEqual(self.error_of("check", repo, *args, check=1)["code"], "NOT_FOUND")

    def test_a_row_with_a_commit_of_its_own_is_counted_there(self):
        repo = self.make_repo({"a.c": "1\n", "old/x": "1\n"})
        self.git(repo, "tag", "v1")
        self.git(repo, "branch", "side")
        self.commit(repo, {"b.c": "2\n"}, remove=["old/x"])
        self.set_map(repo, map_of("name: now, type: git_repo, include_globs: ['*.c']",
                                  "name: tag, type: git_repo, commit: v1",
                                  "name: side, type: git_repo, branch: side, start_dir: old",
                                  "name: gone, type: git_repo, commit: nowhere"))
        document = self.report("check", repo)
        self.assertEqual(self.matched(document), {"now": 2, "tag": 2, "side": 1, "gone": None})
        self.warnings(document)

    def test_before_the_first_commit(self):
        repo = os.path.join(self.tmp, "unborn")
        os.mkdir(repo)
        self.git(repo, "init", "--quiet")
        self.assertEqual(self.matched(self.report("check", repo)), {"default": 0})
        self.write(repo, {MAP: map_of(OWN, routes=["paths: [a]"]), "a": "1\n"})
        document = self.report("check", repo)
        self.assertEqual((self.matched(document), document["unmapped_files"]), ({"code": 0}, 0))
        self.assertEqual(document["knowledge_routing"][0]["matched_files"], 0)
        self.set_map(repo, "schema_version: 3\n")
        self.assertEqual(len(self.report("check", repo, check=2)["errors"]), 2)

    def test_a_bare_repository_has_its_map_in_the_commit(self):
        repo = self.repo_with(map_of(OWN), ["a"], bare=True)
        document = self.report("check", repo)
        self.assertEqual((document["has_repo_map_file"], self.matched(document)),
                         (True, {"code": 2}))

    def test_what_is_no_repository(self):
        self.assertEqual(self.error_of("check", self.tmp, check=1)["code"], "NOT_FOUND")
        self.assertEqual(self.error_of("check", self.tmp + "/none", check=1)["code"], "NOT_FOUND")


class Submodules(CheckTest):
    def test_files_of_a_submodule_are_counted_in_it(self):
        other = self.make_repo({"x.c": "1\n", "sub/y.c": "2\n", "z": "3\n"}, name="other")
        repo = self.make_repo({"a": "1\n"})
        self.add_submodule(repo, other, "vendor/lib")
        self.set_map(repo, map_of(
            "name: lib, type: git_repo, submodule: vendor/lib, include_globs: ['*.c', '*.cc']",
            "name: own, type: git_repo", "name: no, type: git_repo, submodule: nowhere",
            "name: both, type: git_repo, submodule: vendor/lib, origin_url: x"))
        document = self.report("check", repo)
        # The submodule itself is no file.
        self.assertEqual(self.matched(document), {"lib": 2, "own": 2, "no": None, "both": None})
        self.warnings(document, (3, "'*.cc'", "sources[0].include_globs[1]", "'*.cc'"))
        clone = os.path.join(self.tmp, "clone")
        self.git(self.tmp, "clone", "--quiet", repo, clone)
        self.write(clone, {MAP: map_of("name: lib, type: git_repo, submodule: vendor/lib")})
        self.assertEqual(self.matched(self.report("check", clone)), {"lib": None})
