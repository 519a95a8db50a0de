"""vcm kb: documents in, passages out, each with its citation."""

import hashlib
import json
import os
import re
import sqlite3
import subprocess
import threading

import harness
import pdf

MAP = """schema_version: 1
sources:
  - {name: code, type: git_repo, include_globs: ["*.c"]}
  - {name: papers, type: literature, start_dir: papers, chunk_target_tokens: 60,
     chunk_overlap_tokens: 10}
knowledge_routing:
  - paths: ["docs/**/*.md"]
    profile: manual
  - paths: ["papers/*"]
  - paths: ["papers/promoted.md"]
    ingest_to: vcm
"""

PAPER = [
    [("F2", 18, 72, 720, "On Virtual Memory"),
     ("F2", 12, 72, 690, "1 Introduction"),
     *pdf.prose("A page fault brings a page back from the disk. Programs see more memory than "
                "there is.", top=670)],
    [("F2", 12, 72, 720, "2 Replacement"),
     *pdf.prose("The clock hand sweeps over the frames and evicts what was not used.", top=700)],
]


class Kb(harness.VcmTest):
    def kb(self, command, *args, check=0, **options):
        return self.vcm("kb", command, "--json", *args, check=check, **options).json()

    def ingest(self, files, *args, check=0):
        self.write(self.tmp, files)
        return self.kb("ingest", *files, *args, check=check)

    def paths(self, query, *args):
        return [hit["path"] for hit in self.kb("search", query, *args)["hits"]]


