"""Listings, names, cursors and counts of a home with several scopes."""

import os

from paging import PagingTest


class StoreTest(PagingTest):
    def error(self, *args, check):
        return self.vcm(*args, "--json", check=check).json()["error"]


class Names(StoreTest):
    def setUp(self):
        super().setUp()
        one = self.make_repo({"a": "one\n"}, name="one")
        two = self.make_repo({"a": "two\n"}, name="two")
        for repo, scope in ((one, "project-red"), (two, "project-redder"), (two, "other")):
            self.map_row(repo, "--scope", scope)

    def scopes_listed(self, name):
        return {page["scope_id"] for page in self.pages("--scope", name)}

    def test_a_scope_goes_by_its_name_or_a_unique_prefix(self):
        self.assertEqual(self.scopes_listed("project-red"), {"project-red"}, "exact wins")
        self.assertEqual(self.scopes_listed("project-redd"), {"project-redder"})
        self.assertEqual(self.scopes_listed("other"), {"other"}, "shorter than a prefix may be")
        for name in ("othe", "projec-", "nothing", "project-redderx", "PROJECT-red"):
            error = self.error("pages", "--scope", name, check=1)
            self.assertEqual(error["code"], "NOT_FOUND", name)
            self.assertIn(name, error["message"])
            self.assertIn("vcm scopes", error["message"])

    def test_an_ambiguous_scope_gets_its_candidates(self):
        error = self.error("pages", "--scope", "projec", check=1)
        self.assertEqual(error["code"], "AMBIGUOUS")
        self.assertEqual(error["details"]["candidates"], ["project-red", "project-redder"])
        self.assertIn("project-redder", error["message"])
        self.assertEqual(self.error("pages", "--scope", "proje", check=1)["code"], "NOT_FOUND",
                         "five characters are no prefix")

    def test_of_many_candidates_the_first_ten_are_named(self):
        repo = self.make_repo({"a": "many\n"}, name="many")
        names = [f"crowded-{i:02}" for i in range(11)]
        for name in reversed(names):
            self.map_row(repo, "--scope", name)
        error = self.error("pages", "--scope", "crowded", check=1)
        self.assertEqual(error["details"]["candidates"], names[:10])

    def test_a_page_goes_by_its_id_or_a_unique_prefix(self):
        for page_id in set(self.page_ids()):
            for digits in (40, 12, 6):
                self.assertEqual(self.page(page_id[:digits])["page_id"], page_id)
            self.assertEqual(self.page(page_id[:9].upper())["page_id"], page_id)
            error = self.error("page", page_id[:5], check=2)
            self.assertEqual(error["code"], "INVALID_ARGUMENT")
            other = ("0" if page_id[39] != "0" else "1")
            for name in (page_id[:39] + other, page_id + "0", "zzzzzz", page_id[:20] + "g"):
                self.assertEqual(self.error("page", name, check=1)["code"], "NOT_FOUND", name)

    def test_a_page_belongs_to_the_scope_that_is_asked_for(self):
        [page_id] = self.page_ids("--scope", "other")
        page = self.page(page_id)
        self.assertEqual(page["scopes"], ["other", "project-redder"])
        self.assertEqual(page["scope_id"], "other")
        self.assertEqual(self.page(page_id, "--scope", "project-redd")["scope_id"], "project-redder")
        error = self.error("page", page_id, "--scope", "project-red", check=1)
        self.assertEqual(error["code"], "NOT_FOUND")
        self.assertIn("project-red", error["message"])


class AmbiguousPages(StoreTest):
    def test_an_ambiguous_page_gets_its_candidates(self):
        # Two texts whose pages share the first six digits, found by trying some thousand.
        repo = self.make_repo({"f": "1792\n"}, name="one")
        other = self.make_repo({"f": "4081\n"}, name="two")
        self.map_row(repo)
        self.map_row(other)
        ids = sorted(self.page_ids())
        self.assertEqual(ids[0][:6], ids[1][:6])
        error = self.error("page", ids[0][:6], check=1)
        self.assertEqual((error["code"], error["details"]["candidates"]), ("AMBIGUOUS", ids))
        self.assertEqual(self.page(ids[1][:8])["page_id"], ids[1])


