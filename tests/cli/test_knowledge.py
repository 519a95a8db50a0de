"""Routing in vcm map: what knowledge_routing names goes to the knowledge base."""

import hashlib
import os

import pdf
from repo_map import MAP, RepoMapTest, map_of

CODE = "name: code, type: git_repo, include_globs: ['*.c']"
DOCS = "paths: ['docs/**', '!*.tmp'], profile: manual"
FILES = {"a.c": "int a;\n", "docs/one.md": "# One\n\nalpha beta\n", "docs/two.txt": "gamma\n"}
NOTHING = {"ingested": 0, "skipped": 0, "failed": 0, "removed": 0, "files": []}
PAPER = [[("F2", 16, 72, 720, "On Paging"), *pdf.prose("The hand sweeps over frames.", top=690)]]


class Knowledge(RepoMapTest):
    def map(self, repo, *args, check=0):
        return self.report("map", repo, *args, check=check)

    def knowledge(self, repo, *args, check=0):
        return self.map(repo, *args, check=check)["knowledge"]

    def statuses(self, repo, *args, check=0):
        return {file["path"]: file["status"] for file in
                self.knowledge(repo, *args, check=check)["files"]}

    def paths(self, query):
        return [hit["path"] for hit in self.report("kb", "search", query)["hits"]]

    def vcm_kb_documents(self):
        return [file["path"] for file in self.report("kb", "list")["documents"]]

    def report(self, command, *args, check=0, **options):
        return self.vcm(command, *args, "--json", check=check, **options).json()

    def test_a_map_without_routes_leaves_the_knowledge_base_alone(self):
        repo = self.make_repo(FILES)
        self.assertEqual(self.knowledge(repo), NOTHING)
        self.assertFalse(os.path.exists(os.path.join(self.home, "kb.sqlite")))

    def test_routed_files_are_ingested_once(self):
        repo = self.repo_with(map_of(CODE, routes=[DOCS]), FILES)
        first = self.map(repo)
        self.assertEqual(first["status"], "mapped")
        self.assertEqual(first["knowledge"], {
            "ingested": 2, "skipped": 0, "failed": 0, "removed": 0, "files": [
                {"path": "docs/one.md", "status": "ingested", "data_type": "manual", "chunks": 1,
                 "message": None},
                {"path": "docs/two.txt", "status": "ingested", "data_type": "manual", "chunks": 1,
                 "message": None}]})
        self.assertEqual(self.paths("alpha"), ["docs/one.md"])
        again = self.map(repo)
        self.assertEqual(again["status"], "already_mapped")
        self.assertEqual(again["knowledge"]["skipped"], 2)
        self.assertEqual({file["status"] for file in again["knowledge"]["files"]},
                         {"skipped_already_present"})
        self.assertIn("knowledge base: 0 ingested, 2 already there",
                      self.vcm("map", repo, check=0).out)

    def test_changes_of_the_tree_are_followed(self):
        repo = self.repo_with(map_of(CODE, routes=[DOCS]), FILES)
        self.map(repo)
        self.commit(repo, {"docs/one.md": "# One\n\ndelta\n"}, remove=["docs/two.txt"])
        self.assertEqual(self.statuses(repo),
                         {"docs/one.md": "ingested", "docs/two.txt": "removed"})
        self.assertEqual((self.paths("alpha"), self.paths("gamma")), ([], []))
        self.assertEqual(self.paths("delta"), ["docs/one.md"])

    def test_a_file_that_merely_lost_its_route_stays(self):
        repo = self.repo_with(map_of(CODE, routes=[DOCS]), FILES)
        self.map(repo)
        self.commit(repo, {MAP: map_of(CODE, routes=["paths: ['docs/*.md']"])})
        self.assertEqual(self.statuses(repo), {"docs/one.md": "ingested"})  # another profile
        self.assertEqual(self.paths("gamma"), ["docs/two.txt"])

    def test_promotion_wins_and_leaves_what_is_there(self):
        repo = self.repo_with(map_of(CODE, routes=[DOCS]), FILES)
        self.map(repo)
        self.commit(repo, {"docs/new.md": "epsilon\n", MAP: map_of(
            CODE, routes=[DOCS, "paths: ['docs/one.md', 'docs/new.md'], ingest_to: vcm"])})
        self.assertEqual(self.statuses(repo), {"docs/two.txt": "skipped_already_present"})
        self.assertEqual(self.vcm_kb_documents(), ["docs/one.md", "docs/two.txt"])

    def test_several_rows_ingest_a_file_once_with_the_profile_of_the_first(self):
        repo = self.repo_with(map_of(CODE, routes=["paths: ['docs/one.md'], profile: first",
                                                   "paths: ['docs/'], profile: second"]), FILES)
        files = self.knowledge(repo)["files"]
        self.assertEqual([(file["path"], file["data_type"]) for file in files],
                         [("docs/one.md", "first"), ("docs/two.txt", "second")])

    def test_chunks_of_a_promoted_file_stay_until_they_are_cleared(self):
        repo = self.repo_with(map_of(CODE, routes=["paths: ['docs/one.md']", "paths: ['*.txt']"]),
                              FILES)
        self.git(repo, "config", "user.name", "Ann")
        self.git(repo, "config", "user.email", "ann@example.com")
        self.map(repo)
        self.vcm("promote", "docs/one.md", repo, check=0)
        result = self.map(repo)
        self.assertEqual({file["path"] for file in result["knowledge"]["files"]}, {"docs/two.txt"})
        self.assertEqual(result["sources"][1]["coverage"]["paged"], 1)
        self.assertEqual(self.paths("alpha"), ["docs/one.md"])
        self.assertEqual(self.report("kb", "clear", "--route", "1", "--repo", repo)["removed"], 1)
        self.assertEqual(self.paths("alpha"), [])
        self.assertEqual(self.paths("gamma"), ["docs/two.txt"])
        self.map(repo)
        self.assertEqual(self.paths("alpha"), [])

    def test_missing_content_of_lfs_is_told_and_read_once_it_is_there(self):
        content = b"the thread is kept elsewhere\n"
        oid = hashlib.sha256(content).hexdigest()
        pointer = (f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\n"
                   f"size {len(content)}\n")
        repo = self.repo_with(map_of(CODE, routes=[DOCS]), {**FILES, "docs/kept.txt": pointer})
        result = self.map(repo, check=3)
        kept = next(file for file in result["knowledge"]["files"] if file["path"] == "docs/kept.txt")
        self.assertEqual(kept["status"], "failed")
        self.assertTrue(kept["message"].startswith("lfs_missing: "), kept)
        self.assertEqual(result["knowledge"]["ingested"], 2)
        self.write(repo, {f".git/lfs/objects/{oid[:2]}/{oid[2:4]}/{oid}": content})
        self.assertEqual(self.statuses(repo)["docs/kept.txt"], "ingested")
        self.assertEqual(self.paths("thread"), ["docs/kept.txt"])

    def test_a_document_that_cannot_be_read_is_named_and_stops_nobody(self):
        repo = self.repo_with(map_of(CODE, routes=["paths: ['papers/']"]), {
            "a.c": "int a;\n", "papers/bad.pdf": pdf.make(PAPER)[:300],
            "papers/good.pdf": pdf.make(PAPER)})
        result = self.map(repo, check=3)
        self.assertEqual(result["status"], "partial")
        knowledge = result["knowledge"]
        self.assertEqual((knowledge["ingested"], knowledge["failed"]), (1, 1))
        bad, good = knowledge["files"]
        self.assertEqual((bad["path"], bad["status"]), ("papers/bad.pdf", "failed"))
        self.assertTrue(bad["message"].startswith("corrupt"), bad)
        self.assertEqual(good["status"], "ingested")
        run = self.vcm("map", repo, check=3)
        self.assertIn("papers/bad.pdf: corrupt", run.out)

    def test_a_selection_of_rows_skips_routing_unless_asked_for(self):
        repo = self.repo_with(map_of(CODE, routes=[DOCS]), FILES)
        self.assertEqual(self.knowledge(repo, "--only", "code"), NOTHING)
        self.assertEqual(self.knowledge(repo, "--only", "code", "--knowledge")["ingested"], 2)

    def test_a_damaged_knowledge_base_costs_no_pages(self):
        repo = self.repo_with(map_of(CODE, routes=[DOCS]), FILES)
        self.map(repo)
        with open(os.path.join(self.home, "kb.sqlite"), "r+b") as file:
            file.write(b"not a database at all")
        run = self.vcm("map", repo, "--json", check=3)
        self.assertEqual(run.json()["sources"][0]["status"], "already_mapped")
        self.assertIn("kb.sqlite", run.err)