class Ingest(Kb):
    def test_documents_are_ingested_once_and_replaced_when_they_change(self):
        result = self.ingest({"a.md": "# One\n\nalpha\n"})
        path = os.path.join(self.tmp, "a.md")
        self.assertEqual(result, {
            "ingested": 1, "skipped": 0, "failed": 0, "removed": 0,
            "files": [{"path": path, "status": "ingested", "data_type": "markdown", "chunks": 1,
                       "message": None, "source": None}]})
        again = self.ingest({"a.md": "# One\n\nalpha\n"})
        self.assertEqual(again["files"][0]["status"], "skipped_already_present")
        self.assertEqual(self.ingest({"a.md": "# One\n\nbeta\n"})["ingested"], 1)
        self.assertEqual(self.paths("alpha"), [])
        self.assertEqual(self.paths("beta"), [path])
        other = self.kb("ingest", "a.md", "--profile", "note")
        self.assertEqual(other["files"][0]["data_type"], "note")
        self.assertEqual(len(self.kb("list")["documents"]), 1)

    def test_what_cannot_be_read_is_named_with_its_reason_and_stops_nobody(self):
        reasons = {
            "binary": (b"\0\1\2", "unsupported type"),
            "cut.pdf": (pdf.make(PAPER)[:400], "corrupt"),
            "empty.pdf": (b"", "empty"),
            "image.pdf": (pdf.make([[], []]), "no text layer"),
            "locked.pdf": (pdf.make(PAPER, encrypted=True), "encrypted"),
            "text.pdf": ("only text", "corrupt"),
        }
        files = {name: content for name, (content, _) in reasons.items()}
        result = self.ingest({**files, "good.txt": "fine words"}, check=3)
        self.assertEqual((result["ingested"], result["failed"]), (1, len(reasons)))
        for file in result["files"][:-1]:
            name = os.path.basename(file["path"])
            self.assertEqual(file["status"], "failed")
            self.assertTrue(file["message"].startswith(reasons[name][1] + ":"), file)
        self.assertEqual(len(self.kb("list")["documents"]), 1)
        missing = self.kb("ingest", "nowhere.md", check=1)
        self.assertIn("No such file", missing["files"][0]["message"])

    def test_a_directory_is_gone_through_in_order_without_links(self):
        outside = os.path.join(self.tmp, "outside")
        self.write(outside, {"secret.md": "hidden away"})
        self.write(os.path.join(self.tmp, "papers"), {
            "z.md": "# Z\n\nlast words", "a/deep/one.txt": "deep words", "a.md": "first words",
            "NOTES": "text without an extension", "tool.bin": b"\0\1\2", "latin": b"\xe9t\xe9",
            ".hidden.md": "no", ".cache/x.md": "no", "paper.pdf": pdf.make(PAPER)})
        os.symlink(os.path.join(outside, "secret.md"), os.path.join(self.tmp, "papers/link.md"))
        os.symlink(outside, os.path.join(self.tmp, "papers/folder"))
        os.symlink("..", os.path.join(self.tmp, "papers/a/up"))
        os.mkfifo(os.path.join(self.tmp, "papers/pipe.md"))
        result = self.kb("ingest", "papers")
        root = os.path.join(self.tmp, "papers")
        self.assertEqual([os.path.relpath(f["path"], root) for f in result["files"]],
                         ["NOTES", "a/deep/one.txt", "a.md", "paper.pdf", "z.md"])
        self.assertEqual((result["ingested"], result["failed"]), (5, 0))
        self.assertEqual(result["passed_over"], {"hidden": 2, "links": 3, "others": 3})
        self.assertEqual(self.paths("hidden away"), [])
        self.assertEqual(len(self.paths("deep words")), 1)
        again = self.vcm("kb", "ingest", "papers/", check=0).out
        self.assertIn("0 ingested, 5 already there, 0 failed, 0 removed\n"
                      "passed over: 2 hidden, 3 symbolic links, 3 no documents\n", again)

    def test_a_damaged_document_of_a_directory_is_a_failure_and_a_named_binary_too(self):
        self.write(os.path.join(self.tmp, "papers"), {
            "cut.pdf": pdf.make(PAPER)[:400], "good.md": "words", "tool.bin": b"\0\1"})
        result = self.kb("ingest", "papers", check=3)
        self.assertEqual([f["status"] for f in result["files"]], ["failed", "ingested"])
        self.assertEqual(result["passed_over"], {"hidden": 0, "links": 0, "others": 1})
        named = self.kb("ingest", "papers/tool.bin", check=1)
        self.assertEqual(named["failed"], 1)
        self.assertNotIn("passed_over", named)

    def test_files_of_a_directory_belong_to_the_repository_around_them(self):
        outer = self.make_repo({"docs/a.md": "outer words", "docs/sub/b.md": "more"}, name="outer")
        inner = self.make_repo({"c.md": "inner words"}, name="outer/docs/inner")
        result = self.kb("ingest", os.path.join(outer, "docs"))
        by_path = {f["path"]: f["source"] for f in result["files"]}
        self.assertEqual(list(by_path), ["docs/a.md", "c.md", "docs/sub/b.md"])
        self.assertEqual(by_path["docs/a.md"], by_path["docs/sub/b.md"])
        self.assertTrue(by_path["c.md"].startswith("inner-"), (by_path, inner))
        named = self.kb("ingest", os.path.join(outer, "docs/a.md"), os.path.join(inner, "c.md"))
        self.assertEqual([f["status"] for f in named["files"]], ["skipped_already_present"] * 2)

    def test_a_directory_that_is_too_deep_is_refused_before_anything_happens(self):
        self.write(self.tmp, {"top/" + "d/" * 64 + "a.md": "words", "top/b.md": "words"})
        error = self.kb("ingest", "top", check=1)["error"]
        self.assertEqual(error["code"], "UNSUPPORTED")
        self.assertIn("deeper than 64 directories; ingest it by itself", error["message"])
        self.assertFalse(os.path.exists(self.home))

    def test_an_empty_directory_has_no_documents(self):
        os.mkdir(os.path.join(self.tmp, "empty"))
        self.assertEqual(self.kb("ingest", "empty"), {
            "ingested": 0, "skipped": 0, "failed": 0, "removed": 0, "files": []})

    def test_doctor_reads_a_pdf(self):
        def finding(**options):
            findings = self.vcm("doctor", "--json", **options).json()["findings"]
            return next(found for found in findings if found["check"] == "pdf")

        self.assertEqual(finding()["status"], "ok")
        self.assertTrue(finding()["detail"].endswith("/vcm-extract"))
        missing = finding(env={"VCM_LIBEXEC": self.tmp})
        self.assertEqual(missing["status"], "warning")
        self.assertIn("VCM_LIBEXEC", missing["remedy"])
        self.write(self.tmp, {"vcm-extract": harness.Executable(b"#!/bin/sh\nexit 1\n")})
        broken = finding(env={"VCM_LIBEXEC": self.tmp})
        self.assertEqual(broken["status"], "warning")
        self.assertIn("does not work", broken["detail"])

    def slow_ingest(self, *options):
        """Waits for another writer for longer than a terminal is left without a word."""
        self.ingest({"a.txt": "words"})
        self.write(self.tmp, {"b.txt": f"other words {options}"})
        base = sqlite3.connect(os.path.join(self.home, "kb.sqlite"), check_same_thread=False)
        base.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.8, base.rollback)
        timer.start()
        try:
            return self.vcm("kb", "ingest", "b.txt", *options, check=0, tty="err")
        finally:
            timer.join()
            base.close()

    def test_progress_is_drawn_on_a_terminal_and_wiped(self):
        drawn = self.slow_ingest()
        self.assertIn("files 1  ", drawn.err)
        self.assertTrue(drawn.err.endswith("\r\x1b[K"), repr(drawn.err))
        for option in ("-q", "--no-progress"):
            self.assertNotIn("files 1  ", self.slow_ingest(option).err)

    def test_wrong_usage_makes_no_home(self):
        self.vcm("kb", "ingest", check=2)
        self.vcm("kb", "ingest", "--repo", "nowhere", check=1)
        self.assertFalse(os.path.exists(self.home))

    def test_reading_a_missing_home_makes_none(self):
        self.assertEqual(self.kb("search", "x"), {"query": "x", "total": 0, "hits": []})
        self.assertEqual(self.kb("list"), {"documents": []})
        self.assertEqual(self.kb("stat")["documents"], 0)
        self.assertEqual(self.kb("clear", "--all")["removed"], 0)
        self.vcm("kb", "show", "abcdef12", check=1)
        self.assertFalse(os.path.exists(self.home))

    def test_two_processes_may_ingest_at_one_time(self):
        files = {f"{name}{i}.txt": f"word{i} common\n" for name in "ab" for i in range(30)}
        self.write(self.tmp, files)
        runs = [self.start("kb", "ingest", "-q", *(file for file in files if file[0] == name),
                           stdout=subprocess.DEVNULL) for name in "ab"]
        for run in runs:
            self.assertEqual(run.wait(timeout=harness.TIMEOUT_SECONDS), 0, run.stderr.read())
        self.assertEqual(self.kb("stat")["documents"], len(files))
        self.assertEqual(self.kb("search", "common")["total"], len(files))

    def test_a_damaged_knowledge_base_is_told(self):
        self.ingest({"a.txt": "words"})
        path = os.path.join(self.home, "kb.sqlite")
        with open(path, "r+b") as file:
            file.write(b"not a database at all")
        error = self.kb("search", "words", check=1)["error"]
        self.assertEqual(error["code"], "STORE_CORRUPT")
        self.assertIn(path, error["message"])