class Listing(StoreTest):
    def setUp(self):
        super().setUp()
        files = {f"d{i}/f{j}": f"file {i} {j}\n" * 20 for i in range(6) for j in range(6)}
        self.repo = self.make_repo({**files, "d1x": "beside d1\n"})
        for scope, options in (("alpha", ["--flush-threshold", "2"]),
                               ("beta", ["--flush-threshold", "5", "--pinned"]),
                               ("gamma", ["--flush-threshold", "2"])):
            self.map_row(self.repo, "--scope", scope, *options)
        self.all = self.pages()

    def test_pages_come_by_scope_and_seq(self):
        self.assertEqual([(page["scope_id"], page["seq"]) for page in self.all],
                         sorted((page["scope_id"], page["seq"]) for page in self.all))
        self.assertEqual(len(self.all), sum(
            scope["pages"] for scope in self.vcm("scopes", "--json", check=0).json()["scopes"]))

    def walk(self, limit, *options):
        pages, cursor, steps = [], [], 0
        while True:
            document = self.vcm("pages", "--json", "--limit", str(limit), *options, *cursor,
                                check=0).json()
            self.assertLessEqual(len(document["pages"]), limit)
            pages += document["pages"]
            steps += 1
            if document["next_cursor"] is None:
                return pages, steps
            self.assertEqual(len(document["pages"]), limit)
            cursor = ["--cursor", document["next_cursor"]]

    def test_a_walk_with_a_cursor_gives_the_same_list(self):
        for limit in (7, len(self.all), len(self.all) + 1):
            pages, steps = self.walk(limit)
            self.assertEqual(pages, self.all)
            self.assertEqual(steps, -(-len(self.all) // limit))
        pinned = [page for page in self.all if page["pinned"]]
        self.assertEqual(self.walk(3, "--pinned")[0], pinned)
        self.assertEqual(self.walk(5, "--path", "d3")[0], self.pages("--path", "d3"))
        self.assertIn("--cursor", self.vcm("pages", "--limit", "2", check=0).out)

    def test_filters(self):
        by_scope = [page for page in self.all if page["scope_id"] == "beta"]
        self.assertEqual(self.pages("--scope", "beta"), by_scope)
        self.assertEqual(self.pages("--state", "resident"), self.all)
        for state in ("compressed", "evicted"):
            self.assertEqual(self.pages("--state", state), [])
        self.assertTrue(by_scope)
        for path in ("d1", "d1/", "d1/f3", "d1x"):
            expected = [page for page in self.all if any(
                name == path.rstrip("/") or name.startswith(path.rstrip("/") + "/")
                for name in page["files"])]
            self.assertTrue(expected)
            self.assertEqual(self.pages("--path", path), expected, path)
        self.assertEqual(self.pages("--path", "d1/f"), [])
        self.assertEqual(self.pages("--scope", "beta", "--path", "d2", "--pinned"),
                         [page for page in by_scope if any(name.startswith("d2/")
                                                          for name in page["files"])])

    def test_what_is_no_filter_is_refused(self):
        for words in (["--limit", "0"], ["--limit", "x"], ["--limit", "-1"], ["--state", "gone"],
                      ["--cursor", "x"], ["--cursor", "0:alpha,"], ["--cursor", "0:,1"],
                      ["--cursor", "0:alpha,99999999999"], ["--cursor", "0:alpha,1x"],
                      ["--cursor", "alpha/1"], ["--path", ""]):
            self.assertEqual(self.error("pages", *words, check=2)["code"], "INVALID_ARGUMENT", words)
        self.assertEqual(self.pages("--cursor", "9:alpha,4294967295")[0]["scope_id"], "beta")
        self.assertEqual(self.pages("--cursor", "9:zeta,0"), [])

    def test_a_page_is_pinned_when_any_scope_that_holds_it_is(self):
        self.map_row(self.repo, "--scope", "delta", "--flush-threshold", "5")
        self.assertTrue(all(page["pinned"] for page in self.pages("--scope", "delta")))
        pinned = set(self.page_ids("--scope", "beta"))
        flags = {page["page_id"] in pinned: page["pinned"] for page in self.pages("--scope", "alpha")}
        self.assertIn(False, flags)
        for shared, flag in flags.items():
            self.assertEqual(flag, shared)

    def test_scopes_tell_what_map_told(self):
        row = self.map_row(self.repo, "--scope", "alpha", "--flush-threshold", "2")
        scopes = self.vcm("scopes", "--json", check=0).json()["scopes"]
        self.assertEqual([scope["scope_id"] for scope in scopes], ["alpha", "beta", "gamma"])
        for key in ("scope_id", "commit", "records", "pages", "tokens", "bytes", "coverage"):
            self.assertEqual(scopes[0][key], row[key], key)
        self.assertEqual([(scope["flush_threshold"], scope["pinned"]) for scope in scopes],
                         [(2, False), (5, True), (2, False)])
        self.assertEqual({scope["repo_root"] for scope in scopes}, {self.repo})
        self.assertGreater(scopes[0]["mapped_at"], 1700000000)

    def test_stat_adds_up_and_counts_a_shared_page_once(self):
        pages = {page["page_id"]: page for page in self.all}
        stat = self.stat()
        self.assertLess(len(pages), len(self.all), "alpha and gamma share theirs")
        self.assertEqual(stat["scopes"], 3)
        self.assertEqual(stat["pages"], {
            "total": len(pages), "resident": len(pages), "compressed": 0, "evicted": 0, "locked": 0,
            "pinned": sum(page["pinned"] for page in pages.values())})
        self.assertEqual(stat["bytes"]["resident"], sum(page["bytes"] for page in pages.values()))
        self.assertEqual(stat["bytes"]["compressed"], 0)
        self.assertEqual(stat["bytes"]["capacity"], 1 << 30)
        self.assertEqual(stat["bytes"]["file"],
                         os.path.getsize(os.path.join(self.home, "store/data.mdb")))
        self.assertEqual(stat["tokens"], sum(page["tokens"] for page in pages.values()))
        self.assertEqual((stat["tokenizer"], stat["policy"], stat["home"], stat["format_version"]),
                         ("approx4", "s3fifo", self.home, 3))

    def test_sharing_creates_nothing(self):
        before = self.stat()
        row = self.map_row(self.repo, "--scope", "epsilon", "--flush-threshold", "2")
        self.assertEqual((row["pages_created"], row["pages_reused"]), (0, row["pages"]))
        after = self.stat()
        for key in ("pages", "tokens"):
            self.assertEqual(after[key], before[key])
        page = self.page(next(page["page_id"] for page in self.pages("--scope", "epsilon")
                              if page["records"] == 2))
        self.assertEqual(page["scopes"], ["alpha", "epsilon", "gamma"])
        # Moving one of them away leaves the pages to the others.
        self.map_row(self.repo, "--scope", "alpha", "--flush-threshold", "1")
        self.assertEqual(self.page(page["page_id"])["scopes"], ["epsilon", "gamma"])

    def test_only_reading_a_page_counts_as_a_hit(self):
        self.assertEqual(self.stat()["faults"], {"hit": 0, "minor": 0, "major": 0})
        self.assertIsNone(self.stat()["hit_ratio"])
        page_id = self.all[0]["page_id"]
        self.page(page_id)
        self.assertEqual(self.stat()["faults"]["hit"], 1)
        for words in (["scopes"], ["pages"], ["pages", "--path", "d1"], ["doctor"],
                      ["config", "list"], ["map", self.repo, "--scope", "alpha"],
                      ["page", "--help"], ["map", self.repo, "--scope", "new-scope"]):
            self.vcm(*words, check=0)
        self.vcm("page", "0" * 40, check=1)
        self.vcm("page", page_id, "--seq", "4000000", check=1)
        stat = self.stat()
        self.assertEqual((stat["faults"], stat["hit_ratio"]), ({"hit": 1, "minor": 0, "major": 0}, 1))
        self.page(page_id[:10], "--scope", "gamma")
        self.vcm("page", page_id, check=0)
        self.assertEqual(self.stat()["faults"]["hit"], 3)


class Bases(StoreTest):
    """A repository whose map has several rows: one base, a scope for each row."""

    ROWS = ("schema_version: 1\nsources:\n"
            "  - {name: code, type: git_repo, start_dir: src}\n"
            "  - {name: docs, type: git_repo, start_dir: doc}\n")

    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({".colony/repo_map.yaml": self.ROWS, "src/a.c": "int a;\n",
                                    "doc/b.md": "# b\n"})
        self.document = self.map(self.repo, "--scope", "project")

    def scopes(self):
        return [scope["scope_id"] for scope in self.vcm("scopes", "--json", check=0).json()["scopes"]]

    def test_a_base_stands_for_all_its_scopes(self):
        self.assertEqual([row["scope_id"] for row in self.document["sources"]],
                         ["project:code", "project:docs"])
        self.map_row(self.make_repo({"c": "c\n"}, name="other"), "--scope", "project2")
        for name, expected in (("project", {"project:code", "project:docs"}),
                               ("project:code", {"project:code"}), ("project:d", {"project:docs"}),
                               ("project2", {"project2"})):
            self.assertEqual({page["scope_id"] for page in self.pages("--scope", name)}, expected)
        error = self.error("pages", "--scope", "projec", check=1)
        self.assertEqual((error["code"], error["details"]["candidates"]),
                         ("AMBIGUOUS", ["project", "project2"]))

    def test_only_leaves_the_other_rows_alone(self):
        commit = self.commit(self.repo, {"src/a.c": "int aa;\n", "doc/b.md": "# bb\n"})
        row = self.map_row(self.repo, "--scope", "project", "--only", "docs")
        self.assertEqual((row["scope_id"], row["status"]), ("project:docs", "remapped"))
        commits = {scope["scope_id"]: scope["commit"]
                   for scope in self.vcm("scopes", "--json", check=0).json()["scopes"]}
        self.assertEqual(commits["project:docs"], commit)
        self.assertNotEqual(commits["project:code"], commit)

    def test_a_row_that_left_the_map_is_unmapped(self):
        self.commit(self.repo, {".colony/repo_map.yaml": self.ROWS.replace("docs", "text")})
        self.assertEqual(self.map(self.repo, "--scope", "project", "--only", "code")["unmapped"], [])
        document = self.map(self.repo, "--scope", "project")
        self.assertEqual(document["unmapped"], ["project:docs"])
        self.assertEqual([row["status"] for row in document["sources"]], ["already_mapped", "mapped"])
        self.assertEqual(self.scopes(), ["project:code", "project:text"])
        self.assertEqual(self.stat()["pages"]["total"], len(set(self.page_ids())))

    def test_a_row_that_fails_leaves_the_others_done_and_its_pages_as_they_were(self):
        before = self.page_ids("--scope", "project:docs")
        self.commit(self.repo, {"src/a.c": "int other;\n", "text/c": "c\n"}, remove=["doc/b.md"])
        document = self.map(self.repo, "--scope", "project", check=3)
        self.assertEqual(document["status"], "partial")
        self.assertEqual([(row["status"], row["code"]) for row in document["sources"]],
                         [("remapped", None), ("error", "NOT_FOUND")])
        self.assertIn("doc", document["sources"][1]["message"])
        self.assertEqual(document["unmapped"], [])
        self.assertEqual(self.page_ids("--scope", "project:docs"), before)
        self.map(self.repo, "--scope", "project", "--only", "docs", check=1)