class Search(Kb):
    def test_a_hit_in_a_pdf_cites_section_and_page(self):
        self.ingest({"paper.pdf": pdf.make(PAPER)}, "--profile", "paper")
        result = self.kb("search", "clock hand")
        self.assertEqual(list(result), ["query", "total", "hits"])
        self.assertEqual((result["query"], result["total"]), ("clock hand", 1))
        hit = result["hits"][0]
        self.assertEqual(list(hit), ["chunk_id", "source", "path", "section", "page", "data_type",
                                     "score", "tokens", "snippet", "text"])
        self.assertEqual((hit["source"], hit["path"]), (None, os.path.join(self.tmp, "paper.pdf")))
        self.assertEqual(hit["section"], "On Virtual Memory > 2 Replacement")
        self.assertEqual((hit["page"], hit["data_type"]), (2, "paper"))
        self.assertEqual(hit["text"], "2 Replacement\n\nThe clock hand sweeps over the frames and "
                                      "evicts what was not used.\n")
        self.assertRegex(hit["chunk_id"], "^[0-9a-f]{40}$")
        record = json.dumps({key: hit[key] for key in ("path", "section", "page", "text")},
                            separators=(",", ":"), ensure_ascii=False)
        self.write(self.tmp, {"record": record})
        counted = self.vcm("tokens", "record", "--json", check=0).json()["total"]
        self.assertEqual(hit["tokens"], counted)
        text = self.vcm("kb", "search", "clock hand", check=0).out
        self.assertIn("paper.pdf, page 2, On Virtual Memory > 2 Replacement", text)

    def test_no_string_is_a_syntax_error(self):
        self.ingest({"a.txt": "text AND near"})
        for query in ['"', "'", "a AND", "NEAR(", "text:a", "a* OR (", "{", "-x", "--", "*",
                      '"a" "', "\u00e9\u0301", "a" * 5000, "x;y", "^a", "section : text"]:
            self.assertEqual(self.kb("search", "--", query)["query"], query)

    def test_filters_limit_and_budget(self):
        repo = self.make_repo({"docs/a.md": "needle one\n", "b.md": "needle two\n"})
        self.kb("ingest", os.path.join(repo, "docs/a.md"), os.path.join(repo, "b.md"))
        self.ingest({"c.txt": "needle three\n"}, "--profile", "note")
        outside = os.path.join(self.tmp, "c.txt")
        self.assertEqual(sorted(self.paths("needle")), sorted(["docs/a.md", "b.md", outside]))
        self.assertEqual(self.paths("needle", "--path", "docs/"), ["docs/a.md"])
        self.assertEqual(self.paths("needle", "--path", "*.txt"), [outside])
        self.assertEqual(self.paths("needle", "--profile", "note"), [outside])
        self.assertEqual(len(self.paths("needle", "--limit", "2")), 2)
        self.assertEqual(len(self.paths("needle", "--max-tokens", "25")), 1)
        source = self.kb("search", "one")["hits"][0]["source"]
        self.assertRegex(source, "^repo-[0-9a-f]{8}$")
        self.assertEqual(sorted(self.paths("needle", "--scope", source)), ["b.md", "docs/a.md"])
        self.assertEqual(sorted(self.paths("needle", "--scope", source[:8])),
                         ["b.md", "docs/a.md"])
        self.vcm("kb", "search", "needle", "--scope", "nowhere", check=1)
        self.vcm("kb", "search", "needle", "--path", "[", check=2)

    def test_a_chunk_is_shown_by_its_id(self):
        self.ingest({"a.md": "# One\n\nneedle in here\n"})
        found = self.kb("search", "needle")["hits"][0]
        shown = self.kb("show", found["chunk_id"][:8])
        self.assertEqual(shown["chunk_id"], found["chunk_id"])
        self.assertEqual((shown["seq"], shown["chunks"]), (1, 1))
        self.assertEqual(shown["text"], "# One\n\nneedle in here\n")
        self.assertTrue(self.vcm("kb", "show", found["chunk_id"], check=0).out
                        .endswith("# One\n\nneedle in here\n"))
        self.vcm("kb", "show", "ffffffffff", check=1)
        self.vcm("kb", "show", "xyz", check=2)

    def test_a_long_document_comes_back_whole(self):
        text = "".join(f"Sentence number {i} says something of its own. " + "\n\n" * (i % 7 == 0)
                       for i in range(600))
        self.ingest({"long.md": "# Title\n\n" + text})
        chunks = self.kb("search", "sentence", "--limit", "1000")
        self.assertGreater(chunks["total"], 5)
        self.assertTrue(all(hit["tokens"] <= 800 for hit in chunks["hits"]))
        seen = set(re.findall(r"number (\d+) ", " ".join(hit["text"] for hit in chunks["hits"])))
        self.assertEqual(len(seen), 600)


class Repository(Kb):
    def setUp(self):
        super().setUp()
        self.repo = self.make_repo({
            ".colony/repo_map.yaml": MAP,
            "docs/guide.md": "# Guide\n\nHow to install the needle.\n",
            "docs/deep/more.md": "# More\n\nOf the needle.\n",
            "papers/paper.pdf": pdf.make(PAPER),
            "papers/long.md": "# Long\n\n" + "A sentence about the clock. " * 40,
            "papers/promoted.md": "needle, promoted\n",
            "papers/broken.pdf": "%PDF-1.4 broken",
            "main.c": "needle\n",
        })

    def test_routes_decide_what_is_ingested_and_how(self):
        result = self.kb("ingest", "--repo", self.repo, check=3)
        self.assertEqual({file["path"]: (file["status"], file["data_type"])
                          for file in result["files"]},
                         {"docs/deep/more.md": ("ingested", "manual"),
                          "docs/guide.md": ("ingested", "manual"),
                          "papers/broken.pdf": ("failed", "pdf"),
                          "papers/long.md": ("ingested", "markdown"),
                          "papers/paper.pdf": ("ingested", "pdf")})
        self.assertEqual([file["path"] for file in result["files"]],
                         sorted(file["path"] for file in result["files"]))
        # The literature row covers papers/ and has a target of its own.
        hits = self.kb("search", "clock", "--path", "long.md", "--limit", "100")["hits"]
        self.assertGreater(len(hits), 3)
        self.assertTrue(all(hit["tokens"] <= 60 for hit in hits))
        again = self.kb("ingest", "--repo", self.repo, check=3)
        self.assertEqual((again["ingested"], again["skipped"], again["failed"]), (0, 4, 1))

    def test_content_of_lfs_is_read_where_it_is_and_told_where_it_is_not(self):
        content = b"The thread is kept elsewhere.\n"
        oid = hashlib.sha256(content).hexdigest()
        pointer = (f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\n"
                   f"size {len(content)}\n")
        self.commit(self.repo, {"docs/kept.md": pointer})
        for args in (["--repo", self.repo], [os.path.join(self.repo, "docs/kept.md")]):
            files = {file["path"]: file for file in
                     self.kb("ingest", *args, check=3 if len(args) > 1 else 1)["files"]}
            self.assertTrue(files["docs/kept.md"]["message"].startswith("lfs_missing: "))
        self.write(self.repo, {f".git/lfs/objects/{oid[:2]}/{oid[2:4]}/{oid}": content})
        self.kb("ingest", "--repo", self.repo, check=3)
        self.assertEqual(self.paths("thread"), ["docs/kept.md"])
        again = self.kb("ingest", os.path.join(self.repo, "docs/kept.md"), "--profile", "manual")
        self.assertEqual(again["skipped"], 1)

    def test_documents_that_left_the_tree_go_and_others_stay(self):
        self.kb("ingest", "--repo", self.repo, check=3)
        self.write(self.repo, {"notes.md": "untracked needle\n"})
        self.kb("ingest", os.path.join(self.repo, "notes.md"))
        self.commit(self.repo, {"docs/guide.md": "# Guide\n\nAnother thread.\n"},
                    remove=["docs/deep/more.md", "notes.md"])
        result = self.kb("ingest", "--repo", self.repo, check=3)
        self.assertEqual({file["path"]: file["status"] for file in result["files"]
                          if file["status"] in ("ingested", "removed")},
                         {"docs/guide.md": "ingested", "docs/deep/more.md": "removed"})
        self.assertEqual(self.paths("needle"), ["notes.md"])

    def test_clear_by_route_path_and_all(self):
        self.kb("ingest", "--repo", self.repo, check=3)
        cleared = self.kb("clear", "--route", "1", "--repo", self.repo)
        self.assertEqual([document["path"] for document in cleared["documents"]],
                         ["docs/deep/more.md", "docs/guide.md"])
        self.assertEqual(cleared["removed"], 2)
        self.vcm("kb", "clear", "--route", "9", "--repo", self.repo, check=2)
        self.vcm("kb", "clear", check=2)
        self.vcm("kb", "clear", "--all", "--path", "*.md", check=2)
        self.assertEqual(self.kb("clear", "--path", "*.pdf")["removed"], 1)
        self.assertEqual(self.kb("clear", "--all")["removed"], 1)
        self.assertEqual(self.kb("stat")["chunks"], 0)
        self.assertEqual(self.paths("clock"), [])
